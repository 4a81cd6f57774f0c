package office

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/paper/transcript"
	"bureau/internal/room"
)

// TestAPrivateTranscript: one that shows whispers is named to nobody but the
// human, and a room that is opened anew keeps the old file beside the new one.
func TestAPrivateTranscript(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	dir := t.TempDir()
	file := filepath.Join(dir, "r.md")
	ana, bob := d.agent("ana"), d.agent("bob")
	op := Opening{Name: "r", Transcript: &TranscriptOptions{Root: dir, Path: "r.md", Private: true, Lang: "fr"}}
	if v := d.opened(d.user(), op, "ana", "bob", "user"); v.Transcript != file {
		t.Errorf("the human is told %q", v.Transcript)
	}
	d.joined(in("r"), ana, bob)
	d.said(ana, in("r"), "@bob hello")
	if _, err := d.RoomWhisper(ctx, bob, in("r"), Saying{Text: []byte("hush"), To: []string{"@ana"}}); err != nil {
		t.Fatal(err)
	}
	inFile(t, file, []string{"@bob hello", "hush"})
	if st, err := os.Stat(file); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st, err)
	}
	if v, err := d.RoomShow(ctx, ana, in("r")); err != nil || v.Transcript != "" {
		t.Errorf("a member is told %q, %v", v.Transcript, err)
	}
	// What a post could not write, the next one makes up for.
	if err := os.Rename(file, file+".away"); err != nil {
		t.Fatal(err)
	}
	r := d.said(ana, in("r"), "@bob anybody?")
	if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "bureau room transcript r --sync") || strings.Contains(r.Notes[0], "r.md") {
		t.Errorf("a member is told %v", r.Notes)
	}
	if err := os.Rename(file+".away", file); err != nil {
		t.Fatal(err)
	}
	d.said(bob, in("r"), "@ana yes")
	inFile(t, file, []string{"@bob hello", "hush", "@bob anybody?", "@ana yes"})
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if got, err := d.RoomTranscriptSync(ctx, d.user(), in("r")); err != nil || got != (Transcribed{Path: file}) {
		t.Fatalf("%+v, %v", got, err)
	}
	inFile(t, file, []string{"@bob hello", "hush", "@bob anybody?", "@ana yes"})

	again := Opening{Name: "r", Force: true, Members: []Invitation{{Handle: "ana"}}, Transcript: op.Transcript}
	n, err := d.RoomOpen(ctx, d.user(), again)
	if err != nil || n.Kept != "" && n.Kept == file {
		t.Fatalf("%+v, %v", n, err)
	}
	kept, err := filepath.Glob(filepath.Join(dir, "r*.md"))
	if err != nil || len(kept) != 2 {
		t.Fatalf("%v, %v", kept, err)
	}
	inFile(t, file, nil)
	for _, f := range kept {
		if f != file {
			inFile(t, f, []string{"@bob hello", "hush", "@bob anybody?", "@ana yes"})
		}
	}
	// Somebody else's file is left alone, and no room is opened.
	if err := os.WriteFile(filepath.Join(dir, "notes.md"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = d.RoomOpen(ctx, ana, Opening{Name: "other", Transcript: &TranscriptOptions{Root: dir, Path: "notes.md"}})
	d.want(fault.Conflict, err)
	if _, err := d.RoomShow(ctx, ana, in("other")); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
	if raw, err := os.ReadFile(filepath.Join(dir, "notes.md")); err != nil || string(raw) != "mine" {
		t.Errorf("%q, %v", raw, err)
	}
	d.sound()
}

// TestAnUsualTranscript: where nobody chose the place, a closed room's file is
// put aside for the next one's, whatever was in between and wherever the project
// lay then; what cannot be made there is a note.
func TestAnUsualTranscript(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	dir := filepath.Join(t.TempDir(), "project")
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	ana := d.agent("ana")
	open := func(root string, private bool, force bool) RoomResult {
		t.Helper()
		op := Opening{Name: " Plan ", Members: []Invitation{{Handle: "ana"}}, Force: force, Settings: room.Settings{Floor: room.OpenTalk, Barrier: room.Barrier{Gate: room.GateCount, N: 1}}}
		if root != "none" {
			op.Transcript = UsualTranscript(root, op.Name)
			op.Transcript.Private = private
		}
		r, err := d.RoomOpen(ctx, d.user(), op)
		if err != nil {
			t.Fatal(err)
		}
		d.joined(in("Plan"), ana)
		d.said(ana, in("Plan"), "@user words of "+string(r.Room.ID))
		return r
	}
	closed := func() {
		t.Helper()
		if _, err := d.RoomClose(ctx, d.user(), in("Plan"), ""); err != nil {
			t.Fatal(err)
		}
	}
	where := func(v RoomView) string {
		t.Helper()
		now, err := d.RoomShow(ctx, d.user(), in(string(v.ID)))
		if err != nil {
			t.Fatal(err)
		}
		return now.Transcript
	}
	first := open(dir, true, false)
	file := filepath.Join(dir, transcript.DefaultPath("Plan"))
	if first.Room.Transcript != file || len(first.Notes) > 0 || first.Kept != "" {
		t.Fatalf("%+v", first)
	}
	if st, err := os.Stat(file); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st, err)
	}
	closed()
	open("none", false, false)
	closed()
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	third := open(moved, false, false)
	file = filepath.Join(moved, transcript.DefaultPath("Plan"))
	if third.Room.Transcript != file || len(third.Notes) > 0 {
		t.Errorf("%+v", third)
	}
	inFile(t, file, []string{"@user words of " + string(third.Room.ID)})
	kept, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*.20*.md"))
	if err != nil || len(kept) != 1 || third.Kept != kept[0] {
		t.Fatalf("%v, %v, %q", kept, err, third.Kept)
	}
	if raw, err := os.ReadFile(kept[0]); err != nil || !strings.Contains(string(raw), "`"+filepath.ToSlash(filepath.Join(transcript.Folder, filepath.Base(kept[0])))+"`") {
		t.Errorf("its head does not say where it is: %.900s, %v", raw, err)
	}
	inFile(t, kept[0], []string{"@user words of " + string(first.Room.ID)})
	if st, err := os.Stat(kept[0]); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st, err)
	}

	// One that is open is closed by force only, and its file kept then.
	fourth := open(moved, false, true)
	if fourth.Kept == "" || where(third.Room) != fourth.Kept || where(fourth.Room) != file {
		t.Errorf("%+v; %s", fourth, where(third.Room))
	}
	inFile(t, fourth.Kept, []string{"@user words of " + string(third.Room.ID)})
	closed()
	// The file of a room that this office does not know, or that is no file of
	// bureau's, stays.
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{strings.ReplaceAll(string(raw), string(fourth.Room.ID), string(event.NewID(d.Now()))), "mine"} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		r := open(moved, false, false)
		if r.Room.Transcript != "" || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], file) || !strings.Contains(r.Notes[0], "again with --force --transcript FILE") {
			t.Errorf("%+v", r)
		}
		if now, err := os.ReadFile(file); err != nil || string(now) != text {
			t.Errorf("the file changed, %v", err)
		}
		closed()
	}
	// An agent is not told where one is that shows whispers.
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	open(moved, true, false)
	op := Opening{Name: "plan", Force: true, Transcript: UsualTranscript(moved, "Plan")}
	if r, err := d.RoomOpen(ctx, ana, op); err != nil || r.Kept != "" || r.Room.Transcript != file {
		t.Errorf("%+v, %v", r, err)
	}
	d.opened(d.user(), Opening{Name: "own", Transcript: &TranscriptOptions{Root: moved, Path: transcript.DefaultPath("next"), Private: true}}, "ana")
	if r, err := d.RoomOpen(ctx, ana, Opening{Name: "next", Transcript: UsualTranscript(moved, "next")}); err != nil || r.Room.Transcript != "" || len(r.Notes) != 1 || strings.Contains(r.Notes[0], "next.md") {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := d.RoomClose(ctx, d.user(), in("plan"), ""); err != nil {
		t.Fatal(err)
	}
	if r := open("", false, false); r.Room.Transcript != "" || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "no project") {
		t.Errorf("%+v", r)
	}
	d.sound()
}
