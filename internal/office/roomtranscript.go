package office

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/name"
	"bureau/internal/paper/transcript"
	"bureau/internal/projection"
	"bureau/internal/room"
)

// TranscriptOptions say where a room's live transcript lies and what it shows.
type TranscriptOptions struct {
	Root    string `json:"root"`              // the folder that it must lie in, absolute
	Path    string `json:"path"`              // absolute, or relative to Root
	Force   bool   `json:"force,omitempty"`   // allows a Path outside Root
	Lang    string `json:"lang,omitempty"`    // of the labels; see transcript.Spec
	Private bool   `json:"private,omitempty"` // shows whispers too: the human's own copy

	// Optional is for a place that nobody chose, see [UsualTranscript].
	Optional bool `json:"-"`
}

// UsualTranscript gives the options of a room's transcript when nobody chose its
// place: below root, which is the project that the opener works in, or the work
// tree of it; "" for neither. A room is opened also where such a file cannot be
// made, and the result says why there is none. One that a closed room left there
// is put aside under a dated name.
func UsualTranscript(root, roomName string) *TranscriptOptions {
	roomName = strings.TrimSpace(roomName)
	if h, err := room.Handle(roomName); err == nil {
		roomName = string(h)
	}
	return &TranscriptOptions{Root: root, Path: transcript.DefaultPath(roomName), Optional: true}
}

func (t *TranscriptOptions) spec(id event.ID) transcript.Spec {
	return transcript.Spec{Root: t.Root, Path: t.Path, Force: t.Force, Room: string(id), Lang: t.Lang, Private: t.Private}
}

// full is the path of the file.
func (t *TranscriptOptions) full() string {
	if filepath.IsAbs(t.Path) {
		return filepath.Clean(t.Path)
	}
	return filepath.Join(t.Root, t.Path)
}

// move gives the file another path, written as before.
func (t *TranscriptOptions) move(path string) {
	if rel, err := filepath.Rel(t.Root, path); err == nil && filepath.IsLocal(rel) && !filepath.IsAbs(t.Path) {
		path = rel
	}
	t.Path = path
}

// movedTo takes another folder for the one that the transcript lies in, if the
// room's file lies there: it says whose it is.
func (t *TranscriptOptions) movedTo(id event.ID, root string) bool {
	if root == "" || root == t.Root {
		return false
	}
	now := *t
	now.Root = root
	_, err := transcript.Open(now.spec(id))
	if err != nil && transcript.Aside(now.spec(id)) == "" {
		return false
	}
	t.Root = root
	return true
}

func sameFile(a, b *TranscriptOptions) bool { return a != nil && b != nil && a.full() == b.full() }

// transcriptOf gives the transcript that a room was opened with, nil for none.
// Where the folder that it lay in is gone it may have moved with its project, to
// where the office knows that one to be. That of a closed room may have been put
// aside for a later one's; then its place is where it lies now.
func (tx *Tx) transcriptOf(r *room.Room) *TranscriptOptions {
	t := transcriptAtFirst(r)
	if t.lost() {
		known, _ := tx.o.tables.Projects(tx.t) // without them it is said that the folder is gone
		for i := range known {
			if t.movedTo(r.ID, known[i].Root) {
				break
			}
		}
	}
	return t.aside(r)
}

// transcriptOf is the same outside of a transaction.
func (o *Office) transcriptOf(ctx context.Context, r *room.Room) (t *TranscriptOptions, err error) {
	if t = transcriptAtFirst(r); !t.lost() {
		return t.aside(r), nil
	}
	err = o.look(ctx, func(tx *Tx) error {
		t = tx.transcriptOf(r)
		return nil
	})
	return t, err
}

// transcriptAtFirst gives the options as they were when the room was opened.
func transcriptAtFirst(r *room.Room) *TranscriptOptions {
	var t TranscriptOptions
	if len(r.Transcript) == 0 || json.Unmarshal(r.Transcript, &t) != nil || t.Path == "" {
		return nil
	}
	return &t
}

// lost reports whether the folder that the file lies in is gone, and the file
// may be below another one.
func (t *TranscriptOptions) lost() bool {
	return t != nil && !filepath.IsAbs(t.Path) && Gone(t.Root)
}

// aside gives the place of a closed room's transcript that was put aside.
func (t *TranscriptOptions) aside(r *room.Room) *TranscriptOptions {
	if t != nil && r.Status == room.Closed {
		if aside := transcript.Aside(t.spec(r.ID)); aside != "" {
			t.move(aside)
		}
	}
	return t
}

// layTranscript makes the file of a room that is about to be opened, so that a
// refusal opens no room; undo takes it away again. Where the file of a former
// room lies that has to be put aside first it gives that room, and the new file
// is made afterwards. Without a transcript after all op has none, and note says
// why.
func (o *Office) layTranscript(ctx context.Context, caller Caller, id event.ID, op *Opening, old *namesake) (undo func(), former *namesake, note string, err error) {
	undo = func() {}
	t := op.Transcript
	if t == nil {
		return undo, nil, "", nil
	}
	without := func(why string) (func(), *namesake, string, error) {
		op.Transcript = nil
		return undo, nil, fmt.Sprintf("no transcript: %s; to have one, open the room again with --force --transcript FILE", why), nil
	}
	if t.Optional && t.Root == "" {
		return without("this folder belongs to no project")
	}
	same := old != nil && sameFile(old.transcript, t)
	if same && op.Force && !t.Optional {
		return undo, old, "", nil
	}
	made, err := o.beginTranscript(id, *op)
	var f *fault.Error
	switch {
	case err == nil:
		return made, nil, "", nil
	case t.Optional && !fault.Is(err, fault.Invalid):
		if former, ferr := o.formerOf(ctx, op, old, err); ferr != nil || former != nil {
			return undo, former, "", ferr
		}
		return without(inTheWay(caller, t, err))
	case same && errors.As(err, &f) && f.Code == fault.Conflict:
		f.Hint = fmt.Sprintf("choose another path; or bureau room open %s --force keeps the old one under a dated name", strings.TrimSpace(op.Name))
	}
	return undo, nil, "", err
}

// inTheWay says why a transcript cannot be made where it should be. Where one
// lies that shows whispers only the human is told its path.
func inTheWay(caller Caller, t *TranscriptOptions, err error) string {
	if !caller.Human && transcript.ShowsWhispers(t.full()) {
		return "the transcript of another room lies in its place, which is the person's alone"
	}
	return err.Error()
}

// formerOf gives the room whose transcript is in the way, as a refusal says, if
// it is closed, or is about to be; nil for any other.
func (o *Office) formerOf(ctx context.Context, op *Opening, old *namesake, refusal error) (former *namesake, err error) {
	var f *fault.Error
	if !errors.As(refusal, &f) {
		return nil, nil
	}
	other, ok := f.Detail.(transcript.Another)
	if !ok {
		return nil, nil
	}
	err = o.look(ctx, func(tx *Tx) error {
		former = nil
		row, found, err := o.tables.Room(tx.t, event.ID(other.Room))
		if err != nil || !found {
			return err // another office's, perhaps
		}
		closing := op.Force && old != nil && old.id == row.ID
		t := tx.transcriptOf(&row.Room)
		if t == nil || row.Status == room.Open && !closing {
			return nil
		}
		// It lies here, also if the project lay elsewhere when it was made.
		t.Root, t.Path, t.Force = op.Transcript.Root, op.Transcript.Path, op.Transcript.Force
		former = &namesake{id: row.ID, transcript: t}
		return nil
	})
	return former, err
}

// beginTranscript makes the file of a room that is about to be opened. undo
// takes it away again.
func (o *Office) beginTranscript(id event.ID, op Opening) (undo func(), err error) {
	h := transcript.Header{Topic: op.Topic, Purpose: op.Purpose, File: op.Transcript.Path, Opened: o.Now()}
	for _, i := range op.Members {
		if handle, err := room.Handle(i.Handle); err == nil {
			h.Members = append(h.Members, transcript.Member{Handle: string(handle), Name: shownName(i.Name, handle), Status: transcript.Invited})
		}
	}
	f, err := transcript.Create(op.Transcript.spec(id), h)
	if err != nil {
		return nil, err
	}
	return func() { _ = os.Remove(f.Path()) }, nil
}

// transcriptHeader shows how a room stands. Turns that wait are counted in the
// human's own copy only: whispers count among them.
func transcriptHeader(row *projection.RoomRow, t *TranscriptOptions) transcript.Header {
	r := &row.Room
	h := transcript.Header{Seq: row.Pub, Topic: r.Topic, Purpose: r.Purpose, File: t.Path, Opened: r.Opened, Turn: string(r.Holder)}
	if t.Private {
		h.Seq = r.Seq
	}
	queue := room.Queue(r)
	if r.Status == room.Closed {
		h.Closed, queue = r.Last, nil // nobody waits any more
	}
	for _, q := range queue {
		w := transcript.Waiting{Handle: string(q)}
		if m, found := r.Member(q); found && t.Private {
			w.Points = m.Points
		}
		h.Queue = append(h.Queue, w)
	}
	for i := range r.Members {
		m := &r.Members[i]
		status := map[room.Presence]transcript.Status{room.Invited: transcript.Invited, room.Present: transcript.Present, room.Gone: transcript.Away, room.Left: transcript.Left}[m.Presence]
		if r.Status == room.Closed && status == transcript.Present {
			status = transcript.Stayed
		}
		h.Members = append(h.Members, transcript.Member{Handle: string(m.Handle), Name: shownName(m.Name, m.Handle), Status: status, Joined: m.Joined})
	}
	return h
}

// shownName is a member's name for display: the handle, if it gave none.
func shownName(given string, handle name.Name) string {
	if given == "" {
		return string(handle)
	}
	return given
}

// transcriptEntry shows an entry, what happened in the transcript's language.
func transcriptEntry(v *RoomEntry, w *roomWords) transcript.Entry {
	e := transcript.Entry{Seq: v.Seq, Kind: transcript.Notice, Time: v.Time, Body: v.Text}
	if v.Detail != nil {
		e.Body = w.notice(v.Kind, v.Detail)
	}
	switch v.Kind {
	case room.KindSaid, room.KindWhispered:
		e.Kind = transcript.Message
		if v.Private {
			e.Kind = transcript.Whisper
		}
		e.From, e.RelayedBy = string(v.From), string(v.Relayed)
		for _, h := range v.To {
			e.To = append(e.To, string(h))
		}
	case room.KindProposed:
		e.Kind, e.From = transcript.Proposal, string(v.From)
	case room.KindVoted:
		e.Kind, e.From = transcript.Vote, string(v.From)
	case room.KindDecided:
		e.Kind = transcript.Result
	case room.KindClosed:
		e.Kind = transcript.Close
	}
	return e
}

// keepTranscript brings a closed room's transcript to its end and puts it aside
// under a dated name. It gives that path, or a note.
func (o *Office) keepTranscript(ctx context.Context, caller Caller, old *namesake) (kept, note string) {
	if old.transcript == nil {
		return "", ""
	}
	t := *old.transcript
	secret := t.Private && !caller.Human
	err := o.syncTranscript(ctx, old.id, &t)
	if fault.Is(err, fault.NotFound) {
		return "", "" // somebody took it away
	}
	path, serr := transcript.SetAside(ctx, t.spec(old.id), o.Now())
	if err == nil && serr == nil {
		t.move(path)
		serr = o.syncTranscript(ctx, old.id, &t) // its head says where it is
	}
	if err = errors.Join(err, serr); err != nil && secret {
		return "", "the closed room's transcript could not be put aside; it lies where it was"
	}
	if err != nil {
		return path, "the transcript of the closed room: " + err.Error()
	}
	if secret {
		return "", ""
	}
	return path, ""
}
