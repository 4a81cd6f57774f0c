package mail

import (
	"testing"
	"time"
)

var states = []State{Stored, Offered, Held, Expired, Undeliverable, Seen, Acked, Answered}

// TestReceiptsOnlyMoveForward looks at every pair and every three of states.
func TestReceiptsOnlyMoveForward(t *testing.T) {
	for _, old := range states {
		for _, news := range states {
			got := Forward(old, news)
			if got != old && got != news {
				t.Errorf("Forward(%s, %s) made up %s", old, news, got)
			}
			if rank[got] < rank[old] {
				t.Errorf("Forward(%s, %s) went back to %s", old, news, got)
			}
			if again := Forward(got, news); again != got {
				t.Errorf("Forward(%s, %s) is %s, and then %s", old, news, got, again)
			}
			if Final(old) && got != old {
				t.Errorf("%s was final and became %s", old, got)
			}
			if Before(got, old) && !Final(got) {
				t.Errorf("Forward(%s, %s) = %s counts as less far", old, news, got)
			}
			for _, later := range states {
				if end := Forward(got, later); rank[end] < rank[got] {
					t.Errorf("%s, %s, %s went back from %s to %s", old, news, later, got, end)
				}
			}
		}
	}
}

func TestForward(t *testing.T) {
	for _, c := range []struct{ old, news, want State }{
		{Stored, Offered, Offered},
		{Offered, Stored, Offered},
		{Offered, Seen, Seen},
		{Stored, Seen, Seen}, // read on a terminal: never offered
		{Seen, Acked, Acked},
		{Acked, Seen, Acked},
		{Seen, Answered, Answered},
		{Acked, Answered, Answered},
		{Answered, Acked, Answered},
		{Stored, Expired, Expired},
		{Offered, Expired, Expired},
		{Held, Expired, Expired},
		{Seen, Expired, Seen}, // what was seen cannot run out
		{Expired, Seen, Expired},
		{Expired, Undeliverable, Expired},
		{Undeliverable, Expired, Undeliverable},
		{Stored, Undeliverable, Undeliverable},
		{Seen, Undeliverable, Seen},
		{Answered, Undeliverable, Answered},
	} {
		if got := Forward(c.old, c.news); got != c.want {
			t.Errorf("Forward(%s, %s) = %s, want %s", c.old, c.news, got, c.want)
		}
	}
}

// TestUnread is the one definition of what counts.
func TestUnread(t *testing.T) {
	for _, c := range []struct {
		state State
		ack   bool
		want  bool
	}{
		{Stored, false, true}, {Offered, false, true}, {Held, false, true}, {Seen, false, false},
		{Stored, true, true}, {Seen, true, true}, {Acked, true, false}, {Answered, true, false},
		{Expired, true, false}, {Undeliverable, true, false}, {Expired, false, false},
	} {
		if got := Pending(c.state, c.ack); got != c.want {
			t.Errorf("Pending(%s, ack wanted: %v) = %v", c.state, c.ack, got)
		}
	}
}

func TestDue(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		expires, now time.Time
		want         bool
	}{
		{time.Time{}, at, false},
		{at, at.Add(-time.Millisecond), false},
		{at, at, true},
		{at, at.Add(time.Hour), true},
	} {
		if got := Due(c.expires, c.now); got != c.want {
			t.Errorf("Due(%s, %s) = %v", c.expires, c.now, got)
		}
	}
}

func TestWakes(t *testing.T) {
	for name, c := range map[string]struct {
		m    Message
		want bool
	}{
		"note":                       {Message{Kind: Note}, true},
		"question":                   {Message{Kind: Question}, true},
		"high":                       {Message{Kind: Note, Importance: High}, true},
		"low":                        {Message{Kind: Note, Importance: Low}, false},
		"told not to":                {Message{Kind: Question, NoWake: true}, false},
		"receipt":                    {Message{Kind: Ack}, false},
		"broadcast to who is live":   {Message{Kind: Broadcast, Group: GroupLive}, true},
		"broadcast to a project":     {Message{Kind: Broadcast, Group: "project:x"}, false},
		"broadcast to this project":  {Message{Kind: Broadcast, Group: GroupProject}, false},
		"request to a whole project": {Message{Kind: Request, Group: GroupProject}, true},
	} {
		if got := Wakes(&c.m); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		if why := Silent(&c.m); (why == "") != c.want {
			t.Errorf("%s: silent because of %q", name, why)
		}
	}
}

func TestWords(t *testing.T) {
	for word, want := range map[string]Kind{"": "", "ask": Question, " DM ": Note, "resposta": Answer, "Request": Request, "receipt": Ack} {
		if got, err := ParseKind(word); err != nil || got != want {
			t.Errorf("ParseKind(%q) = %q, %v", word, got, err)
		}
	}
	if _, err := ParseKind("letter"); err == nil {
		t.Error("an unknown kind was taken")
	}
	for word, want := range map[string]Importance{"": Normal, "LOW": Low, "urgent": High} {
		if got, err := ParseImportance(word); err != nil || got != want {
			t.Errorf("ParseImportance(%q) = %v, %v", word, got, err)
		}
	}
	if _, err := ParseImportance("very"); err == nil {
		t.Error("an unknown importance was taken")
	}
	for i, want := range map[Importance]string{Low: "low", Normal: "normal", High: "high"} {
		if i.String() != want {
			t.Errorf("%d is %q", i, i)
		}
	}
}
