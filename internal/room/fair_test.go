package room

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"bureau/internal/name"
)

// TestNobodyWaitsForEver lets holders name whom they like, forget to speak, die
// and come back, in a room that goes on for long. Everybody who waits with a
// point has the floor within as many turns as the promise says. The machine's
// ledger counts them.
func TestNobodyWaitsForEver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := []string{"A", "B", "C", "D", "E", "F"}[:rapid.IntRange(3, 6).Draw(t, "members")]
		m := &machine{now: noon, waiting: map[name.Name]int{}, gone: map[name.Name]bool{}, secrets: map[string][]name.Name{}}
		open := OpenRoom{By: agent("A"), Room: "R", Name: "plan", Settings: Settings{
			Queue:   rapid.SampledFrom([]Order{FIFO, Score}).Draw(t, "queue"),
			Floor:   rapid.SampledFrom([]Floor{Strict, Strict, OpenTalk}).Draw(t, "floor"),
			Barrier: Barrier{Gate: GateDeclared},
		}}
		for _, h := range all {
			open.Members = append(open.Members, Invitee{Handle: name.Name(h)})
		}
		m.must(t, open)
		for _, h := range all {
			m.must(t, Join{By: agent(h)})
		}
		// Two that always name each other, and the rest now and then.
		loud := rapid.IntRange(0, 9).Draw(t, "loud")
		for range rapid.IntRange(10, 60).Draw(t, "rounds") {
			who := string(m.r.Holder)
			if who == "" {
				who = string(Attending(&m.r)[0])
			}
			if m.r.Settings.Floor == OpenTalk && rapid.IntRange(0, 1).Draw(t, "interject") == 0 {
				who = string(rapid.SampledFrom(Attending(&m.r)).Draw(t, "who"))
			}
			var to []string
			for range rapid.IntRange(1, 3).Draw(t, "mentions") {
				if rapid.IntRange(0, 9).Draw(t, "louder") < loud {
					to = append(to, "@"+rapid.SampledFrom(all[:2]).Draw(t, "loud one"))
				} else {
					to = append(to, "@"+rapid.SampledFrom(all).Draw(t, "to"))
				}
			}
			switch rapid.IntRange(0, 12).Draw(t, "what") {
			case 0:
				m.now = m.now.Add(DefaultTurnLimit)
				m.sweep(t)
			case 1:
				m.do(t, Pass{By: agent(who)})
			case 2:
				if len(Attending(&m.r)) > 2 {
					if err := m.do(t, Sweep{}, Absence{name.Name(who), "its process ended"}); err != nil {
						t.Fatal(err)
					}
				}
			case 3, 4:
				m.must(t, Join{By: agent(rapid.SampledFrom(all).Draw(t, "back"))})
			default:
				m.do(t, Say{By: agent(who), Text: strings.Join(to, " ")})
			}
			m.check(t)
		}
	})
}

func (m *machine) must(t *rapid.T, c Command) {
	if err := m.do(t, c); err != nil {
		t.Fatal(fmt.Sprintf("%T%+v", c, c), err)
	}
}
