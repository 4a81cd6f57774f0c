package git

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// askVar makes this test program the stand-in of a guard: it is what a hook
// runs, writes what it was given into the folder that the variable names, and
// refuses what the file "held" there names.
const askVar = "BUREAU_TEST_ASK"

func TestMain(m *testing.M) {
	if dir := os.Getenv(askVar); dir != "" {
		os.Exit(standIn(dir))
	}
	home, err := os.MkdirTemp("", "git-test-home")
	if err != nil {
		panic(err)
	}
	for _, kv := range os.Environ() {
		if key, _, _ := strings.Cut(kv, "="); strings.HasPrefix(key, "GIT_") || key == "BUREAU_GUARD" {
			os.Unsetenv(key)
		}
	}
	installed := filepath.Join(home, "installed") // as if bureau were: the tests are the same
	if err := errors.Join(os.Mkdir(installed, 0o755), os.WriteFile(filepath.Join(installed, "bureau"), []byte("#!/bin/sh\n"), 0o755)); err != nil {
		panic(err)
	}
	os.Setenv("PATH", without(installed+string(filepath.ListSeparator)+os.Getenv("PATH"), "bureau", home))
	os.Setenv("HOME", home)
	os.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
	os.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	os.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(home, "gitconfig"))
	config := "[user]\n\tname = x\n\temail = x@example.com\n[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n[commit]\n\tgpgSign = false\n"
	if err := os.WriteFile(filepath.Join(home, "gitconfig"), []byte(config), 0o644); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(home)
	os.Exit(code)
}

// without gives a search path on which a program is not found: the hooks fall
// back to the bureau that whoever runs the tests has installed. Its folder is
// replaced by one below dir that links to all else in it.
func without(path, program, dir string) string {
	folders := filepath.SplitList(path)
	for i, folder := range folders {
		if _, err := os.Stat(filepath.Join(folder, program)); err != nil {
			continue
		}
		folders[i] = filepath.Join(dir, fmt.Sprint("path", i))
		entries, err := os.ReadDir(folder)
		if err == nil {
			err = os.Mkdir(folders[i], 0o755)
		}
		for _, e := range entries {
			if err == nil && e.Name() != program {
				err = os.Symlink(filepath.Join(folder, e.Name()), filepath.Join(folders[i], e.Name()))
			}
		}
		if err != nil {
			panic(err)
		}
	}
	return strings.Join(folders, string(filepath.ListSeparator))
}

// call is what a stand-in guard saw.
type call struct {
	Args    []string
	Changes []Change
	Push    Push
	Err     string
}

// standIn is the guard's part in a hook, with this package's own answers.
func standIn(dir string) int {
	c := call{Args: os.Args[1:]}
	var paths []string
	var err error
	if slices.Contains(c.Args, PrePush) {
		c.Push, err = Pushed(context.Background(), "", nil, os.Stdin)
		paths = c.Push.Paths
	} else {
		c.Changes, err = Staged(context.Background(), "", nil)
		for _, change := range c.Changes {
			paths = append(paths, change.Paths()...)
		}
	}
	if err != nil {
		c.Err = err.Error()
	}
	// Bytes that are no UTF-8 would not survive JSON.
	for i := range c.Changes {
		c.Changes[i].Path, c.Changes[i].From = fmt.Sprintf("%q", c.Changes[i].Path), fmt.Sprintf("%q", c.Changes[i].From)
	}
	line, _ := json.Marshal(c)
	f, err := os.OpenFile(filepath.Join(dir, "calls"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return 3
	}
	f.Write(append(line, '\n'))
	f.Close()
	if store, err := os.ReadFile(filepath.Join(dir, "store")); err == nil {
		if err := commitToStore(string(store)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 4
		}
	}
	held, _ := os.ReadFile(filepath.Join(dir, "held"))
	for _, path := range paths {
		if slices.Contains(strings.Split(string(held), "\x00"), path) {
			fmt.Fprintf(os.Stderr, "refused: %s is held by bob\n", path)
			return 1
		}
	}
	return 0
}

// commitToStore is a guard that writes to another repository from inside of a
// hook.
func commitToStore(store string) error {
	f, err := os.OpenFile(filepath.Join(store, "note"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	f.WriteString("a line\n")
	f.Close()
	for _, args := range [][]string{{"add", "note"}, {"commit", "-qm", "note"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = store, Environ(os.Environ())
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %v in the store: %w: %s", args, err, out)
		}
	}
	return nil
}

// repo is a real repository.
type repo struct {
	t   *testing.T
	dir string
	env []string // for the git that the test runs
}

func needGit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("these tests need git")
		}
		t.Skip("NOT TESTED: there is no git here")
	}
}

// realDir is a new folder, links resolved.
func realDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func newRepo(t *testing.T) repo {
	t.Helper()
	needGit(t)
	r := repo{t: t, dir: filepath.Join(realDir(t), "it's a repo")}
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r.git("init", "-q")
	return r
}

// at is the same repository seen from another folder.
func (r repo) at(dir string) repo {
	r.dir = filepath.Join(r.dir, dir)
	return r
}

func (r repo) with(env ...string) repo {
	r.env = append(slices.Clone(r.env), env...)
	return r
}

func (r repo) try(args ...string) (string, error) {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), r.env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// git runs git, which must work.
func (r repo) git(args ...string) string {
	r.t.Helper()
	out, err := r.try(args...)
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return out
}

func (r repo) write(path, content string) {
	r.t.Helper()
	at := filepath.Join(r.dir, path)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// commit writes files ("path", "content", …) and commits all there is.
func (r repo) commit(pairs ...string) {
	r.t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		r.write(pairs[i], pairs[i+1])
	}
	r.git("add", "-A")
	r.git("commit", "-q", "--no-verify", "--allow-empty", "-m", "files")
}

// healthy checks that nothing is damaged.
func (r repo) healthy() {
	r.t.Helper()
	if out := r.git("fsck", "--strict"); strings.Contains(out, "error") || strings.Contains(out, "missing") {
		r.t.Errorf("fsck: %s", out)
	}
	r.git("status", "--porcelain")
}

// guard is a stand-in program with the folder that it keeps its calls in.
type guard struct {
	t       *testing.T
	dir     string
	program string
}

// newGuard makes the stand-in that runs this package inside of the hook.
func newGuard(t *testing.T) guard {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	g := guard{t: t, dir: filepath.Join(realDir(t), "bureau's own")}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	g.program = filepath.Join(g.dir, "bureau")
	g.script(fmt.Sprintf("#!/bin/sh\n%s=%s exec %s \"$@\"\n", askVar, shellQuote(g.dir), shellQuote(self)))
	return g
}

// script sets what the program is.
func (g guard) script(text string) {
	g.t.Helper()
	if err := os.WriteFile(g.program, []byte(text), 0o755); err != nil {
		g.t.Fatal(err)
	}
}

func (g guard) hold(paths ...string) {
	g.t.Helper()
	if err := os.WriteFile(filepath.Join(g.dir, "held"), []byte(strings.Join(paths, "\x00")), 0o644); err != nil {
		g.t.Fatal(err)
	}
}

// calls gives what the guard saw since the last time.
func (g guard) calls() []call {
	g.t.Helper()
	content, err := os.ReadFile(filepath.Join(g.dir, "calls"))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		g.t.Fatal(err)
	}
	os.Remove(filepath.Join(g.dir, "calls"))
	var calls []call
	for line := range bytes.Lines(content) {
		var c call
		if err := json.Unmarshal(line, &c); err != nil {
			g.t.Fatalf("%s: %v", line, err)
		}
		if c.Err != "" {
			g.t.Errorf("inside of the hook: %s", c.Err)
		}
		calls = append(calls, c)
	}
	return calls
}

// one gives the changes of the only call since the last time, "M path" each.
func (g guard) one() []string {
	g.t.Helper()
	calls := g.calls()
	if len(calls) != 1 {
		g.t.Fatalf("the guard was run %d times: %+v", len(calls), calls)
	}
	changes := calls[0].Changes
	for i := range changes {
		fmt.Sscanf(changes[i].Path, "%q", &changes[i].Path)
		fmt.Sscanf(changes[i].From, "%q", &changes[i].From)
	}
	return show(changes)
}

// show writes changes as the tests compare them, sorted.
func show(changes []Change) []string {
	list := []string{}
	for _, c := range changes {
		s := string(c.Status) + " " + c.Path
		if c.From != "" {
			s = string(c.Status) + " " + c.From + " > " + c.Path
		}
		if c.Merged {
			s += " (merged)"
		}
		list = append(list, s)
	}
	slices.Sort(list)
	return list
}

func install(t *testing.T, r repo, g guard, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := InstallHook(t.Context(), r.dir, HookOptions{Name: name, Program: g.program}); err != nil {
			t.Fatal(err)
		}
	}
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if len(got)+len(want) > 0 && !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}
