package office

import (
	"context"
	"sort"
	"strconv"
	"strings"
	"time"

	"bureau/internal/board"
	"bureau/internal/event"
	"bureau/internal/mail"
	"bureau/internal/name"
	"bureau/internal/projection"
	"bureau/internal/room"
	"bureau/internal/roster"
)

// EventView is one thing that happened, as one line shows it.
type EventView struct {
	Seq     event.Seq  `json:"seq"`
	Time    time.Time  `json:"time"`
	Kind    event.Kind `json:"kind"`
	From    string     `json:"from"`
	To      []string   `json:"to,omitempty"`
	Thread  event.ID   `json:"thread,omitempty"`
	Short   string     `json:"short,omitempty"` // the short id of the message or thread it is about
	Message event.ID   `json:"message,omitempty"`
	Mail    mail.Kind  `json:"mail,omitempty"` // of a message
	Text    string     `json:"text,omitempty"` // the first words, or what changed
	Project string     `json:"project,omitempty"`
	Room    name.Name  `json:"room,omitempty"` // of what happened in one
}

// Filter says which events are wanted; zero values want all.
type Filter struct {
	Kind    string // beginning of a kind (message, thread, agent.renamed) or a kind of mail (question)
	Agent   string // who did it or to whom
	Project string // project id
}

// Events lists up to limit events after a position that the caller may see,
// and gives the position to go on from.
func (o *Office) Events(ctx context.Context, caller Caller, f Filter, after event.Seq, limit int) (list []EventView, next event.Seq, err error) {
	err = o.look(ctx, func(tx *Tx) error {
		list, next = nil, after
		for len(list) < limit {
			recs, err := tx.reader()(next, min(limit, 200))
			if err != nil || len(recs) == 0 {
				return err
			}
			for i := range recs {
				next = recs[i].Seq
				for _, v := range tx.eventViews(caller, &recs[i]) {
					if f.wants(&v) {
						list = append(list, v)
					}
				}
				if len(list) >= limit {
					return nil
				}
			}
		}
		return nil
	})
	return list, next, err
}

func (f Filter) wants(v *EventView) bool {
	if f.Kind != "" && !strings.HasPrefix(string(v.Kind), f.Kind) && string(v.Mail) != f.Kind {
		return false
	}
	if f.Project != "" && v.Project != f.Project {
		return false
	}
	if f.Agent == "" || strings.EqualFold(v.From, f.Agent) {
		return true
	}
	for _, to := range v.To {
		if strings.EqualFold(to, f.Agent) {
			return true
		}
	}
	return false
}

// Follow calls fn with every event that comes after a position, in order and
// without gaps, until the context ends or fn returns an error. It is woken by
// bells; a lost one is made up for within a few seconds.
func (o *Office) Follow(ctx context.Context, caller Caller, f Filter, after event.Seq, fn func(EventView) error) error {
	b, err := o.listen("all")
	if err != nil {
		return err
	}
	defer b.Close()
	for {
		for {
			list, next, err := o.Events(ctx, caller, f, after, 200)
			if err != nil {
				return err
			}
			for _, v := range list {
				if err := fn(v); err != nil {
					return err
				}
			}
			if next == after {
				break
			}
			after = next
		}
		if _, err := b.Wait(ctx, sweepEvery); err != nil {
			return waitEnded(ctx, err)
		}
	}
}

// Head gives the position of the newest record.
func (o *Office) Head(ctx context.Context) (event.Seq, error) { return o.journal.Head(ctx) }

// Since gives the position to follow from in order to see what happened after
// a moment. Clocks jump, so it is exact only where times grow with positions.
func (o *Office) Since(ctx context.Context, at time.Time) (event.Seq, error) {
	head, err := o.journal.Head(ctx)
	if err != nil {
		return 0, err
	}
	n := sort.Search(int(head), func(i int) bool {
		recs, rerr := o.journal.Read(ctx, event.Seq(i), 1)
		if rerr != nil {
			err = rerr
			return true
		}
		return len(recs) == 0 || !recs[0].Time.Before(at)
	})
	return event.Seq(n), err
}

// eventViews makes the views of a record's events that the caller may see.
func (tx *Tx) eventViews(caller Caller, rec *event.Record) []EventView {
	subject := string(rec.Subject)
	thread := event.ID("")
	if id, ok := strings.CutPrefix(subject, "thread."); ok {
		thread = event.ID(id)
		if !tx.maySee(caller, thread) {
			return nil
		}
	}
	if id, ok := strings.CutPrefix(subject, "agent."); ok && !caller.Human && event.ID(id) != caller.Agent.ID {
		return nil
	}
	if strings.HasPrefix(subject, "broadcast.") && !caller.Human && rec.Actor.Agent != caller.Agent.ID {
		return nil // its copy is what a recipient sees
	}
	if id, ok := strings.CutPrefix(subject, "room."); ok {
		return tx.roomEvents(caller, event.ID(id), rec)
	}
	var out []EventView
	for _, e := range rec.Events {
		v := EventView{Seq: rec.Seq, Time: rec.Time, Kind: e.Kind, From: tx.actorName(rec), Thread: thread, Project: rec.Project}
		if err := tx.fillEvent(&v, rec, e); err != nil {
			v.Text = "(cannot be read)" // one bad event hides no other
		}
		out = append(out, v)
	}
	return out
}

// actorName gives the name as it was when it happened.
func (tx *Tx) actorName(rec *event.Record) string {
	if rec.Actor.Name != "" {
		return rec.Actor.Name
	}
	return tx.nameOf(rec.Actor.Agent)
}

// fillEvent puts into words what an event says. An unknown kind stays a line
// with its kind alone, and so does an event whose data was erased.
func (tx *Tx) fillEvent(v *EventView, rec *event.Record, e event.Event) error {
	if len(e.Data) == 0 {
		v.Text = "(erased)"
		return nil
	}
	short := func(id event.ID) string {
		s, err := tx.o.tables.Short(tx.t, id)
		if err != nil {
			return string(id)
		}
		return s
	}
	var err error
	switch e.Kind {
	case mail.KindSent:
		var m mail.Message
		if err = e.Decode(&m); err == nil {
			tx.fillMessage(v, &m)
			v.Short = short(m.ID)
		}
	case mail.KindBroadcasted:
		var d mail.Posted
		if err = e.Decode(&d); err == nil {
			tx.fillMessage(v, &d.Message)
			v.To = []string{d.Message.Group}
		}
	case mail.KindOpened:
		var d mail.Opened
		if err = e.Decode(&d); err == nil {
			v.From, v.To, v.Text, v.Short = tx.nameOf(d.Owner), tx.namesOf(d.Members[min(1, len(d.Members)):]), d.Subject, short(d.Thread)
		}
	case mail.KindJoined:
		var d mail.Joined
		if err = e.Decode(&d); err == nil {
			v.From, v.To, v.Short = tx.nameOf(d.By), []string{tx.nameOf(d.Agent)}, short(v.Thread)
		}
	case mail.KindGranted:
		var d mail.Granted
		if err = e.Decode(&d); err == nil {
			v.From, v.Text, v.Short = tx.nameOf(d.By), plural(d.Hops, "hop"), short(v.Thread)
		}
	case mail.KindExhausted:
		var d mail.ExhaustedNotice
		if err = e.Decode(&d); err == nil {
			v.From, v.To, v.Text, v.Short = "bureau", []string{tx.nameOf(d.Owner)}, "hop budget used up", short(v.Thread)
		}
	case mail.KindClosed:
		var d mail.ClosedBy
		if err = e.Decode(&d); err == nil {
			v.From, v.Text, v.Short = tx.nameOf(d.By), d.Reason, short(v.Thread)
		}
	case mail.KindExpired:
		var d mail.ExpiredMessage
		if err = e.Decode(&d); err == nil {
			v.Message, v.Short = d.ID, short(d.ID)
		}
	case mail.KindEnded:
		var d mail.EndedQuestion
		if err = e.Decode(&d); err == nil {
			v.Message, v.To, v.Text, v.Short = d.ID, []string{tx.nameOf(d.Asked)}, d.Reason, short(d.ID)
		}
	case mail.KindPassed:
		var d mail.PassedOn
		if err = e.Decode(&d); err == nil {
			v.From, v.Short, v.Text = tx.nameOf(d.From), short(v.Thread), "has ended; what it left unread needs no other reader"
			if d.To != "" {
				v.To, v.Text = []string{tx.nameOf(d.To)}, "has ended and left it "+plural(len(d.Messages), "message")
			}
		}
	case mail.KindSeen, mail.KindAcked:
		var d mail.Marked
		if err = e.Decode(&d); err == nil {
			words := make([]string, 0, len(d.Messages))
			for _, id := range d.Messages {
				words = append(words, short(id))
			}
			v.Text = strings.Join(words, " ")
		}
	case board.KindSet:
		var d board.Set
		if err = e.Decode(&d); err == nil {
			v.Text = d.Key + " = " + projection.Head(d.Value, projection.PreviewLen)
		}
	case board.KindDeleted:
		var d board.Deleted
		if err = e.Decode(&d); err == nil {
			v.Text = d.Key
		}
	case roster.KindTokenIssued:
		var d roster.Token
		if err = e.Decode(&d); err == nil {
			v.To, v.Text, v.Short = []string{string(d.Name)}, d.Note, short(d.ID)
		}
	case roster.KindTokenRevoked:
		var d roster.TokenRevoked
		if err = e.Decode(&d); err == nil {
			v.From, v.Short = tx.nameOf(d.By), short(d.Token)
		}
	case projection.KindRoomRead:
		var d projection.RoomRead
		if err = e.Decode(&d); err == nil {
			v.Short = short(d.Room)
			if string(d.Handle) != v.From {
				v.Text = "as " + room.At(d.Handle)
			}
			if row, found, err := tx.o.tables.Room(tx.t, d.Room); err == nil && found {
				v.Room = row.Name
			}
		}
	case projection.KindProject:
		var d projection.Project
		if err = e.Decode(&d); err == nil {
			v.Text = d.Name + " at " + d.Root
		}
	default:
		if strings.HasPrefix(string(rec.Subject), "claims.") {
			return tx.fillClaimEvent(v, e)
		}
		err = tx.fillAgentEvent(v, e)
	}
	return err
}

func (tx *Tx) fillMessage(v *EventView, m *mail.Message) {
	v.From, v.To, v.Message, v.Mail = tx.nameOf(m.From), tx.namesOf(m.To), m.ID, m.Kind
	v.Text = m.Body
	if m.Blob != nil {
		v.Text = m.Blob.Head
	}
	if m.Subject != "" {
		v.Text = m.Subject + ": " + v.Text
	}
	v.Text = projection.Head(v.Text, projection.PreviewLen)
}

func (tx *Tx) fillAgentEvent(v *EventView, e event.Event) error {
	switch e.Kind {
	case roster.KindRegistered:
		var d roster.Registered
		if err := e.Decode(&d); err != nil {
			return err
		}
		v.From, v.Text = string(d.Name), string(d.Kind)
	case roster.KindAttached:
		var d roster.Attached
		if err := e.Decode(&d); err != nil {
			return err
		}
		v.From, v.Text = tx.nameOf(d.Agent), d.Life.Client
	case roster.KindDetached:
		var d roster.Detached
		if err := e.Decode(&d); err != nil {
			return err
		}
		v.From, v.Text = tx.nameOf(d.Agent), d.Reason
	case roster.KindRenamed:
		var d roster.Renamed
		if err := e.Decode(&d); err != nil {
			return err
		}
		v.From, v.To = string(d.From), []string{string(d.To)}
	case roster.KindRetired:
		var d roster.RetiredAgent
		if err := e.Decode(&d); err != nil {
			return err
		}
		v.From, v.Text = string(d.Name), d.Reason
	}
	return nil
}

// Standing is what a monitor shows above its lines: how things stand now.
type Standing struct {
	Here      []string       `json:"here"`
	Threads   []ThreadView   `json:"threads"`   // open ones, the newest first
	Questions []QuestionView `json:"questions"` // open ones, the oldest first
	Total     int            `json:"open_threads"`
}

// Standing gives how things stand, as far as the caller may see it.
func (o *Office) Standing(ctx context.Context, caller Caller) (Standing, error) {
	out := Standing{Here: []string{}}
	p, err := o.presence(ctx)
	if err != nil {
		return out, err
	}
	err = o.look(ctx, func(tx *Tx) error {
		out.Here = out.Here[:0]
		all, err := o.tables.Agents(tx.t, "", false)
		for _, a := range all {
			if p.here(a.ID) {
				out.Here = append(out.Here, string(a.Name))
			}
		}
		return err
	})
	if err != nil {
		return out, err
	}
	threads, err := o.ThreadList(ctx, caller, caller.Human, true, Page{Limit: 10})
	if err != nil {
		return out, err
	}
	out.Threads, out.Total = threads.Threads, threads.Total
	out.Questions, err = o.questions(ctx, func(tx *Tx) ([]projection.Question, error) {
		list, err := o.tables.OpenQuestions(tx.t, maxOpenQuestions)
		mine := list[:0]
		for _, q := range list {
			if caller.Human || q.Asker == caller.Agent.ID || q.Asked == caller.Agent.ID {
				mine = append(mine, q)
			}
		}
		return mine, err
	})
	return out, err
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.Itoa(n) + " " + word + "s"
}
