package room

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/name"
)

// TestChecks are those of the acceptance checks of the older system's users
// that rules decide. Their numbers are the names.
func TestChecks(t *testing.T) {
	for number, check := range map[string]func(*testing.T){
		"01 handles are normalised": func(t *testing.T) {
			for in, want := range map[string]name.Name{"Alice": "Alice", " @Bob ": "Bob", "@Bob": "Bob", "＠Bob": "Bob", "@user": User, "User": User, "@李": "李", "E\u0301ric": "Éric"} {
				if h, err := Handle(in); err != nil || h != want {
					t.Errorf("%q is %q, %v", in, h, err)
				}
			}
			if At("Alice") != "@Alice" {
				t.Error(At("Alice"))
			}
		},
		"02 what is no handle registers nobody": func(t *testing.T) {
			bad := []string{"", "@", "@all", "@ALL", "@system", "@everyone", "a b", "a|b", "a\nb", "@@Bob", "-a", strings.Repeat("x", 10000), "*", "a\x00"}
			for _, in := range bad {
				m := setup(t, Settings{})
				if _, err := Handle(in); !fault.Is(err, fault.Invalid) {
					t.Errorf("%.20q is taken: %v", in, err)
				}
				if in != "" {
					m.refuse(Join{By: Caller{Agent: "id", As: in}}, fault.Invalid)
				}
				m.refuse(Invite{By: Caller{Human: true}, Invitee: Invitee{Handle: name.Name(in)}}, fault.Invalid)
				m.refuse(Invite{By: Caller{Human: true}, Invitee: Invitee{Handle: "ok", Aliases: []string{in}}}, fault.Invalid)
				if len(m.r.Members) != 0 {
					t.Errorf("%.20q: %v", in, m.r.Members)
				}
			}
		},
		"03 case and punctuation": func(t *testing.T) {
			meet(t, Settings{}, "A", "Bob").say("A", "ask @bob.").to("Bob")
		},
		"04 code does not address": func(t *testing.T) {
			meet(t, Settings{}, "A", "B", "C").say("A", "```\n@C\n```\n`@C` @B").to("B")
		},
		"05 fences of any length": func(t *testing.T) {
			for _, text := range []string{"~~~\n@C\n~~~\n@B", "``@C ` @C`` @B", "````\n```\n@C\n```\n@C\n````\n@B", "@B\n```\n@C"} {
				meet(t, Settings{}, "A", "B", "C").say("A", text).to("B")
			}
		},
		"06 mail addresses, links, escapes": func(t *testing.T) {
			for _, text := range []string{"x@B.com", "https://h/@B", "git@B", `\@B`} {
				m := meet(t, Settings{}, "A", "B", "C")
				m.refuse(Say{By: agent("A"), Text: text}, fault.Invalid)
				m.say("A", text+" @C").to("C")
			}
		},
		"07 punctuation around": func(t *testing.T) {
			for _, text := range []string{"_@B_", "@B-", "@B’s", "@B:"} {
				meet(t, Settings{}, "A", "B").say("A", text).to("B")
			}
		},
		"08 every script and normal form": func(t *testing.T) {
			for h, text := range map[name.Name]string{"李": "@李", "Ștefan": "@s\u0326TEFAN", "Éric": "@e\u0301RIC", "Иван": "@ИВАН"} {
				meet(t, Settings{}, "A", string(h)).say("A", text).to(h)
			}
		},
		"09 one point per member and message": func(t *testing.T) {
			for _, q := range []Order{FIFO, Score} {
				meet(t, Settings{Queue: q}, "A", "B", "C").say("A", "@B @B @B and @C").to("B", "C").points("B", 1).points("C", 1).floor("B [C]")
			}
		},
		"10 a message for nobody": func(t *testing.T) {
			m := meet(t, Settings{}, "A", "B", "C")
			for _, text := range []string{"hello", "@dave", "@A", "@A and @dave"} {
				err := m.refuse(Say{By: agent("A"), Text: text}, fault.Invalid, "@B", "@C", "@all")
				if n := detail[Nobody](t, err); !slices.Equal(n.Others, []name.Name{"B", "C"}) || n.Status != "no_recipient" {
					t.Errorf("%+v", n)
				}
			}
			m.floor("A []")
		},
		"11 @all": func(t *testing.T) {
			m := meet(t, Settings{}, "A", "B", "C", "D").say("A", "@all").to("B", "C", "D").floor("B [C D]")
			m.points("A", 0).points("B", 1).points("C", 1).points("D", 1)
			if d := m.message(); d.Named != 0 || d.All != "" {
				t.Errorf("%+v", d)
			}
		},
		"12 no whisper to all": func(t *testing.T) {
			m := meet(t, Settings{}, "A", "B", "C")
			for _, w := range []Whisper{
				{To: []string{"B"}, Text: "@ALL"}, {To: []string{"@All"}, Text: "x"}, {To: []string{"B", "everyone"}, Text: "x"}, {FromText: true, Text: "@B @all"},
			} {
				w.By = agent("A")
				m.refuse(w, fault.Invalid, "everybody")
			}
		},
		"13 @all beside a name": func(t *testing.T) {
			m := meet(t, Settings{}, "A", "B", "C", "D").say("A", "@all but @C first").to("C", "B", "D").floor("C [B D]")
			if d := m.message(); d.All != NamesFirst || d.Named != 1 {
				t.Errorf("%+v", d)
			}
			m = meet(t, Settings{Column: ColumnCode}, "A", "B", "C", "D").say("A", "@all but @C first").to("C").floor("C []")
			if d := m.message(); d.All != NamesOnly {
				t.Errorf("%+v", d)
			}
		},
		"14 first in, first out": func(t *testing.T) {
			meet(t, Settings{}, "A", "B", "C").say("A", "@B @C").floor("B [C]").say("B", "@A").floor("C [A]").say("C", "@B").floor("A [B]")
		},
		"15 in the order of mention": func(t *testing.T) {
			for _, q := range []Order{FIFO, Score} {
				meet(t, Settings{Queue: q}, "A", "B", "C").say("A", "@C and @B").floor("C [B]")
			}
		},
		"16 nobody starves": func(t *testing.T) {
			for _, q := range []Order{FIFO, Score} {
				m := meet(t, Settings{Queue: q}, "A", "B", "C", "D").say("A", "@B @C @D")
				others := map[name.Name]string{"A": "@B @C", "B": "@A @C", "C": "@A @B"}
				turns := 0
				for ; m.r.Holder != "D"; turns++ {
					if turns > 8 {
						t.Fatalf("%s: D has not spoken after %d turns", q, turns)
					}
					m.say(string(m.r.Holder), others[m.r.Holder])
				}
				if q == Score && turns < 4 {
					t.Errorf("D came after %d turns: the score counted for nothing", turns)
				}
			}
		},
		"17 out of turn": func(t *testing.T) {
			for _, s := range []Settings{{}, {Column: ColumnCode}} {
				m := meet(t, s, "A", "B", "C")
				n := detail[NotYourTurn](t, m.refuse(Say{By: agent("B"), Text: "@A"}, fault.Conflict, "@A has the floor", "@B"))
				if n.Status != "not_your_turn" || n.Holder != "A" || !slices.Equal(n.Present, []name.Name{"A", "B", "C"}) {
					t.Errorf("%+v", n)
				}
				m.refuse(Say{By: agent("Z"), Text: "@A"}, fault.NotFound)
				m.say("A", "@B @C").refuse(Say{By: agent("C"), Text: "@A"}, fault.Conflict, "next")
				m.refuse(Whisper{By: agent("C"), To: []string{"A"}, Text: "x"}, fault.Conflict, "has the floor")
			}
		},
		"18 an open floor": func(t *testing.T) {
			m := meet(t, Settings{Floor: OpenTalk}, "A", "B", "C").say("B", "@C").floor("A [C]").say("A", "@B").floor("C [B]")
			// Who was asked and answers out of turn has had its turn.
			m.say("B", "@A").floor("C [A]").points("B", 0)
		},
		"19 a barrier of two": func(t *testing.T) {
			m := setup(t, Settings{}, "A", "B", "C").join("A").happened("joined")
			if absent, more := Missing(&m.r); more != 1 || !slices.Equal(absent, []name.Name{"B", "C"}) || m.r.Holder != "" {
				t.Errorf("%v %d", absent, more)
			}
			n := detail[NotStarted](t, m.refuse(Say{By: agent("A"), Text: "@B"}, fault.Conflict, "has not begun", "1 of @B, @C"))
			if n.More != 1 {
				t.Errorf("%+v", n)
			}
			m.join("B").happened("joined started turn").floor("A []")
			if !Addressed(m.last[2], "A") || Addressed(m.last[2], "B") {
				t.Error("the turn is A's")
			}
		},
		"20 all declared": func(t *testing.T) {
			m := setup(t, Settings{Column: ColumnCode}, "A", "B", "C").join("A", "B")
			if m.r.Started {
				t.Fatal("C is missing")
			}
			m.join("C").floor("A []")
			var notices int
			for _, e := range m.log {
				if n, _ := EntryOf(e); n.Seq > 0 && n.From != "A" {
					notices++
				}
			}
			if notices != 3 || !YourTurn(&m.r, "a") {
				t.Errorf("%d notices for A", notices)
			}
		},
		"21 a barrier that is not complete": func(t *testing.T) {
			for _, end := range []string{"limit", "word", "count"} {
				s := Settings{Barrier: Barrier{Gate: GateDeclared, Limit: time.Minute}}
				if end == "count" {
					s.Barrier = Barrier{Gate: GateCount, N: 2}
				}
				m := setup(t, s, "A", "user", "B", "C").join("A")
				if absent, _ := Missing(&m.r); !slices.Equal(absent, []name.Name{"B", "C"}) {
					t.Errorf("missing are %v: the human is never waited for", absent)
				}
				switch m.after(30 * time.Second); end {
				case "limit":
					if at, ok := Deadline(&m.r); !ok || !at.Equal(noon.Add(time.Minute)) {
						t.Errorf("nobody is told to look at %s", at)
					}
					m.join("B").after(30 * time.Second).do(Sweep{}).happened("started turn")
				case "word":
					m.refuse(Start{By: agent("A")}, fault.Denied, "human")
					m.do(Start{By: Caller{Agent: "id-host"}}).happened("started turn")
				case "count":
					m.join("B").happened("joined started turn")
				}
				m.floor("A []")
			}
		},
		"22 joining twice": func(t *testing.T) {
			m := meet(t, Settings{}, "A", "B")
			seq := m.r.Seq
			if m.join("A").happened(""); m.r.Seq != seq {
				t.Error("a second notice")
			}
			m.do(Sweep{}, Absence{"A", "process 7 ended"}).happened("gone lost turn").join("A").happened("returned")
			a, _ := m.r.Member("A")
			if !a.Joined.Equal(noon) || a.Returned.IsZero() {
				t.Errorf("%+v", a)
			}
		},
		"25 who is woken by a public message": func(t *testing.T) {
			m := meet(t, Settings{}, "A", "B", "C").say("A", "@B")
			n, _ := EntryOf(m.last[0])
			for _, tc := range []struct {
				who     name.Name
				wake    Wake
				want    bool
				visible bool
			}{{"B", WakeAddressed, true, true}, {"C", WakeAddressed, false, true}, {"C", WakeAll, true, true}, {"A", WakeAll, false, true}} {
				if n.Wakes(tc.who, tc.wake) != tc.want || n.Visible(Viewer{Handle: tc.who}) != tc.visible {
					t.Errorf("%+v", tc)
				}
			}
		},
		"26 a whisper is for its parties": func(t *testing.T) {
			m := meet(t, Settings{}, "A", "B", "C").do(Whisper{By: agent("A"), ID: "W", To: []string{"@b"}, Text: "psst"}).floor("B []")
			w := m.last[0]
			for v, want := range map[Viewer]bool{{Handle: "A"}: true, {Handle: "b"}: true, {Handle: "C"}: false, {}: false, {Human: true}: true} {
				if Visible(w, v) != want {
					t.Errorf("%+v", v)
				}
			}
			n, _ := EntryOf(w)
			if n.Wakes("C", WakeAll) || !n.Wakes("B", WakeAddressed) || m.message().Seq != m.r.Seq {
				t.Errorf("%+v", n)
			}
		},
		"27 a whisper with a third party": func(t *testing.T) {
			m := meet(t, Settings{}, "A", "B", "C")
			m.refuse(Whisper{By: agent("A"), To: []string{"B"}, Text: "tell @C"}, fault.Invalid, "@C")
			m.refuse(Whisper{By: agent("A"), To: []string{"B"}, Text: "tell @user"}, fault.Invalid, "@user")
			m.refuse(Whisper{By: agent("A"), To: []string{"Typo"}, Text: "x"}, fault.NotFound, "Typo")
			m.refuse(Whisper{By: agent("A"), FromText: true, Text: "@Typo @B"}, fault.NotFound, "Typo")
			m.points("B", 0).points("C", 0).floor("A []")
			m.do(Whisper{By: agent("A"), To: []string{"B"}, Text: "@A to @B: b@C.com"}).to("B")
		},
		"28 a whisper to nobody is refused, never public": func(t *testing.T) {
			m := meet(t, Settings{}, "A", "B")
			for _, w := range []Whisper{{}, {To: []string{}}, {To: []string{" ", "@"}}, {To: []string{"A"}}, {FromText: true}} {
				w.By, w.Text = agent("A"), "the secret"
				m.refuse(w, fault.Invalid, "nobody")
			}
			m.refuse(Whisper{By: agent("A"), Text: "the secret for @B"}, fault.Invalid, "nobody")
			m.do(Whisper{By: agent("A"), FromText: true, Text: "for @B"}).to("B")
		},
		"32 a client message id": func(t *testing.T) {
			m := meet(t, Settings{}, "A", "B")
			c := Say{By: agent("A"), ID: "M", Text: "@B", Client: "c1"}
			stored := m.do(c).message()
			if SameRequest(stored, c.Print()) != nil {
				t.Error("the same request is a conflict")
			}
			c.Text = "@B!"
			if err := SameRequest(stored, c.Print()); !fault.Is(err, fault.Conflict) || fault.HintOf(err) == "" {
				t.Error(err)
			}
			if SameRequest(stored, Whisper{To: []string{"B"}, Text: "@B"}.Print()) == nil {
				t.Error("a whisper passes for what was public")
			}
			a, b := agent("A"), agent("B")
			again := RecordID(&Room{ID: "R"}, a, "c1", nil)
			if RecordID(&Room{ID: "R"}, a, "c1", nil) != again || RecordID(&Room{ID: "R"}, a, "c1", nil) == RecordID(&Room{ID: "R"}, b, "c1", nil) || RecordID(&Room{ID: "R"}, a, "c1", nil) == RecordID(&Room{ID: "S"}, a, "c1", nil) {
				t.Error("record ids")
			}
			if (Whisper{To: []string{"@b", "C"}, Text: "x"}).Print() != (Whisper{To: []string{"c", "B"}, Text: "x"}).Print() {
				t.Error("the order of recipients makes another request")
			}
		},
		"33 short answers": func(t *testing.T) {
			m := meet(t, Settings{}, "A", "B").say("A", "@B ok").say("B", "@A ok").say("A", "@B ok")
			if m.r.Posts != 3 {
				t.Errorf("%d messages", m.r.Posts)
			}
		},
		"34 the holder dies, leaves or is too slow": func(t *testing.T) {
			for _, q := range []Order{FIFO, Score} {
				for how, end := range map[string]func(m *meeting){
					"gone":  func(m *meeting) { m.do(Sweep{}, Absence{"B", "process 7 ended"}).happened("gone lost turn") },
					"left":  func(m *meeting) { m.do(Leave{By: agent("B")}).happened("left lost turn") },
					"limit": func(m *meeting) { m.after(10 * time.Minute).do(Sweep{}).happened("lost turn") },
				} {
					t.Run(fmt.Sprint(q, how), func(t *testing.T) {
						m := meet(t, Settings{Queue: q}, "A", "B", "C").say("A", "@B @C")
						m.t = t
						end(m)
						m.points("B", 1)
						if how != "limit" {
							m.floor("C []").join("B")
						}
						m.floor("C [B]").say("C", "@A").floor("B [A]")
					})
				}
			}
			m := meet(t, Settings{}, "A", "B", "C").say("A", "@B @C").do(Skip{By: agent("user")}).happened("skipped turn").floor("C []").points("B", 0)
			m.do(Pass{By: agent("C")}).happened("passed turn").floor(" []")
		},
		"39 two rooms": func(t *testing.T) {
			a, b := meet(t, Settings{}, "A", "B"), meet(t, Settings{}, "A", "B")
			a.say("A", "@B")
			b.floor("A []")
		},
		"43 nobody speaks for another": func(t *testing.T) {
			m := meet(t, Settings{}, "A", "B")
			forged := Caller{Agent: "id-B", As: "A"}
			m.refuse(Say{By: forged, Text: "@B"}, fault.Denied, "@B")
			m.refuse(Say{By: Caller{Agent: "id-X", As: "A"}, Text: "@B"}, fault.Denied)
			m.refuse(Say{By: Caller{Agent: "id-A", Seat: "sub", As: "A"}, Text: "@B"}, fault.Denied)
			m.refuse(Say{By: Caller{As: "A"}, Text: "@B"}, fault.Denied)
			m.refuse(Say{By: Caller{Human: true, As: "A"}, Text: "@B"}, fault.Denied)
			m.refuse(Pass{By: forged}, fault.Denied)
			m.refuse(Leave{By: forged}, fault.Denied)
			m.refuse(Join{By: Caller{Agent: "id-X", As: "a"}}, fault.Denied, "another agent")
			m.refuse(Join{By: Caller{Agent: "id-X", As: "user"}}, fault.Denied, "human")
		},
		"46 a message has a limit": func(t *testing.T) {
			m := meet(t, Settings{}, "A", "B")
			m.refuse(Say{By: agent("A"), Text: "@B" + strings.Repeat("x", MaxBody)}, fault.Invalid, "1048578", "1048576")
			m.say("A", "@B "+strings.Repeat("x", MaxBody-3))
			if size := len(m.json()); size > 4000 {
				t.Errorf("the state has %d bytes: it holds what was said", size)
			}
		},
	} {
		t.Run(number, check)
	}
}

// detail gives the detail of a refusal.
func detail[T any](t *testing.T, err error) T {
	t.Helper()
	var f *fault.Error
	if errors.As(err, &f) {
		if d, ok := f.Detail.(T); ok {
			return d
		}
	}
	t.Fatalf("%v has no %T", err, *new(T))
	return *new(T)
}

// TestMentionsHitTheOneMeant is case J4: with each punctuation behind it, a
// name is itself and nobody with a shorter one.
func TestMentionsHitTheOneMeant(t *testing.T) {
	all := []string{"build", "build-bot", "build.v2", "build_2", "Builder", "björn", "王", "a1"}
	for _, h := range all {
		for _, tail := range []string{"", " ", ".", ",", ":", ";", "!", "?", ")", "'s", "/", "**", "`", "。"} {
			m := meet(t, Settings{}, append([]string{"host"}, all...)...)
			m.say("host", "@"+h+tail).to(name.Name(h))
			for _, e := range m.last {
				for _, other := range all {
					if other != h && Addressed(e, name.Name(other)) {
						t.Errorf("@%s%s addresses %s", h, tail, other)
					}
				}
			}
		}
	}
}

func TestEventsOfOthersAreNoEntries(t *testing.T) {
	for _, e := range []event.Event{event.New("mail.sent", 1), event.New(KindSaid, 1), {Kind: KindWhispered}} {
		if Visible(e, Viewer{Human: true}) || Addressed(e, "A") {
			t.Errorf("%s is shown", e.Kind)
		}
	}
}
