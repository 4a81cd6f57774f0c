package mclaude

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"bureau/internal/fault"
)

const (
	minuteForm = "2006-01-02_15-04"    // in the name of an archive, local time
	secondForm = "2006-01-02 15:04:05" // in its text, local time
	forceMark  = "_FORCE"
)

// stamp is the local time at which a lock ended.
type stamp time.Time

func (s stamp) minute() string { return time.Time(s).Format(minuteForm) }
func (s stamp) second() string { return time.Time(s).Format(secondForm) }

// maxSame is the number of archives of one lock in one minute.
const maxSame = 1000

// archive writes a new file about a lock that ends, synced, and gives its path
// below the root. If the lock had one in this minute already, "_2", "_3" and so
// on are added to the name.
func (f *folder) archive(slug string, now stamp, mark, body string) (string, error) {
	if err := f.top.MkdirAll(completedDir, 0o777); err != nil {
		return "", err
	}
	stem := completedDir + "/" + slug + "_" + now.minute() + mark
	for n := 1; n <= maxSame; n++ {
		name := stem
		if n > 1 {
			name += "_" + strconv.Itoa(n)
		}
		name += ".md"
		file, err := f.top.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		err = f.step("archiving")
		if err == nil {
			_, err = file.WriteString(body)
		}
		if err == nil {
			err = file.Sync()
		}
		if err = errors.Join(err, file.Close()); err != nil {
			_ = f.top.Remove(name)
			return "", err
		}
		return name, nil
	}
	return "", fault.New(fault.Conflict, "the lock %q ended more than %d times in one minute", slug, maxSame)
}

// known gives a value as mclaude shows it, with a question mark for none.
func known(s string) string {
	if s = oneLine(s); s == "" {
		return "?"
	}
	return s
}

func releaseText(e Entry, now stamp, summary string) string {
	if summary = manyLines(summary); summary == "" {
		summary = "(no summary)"
	}
	return strings.Join([]string{
		"# Work Lock Release - " + e.Slug,
		"",
		"**Released at:** " + now.second(),
		"**Session:** " + known(e.Session),
		"**Description:** " + known(e.Description),
		"**Files:** " + oneLine(strings.Join(e.Files, ", ")),
		"**Claimed at:** " + known(e.ClaimedAtText),
		"",
		"## Summary",
		"",
		summary,
	}, "\n")
}

func forceText(e Entry, now stamp, how Forcing) string {
	age := "unknown"
	if !e.Heartbeat.IsZero() {
		age = fmt.Sprintf("%.0fs", e.HeartbeatAge.Seconds())
	}
	note := manyLines(how.Note)
	if note == "" {
		note = "The holder did not end this work itself. Look at the files above, and at what is\n" +
			"not committed, before going on with it."
	}
	return strings.Join([]string{
		"# Work Lock FORCE RELEASE - " + e.Slug,
		"",
		"**Forced at:** " + now.second(),
		"**Reason:** " + how.Reason,
		"**Originally held by:** " + known(e.Session),
		"**Originally claimed at:** " + known(e.ClaimedAtText),
		"**Heartbeat age at force:** " + age,
		"**Description:** " + known(e.Description),
		"**Files:** " + oneLine(strings.Join(e.Files, ", ")),
		"",
		"## Note",
		"",
		note,
	}, "\n")
}

// Archived is a file about a lock that has ended, as its name tells.
type Archived struct {
	Slug   string
	At     time.Time // local time, to the minute
	Forced bool
	Name   string // the file's, in .claude/locks/completed

	number int // of those in one minute
}

// Archive gives the newest files about locks that have ended, the newest first
// and not more than most. Files with other names are passed over; no file is
// opened.
func (l Locks) Archive(most int) ([]Archived, error) {
	top, err := os.OpenRoot(l.root)
	if err != nil {
		return nil, unusable(l.root, err)
	}
	defer top.Close()
	dir, err := top.Open(completedDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unusable(l.root, err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, unusable(l.root, err)
	}
	var out []Archived
	for _, name := range names {
		if a, ok := parseArchive(name); ok {
			out = append(out, a)
		}
	}
	slices.SortFunc(out, func(a, b Archived) int {
		if c := b.At.Compare(a.At); c != 0 {
			return c
		}
		if c := b.number - a.number; c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out[:min(len(out), max(most, 0))], nil
}

// parseArchive reads <slug>_YYYY-MM-DD_HH-MM[_FORCE][_N].md.
func parseArchive(name string) (Archived, bool) {
	a := Archived{Name: name, number: 1}
	rest, ok := strings.CutSuffix(name, ".md")
	if !ok {
		return a, false
	}
	if i := strings.LastIndexByte(rest, '_'); i >= 0 {
		if n, err := strconv.Atoi(rest[i+1:]); err == nil && n > 1 {
			a.number, rest = n, rest[:i]
		}
	}
	rest, a.Forced = strings.CutSuffix(rest, forceMark)
	cut := len(rest) - len(minuteForm) - 1
	if cut < 0 || rest[cut] != '_' || !ValidSlug(rest[:cut]) {
		return a, false
	}
	at, err := time.ParseInLocation(minuteForm, rest[cut+1:], time.Local)
	a.Slug, a.At = rest[:cut], at
	return a, err == nil
}
