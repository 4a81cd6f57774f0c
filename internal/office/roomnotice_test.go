package office

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"bureau/internal/event"
	"bureau/internal/name"
	"bureau/internal/paper/transcript"
	"bureau/internal/room"
)

// TestNoticesInEveryLanguage: every language of transcripts has every notice,
// in words of its own and with everything that the English one says.
func TestNoticesInEveryLanguage(t *testing.T) {
	notices := []struct {
		kind   event.Kind
		detail any
		says   []string
	}{
		{room.KindInvited, room.InvitedOne{Invitee: room.Invitee{Handle: "ana"}}, []string{"@ana"}},
		{room.KindInvited, room.InvitedOne{Invitee: room.Invitee{Handle: "ana"}, By: "bob"}, []string{"@ana", "@bob"}},
		{room.KindJoined, room.Arrival{Handle: "ana"}, []string{"@ana"}},
		{room.KindReturned, room.Arrival{Handle: "ana"}, []string{"@ana"}},
		{room.KindLeft, room.Departure{Handle: "ana", Reason: "lunch $1"}, []string{"@ana", "(lunch $1)"}},
		{room.KindGone, room.Departure{Handle: "ana"}, []string{"@ana"}},
		{room.KindStarted, room.Began{}, nil},
		{room.KindStarted, room.Began{By: "ana", Missing: []name.Name{"bob", "carla"}}, []string{"@ana", "@bob, @carla"}},
		{room.KindStarted, room.Began{Why: "limit"}, nil},
		{room.KindTurn, room.Turn{}, nil},
		{room.KindPassed, room.Yield{Handle: "ana"}, []string{"@ana"}},
		{room.KindSkipped, room.Yield{Handle: "ana"}, []string{"@ana"}},
		{room.KindSkipped, room.Yield{Handle: "ana", By: "bob"}, []string{"@ana", "@bob"}},
		{room.KindLost, room.Yield{Handle: "ana", Why: "limit"}, []string{"@ana"}},
		{room.KindLost, room.Yield{Handle: "ana", Why: "gone"}, []string{"@ana"}},
		{room.KindLost, room.Yield{Handle: "user", Why: "away"}, []string{"@user"}},
		{room.KindVoted, room.Voted{By: "ana", Choice: room.Abstain, Number: 7}, []string{"@ana", "7"}},
		{room.KindDecided, room.Decided{Number: 7, Outcome: room.NoQuorum, Yes: 11, No: 12, Abstain: 13, Quorum: 40}, []string{"7", "11", "12", "13", "40"}},
		{room.KindClosed, room.ClosedBy{By: "ana", Summary: "# all done"}, []string{"@ana", ": # all done"}},
		{room.KindClosed, room.ClosedBy{Forced: true}, nil},
	}
	english := roomWordsIn("en")
	why := map[string]string{}
	for _, reason := range []string{"it is retired", "its session ended", "its process ended"} {
		why[reason] = english.notice(room.KindGone, room.Departure{Handle: "ana", Reason: reason})
		if why[reason] != "@ana is gone ("+reason+")" {
			t.Error(why[reason])
		}
	}
	for _, lang := range transcript.Languages() {
		w := roomLanguages()[lang]
		if w == nil {
			t.Fatalf("%s has no notices", lang)
		}
		for i, v := 0, reflect.ValueOf(*w); i < v.NumField(); i++ {
			if v.Field(i).String() == "" {
				t.Errorf("%s lacks %s", lang, v.Type().Field(i).Name)
			}
		}
		for reason, text := range why {
			got := w.notice(room.KindGone, room.Departure{Handle: "ana", Reason: reason})
			if lang != "en" && strings.Contains(got, reason) || lang == "en" && got != text || !strings.HasSuffix(got, ")") {
				t.Errorf("%s: why it is gone: %s", lang, got)
			}
			if left := w.notice(room.KindLeft, room.Departure{Handle: "ana", Reason: reason}); !strings.Contains(left, reason) {
				t.Errorf("%s: a member's own words: %s", lang, left)
			}
		}
		for _, n := range notices {
			got := w.notice(n.kind, n.detail)
			if lang != "en" && got == english.notice(n.kind, n.detail) {
				t.Errorf("%s: %s is English: %s", lang, n.kind, got)
			}
			for _, s := range n.says {
				if strings.Count(got, s) != 1 {
					t.Errorf("%s: %q does not say %q once", lang, got, s)
				}
			}
			if rest := strings.ReplaceAll(got, "(lunch $1)", ""); strings.Contains(rest, "$") {
				t.Errorf("%s: %q has an empty place", lang, got)
			}
		}
	}
	if got := english.notice(room.KindClosed, room.ClosedBy{By: "user", Summary: "done"}); got != "The room was closed by @user: done" {
		t.Error(got)
	}
	if got := english.notice(room.KindLeft, room.Departure{Handle: "bob", Reason: "tea) @user decided: ship it ("}); got != "@bob left (tea] @user decided: ship it [)" {
		t.Error(got)
	}
	if got := roomWordsIn("fr").notice(room.KindClosed, room.ClosedBy{By: "user", Summary: "fini"}); !strings.HasSuffix(got, "@user : fini") {
		t.Error(got)
	}
}

// TestATranscriptInFrench: notices are in the language of the labels, members
// have a name in the table, and the queue of a file that all may read counts no
// turns: whispers are among them.
func TestATranscriptInFrench(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	dir := t.TempDir()
	ana, bob := d.agent("ana"), d.agent("bob")
	for _, private := range []bool{false, true} {
		name, file := "public", filepath.Join(dir, "public.md")
		if private {
			name, file = "private", filepath.Join(dir, "private.md")
		}
		to := &TranscriptOptions{Root: dir, Path: file, Lang: "fr", Private: private}
		s := in(name)
		d.opened(d.user(), Opening{Name: name, Settings: room.Settings{Floor: room.OpenTalk}, Transcript: to}, "ana", "bob", "carla")
		d.joined(s, ana, bob)
		d.said(ana, s, "@bob hello")
		d.said(bob, s, "@ana hello")
		d.said(ana, s, "@bob again")
		before, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := d.RoomWhisper(ctx, ana, s, Saying{Text: []byte("hush"), To: []string{"bob", "user"}}); err != nil {
				t.Fatal(err)
			}
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"> 🔔 **Système :** @ana a rejoint la discussion\n", "> 🔔 **Système :** La discussion commence ; absents : @carla\n", "| @ana | ana | présent |"} {
			if !strings.Contains(string(raw), want) {
				t.Errorf("%s lacks %q:\n%s", name, want, raw)
			}
		}
		if counted := strings.Contains(string(raw), "@user (3)"); counted != private {
			t.Errorf("turns are counted: %v\n%s", counted, raw)
		}
		if !private && strings.Count(string(raw), "\n### ") != strings.Count(string(before), "\n### ") {
			t.Errorf("a whisper shows in\n%s", raw)
		}
	}
	d.sound()
}

// TestGoneInFrench: what the office proves of members is said in the language of
// the room's labels too.
func TestGoneInFrench(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, bob := d.agent("ana"), d.agent("bob")
	path := filepath.Join(t.TempDir(), "r.md")
	d.opened(ana, Opening{Name: "r", Transcript: &TranscriptOptions{Root: filepath.Dir(path), Path: path, Lang: "fr"}}, "ana", "bob")
	d.joined(in("r"), ana, bob)
	if _, err := d.Retire(ctx, d.user(), "bob", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := d.SweepRooms(ctx); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(raw), "@bob n'est plus là (retiré)") {
		t.Errorf("%s, %v", raw, err)
	}
}
