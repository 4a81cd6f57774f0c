package office

import (
	"strings"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/mail"
	"bureau/internal/projection"
	"bureau/internal/roster"
)

// splitGroups tells a group from names. A letter goes to one group or to
// names, not to both: who would get it twice?
func splitGroups(to []string) (group string, names []string, err error) {
	for _, w := range to {
		w = strings.TrimSpace(w)
		switch lower := strings.ToLower(w); {
		case lower == "@all" || lower == "all" || lower == "@everyone" || lower == "everyone":
			group = mail.GroupLive
		case w == mail.GroupProject || strings.HasPrefix(lower, "project:") || strings.HasPrefix(lower, "team:"):
			group = w
		case w != "":
			names = append(names, strings.TrimPrefix(w, "@"))
			continue
		}
		if len(to) > 1 {
			return "", nil, fault.New(fault.Invalid, "a message goes to one group or to names, not to %s", strings.Join(to, ", ")).
				WithHint("send it twice")
		}
	}
	return group, names, nil
}

// broadcast sends a letter to a group: it is decided once, and every recipient
// gets a copy in a thread of their own with the sender.
func (tx *Tx) broadcast(caller Caller, l *Letter, m mail.Message, group string) (Sent, error) {
	if l.Thread != "" || l.Re != "" || l.Answers != "" {
		return Sent{}, fault.New(fault.Invalid, "a message to %s starts a thread with each recipient and cannot go into another one", group)
	}
	if m.Kind == mail.Question {
		return Sent{}, fault.New(fault.Invalid, "a question goes to names, not to %s", group).WithHint("name those who should answer")
	}
	if m.Kind == mail.Answer {
		return Sent{}, fault.New(fault.Invalid, "an answer goes to who asked, not to %s", group).WithHint("bureau answer QUESTION TEXT")
	}
	if m.Kind == "" {
		m.Kind = mail.Broadcast
	}
	m.Group = group
	audience, agents, err := tx.audience(caller, group)
	if err != nil {
		return Sent{}, err
	}
	posted := mail.Posted{Message: m, Audience: audience, Hops: l.Hops}
	if strings.HasPrefix(audience, "project:") {
		if m.Expires.IsZero() {
			m.Expires = tx.now.Add(mail.DefaultBroadcastLife)
		}
		posted.Message.Expires = m.Expires
	} else {
		if len(agents) == 0 {
			return Sent{}, fault.New(fault.NotFound, "nobody else is live now; nothing was sent").
				WithHint("project:NAME or '*' reaches every agent of a project, later ones too; or name somebody: their mail waits")
		}
		for _, a := range agents {
			posted.Agents = append(posted.Agents, a.ID)
		}
	}
	// What a copy would be refused for is refused now, also while there is
	// nobody yet to get one.
	_, try := copyFor(&posted, event.Derive("anybody", string(m.ID)))
	if _, err := mail.Decide(&mail.Thread{}, try, tx.now, tx.nameOf); err != nil {
		return Sent{}, err
	}
	id := tx.recordID(caller, l)
	if _, err := tx.append(id, event.BroadcastSubject(m.ID), nil, []event.Event{event.New(mail.KindBroadcasted, posted)}); err != nil {
		return Sent{}, err
	}
	sent := Sent{ID: m.ID, State: mail.Stored, Kind: m.Kind, Group: group, Recipients: []RecipientView{}}
	for _, a := range agents {
		copied, err := tx.copyTo(&posted, a.ID)
		if err != nil {
			return Sent{}, err
		}
		sent.Recipients = append(sent.Recipients, RecipientView{Name: string(a.Name), ID: copied.ID, Thread: copied.Thread, agent: a.ID})
	}
	return sent, nil
}

// audience gives the name under which a group's message is kept and who is in
// the group now, without the sender and the human.
func (tx *Tx) audience(caller Caller, group string) (string, []roster.Agent, error) {
	if strings.HasPrefix(strings.ToLower(group), "team:") {
		return "", nil, fault.New(fault.NotFound, "no team %q", group[len("team:"):]).WithHint("there are no teams in this office")
	}
	project := caller.Project.ID
	if group != mail.GroupLive && group != mail.GroupProject {
		p, err := tx.findProject(group[len("project:"):])
		if err != nil {
			return "", nil, err
		}
		project = p.ID
	}
	audience := "project:" + project
	if group == mail.GroupLive {
		audience, project = mail.GroupLive, ""
	} else if project == "" {
		return "", nil, fault.New(fault.Invalid, "* means the agents of the project, but there is no project here").WithHint("say which: project:NAME, or --project DIR")
	}
	all, err := tx.o.tables.Agents(tx.t, project, false)
	if err != nil {
		return "", nil, err
	}
	var out []roster.Agent
	for _, a := range all {
		if a.ID == caller.Agent.ID || a.Kind == roster.Human || ended(&a) {
			continue
		}
		if group == mail.GroupLive && !tx.liveNow(a.ID) {
			continue
		}
		out = append(out, a)
	}
	return audience, out, nil
}

// copyTo gives one recipient their copy. Its ids derive from the message's, so
// doing it again changes nothing.
func (tx *Tx) copyTo(p *mail.Posted, to event.ID) (Sent, error) {
	thread, send := copyFor(p, to)
	if _, _, found, err := tx.o.tables.Thread(tx.t, thread); err != nil || found {
		return Sent{ID: send.Message.ID, Thread: thread}, err
	}
	return tx.deliver(thread, send, event.Derive("copy.record", string(p.Message.ID), string(to)))
}

// copyFor makes the command that gives one recipient their copy, in a thread
// of its own.
func copyFor(p *mail.Posted, to event.ID) (thread event.ID, send mail.Send) {
	m := p.Message
	m.ID = event.Derive("copy", string(p.Message.ID), string(to))
	m.To = []event.ID{to}
	thread = event.Derive("copy.thread", string(p.Message.ID), string(to))
	return thread, mail.Send{
		Message: m, Notice: event.Derive("exhausted", string(m.ID)),
		Open: &mail.OpenThread{Thread: thread, Subject: subjectOf(&m), Owner: m.From, Members: m.To, Hops: p.Hops},
	}
}

// copies lists who has a copy of a message to a group.
func (tx *Tx) copies(posted event.ID) ([]RecipientView, error) {
	out := []RecipientView{}
	all, err := tx.o.tables.Agents(tx.t, "", true)
	if err != nil {
		return nil, err
	}
	for _, a := range all {
		m, found, err := tx.o.tables.MessageByID(tx.t, event.Derive("copy", string(posted), string(a.ID)))
		if err != nil {
			return nil, err
		}
		if found {
			out = append(out, RecipientView{Name: tx.nameOf(a.ID), ID: m.ID, Thread: m.Thread, agent: a.ID})
		}
	}
	return out, nil
}

// deliverBroadcasts gives a newcomer what was sent to the whole project and
// has not run out. What cannot be given (any more) does not keep the newcomer
// out.
func (tx *Tx) deliverBroadcasts(a roster.Agent) error {
	if a.Project == "" || a.Kind == roster.Human {
		return nil
	}
	list, err := tx.o.tables.Broadcasts(tx.t, "project:"+a.Project, tx.now)
	if err != nil {
		return err
	}
	for _, b := range list {
		if b.From == a.ID {
			continue
		}
		thread := event.Derive("copy.thread", string(b.ID), string(a.ID))
		if _, _, found, err := tx.o.tables.Thread(tx.t, thread); err != nil || found {
			if err != nil {
				return err
			}
			continue
		}
		p, found, err := tx.posted(b)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		if _, err := tx.copyTo(&p, a.ID); err != nil && fault.Is(err, fault.Unavailable) {
			return err
		}
	}
	return nil
}

// posted reads a broadcast back from the journal; its data may be erased.
func (tx *Tx) posted(b projection.Broadcast) (p mail.Posted, found bool, err error) {
	recs, err := tx.reader()(b.Seq-1, 1)
	if err != nil {
		return p, false, err
	}
	for _, r := range recs {
		for _, e := range r.Events {
			if r.Seq == b.Seq && e.Kind == mail.KindBroadcasted && e.Decode(&p) == nil {
				return p, true, nil
			}
		}
	}
	return p, false, nil
}
