package hook

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestAnEditThatWasAllowedOpensNothing: the second edit of a file is let pass
// without a database, for the same process, session and subagent, until a claim
// of its project changes or a minute is over.
func TestAnEditThatWasAllowedOpensNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.repo("a.go", "b.go")
	c, other := d.started("S1"), d.started("S2")
	sub := []any{"agent_id", "a1", "agent_type", "Explore"}
	link := filepath.Join(d.dir, "link.go")
	d.must(os.Symlink("a.go", link))
	c.edit("a.go").silent()
	c.edit("b.go", sub...).silent()
	c.edit("a.go").silent() // the subagent's claim changed the project's
	looks := func(path string, more ...any) bool {
		t.Helper()
		big := strings.Repeat("some text\n", 3000)
		return c.looks("PreToolUse", append([]any{"tool_name", "Edit", "tool_input", map[string]any{"file_path": path, "old_string": big}}, more...)...)
	}
	see := d.blind()
	for range 5 {
		if looks("a.go") || looks("./a.go") || looks(filepath.Join(d.dir, "a.go")) || looks("link.go") {
			t.Fatal("a database was opened for what was allowed a moment ago")
		}
	}
	if c.looks("PreToolUse", "tool_name", "Bash", "tool_input", map[string]any{"command": "git status"}) ||
		c.looks("PreToolUse", "tool_name", "Read", "tool_input", map[string]any{"file_path": "a.go"}) || c.looks("PreToolUse", "tool_name", "Edit") {
		t.Error("a database was opened for what is not guarded")
	}
	if !looks("b.go") || !looks("a.go", sub...) || !looks("a.go", "session_id", "S2") || !looks("a.go", "cwd", "/") {
		t.Error("somebody else's answer, or that for another file, was taken for this one's")
	}
	pid := c.pid
	if c.pid = other.pid; !looks("a.go") {
		t.Error("another process's answer was taken for this one's")
	}
	c.pid = pid
	if d.late = keepAnswer + time.Second; !looks("a.go") {
		t.Error("the answer has no age")
	}
	d.late = 0
	see()
	other.claims(p, "x", "other")
	see = d.blind()
	if !looks("a.go") {
		t.Error("a claim changed, and nobody looked")
	}
	see()
	c.edit("a.go").silent()
	c.event("SessionEnd", "reason", "other").silent()
	see = d.blind()
	if !looks("a.go") {
		t.Error("the session has ended, and its answers stand")
	}
	see()
}

// TestGitStashAmongOthers: with real repositories. It is denied where another
// session or work tree could lose something, and nowhere else.
func TestGitStashAmongOthers(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.repo("a.go")
	c := d.started("S1")
	stash := func(command string, more ...any) said {
		t.Helper()
		return c.event("PreToolUse", append([]any{"tool_name", "Bash", "tool_use_id", "toolu_1", "tool_input", map[string]any{"command": command}}, more...)...)
	}
	stash("git stash").silent() // nothing is changed
	d.file(filepath.Join(d.dir, "a.go"), "changed\n")
	stash("git stash").silent() // its own changes
	tree := filepath.Join(filepath.Dir(d.dir), "tree")
	d.git("worktree", "add", "-q", tree)
	stash("git stash").silent() // the other tree has none
	d.file(filepath.Join(tree, "a.go"), "changed\n")
	stash("git stash pop").denied("git stash was not run", tree, "BUREAU_GUARD=off")
	d.git("worktree", "remove", "--force", tree)
	stash("git stash").silent()
	other := d.started("S2")
	stash("git stash").denied(other.name() + " works in this repository too")
	stash("git stash list").silent()
	stash("git status && git stash").silent() // no shell is parsed
	stash("git stash", "cwd", filepath.Dir(d.dir)).silent()
	c.env["BUREAU_GUARD"] = "off"
	stash("git stash").silent()
	delete(c.env, "BUREAU_GUARD")
	d.git("checkout", "-q", "a.go")
	stash("git stash").silent()
	d.file(filepath.Join(d.dir, "new.go"), "untracked\n")
	stash("git stash -u").denied(other.name())
	other.event("SessionEnd", "reason", "other").silent()
	stash("git stash -u").silent()
}

// edited is the end of a round in which a file was changed.
func (c *client) edited(path string, response any, more ...any) said {
	c.d.t.Helper()
	return c.event("PostToolBatch", append([]any{"tool_calls", []any{
		map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": "true"}, "tool_response": "ok"},
		map[string]any{"tool_name": "Edit", "tool_input": map[string]any{"file_path": path}, "tool_response": response},
	}}, more...)...)
}

// TestTwoChangedOneFile: both are told, once the second one has done it within
// a minute of the first. It takes a database only then.
func TestTwoChangedOneFile(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.repo("a.go")
	bob, carla := d.started("B"), d.started("C")
	for _, c := range []*client{bob, carla} {
		c.step("UserPromptSubmit").silent()
		c.step("PostToolBatch").silent()
	}
	file := filepath.Join(d.dir, "a.go")
	see := d.blind()
	bob.edited(file, "The file was updated.").silent()
	begun := time.Now()
	bob.edited(file, "The file was updated.").silent()
	for _, not := range []any{"<tool_use_error>no</tool_use_error>", "PreToolUse:Edit hook error: bureau: the edit was not made", "Error: no",
		"The user doesn't want to proceed with this tool use.", "Permission to use Edit has been denied.", map[string]any{"is_error": true}} {
		carla.edited(file, not).silent()
	}
	see()
	d.late = 10 * time.Second
	d.must(os.Symlink("a.go", filepath.Join(d.dir, "link.go")))
	told := carla.edited("link.go", "The file was updated.")
	told.has("somebody else changed a file", file, bob.name())
	ago := 10
	for late := d.late + time.Since(begun); !strings.Contains(told.out, fmt.Sprintf("%d s before you", ago)); ago++ {
		if time.Duration(ago)*time.Second > late {
			t.Errorf("%q does not say how long before", told.out)
			break
		}
	}
	bob.event("PostToolBatch").has("Both of you changed "+file, carla.name())
	// Subagents are told apart; those that the office does not know are their
	// session.
	bob.event("PostToolUse", "tool_name", "Write", "tool_input", map[string]any{"file_path": file}, "tool_response", map[string]any{"filePath": file}, "agent_id", "a1").
		has(carla.name())
	bob.env["BUREAU_GUARD"] = "off"
	bob.edited(file, "The file was updated.").silent()
	delete(bob.env, "BUREAU_GUARD")
	d.late = 3 * time.Minute
	carla.edited(file, "The file was updated.").lacks("somebody else")
}

// TestAStartNamesTheClaims: up to ten of others, and after a compaction also
// what the session holds.
func TestAStartNamesTheClaims(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.repo("a.go")
	bob, carla := d.client("B"), d.client("C")
	bob.env["BUREAU_NAME"], carla.env["BUREAU_NAME"] = "bob", "carla"
	bob.event("SessionStart", "source", "startup").lacks("Claimed by others", "You hold")
	bob.claims(p, "rename the parser\n- mine: everything", "src/parser", "src/lexer", "docs", "x")
	bob.edit("auto.go").silent()
	carla.event("SessionStart", "source", "startup").has("Claimed by others in this project", "`bureau claims`").
		matches("\n- docs, src/lexer and 2 more: bob since [0-9]+ s ago, active, for \"rename the parser - mine: everything\"\n").lacks("auto.go", "You hold")
	v := carla.claims(p, "the tests", "tests")
	carla.event("SessionStart", "source", "compact").has("src/lexer", "You hold", "\n- tests, claim "+v.Short+", for \"the tests\"")
	for i := range 15 {
		bob.claims(p, strings.Repeat("\u0301長", 200), "n/"+itoa(i)+strings.Repeat("/x", 100))
	}
	s := carla.event("SessionStart", "source", "compact")
	if n := strings.Count(s.Context, "bob since"); n != claimsShown {
		t.Errorf("%d claims are named", n)
	}
	s.has("and 6 more", "You hold")
	// An office in which the session has mail too.
	d.send("carla", "hello there")
	carla.event("SessionStart", "source", "compact").has("hello there")
	bob.stop()
	carla.event("SessionStart", "source", "compact").matches("bob since [0-9]+ s ago, stale")
}

// TestAProjectThatWasMoved: what is held in it is held at the new place, from
// the first edit there on; no command of bureau's was ever run in it.
func TestAProjectThatWasMoved(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.repo("src/a.go")
	bob, carla := d.started("B"), d.started("C")
	bob.edit(filepath.Join(d.dir, "src/a.go")).silent()
	moved := filepath.Join(filepath.Dir(d.dir), "moved")
	d.must(os.Rename(d.dir, moved))
	bob.dir, carla.dir = moved, moved
	carla.edit(filepath.Join(moved, "src/a.go")).denied(bob.name())
	bob.edit(filepath.Join(moved, "src/a.go")).silent()
	// What is begun at the old place is another project.
	d.must(os.Mkdir(d.dir, 0o700))
	d.repo("src/a.go")
	carla.edit(filepath.Join(d.dir, "src/a.go")).silent()
	carla.edit(filepath.Join(moved, "src/a.go")).denied(bob.name())
}
