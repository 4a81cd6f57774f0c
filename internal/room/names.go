package room

import (
	"slices"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/name"
)

// Names gives the name of an agent as others know it now, "" for none. Members
// keep the handle that they came under, also when their agent is renamed; the
// new name then means them too. nil: no agent has another name.
type Names func(agent event.ID) string

// further gives for each member the name by which it can be called beside its
// own handles: that of its agent now. It is "" where the name means somebody
// already, where several members are that agent and none of them alone is there
// or is its session itself, and where the agent says nothing of who it is.
func (r *Room) further(names Names) []string {
	out := make([]string, len(r.Members))
	if names == nil {
		return out
	}
	bearers := map[name.Name][]int{}
	for i := range r.Members {
		m := &r.Members[i]
		if m.Agent == "" || m.Human || m.Loose {
			continue
		}
		if h, err := Handle(names(m.Agent)); err == nil && h != User && len(r.called(string(h))) == 0 {
			bearers[h] = append(bearers[h], i)
		}
	}
	for h, list := range bearers {
		for _, better := range []func(m *Member) bool{(*Member).Here, func(m *Member) bool { return m.Seat == "" }} {
			if len(list) > 1 {
				list = slices.DeleteFunc(list, func(i int) bool { return !better(&r.Members[i]) })
			}
		}
		if len(list) == 1 {
			out[list[0]] = string(h)
		}
	}
	return out
}

// called is [Room.called], or who is called so now.
func (d *decision) called(word string) []name.Name {
	if found := d.r.called(word); len(found) > 0 {
		return found
	}
	if m := d.named(word); m != nil {
		return []name.Name{m.Handle}
	}
	return nil
}

// named finds the member whose agent has that name now, nil for none and for who
// has it as a handle.
func (d *decision) named(word string) *Member {
	h, err := Handle(word)
	if err != nil {
		return nil
	}
	for i, n := range d.r.further(d.known.Names) {
		if n != "" && name.Fold(n) == h.Key() {
			return &d.r.Members[i]
		}
	}
	return nil
}

// twice refuses the invitation of an agent, by its name, that is a member under
// another handle: nobody could come as the second.
func (d *decision) twice(i Invitee) error {
	m := d.named(string(i.Handle))
	if m == nil || i.Agent != m.Agent {
		return nil
	}
	is := "is a member of"
	switch m.Presence {
	case Present:
		is = "is in"
	case Invited:
		is = "is invited to"
	}
	return fault.New(fault.Conflict, "%s %s room %s as %s already", At(i.Handle), is, d.r.Name, At(m.Handle)).
		WithHint("both names mean it there; it comes with: bureau room join %s", d.r.Name)
}
