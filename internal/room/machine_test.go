package room

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/name"
)

// The people of the random schedules. eve is never invited.
var people = []string{"A", "B", "C", "D", "user", "eve"}

// machine runs random commands by random people at random moments against one
// room and checks after every one that no promise was broken. What it knows, it
// knows from the events.
type machine struct {
	r       Room
	now     time.Time
	log     []event.Event
	read    int // how much of it was checked for secrets
	seq     int64
	waiting map[name.Name]int // turns that went to others while one waited
	gone    map[name.Name]bool
	asked   bool                   // the person had the floor in vain, and has not come since
	secrets map[string][]name.Name // text of a whisper -> its parties
	said    int
	closed  bool
}

func (m *machine) do(t *rapid.T, c Command, gone ...Absence) error {
	before := jsonOf(t, &m.r)
	d, err := decide(&m.r, c, m.now, Evidence{Gone: gone})
	if jsonOf(t, &m.r) != before {
		t.Fatalf("%T changed its input", c)
	}
	if err != nil {
		code := fault.CodeOf(err)
		if !slices.Contains([]fault.Code{fault.Invalid, fault.NotFound, fault.Conflict, fault.Denied}, code) || fault.HintOf(err) == "" {
			t.Fatalf("%T: %s refusal without a way out: %v", c, code, err)
		}
		if d == nil {
			return err
		}
	}
	// The state that the rules saw is the one that the stored events give, also
	// when state and events have been through the store's JSON.
	var stored Room
	if err := json.Unmarshal([]byte(before), &stored); err != nil {
		t.Fatal(err)
	}
	for _, e := range d.events {
		was := stored.clone()
		stored.Apply(e, d.now)
		m.note(t, e, was, &stored)
	}
	if jsonOf(t, &stored) != jsonOf(t, d.r) {
		t.Fatalf("%T: decided on\n%s\nfolded to\n%s", c, jsonOf(t, d.r), jsonOf(t, &stored))
	}
	m.r = stored
	m.log = append(m.log, d.events...)
	m.told(t, c, err)
	again, failed := Decide(&m.r, Sweep{}, m.now, Evidence{})
	if failed != nil || len(again) > 0 && !c.speaks() {
		t.Fatalf("%T left something undone: %s %v", c, kinds(again), failed)
	}
	return err
}

// told checks that a refusal tells of the room as it is now.
func (m *machine) told(t *rapid.T, c Command, refusal error) {
	var f *fault.Error
	if !errors.As(refusal, &f) {
		return
	}
	is := NotYourTurn{Holder: m.r.Holder, Queue: Queue(&m.r), Present: Attending(&m.r), Until: m.r.Until}
	switch d := f.Detail.(type) {
	case NotYourTurn:
		if d.Status = ""; !reflect.DeepEqual(d, is) || d.Holder == "" {
			t.Fatalf("%T is told %+v, and there is %+v", c, d, is)
		}
	case NotStarted:
		absent, more := Missing(&m.r)
		if m.r.Started || d.More != more || !slices.Equal(d.Missing, absent) || !slices.Equal(d.Present, is.Present) || !d.Until.Equal(m.r.BarrierUntil) {
			t.Fatalf("%T is told %+v, and there is %+v", c, d, m.r)
		}
	case Nobody:
		for _, h := range d.Present {
			if w, ok := m.r.Member(h); !ok || !w.Expected() {
				t.Fatalf("%T is told that %s is there, and there is %+v", c, h, is)
			}
		}
	}
}

func jsonOf(t *rapid.T, v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// note keeps the ledger: numbers, presence, who waits how long.
func (m *machine) note(t *rapid.T, e event.Event, was, is *Room) {
	n, ok := EntryOf(e)
	if !ok || m.closed {
		t.Fatalf("%s (closed: %v)", e.Kind, m.closed)
	}
	if n.Seq > 0 {
		if m.seq++; n.Seq != m.seq {
			t.Fatalf("entry %d follows entry %d", n.Seq, m.seq-1)
		}
	} else if e.Kind != KindOpened && e.Kind != KindTurn {
		t.Fatalf("%s has no number", e.Kind)
	}
	switch e.Kind {
	case KindJoined, KindReturned:
		w, ok := was.Member(n.From)
		m.asked = m.asked && n.From != User
		if m.gone[n.From] = false; was.Holder == n.From && n.From != User && !(ok && w.Here()) {
			t.Fatalf("%s had the floor before it came", n.From)
		}
	case KindLeft, KindGone:
		m.gone[n.From] = true
	case KindClosed:
		m.closed = true
	case KindSaid, KindWhispered:
		m.noteMessage(t, e, n, was)
	case KindLost:
		var d Yield
		if err := e.Decode(&d); err != nil {
			t.Fatal(err)
		}
		old, _ := was.Member(d.Handle)
		if w, _ := is.Member(d.Handle); w.Points != old.Points {
			t.Fatalf("%s lost the floor (%s) and had %d points, now %d", d.Handle, d.Why, old.Points, w.Points)
		}
		if d.Why == lostAway && (d.Handle != User || old.Here() || was.led()) {
			t.Fatalf("%s lost the floor as one who is not there: %+v", d.Handle, old)
		}
		m.asked = m.asked || d.Why == lostAway
	case KindTurn:
		var d Turn
		if err := e.Decode(&d); err != nil {
			t.Fatal(err)
		}
		if d.Holder == was.Holder && d.Holder == User {
			if w, _ := is.Member(User); w.Here() || !is.Since.Equal(was.Since) || is.Until.IsZero() == was.Until.IsZero() {
				t.Fatalf("the turn of the person goes on (%s) since %s until %s", d.Why, is.Since, is.Until)
			}
			break
		}
		if was.Holder != "" {
			t.Fatalf("the floor goes to %v while %s has it", n.To, was.Holder)
		}
		if d.Holder == User {
			if m.asked && d.Why != turnHand {
				t.Fatal("the person is asked again before he has come")
			}
			m.asked = false
		}
		for i := range was.Members {
			w := &was.Members[i]
			switch {
			case w.Handle == d.Holder || !w.waits() || w.Silent:
				m.waiting[w.Handle] = 0
			case d.Holder != "" && d.Why != turnHand:
				m.waiting[w.Handle]++
			}
			bound := len(was.Members)
			if was.Settings.Queue == Score {
				bound *= 2
			}
			if m.waiting[w.Handle] > bound {
				t.Fatalf("%s waits while %d turns went to others, of %d members", w.Handle, m.waiting[w.Handle], len(was.Members))
			}
		}
	}
	for i := range is.Members {
		if w := &is.Members[i]; !w.waits() || w.Silent || w.Handle == is.Holder {
			m.waiting[w.Handle] = 0
		}
	}
}

// check is what holds after every command.
func (m *machine) check(t *rapid.T) {
	r := &m.r
	if r.Seq != m.seq {
		t.Fatalf("the room counts %d entries, there were %d", r.Seq, m.seq)
	}
	if r.Holder != "" {
		w, ok := r.Member(r.Holder)
		if !ok || !w.Expected() || m.gone[r.Holder] || r.Status != Open || !r.Started {
			t.Fatalf("%s has the floor: %+v", r.Holder, w)
		}
		// Only the person's turn has no limit: where he is there, or somebody who is
		// can hand it on.
		if free := w.Human && (w.Here() || m.led()); r.Until.IsZero() != free {
			t.Fatalf("the turn of %s ends at %s", r.Holder, r.Until)
		}
		m.goesOn(t)
	} else if r.Started && r.Status == Open && len(Attending(r)) > 0 {
		for _, w := range r.queue() {
			if !w.Silent {
				t.Fatalf("nobody has the floor, and %s waits", w.Handle)
			}
		}
		if !r.Free {
			t.Fatal("nobody has the floor, and nobody was told")
		}
	}
	places := map[int64]name.Name{}
	for i := range r.Members {
		w := &r.Members[i]
		if w.Points < 0 || (w.Points > 0) != (w.Place > 0) || w.Place > 0 && places[w.Place] != "" {
			t.Fatalf("the queue is broken at %+v, %s", w, places[w.Place])
		}
		places[w.Place] = w.Handle
		for _, v := range r.Members[:i] {
			if v.Handle.Key() == w.Handle.Key() || v.Agent != "" && v.Agent == w.Agent && v.Seat == w.Seat && v.Session == w.Session {
				t.Fatalf("%s and %s are one", v.Handle, w.Handle)
			}
		}
	}
	if _, ok := r.Member("eve"); ok && r.Settings.Admission == Listed {
		t.Fatal("eve got in, though nobody invited her")
	}
	if at, ok := Deadline(r); ok && !m.now.Before(at) && at.After(r.Last) {
		t.Fatalf("%s was due at %s", at, m.now)
	}
	// Whoever reads: the secrets seen are those one is party to.
	for _, p := range people {
		v := Viewer{Handle: name.Name(p), Human: p == "user"}
		for _, e := range m.log[m.read:] {
			if !Visible(e, v) {
				continue
			}
			for secret, parties := range m.secrets {
				if strings.Contains(string(e.Data), secret) && !v.Human && !slices.Contains(parties, v.Handle) {
					t.Fatalf("%s sees what %v whispered", p, parties)
				}
			}
		}
	}
	m.read = len(m.log)
	// Anybody who reads the journal from the start arrives at the same room.
	if len(m.log)%16 != 0 {
		return
	}
	var anew Room
	for _, e := range m.log {
		anew.Apply(e, m.r.Last)
	}
	if a, b := fmt.Sprint(anew.Holder, Queue(&anew), anew.Seq, anew.Place, anew.Started, anew.Free), fmt.Sprint(r.Holder, Queue(r), r.Seq, r.Place, r.Started, r.Free); a != b {
		t.Fatalf("folded anew: %s, not %s", a, b)
	}
}

// TestNoScheduleBreaksARoom lets everybody do everything at any time.
func TestNoScheduleBreaksARoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{now: noon, waiting: map[name.Name]int{}, gone: map[name.Name]bool{}, secrets: map[string][]name.Name{}}
		pick := func(label string) string { return rapid.SampledFrom(people).Draw(t, label) }
		s := Settings{
			Floor: rapid.SampledFrom([]Floor{Strict, Strict, OpenTalk}).Draw(t, "floor"),
			Queue: rapid.SampledFrom([]Order{FIFO, Score}).Draw(t, "queue"),
			Empty: rapid.SampledFrom([]Empty{ToModerator, ToAnyone}).Draw(t, "empty"),
			All:   rapid.SampledFrom([]AllRule{NamesFirst, NamesOnly}).Draw(t, "all"),
			Barrier: Barrier{
				Gate:  rapid.SampledFrom([]Gate{GateCount, GateCount, GateDeclared, GateWord}).Draw(t, "gate"),
				Limit: rapid.SampledFrom([]time.Duration{-1, time.Minute, 0}).Draw(t, "barrier limit"),
			},
			RelayUser: true,
		}
		open := OpenRoom{By: agent("A"), Room: "R", Name: "plan", Settings: s}
		if rapid.IntRange(0, 2).Draw(t, "led") == 0 {
			open.By = Caller{Agent: "id-host", Name: "host"} // who is never there
		}
		for _, h := range people[:rapid.IntRange(0, 5).Draw(t, "members")] {
			open.Members = append(open.Members, Invitee{Handle: name.Name(h), Roles: []string{"crew"}})
		}
		if len(open.Members) > 0 && open.By.As == "A" {
			open.Moderator = "A"
		}
		if err := m.do(t, open); err != nil {
			t.Fatal(err)
		}
		// Whom a text is for, drawn so that most messages are taken.
		text := func(t *rapid.T) string {
			m.said++
			words := []string{fmt.Sprintf("<%d>", m.said)}
			for range rapid.IntRange(0, 3).Draw(t, "mentions") {
				words = append(words, "@"+rapid.SampledFrom([]string{"A", "B", "C", "D", "A", "B", "C", "D", "user", "all", "crew", "dave"}).Draw(t, "mention"))
			}
			return strings.Join(words, " ")
		}
		speaker := func(t *rapid.T) Caller {
			if m.r.Holder != "" && rapid.IntRange(0, 3).Draw(t, "in turn") > 0 {
				return agent(string(m.r.Holder))
			}
			return agent(pick("speaker"))
		}
		t.Repeat(map[string]func(*rapid.T){
			"": m.check,
			"join": func(t *rapid.T) {
				who := pick("who")
				if err := m.do(t, Join{By: agent(who)}); err == nil && m.gone[name.Name(who)] {
					t.Fatalf("%s joined and is gone", who)
				}
			},
			"join too": func(t *rapid.T) { m.do(t, Join{By: agent(pick("who"))}) },
			"leave":    func(t *rapid.T) { m.do(t, Leave{By: agent(pick("who"))}) },
			"say":      func(t *rapid.T) { m.do(t, Say{By: speaker(t), Text: text(t)}) },
			"answer":   func(t *rapid.T) { m.do(t, Say{By: speaker(t), Text: text(t)}) },
			"relay":    func(t *rapid.T) { m.do(t, Say{By: agent("A"), Text: text(t), Relay: true}) },
			"whisper": func(t *rapid.T) {
				m.said++
				m.do(t, Whisper{By: speaker(t), To: []string{pick("to"), pick("and to")}, Text: fmt.Sprintf("<secret %d>", m.said)})
			},
			"pass": func(t *rapid.T) { m.do(t, Pass{By: speaker(t)}) },
			"skip": func(t *rapid.T) {
				by := pick("by")
				err := m.do(t, Skip{By: agent(by), To: rapid.SampledFrom([]string{"", "", "A", "B", "user"}).Draw(t, "to")})
				if by != "A" && by != "user" && err == nil {
					t.Fatalf("%s skipped", by)
				}
			},
			"start": func(t *rapid.T) { m.do(t, Start{By: agent("user")}) },
			"invite": func(t *rapid.T) {
				m.do(t, Invite{By: agent(pick("by")), Invitee: Invitee{Handle: name.Name(rapid.SampledFrom(people[:5]).Draw(t, "whom"))}})
			},
			"die": func(t *rapid.T) {
				who := name.Name(pick("who"))
				if err := m.do(t, Sweep{}, Absence{who, "its process ended"}); err != nil {
					t.Fatal(err)
				}
				if w, ok := m.r.Member(who); ok && !w.Human && (w.Here() && !m.closed || m.r.Holder == who) {
					t.Fatalf("%s is dead: %+v has the floor: %s", who, w, m.r.Holder)
				}
			},
			"die while others act": func(t *rapid.T) {
				m.do(t, Say{By: speaker(t), Text: text(t)}, Absence{name.Name(pick("who")), "its process ended"})
			},
			"propose": func(t *rapid.T) { m.do(t, Propose{By: speaker(t), Text: "<motion>", Time: time.Minute}) },
			"vote": func(t *rapid.T) {
				m.do(t, Vote{By: agent(pick("by")), Number: rapid.IntRange(0, 3).Draw(t, "number"), Choice: rapid.SampledFrom([]Choice{Yes, No, Abstain, "maybe"}).Draw(t, "choice")})
			},
			"close": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "really") == 0 {
					by := pick("by")
					if err := m.do(t, Close{By: agent(by)}); err == nil && by != "A" && by != "user" && !m.closed {
						t.Fatalf("%s closed it", by)
					}
				}
			},
			"sweep": func(t *rapid.T) { m.sweep(t) },
			"time passes": func(t *rapid.T) {
				m.now = m.now.Add(time.Duration(rapid.IntRange(-60, 300).Draw(t, "seconds")) * time.Second)
				m.sweep(t)
			},
			"time goes on": func(t *rapid.T) { m.now = m.now.Add(10 * time.Minute); m.sweep(t) },
		})
	})
}

func (m *machine) sweep(t *rapid.T) {
	if err := m.do(t, Sweep{}); err != nil {
		t.Fatal(err)
	}
}
