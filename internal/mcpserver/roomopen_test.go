package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"bureau/internal/agent/claude"
	"bureau/internal/office"
)

// TestRoomPrivateTranscript: the path of a file that shows whispers is in no
// result of a member.
func TestRoomPrivateTranscript(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	root := t.TempDir()
	op := office.Opening{
		Name: "closed", Members: []office.Invitation{{Handle: "ana"}, {Handle: "bob"}}, Loose: true,
		Transcript: &office.TranscriptOptions{Root: root, Path: "secret-copy.md", Private: true},
	}
	if _, err := b.RoomOpen(context.Background(), b.user(), op); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ana", "bob"} {
		c := b.client(seat{name: name, tools: []string{"room,multiagent"}})
		for _, call := range []struct {
			tool string
			a    args
		}{
			{"room_join", args{"room": "closed"}}, {"room", args{"room": "closed"}}, {"room", nil}, {"room", args{"room": "closed", "since": 0}},
			{"join_conversation", args{"handle": name, "block": false}}, {"list_participants", nil}, {"room_wait", args{"wait_seconds": 0}},
		} {
			raw, err := json.Marshal(do[any](c, call.tool, call.a))
			if err != nil || has(string(raw), "secret-copy") || has(string(raw), root) {
				t.Errorf("%s: %s, %v", call.tool, raw, err)
			}
		}
	}
}

// TestRoomTranscript: a room has one where the session works unless its opener
// says otherwise, and a result says where it is or why there is none.
func TestRoomTranscript(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	project := t.TempDir()
	write(t, filepath.Join(project, ".bureau", "project"), "ours")
	dir := filepath.Join(project, "src")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	ana := b.client(seat{name: "ana", tools: []string{setRoom}, env: map[string]string{claude.EnvProject: dir}})
	for _, c := range []struct{ name, path string }{{"chosen", "docs/c.md"}, {"folder", "docs/"}, {"there", "docs"}, {"usual", ""}} {
		want := map[string]string{
			"chosen": filepath.Join(dir, "docs", "c.md"), "folder": filepath.Join(dir, "docs", "folder.md"), "there": filepath.Join(dir, "docs", "there.md"),
			"usual": filepath.Join(project, ".bureau", "rooms", "usual.md"),
		}[c.name]
		out := do[roomOut](ana, "room_open", args{"name": c.name, "transcript": c.path, "lang": "fr"})
		raw, err := os.ReadFile(want)
		if err != nil || out.Room.Transcript != want || !has(string(raw), "# Multi-Agent Room", "**Fichier :**") || !has(out.text(), want) || len(out.Notes) > 0 {
			t.Errorf("%s: %+v, %v", c.name, out, err)
		}
		if look := do[roomLookOut](ana, "room", args{"room": c.name}); look.Room.Transcript != want || !has(look.text(), want) {
			t.Errorf("%s: %+v", c.name, look)
		}
	}
	if out := do[roomOut](ana, "room_open", args{"name": "none", "no_transcript": true}); out.Room.Transcript != "" || len(out.Notes) > 0 {
		t.Errorf("%+v", out)
	}
	for _, a := range []args{{"transcript": "x.md"}, {"lang": "de"}} {
		deny(ana, "invalid", "room_open", with(args{"name": "both", "no_transcript": true}, a))
	}
	deny(ana, "invalid", "room_open", args{"name": "lang", "lang": "xx"})
	deny(ana, "denied", "room_open", args{"name": "out", "transcript": "../../x.md"})
	// A second one of the name keeps the first one's file.
	do[roomOut](ana, "room_do", args{"room": "usual", "action": "close", "text": "decided"})
	out := do[roomOut](ana, "room_open", args{"name": "usual"})
	if raw, err := os.ReadFile(out.Kept); err != nil || !has(string(raw), "decided") || out.Room.Transcript == "" || len(out.Notes) > 0 {
		t.Errorf("%+v, %v", out, err)
	}
	// What lies in the way is named, and the step that helps is one of a tool.
	write(t, filepath.Join(project, ".bureau", "rooms", "mine.md"), "mine")
	out = do[roomOut](ana, "room_open", args{"name": "mine"})
	if out.Status != "joined" || out.Room.Transcript != "" || !has(fmt.Sprint(out.Notes), "mine.md", "open the room again with force=true and transcript=FILE") {
		t.Errorf("%+v", out)
	}
	// Outside of any project.
	bob := b.client(seat{name: "bob", tools: []string{setRoom}})
	out = do[roomOut](bob, "room_open", args{"name": "nowhere"})
	if out.Status != "joined" || out.Room.Transcript != "" || !has(fmt.Sprint(out.Notes), "no project", "transcript=FILE") {
		t.Errorf("%+v", out)
	}
}

// TestMultiagentHasNoFileUnasked: its conversations show themselves in the file
// that init_conversation names, and in none without one.
func TestMultiagentHasNoFileUnasked(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	project := t.TempDir()
	write(t, filepath.Join(project, ".bureau", "project"), "ours")
	c := b.client(seat{name: "ana", tools: []string{setMultiagent}, env: map[string]string{claude.EnvProject: project}})
	do[oldInitOut](c, "init_conversation", args{"filepath": "", "participants": []string{"A", "B"}})
	if l := do[oldListOut](c, "list_participants", nil); l.Filepath != nil {
		t.Errorf("%+v", l)
	}
	if _, err := os.Stat(filepath.Join(project, ".bureau", "rooms")); err == nil {
		t.Error("there is a folder for transcripts")
	}
}

// Further names, shared ones and the barrier's limit are given on opening, as on
// the command line and to multiagent.
func TestRoomOpenNames(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ana := b.client(seat{name: "ana", tools: []string{setRoom}})
	b.client(seat{name: "bob", tools: []string{setRoom}})
	out := do[roomOut](ana, "room_open", args{
		"name": "panel", "members": []string{"bob", "user"}, "aliases": map[string][]string{"@Bob": {"bobby"}},
		"roles": []string{"ana:judge", "bob=judge,critic"}, "barrier": "declared", "barrier_seconds": 5, "no_transcript": true,
	})
	for _, m := range out.Room.Members {
		want := map[string]string{"ana": "[] [judge]", "bob": "[bobby] [judge critic]", "user": "[] []"}[m.Handle]
		if got := fmt.Sprint(m.Aliases, m.Roles); got != want {
			t.Errorf("%s has %s, want %s", m.Handle, got, want)
		}
	}
	v, err := b.RoomShow(context.Background(), b.user(), office.Sitting{Room: "panel", Hooked: true})
	if err != nil || v.Settings.Barrier.Limit != 5*time.Second {
		t.Errorf("%v, %v", v.Settings.Barrier, err)
	}
	if r := deny(ana, "invalid", "room_open", args{"name": "other", "members": []string{"bob"}, "roles": map[string][]string{"carla": {"judge"}}}); !has(r.Message, "@carla, who is no member") {
		t.Error(r.Message)
	}
}

// Who gives up a wait in a room is told what that means there.
func TestAWaitInARoomThatIsGivenUp(t *testing.T) {
	err := (&server{}).refusal(inOldWords(errors.Join(&stopped{context.Canceled})))
	if text := err.Error(); !has(text, "only the waiting ended") || has(text, "inbox") {
		t.Error(text)
	}
}
