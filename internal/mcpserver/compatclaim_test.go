package mcpserver

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"bureau/internal/agent/claude"
	"bureau/internal/claim"
)

// raw calls a tool and gives the keys of its structured content and its text.
func raw(t *testing.T, c *client, tool string, a args) (map[string]any, string) {
	t.Helper()
	res, err := c.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: a})
	if err != nil || res.IsError {
		t.Fatalf("%s %v: %v, %s", tool, a, err, textOf(res))
	}
	m, _ := res.StructuredContent.(map[string]any)
	return m, textOf(res)
}

func keys(m map[string]any) string {
	var list []string
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// TestEscritorioClaim: the results are those that a prompt for it
// expects.
func TestEscritorioClaim(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	root, _ := project(t)
	at := func(name, dir string) *client {
		return b.client(seat{env: map[string]string{"ESCRITORIO_ID": name, claude.EnvProject: dir}, tools: []string{"escritorio"}})
	}
	ana, bob, far := at("ana", root), at("bob", root), at("far", t.TempDir())
	got, text := raw(t, ana, "claim", args{"recurso": "src/app.ts", "intencao": "renomear"})
	id, _ := got["claimId"].(string)
	if got["ok"] != true || id == "" || keys(got) != "claimId ok" || !strings.HasPrefix(text, `{"ok":true,"claimId":"`) {
		t.Fatalf("%v, %s", got, text)
	}
	// The same again is the same claim.
	if again := do[velhoClaimOut](ana, "claim", args{"recurso": "src/app.ts", "intencao": "outra coisa"}); again.ClaimID != id {
		t.Fatalf("%+v", again)
	}
	// A conflict is no error, also where only a part is meant.
	for _, recurso := range []string{"src/app.ts", "./src/app.ts", "src", "src/**", filepath.Join(root, "src", "app.ts")} {
		got, text := raw(t, bob, "claim", args{"recurso": recurso, "intencao": "x"})
		c, _ := got["conflito"].(map[string]any)
		if got["ok"] != false || keys(got) != "conflito ok" || keys(c) != "desde dono intencao" || c["dono"] != "ana" || c["intencao"] != "outra coisa" {
			t.Errorf("%s: %v", recurso, got)
		}
		if _, err := time.Parse(time.RFC3339, c["desde"].(string)); err != nil || !strings.HasPrefix(text, `{"ok":false,"conflito":{"dono":"ana","intencao":"outra coisa","desde":"`) {
			t.Errorf("%v, %s", err, text)
		}
	}
	if r := deny(bob, "denied", "claim", args{"claim_id": id}); !has(r.Message, "CLAIM_DE_OUTRO") {
		t.Errorf("%+v", r)
	}
	if r := deny(bob, "not_found", "claim", args{"claim_id": "01BX5ZZKBKACTAV9WEVGEMMVRZ"}); !has(r.Message, "CLAIM_INEXISTENTE") {
		t.Errorf("%+v", r)
	}
	for _, a := range []args{{}, {"recurso": "x"}, {"intencao": "x"}, {"recurso": " ", "intencao": "x"}} {
		deny(ana, "invalid", "claim", a)
	}
	// claim_id wins over the rest; a release is a line.
	if got, text := raw(t, ana, "claim", args{"claim_id": id, "recurso": "y", "intencao": "x"}); text != "liberado: "+id || got["ok"] != true {
		t.Fatalf("%v, %s", got, text)
	}
	if _, text := raw(t, ana, "claim", args{"claim_id": id}); !has(text, "já estava liberado", id) {
		t.Errorf("%s", text)
	}
	deny(bob, "denied", "claim", args{"claim_id": id})
	if free := do[velhoClaimOut](bob, "claim", args{"recurso": "src/app.ts", "intencao": "x"}); !free.OK {
		t.Fatalf("%+v", free)
	}
	// A thing that is no path is the same in every folder, in any spelling.
	if got := do[velhoClaimOut](ana, "claim", args{"recurso": "banco de dados", "intencao": "migrar"}); !got.OK {
		t.Fatalf("%+v", got)
	}
	for _, name := range []string{"banco de dados", "Banco  de-Dados"} {
		if got := do[velhoClaimOut](far, "claim", args{"recurso": name, "intencao": "x"}); got.OK || got.Conflito.Dono != "ana" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestRecurso: what a free word means.
func TestRecurso(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, ".bureau", "project"), "recurso")
	write(t, filepath.Join(dir, "docs", "a.md"), "")
	write(t, filepath.Join(dir, "deploy:staging"), "")
	b := newBench(t)
	c := &call{s: b.client(seat{}).server, o: b.Office, folder: dir}
	long := strings.Repeat("palavra ", 60)
	for text, want := range map[string]string{
		"docs": "docs", "docs/a.md": "docs/a.md", "src/novo.go": "src/novo.go", "novo.go": "novo.go", "*.go": "*.go", ".env": ".env", "docs/": "docs",
		"deploy:staging": "deploy:staging", "deploy:Prod": "r deploy:Prod", "port:08080": "r port:8080", "gpu:Host/02": "r gpu:host/2",
		"migrations": "r recurso:migrations", "Banco de Dados": "r recurso:banco-de-dados", "porta 8080": "r recurso:porta-8080", "v1.2": "r recurso:v1.2",
		"https://x/y": "r recurso:https:-x-y", "e\u0301tape": "r recurso:étape", "\u200bx\u200b": "r recurso:x",
	} {
		w, _, err := c.recurso(context.Background(), text)
		got := ""
		switch {
		case err != nil:
			t.Errorf("%q: %v", text, err)
		case len(w.Paths)+len(w.Resources) != 1:
			t.Errorf("%q: %+v", text, w)
		case len(w.Paths) == 1:
			got = string(w.Paths[0])
		default:
			got = "r " + string(w.Resources[0])
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	one, _, err := c.recurso(context.Background(), long+"um")
	if err != nil || len(one.Resources[0]) > claim.MaxResource {
		t.Fatalf("%v, %v", one, err)
	}
	if two, _, err := c.recurso(context.Background(), long+"dois"); err != nil || two.Resources[0] == one.Resources[0] {
		t.Errorf("%v, %v", two, err)
	}
	if _, _, err := c.recurso(context.Background(), "- - -"); err == nil {
		t.Error("a name of nothing was taken")
	}
}

// TestMclaudeLocks: the results have the keys that a prompt for mclaude expects,
// and a lock is a claim.
func TestMclaudeLocks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	root, _ := project(t)
	at := func(name string) *client {
		return b.client(seat{name: name, env: map[string]string{claude.EnvProject: root}, tools: []string{"mail,claims,mclaude"}})
	}
	ana, bob := at("ana"), at("bob")
	do[rosterOut](bob, "roster", nil)
	if got, _ := raw(t, ana, "mclaude_lock_status", args{"slug": "fix-login"}); got["status"] != "FREE" || keys(got) != "slug status" {
		t.Fatalf("%v", got)
	}
	got, text := raw(t, ana, "mclaude_lock_claim", args{"slug": "fix-login", "description": "login is broken", "files": []string{"src/login.go"}, "session": "s-1"})
	if keys(got) != "session_id slug success" || got["success"] != true || got["slug"] != "fix-login" || got["session_id"] != "s-1" {
		t.Fatalf("%v", got)
	}
	session := got["session_id"]
	var same map[string]any
	if json.Unmarshal([]byte(text), &same) != nil || keys(same) != keys(got) {
		t.Errorf("text %s", text)
	}
	// It is a claim for everybody else, and a claim is a lock.
	if r := deny(bob, "conflict", "claim", args{"paths": []string{"src"}, "intent": "x"}); !has(r.Message, "login is broken") {
		t.Errorf("%+v", r)
	}
	mine := do[claimOut](bob, "claim", args{"paths": []string{"doc"}, "intent": "write the manual"}).Claims[0]
	list, _ := raw(t, ana, "mclaude_lock_list", nil)
	rows, _ := list["locks"].([]any)
	if keys(list) != "count locks" || list["count"] != 2.0 || len(rows) != 2 {
		t.Fatalf("%v", list)
	}
	if first, _ := rows[0].(map[string]any); keys(first) != "description files holder session_id slug status" || first["status"] != "ACTIVE" || first["slug"] != "fix-login" || first["holder"] != "ana" {
		t.Errorf("%v", first)
	}
	if second, _ := rows[1].(map[string]any); second["slug"] != "write-the-manual" || second["holder"] != "bob" {
		t.Errorf("%v", second)
	}
	if s, _ := raw(t, bob, "mclaude_lock_status", args{"slug": "fix-login"}); keys(s) != "description files heartbeat_age holder session_id slug status" || s["status"] != "ACTIVE" || s["session_id"] != session {
		t.Fatalf("%v", s)
	}
	// Held: the slug by another, its files under another slug, and what a claim covers.
	for slug, files := range map[string][]string{"fix-login": {}, "other": {"src/login.go"}, "more": {filepath.Join(root, "src")}} {
		r, _ := raw(t, bob, "mclaude_lock_claim", args{"slug": slug, "description": "x", "files": files})
		if r["success"] != false || r["reason"] != "held" || r["holder"] != "ana" || r["description"] != "login is broken" || r["heartbeat_age"] == nil || r["holder_session"] != session {
			t.Errorf("%s: %v", slug, r)
		}
	}
	for _, x := range []struct {
		tool string
		a    args
	}{
		{"mclaude_lock_claim", args{"slug": "No Slug", "description": "x"}},
		{"mclaude_lock_claim", args{"slug": "../../etc", "description": "x"}},
		{"mclaude_lock_claim", args{"slug": "abc\n", "description": "x"}},
		{"mclaude_lock_claim", args{"slug": "abc", "description": " "}},
		{"mclaude_lock_claim", args{"slug": "abc", "description": "x", "files": []string{"[a"}}},
		{"mclaude_lock_status", args{"slug": "a"}},
		{"mclaude_lock_heartbeat", args{"slug": "../x"}},
		{"mclaude_lock_heartbeat", args{"slug": "nothing-here"}},
		{"mclaude_lock_heartbeat", args{"slug": "fix-login"}},
		{"mclaude_lock_release", args{"slug": "nothing-here"}},
		{"mclaude_lock_release", args{"slug": "fix-login", "summary": "mine now"}},
		{"mclaude_lock_release", args{"slug": "../x"}},
		{"mclaude_lock_force_release", args{"slug": "../x", "reason": "x"}},
		{"mclaude_lock_force_release", args{"slug": "fix-login", "reason": " "}},
		{"mclaude_lock_force_release", args{"slug": "fix-login", "reason": "I want it"}},
		{"mclaude_lock_force_release", args{"slug": "nothing-here", "reason": "x"}},
	} {
		r, _ := raw(t, bob, x.tool, x.a)
		if r["success"] == true || r["error"] == "" || r["error"] == nil || has(r["error"].(string), "bureau ") || has(r["error"].(string), "in text") {
			t.Errorf("%s %v: %v", x.tool, x.a, r)
		}
	}
	if r, _ := raw(t, ana, "mclaude_lock_heartbeat", args{"slug": "fix-login", "session": "s-1"}); keys(r) != "success" || r["success"] != true {
		t.Errorf("%v", r)
	}
	if r, _ := raw(t, ana, "mclaude_lock_release", args{"slug": "fix-login", "session": "somebody-else"}); r["success"] != false {
		t.Errorf("%v", r)
	}
	if r, _ := raw(t, ana, "mclaude_lock_release", args{"slug": "fix-login", "summary": "mended", "session": "s-1"}); keys(r) != "archive success" || r["success"] != true {
		t.Errorf("%v", r)
	}
	past := do[claimOut](bob, "claim", args{"action": "history"})
	if past.Total != 1 || past.Claims[0].Summary != "mended" {
		t.Errorf("%+v", past)
	}
	do[claimOut](bob, "claim", args{"action": "release", "ids": []string{mine.ID}})
	if list, _ := raw(t, ana, "mclaude_lock_list", nil); list["count"] != 0.0 || list["locks"] == nil {
		t.Errorf("%v", list)
	}
}

// TestMclaudeLockFiles: in a project with mclaude's folder a lock is its file
// too, one of mclaude's own is respected, and once stale it can be forced.
func TestMclaudeLockFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	root, _ := project(t)
	active := filepath.Join(root, ".claude", "locks", "active-work")
	if err := os.MkdirAll(active, 0o777); err != nil {
		t.Fatal(err)
	}
	ana := b.client(seat{name: "ana", env: map[string]string{claude.EnvProject: root}, tools: []string{"all,mclaude"}})
	raw(t, ana, "mclaude_lock_claim", args{"slug": "fix-login", "description": "login", "files": []string{"src/login.go"}})
	if _, err := os.Stat(filepath.Join(active, "fix-login.lock")); err != nil {
		t.Fatal(err)
	}
	done, _ := raw(t, ana, "mclaude_lock_release", args{"slug": "fix-login", "summary": "mended"})
	archive, _ := done["archive"].(string)
	if text, err := os.ReadFile(filepath.Join(root, archive)); err != nil || !has(string(text), "mended") {
		t.Fatalf("%v: %v", done, err)
	}
	write(t, filepath.Join(active, "theirs.lock"), "python-1")
	write(t, filepath.Join(active, "theirs.heartbeat"), "")
	about, _ := json.Marshal(map[string]any{
		"slug": "theirs", "session_id": "python-1", "claimed_at": time.Now().Format("2006-01-02T15:04:05-0700"), "working_directory": root,
		"description": "theirs", "files": []string{"src/parser.go"},
	})
	write(t, filepath.Join(active, "theirs.metadata.json"), string(about))
	if r := deny(ana, "conflict", "claim", args{"paths": []string{"src"}, "intent": "x"}); wantBlocks(t, r)[0].Lock != "theirs" {
		t.Errorf("%+v", r)
	}
	if r, _ := raw(t, ana, "mclaude_lock_force_release", args{"slug": "theirs", "reason": "x"}); r["success"] != false {
		t.Fatalf("%v", r)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(active, "theirs.heartbeat"), old, old); err != nil {
		t.Fatal(err)
	}
	if r, _ := raw(t, ana, "mclaude_lock_claim", args{"slug": "theirs", "description": "x"}); r["success"] != false || r["reason"] != "stale" || r["holder_session"] != "python-1" {
		t.Fatalf("%v", r)
	}
	if r, _ := raw(t, ana, "mclaude_lock_force_release", args{"slug": "theirs", "reason": "its session is gone"}); r["success"] != true || !has(r["archive"].(string), "FORCE") {
		t.Fatalf("%v", r)
	}
	if _, err := os.Stat(filepath.Join(active, "theirs.lock")); err == nil {
		t.Error("the lock is there still")
	}
}
