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

func (m unreadable) Foreign(string, string, claim.Rules) ([]claim.Foreign, error) {
	return m.list, m.trouble()
}

func (m unreadable) Missing(string, string, claim.Rules) ([]event.ID, error) {
	return nil, m.trouble()
}

func (m unreadable) Edited(string, claim.Rules, func() (MirroredEdits, error)) error {
	return m.trouble()
}

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
	if err := d.TakeBackLocks(ctx, p); !fault.Is(err, fault.Unavailable) {
		t.Errorf("what is left is not said: %v", err)
	}
	if _, err := d.Claim(ctx, bob, p, Claiming{Want: paths(p, "src"), Intent: "mine now"}); err != nil {
		t.Error(err)
	}
}

// lockedIn is another program's locks in one project, and no files of ours.
type lockedIn struct {
	root string
	list []claim.Foreign
}

func (m *lockedIn) Foreign(root, _ string, _ claim.Rules) ([]claim.Foreign, error) {
	if root != m.root {
		return nil, nil
	}
	return m.list, nil
}

func (m *lockedIn) Missing(string, string, claim.Rules) ([]event.ID, error) { return nil, nil }

func (m *lockedIn) Granted(string, claim.Rules, MirroredClaim) (bool, error) { return false, nil }

func (m *lockedIn) Edited(string, claim.Rules, func() (MirroredEdits, error)) error { return nil }

func (m *lockedIn) Ended(string, claim.Rules, MirroredClaim, claim.How, string) error { return nil }

func (m *lockedIn) Beat(string, claim.Rules, func([]event.ID) (map[event.ID]Pulse, error)) (int, error) {
	return 0, nil
}

// TestLocksInAProjectWithin: a claim of the folder around lets nobody pass over
// another program's lock in the project within, or the other way round.
func TestLocksInAProjectWithin(t *testing.T) {
	ctx := context.Background()
	m := &lockedIn{list: []claim.Foreign{{Name: "work", Holder: "vasya", Paths: []claim.Pattern{"x"}}}}
	d := openDesk(t, Options{Mirror: m})
	p := d.project("app")
	foo := d.within(p, "foo")
	ana := d.session("A", self(), p)
	d.claims(ana, p, "foo")
	edit := Editing{Paths: []string{"x"}, Tree: foo.Root}
	if done, err := d.MayEdit(ctx, ana, foo, edit); err != nil || !done.Known {
		t.Fatalf("nothing is locked yet: %+v, %v", done, err)
	}
	for _, where := range []struct {
		root string
		path claim.Pattern
	}{{foo.Root, "x"}, {p.Root, "foo/x"}} {
		m.root, m.list[0].Paths = where.root, []claim.Pattern{where.path}
		_, err := d.MayEdit(ctx, ana, foo, edit)
		refused(t, err, fault.Conflict, "vasya")
		_, err = d.MayCommit(ctx, ana, foo, edit)
		refused(t, err, fault.Conflict, "vasya")
	}
}
