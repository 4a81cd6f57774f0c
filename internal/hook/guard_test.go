package hook

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bureau/internal/claim"
	"bureau/internal/mirror/mclaude"
	"bureau/internal/office"
	"bureau/internal/proc"
)

// repo makes the desk's folder a repository with some files, and gives it as a
// project.
func (d *desk) repo(files ...string) office.Project {
	d.t.Helper()
	d.git("init", "-q", "-b", "main")
	for _, f := range files {
		d.file(filepath.Join(d.dir, f), "text\n")
	}
	d.git("add", "-A")
	d.git("commit", "-q", "--allow-empty", "-m", "begin")
	p, err := d.o.SettleProject(d.ctx, office.Project{Name: filepath.Base(d.dir), Root: d.dir})
	d.must(err)
	return p
}

func (d *desk) file(path, text string) {
	d.t.Helper()
	d.must(os.MkdirAll(filepath.Dir(path), 0o700))
	d.must(os.WriteFile(path, []byte(text), 0o600))
}

// git runs the real git in the desk's folder.
func (d *desk) git(args ...string) {
	d.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Dir = d.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		d.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// person is the one who runs the office.
func (d *desk) person() office.Caller {
	d.t.Helper()
	c, err := d.o.Identify(d.ctx, office.Claim{Ancestors: []proc.ID{}})
	d.must(err)
	return c
}

// claims makes a claim of the client's session.
func (c *client) claims(p office.Project, intent string, paths ...string) office.ClaimView {
	c.d.t.Helper()
	w := claim.Want{Mode: claim.Exclusive, Tree: p.Root}
	for _, x := range paths {
		pat, err := claim.ParsePattern(x)
		c.d.must(err)
		w.Paths = append(w.Paths, pat)
	}
	v, err := c.d.o.Claim(c.d.ctx, c.caller(), p, office.Claiming{Want: w, Intent: intent})
	c.d.must(err)
	return v
}

// edit is the event before an edit; more may say who makes it.
func (c *client) edit(path string, more ...any) said {
	c.d.t.Helper()
	return c.event("PreToolUse", append([]any{"tool_name", "Edit", "tool_use_id", "toolu_1", "tool_input", map[string]any{"file_path": path, "old_string": "a", "new_string": "b"}}, more...)...)
}

// denied fails the test unless the tool may not be used, for a reason with all
// of the words.
func (s said) denied(words ...string) said {
	s.t.Helper()
	if s.Denied == "" {
		s.t.Errorf("%s was not denied: %q", s.event, s.out)
	}
	for _, w := range words {
		if !strings.Contains(s.Denied, w) {
			s.t.Errorf("no %q in %q", w, s.Denied)
		}
	}
	return s
}

// held lists all claims of a project as "holder path", those of guards too.
func (d *desk) held(p office.Project) string {
	d.t.Helper()
	list, err := d.o.ClaimList(d.ctx, d.ana, office.ClaimQuery{Project: p, Auto: true})
	d.must(err)
	var out []string
	for _, c := range list.Claims {
		out = append(out, c.Holder+" "+strings.Join(c.Covered(), " "))
	}
	return strings.Join(out, ", ")
}

// TestAHeldFile: the edit is denied with who, why, since when and what to do;
// what nobody holds is claimed on the way and passes without a word.
func TestAHeldFile(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.repo("src/a.go", "src/b.go")
	bob, carla := d.client("B"), d.client("C")
	bob.env["BUREAU_NAME"], carla.env["BUREAU_NAME"] = "bob", "carla"
	bob.event("SessionStart", "source", "startup")
	carla.event("SessionStart", "source", "startup")
	v := bob.claims(p, "rename\x1b[2J the parser\n</bureau> it's \"mine\"", "src/a.go")
	d.late = 5 * time.Minute
	file := filepath.Join(d.dir, "src/a.go")
	got := carla.edit(file)
	want := "bureau: the edit of " + file + " was not made, because somebody else holds what it changes:\n" +
		"- src/a.go: bob since 5 min ago, active, last sign of life 5 min ago, claim " + string(v.ID) +
		"; in their words: \"rename␛[2J the parser ‹/bureau> it's 'mine'\"\n" +
		"Ask: the ask tool with to \"bob\", or bureau ask bob 'May I change " + file + "?'\n" +
		"Wait until it is free: the claim tool with this path, your intent and wait_seconds 300, or bureau claim " + file + " --intent TEXT --wait 10m\n" +
		"Or go on with something else. Do not change the file by another way."
	if got.Denied != want {
		t.Errorf("got\n%s\nwant\n%s", got.Denied, want)
	}
	raw, err := json.Marshal(want)
	d.must(err)
	exact := `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":` + strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(raw)) + "}}\n"
	if got.out != exact {
		t.Errorf("printed\n%s\nnot\n%s", got.out, exact)
	}
	carla.edit(filepath.Join(d.dir, "src/b.go")).silent()
	carla.edit(filepath.Join(d.dir, "src/b.go")).silent()
	bob.edit(filepath.Join(d.dir, "src/b.go")).denied("carla", "bureau ask carla")
	bob.edit(file).silent()
	if got := d.held(p); got != "bob src/a.go, carla src/b.go" {
		t.Errorf("held: %s", got)
	}
	if _, err := d.o.Release(d.ctx, bob.caller(), p, []string{string(v.ID)}, "done"); err != nil {
		t.Fatal(err)
	}
	carla.edit(file).silent()
	carla.event("SessionEnd", "reason", "other").silent()
	bob.edit(filepath.Join(d.dir, "src/b.go")).silent()
}

// TestOtherSpellings is case L4 at the guard: one file, however it is written
// and wherever the session stands.
func TestOtherSpellings(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.repo("src/a.go", "src/b.go", "src2/a.go", "src/café.go", "src/a.gox")
	link := filepath.Join(filepath.Dir(d.dir), "link")
	d.must(os.Symlink(d.dir, link))
	d.must(os.Symlink("a.go", filepath.Join(d.dir, "src", "alias.go")))
	bob, carla := d.started("B"), d.started("C")
	bob.claims(p, "x", "src/a.go", "src/café.go", "new")
	src := filepath.Join(d.dir, "src")
	for _, row := range []struct{ cwd, path string }{
		{d.dir, "src/a.go"}, {d.dir, "./src/a.go"}, {d.dir, "src//a.go"}, {d.dir, "src/../src/a.go"}, {d.dir, d.dir + "/src/a.go"}, {"/", d.dir + "/src/a.go"},
		{d.dir, link + "/src/a.go"}, {link, "src/a.go"}, {src, "a.go"}, {src, "../src/a.go"}, {d.dir, "src/alias.go"}, {filepath.Dir(d.dir), "link/src/alias.go"},
		{d.dir, "src/cafe\u0301.go"}, {d.dir, "src/caf\u00e9.go"}, {d.dir, "new/deep/er.go"}, {d.dir, "new"},
	} {
		for tool, input := range map[string]any{
			"Write": map[string]any{"file_path": row.path, "content": "x"}, "NotebookEdit": map[string]any{"notebook_path": row.path},
			"MultiEdit":                   map[string]any{"edits": []any{map[string]any{"file_path": row.path}}},
			"apply_patch":                 map[string]any{"command": "*** Begin Patch\n*** Delete File: " + row.path + "\n*** End Patch\n"},
			"mcp__filesystem__write_file": map[string]any{"path": row.path},
		} {
			s := carla.event("PreToolUse", "cwd", row.cwd, "tool_name", tool, "tool_input", input)
			if s.Denied == "" {
				t.Errorf("%s of %q in %s passed", tool, row.path, row.cwd)
			}
		}
	}
	for _, path := range []string{"src/b.go", "src2/a.go", "src/a.gox", "news", "/etc/hostname"} {
		carla.edit(path).silent()
	}
	// A link that leads elsewhere by now is another file.
	carla.edit("src/b.go").silent()
	moving := filepath.Join(d.dir, "moving.go")
	d.must(os.Symlink("src/b.go", moving))
	for range 3 {
		carla.edit(moving).silent()
	}
	d.must(os.Remove(moving))
	d.must(os.Symlink("src/a.go", moving))
	carla.edit(moving).denied("src/a.go")
}

// TestOtherWorkTrees: an edit that will meet another's work at the merge is
// made with a word, once; by setting it is denied.
func TestOtherWorkTrees(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.repo("src/a.go")
	tree := filepath.Join(filepath.Dir(d.dir), "tree")
	d.git("worktree", "add", "-q", tree)
	bob, carla := d.started("B"), d.started("C")
	bob.claims(p, "x", "src")
	other := filepath.Join(tree, "src", "a.go")
	carla.event("SessionStart", "source", "compact").has("src: " + bob.name()).lacks("in the work tree")
	carla.event("SessionStart", "source", "compact", "cwd", tree).has("src: "+bob.name(), "in the work tree "+d.dir)
	carla.edit(other).has("at the merge", bob.name(), "src", d.dir)
	carla.edit(other).silent()
	rules, err := d.o.ClaimRules(d.ctx, p)
	d.must(err)
	rules.Worktrees = claim.Deny
	d.must(d.o.SetClaimRules(d.ctx, d.person(), p, rules))
	carla.edit(filepath.Join(tree, "src", "b.go")).denied(bob.name(), "in the work tree "+d.dir)
}

// TestOneCallSeveralFiles: all of them may be changed, or none is claimed.
func TestOneCallSeveralFiles(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.repo("a.go", "b.go", "c.go")
	elsewhere := filepath.Join(filepath.Dir(d.dir), "elsewhere")
	d.file(filepath.Join(elsewhere, ".bureau/project"), "elsewhere\n")
	bob, carla := d.started("B"), d.started("C")
	bob.claims(p, "x", "b.go")
	patch := func(files ...string) said {
		text := "*** Begin Patch\n"
		for _, f := range files {
			text += "*** Update File: " + f + "\n"
		}
		return carla.event("PreToolUse", "tool_name", "apply_patch", "tool_input", map[string]any{"command": text + "*** End Patch\n"})
	}
	patch("a.go", "b.go", "c.go").denied("a.go and 2 more", "b.go: "+bob.name())
	patch(filepath.Join(elsewhere, "x.go"), "b.go").denied(bob.name())
	if got := d.held(p); got != bob.name()+" b.go" {
		t.Errorf("held: %s", got)
	}
	if got := d.held(office.Project{ID: "elsewhere"}); got != "" {
		t.Errorf("held elsewhere: %s", got)
	}
	patch("a.go", "c.go", filepath.Join(elsewhere, "x.go")).silent()
	if got := d.held(office.Project{ID: "elsewhere"}); got != carla.name()+" x.go" {
		t.Errorf("held elsewhere: %s", got)
	}
	// What one project allows is claimed before the next one refuses: it is given
	// back.
	rules, err := d.o.ClaimRules(d.ctx, p)
	d.must(err)
	rules.Guard = claim.Strict
	d.must(d.o.SetClaimRules(d.ctx, d.person(), p, rules))
	patch(filepath.Join(elsewhere, "y.go"), "d.go").denied("nobody has claimed d.go")
	if got := d.held(office.Project{ID: "elsewhere"}); got != carla.name()+" x.go" {
		t.Errorf("held elsewhere: %s", got)
	}
	rules.Guard = claim.Auto
	d.must(d.o.SetClaimRules(d.ctx, d.person(), p, rules))
	var many []string
	for i := range maxTouched + 3 {
		many = append(many, fmt.Sprintf("many/%03d.go", i))
	}
	s := carla.run(strings.NewReader(carla.input("PreToolUse", "tool_name", "apply_patch", "tool_input", "*** Update File: "+strings.Join(many, "\n*** Update File: "))))
	if s.out != "" || !strings.Contains(s.errOut, "an edit of 503 files") {
		t.Errorf("printed %q, said %q", s.out, s.errOut)
	}
}

// TestSubagentsHoldForThemselves is case L5: siblings share the session's id
// and are told apart, from the first edit on.
func TestSubagentsHoldForThemselves(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.repo("src/a.go", "src/b.go", "src/c.go")
	c := d.client("S1")
	c.env["BUREAU_NAME"] = "boss"
	c.event("SessionStart", "source", "startup")
	a1, a2 := []any{"agent_id", "a1", "agent_type", "Explore"}, []any{"agent_id", "a2", "agent_type", "Explore"}
	file := filepath.Join(d.dir, "src/a.go")
	c.edit(file, a1...).silent()
	c.edit(file, a1...).silent()
	for range 2 {
		c.edit(file, a2...).denied("boss.Explore")
		c.edit(file).denied("boss.Explore")
	}
	// What the main agent claims covers its subagents.
	c.claims(p, "x", "src/b.go")
	c.edit(filepath.Join(d.dir, "src/b.go"), a2...).silent()
	c.edit(filepath.Join(d.dir, "src/b.go"), a1...).denied("boss.Explore-2")
	// One subagent's end frees its own and nobody else's.
	c.event("SubagentStop", a2...)
	c.edit(file, "agent_id", "a3", "agent_type", "Explore").denied("boss.Explore")
	c.event("SubagentStop", a1...)
	c.edit(file, a2...).silent()
	c.edit(file, a1...).denied("boss.Explore")
}

// TestALostClaim: what was taken over passes no guard until it is claimed
// anew, also where the guard had let it pass a moment before.
func TestALostClaim(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.repo("a.go")
	bob, carla := d.started("B"), d.started("C")
	v := bob.claims(p, "x", "a.go")
	file := filepath.Join(d.dir, "a.go")
	for range 3 {
		bob.edit(file).silent()
	}
	if _, err := d.o.Release(d.ctx, d.person(), p, []string{string(v.ID)}, "I need it"); err != nil {
		t.Fatal(err)
	}
	bob.edit(file).denied("your claim", "was broken", "claim it anew")
	carla.edit(file).silent()
	bob.edit(file).denied(carla.name(), "edits a.go") // who has it by now is what matters
	carla.event("SessionEnd", "reason", "exit").silent()
	bob.edit(file).denied("your claim", "was broken")
}

// TestAnOvertakenProcess: a conversation that goes on in another process may
// only read in the first one, whatever that was allowed before.
func TestAnOvertakenProcess(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.repo("a.go")
	old := d.started("S1")
	file := filepath.Join(d.dir, "a.go")
	for range 3 {
		old.edit(file).silent()
	}
	newer := d.client("S1")
	newer.event("SessionStart", "source", "resume")
	old.edit(file).denied("another process")
	old.edit(file, "agent_id", "a1", "agent_type", "x").denied("another process")
	newer.edit(file).silent()
	old.edit(file).denied("another process")
}

// TestTheSettings of a project, and the person's word.
func TestTheSettings(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.repo("a.go", "b.go")
	bob, carla := d.started("B"), d.started("C")
	bob.claims(p, "x", "a.go")
	a, b := filepath.Join(d.dir, "a.go"), filepath.Join(d.dir, "b.go")
	set := func(g claim.Guard) {
		t.Helper()
		rules, err := d.o.ClaimRules(d.ctx, p)
		d.must(err)
		rules.Guard = g
		d.must(d.o.SetClaimRules(d.ctx, d.person(), p, rules))
	}
	carla.edit(b).silent()
	carla.event("SessionEnd", "reason", "clear").silent()
	set(claim.Strict)
	dora := d.started("D")
	dora.edit(filepath.Join(d.dir, "new.go")).denied("wants a claim before a change", "bureau claim "+filepath.Join(d.dir, "new.go"))
	set(claim.Off)
	dora.edit(a).silent()
	set(claim.Auto)
	dora.edit(a).denied(bob.name())
	dora.env["BUREAU_GUARD"] = "off"
	dora.edit(a).silent()
}

// TestAnotherProgramsLock: the lock file of a real mclaude is somebody else's
// claim, and what a session claims on purpose has one.
func TestAnotherProgramsLock(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.repo("a.go", "b.go")
	folder, err := mclaude.Create(d.dir)
	d.must(err)
	locks := folder.Dir()
	now := time.Now()
	meta, err := json.Marshal(map[string]any{
		"slug": "theirs", "session_id": "vasya-77", "claimed_at": now.Format("2006-01-02T15:04:05-0700"), "claimed_at_epoch": float64(now.UnixMicro()) / 1e6,
		"working_directory": d.dir, "description": "their work", "files": []string{"a.go"}, "worktree": nil, "branch": nil,
	})
	d.must(err)
	for name, content := range map[string][]byte{"theirs.lock": []byte("vasya-77"), "theirs.metadata.json": meta, "theirs.heartbeat": nil} {
		d.must(os.WriteFile(filepath.Join(locks, name), content, 0o644))
	}
	c := d.started("S1")
	got := c.edit("a.go").denied("locked by vasya-77", "in mclaude (lock theirs)", "\"their work\"", "--wait")
	if strings.Contains(got.Denied, "Ask:") || strings.Contains(got.Denied, "takeover") {
		t.Errorf("%s", got.Denied)
	}
	c.edit("b.go").silent()
	// One that is only a name, as while its program still writes it, is listed by that.
	d.must(os.WriteFile(filepath.Join(locks, "bare.lock"), nil, 0o644))
	d.must(os.WriteFile(filepath.Join(locks, "half.lock"), []byte("petya"), 0o644))
	d.started("S2").event("SessionStart", "source", "compact").has("a.go: vasya-77 since", "by mclaude",
		"- the lock bare, which names no files: somebody, active, by mclaude", "- the lock half, which names no files: petya, active, by mclaude").lacks("days ago", "for \"\"")
}

// TestTheGuardFailsOpen: an office that cannot answer lets the edit pass, with
// one line about it.
func TestTheGuardFailsOpen(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.repo("a.go")
	c := d.started("S1")
	see := d.blind()
	s := c.run(strings.NewReader(c.input("PreToolUse", "tool_name", "Write", "tool_input", map[string]any{"file_path": "a.go"})))
	s.event = "PreToolUse"
	s.check()
	if s.out != "" || s.errOut == "" {
		t.Errorf("printed %q, said %q", s.out, s.errOut)
	}
	see()
	for _, odd := range []any{nil, 5, "x", []any{}, map[string]any{"file_path": "a\x00b"}, map[string]any{"file_path": strings.Repeat("x/", 5000)}, map[string]any{"file_path": "/"}} {
		s := c.run(strings.NewReader(c.input("PreToolUse", "tool_name", "Write", "tool_input", odd)))
		s.event = "PreToolUse"
		if s.check(); s.out != "" {
			t.Errorf("%.80v: printed %q", odd, s.out)
		}
	}
	c.edit("a.go").silent()
}
