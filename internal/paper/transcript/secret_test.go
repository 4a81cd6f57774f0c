package transcript

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestShowsWhispers: only a private transcript of ours does, however it is
// reached and whatever stands in it.
func TestShowsWhispers(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	create := func(name string, private bool) string {
		f, err := Create(Spec{Root: dir, Path: name, Room: "r1", Private: private}, Header{Topic: `x","private":` + map[bool]string{true: "false", false: "true"}[private]})
		if err != nil {
			t.Fatal(err)
		}
		return f.Path()
	}
	private, public := create("private.md", true), create("public.md", false)
	link := filepath.Join(dir, "link.md")
	if err := os.Symlink(private, link); err != nil {
		t.Skip("no symbolic links here")
	}
	for path, want := range map[string]bool{
		private: true, link: true, public: false,
		dir: false, filepath.Join(dir, "nothing"): false, write("empty", ""): false, write("short", mark): false,
		write("torn", mark+`{"v":1,"private":tr`): false, write("other", strings.Repeat("x", 5000)+mark+`{"private":true}`): false,
		write("words", "I read that "+mark+`{"v":1,"private":true} -->`): false,
	} {
		if got := ShowsWhispers(path); got != want {
			t.Errorf("%s: %v", filepath.Base(path), got)
		}
	}
}
