package claim

import (
	"cmp"
	"slices"
	"time"

	"bureau/internal/event"
)

// Book is the state of a project's claims in memory: a [View] and a [Store].
// It is not safe for several goroutines at once.
type Book struct {
	rules    Rules
	live     map[event.ID]Claim
	finished []Finished // oldest first
	waits    []Wait
}

// NewBook makes an empty book with the default rules.
func NewBook() *Book { return &Book{rules: DefaultRules(), live: map[event.ID]Claim{}} }

// Rules implements [View].
func (b *Book) Rules() (Rules, error) { return b.rules, nil }

// Claim implements [View] and [Store].
func (b *Book) Claim(id event.ID) (Claim, bool, error) {
	c, ok := b.live[id]
	return c, ok, nil
}

// Live lists the claims that stand, oldest first.
func (b *Book) Live() []Claim {
	var out []Claim
	for _, c := range b.live {
		out = append(out, c)
	}
	slices.SortFunc(out, Older)
	return out
}

// Older orders claims by when their holders got them.
func Older(a, b Claim) int { return cmp.Or(cmp.Compare(a.Token, b.Token), cmp.Compare(a.ID, b.ID)) }

// Touching implements [View]: all claims.
func (b *Book) Touching(*Want) ([]Claim, error) { return b.Live(), nil }

// Held implements [View].
func (b *Book) Held(agent event.ID) ([]Claim, error) {
	return slices.DeleteFunc(b.Live(), func(c Claim) bool { return c.Holder != agent }), nil
}

// HeldCount implements [View].
func (b *Book) HeldCount(agent event.ID) (int, error) {
	n := 0
	for _, c := range b.live {
		if c.Holder == agent {
			n++
		}
	}
	return n, nil
}

// Parked implements [View].
func (b *Book) Parked(before time.Time) ([]Claim, error) {
	return slices.DeleteFunc(b.Live(), func(c Claim) bool { return c.Parked.IsZero() || c.Parked.After(before) }), nil
}

// Lost implements [View] and [Store].
func (b *Book) Lost(agent event.ID) ([]Finished, error) {
	var out []Finished
	for _, f := range b.finished {
		if f.Lost && (agent == "" || f.Holder == agent) {
			out = append(out, f)
		}
	}
	return out, nil
}

// Waits implements [View].
func (b *Book) Waits() ([]Wait, error) { return slices.Clone(b.waits), nil }

// Put implements [Store].
func (b *Book) Put(c Claim) error {
	b.live[c.ID] = c
	return nil
}

// Finish implements [Store].
func (b *Book) Finish(f Finished) error {
	delete(b.live, f.ID)
	if i := slices.IndexFunc(b.finished, func(x Finished) bool { return x.ID == f.ID }); i >= 0 {
		b.finished[i] = f
		return nil
	}
	b.finished = append(b.finished, f)
	return nil
}

// Regain implements [Store].
func (b *Book) Regain(id event.ID) error {
	for i := range b.finished {
		if b.finished[i].ID == id {
			b.finished[i].Lost = false
		}
	}
	return nil
}

// PutWait implements [Store].
func (b *Book) PutWait(w Wait) error {
	b.waits = append(b.waits, w)
	slices.SortFunc(b.waits, func(x, y Wait) int { return cmp.Compare(x.Seq, y.Seq) })
	return nil
}

// DropWait implements [Store].
func (b *Book) DropWait(id event.ID) error {
	b.waits = slices.DeleteFunc(b.waits, func(w Wait) bool { return w.ID == id })
	return nil
}

// PutRules implements [Store].
func (b *Book) PutRules(r Rules) error {
	b.rules = r
	return nil
}
