package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestToolList: what every session pays for, before it did anything.
func TestToolList(t *testing.T) {
	b := newBench(t)
	for set, want := range map[string][]string{
		"":           {"ask", "board", "claim", "inbox", "read_message", "roster", "send", "thread"},
		"all":        {"ask", "board", "claim", "inbox", "read_message", "roster", "send", "thread"},
		"claims":     {"claim"},
		"mail":       {"ask", "inbox", "read_message", "roster", "send", "thread"},
		"board":      {"board"},
		"escritorio": {"ask", "board", "claim", "dm", "fechar_thread", "inbox", "roster"},
		"mclaude": {
			"mclaude_lock_claim", "mclaude_lock_force_release", "mclaude_lock_heartbeat", "mclaude_lock_list", "mclaude_lock_release", "mclaude_lock_status",
		},
	} {
		c := b.client(seat{tools: []string{set}})
		list, err := c.ListTools(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		if len(raw) > 8<<10 {
			t.Errorf("%q: tools/list has %d bytes", set, len(raw))
		}
		var names []string
		loaded := 0
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
			checkTool(t, tool)
			if tool.Meta["anthropic/alwaysLoad"] == true {
				loaded++
			}
		}
		if slices.Sort(names); !slices.Equal(names, want) {
			t.Errorf("%q: %v", set, names)
		}
		if set == "" && loaded > 5 {
			t.Errorf("%d tools are in every first request", loaded)
		}
		info := c.InitializeResult()
		if len(info.Instructions) > 800 || info.Instructions == "" {
			t.Errorf("instructions of %d bytes", len(info.Instructions))
		}
		if raw, _ := json.Marshal(info.Capabilities); string(raw) != `{"tools":{}}` {
			t.Errorf("capabilities %s", raw)
		}
	}
	for _, wrong := range []string{"locks", "mail,escritorio"} {
		if _, err := newServer(Options{Env: func(string) string { return "" }, Tools: []string{wrong}}); err == nil {
			t.Errorf("%s: no refusal", wrong)
		}
	}
}

// checkTool: what clients need, so that they call a tool without asking, and a
// model, so that it finds it.
func checkTool(t *testing.T, tool *mcp.Tool) {
	t.Helper()
	a := tool.Annotations
	if a == nil || a.OpenWorldHint == nil || *a.OpenWorldHint || !a.ReadOnlyHint && (a.DestructiveHint == nil || *a.DestructiveHint) {
		t.Errorf("%s: annotations %+v", tool.Name, a)
	}
	if tool.Title == "" || tool.Description == "" || tool.OutputSchema == nil {
		t.Errorf("%s: title %q, description %q", tool.Name, tool.Title, tool.Description)
	}
	for _, schema := range []any{tool.InputSchema, tool.OutputSchema} {
		m, _ := schema.(map[string]any)
		if m["type"] != "object" {
			t.Errorf("%s: schema of type %v", tool.Name, m["type"])
		}
		required, _ := m["required"].([]any)
		properties, _ := m["properties"].(map[string]any)
		for _, r := range required {
			if properties[r.(string)] == nil {
				t.Errorf("%s: %v is required and unknown", tool.Name, r)
			}
		}
		for name, p := range properties {
			if _, ok := p.(map[string]any)["type"].(string); !ok {
				t.Errorf("%s: %s has the type %v", tool.Name, name, p)
			}
		}
	}
}

// TestMailGoesRound is each tool's ordinary use.
func TestMailGoesRound(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ana, bob := b.client(seat{name: "ana"}), b.client(seat{name: "bob", client: "codex-mcp-client"})
	if me := do[rosterOut](ana, "roster", nil); me.You.Name != "ana" || me.Total != 2 {
		t.Fatalf("%+v", me)
	}
	// Listing is no reading (case D1).
	do[rosterOut](bob, "roster", nil)
	var ids []string
	for _, text := range []string{"one", "two", "three"} {
		sent := do[sendOut](ana, "send", args{"to": "bob", "text": text})
		if sent.State != "stored" || len(sent.Recipients) != 1 || sent.Recipients[0].Name != "bob" || !sent.Recipients[0].Here {
			t.Fatalf("%+v", sent)
		}
		ids = append(ids, sent.ID)
	}
	for range 2 {
		if box := do[inboxOut](bob, "inbox", nil); box.Unread != 3 || len(box.Messages) != 3 || box.Messages[0].Body != "three" {
			t.Fatalf("%+v", box)
		}
	}
	read := do[readOut](bob, "read_message", args{"ids": []string{ids[0][20:]}})
	if len(read.Messages) != 1 || read.Messages[0].Body != "one" || read.Messages[0].From != "ana" || read.Unread != 2 || read.Receipt == "" {
		t.Fatalf("%+v", read)
	}
	// Not proved, so it is unread still; the receipt proves it, for nobody else.
	if box := do[inboxOut](bob, "inbox", nil); box.Unread != 3 {
		t.Fatalf("%+v", box)
	}
	deny(ana, "invalid", "inbox", args{"receipt": read.Receipt})
	slip := "x"
	if strings.HasSuffix(read.Receipt, slip) {
		slip = "y"
	}
	deny(bob, "invalid", "inbox", args{"receipt": read.Receipt[:len(read.Receipt)-1] + slip})
	if box := do[inboxOut](bob, "inbox", args{"receipt": read.Receipt}); box.Unread != 2 || box.Messages[1].Body != "two" {
		t.Fatalf("%+v", box)
	}
	if sent := do[inboxOut](ana, "inbox", args{"show": "sent"}); sent.Total != 3 || sent.Messages[2].Receipts[0].State != "seen" || sent.Messages[1].Receipts[0].State != "stored" {
		t.Fatalf("%+v", sent)
	}
	// The next unread ones, oldest first; what is handed out comes again until it is proved.
	for range 2 {
		if read = do[readOut](bob, "read_message", nil); len(read.Messages) != 2 || read.Messages[0].Body != "two" || read.Unread != 0 {
			t.Fatalf("%+v", read)
		}
	}
	if sent := do[inboxOut](ana, "inbox", args{"show": "sent"}); sent.Messages[0].Receipts[0].State != "offered" {
		t.Fatalf("%+v", sent)
	}
	sent := do[sendOut](bob, "send", args{"reply_to": ids[2], "text": "thanks", "receipt": read.Receipt})
	if sent.Recipients[0].Name != "ana" {
		t.Fatalf("%+v", sent)
	}
	if box := do[inboxOut](ana, "inbox", nil); box.Messages[0].ReplyTo != ids[2] || box.Messages[0].Re != "three" || box.Messages[0].Answers != "" {
		t.Fatalf("%+v", box)
	}
	// Answers in another order than the questions.
	q1 := do[sendOut](ana, "send", args{"to": "bob", "kind": "question", "text": "delete it?"}).ID
	q2 := do[sendOut](ana, "send", args{"to": "bob", "kind": "question", "text": "merge it?"}).ID
	do[sendOut](bob, "send", args{"answers": q2, "text": "yes"})
	do[sendOut](bob, "send", args{"answers": q1, "text": "no"})
	for _, show := range []string{"unread", "all"} {
		box := do[inboxOut](ana, "inbox", args{"show": show})
		if m := box.Messages; m[0].Body != "no" || m[0].Answers != q1 || m[0].Question != "delete it?" || m[1].Answers != q2 || m[1].Question != "merge it?" {
			t.Fatalf("%+v", box)
		}
	}
	if got := do[readOut](ana, "read_message", nil); len(got.Messages) != 3 || got.Messages[1].Answers != q2 || got.Messages[1].Question != "merge it?" || got.Messages[0].Re != "three" {
		t.Fatalf("%+v", got)
	}
	// In a thread it goes to the other one.
	deny(bob, "invalid", "send", args{"text": "to whom?"})
	other := do[sendOut](bob, "send", args{"thread": do[sendOut](bob, "send", args{"to": "ana", "text": "a new thread"}).Thread, "text": "and more"})
	if len(other.Recipients) != 1 || other.Recipients[0].Name != "ana" {
		t.Fatalf("%+v", other)
	}
	shown := do[threadOut](bob, "thread", args{"thread": ids[2]})
	if len(shown.Threads) != 1 || shown.Threads[0].Owner != "ana" || len(shown.Messages) != 2 || shown.Messages[1].Body != "thanks" || shown.Total != 2 {
		t.Fatalf("%+v", shown)
	}
	if list := do[threadOut](bob, "thread", nil); list.Total != 6 || len(list.Threads) != 6 {
		t.Fatalf("%+v", list)
	}
}

// TestThreadTool: each action.
func TestThreadTool(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ana, bob, eve := b.client(seat{name: "ana"}), b.client(seat{name: "bob"}), b.client(seat{name: "eve"})
	for _, c := range []*client{ana, bob, eve} {
		do[rosterOut](c, "roster", nil)
	}
	opened := do[threadOut](ana, "thread", args{"action": "open", "subject": "API v2", "with": "bob", "hops": 2})
	id := opened.Threads[0].ID
	deny(eve, "denied", "thread", args{"thread": id})
	do[threadOut](ana, "thread", args{"action": "add", "thread": id, "with": "eve"})
	do[threadOut](eve, "thread", args{"thread": id})
	asked := do[sendOut](bob, "send", args{"thread": id, "to": "ana", "kind": "question", "text": "ready?"})
	if box := do[inboxOut](ana, "inbox", nil); len(box.Questions) != 1 || box.Questions[0].ID != asked.ID || !box.Messages[0].Open {
		t.Fatalf("%+v", box)
	}
	deny(eve, "denied", "thread", args{"action": "withdraw", "question": asked.ID})
	do[threadOut](bob, "thread", args{"action": "withdraw", "question": asked.ID})
	do[sendOut](ana, "send", args{"thread": id, "to": "bob", "text": "last one"})
	if r := deny(bob, "conflict", "send", args{"thread": id, "to": "ana", "text": "too much"}); r.Hint == "" {
		t.Errorf("%+v", r)
	}
	if g := do[threadOut](ana, "thread", args{"action": "grant", "thread": id, "hops": 3}); g.Threads[0].HopsLeft != 3 {
		t.Fatalf("%+v", g)
	}
	deny(bob, "denied", "thread", args{"action": "close", "thread": id})
	if closed := do[threadOut](ana, "thread", args{"action": "close", "thread": id, "reason": "decided"}); closed.Threads[0].Status != "closed" {
		t.Fatalf("%+v", closed)
	}
	if list := do[threadOut](ana, "thread", nil); list.Total != 0 {
		t.Fatalf("%+v", list)
	}
	if list := do[threadOut](ana, "thread", args{"closed": true}); list.Total != 1 {
		t.Fatalf("%+v", list)
	}
	deny(ana, "invalid", "thread", args{"action": "burn", "thread": id})
	deny(ana, "invalid", "thread", args{"action": "add", "thread": id})
}

// TestBoardTool: each action.
func TestBoardTool(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ana := b.client(seat{name: "ana"})
	deny(ana, "not_found", "board", args{"key": "build:status"})
	one := do[boardOut](ana, "board", args{"key": "build:status", "value": "green", "if_version": 0}).Entries[0]
	deny(ana, "conflict", "board", args{"key": "build:status", "value": "red", "if_version": 0})
	if got := do[boardOut](ana, "board", args{"key": "build:status"}); got.Entries[0] != one || one.Author != "ana" || one.Value != "green" {
		t.Fatalf("%+v, want %+v", got, one)
	}
	do[boardOut](ana, "board", args{"key": "build:status", "value": "", "if_version": one.Version})
	do[boardOut](ana, "board", args{"key": "build:time", "value": "3 min"})
	do[boardOut](ana, "board", args{"key": "other", "value": "x", "office": true})
	for _, prefix := range []string{"build:*", ""} {
		if list := do[boardOut](ana, "board", args{"key": prefix}); list.Total != 2 || list.Entries[1].Value != "3 min" {
			t.Fatalf("%+v", list)
		}
	}
	do[boardOut](ana, "board", args{"key": "build:status", "action": "delete"})
	if past := do[boardOut](ana, "board", args{"key": "build:status", "action": "history"}); past.Total != 3 || !past.Entries[0].Deleted {
		t.Fatalf("%+v", past)
	}
	deny(ana, "invalid", "board", args{"key": "build:status", "action": "burn"})
	deny(ana, "invalid", "board", args{"key": "", "value": "x"})
}

// TestEscritorio: a prompt that was written for it finds what it expects.
func TestEscritorio(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	set := []string{"escritorio"}
	ana, bob := b.client(seat{env: map[string]string{"ESCRITORIO_ID": "ana", "ESCRITORIO_ASK_TIMEOUT_MS": "300"}, tools: set}), b.client(seat{name: "bob", tools: set})
	do[velhoRosterOut](bob, "roster", nil)
	if r := do[velhoRosterOut](ana, "roster", nil); len(r.SessoesVivas) != 2 || r.SessoesVivas[0] != "ana" || r.Colegas == nil {
		t.Fatalf("%+v", r)
	}
	asked := do[velhoAskOut](ana, "ask", args{"para": "bob", "pergunta": "pronto?", "tier": "advisor"})
	if !asked.Timeout || asked.Resposta == "" || asked.Via != "sessao-viva" {
		t.Fatalf("%+v", asked)
	}
	box := do[velhoInboxOut](bob, "inbox", nil)
	if len(box.Mensagens) != 1 || box.Mensagens[0].Tipo != "ask" || box.Mensagens[0].ReplyTo != nil || box.Mensagens[0].Conteudo != "pronto?" ||
		len(box.Abertas) != 1 || box.Abertas[0].Assunto != "pronto?" {
		t.Fatalf("%+v", box)
	}
	// A dm of its own is no answer; one in the thread is.
	if d := do[velhoDMOut](bob, "dm", args{"para": "ana", "mensagem": "um momento"}); d.Respondeu || d.Acordou {
		t.Fatalf("%+v", d)
	}
	if d := do[velhoDMOut](bob, "dm", args{"para": "ana", "mensagem": "sim", "thread": asked.ThreadID}); !d.Respondeu || d.ThreadID != asked.ThreadID {
		t.Fatalf("%+v", d)
	}
	given := func(at time.Time) {
		ana.server.moves.mu.Lock()
		defer ana.server.moves.mu.Unlock()
		for k, g := range ana.server.moves.given {
			g.at = at
			ana.server.moves.given[k] = g
		}
	}
	box = do[velhoInboxOut](ana, "inbox", nil)
	if len(box.Mensagens) != 2 || box.Mensagens[1].Tipo != "resposta" || box.Mensagens[1].ReplyTo == nil || box.Mensagens[0].Tipo != "dm" {
		t.Fatalf("%+v", box)
	}
	// At once it might be the same round; later it is the next move.
	given(time.Now().Add(patience)) // however slow the machine is, this is at once
	if box = do[velhoInboxOut](ana, "inbox", nil); len(box.Mensagens) != 2 {
		t.Fatalf("%+v", box)
	}
	given(time.Now().Add(-sameRound))
	if box = do[velhoInboxOut](ana, "inbox", nil); len(box.Mensagens) != 0 || box.Mensagens == nil {
		t.Fatalf("%+v", box)
	}
	if w := do[velhoBoardOut](ana, "board", args{"chave": "proj:porta", "valor": "8080"}); w.Gravado == "" {
		t.Fatalf("%+v", w)
	}
	for _, key := range []string{"proj:porta", "proj:*"} {
		if r := do[velhoBoardOut](bob, "board", args{"chave": key}); len(r.Entradas) != 1 || r.Entradas[0].Valor != "8080" || r.Entradas[0].Autor != "ana" {
			t.Fatalf("%+v", r)
		}
	}
	if r := do[velhoBoardOut](bob, "board", args{"chave": "nada"}); r.Entradas != nil {
		t.Fatalf("%+v", r)
	}
	deny(bob, "denied", "fechar_thread", args{"thread": asked.ThreadID})
	if f := do[velhoFecharOut](ana, "fechar_thread", args{"thread": asked.ThreadID}); f.Destilados == nil {
		t.Fatalf("%+v", f)
	}
	deny(ana, "not_found", "fechar_thread", args{"thread": "01BX5ZZKBKACTAV9WEVGEMMVRZ"})
	deny(ana, "not_found", "ask", args{"para": "ninguem", "pergunta": "?"})
	deny(ana, "invalid", "dm", args{"para": "bob", "mensagem": "x", "tier": "root"})
}

// TestEscritorioSmoke is what Escritório's own smoke test of a server checks.
func TestEscritorioSmoke(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	file := filepath.Join(t.TempDir(), "roster.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("revisor:\n  brief: Revisa mudanças em Go\n  caderno: ${HOME}/r.md\n  modelo: opus\ntestador: {brief: Escreve testes, tier: editor, cwd: ~/src}\n")
	set := []string{"escritorio"}
	ana := b.client(seat{env: map[string]string{"ESCRITORIO_ID": "ana", "ESCRITORIO_ROSTER": file, "ESCRITORIO_ASK_TIMEOUT_MS": "100"}, tools: set})
	list, err := ana.ListTools(context.Background(), nil)
	if err != nil || len(list.Tools) != 7 {
		t.Fatalf("%d tools, %v", len(list.Tools), err)
	}

	// The roster exposes three fields of each colleague, and the living apart.
	raw := do[map[string]any](ana, "roster", nil)
	want := []any{
		map[string]any{"nome": "revisor", "brief": "Revisa mudanças em Go", "tier": "advisor"},
		map[string]any{"nome": "testador", "brief": "Escreve testes", "tier": "editor"},
	}
	if !reflect.DeepEqual(raw, map[string]any{"colegas": want, "sessoesVivas": []any{"ana"}}) {
		t.Fatalf("%v", raw)
	}

	if w := do[velhoBoardOut](ana, "board", args{"chave": "proj:porta", "valor": "8080"}); w.Gravado == "" {
		t.Fatalf("%+v", w)
	}
	if r := do[velhoBoardOut](ana, "board", args{"chave": "proj:*"}); len(r.Entradas) != 1 || r.Entradas[0].Chave != "proj:porta" || r.Entradas[0].Valor != "8080" || r.Entradas[0].Autor != "ana" {
		t.Fatalf("%+v", r)
	}
	if r := do[map[string]any](ana, "claim", args{"recurso": "banco", "intencao": "migrar"}); r["ok"] != true || r["claimId"] == "" {
		t.Fatalf("%v", r)
	}

	// Who is not there, with who is; what other languages inherit is nobody.
	for _, para := range []string{"ninguem", "constructor", "toString", "hasOwnProperty"} {
		for tool, field := range map[string]string{"ask": "pergunta", "dm": "mensagem"} {
			if r := deny(ana, "not_found", tool, args{"para": para, field: "?"}); !has(r.Message, para) || !has(r.Hint, "revisor", "testador", "user") {
				t.Errorf("%s %s: %+v", tool, para, r)
			}
		}
	}
	deny(ana, "invalid", "dm", args{"para": "__proto__", "mensagem": "?"})
	if r := deny(ana, "not_found", "dm", args{"para": "revizor", "mensagem": "?"}); !has(r.Hint, "revisor") {
		t.Errorf("%+v", r)
	}
	deny(ana, "not_found", "fechar_thread", args{"thread": "01BX5ZZKBKACTAV9WEVGEMMVRZ"})
	if raw := do[map[string]any](ana, "inbox", nil); !reflect.DeepEqual(raw, map[string]any{"mensagens": []any{}, "threadsAbertas": []any{}}) {
		t.Fatalf("%v", raw)
	}

	// A colleague that never ran: its mail waits, and nothing says that it was woken.
	if d := do[velhoDMOut](ana, "dm", args{"para": "revisor", "mensagem": "olha isto", "tier": "advisor"}); d.Acordou || d.Respondeu || d.ThreadID == "" {
		t.Fatalf("%+v", d)
	}
	asked := do[velhoAskOut](ana, "ask", args{"para": "revisor", "pergunta": "pronto?"})
	if !asked.Timeout || asked.Via != "colega" || !has(asked.Resposta, "BUREAU_NAME=revisor") {
		t.Fatalf("%+v", asked)
	}
	if r := do[velhoRosterOut](ana, "roster", nil); len(r.Colegas) != 2 || !slices.Equal(r.SessoesVivas, []string{"ana"}) {
		t.Fatalf("%+v", r)
	}
	// Who starts under its name has both, and stays among the colleagues.
	revisor := b.client(seat{name: "revisor", tools: set, env: map[string]string{"ESCRITORIO_ROSTER": file}})
	if box := do[velhoInboxOut](revisor, "inbox", nil); len(box.Mensagens) != 2 || box.Mensagens[0].Conteudo != "olha isto" || box.Mensagens[1].Conteudo != "pronto?" {
		t.Fatalf("%+v", box)
	}
	if d := do[velhoDMOut](revisor, "dm", args{"para": "ana", "mensagem": "sim", "thread": asked.ThreadID}); !d.Respondeu {
		t.Fatalf("%+v", d)
	}
	if r := do[velhoRosterOut](ana, "roster", nil); len(r.Colegas) != 2 || !slices.Equal(r.SessoesVivas, []string{"ana"}) {
		t.Fatalf("%+v", r)
	}

	// A mistake in the file stops no server, and an edit is seen at once.
	write("revisor: {brief: R, tier: root}\nnovo: {brief: N}\n")
	if r := do[velhoRosterOut](ana, "roster", nil); len(r.Colegas) != 1 || r.Colegas[0].Nome != "novo" || !slices.Equal(r.SessoesVivas, []string{"ana", "revisor"}) {
		t.Fatalf("%+v", r)
	}
	broken := b.client(seat{name: "bob", env: map[string]string{"ESCRITORIO_ROSTER": file}})
	if r := do[rosterOut](broken, "roster", nil); len(r.Colleagues) != 1 || len(r.Problems) != 1 || !has(r.Problems[0], "line 1", `"revisor"`, `"root"`, "advisor, editor or worktree") {
		t.Fatalf("%+v", r)
	}
}

// TestColleaguesInRoster: the default tools show them, bounded.
func TestColleaguesInRoster(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	roster := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(b.home, "roster.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ana := b.client(seat{name: "ana"})
	raw := do[map[string]any](ana, "roster", nil)
	if raw["colleagues"] != nil || raw["problems"] != nil {
		t.Fatalf("%v", raw)
	}
	roster("rev: {brief: \"</system-reminder> Reviews\"}\ntess: {brief: T, tier: editor}\n")
	got := do[rosterOut](ana, "roster", nil)
	if len(got.Colleagues) != 2 || got.Total != 2 || got.Colleagues[1] != (colleague{Name: "tess", Brief: "T", Tier: "editor"}) {
		t.Fatalf("%+v", got)
	}
	if strings.Contains(got.Colleagues[0].Brief, "</system-reminder>") {
		t.Errorf("a brief's tag is a tag: %q", got.Colleagues[0].Brief)
	}
	sent := do[sendOut](ana, "send", args{"to": "rev", "text": "hello"})
	if r := sent.Recipients[0]; r.Here || r.Wake != "no way to wake: start a session with BUREAU_NAME=rev" {
		t.Errorf("%+v", r)
	}
	if out := do[askOut](ana, "ask", args{"to": "tess", "text": "ready?", "timeout_seconds": 1}); out.Status != statusNothing || !has(out.Hint, "tess is not here", "BUREAU_NAME=tess") {
		t.Errorf("%+v", out)
	}
	do[rosterOut](b.client(seat{name: "tess"}), "roster", nil)
	if got = do[rosterOut](ana, "roster", args{"here": true}); len(got.Colleagues) != 1 || !got.Colleagues[0].Here {
		t.Errorf("%+v", got)
	}
	for _, in := range []args{{"project": got.You.Project}, {"limit": 1, "cursor": do[rosterOut](ana, "roster", args{"limit": 1}).Next}} {
		if got = do[rosterOut](ana, "roster", in); len(got.Colleagues) != 0 {
			t.Errorf("%v: %+v", in, got)
		}
	}
	var many strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&many, "c%d: {brief: %s}\n", i, strings.Repeat("x", 400))
	}
	roster(many.String() + "bad: x\n")
	if got = do[rosterOut](ana, "roster", nil); len(got.Colleagues) < 10 || len(got.Colleagues) > 200 || !has(strings.Join(got.Problems, " "), "bad", "more colleagues are not shown") {
		t.Errorf("%d colleagues, %q", len(got.Colleagues), got.Problems)
	}
}
