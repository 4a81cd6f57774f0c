package office

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/mail"
	"bureau/internal/projection"
	"bureau/internal/roster"
)

// schedule does random things in an office, through several openings of it.
type schedule struct {
	t        *testing.T
	rng      *rand.Rand
	desks    []*desk
	clock    *clock
	back     bool // whether the clock may jump back
	user     Caller
	people   []Caller
	messages []event.ID
	threads  []event.ID
	projects []Project
	states   map[[2]string]mail.State // (message, recipient) -> state that was seen last
	did      map[string]int
	n        int
}

func newSchedule(t *testing.T, seed uint64, c *clock, back bool, desks ...*desk) *schedule {
	s := &schedule{
		t: t, rng: rand.New(rand.NewPCG(seed, 1)), desks: desks, clock: c, back: back, user: desks[0].user(),
		projects: []Project{desks[0].project("one"), desks[0].project("two")}, states: map[[2]string]mail.State{}, did: map[string]int{},
	}
	for range 3 {
		s.newcomer()
	}
	return s
}

func (s *schedule) desk() *desk { return s.desks[s.rng.IntN(len(s.desks))] }

func (s *schedule) person() Caller { return s.people[s.rng.IntN(len(s.people))] }

func (s *schedule) chance(percent int) bool { return s.rng.IntN(100) < percent }

func pick[T any](s *schedule, list []T) (zero T) {
	if len(list) == 0 {
		return zero
	}
	return list[s.rng.IntN(len(list))]
}

// newcomer registers somebody: a terminal, or a session in a project.
func (s *schedule) newcomer() error {
	ctx := context.Background()
	s.n++
	p := pick(s, s.projects)
	if s.chance(50) {
		by := s.user
		by.Project = p
		name := fmt.Sprintf("person%d", s.n)
		if s.chance(20) && len(s.people) > 0 {
			name = string(s.person().Agent.Name) // an old name, perhaps free by now
		}
		done, err := s.desk().Register(ctx, by, name, roster.Process{})
		if err == nil {
			s.people = append(s.people, Caller{Agent: done.Agent, Process: self(), Project: p})
		}
		return err
	}
	x := Session{Client: "claude", ID: fmt.Sprintf("S%d", s.n), Process: deadProcess(s.rng.IntN(50)), Folder: p.Root, Project: p,
		Fork: s.chance(10), Continues: s.chance(20)}
	if s.chance(20) {
		x.ID = fmt.Sprintf("S%d", s.rng.IntN(s.n)+1)
	}
	if s.chance(20) {
		x.Process = self()
	}
	done, err := s.desk().StartSession(ctx, x)
	if err == nil {
		s.people = append(s.people, Caller{Agent: done.Agent, Process: x.Process, Session: x.ID, Project: p})
	}
	return err
}

// letter makes a random letter.
func (s *schedule) letter() Letter {
	s.n++
	l := Letter{
		Body: []byte(strings.Repeat(fmt.Sprintf("text %d ", s.n), 1+s.rng.IntN(3))),
		Kind: pick(s, []mail.Kind{"", "", "", mail.Question, mail.Question, mail.Note, mail.Answer, mail.Request, mail.Ack}),
		Hops: pick(s, []int{0, 0, 1, 2, 3, 5}), Importance: mail.Importance(s.rng.IntN(3) - 1),
		AckWanted: s.chance(20), NoWake: s.chance(10), NotAnswer: s.chance(10),
	}
	if s.chance(5) {
		l.Body = []byte(strings.Repeat("\xff\x00long ", 8000))
	}
	if s.chance(10) {
		l.Subject = fmt.Sprintf("subject %d", s.n)
	}
	if s.chance(10) {
		l.Files = []File{{Name: "a.txt", Content: l.Body}}
	}
	if s.chance(30) {
		l.Expires = time.Duration(1+s.rng.IntN(120)) * time.Minute
	}
	if s.chance(15) {
		l.ClientID = fmt.Sprintf("client %d", s.rng.IntN(20))
	}
	switch s.rng.IntN(10) {
	case 0:
		l.To = []string{pick(s, []string{"*", "project:one", "project:two", "@all"})}
		l.Kind = pick(s, []mail.Kind{"", mail.Note, mail.Request, mail.Answer})
	case 1, 2, 3:
		l.Thread = string(pick(s, s.threads))
	case 4:
		l.Re = string(pick(s, s.messages))
	case 5:
		l.Answers = string(pick(s, s.messages))
	}
	if len(l.To) == 0 && (l.Thread == "" && l.Re == "" && l.Answers == "" || s.chance(30)) {
		for range 1 + s.rng.IntN(2) {
			l.To = append(l.To, string(s.person().Agent.Name))
		}
	}
	if s.chance(10) {
		l.AnswerTo = string(s.person().Agent.ID)
	}
	return l
}

// step does one random thing and reports what it was.
func (s *schedule) step() (what string, err error) {
	ctx := context.Background()
	d, who := s.desk(), s.person()
	thread := string(pick(s, s.threads))
	switch n := s.rng.IntN(100); {
	case n < 40:
		var sent Sent
		if sent, err = d.Send(ctx, who, s.letter()); err == nil {
			s.note(sent)
		}
		return "send", err
	case n < 50:
		var sent Sent
		if sent, err = d.Answer(ctx, who, "", Letter{Body: []byte("an answer")}); err == nil {
			s.note(sent)
		}
		return "answer", err
	case n < 58:
		list, more, err := d.Take(ctx, who, 1+s.rng.IntN(5), time.Minute)
		if err == nil && more < 0 {
			s.t.Fatalf("%d more", more)
		}
		var ids []event.ID
		for _, m := range list {
			ids = append(ids, m.ID)
		}
		if err == nil && s.chance(80) {
			err = d.Seen(ctx, who, ids, "test")
		}
		return "read", err
	case n < 62:
		id := pick(s, s.messages)
		if s.chance(70) {
			box, err := d.Inbox(ctx, who, s.chance(50), Page{})
			if err != nil {
				return "ack", err
			}
			id = pick(s, box.Messages).ID
		}
		_, err = d.Ack(ctx, who, []string{string(id)})
		return "ack", err
	case n < 66:
		v, err := d.OpenThread(ctx, who, "a talk", []string{string(s.person().Agent.Name)}, s.rng.IntN(4))
		if err == nil {
			s.threads = append(s.threads, v.ID)
		}
		return "open", err
	case n < 69:
		_, err = d.AddToThread(ctx, who, thread, []string{string(s.person().Agent.Name)})
		return "add", err
	case n < 72:
		who, thread := s.owned(who, thread)
		_, err = d.GrantHops(ctx, who, thread, 1+s.rng.IntN(3))
		return "grant", err
	case n < 75:
		who, thread := s.owned(who, thread)
		_, err = d.CloseThread(ctx, who, thread, "done")
		return "close", err
	case n < 78:
		question := pick(s, s.messages)
		if q := s.openQuestion(); s.chance(50) && q.ID != "" {
			question, who.Agent.ID = q.ID, q.Asker
		}
		_, err = d.Withdraw(ctx, who, string(question))
		return "withdraw", err
	case n < 82:
		scope := pick(s, []string{"office", BoardScope(s.projects[0], false)})
		key := pick(s, []string{"a", "b", "c"})
		if s.chance(30) {
			_, err = d.BoardDelete(ctx, who, scope, key, nil)
		} else {
			_, err = d.BoardSet(ctx, who, scope, key, fmt.Sprint(s.n), nil)
		}
		return "board", err
	case n < 87:
		return "newcomer", s.newcomer()
	case n < 89:
		_, err = d.Rename(ctx, s.user, string(who.Agent.ID), fmt.Sprintf("renamed%d", s.rng.IntN(20)))
		return "rename", err
	case n < 90:
		if len(s.people) > 3 {
			_, err = d.Retire(ctx, s.user, string(who.Agent.ID), "done")
		}
		return "retire", err
	case n < 92:
		return "end", d.EndSession(ctx, who.Agent.ID, who.Process, "other")
	case n < 94:
		_, err = d.Ask(ctx, who, Asking{Letter: Letter{To: []string{string(s.person().Agent.Name)}, Body: []byte(fmt.Sprint("well? ", s.rng.IntN(5)))}, Timeout: time.Millisecond})
		if fault.Is(err, fault.Timeout) {
			err = nil
		}
		return "ask", err
	case n < 95 && s.back:
		s.clock.move(-time.Hour)
		return "the clock jumps back", nil
	default:
		s.clock.move(time.Duration(s.rng.IntN(20)) * time.Minute)
		return "time passes", nil
	}
}

// owned makes it likely that the one who acts is the thread's owner.
func (s *schedule) owned(who Caller, thread string) (Caller, string) {
	d := s.desk()
	list, err := d.ThreadList(context.Background(), s.user, true, true, Page{Limit: 50})
	if err != nil {
		s.t.Fatal(err)
	}
	t := pick(s, list.Threads)
	if t.ID == "" || s.chance(30) {
		return who, thread
	}
	if owner, err := d.Who(context.Background(), t.Owner); err == nil {
		who.Agent = owner
	}
	return who, string(t.ID)
}

// openQuestion picks one of the questions that are open.
func (s *schedule) openQuestion() (q projection.Question) {
	d := s.desk()
	err := d.look(context.Background(), func(tx *Tx) error {
		list, err := d.tables.OpenQuestions(tx.t, 100)
		q = pick(s, list)
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return q
}

func (s *schedule) note(sent Sent) {
	if sent.Thread != "" {
		s.threads = append(s.threads, sent.Thread)
		s.messages = append(s.messages, sent.ID)
	}
	for _, r := range sent.Recipients {
		if r.ID != "" {
			s.messages = append(s.messages, r.ID)
			s.threads = append(s.threads, r.Thread)
		}
	}
}

// run does some steps. Refusals are part of life; the office itself must not
// fail.
func (s *schedule) run(steps int) {
	s.t.Helper()
	for range steps {
		what, err := s.step()
		s.did[what]++
		var f *fault.Error
		if err == nil {
			s.did[what+" done"]++
			s.clock.move(time.Duration(s.rng.IntN(2000)) * time.Millisecond)
		} else if !errors.As(err, &f) || f.Code == fault.Unavailable {
			s.t.Fatalf("%s: %v", what, err)
		}
	}
}

// TestTheTablesAreTheFold: whatever happens, the tables that grew event by
// event are those that a fresh fold gives, and everybody sees the same mail in
// the same state.
func TestTheTablesAreTheFold(t *testing.T) {
	schedules(t, func(t *testing.T, seed uint64) {
		back := seed%2 == 0
		c := newClock()
		d := openDesk(t, Options{Now: c.now})
		s := newSchedule(t, seed, c, back, d)
		for range 3 {
			s.run(150)
			s.check()
		}
		s.covered()
		if err := d.Rebuild(context.Background()); err != nil {
			t.Fatal(err)
		}
		s.check()
	})
}

// count is how many random schedules a test plays.
var count = flag.Uint64("schedules", 2, "random schedules for each test")

func schedules(t *testing.T, play func(t *testing.T, seed uint64)) {
	n := *count
	if testing.Short() {
		n = (n + 1) / 2
	}
	for seed := range n {
		t.Run(fmt.Sprint("seed ", seed+1), func(t *testing.T) { play(t, seed+1) })
	}
}
