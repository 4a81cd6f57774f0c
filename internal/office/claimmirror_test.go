package office

import (
	"context"
	"testing"

	"bureau/internal/claim"
	"bureau/internal/event"
	"bureau/internal/fault"
)

// unreadable is a lock folder that cannot be read to its end, and not written.
type unreadable struct{ list []claim.Foreign }

func (m unreadable) trouble() error { return fault.New(fault.Unavailable, "the lock folder is broken") }

func (m unreadable) Foreign(string, claim.Rules) ([]claim.Foreign, error) { return m.list, m.trouble() }

func (m unreadable) Granted(string, claim.Rules, MirroredClaim) (bool, error) {
	return false, m.trouble()
}

func (m unreadable) Ended(string, claim.Rules, MirroredClaim, claim.How, string) error {
	return m.trouble()
}

func (m unreadable) Beat(string, claim.Rules, func([]event.ID) (map[event.ID]Pulse, error)) (int, error) {
	return 0, m.trouble()
}

// TestUnreadableLocks: where other programs' locks cannot be read, the guards
// respect our own claims all the same, and those locks that could be read, and
// say what was not looked at. A claim stands without its file, and the mirror
// can be turned off.
func TestUnreadableLocks(t *testing.T) {
	ctx := context.Background()
	theirs, err := claim.ParsePattern("theirs")
	if err != nil {
		t.Fatal(err)
	}
	d := openDesk(t, Options{Mirror: unreadable{list: []claim.Foreign{{Name: "work", Holder: "vasya", Paths: []claim.Pattern{theirs}}}}})
	p := d.project("app")
	ana, bob := d.session("A", self(), p), d.session("B", livingProcess(t), p)
	held, err := d.Claim(ctx, ana, p, Claiming{Want: paths(p, "src"), Intent: "rename"})
	if !fault.Is(err, fault.Unavailable) {
		t.Fatalf("%+v, %v", held, err)
	}
	edit := func(path string) Editing { return Editing{Paths: []string{path}, Tree: p.Root} }
	for _, path := range []string{"src/a.go", "theirs/a.go"} {
		may, err := d.MayEdit(ctx, bob, p, edit(path))
		refused(t, err, fault.Conflict)
		if may.Unread == nil {
			t.Errorf("%s: the answer hides what was not looked at", path)
		}
		done, err := d.MayCommit(ctx, bob, p, edit(path))
		refused(t, err, fault.Conflict)
		if done.Unread == nil {
			t.Errorf("%s: the commit's answer hides what was not looked at", path)
		}
	}
	if may, err := d.MayEdit(ctx, bob, p, edit("doc.md")); err != nil || may.Unread == nil {
		t.Errorf("nobody's file: %+v, %v", may, err)
	}
	if may, err := d.MayEdit(ctx, ana, p, edit("src/a.go")); err != nil || !may.Known {
		t.Errorf("one's own: %+v, %v", may, err)
	}
	if _, err := d.MayEdit(ctx, ana, p, edit("doc.md")); !fault.Is(err, fault.Conflict) {
		t.Errorf("what bob's edit claimed: %v", err)
	}
	if _, err := d.Release(ctx, ana, p, nil, "done"); err != nil {
		t.Error(err)
	}
	r, err := d.ClaimRules(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	r.Mirror = "off"
	if err := d.SetClaimRules(ctx, d.user(), p, r); err != nil {
		t.Error(err)
	}
	if _, err := d.Claim(ctx, bob, p, Claiming{Want: paths(p, "src"), Intent: "mine now"}); err != nil {
		t.Error(err)
	}
}
