package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bureau/internal/fault"
)

// husky plays husky 9: what its prepare script does at every npm install.
func husky(t *testing.T, r repo) {
	t.Helper()
	r.git("config", "core.hooksPath", ".husky/_")
	put(t, filepath.Join(r.dir, ".husky/_/.gitignore"), "*\n", 0o644)
	put(t, filepath.Join(r.dir, ".husky/_/h"), "hook=$(dirname \"$(dirname \"$0\")\")/$(basename \"$0\")\n[ -f \"$hook\" ] || exit 0\nsh -e \"$hook\" \"$@\"\nexit $?\n", 0o644)
	for _, name := range passedHooks {
		put(t, filepath.Join(r.dir, ".husky/_", name), stub, 0o755)
	}
}

// TestChain follows core.hooksPath wherever it is set, and runs every hook of
// the folder.
func TestChain(t *testing.T) {
	r, g := newRepo(t), recorder(t)
	commit := func(what, want string) {
		t.Helper()
		if out, err := r.try1(what); err != nil || g.log() != want {
			t.Errorf("%s: %v, %s", what, err, out)
		}
	}
	tracked := filepath.Join(r.dir, ".githooks")
	put(t, filepath.Join(tracked, "pre-commit"), g.noting("#!/bin/sh", 0), 0o755)
	put(t, filepath.Join(tracked, "commit-msg"), "#!/bin/sh\nprintf 'msg %s\\n' \"$1\" >>"+shellQuote(g.dir+"/log")+"\n", 0o755)
	r.git("config", "core.hooksPath", ".githooks")
	r.commit("file", "1") // the hooks are committed too
	g.log()
	config, _ := os.ReadFile(filepath.Join(r.dir, ".git", "config"))
	install(t, r, g, PreCommit, PrePush)
	const both = asked + "old <>\nmsg .git/COMMIT_EDITMSG\n"
	commit("a folder that is committed", both)
	if out := r.git("status", "--porcelain"); out != "" {
		t.Errorf("the work tree was changed: %s", out)
	}
	// A hook that comes later is run too.
	put(t, filepath.Join(tracked, "post-commit"), "#!/bin/sh\necho late >>"+shellQuote(g.dir+"/log")+"\n", 0o755)
	commit("a later one", both+"late\n")
	// In a linked work tree it is that tree's folder.
	r.git("worktree", "add", "-q", "-b", "wt", "../w t")
	g.log()
	if _, err := r.at("../w t").try1("x"); err != nil || !strings.HasPrefix(g.log(), asked+"old <>\n") {
		t.Errorf("in a linked work tree: %v", err)
	}
	// Another tool's folder.
	husky(t, r)
	put(t, filepath.Join(r.dir, ".husky/pre-commit"), g.noting("", 0), 0o644)
	commit("husky", asked+"old <>\n")
	// None any more: then those of the repository itself count.
	r.git("config", "--unset", "core.hooksPath")
	put(t, filepath.Join(r.dir, ".git/hooks/post-commit"), "#!/bin/sh\necho own >>"+shellQuote(g.dir+"/log")+"\n", 0o755)
	commit("no core.hooksPath", asked+"own\n")
	// Somebody wrote our folder down: that is no circle.
	r.git("config", "core.hooksPath", filepath.Join(r.dir, ".git", chainName))
	commit("our own folder", asked)
	r.git("config", "core.hooksPath", ".githooks")

	// A hook that a tool wrote where git looks is neither lost nor taken over.
	put(t, filepath.Join(r.dir, ".git", chainName, "pre-commit"), "#!/bin/sh\n# theirs\n", 0o755)
	if h := r.hook(t, PreCommit); h.State != HookReplaced || h.Runs {
		t.Errorf("replaced in the chain: %+v", h)
	}
	_, errInstall := InstallHook(t.Context(), r.dir, HookOptions{Name: PreCommit, Program: g.program})
	if _, err := RemoveHook(t.Context(), r.dir, PreCommit); err != nil {
		t.Errorf("another hook is still ours: %v", err)
	}
	_, errRemove := RemoveHook(t.Context(), r.dir, PrePush)
	for _, err := range []error{errInstall, errRemove} {
		if !fault.Is(err, fault.Conflict) || !strings.Contains(fault.HintOf(err), tracked) {
			t.Errorf("a hook of others in the chain: %v", err)
		}
	}
	if err := os.Remove(filepath.Join(r.dir, ".git", chainName, "pre-commit")); err != nil {
		t.Fatal(err)
	}
	if h, err := RemoveHook(t.Context(), r.dir, PrePush); err != nil || h.State != HookAbsent {
		t.Errorf("remove: %+v, %v", h, err)
	}
	commit("removed", "old <>\nmsg .git/COMMIT_EDITMSG\nlate\n")
	now, _ := os.ReadFile(filepath.Join(r.dir, ".git", "config"))
	if string(now) != string(config) || exists(filepath.Join(r.dir, ".git", chainName)) {
		t.Errorf("after removal the configuration is\n%s\nwas\n%s", now, config)
	}
}

// TestChainOverAnOlderHook takes a hook of ours out of husky's folder, and out
// of the one from before husky.
func TestChainOverAnOlderHook(t *testing.T) {
	r, g := newRepo(t), recorder(t)
	put(t, filepath.Join(r.dir, ".git/hooks/pre-commit"), "#!/bin/sh\n# mine\n", 0o755)
	before := snapshot(t, filepath.Join(r.dir, ".git/hooks"))
	install(t, r, g, PreCommit)
	husky(t, r)
	put(t, filepath.Join(r.dir, ".husky/pre-commit"), g.noting("", 0), 0o644)
	clean := snapshot(t, filepath.Join(r.dir, ".husky"))
	if h := r.hook(t, PreCommit); h.State != HookReplaced || h.Runs || h.Manager != "husky" {
		t.Errorf("husky came: %+v", h)
	}
	at := filepath.Join(r.dir, ".husky/_/pre-commit")
	if err := os.Rename(at, at+keptSuffix); err != nil {
		t.Fatal(err)
	}
	put(t, at, string(format1(g.program, `exec sh -c '. "${0%/*}/pre-commit.before-bureau"' "$0" "$@"`)), 0o755)
	install(t, r, g, PreCommit)
	unchanged(t, "husky's folder", clean, snapshot(t, filepath.Join(r.dir, ".husky")))
	unchanged(t, "the folder from before", before, snapshot(t, filepath.Join(r.dir, ".git/hooks")))
	if out, err := r.try1("x"); err != nil || g.log() != asked+"old <>\n" {
		t.Errorf("%v, %s", err, out)
	}
}

// TestChainMoved is a repository that lies elsewhere now: git does as without
// us, and that is said.
func TestChainMoved(t *testing.T) {
	r, g := newRepo(t), recorder(t)
	husky(t, r)
	put(t, filepath.Join(r.dir, ".husky/pre-commit"), g.noting("", 0), 0o644)
	install(t, r, g, PreCommit)
	to := filepath.Join(filepath.Dir(r.dir), "a [new] pl*ce")
	if err := os.Rename(r.dir, to); err != nil {
		t.Fatal(err)
	}
	r.dir = to
	if out, err := r.try1("moved"); err != nil || g.log() != "old <>\n" {
		t.Errorf("moved: %v, %s", err, out)
	}
	if h, ok := Lapsed(t.Context(), r.dir); !ok || h.Manager != "husky" {
		t.Errorf("moved: %+v, %v", h, ok)
	}
	for range 2 {
		install(t, r, g, PreCommit)
		if out, err := r.try1("installed again"); err != nil || g.log() != asked+"old <>\n" {
			t.Errorf("installed again: %v, %s", err, out)
		}
	}
	if h, ok := Lapsed(t.Context(), r.dir); ok {
		t.Errorf("installed again: %+v", h)
	}
	if _, err := RemoveHook(t.Context(), r.dir, PreCommit); err != nil {
		t.Error(err)
	}
	if config, _ := os.ReadFile(filepath.Join(r.dir, ".git/config")); strings.Contains(strings.ToLower(string(config)), "include") || strings.Contains(string(config), "bureau") {
		t.Errorf("after removal:\n%s", config)
	}
}

// TestChainSpeaksLast is a core.hooksPath that was written behind ours.
func TestChainSpeaksLast(t *testing.T) {
	r, g := newRepo(t), recorder(t)
	husky(t, r)
	install(t, r, g, PreCommit)
	path := filepath.Join(r.dir, ".git/config")
	config, _ := os.ReadFile(path)
	put(t, path, string(config)+"[core]\n\thooksPath = .husky/_\n", 0o644)
	if h, ok := Lapsed(t.Context(), r.dir); !ok || h.State != HookReplaced {
		t.Errorf("behind ours: %+v, %v", h, ok)
	}
	install(t, r, g, PreCommit)
	if out, err := r.try1("x"); err != nil || g.log() != asked {
		t.Errorf("%v, %s", err, out)
	}
}
