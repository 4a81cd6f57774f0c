package transcript

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"

	"bureau/internal/fault"
)

// Last gives the room's sequence number that the file has caught up with. An
// unfinished entry does not count.
func (f *File) Last(ctx context.Context) (int64, error) {
	var last int64
	err := f.locked(ctx, func(_ *os.Root, file *os.File) error {
		now, err := f.load(file)
		last = now.ext.Seq
		return err
	})
	return last, err
}

// Append writes entries and the header, as [File.Update] does. The caller must
// bring every entry since [File.Last]: one that comes after a later one is
// taken for a repetition and skipped.
func (f *File) Append(ctx context.Context, h Header, entries ...Entry) error {
	return f.Update(ctx, func(Point) (Header, []Entry, error) { return h, entries, nil })
}

// Update brings the file up to date. It calls read, with other processes kept
// out, for the entries after the point that the file has come to and a header
// that is as new as they are. So whoever comes first writes what all others have
// posted, and the file is in order, whatever the order of the posts. Entries up
// to that point are skipped, so that repeating is harmless; gaps are allowed.
// read compares the file's last entry with the room's first: see [Point.Is].
//
// When it returns, every reader finds the entries; they are not synced. After
// an error nothing or all of the entries are there, and a later Update makes
// up for them. read must not use the same transcript.
//
// It is a [fault.Conflict] when another program has changed the file; see
// [SetAside]. It is [fault.Denied] for a whisper in a file that is not private.
func (f *File) Update(ctx context.Context, read func(after Point) (Header, []Entry, error)) error {
	return f.locked(ctx, func(root *os.Root, file *os.File) error {
		now, err := f.load(file)
		if err != nil {
			return err
		}
		h, entries, err := read(Point{now.ext.Seq, now.last.point()})
		if Renewable(err) {
			return f.about(err)
		}
		if err != nil {
			return err
		}
		if err := check(entries, now.id.Private); err != nil {
			return err
		}
		if n := len(entries); n > 0 {
			h.Seq = max(h.Seq, entries[n-1].Seq)
		}
		for len(entries) > 0 && entries[0].Seq <= now.ext.Seq {
			entries = entries[1:]
		}
		if err := now.write(root, f.place, h, entries); err != nil {
			return fault.New(fault.Unavailable, "cannot write the transcript %s: %w", f.Path(), err)
		}
		return nil
	})
}

// current is the state of a locked file.
type current struct {
	file   *os.File
	labels *labels
	id     identity
	ext    extent
	last   meta // of the last entry; nothing without one
	head   []byte
	sound  bool // the header is whole and tells the truth
}

// load reads where the file stands. What it reads does not depend on the length
// of the file, unless it was damaged. It cuts off an unfinished entry.
func (f *File) load(file *os.File) (current, error) {
	now, err := readHead(file)
	if err != nil {
		return now, f.about(err)
	}
	if _, err := f.own(now.head); err != nil {
		return now, err
	}
	info, err := file.Stat()
	if err != nil {
		return now, fault.New(fault.Unavailable, "cannot read the transcript: %w", err)
	}
	size := info.Size()
	known := now.sound && now.ext.End <= size
	if known && (now.ext.Last != 0 || now.ext.End != int64(now.id.Head)) {
		now.last, known = lastAt(file, now.ext.At, now.ext.End, now.ext.Last)
	}
	if known && now.ext.End == size {
		return now, nil
	}
	if !known {
		now.sound, now.ext, now.last = false, extent{End: int64(now.id.Head)}, meta{}
	}
	rest, err := io.ReadAll(io.NewSectionReader(file, now.ext.End, size-now.ext.End))
	if err != nil {
		return now, fault.New(fault.Unavailable, "cannot read the transcript: %w", err)
	}
	why := now.follow(rest)
	if why == damaged {
		return now, f.about(changed(now.ext.End))
	}
	if now.ext.End < size {
		if err := file.Truncate(now.ext.End); err != nil {
			return now, fault.New(fault.Unavailable, "cannot cut off an unfinished entry: %w", err)
		}
	}
	return now, nil
}

func changed(at int64) error {
	return fault.New(fault.Conflict, "the transcript was changed by another program (at byte %d)", at).
		WithHint("%s", renew).WithDetail(Altered{at})
}

// follow moves the extent over the entries in rest, which starts at its end.
func (now *current) follow(rest []byte) trouble {
	for len(rest) > 0 {
		e, why := findEntry(rest, now.ext.End)
		if why != fine {
			return why
		}
		rest = rest[e.next-e.start:]
		now.ext.Last, now.ext.At, now.ext.End, now.last = e.Seq, e.start, e.next, e.meta
		now.ext.Seq = max(now.ext.Seq, e.Seq)
	}
	return fine
}

// readHead reads the header of a file.
func readHead(file *os.File) (current, error) {
	now := current{file: file}
	b := make([]byte, firstRead)
	n, err := file.ReadAt(b, 0)
	if err != nil && err != io.EOF {
		return now, fault.New(fault.Unavailable, "cannot read the transcript: %w", err)
	}
	b = b[:n]
	var whole bool
	if now.id, now.ext, whole, err = readMark(b); err != nil {
		return now, err
	}
	if now.id.Head > len(b) {
		more := make([]byte, now.id.Head-len(b))
		if _, err := file.ReadAt(more, int64(len(b))); err != nil {
			return now, changed(int64(len(b)))
		}
		b = append(b, more...)
	}
	now.head = b[:now.id.Head]
	if _, now.labels, err = language(now.id.Lang); err != nil {
		// The file says so, not the caller.
		return now, fault.New(fault.Conflict, "%s is a transcript in the language %q, which this bureau does not know", file.Name(), now.id.Lang).WithHint("install the bureau that wrote it, or move the file away")
	}
	now.sound = whole && sumsUp(now.head, now.ext)
	return now, nil
}

// write appends the entries and renews the header.
func (now *current) write(root *os.Root, p place, h Header, entries []Entry) error {
	var text bytes.Buffer
	ext := now.ext
	for _, e := range entries {
		ext.Last, ext.At = e.Seq, now.ext.End+int64(text.Len())
		text.Write(now.labels.entry(e))
	}
	ext.End = now.ext.End + int64(text.Len())
	stale := h.Seq < now.ext.Seq && now.sound
	ext.Seq = max(now.ext.Seq, ext.Last, h.Seq)

	old := layoutOf(now.head)
	slots := now.labels.slots(h, old.rows())
	w := fit(slots, old)
	if stale { // somebody has written a newer one: only the first line changes
		slots, w = keep(now.head, slots), old
	}
	if !same(w, old) {
		grow := int64(w.size() - len(now.head))
		if ext.Last > 0 {
			ext.At += grow
		}
		ext.End += grow
		return now.rewrite(root, p, head(now.id, ext, slots, w), text.Bytes())
	}
	if text.Len() > 0 {
		if _, err := now.file.WriteAt(text.Bytes(), now.ext.End); err != nil {
			return errors.Join(err, now.file.Truncate(now.ext.End))
		}
	}
	if fresh := head(now.id, ext, slots, w); !bytes.Equal(fresh, now.head) {
		_, err := now.file.WriteAt(fresh, 0)
		return err
	}
	return nil
}

// keep gives the lines of a header as they are.
func keep(head []byte, slots []slot) []slot {
	out := slots[:0:0]
	for line := range bytes.Lines(head) {
		out = append(out, slot{text: string(bytes.TrimSuffix(line, []byte{'\n'}))})
	}
	return out
}

func same(a, b layout) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// rewrite puts a new file in the place of this one: another header, the entries
// that are there, and new ones.
func (now *current) rewrite(root *os.Root, p place, head, text []byte) error {
	info, err := now.file.Stat()
	if err != nil {
		return err
	}
	mode := info.Mode().Perm()
	thread := io.NewSectionReader(now.file, int64(now.id.Head), now.ext.End-int64(now.id.Head))
	return p.write(root, mode, func(temp string) error { return root.Rename(temp, p.rel) }, mode, head, thread, text)
}
