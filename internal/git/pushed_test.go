package git

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bureau/internal/fault"
)

const none = "0000000000000000000000000000000000000000"

// pushed asks for pairs of a local and a remote revision.
func (r repo) pushed(pairs ...string) Push {
	r.t.Helper()
	var lines strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		ids := make([]string, 2)
		for j, rev := range pairs[i : i+2] {
			if ids[j] = rev; !isID(rev) {
				ids[j] = strings.TrimSpace(r.git("rev-parse", rev))
			}
		}
		fmt.Fprintf(&lines, "refs/heads/x %s refs/heads/x %s\n", ids[0], ids[1])
	}
	got, err := Pushed(r.t.Context(), r.dir, append(os.Environ(), r.env...), strings.NewReader(lines.String()))
	if err != nil {
		r.t.Fatal(err)
	}
	return got
}

func TestPushed(t *testing.T) {
	r := newRepo(t)
	far := filepath.Join(realDir(t), "far.git")
	r.git("init", "-q", "--bare", far)
	r.git("remote", "add", "origin", far)
	r.commit("a", "1\n", "old", strings.Repeat("text\n", 20))
	same(t, "a whole history", r.pushed("main", none).Paths, []string{"a", "old"})
	r.git("push", "-q", "origin", "main")
	same(t, "nothing new", r.pushed("main", "origin/main").Paths, nil)

	for _, name := range oddNames {
		r.write(name, "1")
	}
	r.commit()
	r.git("mv", "old", "new")
	r.commit("b", "1\n")
	r.git("rm", "-q", "b")
	r.commit()
	want := append([]string{"new", "old", "b"}, oddNames...)
	got := r.pushed("main", "origin/main")
	same(t, "three commits", sorted(got.Paths), sorted(want))
	if got.Commits != 3 || got.More {
		t.Errorf("%d commits, more: %v", got.Commits, got.More)
	}
	same(t, "a new branch", r.pushed("main", none).Paths, got.Paths)
	same(t, "a remote id that is not here", r.pushed("main", strings.Repeat("1", 40)).Paths, got.Paths)
	same(t, "a deletion", r.pushed(none, "main").Paths, nil)
	same(t, "two refs", r.pushed("main", "main~1", "main~2", "origin/main").Paths, []string{"b"})

	// What comes from the other side does not count again; what the merge
	// itself changes does.
	r.git("push", "-q", "origin", "main")
	r.git("switch", "-qc", "side", "main~1")
	r.commit("side", "1\n")
	r.git("merge", "-q", "--no-commit", "main")
	r.write("evil", "1\n")
	r.commit("a", "by the merge\n")
	same(t, "a merge", r.pushed("side", none).Paths, []string{"a", "evil", "side"})
	lines := strings.Split(strings.Repeat("line\n", 30), "\n")
	base := strings.TrimSpace(r.git("rev-parse", "HEAD"))
	r.commit("within", strings.Join(lines, "\n"), "twice", strings.Join(lines, "\n"))
	r.git("push", "-q", "origin", "side:refs/heads/within")
	r.git("switch", "-qc", "within")
	lines[2] = "theirs"
	r.commit("within", strings.Join(lines, "\n"), "twice", strings.Join(lines, "\n"))
	r.git("push", "-q", "origin", "within")
	r.git("switch", "-q", "side")
	lines[2], lines[25] = "line", "ours"
	r.commit("within", strings.Join(lines, "\n"), "twice", strings.Join(lines, "\n"))
	r.git("push", "-q", "origin", "side:refs/heads/ours")
	r.git("merge", "-q", "--no-commit", "within")
	r.write("twice", "edited\n")
	r.git("add", "twice")
	r.git("commit", "-qm", "merge")
	same(t, "merged within files, one edited", r.pushed("side", none).Paths, []string{"twice"})
	r.git("push", "-q", "origin", "--delete", "within", "ours")
	r.git("reset", "-q", "--hard", base)
	r.git("tag", "-a", "-m", "x", "v1")
	same(t, "a tag", r.pushed("v1", none).Paths, []string{"a", "evil", "side"})

	// Settings change nothing.
	r.git("config", "diff.renames", "copies")
	r.git("config", "diff.relative", "true")
	r.git("config", "core.quotePath", "true")
	if err := os.MkdirAll(filepath.Join(r.dir, "docs"), 0o755); err != nil {
		t.Fatal(err)
	}
	same(t, "with settings", r.at("docs").pushed("side", none).Paths, []string{"a", "evil", "side"})

	for _, bad := range []string{"x\n", "a b c d\n", "refs/heads/x " + none + " refs/heads/x\n"} {
		if _, err := Pushed(t.Context(), r.dir, nil, strings.NewReader(bad)); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if got, err := Pushed(t.Context(), r.dir, nil, strings.NewReader("")); err != nil || got.Commits != 0 {
		t.Errorf("nothing to push: %+v, %v", got, err)
	}
}

func TestPushedInTheHook(t *testing.T) {
	r := newRepo(t)
	g := newGuard(t)
	far := filepath.Join(realDir(t), "far.git")
	r.git("init", "-q", "--bare", far)
	r.git("remote", "add", "origin", far)
	r.commit("a", "1")
	install(t, r, g, PrePush)
	r.git("push", "-q", "origin", "main")
	r.commit("docs/naïve", "1")
	r.commit("b", "1")
	g.hold("docs/naïve")
	if out, err := r.try("push", "-q", "origin", "HEAD:main", "HEAD~1:refs/heads/other"); err == nil || !strings.Contains(out, "refused: docs/naïve ") {
		t.Errorf("pushed: %v, %s", err, out)
	}
	g.hold()
	r.git("push", "-q", "origin", "HEAD:main")
	calls := g.calls()
	if len(calls) != 3 {
		t.Fatalf("the guard was run %d times", len(calls))
	}
	for i, want := range [][]string{{"a"}, {"b", "docs/naïve"}, {"b", "docs/naïve"}} {
		same(t, fmt.Sprint("push ", i), calls[i].Push.Paths, want)
	}
}

func sorted(list []string) []string {
	var changes []Change
	for _, path := range list {
		changes = append(changes, Change{Status: 'M', Path: path})
	}
	return show(changes)
}
