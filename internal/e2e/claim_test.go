//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bureau/internal/e2e/mockapi"
)

// parser is the file of the tests about claims, and begun what it holds.
const (
	parser = "src/a.go"
	begun  = "package old\n"
)

// repository makes the project one of git's, with a file in it.
func (d *Desk) repository() {
	d.T.Helper()
	path := filepath.Join(d.Project, parser)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		d.T.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(begun), 0o644); err != nil {
		d.T.Fatal(err)
	}
	d.git("init", "-q")
	d.git("add", ".")
	d.git("commit", "-q", "-m", "begin")
}

func (d *Desk) git(args ...string) string {
	d.T.Helper()
	return d.Run("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...)
}

func (d *Desk) file() string {
	d.T.Helper()
	text, err := os.ReadFile(filepath.Join(d.Project, parser))
	if err != nil {
		d.T.Fatal(err)
	}
	return string(text)
}

// heldClaim is a claim as the command lists it.
type heldClaim struct {
	ID, Holder, Intent, Standing, How, Summary string
	Token                                      uint64
	Paths                                      []string
	Auto                                       bool
}

// claims lists claims, as `bureau claims` does with these arguments.
func (d *Desk) claims(args ...string) []heldClaim {
	d.T.Helper()
	var out struct{ Claims []heldClaim }
	if text := d.Run("bureau", append([]string{"claims", "--json"}, args...)...); json.Unmarshal([]byte(text), &out) != nil {
		d.T.Fatalf("bureau claims: %s", text)
	}
	return out.Claims
}

// onlyClaim gives the one claim that was made on purpose.
func (d *Desk) onlyClaim() heldClaim {
	d.T.Helper()
	all := d.claims()
	if len(all) != 1 {
		d.T.Fatalf("claims: %+v", all)
	}
	return all[0]
}

// holds is a session that claims the folder by the tool.
func holds() mockapi.Turn {
	return mockapi.Call("mcp__bureau__claim", map[string]any{"paths": []string{"src"}, "intent": "rename the parser"})
}

func (d *Desk) reads() mockapi.Turn {
	return mockapi.Call("Read", map[string]any{"file_path": filepath.Join(d.Project, parser)})
}

func (d *Desk) edits(word string) mockapi.Turn {
	return mockapi.Call("Edit", map[string]any{"file_path": filepath.Join(d.Project, parser), "old_string": "old", "new_string": word})
}

// asker is the model of a session that wants to change the file, and asks
// whoever holds it, as the denial says.
func (d *Desk) asker() []mockapi.Rule {
	named := regexp.MustCompile(`the ask tool with to "([^"]+)"`)
	return []mockapi.Rule{
		{Name: "bob reads", When: mockapi.When{Last: "CHANGE-IT"}, Turn: d.reads()},
		{Name: "bob edits", When: mockapi.When{Any: "CHANGE-IT", Last: "package old"}, Turn: d.edits("new")},
		{Name: "bob asks", When: mockapi.When{Any: "CHANGE-IT", Last: "somebody else holds"}, Turn: mockapi.Turn{From: func(r *mockapi.Request) []mockapi.Block {
			if got := d.file(); got != begun {
				d.T.Errorf("while somebody else holds it the file says %q", got)
			}
			m := named.FindStringSubmatch(r.Last())
			if m == nil {
				return []mockapi.Block{mockapi.Text("nobody to ask")}
			}
			return mockapi.Call("mcp__bureau__ask", map[string]any{"to": m[1], "text": "May I change src/a.go?", "timeout_seconds": 80}).Reply
		}}},
		{Name: "bob edits again", When: mockapi.When{Any: "CHANGE-IT", Last: "go ahead"}, Turn: d.edits("new")},
		{Name: "bob is done", When: mockapi.When{Any: "CHANGE-IT", Last: "has been updated"}, Turn: mockapi.Say("changed it")},
	}
}

// holder is the model of a session that gives up what it holds once it is
// asked, and then answers.
func holder() []mockapi.Rule {
	var answer []mockapi.Block
	return []mockapi.Rule{
		{Name: "ana claims", When: mockapi.When{Last: "HOLD-IT"}, Turn: holds()},
		{Name: "ana releases", When: mockapi.When{Last: "May I change src/a.go?", Any: "HOLD-IT"}, Turn: mockapi.Turn{From: func(r *mockapi.Request) []mockapi.Block {
			answer = answerTo(r, "May I change src/a.go?", "go ahead, I am through")
			return mockapi.Call("mcp__bureau__claim", map[string]any{"action": "release", "paths": []string{"src"}, "text": "the parser has its new name"}).Reply
		}}},
		{Name: "ana answers", When: mockapi.When{Last: `"status":"released"`, Any: "HOLD-IT"}, Turn: mockapi.Turn{From: func(*mockapi.Request) []mockapi.Block { return answer }}},
	}
}

// went checks by what rules a session's requests were answered; a rule that
// answered several in a row counts once.
func (d *Desk) went(session string, want ...string) {
	d.T.Helper()
	var got []string
	for _, r := range d.API.Requests() {
		if r.Session == session {
			got = append(got, r.Rule)
		}
	}
	if got = slices.Compact(got); !slices.Equal(got, want) {
		d.T.Errorf("the turns of %.8s went %q, not %q", session, got, want)
		d.Dump()
	}
}

// handedOver checks what both models were shown, and what came of it.
func (d *Desk) handedOver(bob string, claimed heldClaim) {
	d.T.Helper()
	by := func(rule string) *mockapi.Request {
		d.T.Helper()
		return d.Request(func(r *mockapi.Request) bool { return r.Rule == rule })
	}
	for rule, words := range map[string][]string{
		"bob asks":        {"tool_result error", "was not made", "src: ana since", "active", claimed.ID, `in their words: "rename the parser"`, "bureau ask ana", "wait_seconds"},
		"ana releases":    {"May I change src/a.go?", `from="bob"`, "question"},
		"bob edits again": {`"status":"answered"`, "go ahead, I am through", `"from":"ana"`},
		"bob is done":     {"has been updated"},
	} {
		r := by(rule)
		for _, w := range words {
			if !strings.Contains(r.Last(), w) {
				d.T.Errorf("at %q the model is not told %q:\n%s", rule, w, r.Last())
			}
		}
	}
	if got := d.file(); got != "package new\n" {
		d.T.Errorf("the file says %q", got)
	}
	past := d.claims("--history")
	i := slices.IndexFunc(past, func(c heldClaim) bool { return c.ID == claimed.ID })
	if i < 0 || past[i].Holder != "ana" || past[i].How != "released" || past[i].Summary != "the parser has its new name" || past[i].Intent != "rename the parser" {
		d.T.Errorf("history: %+v", past)
	}
	if words := d.Run("bureau", "claims", "--history"); !strings.Contains(words, "the parser has its new name") || !strings.Contains(words, "ana") {
		d.T.Errorf("history:\n%s", words)
	}
	d.went(bob, "bob reads", "bob edits", "bob asks", "bob edits again", "bob is done")
}

// Two sessions that nobody steers: what the first has claimed the second may
// not edit; it asks, the first, in the middle of its work, gives it up and
// answers, and the edit is made.
func TestAHeldFileIsAskedFor(t *testing.T) {
	d := NewDesk(t)
	d.install(d.hook())
	d.repository()
	d.API.Add(holder()...)
	step := bash("sleep 0.5; echo tool-ran")
	d.API.Add(
		mockapi.Rule{Name: "ana works", When: mockapi.When{Any: "HOLD-IT", Last: `"status":"claimed"`}, Turn: step},
		mockapi.Rule{Name: "ana works", When: mockapi.When{Any: "HOLD-IT", Last: "tool-ran"}, Times: -1, Turn: step},
	)
	d.API.Add(d.asker()...)
	d.Extra = []string{"BUREAU_NAME=ana"}
	first := d.Background("HOLD-IT", "--allowedTools", "Bash", "--session-id", ana)
	d.Request(func(r *mockapi.Request) bool { return r.Rule == "ana works" })
	held := d.onlyClaim()
	if held.Holder != "ana" || !slices.Equal(held.Paths, []string{"src"}) {
		t.Fatalf("%+v", held)
	}
	const bob = "bbbbbbbb-2222-4333-8444-555555555555"
	d.Extra = []string{"BUREAU_NAME=bob"}
	second := d.Background("CHANGE-IT", "--allowedTools", "Read,Edit", "--session-id", bob)
	if got := second.Wait(t); got != "changed it" {
		t.Errorf("bob said %q", got)
	}
	first.Wait(t)
	d.handedOver(bob, held)
	d.went(ana, "ana claims", "ana works", "ana releases", "ana answers", "(default)")
	if left := d.claims("--auto"); len(left) != 0 {
		t.Errorf("after both have ended stands %+v", left)
	}
}

// The same in two terminals, with the holder idle: the question wakes it, and
// after the two prompts no key is touched.
func TestAnIdleHolderIsWokenForItsClaim(t *testing.T) {
	d := NewDesk(t)
	d.install(d.hook())
	d.repository()
	d.API.Add(holder()...)
	d.API.Add(d.asker()...)
	d.Extra = []string{"BUREAU_NAME=ana"}
	a := d.Terminal("ana", "")
	d.Extra = []string{"BUREAU_NAME=bob"}
	b := d.Terminal("bob", "", "--allowedTools", "Read,Edit")
	d.Extra = nil
	a.Say("HOLD-IT please")
	first := d.Request(has(`"status":"claimed"`))
	held := d.onlyClaim()
	idle := func() bool { return strings.Count(d.Run("bureau", "agents"), "here, idle") == 2 }
	d.eventually("both are idle", idle)
	b.Say("CHANGE-IT please")
	second := d.Request(has("CHANGE-IT"))
	woken := d.Request(func(r *mockapi.Request) bool { return r.Rule == "ana releases" })
	if woken.Session != first.Session || !strings.Contains(woken.Last(), "cross-session-message") {
		t.Errorf("the question came to %.8s with\n%s", woken.Session, woken.Last())
	}
	b.Wait("changed it")
	d.eventually("both are idle again", idle)
	d.handedOver(second.Session, held)
	d.went(first.Session, "ana claims", "(default)", "ana releases", "ana answers", "(default)")
	// The edit claimed the file for bob's session, as long as it is at it.
	if left := d.claims("--auto"); len(left) != 1 || left[0].Holder != "bob" || !left[0].Auto || !slices.Equal(left[0].Paths, []string{parser}) {
		t.Errorf("then stands %+v", left)
	}
}

// git commit of the session's own shell does not get past somebody's claim, and
// the model reads why; nor does it with the variable that is a person's word.
func TestACommitIntoAClaimFails(t *testing.T) {
	d := NewDesk(t)
	d.install(d.hook())
	d.repository()
	d.git("config", "user.name", "x")
	d.git("config", "user.email", "x@example.com")
	d.Run("bureau", "guard", "install")
	commit := "git commit -q -a -m bob; echo status $?"
	d.API.Add(
		mockapi.Rule{When: mockapi.When{Last: "HOLD-IT"}, Turn: holds()},
		mockapi.Rule{Name: "ana works", When: mockapi.When{Any: "HOLD-IT", Last: `"status":"claimed"`}, Turn: bash("while [ ! -e go ]; do sleep 0.1; done; echo tool-ran")},
		mockapi.Rule{When: mockapi.When{Last: "COMMIT-IT"}, Turn: bash("echo package shell > " + parser + "; " + commit)},
		mockapi.Rule{Name: "refused", When: mockapi.When{Any: "COMMIT-IT", Last: "status"}, Turn: bash("export BUREAU_GUARD=off; " + commit)},
		mockapi.Rule{Name: "refused again", When: mockapi.When{Any: "COMMIT-IT", Last: "status"}, Turn: mockapi.Say("so be it")},
		mockapi.Rule{When: mockapi.When{Last: "ONCE-MORE"}, Turn: bash(commit)},
		mockapi.Rule{Name: "done", When: mockapi.When{Any: "ONCE-MORE", Last: "status"}, Turn: mockapi.Say("done")},
	)
	d.Extra = []string{"BUREAU_NAME=ana"}
	first := d.Background("HOLD-IT", "--allowedTools", "Bash")
	d.Request(func(r *mockapi.Request) bool { return r.Rule == "ana works" })
	d.Extra = []string{"BUREAU_NAME=bob"}
	d.Print("COMMIT-IT", "--allowedTools", "Bash")
	for _, rule := range []string{"refused", "refused again"} {
		last := d.Request(func(r *mockapi.Request) bool { return r.Rule == rule }).Last()
		for _, w := range []string{"status 1", "that somebody else holds", "ana", "rename the parser", parser, "bureau ask ana"} {
			if !strings.Contains(last, w) {
				t.Errorf("%s: the model is not told %q:\n%s", rule, w, last)
			}
		}
	}
	if got := strings.TrimSpace(d.git("log", "--format=%s")); got != "begin" {
		t.Errorf("committed was\n%s", got)
	}
	touch(t, d.Project, "go")
	first.Wait(t)
	// Ana's session has ended; its claim waits for it for a while, until its
	// user gives it up.
	d.Run("bureau", "release", d.onlyClaim().ID, "--summary", "not needed")
	d.Print("ONCE-MORE", "--allowedTools", "Bash")
	if last := d.Request(func(r *mockapi.Request) bool { return r.Rule == "done" }).Last(); !strings.Contains(last, "status 0") {
		t.Errorf("after the release the model is told\n%s", last)
	}
	if got := strings.TrimSpace(d.git("log", "--format=%s")); got != "bob\nbegin" {
		t.Errorf("committed was\n%s", got)
	}
}
