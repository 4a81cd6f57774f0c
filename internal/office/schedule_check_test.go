package office

import (
	"context"

	"bureau/internal/event"
	"bureau/internal/mail"
	"bureau/internal/roster"
)

// check compares everything that different eyes see of the same mail.
func (s *schedule) check() {
	s.t.Helper()
	ctx := context.Background()
	for _, d := range s.desks {
		d.sound()
	}
	d := s.desk()
	all, err := d.directory(ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	got := map[[2]string]mail.State{}
	for _, a := range all {
		c := Caller{Agent: a}
		unread := map[event.ID]bool{}
		for _, m := range d.unread(c, 7) {
			if unread[m.ID] {
				s.t.Fatalf("%s lists %s twice", a.Name, m.ID)
			}
			unread[m.ID] = true
		}
		seen := map[event.ID]bool{}
		for _, m := range d.walk(c, true, 9) {
			if seen[m.ID] {
				s.t.Fatalf("%s lists %s twice", a.Name, m.ID)
			}
			seen[m.ID] = true
			got[[2]string{string(m.ID), string(a.ID)}] = m.State
			over := a.Retired || m.ExpiresAt != nil && mail.Due(*m.ExpiresAt, d.Now())
			if want := mail.Pending(m.State, m.AckWanted) && !over; want != unread[m.ID] {
				s.t.Fatalf("%s has %s as %s (ack wanted: %v): unread is %v", a.Name, m.ID, m.State, m.AckWanted, unread[m.ID])
			}
		}
		for id := range unread {
			if !seen[id] {
				s.t.Fatalf("%s counts %s and cannot list it", a.Name, id)
			}
		}
	}
	s.forward(got)
	for _, a := range all {
		s.sender(d, a, got)
	}
}

// forward checks that no receipt went back.
func (s *schedule) forward(got map[[2]string]mail.State) {
	for key, old := range s.states {
		now, found := got[key]
		if !found {
			s.t.Fatalf("%v is gone", key)
		}
		// A message looks expired by the clock before that is written down.
		if !s.back && mail.Forward(old, now) != now && !(mail.Unseen(old) && mail.Unseen(now)) {
			s.t.Fatalf("%v went from %s to %s", key, old, now)
		}
	}
	s.states = got
}

// sender checks that a sender sees the states that the recipients see.
func (s *schedule) sender(d *desk, a roster.Agent, got map[[2]string]mail.State) {
	page := Page{Limit: 11}
	count := 0
	for {
		list, err := d.SentMail(context.Background(), Caller{Agent: a}, page)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, m := range list.Messages {
			count++
			least := mail.State("")
			for i, r := range m.Receipts {
				if i == 0 || mail.Before(r.State, least) {
					least = r.State
				}
			}
			if len(m.Receipts) == 0 || least != m.State {
				s.t.Fatalf("%s is %s with receipts %+v", m.ID, m.State, m.Receipts)
			}
			for key, state := range got {
				if key[0] != string(m.ID) {
					continue
				}
				found := false
				for _, r := range m.Receipts {
					found = found || r.State == state
				}
				if !found {
					s.t.Fatalf("%s is %s for %s, the sender sees %+v", m.ID, state, key[1], m.Receipts)
				}
			}
		}
		if list.Next == "" {
			if count != list.Total {
				s.t.Fatalf("%s sent %d, the total is %d", a.Name, count, list.Total)
			}
			return
		}
		page.From = list.Next
	}
}

// directory lists everybody, retired ones too.
func (d *desk) directory(ctx context.Context) (all []roster.Agent, err error) {
	err = d.look(ctx, func(tx *Tx) (err error) {
		all, err = d.tables.Agents(tx.t, "", true)
		return err
	})
	return all, err
}

// covered fails the test if the schedule never managed to do something.
func (s *schedule) covered() {
	for _, what := range []string{"send", "answer", "read", "ack", "open", "add", "grant", "close", "withdraw", "board", "newcomer", "rename", "retire", "ask"} {
		if s.did[what+" done"] == 0 {
			s.t.Errorf("the schedule never did: %s (%d tries)", what, s.did[what])
		}
	}
}
