package transcript

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"bureau/internal/fault"
)

// TestDefaultFolder: it comes with a .gitignore, also when many make it at once;
// nothing else that bureau makes does, and what is there stays.
func TestDefaultFolder(t *testing.T) {
	dir := t.TempDir()
	ignore := filepath.Join(dir, Folder, ".gitignore")
	var all sync.WaitGroup
	for _, room := range []string{"a", "b", "c", "d", "e", "f"} {
		all.Add(1)
		go func() {
			defer all.Done()
			if _, err := Create(Spec{Root: dir, Path: DefaultPath(room), Room: room}, Header{}); err != nil {
				t.Error(err)
			}
			if got, err := os.ReadFile(ignore); string(got) != "*\n" {
				t.Errorf("%s finds %q, %v", room, got, err)
			}
		}()
	}
	all.Wait()
	if list, err := os.ReadDir(filepath.Join(dir, ".bureau")); err != nil || len(list) != 1 {
		t.Errorf("beside the folder: %v, %v", list, err)
	}

	for _, path := range []string{"docs/x.md", "x.md", ".bureau/x.md"} {
		dir := t.TempDir()
		start(t, Spec{Root: dir, Path: path}, Header{})
		if found, _ := filepath.Glob(filepath.Join(dir, filepath.Dir(path), ".gitignore")); len(found) > 0 {
			t.Errorf("%s: %v", path, found)
		}
	}
	below := t.TempDir()
	start(t, Spec{Root: below, Path: filepath.Join(Folder, "deep", "x.md")}, Header{})
	if _, err := os.Stat(filepath.Join(below, Folder, ".gitignore")); err != nil {
		t.Error(err)
	}
	shared := t.TempDir()
	if err := os.MkdirAll(filepath.Join(shared, Folder), 0o755); err != nil {
		t.Fatal(err)
	}
	start(t, Spec{Root: shared, Path: DefaultPath("x")}, Header{})
	if _, err := os.Stat(filepath.Join(shared, Folder, ".gitignore")); err == nil {
		t.Error("a folder that was there got a .gitignore")
	}
}

// TestAside: a transcript that got a dated name is found there, whoever has its
// place now, and no other is taken for it.
func TestAside(t *testing.T) {
	s := Spec{Root: t.TempDir(), Path: "debate.md", Room: "r1"}
	if got := Aside(s); got != "" {
		t.Errorf("without a file: %q", got)
	}
	start(t, s, Header{})
	if got := Aside(s); got != "" {
		t.Errorf("in its place: %q", got)
	}
	when := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	kept := map[string]string{}
	for _, room := range []string{"r1", "r2"} {
		s.Room = room
		start(t, s, Header{})
		path, err := SetAside(ctx, s, when)
		if err != nil {
			t.Fatal(err)
		}
		kept[room] = path
	}
	s.Room = "r3"
	start(t, s, Header{})
	if err := os.WriteFile(filepath.Join(s.Root, "debate.zz.md"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	for room, want := range map[string]string{"r1": kept["r1"], "r2": kept["r2"], "r3": "", "r4": ""} {
		s.Room = room
		if got := Aside(s); got != want {
			t.Errorf("%s: %q, want %q", room, got, want)
		}
	}
	s.Room = "r4"
	if _, err := Open(s); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "(r3)") {
		t.Error(err)
	}
}

func TestPathIn(t *testing.T) {
	dir := t.TempDir()
	for _, tc := range []struct{ typed, real, want string }{
		{"a.md", filepath.Join(dir, "a.md"), filepath.Join(dir, "a.md")},
		{".", dir, filepath.Join(dir, "debate.md")},
		{"new/", filepath.Join(dir, "new"), filepath.Join(dir, "new", "debate.md")},
		{"new", filepath.Join(dir, "new"), filepath.Join(dir, "new")},
	} {
		if got := PathIn(tc.typed, tc.real, "debate"); got != tc.want {
			t.Errorf("%q: %q, want %q", tc.typed, got, tc.want)
		}
	}
}
