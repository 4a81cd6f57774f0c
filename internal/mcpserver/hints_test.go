package mcpserver

import (
	"strings"
	"testing"
)

// TestHintsPerToolset: a hint names tools and arguments that the server offers,
// and what it does not offer stays a whole command.
func TestHintsPerToolset(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ tools, hint, want string }{
		{"mail", "give a text, - for standard input, or --file", "give a text"},
		{"mail", "its owner can grant more: bureau thread grant 7XKQ2M 8", "its owner can grant more: thread with thread=7XKQ2M, action=grant and hops=8"},
		{"mail", "a participant can add you: bureau thread add 7XKQ2M bob", "a participant can add you: thread with thread=7XKQ2M, action=add and with=bob"},
		{"mail", "bureau answer QUESTION TEXT", "send with answers=QUESTION and a text"},
		{"mail", "send it as --kind note", "send it as kind=note"},
		{"mail", "ask: bureau ask bob TEXT, or wait: bureau claim … --wait 10m", "ask: ask with to=bob and a text, or wait: bureau claim … --wait 10m"},
		{"mail", "say why it is free: bureau takeover 7XKQ2M --reason TEXT", "say why it is free: bureau takeover 7XKQ2M --reason TEXT"},
		{"claims", "say why it is free: bureau takeover 7XKQ2M --reason TEXT", "say why it is free: claim with action=takeover and ids=7XKQ2M and a reason in text"},
		{"claims", "ask: bureau ask bob TEXT, or see bureau takeover --help", "ask: bureau ask bob TEXT, or see claim with action=takeover"},
		{"claims", "its lease is over, so claiming gets it: bureau claim a.go --intent TEXT", "its lease is over, so claiming gets it: claim with paths=a.go and an intent"},
		{"board", "bureau claims lists those that do", "bureau claims lists those that do"},
		{"board", "read it again (bureau board get) and decide again", "read it again (board with the key) and decide again"},
		{"mclaude", "bureau lock list shows those that there are", "mclaude_lock_list shows those that there are"},
		{"mclaude", "bureau inbox --all lists yours", "bureau inbox --all lists yours"},
		{"escritorio", "bureau thread list lists them", "inbox lists them"},
		{"escritorio", "bureau thread grant 7XKQ2M 8", "bureau thread grant 7XKQ2M 8"},
		{"escritorio", "give a text, - for standard input, or --file", "give a text"},
		{"escritorio", "ask: bureau ask anna TEXT, or see bureau takeover --help", "ask: ask with para=anna and a text, or see bureau takeover --help"},
		{"escritorio", "say why it is free: bureau takeover 7XKQ2M --reason TEXT", "say why it is free: bureau takeover 7XKQ2M --reason TEXT"},
		{"escritorio", "release it: bureau release 7XKQ2M", "release it: claim with claim_id=7XKQ2M"},
		{"escritorio", "ask: bureau ask anna TEXT, or wait: bureau claim … --wait 10m", "ask: ask with para=anna and a text, or wait: bureau claim … --wait 10m"},
		{"escritorio", "say what you are about to do: --intent \"rename the parser\"", "say what you are about to do: intencao \"rename the parser\""},
		{"escritorio", "bureau claims --mine lists what you hold", "bureau claims --mine lists what you hold"},
		{"escritorio", "first answer the question Q from anna: bureau answer Q TEXT", "first answer the question Q from anna: dm with responde_a=Q and a text"},
		{"escritorio", "attach it as a file (--attach), or put it where the recipient can read it", "put it where the recipient can read it"},
		{"all", "bureau claim a.go --break, TEXT", "bureau claim a.go --break, TEXT"},
	} {
		s, err := newServer(Options{Tools: []string{x.tools}, Env: func(string) string { return "" }})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.toolHint(x.hint); got != x.want {
			t.Errorf("%s: %q becomes\n%q, want\n%q", x.tools, x.hint, got, x.want)
		}
	}
}

// TestRefusalsNameTheirOwnTools: as a model meets them.
func TestRefusalsNameTheirOwnTools(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ana, bob := b.client(seat{name: "ana"}), b.client(seat{name: "bob", tools: []string{"escritorio"}})
	do[rosterOut](ana, "roster", nil)
	do[velhoRosterOut](bob, "roster", nil)
	for _, x := range []struct {
		c    *client
		tool string
		in   args
		code string
		want string
	}{
		{ana, "send", args{"to": "bob", "text": ""}, "invalid", "give a text"},
		{bob, "dm", args{"para": "ana", "mensagem": ""}, "invalid", "give a text"},
		{bob, "ask", args{"para": "ana", "pergunta": "x", "thread": "zzz"}, "not_found", "inbox"},
	} {
		r := deny(x.c, x.code, x.tool, x.in)
		if !strings.HasPrefix(r.Hint, x.want) || strings.Contains(r.Hint, "--") || strings.Contains(r.Hint, "action=") {
			t.Errorf("%s %v: %q", x.tool, x.in, r.Hint)
		}
	}
	// The budget of a thread: it is granted by the tool.
	first := do[sendOut](ana, "send", args{"to": "bob", "text": "one"})
	for range 7 {
		do[sendOut](ana, "send", args{"thread": first.Thread, "text": "more"})
	}
	r := deny(ana, "conflict", "send", args{"thread": first.Thread, "text": "too many"})
	if want := "thread with thread=" + first.Thread + ", action=grant and hops=8"; !strings.Contains(r.Hint, want) {
		t.Errorf("%q, want %q", r.Hint, want)
	}
}
