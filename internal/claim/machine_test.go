package claim

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"bureau/internal/event"
	"bureau/internal/fault"
)

// start is when the random schedules begin.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// soul is what a bystander knows of a holder, without the rules.
type soul struct {
	id     event.ID
	works  event.ID // the agent whose subagent it is
	talk   []string // conversations, its own first
	life   Verdict
	seen   time.Time     // by the wall clock
	seenAt time.Duration // by the clock that stands still in sleep
}

func (s *soul) by() By { return By{Agent: s.id, For: s.works, Conversations: s.talk} }

// world runs random commands by random holders at random moments against one
// project's claims, and checks after every one that no promise was broken.
type world struct {
	book   *Book
	souls  []*soul
	wall   time.Time // what the machine's clock says; it jumps
	awake  time.Duration
	seq    event.Seq
	next   int
	top    event.Seq // highest token given
	gone   map[event.ID]bool
	last   time.Time // of the last record
	taken  map[event.ID][]Want
	places map[event.ID]bool // places in the queue whose waiter is gone
}

func newWorld() *world {
	w := &world{book: NewBook(), wall: start, awake: time.Hour, gone: map[event.ID]bool{}, taken: map[event.ID][]Want{}, places: map[event.ID]bool{}, last: start}
	for _, s := range []struct {
		id, works event.ID
		talk      []string
		life      Verdict
	}{
		{"ana", "", []string{"c:A"}, Alive},
		{"ana.1", "ana", []string{"c:A/1", "c:A"}, Alive},
		{"ana.2", "ana", []string{"c:A/2", "c:A"}, Alive},
		{"bob", "", []string{"c:B"}, Alive},
		{"carla", "", nil, Unknown}, // no process: another host, or a plain terminal
		{"dan", "", []string{"c:D"}, Unknown},
	} {
		w.souls = append(w.souls, &soul{id: s.id, works: s.works, talk: s.talk, life: s.life, seen: w.wall, seenAt: w.awake})
	}
	return w
}

func (w *world) soul(id event.ID) *soul {
	return w.souls[slices.IndexFunc(w.souls, func(s *soul) bool { return s.id == id })]
}

func (w *world) id(what string) event.ID {
	w.next++
	return event.ID(fmt.Sprintf("%s%04d", what, w.next))
}

func (w *world) now() time.Time { return later(w.wall, w.last) }

// sign is the truth about a claim's holder.
func (w *world) sign(c *Claim) Sign {
	s := w.soul(c.Holder)
	if c.Conversation != "" && !slices.Contains(s.talk, c.Conversation) {
		return Sign{Process: Gone}
	}
	return Sign{At: s.seen, Process: s.life, Watched: w.awake - s.seenAt}
}

// do decides a command and folds what came of it.
func (w *world) do(t *rapid.T, s *soul, human bool, c Command, probes map[event.ID]Probe) (Decision, error) {
	by := s.by()
	by.Human = human
	before := w.book.Live()
	ev := Evidence{Sign: w.sign, Waiting: func(x *Wait) bool { return !w.places[x.ID] }, Probes: probes}
	now := w.now()
	d, err := Decide(w.book, by, c, now, ev)
	if err != nil && fault.CodeOf(err) == fault.Unavailable {
		t.Fatalf("%T: %v", c, err)
	}
	if len(d.Events) > 0 {
		w.seq++
		w.last = now
		w.check(t, s, c, d, before)
		for _, e := range d.Events {
			if known, err := Apply(w.book, e, now, w.seq); err != nil || !known {
				t.Fatalf("%s: known %v, %v", e.Kind, known, err)
			}
		}
	}
	w.apart(t)
	return d, err
}

// check looks at what was decided before it is folded.
func (w *world) check(t *rapid.T, s *soul, c Command, d Decision, before []Claim) {
	find := func(id event.ID) Claim {
		return before[slices.IndexFunc(before, func(c Claim) bool { return c.ID == id })]
	}
	for _, e := range d.Events {
		switch e.Kind {
		case KindGranted:
			var g GrantedClaim
			if err := e.Decode(&g); err != nil {
				t.Fatal(err)
			}
			if w.seq <= w.top {
				t.Fatalf("token %d after %d", w.seq, w.top)
			}
			w.inTurn(t, s, &g)
		case KindChanged:
			var x ChangedClaim
			if err := e.Decode(&x); err != nil {
				t.Fatal(err)
			}
			old := find(x.Claim)
			w.widened(t, &old, &x)
		case KindMoved:
			if w.seq <= w.top {
				t.Fatalf("token %d after %d", w.seq, w.top)
			}
		case KindEnded:
			var x EndedClaim
			if err := e.Decode(&x); err != nil {
				t.Fatal(err)
			}
			old := find(x.Claim)
			if x.How != Taken && x.How != Expired {
				continue
			}
			sign := w.sign(&old)
			quiet := w.now().Sub(later(old.Renewed, sign.At))
			switch {
			case sign.Process == Alive && quiet < old.TTL:
				t.Fatalf("%s lost a claim to %s (%s) while it was at it", old.Holder, s.id, x.How)
			case sign.Process == Unknown && old.Parked.IsZero() && sign.Watched < 2*Heartbeat:
				t.Fatalf("%s lost a claim to %s (%s) although nobody was awake to miss it", old.Holder, s.id, x.How)
			case sign.Process == Unknown && old.Parked.IsZero() && quiet < old.TTL:
				t.Fatalf("%s lost a claim to %s (%s) within its lease", old.Holder, s.id, x.How)
			case !old.Auto && (x.Probe == nil || x.Probe.Verdict == ProbeBusy):
				t.Fatalf("%s lost a claim to %s (%s) without a look: %+v", old.Holder, s.id, x.How, x.Probe)
			}
		}
	}
	if slices.ContainsFunc(d.Events, func(e event.Event) bool { return e.Kind == KindGranted || e.Kind == KindMoved }) {
		w.top = w.seq
	}
}

// inTurn checks that a grant overtakes nobody who waits for the same and is
// still there, unless the one who got it, or the one that it works for, stood
// in that one's way before it began to wait.
func (w *world) inTurn(t *rapid.T, s *soul, g *GrantedClaim) {
	place := event.Seq(1 << 60)
	waits, _ := w.book.Waits()
	for _, x := range waits {
		if x.ID == g.Wait {
			place = x.Seq
		}
	}
	if d := g.Want; d.Paths != nil && g.Since.IsZero() {
		t.Fatal("no time")
	}
	if _, took := w.taken[g.ID]; took {
		return // a takeover is no queue
	}
	for i := range waits {
		x := &waits[i]
		if x.Seq >= place || x.Agent == s.id || x.Agent == s.works || w.places[x.ID] || !w.now().Before(x.Until) {
			continue
		}
		if len(w.meets(&g.Want, &x.Want)) == 0 || w.stoodInTheWay(s, x, &g.Want) {
			continue
		}
		t.Fatalf("%s got %v at place %d before %s, who waits at %d", s.id, g.Want, place, x.Agent, x.Seq)
	}
}

func (w *world) meets(a, b *Want) []string {
	return Overlapping(a, b, w.book.rules.Worktrees == Warn)
}

func (w *world) stoodInTheWay(s *soul, x *Wait, want *Want) bool {
	for _, id := range []event.ID{s.id, s.works} {
		held, _ := w.book.Held(id)
		for i := range held {
			c := &held[i]
			if c.Conversation != "" && !slices.Contains(s.talk, c.Conversation) {
				continue
			}
			if c.Token < x.Seq && len(w.meets(&c.Want, &x.Want)) > 0 || id != s.id && covers(&c.Want, want) {
				return true
			}
		}
	}
	return false
}

// widened checks that nothing which was claimed of old is made to cover what
// somebody waits for.
func (w *world) widened(t *rapid.T, old *Claim, c *ChangedClaim) {
	waits, _ := w.book.Waits()
	holder := w.soul(old.Holder)
	above, _ := w.book.Held(holder.works)
	if slices.ContainsFunc(above, func(a Claim) bool { return covers(&a.Want, &c.Want) }) {
		return // a part of what the one that it works for holds
	}
	for i := range waits {
		x := &waits[i]
		if x.Agent == holder.id || x.Agent == holder.works || w.places[x.ID] || !w.now().Before(x.Until) {
			continue
		}
		for _, file := range someFiles {
			here := func(n *Want) bool { return n.Holds(file, c.Want.Tree) }
			if here(&c.Want) && !here(&old.Want) && here(&x.Want) && (c.Want.Mode == Exclusive || x.Want.Mode == Exclusive) {
				t.Fatalf("%s widened %v to %v, and %s waits for %v", holder.id, old.Want, c.Want, x.Agent, x.Want)
			}
		}
	}
}

// apart checks that no two claims that stand overlap, unless one holder works
// for the other or both are shared.
func (w *world) apart(t *rapid.T) {
	live := w.book.Live()
	for i := range live {
		for j := range live[:i] {
			a, b := &live[i], &live[j]
			if len(Overlapping(&a.Want, &b.Want, true)) == 0 {
				continue
			}
			sameHolder := a.Holder == b.Holder && (a.Conversation == b.Conversation || a.Conversation == "" || b.Conversation == "")
			if sameHolder || a.For == b.Holder || b.For == a.Holder {
				continue
			}
			if a.Holder == b.Holder && slices.Contains(w.soul(a.Holder).talk, a.Conversation) && slices.Contains(w.soul(b.Holder).talk, b.Conversation) {
				continue
			}
			t.Fatalf("%s (%s) and %s (%s) both hold %v and %v", a.Holder, a.Conversation, b.Holder, b.Conversation, a.Want, b.Want)
		}
	}
}

var (
	somePaths = []Pattern{"src", "src/a.go", "src/b.go", "**/*.go", "doc", "doc/*.md", Root}
	someFiles = []string{"src/a.go", "src/b.go", "doc/x.md", "doc/y.txt", "top.go"}
	someNames = []Resource{"gpu:0", "port:8080"}
)

func drawWant(t *rapid.T) Want {
	w := Want{Mode: rapid.SampledFrom([]Mode{Exclusive, Exclusive, Shared}).Draw(t, "mode"), Tree: rapid.SampledFrom([]string{"/p", "/p", "/w"}).Draw(t, "tree")}
	w.Paths = rapid.SliceOfNDistinct(rapid.SampledFrom(somePaths), 0, 2, rapid.ID[Pattern]).Draw(t, "paths")
	w.Resources = rapid.SliceOfNDistinct(rapid.SampledFrom(someNames), 0, 1, rapid.ID[Resource]).Draw(t, "things")
	if len(w.Paths)+len(w.Resources) == 0 {
		w.Paths = []Pattern{"src/a.go"}
	}
	return w
}

// dead reports whether somebody lost a path and does not hold it now.
func (w *world) dead(s *soul, path, tree string) bool {
	mine := func(c Claim) bool {
		return (c.Conversation == "" || slices.Contains(s.talk, c.Conversation)) && c.Holds(path, tree)
	}
	held, _ := w.book.Held(s.id)
	if slices.ContainsFunc(held, mine) {
		return false
	}
	lost, _ := w.book.Lost(s.id)
	return slices.ContainsFunc(lost, func(f Finished) bool { return mine(f.Claim) })
}

func (w *world) anyClaim(t *rapid.T) (Claim, bool) {
	live := w.book.Live()
	if len(live) == 0 {
		return Claim{}, false
	}
	return rapid.SampledFrom(live).Draw(t, "claim"), true
}

// allowed checks what a guard let pass: nobody else holds it but those whose
// claim is shared, where a shared one of the caller or of its kin is beside
// theirs, and these are named.
func (w *world) allowed(t *rapid.T, s *soul, does, path, tree string, d Decision, kin []event.ID) {
	beside := false
	for _, c := range w.book.Live() {
		talks := slices.ContainsFunc([]string{c.Conversation, mainOf(c.Conversation)}, func(x string) bool { return x == "" || slices.Contains(s.talk, x) })
		beside = beside || c.Holds(path, tree) && slices.Contains(kin, c.Holder) && talks
	}
	for _, c := range w.book.Live() {
		mine := c.Holder == s.id && (c.Conversation == "" || slices.Contains(s.talk, c.Conversation))
		over := Judge(&c, w.sign(&c), w.book.rules, w.now()).Lapsed
		if !c.Holds(path, tree) || mine || c.Holder == s.works || c.For == s.id || over && (beside || does == "commits") {
			continue
		}
		named := slices.ContainsFunc(d.Shares, func(b Block) bool { return b.Claim == c.ID })
		if c.Mode != Shared || !beside || !named {
			t.Fatalf("%s %s %s, which %s holds (%s), named %v", s.id, does, path, c.Holder, c.Mode, named)
		}
	}
}

// TestNoScheduleBreaksAPromise runs claims, renewals, deaths, expiries,
// takeovers, releases, sleeps and clocks that jump, in any order.
func TestNoScheduleBreaksAPromise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		who := func(t *rapid.T) *soul {
			s := rapid.SampledFrom(w.souls).Draw(t, "who")
			if s.life == Gone {
				s.life = Alive // it came back to give this command
			}
			s.seen, s.seenAt = w.wall, w.awake
			return s
		}
		probe := func(t *rapid.T, ids ...event.ID) map[event.ID]Probe {
			out := map[event.ID]Probe{}
			for _, id := range ids {
				out[id] = Probe{Verdict: rapid.SampledFrom([]ProbeVerdict{ProbeFree, ProbeBusy, ProbeUnknown}).Draw(t, "probe"), Saw: "x"}
			}
			return out
		}
		allProbes := func(t *rapid.T) map[event.ID]Probe {
			var ids []event.ID
			for _, c := range w.book.Live() {
				ids = append(ids, c.ID)
			}
			return probe(t, ids...)
		}
		rules := w.book.rules
		rules.Worktrees = rapid.SampledFrom([]Trees{Warn, Deny}).Draw(t, "trees")
		rules.QuietAfter = rapid.SampledFrom([]time.Duration{time.Hour, 4 * time.Hour}).Draw(t, "quiet")
		w.book.rules = rules
		t.Repeat(map[string]func(*rapid.T){
			"take": func(t *rapid.T) {
				s := who(t)
				c := Take{ID: w.id("claim"), Want: drawWant(t), Intent: "x", Keep: rapid.Bool().Draw(t, "keep")}
				if rapid.Bool().Draw(t, "wait") {
					c.Wait, c.Until = w.id("wait"), w.now().Add(rapid.SampledFrom([]time.Duration{time.Minute, time.Hour}).Draw(t, "until"))
				}
				var probes map[event.ID]Probe
				if rapid.Bool().Draw(t, "look") {
					probes = allProbes(t)
				}
				_, _ = w.do(t, s, false, c, probes)
			},
			"again": func(t *rapid.T) { // a waiter looks again
				waits, _ := w.book.Waits()
				if len(waits) == 0 {
					t.Skip()
				}
				x := rapid.SampledFrom(waits).Draw(t, "place")
				if w.places[x.ID] {
					t.Skip()
				}
				s := w.soul(x.Agent)
				if s.life == Gone {
					t.Skip()
				}
				s.seen, s.seenAt = w.wall, w.awake
				_, _ = w.do(t, s, false, Take{ID: w.id("claim"), Want: x.Want, Intent: "x", Wait: x.ID, Until: x.Until}, nil)
			},
			"desert": func(t *rapid.T) {
				waits, _ := w.book.Waits()
				if len(waits) == 0 {
					t.Skip()
				}
				w.places[rapid.SampledFrom(waits).Draw(t, "place").ID] = true
			},
			"edit": func(t *rapid.T) {
				s := who(t)
				path, tree := rapid.SampledFrom(someFiles).Draw(t, "file"), rapid.SampledFrom([]string{"/p", "/w"}).Draw(t, "tree")
				dead := w.dead(s, path, tree)
				d, err := w.do(t, s, false, Edit{Paths: []string{path}, IDs: []event.ID{w.id("auto")}, Tree: tree}, nil)
				if err != nil {
					return
				}
				w.allowed(t, s, "edits", path, tree, d, []event.ID{s.id, s.works})
				if dead {
					t.Fatalf("%s edits %s with a dead token", s.id, path)
				}
			},
			"check": func(t *rapid.T) {
				s := who(t)
				path, tree := rapid.SampledFrom(someFiles).Draw(t, "file"), rapid.SampledFrom([]string{"/p", "/w"}).Draw(t, "tree")
				d, err := w.do(t, s, false, Check{Paths: []string{path}, Tree: tree}, nil)
				if len(d.Events) > 0 {
					t.Fatalf("a look changes something: %+v", d.Events)
				}
				if err == nil {
					w.allowed(t, s, "commits", path, tree, d, []event.ID{s.id, s.works, s.id + ".1", s.id + ".2"})
				}
			},
			"release": func(t *rapid.T) {
				c, ok := w.anyClaim(t)
				if !ok {
					t.Skip()
				}
				s := who(t)
				_, err := w.do(t, s, false, Release{Claims: []event.ID{c.ID}, Summary: "done"}, nil)
				mine := c.Holder == s.id && (c.Conversation == "" || slices.Contains(s.talk, c.Conversation)) || c.For == s.id
				if (err == nil) != mine {
					t.Fatalf("%s released a claim of %s: %v", s.id, c.Holder, err)
				}
			},
			"extend": func(t *rapid.T) {
				if c, ok := w.anyClaim(t); ok {
					_, _ = w.do(t, who(t), false, Extend{Claim: c.ID, TTL: 2 * time.Hour}, nil)
				}
			},
			"change": func(t *rapid.T) {
				if c, ok := w.anyClaim(t); ok {
					want := drawWant(t)
					_, _ = w.do(t, who(t), rapid.Bool().Draw(t, "human"), Change{Claim: c.ID, Want: &want}, allProbes(t))
				}
			},
			"give": func(t *rapid.T) {
				if c, ok := w.anyClaim(t); ok {
					to, ids := rapid.SampledFrom(w.souls).Draw(t, "to"), []event.ID{c.ID}
					if more, _ := w.anyClaim(t); more.ID != c.ID {
						ids = append(ids, more.ID)
					}
					_, _ = w.do(t, who(t), false, Transfer{Claims: ids, To: to.by()}, nil)
				}
			},
			"takeover": func(t *rapid.T) {
				c, ok := w.anyClaim(t)
				if !ok {
					t.Skip()
				}
				s := who(t)
				human := rapid.IntRange(0, 9).Draw(t, "human") == 0
				k := Takeover{Claim: c.ID, ID: w.id("claim"), Break: human, Reason: rapid.SampledFrom([]string{"", "its window is closed"}).Draw(t, "reason")}
				w.taken[k.ID] = nil
				var probes map[event.ID]Probe
				if rapid.Bool().Draw(t, "look") {
					probes = allProbes(t)
				}
				d, err := w.do(t, s, human, k, probes)
				if err == nil && !human && probes != nil && probes[c.ID].Verdict == ProbeUnknown && k.Reason == "" && len(d.Events) > 0 && d.Events[0].Kind == KindEnded {
					t.Fatal("an unknown probe needs a reason")
				}
			},
			"end": func(t *rapid.T) {
				s := who(t)
				_, _ = w.do(t, s, false, EndSession{Final: s.works != ""}, nil)
				if rapid.Bool().Draw(t, "seat passes") && len(s.talk) > 0 && s.works == "" {
					s.talk = []string{fmt.Sprintf("c:new%d", w.next)}
					w.next++
				}
			},
			"resume": func(t *rapid.T) { _, _ = w.do(t, who(t), false, Resume{}, nil) },
			"sweep":  func(t *rapid.T) { _, _ = w.do(t, who(t), false, Sweep{}, nil) },
			"die": func(t *rapid.T) {
				s := rapid.SampledFrom(w.souls).Draw(t, "who")
				if s.life == Alive {
					s.life = Gone
				}
			},
			"time": func(t *rapid.T) {
				d := rapid.SampledFrom([]time.Duration{time.Second, time.Minute, 11 * time.Minute, 40 * time.Minute, 5 * time.Hour}).Draw(t, "passes")
				w.wall, w.awake = w.wall.Add(d), w.awake+d
			},
			"sleep": func(t *rapid.T) {
				w.wall = w.wall.Add(rapid.SampledFrom([]time.Duration{time.Hour, 12 * time.Hour}).Draw(t, "asleep"))
			},
			"jump": func(t *rapid.T) {
				w.wall = w.wall.Add(rapid.SampledFrom([]time.Duration{-24 * time.Hour, -time.Minute, 48 * time.Hour}).Draw(t, "jump"))
			},
			"turn": func(t *rapid.T) { who(t) },
		})
	})
}
