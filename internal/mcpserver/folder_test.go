package mcpserver

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"bureau/internal/git/place"
	"bureau/internal/office"
	"bureau/internal/presence"
)

// walker is a session of Claude Code that changes its folder.
type walker struct {
	*client
	b *bench
	n int
}

// walks begins a session in a repository whose client has a server with tools.
func (b *bench) walks(root, session string, tools ...string) *walker {
	b.t.Helper()
	_, at := project(b.t)
	s := at(session)
	s.env["CLAUDE_PROJECT_DIR"], s.tools = root, tools
	w := &walker{client: b.client(s), b: b}
	here, err := place.Of(root)
	if err != nil {
		b.t.Fatal(err)
	}
	p, err := b.SettleProject(context.Background(), here.Project)
	if err != nil {
		b.t.Fatal(err)
	}
	b.hook(w.client, office.Session{ID: session, Declared: session, Folder: root, Project: p})
	return w
}

// in gives the metadata of a call that the client announces from a folder.
func (w *walker) in(folder string) mcp.Meta {
	w.t.Helper()
	w.n++
	id := "toolu_" + w.server.opts.Env("BUREAU_NAME") + string(rune('a'+w.n))
	if err := w.b.NoteCall(context.Background(), presence.Call{ID: id, Process: processOf(w.process), Client: "claude", Session: w.server.opts.Env("BUREAU_NAME"), Folder: folder}); err != nil {
		w.t.Fatal(err)
	}
	return mcp.Meta{metaToolUse: id}
}

func in[Out any](w *walker, folder, tool string, a args) Out {
	w.t.Helper()
	out, err := tryWith[Out](context.Background(), w.client, tool, a, w.in(folder))
	if err != nil {
		w.t.Fatalf("%s %v: %v", tool, a, err)
	}
	return out
}

func repository(t *testing.T, files ...string) string {
	t.Helper()
	root, _ := project(t)
	for _, f := range files {
		write(t, filepath.Join(root, f), "x\n")
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatal(err)
	}
	return real
}

// TestClaimWhereTheModelWalked: relative paths begin where the model's shell is
// now, as they do for commands in that shell, and the result says so.
func TestClaimWhereTheModelWalked(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	root, other := repository(t, "x.go", "sub/x.go", "sub/y.go"), repository(t, "x.go")
	sub := filepath.Join(root, "sub")
	anna, bert := b.walks(root, "anna"), b.walks(root, "bert")

	got := in[claimOut](anna, sub, "claim", args{"paths": []string{"x.go"}, "intent": "rewrite"})
	if got.Claims[0].Paths[0] != "sub/x.go" || !has(got.Hint, "relative paths were read from "+sub) {
		t.Fatalf("%+v", got)
	}
	in[claimOut](bert, root, "claim", args{"paths": []string{"x.go"}, "intent": "the other one"})
	_, err := tryWith[claimOut](context.Background(), bert.client, "claim", args{"paths": []string{"x.go"}, "intent": "that one"}, bert.in(sub))
	if r, ok := err.(*refused); !ok || r.Code != "conflict" || wantBlocks(t, r)[0].Holder != "anna" || !has(r.Hint, "relative paths were read from "+sub) {
		t.Fatalf("%+v", err)
	}
	if who := in[claimOut](bert, sub, "claim", args{"action": "who", "paths": []string{"x.go"}}); who.Total != 1 || who.Claims[0].Holder != "anna" {
		t.Errorf("%+v", who)
	}
	// At the root, and with whole paths, nothing has to be said.
	for folder, path := range map[string]string{root: "sub/y.go", sub: filepath.Join(sub, "y.go")} {
		if got := in[claimOut](anna, folder, "claim", args{"paths": []string{path}, "intent": "y"}); got.Claims[0].Paths[0] != "sub/y.go" || got.Hint != "" {
			t.Errorf("%s in %s: %+v", path, folder, got)
		}
	}
	if gone := in[claimOut](anna, sub, "claim", args{"action": "release", "paths": []string{"x.go"}}); gone.Total != 1 || gone.Claims[0].Paths[0] != "sub/x.go" {
		t.Errorf("%+v", gone)
	}
	// Another repository: its claims, by its name.
	if got := in[claimOut](anna, other, "claim", args{"paths": []string{"x.go"}, "intent": "there"}); got.Claims[0].Project != filepath.Base(other) || !has(got.Hint, "read from "+other) {
		t.Errorf("%+v", got)
	}
	if list := in[claimOut](bert, other, "claim", args{"action": "list"}); list.Total != 1 || list.Claims[0].Holder != "anna" || !has(list.Hint, filepath.Base(other)) {
		t.Errorf("%+v", list)
	}
	if list := in[claimOut](bert, root, "claim", args{"action": "list"}); list.Total != 2 || list.Hint != "" {
		t.Errorf("%+v", list)
	}
	// A folder that is not there any more is no place to read paths from.
	if got := in[claimOut](anna, filepath.Join(root, "away"), "claim", args{"paths": []string{"z.go"}, "intent": "z"}); got.Claims[0].Paths[0] != "z.go" || !has(got.Hint, "away, is not there") {
		t.Errorf("%+v", got)
	}
}

// TestFolderOfACallThatNobodyAnnounced: what the session's hooks reported last
// counts, of this process alone.
func TestFolderOfACallThatNobodyAnnounced(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	root := repository(t, "x.go", "sub/x.go")
	anna := b.walks(root, "anna")
	claim := func(path string) string {
		t.Helper()
		got := do[claimOut](anna.client, "claim", args{"paths": []string{path}, "intent": "x"})
		return got.Claims[0].Paths[0]
	}
	if got := claim("x.go"); got != "x.go" {
		t.Errorf("before any report: %s", got)
	}
	caller := office.Caller{Process: processOf(anna.process), Session: "anna"}
	for _, step := range []struct{ folder, want string }{{filepath.Join(root, "sub"), "sub/x.go"}, {root, "x.go"}} {
		if err := b.NoteFolder(context.Background(), caller, step.folder); err != nil {
			t.Fatal(err)
		}
		if got := claim("x.go"); got != step.want {
			t.Errorf("in %s: %s", step.folder, got)
		}
	}
	in[claimOut](anna, filepath.Join(root, "sub"), "claim", args{"action": "list"})
	if got := claim("x.go"); got != "sub/x.go" {
		t.Errorf("after a call from sub: %s", got)
	}
	caller.Process = processOf(b.process())
	if folder, err := b.FolderNow(context.Background(), caller); err != nil || folder != "" {
		t.Errorf("another process: %q, %v", folder, err)
	}
}

// TestOtherToolsWhereTheModelWalked: the tools of other systems that take paths
// read them alike, and name what they took.
func TestOtherToolsWhereTheModelWalked(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	root := repository(t, "x.go", "sub/x.go", "sub/y.go")
	sub := filepath.Join(root, "sub")
	velho, ours := b.walks(root, "velho", "escritorio"), b.walks(root, "ours", "claims", "mclaude", "room", "multiagent")

	got := in[velhoClaimOut](velho, sub, "claim", args{"recurso": "x.go", "intencao": "i"})
	if !got.OK || got.Caminho != filepath.Join(sub, "x.go") {
		t.Fatalf("%+v", got)
	}
	if got := in[velhoClaimOut](velho, root, "claim", args{"recurso": "x.go", "intencao": "i"}); !got.OK || got.Caminho != "" {
		t.Errorf("%+v", got)
	}
	if got := in[velhoClaimOut](velho, sub, "claim", args{"recurso": "port:8080", "intencao": "i"}); !got.OK || got.Caminho != "" {
		t.Errorf("%+v", got)
	}
	if got := in[lockClaimOut](ours, sub, "mclaude_lock_claim", args{"slug": "the-x", "description": "d", "files": []string{"x.go"}}); got.Success || got.Holder != "velho" {
		t.Errorf("%+v", got)
	}
	lock := in[lockClaimOut](ours, sub, "mclaude_lock_claim", args{"slug": "the-y", "description": "d", "files": []string{"y.go"}})
	if !lock.Success || len(lock.Files) != 1 || lock.Files[0] != filepath.Join(sub, "y.go") {
		t.Errorf("%+v", lock)
	}
	if who := in[claimOut](ours, root, "claim", args{"action": "who", "paths": []string{"sub/y.go"}}); who.Total != 1 || who.Claims[0].Holder != "ours" {
		t.Errorf("%+v", who)
	}
	room := in[roomOut](ours, sub, "room_open", args{"name": "plan", "transcript": "plan.md"})
	if room.Room.Transcript != filepath.Join(sub, "plan.md") {
		t.Errorf("%+v", room.Room)
	}
	// A conversation is found by its file from where it was opened, and from the start.
	talk := in[oldInitOut](ours, root, "init_conversation", args{"filepath": "talk.md", "participants": []string{"A"}})
	for _, folder := range []string{root, sub} {
		if state := in[map[string]any](ours, folder, "list_participants", args{"conversation": "talk.md"}); state["conversation"] != talk.Conversation {
			t.Errorf("in %s: %v", folder, state)
		}
	}
}

// TestClaimInAWorkTreeThatTheModelWalkedTo: the claim is of that work tree.
func TestClaimInAWorkTreeThatTheModelWalkedTo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	root := repository(t, "x.go")
	tree := filepath.Join(t.TempDir(), "fix")
	for _, a := range [][]string{
		{"-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "--allow-empty", "-m", "one"}, {"worktree", "add", "-q", tree},
	} {
		if out, err := exec.Command("git", append([]string{"-C", root}, a...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	anna, bert := b.walks(root, "anna"), b.walks(root, "bert")
	if got := in[claimOut](anna, tree, "claim", args{"paths": []string{"x.go"}, "intent": "i"}); !has(got.Hint, "read from ") {
		t.Errorf("%+v", got)
	}
	if list := in[claimOut](bert, root, "claim", args{"action": "list"}); list.Total != 1 || list.Claims[0].Tree == "" {
		t.Errorf("%+v", list)
	}
}
