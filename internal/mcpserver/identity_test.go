package mcpserver

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"bureau/internal/agent/claude"
	"bureau/internal/event"
	"bureau/internal/office"
	"bureau/internal/presence"
	"bureau/internal/proc"
)

// hook does what the hook of a session's start does.
func (b *bench) hook(c *client, s office.Session) office.Registered {
	b.t.Helper()
	s.Client, s.Process = "claude", processOf(c.process)
	if s.Folder == "" {
		s.Folder = "/srv/project"
	}
	done, err := b.StartSession(context.Background(), s)
	if err != nil {
		b.t.Fatal(err)
	}
	return done
}

// announce does what the hook before a tool call does, and gives the metadata
// that the call then carries.
func (b *bench) announce(c *client, id, session, sub, kind string) mcp.Meta {
	b.t.Helper()
	err := b.NoteCall(context.Background(), presence.Call{
		ID: id, Process: processOf(c.process), Client: "claude", Session: session, Sub: sub, SubType: kind,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return mcp.Meta{metaToolUse: id}
}

func nameOf(c *client) string { return do[rosterOut](c, "roster", nil).You.Name }

// TestTwoInOneFolder: the folder says nothing about who it is.
func TestTwoInOneFolder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	folder := t.TempDir()
	env := map[string]string{claude.EnvProject: folder}
	one, two := b.client(seat{env: env}), b.client(seat{env: env})
	first, second := nameOf(one), nameOf(two)
	if !strings.HasSuffix(second, "-2") || second != first+"-2" {
		t.Fatalf("%s and %s", first, second)
	}
	if note := do[rosterOut](two, "roster", nil).You.Note; note == "" {
		t.Error("it is not told that it has a number")
	}
	do[sendOut](one, "send", args{"to": second, "text": "for you alone"})
	if box := do[inboxOut](one, "inbox", args{"show": "all"}); box.Total != 0 {
		t.Fatalf("%+v", box)
	}
}

// TestStaleEnvironment: the server outlives the conversation that its
// environment names, and is whoever its client is now.
func TestStaleEnvironment(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.client(seat{env: map[string]string{claude.EnvSession: "S1"}})
	first := b.hook(c, office.Session{ID: "S1", Declared: "alice"})
	if got := nameOf(c); got != "alice" {
		t.Fatalf("%s", got)
	}
	// clear: another id, the same agent.
	if again := b.hook(c, office.Session{ID: "S2", Continues: true}); again.Agent.ID != first.Agent.ID {
		t.Fatalf("%+v", again)
	}
	if got := nameOf(c); got != "alice" {
		t.Fatalf("after clear %s", got)
	}
	// resume of another conversation in the same process, and back.
	other := b.client(seat{})
	b.hook(other, office.Session{ID: "S9", Declared: "carla"})
	if err := b.EndSession(context.Background(), b.id("carla"), processOf(other.process), "exit"); err != nil {
		t.Fatal(err)
	}
	b.hook(c, office.Session{ID: "S9", Continues: true})
	if got := nameOf(c); got != "carla" {
		t.Fatalf("after resume %s", got)
	}
	b.hook(c, office.Session{ID: "S2", Continues: true})
	if got := nameOf(c); got != "alice" {
		t.Fatalf("after going back %s", got)
	}
	// A server that is started again for the same process.
	again := b.client(seat{env: map[string]string{claude.EnvSession: "S1"}, above: []proc.ID{c.process}})
	if got := nameOf(again); got != "alice" {
		t.Fatalf("after a restart %s", got)
	}
}

func (b *bench) id(name string) event.ID {
	b.t.Helper()
	a, err := b.Who(context.Background(), name)
	if err != nil {
		b.t.Fatal(err)
	}
	return a.ID
}

// TestWithoutHooks: the environment's session, until the client shows another.
func TestWithoutHooks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	env := map[string]string{claude.EnvSession: "S1"}
	c := b.client(seat{name: "alice", env: env})
	if got := nameOf(c); got != "alice" {
		t.Fatalf("%s", got)
	}
	// The conversation goes on in another process: the older one may only read.
	newer := b.client(seat{name: "alice", env: env})
	if got := nameOf(newer); got != "alice" {
		t.Fatalf("%s", got)
	}
	if note := do[rosterOut](c, "roster", nil).You.Note; !has(note, "only read") {
		t.Errorf("note %q", note)
	}
	deny(c, "denied", "send", args{"to": "user", "text": "me too"})
	do[sendOut](newer, "send", args{"to": "user", "text": "it is me"})
	do[inboxOut](c, "inbox", nil)
}

// TestSubagents of one session are agents of their own: they ask and answer
// each other, and their session's mail is not theirs.
func TestSubagents(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.client(seat{})
	b.hook(c, office.Session{ID: "S1", Declared: "lead"})
	one := func(i int) mcp.Meta { return b.announce(c, fmt.Sprintf("one-%d", i), "S1", "a1", "explorer") }
	two := func(i int) mcp.Meta { return b.announce(c, fmt.Sprintf("two-%d", i), "S1", "b2", "tester") }
	who := func(meta mcp.Meta) string {
		out, err := tryWith[rosterOut](context.Background(), c, "roster", nil, meta)
		if err != nil {
			t.Fatal(err)
		}
		return out.You.Name
	}
	main, first, second := who(b.announce(c, "main-1", "S1", "", "")), who(one(1)), who(two(1))
	if main != "lead" || first != "lead.explorer" || second != "lead.tester" || who(one(2)) != first {
		t.Fatalf("%s, %s, %s", main, first, second)
	}
	done := make(chan asked, 1)
	meta := one(3)
	go func() {
		out, err := tryWith[askOut](context.Background(), c, "ask", args{"to": second, "text": "green?"}, meta)
		done <- asked{out, err}
	}()
	var q entry
	n := 10
	eventually(t, "the question arrives", func() bool {
		n++
		box, err := tryWith[inboxOut](context.Background(), c, "inbox", nil, two(n))
		if err != nil {
			t.Fatal(err)
		}
		if box.Unread == 1 {
			q = box.Messages[0]
		}
		return q.Open
	})
	if q.From != first {
		t.Fatalf("%+v", q)
	}
	if _, err := tryWith[sendOut](context.Background(), c, "send", args{"answers": q.ID, "text": "all green"}, two(2)); err != nil {
		t.Fatal(err)
	}
	// Hooks prove what is handed out here, so there is no receipt.
	if a := <-done; a.err != nil || a.out.Answer != "all green" || a.out.From != second || a.out.Receipt != "" {
		t.Fatalf("%+v", a)
	}
	if box := do[inboxOut](c, "inbox", args{"show": "all"}); box.Total != 0 {
		t.Fatalf("the session got its subagents' mail: %+v", box)
	}
}

// TestConversationsInMetadata: one process that holds several conversations
// and says which, as Codex does.
func TestConversationsInMetadata(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.client(seat{client: "codex-mcp-client"})
	who := func(meta mcp.Meta) string {
		out, err := tryWith[rosterOut](context.Background(), c, "roster", nil, meta)
		if err != nil {
			t.Fatal(err)
		}
		return out.You.Name
	}
	one, two := who(mcp.Meta{metaThread: "t-1"}), who(mcp.Meta{metaSession: "t-2"})
	if one == two || who(mcp.Meta{metaThread: "t-1"}) != one || who(mcp.Meta{metaThread: "t-2"}) != two {
		t.Fatalf("%s and %s", one, two)
	}
}

// TestNames: one that is held gets a number; children do not inherit it.
func TestNames(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ana := b.client(seat{name: "ana"})
	again := b.client(seat{env: map[string]string{"MCLAUDE_IDENTITY": "ana"}})
	if nameOf(ana) != "ana" || nameOf(again) != "ana-2" {
		t.Fatal(nameOf(again))
	}
	// A client that a session started has its environment.
	child := b.client(seat{name: "ana", client: "codex", above: []proc.ID{b.process(), ana.process}})
	if got := nameOf(child); strings.HasPrefix(got, "ana") {
		t.Fatalf("the child is %s", got)
	}
	// Another client's session is not this one's.
	env := map[string]string{claude.EnvSession: "S1", claude.EnvChild: "1"}
	b.hook(ana, office.Session{ID: "S1", Continues: true})
	if got := nameOf(b.client(seat{client: "codex", env: env})); strings.HasPrefix(got, "ana") {
		t.Fatalf("the other client is %s", got)
	}
	if _, err := try[rosterOut](b.client(seat{name: "all"}), "roster", nil); err == nil {
		t.Error("a reserved name was given")
	}
}

// TestNothingSaysWho: no argument of a tool names the caller.
func TestNothingSaysWho(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ana, _ := b.pair()
	for _, a := range []args{{"to": "bob", "text": "x", "from": "user"}, {"to": "bob", "text": "x", "as": "user"}} {
		if r := deny(ana, "invalid", "send", a); !has(r.Message, "additional properties") && !has(r.Message, "unexpected") {
			t.Errorf("%+v", r)
		}
	}
	deny(ana, "invalid", "send", args{"to": "bob"})
	deny(ana, "invalid", "send", args{"to": 7, "text": "x"})
	deny(ana, "invalid", "send", args{"text": "x"})
	deny(ana, "invalid", "send", args{"to": "bob", "text": "x", "kind": "letter"})
	deny(ana, "invalid", "inbox", args{"show": "everything"})
	deny(ana, "invalid", "inbox", args{"cursor": "%%%"})
	if _, err := ana.CallTool(context.Background(), &mcp.CallToolParams{Name: "shell"}); err == nil {
		t.Error("an unknown tool is no error")
	}
}

// TestPathsInWords: names and ids that look like paths touch no file (case X3).
func TestPathsInWords(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ana, _ := b.pair()
	before := tree(t, filepath.Dir(b.home))
	outside := tree(t, ana.server.opts.Dir)
	for _, word := range []string{
		"../../x", "/etc/x", "a/../../x", "..", ".", "%2e%2e%2f", `..\x`, "a\x00b", strings.Repeat("n", 300), "CON", ".git/hooks/pre-commit",
	} {
		for tool, a := range map[string]args{
			"ask":          {"to": word, "text": "x"},
			"send":         {"to": word, "text": "x"},
			"read_message": {"ids": []string{word}},
			"thread":       {"thread": word},
			"inbox":        {"cursor": word},
		} {
			if _, err := try[any](ana, tool, a); err == nil {
				t.Errorf("%s takes %q", tool, word)
			}
		}
		_, _ = try[any](ana, "board", args{"key": word, "value": "x"})
		_, _ = try[any](ana, "roster", args{"project": word})
	}
	if after := tree(t, filepath.Dir(b.home)); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	if after := tree(t, ana.server.opts.Dir); after != outside {
		t.Errorf("%s", after)
	}
}

// tree lists the files of a folder, without the store's own.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil && !os.IsNotExist(err) {
			return err
		}
		if !strings.Contains(filepath.Base(path), "office.db") {
			out.WriteString(path + "\n")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}
