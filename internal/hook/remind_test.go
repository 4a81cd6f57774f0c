package hook

import (
	"regexp"
	"strconv"
	"testing"

	"bureau/internal/office"
)

var (
	waiting = regexp.MustCompile(`bureau: (\d+) messages? waits? for`)
	more    = regexp.MustCompile(`bureau: (\d+) more wait`)
)

// count gives how many messages an event spoke of: those in it, and those that
// it said wait besides.
func (s said) count() int {
	s.t.Helper()
	n := len(s.messagesIn())
	for _, re := range []*regexp.Regexp{waiting, more} {
		for _, m := range re.FindAllStringSubmatch(s.Context, -1) {
			k, err := strconv.Atoi(m[1])
			if err != nil {
				s.t.Fatal(err)
			}
			n += k
		}
	}
	return n
}

// TestReminders is case D8: what is counted is what the inbox lists, nothing is
// said when there is nothing, and there is one reminder a turn.
func TestReminders(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	turn := func(want int) {
		t.Helper()
		box, err := d.o.Inbox(d.ctx, c.caller(), false, office.Page{Limit: 1})
		d.must(err)
		if box.Unread != want || box.Total != want {
			t.Fatalf("the inbox has %d, not %d", box.Unread, want)
		}
		s := c.step("UserPromptSubmit")
		if got := s.count(); got != want {
			t.Fatalf("the hook counts %d, not %d: %q", got, want, s.Context)
		}
		if want == 0 {
			s.silent()
		}
		for range 10 {
			c.step("PostToolUse").silent()
			c.step("PostToolBatch").silent()
		}
		c.step("Stop").silent()
	}
	turn(0)
	a := d.send(c.name(), "one")
	b := d.send(c.name(), "two")
	ack := d.letter(office.Letter{To: []string{c.name()}, AckWanted: true, Body: []byte("three")})
	turn(3)
	turn(1) // only the acknowledgement is missing
	turn(1)
	for _, id := range []string{a.Short, b.Short, ack.Short} {
		if _, err := d.o.Read(d.ctx, c.caller(), []string{id}); err != nil {
			t.Fatalf("%s was counted and cannot be read: %v", id, err)
		}
	}
	turn(1)
	// New mail in the turn, an answer in a thread among it.
	c.step("UserPromptSubmit")
	d.letter(office.Letter{Re: string(a.ID), To: []string{c.name()}, Body: []byte("one more")})
	if got := c.step("PostToolBatch").has("one more", "1 more wait").count(); got != 2 {
		t.Errorf("%d counted", got)
	}
	c.step("PostToolBatch").silent()
	c.step("Stop").silent()
	if _, err := d.o.Ack(d.ctx, c.caller(), []string{ack.Short}); err != nil {
		t.Fatal(err)
	}
	turn(0)
	// A start counts the same.
	d.send(c.name(), "four")
	s := c.event("SessionStart", "source", "compact").has("1 unread message waits for you", "four")
	if got := s.count(); got != 1 {
		t.Errorf("%d counted: %q", got, s.Context)
	}
}
