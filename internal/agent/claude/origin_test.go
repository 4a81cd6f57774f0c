package claude

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The prompts are what the real client gave to UserPromptSubmit hooks.
func TestOriginOfRealPrompts(t *testing.T) {
	for file, want := range map[string]Origin{
		"prompt-human.json": {Kind: Human},
		"prompt-task.json":  {Kind: Task},
		"prompt-peer.json":  {Kind: Peer, From: "uds:/tmp/cc-socks/46.sock", Name: "bureau"},
	} {
		text, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		var in struct{ Prompt string }
		if err := json.Unmarshal(text, &in); err != nil {
			t.Fatal(err)
		}
		if got := UserPromptOrigin(in.Prompt, "", ""); got != want {
			t.Errorf("%s: %+v, want %+v", file, got, want)
		}
	}
}

func TestFrameOrigin(t *testing.T) {
	for prompt, want := range map[string]Origin{
		"":            {Kind: Human},
		"  \n":        {Kind: Human},
		"say <b>this": {Kind: Human},
		"what does <cross-session-message from=\"x\"> mean?":                                   {Kind: Human},
		"<cross-session-message":                                                               {Kind: Human},
		"<cross-session-message is a tag>":                                                     {Kind: Human},
		"<cross-session-messages from=\"x\">":                                                  {Kind: Human},
		"<cross-session-message>\nx":                                                           {Kind: Peer},
		"\n<cross-session-message from=\"a&quot;&lt;b\" from-name=\"Ana &amp; Bo\">\nhi":       {Kind: Peer, From: "a\"<b", Name: "Ana & Bo"},
		"<cross-session-message from=\"uds:/x\" from-name=\"bureau\">\nhi":                     {Kind: Peer, From: "uds:/x", Name: "bureau"},
		"<cross-session-message from=\"bureau\" from-name=\"bureau\">\nhi":                     {Kind: Doorbell, From: "bureau", Name: "bureau"},
		"Another Claude session sent a message:\n<cross-session-message from-name=\"bo\">\nhi": {Kind: Peer, Name: "bo"},
		"<task-notification>\n<task-id>x":                                                      {Kind: Task},
		"<teammate-message teammate_id=\"w\">\nx":                                              {Kind: Peer},
	} {
		if got := UserPromptOrigin(prompt, "", ""); got != want {
			t.Errorf("%q: %+v, want %+v", prompt, got, want)
		}
	}
}

func TestTranscriptOrigin(t *testing.T) {
	const path = "testdata/transcript.jsonl"
	id := func(n string) string { return "11111111-0000-4000-8000-00000000000" + n }
	for _, tt := range []struct {
		prompt, id string
		want       Origin
	}{
		{"first", id("1"), Origin{Kind: Human}},
		{"bare words", id("2"), Origin{Kind: Peer, From: "unknown"}},
		{"every hour", id("4"), Origin{Kind: "auto-continuation"}},
		// The frame decides, whatever the turn's first prompt was.
		{"<cross-session-message from=\"bureau\" from-name=\"bureau\">\nx", id("1"), Origin{Kind: Doorbell, From: "bureau", Name: "bureau"}},
		// Not there yet, or another prompt of the same turn: the frame alone.
		{"first", id("9"), Origin{Kind: Human}},
		{"other words", id("2"), Origin{Kind: Human}},
	} {
		if got := UserPromptOrigin(tt.prompt, path, tt.id); got != tt.want {
			t.Errorf("%q: %+v, want %+v", tt.prompt, got, tt.want)
		}
	}
	if o, ok := TranscriptOrigin(path, id("3"), "new mail: m1"); !ok || o.Kind != Doorbell {
		t.Errorf("our ring: %+v %v", o, ok)
	}
	if _, ok := TranscriptOrigin("testdata/none", id("1"), "first"); ok {
		t.Error("a missing transcript told something")
	}
}

func TestJoinsTurn(t *testing.T) {
	const path = "testdata/transcript.jsonl"
	for id, want := range map[string]bool{
		"11111111-0000-4000-8000-000000000001": true, "11111111-0000-4000-8000-000000000004": true,
		"11111111-0000-4000-8000-000000000009": false, "021b7516-8e44-4837-b9be-3780b23057ca": false, "": false,
	} {
		if got := JoinsTurn(path, id); got != want {
			t.Errorf("%q: %v", id, got)
		}
	}
	if JoinsTurn("", "x") || JoinsTurn("testdata/none", "x") {
		t.Error("joins a turn without a transcript")
	}
}

// Only the end of a long transcript is read.
func TestLongTranscript(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	line := `{"promptId":"p","type":"user","message":{"content":"hi"},"origin":{"kind":"peer"}}` + "\n"
	filler := `{"x":"` + strings.Repeat("y", 1<<20) + `"}` + "\n"
	if err := os.WriteFile(path, []byte(line+strings.Repeat(filler, 3)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := TranscriptOrigin(path, "p", "hi"); ok {
		t.Error("the whole transcript was read")
	}
	if err := os.WriteFile(path, []byte(strings.Repeat(filler, 3)+line), 0o600); err != nil {
		t.Fatal(err)
	}
	if o, ok := TranscriptOrigin(path, "p", "hi"); !ok || o.Kind != Peer {
		t.Errorf("%+v %v", o, ok)
	}
}

func FuzzUserPromptOrigin(f *testing.F) {
	for _, s := range []string{"hi", "<cross-session-message from=\"a\">\n", "<task-notification>", "<cross-session-message a=\"\" >"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, prompt string) {
		if o := UserPromptOrigin(prompt, "", ""); o.Kind == "" {
			t.Errorf("%q has no origin", prompt)
		}
	})
}
