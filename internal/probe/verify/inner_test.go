//go:build unix

package verify

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bureau/internal/claim"
)

// nested makes a repository in another one, with a committed file f.
func nested(t *testing.T, root, name string) string {
	t.Helper()
	dir := filepath.Join(root, filepath.FromSlash(name))
	write(t, filepath.Join(dir, "f"), "old\n")
	write(t, filepath.Join(dir, "x", "g.go"), "old\n")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-q", "-m", "x"}} {
		git(t, dir, args...)
	}
	return dir
}

// TestRepositoriesWithin: a claim covers what lies in the repositories below its
// paths. So the look at it finds what has changed there, in those that git
// names as untracked and in those that the office knows; that an untracked one
// is there is no change itself.
func TestRepositoriesWithin(t *testing.T) {
	home := t.TempDir()
	root := repository(t)
	write(t, filepath.Join(root, ".gitignore"), "hidden/\n")
	git(t, root, "add", ".")
	git(t, root, "commit", "-q", "-m", "ignore")
	seen, hidden, deep := nested(t, root, "libs/seen"), nested(t, root, "hidden/h"), nested(t, root, "libs/seen/in")
	plain := filepath.Join(root, "src") // a project of its own, and no repository
	looks := func(verdict claim.ProbeVerdict, saw string, paths ...claim.Pattern) {
		t.Helper()
		c := held(root, paths)
		c.Within = []string{hidden, plain, filepath.Join(root, "gone")}
		if strings.Contains(string(paths[0]), "**") {
			c.Within = append(c.Within, seen, deep) // git names them to nobody who asks so
		}
		if got := ask(t, home, root, c); got.Verdict != verdict || !strings.Contains(got.Saw, saw) {
			t.Errorf("%q: %+v, want %s, %s", paths, got, verdict, saw)
		}
	}
	looks(claim.ProbeFree, "no uncommitted changes", ".")
	for _, c := range []struct {
		file        string
		busy, clean []claim.Pattern
	}{
		{filepath.Join(seen, "f"), []claim.Pattern{".", "libs", "libs/*", "libs/seen", "libs/seen/f", "**/f", ":(icase)LIBS"}, []claim.Pattern{"hidden", "libs/*.c", "src", "libs/seen/x", "libs/seen/in"}},
		{filepath.Join(hidden, "x", "g.go"), []claim.Pattern{".", "hidden", "hidden/h", "hidden/**/*.go", "h*/*/x/*.go"}, []claim.Pattern{"libs", "hidden/*.go", "hidden/**/f"}},
		{filepath.Join(deep, "new"), []claim.Pattern{".", "libs", "libs/seen", "libs/seen/in", "**/new"}, []claim.Pattern{"hidden", "libs/seen/x", "libs/seen/f"}},
	} {
		write(t, c.file, "new\n")
		name, err := filepath.Rel(root, c.file)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range c.busy {
			looks(claim.ProbeBusy, "1 file under "+string(p), p)
		}
		looks(claim.ProbeBusy, "("+name+")", ".")
		for _, p := range c.clean {
			looks(claim.ProbeFree, "", p)
		}
		if filepath.Base(name) == "new" {
			if err := os.Remove(c.file); err != nil {
				t.Fatal(err)
			}
		} else {
			git(t, filepath.Dir(c.file), "checkout", "-q", "--", ".")
		}
	}
	folded := held(root, []claim.Pattern{"Libs/Seen"})
	write(t, filepath.Join(seen, "f"), "new\n")
	if folded.Fold = true; ask(t, home, root, folded).Verdict != claim.ProbeBusy {
		t.Error("upper and lower case are one name there")
	}
	git(t, seen, "checkout", "-q", "--", ".")

	// A linked work tree within is another tree of the same repository.
	linked := filepath.Join(root, "trees", "w2")
	git(t, root, "worktree", "add", "-q", linked)
	write(t, filepath.Join(linked, "src", "a.go"), "new\n")
	looks(claim.ProbeFree, "", ".")

	// What git cannot tell about is not free, and hides no change.
	if err := os.WriteFile(filepath.Join(hidden, ".git", "HEAD"), []byte("nothing\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	looks(claim.ProbeUnknown, hidden, ".")
	write(t, filepath.Join(root, "src", "a.go"), "new\n")
	looks(claim.ProbeBusy, "src/a.go", ".")
	git(t, root, "checkout", "-q", "--", "src")

	// There is an end to it.
	for i := range 17 {
		nested(t, root, fmt.Sprintf("many/m%d", i))
	}
	looks(claim.ProbeUnknown, "more than 16 repositories", "many")
}

// TestSubmoduleThatIsIgnored: what a submodule's settings hide from git status
// is a change all the same.
func TestSubmoduleThatIsIgnored(t *testing.T) {
	home := t.TempDir()
	root, lib := repository(t), repository(t)
	git(t, root, "-c", "protocol.file.allow=always", "submodule", "-q", "add", lib, "sub")
	git(t, root, "commit", "-q", "-m", "sub")
	git(t, root, "config", "submodule.sub.ignore", "all")
	c := held(root, []claim.Pattern{"."})
	if got := ask(t, home, root, c); got.Verdict != claim.ProbeFree {
		t.Errorf("%+v", got)
	}
	write(t, filepath.Join(root, "sub", "src", "a.go"), "new\n")
	for _, within := range [][]string{nil, {filepath.Join(root, "sub")}} {
		if c.Within = within; ask(t, home, root, c).Verdict != claim.ProbeBusy {
			t.Errorf("with %q: not seen", within)
		}
	}
	c.Paths = []claim.Pattern{"**/a.go"}
	if got := ask(t, home, root, c); got.Verdict != claim.ProbeBusy || !strings.Contains(got.Saw, "sub/src/a.go") {
		t.Errorf("%+v", got)
	}
}
