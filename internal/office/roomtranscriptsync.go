package office

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/paper/transcript"
	"bureau/internal/projection"
	"bureau/internal/room"
)

// transcribed is how many entries one look reads for a transcript.
const transcribed = 100

// transcribe brings a room's transcript up to date and gives a note when it
// could not: a file never stands in the way of a meeting.
func (o *Office) transcribe(ctx context.Context, r *room.Room) (note string) {
	t, err := o.transcriptOf(ctx, r)
	if t == nil {
		return "" // with an error too: the next post finds it
	}
	if err == nil {
		err = o.syncTranscript(ctx, r.ID, t)
	}
	if err != nil && t.Private {
		// Where it lies is for the human alone, and who posts is a member.
		return "the person's transcript is behind; the person sees why: bureau room transcript " + string(r.Name) + " --sync"
	}
	if err = t.nextStep(err, r); err != nil {
		note = "the transcript is behind: " + err.Error()
		if hint := fault.HintOf(err); hint != "" {
			note += " (" + hint + ")"
		}
	}
	return note
}

// nextStep says of an error about a room's transcript what helps.
func (t *TranscriptOptions) nextStep(err error, r *room.Room) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	sync := "bureau room transcript " + string(r.Name) + " --sync"
	if f.Code == fault.NotFound {
		if _, gone := os.Stat(t.folder()); errors.Is(gone, fs.ErrNotExist) {
			return fault.New(fault.NotFound, "the folder %s, in which the transcript of room %s lies, is not there", t.folder(), r.Name).
				WithHint("if the project was moved, run it once in its new folder: %s; else make the folder again, and the same writes the file anew", sync)
		}
	}
	f.Hint = strings.ReplaceAll(f.Hint, "bureau room transcript NAME --sync", sync)
	return err
}

// folder is what has to be there for the file to be made.
func (t *TranscriptOptions) folder() string {
	if rel, err := filepath.Rel(t.Root, t.full()); err == nil && filepath.IsLocal(rel) {
		return t.Root
	}
	return filepath.Dir(t.full())
}

// Transcribed is where a room's transcript lies.
type Transcribed struct {
	Path string // "" if the room has none that the caller may read
	// Kept is where one lies now that was put aside because the journal does not
	// have what it tells, or another program had changed it.
	Kept string
}

// RoomTranscriptSync brings a room's transcript up to date, as every post does.
// One that was moved with the caller's project is known at the new place from now
// on. Where it is missing it is made anew; so is one that tells another course of
// the meeting than the journal does, or that another program has changed: that one
// is kept beside it under a dated name. The human's own copy is left to the human.
func (o *Office) RoomTranscriptSync(ctx context.Context, caller Caller, s Sitting) (out Transcribed, err error) {
	c, err := o.lookIn(ctx, caller, s)
	if err != nil {
		return out, err
	}
	r := &c.row.Room
	if !mayReadRoom(r, caller) {
		return out, noPart(caller, r)
	}
	t, err := o.transcriptOf(ctx, r)
	if err != nil || t == nil || t.Private && !caller.Human {
		return out, err
	}
	if t.lost() && !o.ReadOnly() && t.movedTo(c.id, caller.Project.Root) {
		// From now on everybody finds it there.
		p := o.marked(ctx, caller.Project)
		if err := o.change(ctx, caller.actor(), func(tx *Tx) error { return tx.noteProject(p) }); err != nil {
			return out, err
		}
	}
	err = o.syncTranscript(ctx, c.id, t)
	if transcript.Renewable(err) && !o.ReadOnly() {
		if out.Kept, err = transcript.SetAside(ctx, t.spec(c.id), o.Now()); err != nil {
			return out, t.nextStep(err, r)
		}
		err = o.renewTranscript(ctx, c.id, t)
	} else if fault.Is(err, fault.NotFound) {
		err = o.renewTranscript(ctx, c.id, t)
	}
	if err != nil {
		return out, t.nextStep(err, r)
	}
	out.Path = t.full()
	return out, nil
}

// renewTranscript writes a transcript that is not there.
func (o *Office) renewTranscript(ctx context.Context, id event.ID, t *TranscriptOptions) error {
	h, _, err := o.transcriptPage(ctx, id, t, transcript.Point{})
	if err != nil {
		return err
	}
	h.Seq = 0
	if _, err := transcript.Create(t.spec(id), h); err != nil {
		return err
	}
	return o.syncTranscript(ctx, id, t)
}

// syncTranscript appends what a room's transcript lacks, whoever posted it.
func (o *Office) syncTranscript(ctx context.Context, id event.ID, t *TranscriptOptions) error {
	f, err := transcript.Open(t.spec(id))
	if err != nil {
		return err
	}
	for more := true; more; {
		more = false
		err := f.Update(ctx, func(after transcript.Point) (transcript.Header, []transcript.Entry, error) {
			h, entries, err := o.transcriptPage(ctx, id, t, after)
			more = len(entries) == transcribed
			return h, entries, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// transcriptPage reads what a transcript lacks, and refuses one whose last entry
// is not the journal's. A public one is numbered by what everybody may see, so
// that its numbers tell of no whisper.
func (o *Office) transcriptPage(ctx context.Context, id event.ID, t *TranscriptOptions, after transcript.Point) (h transcript.Header, out []transcript.Entry, err error) {
	err = o.look(ctx, func(tx *Tx) error {
		out = nil
		row, _, err := o.tables.Room(tx.t, id)
		if err != nil {
			return err
		}
		// What can only be read may have tables that are behind the journal.
		if last := after.Last.Seq; last > 0 && !o.ReadOnly() {
			there, err := tx.transcriptEntries(&row, t, last-1, 1)
			if err != nil {
				return err
			}
			var same *transcript.Entry
			if len(there) > 0 && there[0].Seq == last {
				same = &there[0]
			}
			if err := after.Is(same); err != nil {
				return err
			}
		}
		if out, err = tx.transcriptEntries(&row, t, after.Seq, transcribed); err != nil {
			return err
		}
		h = transcriptHeader(&row, t)
		if n := len(out); n == transcribed {
			h.Seq = out[n-1].Seq // more follows
		}
		return nil
	})
	return h, out, err
}

// transcriptEntries gives the entries after a number, as a transcript has them.
func (tx *Tx) transcriptEntries(row *projection.RoomRow, t *TranscriptOptions, after int64, most int) (out []transcript.Entry, err error) {
	l := roomLook{reader: projection.Reader{Human: t.Private}}
	var places []projection.RoomPlace
	if t.Private {
		places, err = tx.o.tables.RoomEntries(tx.t, row.ID, l.reader, after, most)
	} else {
		places, err = tx.o.tables.RoomPublic(tx.t, row.ID, after, most)
	}
	for i := range places {
		v, err := tx.entry(row, &l, &places[i], 0)
		if err != nil {
			return nil, err
		}
		e := transcriptEntry(&v, roomWordsIn(t.Lang))
		if tx.record.Seq == places[i].Pos {
			e.Mark = courseMark(&tx.record)
		}
		out = append(out, e)
	}
	return out, err
}

// courseMark tells the record of an entry from all others, and with it the course
// that the meeting took: records of a room are chained. It is the beginning of a
// hash that holds the record's id, so that it tells of nothing else in it.
func courseMark(rec *event.Record) string { return rec.Hash[:min(16, len(rec.Hash))] }
