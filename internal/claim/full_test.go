package claim

import (
	"fmt"
	"testing"
	"time"

	"bureau/internal/event"
)

// TestFullHolder: who holds as many claims as one may goes on to edit, and gets
// no more of them; what another conversation of the same name holds does not
// count.
func TestFullHolder(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		name  string
		other int // of the claims are another conversation's
		made  int
	}{
		{"as many as one may", 0, 0},
		{"one of them is another's", 1, 1},
	} {
		b := NewBook()
		for i := range MaxHeld {
			x := Claim{
				ID: event.ID(fmt.Sprintf("C%05d", i)), Holder: "ana", Conversation: "now", Since: now, Renewed: now, TTL: time.Hour, Token: event.Seq(i + 1),
				Want: Want{Paths: []Pattern{Pattern(fmt.Sprintf("f%d", i))}, Mode: Exclusive, Tree: "/p"},
			}
			if i < c.other {
				x.Conversation = "before"
			}
			if err := b.Put(x); err != nil {
				t.Fatal(err)
			}
		}
		by := By{Agent: "ana", Conversations: []string{"now"}}
		d, err := Decide(b, by, Edit{Paths: []string{"new"}, IDs: []event.ID{"NEW"}, Tree: "/p"}, now, Evidence{})
		if err != nil || len(d.Events) != c.made {
			t.Errorf("%s: %d events, %v", c.name, len(d.Events), err)
		}
	}
}
