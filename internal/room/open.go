package room

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/name"
)

// OpenRoom begins a room. That its name is free is for the office to see to.
type OpenRoom struct {
	By      Caller // As is its own handle, if it is a member itself
	Room    event.ID
	Name    string // by the rule for names
	Topic   string // white space is folded to one line
	Purpose string
	Members []Invitee // a handle given twice counts once
	// Moderator is a member; "": the opener, if it is one.
	Moderator string
	// First begins, if it is there by then; "": the first of Members who is.
	First      string
	Settings   Settings
	Links      []Link
	Transcript json.RawMessage // kept as given
	// Loose leaves the handles to whoever comes as them. A member that is gone and
	// was known by its handle alone ([Member].Loose) may then come back as another
	// agent.
	Loose bool
}

func (c OpenRoom) by() Caller   { return c.By }
func (c OpenRoom) speaks() bool { return false }

func (c OpenRoom) decide(d *decision) error {
	if d.r.Exists() {
		return fault.New(fault.Conflict, "room %s exists already", d.r.Name).WithHint("join it: bureau room join %s", d.r.Name)
	}
	ev := Opened{Room: c.Room, Topic: strings.Join(strings.Fields(c.Topic), " "), Purpose: c.Purpose, Links: c.Links, Transcript: c.Transcript, Loose: c.Loose}
	ev.Opener = Opener{Agent: c.By.Agent, Seat: c.By.Seat, Human: c.By.Human, Name: c.By.Name}
	var err error
	if ev.Name, err = name.Parse(c.Name); err != nil {
		return err
	}
	if err := c.check(ev.Topic); err != nil {
		return err
	}
	roll := &Room{Name: ev.Name} // collects the members to find clashes
	agents := 0
	for _, i := range c.Members {
		if i, err = roll.admit(i); err != nil {
			return err
		}
		if old := roll.member(i.Handle); old != nil {
			if old.Handle == i.Handle {
				continue
			}
			return fault.New(fault.Conflict, "%s and %s are the same handle", At(old.Handle), At(i.Handle)).WithHint("name it once")
		}
		if i.Handle != User {
			agents++
		}
		roll.applyInvited(i)
		ev.Members = append(ev.Members, i)
	}
	own := c.By.As
	if c.By.Human {
		own = string(User)
	}
	for _, m := range ev.Members {
		if own == "" && m.Agent != "" && m.Agent == c.By.Agent {
			own = string(m.Handle)
		}
	}
	if ev.Moderator, err = c.one(roll, c.Moderator, own, "moderator"); err != nil {
		return err
	}
	if ev.First, err = c.one(roll, c.First, "", "first speaker"); err != nil {
		return err
	}
	if ev.Settings, err = c.Settings.complete(agents); err != nil {
		return err
	}
	d.emit(KindOpened, ev)
	return nil
}

// one finds a member by its word, or by preset, which need not be one.
func (c OpenRoom) one(roll *Room, word, preset, what string) (name.Name, error) {
	if word == "" {
		if found := roll.called(preset); len(found) == 1 {
			return found[0], nil
		}
		return "", nil
	}
	h, err := Handle(word)
	if err != nil {
		return "", err
	}
	if found := roll.called(string(h)); len(found) == 1 {
		return found[0], nil
	}
	if len(c.Members) == 0 && what != "moderator" {
		return h, nil // nobody was named: who comes is not known yet
	}
	return "", fault.New(fault.Invalid, "the %s %s is no member", what, At(h)).WithHint("name it among the members too")
}

func (c OpenRoom) check(topic string) error {
	switch {
	case utf8.RuneCountInString(topic) > MaxTopic:
		return tooLong("topic", utf8.RuneCountInString(topic), MaxTopic)
	case utf8.RuneCountInString(c.Purpose) > MaxPurpose:
		return tooLong("purpose", utf8.RuneCountInString(c.Purpose), MaxPurpose)
	case !utf8.ValidString(topic) || !utf8.ValidString(c.Purpose):
		return fault.New(fault.Invalid, "the topic or the purpose is not valid UTF-8").WithHint("write it anew")
	case len(c.Links) > MaxLinks:
		return fault.New(fault.Invalid, "%d links are too many", len(c.Links)).WithHint("a room has at most %d", MaxLinks)
	case len(c.Transcript) > MaxOption || c.Transcript != nil && !json.Valid(c.Transcript):
		return fault.New(fault.Invalid, "the transcript options are no JSON of at most %d bytes", MaxOption).WithHint("leave them away")
	}
	for _, l := range c.Links {
		odd := strings.ContainsFunc(l.ID, func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) || name.Invisible(r) })
		if !slices.Contains([]string{"thread", "task", "handoff"}, l.Kind) || l.ID == "" || len(l.ID) > 200 || odd {
			return fault.New(fault.Invalid, "no link %.20q to %.48q", l.Kind, l.ID).WithHint("a room links to a thread, a task or a handoff by its id")
		}
	}
	return nil
}

func tooLong(what string, have, most int) error {
	return fault.New(fault.Invalid, "the %s has %d characters; the limit is %d", what, have, most).WithHint("put the rest into a message")
}

// admit checks a member to be: its own words and that they are nobody else's.
// A member that is there already under this handle is no clash.
func (r *Room) admit(i Invitee) (Invitee, error) {
	h, err := Handle(string(i.Handle))
	if err != nil {
		return i, err
	}
	i.Handle = h
	if h == User {
		i.Agent = ""
	}
	if i.Name, err = label("display name", i.Name); err != nil {
		return i, err
	}
	if i.Aliases, err = words(i.Aliases, h); err != nil {
		return i, err
	}
	if i.Roles, err = words(i.Roles, h); err != nil {
		return i, err
	}
	old := r.member(h)
	if old == nil && len(r.Members) >= MaxMembers && !r.Exists() {
		return i, fault.New(fault.Invalid, "%s is one member too many", At(h)).WithHint("a room has at most %d", MaxMembers)
	}
	if old == nil && len(r.Members) >= MaxMembers {
		return i, fault.New(fault.Conflict, "room %s has %d members already", r.Name, MaxMembers).WithHint("open another room")
	}
	for n := range r.Members {
		m := &r.Members[n]
		if m == old {
			continue
		}
		if key := h.Key(); has(m.Aliases, key) || has(m.Roles, key) {
			return i, clash(string(h), m.Handle)
		}
		for _, a := range i.Aliases {
			if key := name.Fold(a); m.Handle.Key() == key || has(m.Aliases, key) || has(m.Roles, key) {
				return i, clash(a, m.Handle)
			}
		}
		for _, a := range i.Roles {
			if key := name.Fold(a); m.Handle.Key() == key || has(m.Aliases, key) {
				return i, clash(a, m.Handle)
			}
		}
	}
	return i, nil
}

func clash(word string, owner name.Name) error {
	return fault.New(fault.Conflict, "%s means %s in this room already", At(name.Name(word)), At(owner)).WithHint("choose another handle, alias or role")
}

// words brings aliases or roles to their form; own is the handle they are for.
func words(given []string, own name.Name) ([]string, error) {
	if len(given) > MaxAliases {
		return nil, fault.New(fault.Invalid, "%d aliases or roles of %s are too many", len(given), At(own)).WithHint("a member has at most %d", MaxAliases)
	}
	var out []string
	for _, w := range given {
		h, err := Handle(w)
		if err != nil {
			return nil, err
		}
		if h == User {
			return nil, fault.New(fault.Invalid, "@user is the human and no alias").WithHint("choose another alias")
		}
		if h.Key() != own.Key() && !has(out, h.Key()) {
			out = append(out, string(h))
		}
	}
	return out, nil
}

// label checks a name for display or a reason: one line that shows.
func label(what, s string) (string, error) {
	s = strings.TrimSpace(s)
	if n := utf8.RuneCountInString(s); n > MaxLabel {
		return "", fault.New(fault.Invalid, "the %s has %d characters; the limit is %d", what, n, MaxLabel).WithHint("make it shorter")
	}
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsPrint(r) || name.Invisible(r) {
			return "", fault.New(fault.Invalid, "the %s %.48q holds U+%04X", what, s, r).WithHint("use letters, digits, punctuation and single spaces")
		}
	}
	return s, nil
}

// Invite adds a member, or says which agent may come as one who is not there.
// Every member may invite, and so may the opener and the human. Only the human
// gives a seat that somebody had to another agent: its whispers go with it.
type Invite struct {
	By      Caller
	Invitee Invitee
}

func (c Invite) by() Caller   { return c.By }
func (c Invite) speaks() bool { return false }

func (c Invite) decide(d *decision) error {
	by, err := d.moderates(c.By, "invite")
	if err != nil {
		m, err := d.here(c.By)
		if err != nil {
			return err
		}
		by = string(m.Handle)
	}
	if h, err := Handle(string(c.Invitee.Handle)); err == nil {
		c.Invitee.Handle = h
		if err := d.twice(c.Invitee); err != nil {
			return err
		}
	}
	i, err := d.r.admit(c.Invitee)
	if err != nil {
		return err
	}
	m := d.r.member(i.Handle)
	if m == nil {
		d.invite(i, by)
		return nil
	}
	switch {
	case i.Agent == "" || i.Agent == m.Agent:
		return nil // it is a member, and stays who it is
	case m.Here():
		return fault.New(fault.Conflict, "%s is there already", At(m.Handle)).WithHint("invite the agent under another handle")
	case m.Agent != "" && !c.By.Human:
		return fault.New(fault.Denied, "%s belongs to another agent", At(m.Handle)).WithHint("invite the agent under another handle; only the human gives a seat away")
	}
	i.Handle = m.Handle
	d.invite(i, by)
	return nil
}

func (d *decision) invite(i Invitee, by string) {
	d.emit(KindInvited, InvitedOne{Seq: d.seq(), Invitee: i, By: by})
}
