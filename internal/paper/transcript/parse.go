package transcript

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"bureau/internal/fault"
)

// Doc is a transcript that was read back.
type Doc struct {
	Room    string
	Lang    string
	Private bool
	// Seq is the room's sequence number that the file has caught up with.
	Seq     int64
	Entries []Entry
	// Torn says that the last writer did not finish: the header is half old,
	// or an entry at the end is incomplete and not among Entries. It is so for
	// a moment in every post, and the next one mends what a crash has left.
	Torn bool
}

// Parse reads a transcript while others may write it. Bodies are as package
// quote shows them on a terminal, everything else is as it was given. It is
// [fault.NotFound] without a file, and [fault.Conflict] when bureau did not
// write it or somebody has changed it; the entries before the change are given
// then too.
func Parse(path string) (*Doc, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.NotFound, "there is no transcript at %s", path)
	}
	if err != nil {
		return nil, fault.New(fault.Unavailable, "cannot read the transcript: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fault.New(fault.Invalid, "%s is not a file", path)
	}
	named := &File{place: place{filepath.Dir(path), filepath.Base(path)}}
	doc, err := parse(f)
	// A post that is going on shows for microseconds only.
	for try := time.Duration(1); try <= 5 && (err != nil && fault.Is(err, fault.Conflict) && doc != nil || doc != nil && doc.Torn); try++ {
		time.Sleep(try * time.Millisecond)
		doc, err = parse(f)
	}
	return doc, named.about(err)
}

func parse(f *os.File) (*Doc, error) {
	now, err := readHead(f)
	if err != nil {
		return nil, err
	}
	doc := &Doc{Room: now.id.Room, Lang: now.id.Lang, Private: now.id.Private, Seq: now.ext.Seq, Torn: !now.sound}
	rest, err := io.ReadAll(io.NewSectionReader(f, int64(now.id.Head), 1<<62))
	if err != nil {
		return nil, fault.New(fault.Unavailable, "cannot read the transcript: %w", err)
	}
	for at := int64(now.id.Head); len(rest) > 0; {
		e, why := findEntry(rest, at)
		if why == damaged {
			return doc, changed(at)
		}
		if why == torn {
			doc.Torn = true
			break
		}
		doc.Entries = append(doc.Entries, e.entry(now.labels))
		rest, at = rest[e.next-e.start:], e.next
	}
	return doc, nil
}

// SetAside gives a room's transcript a dated name beside the old one, so that
// another can be made there, and returns the new path. Nothing is overwritten.
// It is for a room that is opened anew and for a file that another program has
// changed.
func SetAside(ctx context.Context, s Spec, now time.Time) (string, error) {
	f, err := resolve(s)
	if err != nil {
		return "", err
	}
	aside := ""
	err = f.locked(ctx, func(root *os.Root, file *os.File) error {
		head := make([]byte, firstRead)
		n, err := file.ReadAt(head, 0)
		if err != nil && err != io.EOF {
			return fault.New(fault.Unavailable, "cannot read the transcript: %w", err)
		}
		if _, err := f.own(head[:n]); err != nil {
			return err
		}
		ext := filepath.Ext(f.place.rel)
		base := f.place.rel[:len(f.place.rel)-len(ext)] + "." + now.UTC().Format("2006-01-02T15-04-05")
		for try, name := 2, base+ext; ; try++ {
			err := settle(root, f.place.rel, name)
			if errors.Is(err, fs.ErrExist) && try < 100 {
				name = base + "-" + strconv.Itoa(try) + ext
				continue
			}
			if err != nil {
				return fault.New(fault.Unavailable, "cannot set the transcript aside: %w", err)
			}
			aside = filepath.Join(f.place.dir, name)
			break
		}
		if err := root.Remove(f.place.rel); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fault.New(fault.Unavailable, "cannot set the transcript aside: %w", err)
		}
		return nil
	})
	return aside, err
}
