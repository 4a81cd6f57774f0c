package mcpserver

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMultiagent are the acceptance checks for multiagent-mcp's behaviour that a
// client of these tools sees, over a server for each participant; their numbers
// are the names. Those in which a process dies (30, 31, 42) and 41, which has a
// participant outside of these tools, are beside it. 45 is the command line's,
// 44 comes with serving over HTTP.
func TestMultiagent(t *testing.T) {
	for _, checks := range []map[string]func(*testing.T){mentionChecks, meetingChecks} {
		for name, check := range checks {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				check(t)
			})
		}
	}
}

// mentionChecks are about handles, mentions and the floor.
var mentionChecks = map[string]func(*testing.T){
	"01 handles are normalised": func(t *testing.T) {
		d := newDebate(t)
		out := d.open(nil, "Alice", " @Bob ", "@Bob", "@user")
		if !slices.Equal(out.Participants, []string{"@Alice", "@Bob", "@user"}) || out.Status != "initialized" {
			t.Errorf("%+v", out)
		}
	},
	"02 what is no handle registers nobody": func(t *testing.T) {
		d := newDebate(t)
		bad := []string{"", "@", "@all", "@system", "a b", "a|b", "a\nb", "@@Bob", strings.Repeat("x", 10000)}
		for _, h := range bad {
			deny(d.of("host"), "invalid", "init_conversation", args{"filepath": "debate.md", "participants": []string{"A", h}})
		}
		if _, err := os.Stat(filepath.Join(d.root, "debate.md")); err == nil {
			t.Error("a refused conversation has a file")
		}
		d.open(nil, "A", "B")
		for _, h := range bad {
			deny(d.of("A"), "invalid", "join_conversation", args{"handle": h})
		}
		if l := d.list("host"); len(l.Participants) != 2 || len(l.Active) != 0 {
			t.Errorf("%+v", l)
		}
	},
	"03 case and punctuation": func(t *testing.T) {
		meet(t, nil, "A", "Bob").sent("A", "ask @bob.", "@Bob")
	},
	"04 code does not address": func(t *testing.T) {
		meet(t, nil, "A", "B", "C").sent("A", "```\n@C\n```\n`@C` @B", "@B")
	},
	"05 fences of any length": func(t *testing.T) {
		d := meet(t, args{"column": "description"}, "A", "B", "C")
		for _, text := range []string{"~~~\n@C\n~~~\n@B", "``@C ` @C`` @B", "````\n```\n@C\n```\n@C\n````\n@B", "@B\n```\n@C"} {
			d.sent("A", text, "@B")
		}
	},
	"06 mail addresses, links, escapes": func(t *testing.T) {
		d := meet(t, args{"column": "description"}, "A", "B", "C")
		for _, text := range []string{"x@B.com", "https://h/@B", "git@B", `\@B`} {
			d.refuse("A", "invalid", text)
			d.sent("A", text+" @C", "@C")
		}
		if out := do[turnResult](d.of("A"), "whisper_message", args{"sender": "A", "target": "@B", "content": "write to x@C.com", "block": false}); out.Status != "sent" {
			t.Errorf("%+v", out)
		}
	},
	"07 punctuation around": func(t *testing.T) {
		d := meet(t, args{"column": "description"}, "A", "B")
		for _, text := range []string{"_@B_", "@B-", "@B’s", "@B:"} {
			d.sent("A", text, "@B")
		}
	},
	"08 every script and normal form": func(t *testing.T) {
		d := meet(t, args{"column": "description"}, "A", "李", "Ștefan", "Éric")
		for text, want := range map[string]string{"@李": "@李", "@s\u0326TEFAN": "@Ștefan", "@e\u0301RIC": "@Éric"} {
			d.sent("A", text, want)
		}
	},
	"09 one point per member and message": func(t *testing.T) {
		d := meet(t, nil, "A", "B", "C")
		d.sent("A", "@B @B @B and @C", "@B", "@C")
		d.floor("A", "@B", "@C")
	},
	"10 a message for nobody": func(t *testing.T) {
		d := meet(t, nil, "A", "B", "C")
		before := d.list("A")
		file := d.file()
		for _, text := range []string{"hello", "@dave", "@A", "@A and @dave"} {
			if r := d.refuse("A", "invalid", text); !has(r.Hint, "@B", "@C", "@all") || !has(string(r.Detail), "no_recipient") {
				t.Errorf("%+v", r)
			}
		}
		if after := d.list("A"); after.Count != before.Count || d.file() != file {
			t.Errorf("%+v, then %+v", before, after)
		}
		d.floor("A", "@A")
	},
	"11 @all": func(t *testing.T) {
		d := meet(t, nil, "A", "B", "C", "D")
		d.sent("A", "@all", "@B", "@C", "@D")
		d.floor("A", "@B", "@C", "@D")
	},
	"12 no whisper to all": func(t *testing.T) {
		d := meet(t, nil, "A", "B", "C")
		before := d.list("A").Count
		for _, p := range []args{{"private": []string{"B"}}, {"private": true}, {"is_private": true}} {
			d.refuse("A", "invalid", "@B @ALL", p)
		}
		for _, list := range [][]string{{"@all"}, {"B", "@ALL"}} {
			d.refuse("A", "invalid", "x", args{"private": list})
			deny(d.of("A"), "invalid", "whisper_message", args{"sender": "A", "target": list, "content": "x"})
		}
		if d.list("A").Count != before {
			t.Error("something was stored")
		}
	},
	"13 @all beside a name": func(t *testing.T) {
		d := meet(t, nil, "A", "B", "C", "D")
		out := d.sent("A", "@all but @C first", "@C", "@B", "@D")
		if out.SystemNotice == nil || !has(*out.SystemNotice, "@C", "first") {
			t.Errorf("%+v", out)
		}
		d = meet(t, args{"column": "code"}, "A", "B", "C", "D")
		out = d.sent("A", "@all but @C first", "@C")
		if out.SystemNotice == nil || !has(*out.SystemNotice, "@all", "@C") {
			t.Errorf("%+v", out)
		}
	},
	"14 first in, first out": func(t *testing.T) {
		d := meet(t, nil, "A", "B", "C")
		d.sent("A", "@B @C", "@B", "@C")
		d.floor("A", "@B", "@C")
		d.sent("B", "@A", "@A")
		d.floor("A", "@C", "@A")
		d.sent("C", "@B", "@B")
		d.floor("A", "@A", "@B")
	},
	"15 in the order of mention": func(t *testing.T) {
		for _, column := range []string{"", "code"} {
			d := meet(t, args{"column": column}, "A", "B", "C")
			d.sent("A", "@C and @B", "@C", "@B")
			d.floor("A", "@C", "@B")
		}
	},
	"16 nobody starves": func(t *testing.T) {
		for _, column := range []string{"", "code"} {
			d := meet(t, args{"column": column}, "A", "B", "C", "D")
			d.sent("A", "@B @C @D", "@B", "@C", "@D")
			others := map[string]string{"@A": "@B @C", "@B": "@A @C", "@C": "@A @B"}
			for turns := 0; ; turns++ {
				holder := *d.list("A").ActiveTurn
				if holder == "@D" {
					break
				}
				if turns > 8 {
					t.Fatalf("%q: D has not spoken after %d turns", column, turns)
				}
				d.say(holder[1:], others[holder])
			}
		}
	},
	"17 out of turn": func(t *testing.T) {
		for _, column := range []string{"", "code"} {
			d := meet(t, args{"column": column}, "A", "B", "C")
			before := d.list("A").Count
			out := d.say("B", "@A")
			if out.Status != "not_your_turn" || *out.ActiveTurn != "@A" || len(out.ActiveParticipants) != 3 || out.Error == nil || !has(*out.Error, "@A has the floor") || *out.SystemNotice != *out.Error || out.Sent != nil {
				t.Errorf("%+v", out)
			}
			deny(d.of("Z"), "not_found", "send_message", args{"sender": "Z", "content": "@A"})
			if l := d.list("A"); l.Count != before || len(l.Participants) != 3 {
				t.Errorf("%+v", l)
			}
			d.sent("A", "@B @C", "@B", "@C")
			if out := d.say("C", "@A"); !has(*out.Error, "you are next", "wait_for_turn") || !slices.Equal(out.CurrentQueue, []string{"@C"}) {
				t.Errorf("%+v", out)
			}
			if out := do[turnResult](d.of("C"), "whisper_message", args{"sender": "C", "target": "@A", "content": "psst"}); out.Status != "not_your_turn" {
				t.Errorf("%+v", out)
			}
		}
	},
	"18 an open floor": func(t *testing.T) {
		d := meet(t, args{"column": "description"}, "A", "B", "C")
		d.sent("B", "@C", "@C")
		d.floor("A", "@A", "@C")
		d.sent("A", "@B", "@B")
		d.floor("A", "@C", "@B")
	},
	"19 a barrier of two": func(t *testing.T) {
		for _, tc := range []struct{ column, first string }{{"", "A"}, {"", "B"}, {"description", "A"}, {"description", "B"}} {
			first, d := tc.first, newDebate(t)
			d.open(args{"first_speaker": first, "column": tc.column}, "A", "B", "C")
			a := later(context.Background(), d.of("A"), "join_conversation", args{"handle": "A"})
			d.waiting("host", "A")
			if l := d.list("host"); !slices.Equal(l.Missing, []string{"@B", "@C"}) {
				t.Errorf("%+v", l)
			}
			if tc.column == "" {
				if out := d.say("A", "@B"); out.Status != "not_your_turn" || !has(*out.Error, "1 of @B, @C") {
					t.Errorf("%+v", out)
				}
			}
			b := do[turnResult](d.of("B"), "join_conversation", args{"handle": "B"})
			want := map[string]string{"A": "joined", "B": "joined", first: "your_turn"}
			out := d.got(a)
			if out.Status != want["A"] || b.Status != want["B"] || !slices.ContainsFunc(out.NewMessages, func(m oldMessage) bool { return m.Sender == system && has(m.Content, "@B joined") }) {
				t.Errorf("%+v: %+v, and B %+v", tc, out, b)
			}
		}
	},
}
