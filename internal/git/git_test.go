package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bureau/internal/fault"
)

// tree makes folders ("a/") and files ("a/b": content) below a new folder.
func tree(t *testing.T, entries map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range entries {
		at := filepath.Join(root, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(path, "/") {
			err = os.MkdirAll(at, 0o755)
		} else {
			err = os.WriteFile(at, []byte(strings.ReplaceAll(content, "ROOT", root)), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestProject(t *testing.T) {
	root := tree(t, map[string]string{
		"main/.git/HEAD":                         "ref: refs/heads/main\n",
		"main/src/deep/":                         "",
		"main/.git/worktrees/wt/HEAD":            "x",
		"main/.git/worktrees/wt/commondir":       "../..\n",
		"wt/.git":                                "gitdir: ROOT/main/.git/worktrees/wt\n",
		"wt/inner/":                              "",
		"main/.git/modules/sub/HEAD":             "x",
		"main/sub/.git":                          "gitdir: ../.git/modules/sub\n",
		"main/sub/src/":                          "",
		"bare.git/HEAD":                          "x",
		"bare.git/worktrees/b/HEAD":              "x",
		"bare.git/worktrees/b/commondir":         "../..",
		"frombare/.git":                          "gitdir: ROOT/bare.git/worktrees/b",
		"plain/folder/":                          "",
		"broken/.git":                            "gitdir: ROOT/nowhere\n",
		"empty/.git/":                            "",
		"marked/.bureau/project":                 "our-api\nmore\n",
		"marked/repo/.git/HEAD":                  "x",
		"badmark/.bureau/project":                "no id\n",
		"main/.git/worktrees/gone/HEAD":          "x",
		"main/.git/worktrees/gone/commondir":     "../..",
		"deep/elsewhere/relative/.git":           "gitdir: ../../../main/.git/worktrees/gone",
		"main/vendored/.git/HEAD":                "x",
		"main/vendored/.git/config":              "",
		"main/.git/worktrees/wt/irrelevant/file": "",
	})
	for _, c := range []struct{ dir, want, id string }{
		{"main", "main", ""},
		{"main/src/deep", "main", ""},
		{"wt", "main", ""},
		{"wt/inner", "main", ""},
		{"main/sub", "main/sub", ""},
		{"main/sub/src", "main/sub", ""},
		{"frombare", "bare.git", ""},
		{"deep/elsewhere/relative", "main", ""},
		{"main/vendored", "main/vendored", ""},
		{"plain/folder", "plain/folder", ""},
		{"broken", "broken", ""},
		{"empty", "empty", ""},
		{"marked", "marked", "our-api"},
		{"marked/repo", "marked", "our-api"},
	} {
		got, err := Project(filepath.Join(root, c.dir))
		if err != nil || got.Root != filepath.Join(root, c.want) || got.ID != c.id || got.Name != filepath.Base(c.want) {
			t.Errorf("%s is in %+v, %v; want %s", c.dir, got, err, c.want)
		}
	}
	if _, err := Project(filepath.Join(root, "badmark")); !fault.Is(err, fault.Invalid) {
		t.Errorf("an id with a space: %v", err)
	}
	if _, err := Project(filepath.Join(root, "not/there")); err == nil {
		t.Error("a folder that is missing has a project")
	}
	link := filepath.Join(root, "link")
	if err := os.Symlink(filepath.Join(root, "main", "src"), link); err != nil {
		t.Skip(err)
	}
	if got, err := Project(link); err != nil || got.Root != filepath.Join(root, "main") {
		t.Errorf("through a link: %+v, %v", got, err)
	}
}

func TestHomeAndRootAreNoProjects(t *testing.T) {
	home := tree(t, map[string]string{"work/": ""})
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	for _, dir := range []string{home, filepath.VolumeName(home) + string(filepath.Separator)} {
		if got, err := Project(dir); err != nil || got != (Found{}) {
			t.Errorf("%s is %+v, %v", dir, got, err)
		}
	}
	if got, err := Project(filepath.Join(home, "work")); err != nil || got.Name != "work" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestFirstCommit(t *testing.T) {
	r := newRepo(t)
	root, run := r.dir, r.git
	ctx := t.Context()
	if got, err := FirstCommit(ctx, root); err != nil || got != "" {
		t.Errorf("without a commit: %q, %v", got, err)
	}
	run("commit", "-q", "--allow-empty", "-m", "one")
	first := strings.TrimSpace(run("rev-parse", "HEAD"))
	run("commit", "-q", "--allow-empty", "-m", "two")
	// What a git hook sets would send git to another repository.
	t.Setenv("GIT_DIR", filepath.Join(t.TempDir(), "other"))
	if got, err := FirstCommit(ctx, root); err != nil || got != first {
		t.Errorf("%q, %v; want %q", got, err, first)
	}
	if got, err := FirstCommit(ctx, t.TempDir()); err == nil {
		t.Errorf("outside of a repository: %q", got)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := FirstCommit(ended, root); err == nil {
		t.Error("a cancelled search gives an answer")
	}
}
