package sqlite

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"

	"bureau/internal/db"
	"bureau/internal/event"
	"bureau/internal/journal"
)

// Problem classes what [Engine.Verify] finds.
type Problem string

const (
	Changed Problem = "changed" // a record or an event is not what was stored
	Missing Problem = "missing" // records are gone
	Torn    Problem = "torn"    // a record cannot be read
	Chain   Problem = "chain"   // a record does not continue its subject's last one
	Digest  Problem = "digest"  // the running digest does not continue: a record was exchanged
	Index   Problem = "index"   // a table derived from the records does not agree with them
	File    Problem = "file"    // SQLite itself finds the file damaged
)

// Finding is one thing that is wrong.
type Finding struct {
	Problem Problem       `json:"problem"`
	Seq     event.Seq     `json:"seq,omitempty"`     // where; 0 if it concerns no position
	Subject event.Subject `json:"subject,omitempty"` // if it is known
	Text    string        `json:"text"`              // in plain words
}

func (f Finding) String() string { return f.Text }

// MaxFindings is how many findings a report lists.
const MaxFindings = 1000

// Report is what [Engine.Verify] found.
type Report struct {
	Head     event.Seq `json:"head"`
	Records  int       `json:"records"` // records read, damaged ones included
	Events   int       `json:"events"`
	Erased   int       `json:"erased"` // events whose data was erased; that is no finding
	Subjects int       `json:"subjects"`
	Findings []Finding `json:"findings"`       // in order of position, at most MaxFindings
	More     int       `json:"more,omitempty"` // findings that are not listed
	Digest   string    `json:"digest"`         // the last record's digest: what a copy elsewhere can be compared with
}

// OK reports whether nothing was found.
func (r *Report) OK() bool { return len(r.Findings) == 0 }

func (r *Report) add(p Problem, seq event.Seq, s event.Subject, format string, args ...any) {
	if len(r.Findings) >= MaxFindings {
		r.More++
		return
	}
	r.Findings = append(r.Findings, Finding{p, seq, s, fmt.Sprintf(format, args...)})
}

// verifyPage is how many records are read in one transaction: others write
// meanwhile, and the log must not wait long for a reader.
const verifyPage = 500

// Verify reads the whole journal and reports everything that is not as it was
// stored: changed, missing and torn records, broken chains and digests, tables
// and indexes that do not agree, and what SQLite's own check finds. It changes
// nothing. progress, if not nil, is called with positions done and in total.
// The error is about the verification itself (ctx ended, the file cannot be
// opened), never about a finding.
func (e *Engine) Verify(ctx context.Context, progress func(done, total int)) (Report, error) {
	v := &verifier{subjects: map[event.Subject]journal.State{}, digest: make([]byte, sha256Size)}
	var head event.Seq
	if err := e.view(ctx, func(tx Tx) error {
		v.schema(tx)
		// A head row that cannot be read is a finding of the last step.
		tx.tx.One(`SELECT max(seq) FROM journal_record`, nil, &head)
		return nil
	}); err != nil {
		return v.Report, err
	}
	for more := true; more && v.last < head; {
		err := e.view(ctx, func(tx Tx) error {
			more = v.page(tx, head)
			return ctx.Err()
		})
		if err != nil {
			return v.Report, err
		}
		if progress != nil {
			progress(int(v.last), int(head))
		}
	}
	// The rest in one snapshot: what was appended meanwhile, and the tables
	// that have to agree with all of it.
	err := e.view(ctx, func(tx Tx) error {
		for v.page(tx, 0) && ctx.Err() == nil {
		}
		v.tables(tx)
		v.file(tx)
		return ctx.Err()
	})
	v.Subjects, v.Digest = len(v.subjects), hex.EncodeToString(v.digest)
	return v.Report, err
}

const sha256Size = 32

// verifier goes through the records in order.
type verifier struct {
	Report
	last     event.Seq // position of the last record read
	digest   []byte    // its digest as stored
	broken   bool      // the row before could not be read, or is missing
	unread   bool      // the database gave up on the rest of the records
	gaps     []gap
	subjects map[event.Subject]journal.State
}

// gap is a range of missing or unreadable positions.
type gap struct{ from, to event.Seq }

func (v *verifier) lost(seq event.Seq) bool {
	for _, g := range v.gaps {
		if g.from <= seq && seq <= g.to {
			return true
		}
	}
	return v.unread && seq > v.last
}

// page reads the next records, up to the position to unless that is 0, and
// reports whether there may be more.
func (v *verifier) page(tx Tx, to event.Seq) bool {
	if v.unread {
		return false
	}
	n := 0
	where, args := `seq > ?`, []any{v.last}
	if to > 0 {
		where, args = where+` AND seq <= ?`, append(args, to)
	}
	err := tx.tx.Each(`SELECT `+columns+`, digest FROM journal_record WHERE `+where+` ORDER BY seq LIMIT ?`, append(args, verifyPage), func(row db.Row) error {
		n++
		return v.row(row)
	})
	if tx.tx.Context().Err() != nil {
		return false
	}
	if err != nil {
		v.unread = true
		v.add(File, v.last, "", "the records after position %d cannot be read: %v", v.last, err)
		return false
	}
	return n > 0
}

// row checks one record.
func (v *verifier) row(row db.Row) error {
	var c [11]any
	to := make([]any, len(c))
	for i := range c {
		to[i] = &c[i]
	}
	if err := row.Scan(to...); err != nil {
		return err
	}
	seq, _ := c[0].(int64)
	if event.Seq(seq) <= v.last {
		// Going on from here could lead in a circle.
		return fmt.Errorf("position %d comes after %d: the table is out of order", seq, v.last)
	}
	v.position(event.Seq(seq))
	v.Records++
	rec, err := decode(c[:])
	if err != nil {
		s, _ := c[2].(string)
		v.add(Torn, rec.Seq, event.Subject(s), "record %d%s cannot be read: %v", rec.Seq, on(event.Subject(s)), err)
		v.gaps = append(v.gaps, gap{rec.Seq, rec.Seq})
	} else {
		v.record(&rec)
	}
	v.chainDigest(&rec, c[10])
	return nil
}

// on says which subject, if it is known.
func on(s event.Subject) string {
	if s == "" {
		return ""
	}
	return " (" + string(s) + ")"
}

// position looks for missing records before seq.
func (v *verifier) position(seq event.Seq) {
	if from, to := v.last+1, seq-1; from <= to {
		v.gaps = append(v.gaps, gap{from, to})
		v.broken = true
		if from == to {
			v.add(Missing, from, "", "record %d is missing", from)
		} else {
			v.add(Missing, from, "", "records %d to %d are missing", from, to)
		}
	}
	v.last = seq
}

// record checks what a record says about itself and its subject.
func (v *verifier) record(r *event.Record) {
	v.Events += len(r.Events)
	for i, ev := range r.Events {
		switch {
		case journal.Erased(ev):
			v.Erased++
		case event.Sum(ev.Data) != ev.Sum:
			v.add(Changed, r.Seq, r.Subject, "record %d%s: event %d (%s) was changed after it was stored", r.Seq, on(r.Subject), i+1, ev.Kind)
		}
	}
	if r.ComputeHash() != r.Hash {
		v.add(Changed, r.Seq, r.Subject, "record %d%s was changed after it was stored: it does not match its hash", r.Seq, on(r.Subject))
	}
	before := v.subjects[r.Subject]
	// What continues a lost record cannot be checked, and is no finding of its own.
	if lost := r.Expect != nil && v.lost(*r.Expect); !lost {
		if err := journal.Follows(r, r.Seq-1, before); err != nil {
			v.add(Chain, r.Seq, r.Subject, "record %d%s is out of place: %v", r.Seq, on(r.Subject), err)
		}
	}
	v.subjects[r.Subject] = journal.Then(r)
}

// chainDigest checks the running digest. After a mismatch it goes on from what
// is stored, so that one damage is one finding.
func (v *verifier) chainDigest(r *event.Record, stored any) {
	digest, _ := stored.([]byte)
	hash, err := hex.DecodeString(r.Hash)
	switch {
	case len(digest) != sha256Size:
		v.add(Torn, r.Seq, r.Subject, "record %d%s has no digest", r.Seq, on(r.Subject))
		v.broken = true
		return
	case v.broken || err != nil || len(hash) != sha256Size:
		// Nothing to compare with; reported already.
	case !bytes.Equal(digest, digestOf(v.digest, hash)):
		v.add(Digest, r.Seq, r.Subject, "record %d%s does not continue the running digest: it, or the one before, was exchanged", r.Seq, on(r.Subject))
	}
	v.digest, v.broken = digest, false
}
