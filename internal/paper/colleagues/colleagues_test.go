package colleagues

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// desk is a folder for an office, a project and a file elsewhere.
type desk struct {
	t                         *testing.T
	home, root, elsewhere, at string
}

func newDesk(t *testing.T) *desk {
	dir := t.TempDir()
	d := &desk{t: t, home: filepath.Join(dir, "office"), root: filepath.Join(dir, "project"), elsewhere: filepath.Join(dir, "x.yaml"), at: dir}
	for _, p := range []string{d.home, filepath.Join(d.root, ".bureau")} {
		if err := os.MkdirAll(p, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func (d *desk) office() string  { return filepath.Join(d.home, FileName) }
func (d *desk) project() string { return filepath.Join(d.root, ".bureau", FileName) }

func (d *desk) write(path, text string) {
	d.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		d.t.Fatal(err)
	}
}

// TestPlaces: all three are read, the first definition of a name counts.
func TestPlaces(t *testing.T) {
	d := newDesk(t)
	none := NewReader(env()).Staff(d.home, d.root)
	if len(none.Colleagues)+len(none.Problems) != 0 {
		t.Fatalf("%+v", none)
	}
	d.write(d.elsewhere, "a:\n  brief: from the variable\n")
	d.write(d.office(), "A:\n  brief: from the office\nb:\n  brief: from the office\n")
	d.write(d.project(), "b:\n  brief: from the project\nc:\n  brief: from the project\n")
	for _, variable := range Variables {
		got := NewReader(env(variable, d.elsewhere)).Staff(d.home, d.root)
		if words(got) != "a:advisor b:advisor c:advisor" || got.Colleagues[0].Brief != "from the variable" || got.Colleagues[1].Brief != "from the office" {
			t.Errorf("%s: %+v", variable, got.Colleagues)
		}
		if p := problems(got); len(got.Problems) != 2 || !strings.Contains(p, d.office()+` line 1: colleague "A" is defined in `+d.elsewhere+" line 1 too") ||
			!strings.Contains(p, d.project()+` line 1: colleague "b" is defined in `+d.office()+" line 3 too") {
			t.Errorf("%s: %s", variable, p)
		}
	}
	// Ours comes before theirs, and a place that is missing names nobody.
	both := NewReader(env(Variables[0], filepath.Join(d.at, "gone.yaml"), Variables[1], d.elsewhere)).Staff("", "")
	if len(both.Colleagues)+len(both.Problems) != 0 {
		t.Errorf("%+v", both)
	}
	if got := NewReader(env()).Staff("", d.root); words(got) != "b:advisor c:advisor" {
		t.Error(words(got))
	}
	// One file in two places is no trouble: the office of a project that is the home folder.
	if got := NewReader(env(Variables[0], d.project())).Staff(filepath.Join(d.root, ".bureau"), d.root); words(got) != "b:advisor c:advisor" || len(got.Problems) > 0 {
		t.Errorf("%s, %s", words(got), problems(got))
	}
	// A folder in the way of a path is a missing file too.
	if got := NewReader(env()).Staff(d.elsewhere, d.elsewhere); len(got.Problems) > 0 {
		t.Error(problems(got))
	}
	for value, want := range map[string]string{"x.yaml": "is relative", "$NOPE/x": `"NOPE"`} {
		got := NewReader(env(Variables[0], value)).Staff(d.home, "")
		if words(got) != "A:advisor b:advisor" || !strings.Contains(problems(got), want) || !strings.Contains(problems(got), Variables[0]) {
			t.Errorf("%s: %s, %s", value, words(got), problems(got))
		}
	}
	if got := NewReader(env(Variables[0], "~/x.yaml", "HOME", d.at)).Staff("", ""); words(got) != "a:advisor" {
		t.Error(words(got), problems(got))
	}
}

// TestHot: what is changed is seen at once, also twice within one tick of the
// file's time and with the same length; what is not is not read again.
func TestHot(t *testing.T) {
	d := newDesk(t)
	r := NewReader(env())
	d.write(d.office(), "a:\n  brief: A\n")
	for _, name := range []string{"b", "c", "d", "e"} {
		d.write(d.office(), name+":\n  brief: A\n")
		if got := words(r.Staff(d.home, "")); got != name+":advisor" {
			t.Fatalf("%s instead of %s", got, name)
		}
	}
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	chtimes := func() {
		if err := os.Chtimes(d.office(), old, old); err != nil {
			t.Fatal(err)
		}
	}
	chtimes()
	if got := words(r.Staff(d.home, "")); got != "e:advisor" {
		t.Fatal(got)
	}
	// Nothing about it changed but its content: it was not read again.
	d.write(d.office(), "f:\n  brief: A\n")
	chtimes()
	if got := words(r.Staff(d.home, "")); got != "e:advisor" {
		t.Errorf("%s: it was read again", got)
	}
	// Another file in its place.
	d.write(d.elsewhere, "g:\n  brief: A\n")
	if err := os.Chtimes(d.elsewhere, old, old); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(d.elsewhere, d.office()); err != nil {
		t.Fatal(err)
	}
	if got := words(r.Staff(d.home, "")); got != "g:advisor" {
		t.Error(got)
	}
	if err := os.Remove(d.office()); err != nil {
		t.Fatal(err)
	}
	if got := r.Staff(d.home, ""); len(got.Colleagues)+len(got.Problems) > 0 {
		t.Errorf("%+v", got)
	}
}

// TestNoFreeze: what is no text file of an ordinary size is a problem, at once.
func TestNoFreeze(t *testing.T) {
	for what, put := range map[string]func(path string) error{
		"a folder":                   func(p string) error { return os.Mkdir(p, 0o755) },
		"a link to a device":         func(p string) error { return os.Symlink("/dev/zero", p) },
		"a link to itself":           func(p string) error { return os.Symlink(p, p) },
		"a pipe":                     mkfifo,
		"a huge file":                func(p string) error { return sparse(p, 1<<40) },
		"a little more than allowed": func(p string) error { return sparse(p, MaxFile+1) },
		"a file of zeros":            func(p string) error { return sparse(p, MaxFile) },
	} {
		d := newDesk(t)
		if err := put(d.office()); err != nil {
			t.Logf("%s cannot be made here: %v", what, err)
			continue
		}
		d.write(d.project(), "ok:\n  brief: B\n")
		done := beside(func() string {
			got := NewReader(env()).Staff(d.home, d.root)
			if words(got) != "ok:advisor" || len(got.Problems) != 1 || !strings.HasPrefix(problems(got), d.office()) {
				return words(got) + ", " + problems(got)
			}
			return ""
		})
		select {
		case wrong := <-done:
			if wrong != "" {
				t.Errorf("%s: %s", what, wrong)
			}
		case <-time.After(2 * time.Minute):
			t.Errorf("%s: it waits", what)
		}
	}
	// A link to an ordinary file is one.
	d := newDesk(t)
	d.write(d.elsewhere, "a:\n  brief: A\n")
	if err := os.Symlink(d.elsewhere, d.office()); err == nil {
		if got := NewReader(env()).Staff(d.home, ""); words(got) != "a:advisor" {
			t.Error(words(got), problems(got))
		}
	}
}

func sparse(path string, size int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Truncate(size)
}

// beside runs something beside the test.
func beside(fn func() string) <-chan string {
	done := make(chan string, 1)
	go func() { done <- fn() }()
	return done
}
