package mclaude

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bureau/internal/fault"
)

func TestLocate(t *testing.T) {
	dir := t.TempDir()
	if _, ok := Locate(dir); ok {
		t.Error("a folder without .claude has locks")
	}
	if _, ok := Locate(filepath.Join(dir, "nothing")); ok {
		t.Error("no folder has locks")
	}
	_, err := Create(filepath.Join(dir, "nothing"))
	if !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
	made, err := Create(dir)
	must(t, err)
	l, ok := Locate(dir)
	if !ok || l.Root() != made.Root() || l.Dir() != filepath.Join(dir, ".claude", "locks", "active-work") {
		t.Errorf("%+v %v", l, ok)
	}
	if es := list(t, l); len(es) != 0 {
		t.Errorf("%+v", es)
	}
	if _, err := os.Stat(filepath.Join(dir, ".claude", "bureau")); err == nil {
		t.Error("a look made a folder")
	}
	must(t, os.RemoveAll(filepath.Join(dir, ".claude")))
	if _, err := l.List(); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
	if _, err := l.Write(anna("abc")); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
	must(t, os.WriteFile(filepath.Join(dir, ".claude"), nil, 0o666))
	if _, err := Create(dir); err == nil {
		t.Error("made in a file")
	}
}

func symlink(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
}

func TestLinksOutOfTheRoot(t *testing.T) {
	outside := t.TempDir()
	victim := filepath.Join(outside, "victim")
	must(t, os.WriteFile(victim, []byte(session), 0o666))
	for _, link := range []string{".claude", ".claude/locks", activeDir} {
		root, other := t.TempDir(), t.TempDir()
		_, err := Create(other)
		must(t, err)
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(root, link)), 0o777))
		symlink(t, filepath.Join(other, link), filepath.Join(root, link))
		if _, ok := Locate(root); ok {
			t.Errorf("%s: taken for the project's", link)
		}
		if _, err := Create(root); err == nil {
			t.Errorf("%s: made outside", link)
		}
		l := at(root) // as if it had been made a link later
		if _, err := l.List(); err == nil {
			t.Errorf("%s: listed", link)
		}
		if _, err := l.Write(anna("abc")); err == nil {
			t.Errorf("%s: written", link)
		}
		if left := folderNames(t, at(other)); left != "" {
			t.Errorf("%s: left: %s", link, left)
		}
	}

	l := locks(t)
	for _, name := range []string{"abc.lock", "abc.heartbeat", "abc.metadata.json"} {
		symlink(t, victim, filepath.Join(l.Dir(), name))
	}
	if es := list(t, l); len(es) != 1 || es[0].Session != "" || es[0].Trouble == "" {
		t.Errorf("%+v", es)
	}
	if _, err := l.Write(anna("abc")); err == nil {
		t.Error("written through a link")
	}
	if _, err := l.Release("abc", session, ""); err == nil {
		t.Error("released through a link")
	}
	must(t, os.Remove(filepath.Join(l.Dir(), "abc.lock")))
	if _, err := l.Write(anna("abc")); err == nil {
		t.Error("a heartbeat that is a link was taken")
	}
	// A link to a place where the gate or the archive would be made.
	write(t, l, anna("xyz"))
	must(t, os.RemoveAll(filepath.Join(l.root, completedDir)))
	symlink(t, outside, filepath.Join(l.root, completedDir))
	if _, err := l.Release("xyz", session, ""); err == nil {
		t.Error("archived outside")
	}
	if e := get(t, l, "xyz"); !e.Ours {
		t.Errorf("%+v", e)
	}
	data, err := os.ReadFile(victim)
	if es, rerr := os.ReadDir(outside); err != nil || rerr != nil || string(data) != session || len(es) != 1 {
		t.Errorf("outside: %v %v %q %v", err, rerr, data, es)
	}
}

func TestBrokenMetadata(t *testing.T) {
	for name, c := range map[string]struct {
		metadata string
		trouble  string
		files    string
	}{
		"none":             {"", "no metadata", ""},
		"bad JSON":         {`{"session_id":`, "not a JSON object", ""},
		"array":            {`[1,2]`, "not a JSON object", ""},
		"null":             {`null`, "not a JSON object", ""},
		"empty object":     {`{}`, "", ""},
		"empty file":       {" ", "not a JSON object", ""},
		"huge":             {`{"description":"` + strings.Repeat("x", maxMetadata) + `"}`, "larger than 1 MiB", ""},
		"not UTF-8":        {"{\"session_id\":\"9f86\",\"description\":\"\xff\",\"files\":[\"a.go\",\"\xfe\"]}", "not UTF-8", "a.go|\ufffd"},
		"BOM":              {"\ufeff" + `{"files":["a.go"]}`, "", "a.go"},
		"wrong types":      {`{"session_id":7,"description":[],"files":["a.go",3,null],"branch":{},"claimed_at_epoch":"x"}`, "wrong value for session_id", "a.go"},
		"files a text":     {`{"files":"a.go"}`, "wrong value for files", ""},
		"another session":  {`{"session_id":"other","files":["a.go"]}`, "of another session", ""},
		"deep":             {strings.Repeat("[", 100_000), "not a JSON object", ""},
		"number too large": {`{"claimed_at_epoch":1e999,"files":["a.go"]}`, "claimed_at_epoch", "a.go"},
		"wrong claim":      {`{"session_id":"9f86","written_by":"bureau","pid":"x","ttl":-1,"files":["a.go"]}`, "wrong value for pid", "a.go"},
	} {
		l := locks(t)
		put(t, l, "abc.lock", "9f86")
		put(t, l, "abc.heartbeat", "")
		if c.metadata != "" {
			put(t, l, "abc.metadata.json", c.metadata)
		}
		es := list(t, l)
		if len(es) != 1 {
			t.Fatalf("%s: %+v", name, es)
		}
		e := es[0]
		if e.Session != "9f86" || e.Status != Active || strings.Join(e.Files, "|") != c.files {
			t.Errorf("%s: %+v", name, e)
		}
		if !strings.Contains(e.Trouble, c.trouble) || c.trouble == "" && e.Trouble != "" {
			t.Errorf("%s: trouble %q, want %q", name, e.Trouble, c.trouble)
		}
		// It can be released and forced all the same.
		if _, err := l.Release("abc", "9f86", ""); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if left := folderNames(t, l); left != "" {
			t.Errorf("%s: left: %s", name, left)
		}
	}
}

func TestListSeesLocksOnly(t *testing.T) {
	l := locks(t)
	foreign(t, l, "bbb", "s2")
	foreign(t, l, "aaa", "s1")
	put(t, l, "empty.lock", "")
	put(t, l, "empty.metadata.json", `{"session_id":"s3"}`)
	put(t, l, "huge.lock", strings.Repeat("x", maxLock+1))
	put(t, l, "Bad Name.lock", "s4")
	put(t, l, "README.md", "")
	put(t, l, ".lock", "")
	put(t, l, "ccc.lock.bak", "")
	es := list(t, l)
	var got []string
	for _, e := range es {
		got = append(got, e.Slug+"="+e.Session)
	}
	if want := []string{"aaa=s1", "bbb=s2", "empty=s3", "huge="}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestStatusOfFiles(t *testing.T) {
	l := locks(t)
	foreign(t, l, "fresh", "s1")
	foreign(t, l, "skewed", "s2")
	age(t, l, "skewed.heartbeat", -2*time.Hour)
	foreign(t, l, "skewed-old", "s3")
	age(t, l, "skewed-old.heartbeat", -2*time.Hour)
	age(t, l, "skewed-old.lock", time.Hour)
	age(t, l, "skewed-old.metadata.json", time.Hour)
	put(t, l, "bare.lock", "s4")
	put(t, l, "bare-old.lock", "s5")
	age(t, l, "bare-old.lock", time.Hour)
	got := map[string]Status{}
	for _, e := range list(t, l) {
		got[e.Slug] = e.Status
	}
	want := map[string]Status{"fresh": Active, "skewed": Active, "skewed-old": Stale, "bare": Active, "bare-old": Stale}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if _, there, err := l.Get("nothing"); there || err != nil {
		t.Errorf("%v %v", there, err)
	}
}

func TestTooManyLocks(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 10,000 files")
	}
	l := locks(t)
	for i := range maxLocks + 1 {
		put(t, l, fmt.Sprintf("lock-%05d.lock", i), "s")
	}
	es, err := l.List()
	if !fault.Is(err, fault.Unavailable) || len(es) != maxLocks {
		t.Errorf("%d locks, %v", len(es), err)
	}
}

// Only the locks, the archive, one file for our own processes and the notes of
// what was written are written.
func TestNothingElseIsWritten(t *testing.T) {
	l := locks(t)
	for _, name := range []string{".claude/messages/.watcher_state.json", ".claude/registry.json", "a.go"} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(l.root, name)), 0o777))
		must(t, os.WriteFile(filepath.Join(l.root, name), []byte("x"), 0o666))
	}
	before := tree(t, l.root)
	write(t, l, anna("abc"))
	_, err := l.Touch("abc", session, time.Time{})
	must(t, err)
	done, err := l.Release("abc", session, "x")
	must(t, err)
	must(t, l.Unmark(anna("abc").Claim.ID))
	after := tree(t, l.root)
	delete(after, done.Archive)
	delete(after, gateFile)
	if !maps.Equal(before, after) {
		t.Errorf("before: %q\nafter: %q", before, after)
	}
}

func FuzzMetadata(f *testing.F) {
	for _, name := range []string{"cli/refactor-auth-middleware.metadata.json", "mcp/train-model.metadata.json", "written.metadata.json"} {
		f.Add(golden(f, name))
	}
	f.Add([]byte(`{"files":[1,"a",null],"claimed_at_epoch":-1e300,"ttl":9223372036854775807,"written_by":"bureau"}`))
	f.Add([]byte("\xff\xfe{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, _ := parseMetadata(data)
		if m.claim.TTL < 0 || slices.Contains(m.files, "") || !m.ours && m.claim.ID != "" {
			t.Fatalf("%+v", m)
		}
		var e Entry
		e.describe(data, []string{"/root/proj"})
		for _, p := range e.Paths {
			if filepath.IsAbs(p) || p == ".." || strings.HasPrefix(p, "../") {
				t.Fatalf("path %q", p)
			}
		}
		lock := Lock{Slug: "abc", Session: m.session, Description: m.description, Files: m.files, WorkingDirectory: m.workdir,
			Worktree: m.worktree, Branch: m.branch, ClaimedAt: m.at, Claim: m.claim}
		if encoded, err := lock.encode(); err == nil {
			again, wrong := parseMetadata(encoded)
			if wrong != "" || again.session != m.session || !slices.Equal(again.files, m.files) || again.claim.ID != m.claim.ID {
				t.Fatalf("%s: %+v from %+v, %s", encoded, again, m, wrong)
			}
		}
	})
}
