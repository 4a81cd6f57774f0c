package journal

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"bureau/internal/event"
	"bureau/internal/fault"
)

// An exported journal is a text file of JSON lines: a first line that names
// the format and the position it starts after, one record per line in order,
// and a last line that counts them, so that a file that was cut off is noticed
// even between two lines.

const transferFormat = 1

type firstLine struct {
	Format int       `json:"bureau_journal"`
	After  event.Seq `json:"after"`
	// Hash is the hash of the record at After: which journal this continues.
	Hash string `json:"after_hash,omitempty"`
}

type lastLine struct {
	Records *int      `json:"end_records"`
	Head    event.Seq `json:"head"`
}

// Restorer is an engine that can take records as they are, with their
// positions, times and hashes: what [Import] needs.
type Restorer interface {
	Journal
	// Restore stores records exactly as given, all or none, durable when it
	// returns. They must be sound ([CheckRecord]) and continue this journal
	// ([Follows]); otherwise nothing is stored and the error is a conflict or
	// an invalid fault.
	Restore(ctx context.Context, records []event.Record) error
}

// Export writes the records above after, up to the head at the moment of the
// call, and returns how many it wrote. Data keeps its bytes, also of kinds
// that this program does not know.
func Export(ctx context.Context, j Journal, w io.Writer, after event.Seq) (int, error) {
	head, err := j.Head(ctx)
	if err != nil {
		return 0, err
	}
	if after < 0 || after > head {
		return 0, fault.New(fault.Invalid, "the journal has positions 1 to %d; an export cannot start after %d", head, after)
	}
	out := bufio.NewWriterSize(w, 64<<10)
	first := firstLine{Format: transferFormat, After: after}
	if after > 0 {
		r, err := at(ctx, j, after)
		if err != nil {
			return 0, err
		}
		first.Hash = r.Hash
	}
	out.Write(append(encodeJSON(first), '\n'))
	n := 0
	var line []byte
	for seq := after; seq < head; {
		page, err := j.Read(ctx, seq, 0)
		if err != nil {
			return n, err
		}
		if len(page) == 0 {
			return n, fault.New(fault.Unavailable, "the journal ends at %d, before its head %d", seq, head).WithHint("`bureau doctor` looks for the missing records")
		}
		for i := range page {
			if seq = page[i].Seq; seq > head {
				break
			}
			line = append(AppendRecord(line[:0], &page[i]), '\n')
			if _, err := out.Write(line); err != nil {
				return n, fault.New(fault.Unavailable, "the export cannot be written: %w", err)
			}
			n++
		}
	}
	out.Write(append(encodeJSON(lastLine{Records: &n, Head: head}), '\n'))
	if err := out.Flush(); err != nil {
		return n, fault.New(fault.Unavailable, "the export cannot be written: %w", err)
	}
	return n, nil
}

// at reads the record at a position.
func at(ctx context.Context, j Journal, seq event.Seq) (event.Record, error) {
	page, err := j.Read(ctx, seq-1, 1)
	if err != nil {
		return event.Record{}, err
	}
	if len(page) == 0 || page[0].Seq != seq {
		return event.Record{}, fault.New(fault.NotFound, "the journal has no record at position %d", seq)
	}
	return page[0], nil
}

// Imported says what [Import] did.
type Imported struct {
	Stored  int       // records that are new
	Skipped int       // records that the journal had already
	Head    event.Seq // the journal's head afterwards
}

// The size of one transaction of an import.
const (
	importRecords = 500
	importBytes   = 8 << 20
)

// maxLine bounds a line: MaxRecord in base64, and the rest.
const maxLine = 8 << 20

// Import reads what [Export] wrote into a journal that the file continues.
//
// Positions are part of what records say (an expectation is a position), so an
// import never renumbers. Into an empty journal it restores positions, hashes
// and digests as they were. Into another one it is accepted only as far as
// both are the same journal: every record of the file up to the journal's head
// must be there already, at the same position and with the same hash, and is
// skipped; what comes after the head is stored. Anything else is a conflict.
// So an import may be repeated, and continues after an interruption.
//
// Every line is verified before any of it is stored. A line that is torn or
// was changed ends the import with an invalid fault that names the line; the
// lines before it stay. progress, if not nil, is called now and then with the
// number of records read.
func Import(ctx context.Context, dst Restorer, r io.Reader, progress func(records int)) (Imported, error) {
	head, err := dst.Head(ctx)
	if err != nil {
		return Imported{}, err
	}
	im := &importer{dst: dst, have: head, done: Imported{Head: head}, progress: progress,
		in: lines{r: bufio.NewReaderSize(r, 64<<10)}}
	err = im.run(ctx)
	return im.done, err
}

type importer struct {
	dst      Restorer
	in       lines
	have     event.Seq      // the journal's head when the import began
	known    []event.Record // the journal's own records, a page at a time
	batch    []event.Record
	bytes    int
	done     Imported
	progress func(int)
}

func (im *importer) run(ctx context.Context) error {
	last, err := im.first(ctx)
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		line, err := im.in.next()
		if err == io.EOF {
			return errors.Join(im.flush(ctx), im.torn("the file ends before its last line; the records up to %d are stored", last))
		}
		if err != nil {
			return errors.Join(im.flush(ctx), im.torn("%w", err))
		}
		if bytes.HasPrefix(line, []byte(`{"end_records"`)) {
			return errors.Join(im.flush(ctx), im.last(line, n, last))
		}
		rec, err := im.parse(line, last)
		if err != nil {
			return errors.Join(im.flush(ctx), err)
		}
		if err := im.take(ctx, rec, len(line)); err != nil {
			return err
		}
		last = rec.Seq
		if im.progress != nil && (n+1)%importRecords == 0 {
			im.progress(n + 1)
		}
	}
}

// first reads the first line and finds the place to continue.
func (im *importer) first(ctx context.Context) (event.Seq, error) {
	line, err := im.in.next()
	var first firstLine
	if err == nil {
		err = json.Unmarshal(line, &first)
	}
	switch {
	case err == io.EOF:
		return 0, fault.New(fault.Invalid, "the file is empty")
	case err != nil || first.Format == 0:
		return 0, fault.New(fault.Invalid, "line 1: this is not an exported journal")
	case first.Format > transferFormat:
		return 0, fault.New(fault.Unavailable, "the file has format %d: written by a newer bureau", first.Format)
	case first.After < 0:
		return 0, im.torn("an export cannot start after %d", first.After)
	case first.After > im.have:
		return 0, fault.New(fault.Conflict, "the file starts after position %d, but the journal ends at %d", first.After, im.have).
			WithHint("import the part before it first")
	case first.After > 0:
		r, err := at(ctx, im.dst, first.After)
		if err != nil {
			return 0, err
		}
		if r.Hash != first.Hash {
			return 0, im.other(first.After)
		}
	}
	return first.After, nil
}

// last checks the last line.
func (im *importer) last(line []byte, n int, seq event.Seq) error {
	var end lastLine
	if err := json.Unmarshal(line, &end); err != nil || end.Records == nil {
		return im.torn("the last line is torn")
	}
	if *end.Records != n || n > 0 && end.Head != seq {
		return im.torn("the file should hold %d records up to position %d, but holds %d up to %d", *end.Records, end.Head, n, seq)
	}
	if im.progress != nil {
		im.progress(n)
	}
	return nil
}

// parse reads one record and verifies it.
func (im *importer) parse(line []byte, last event.Seq) (event.Record, error) {
	rec, err := ParseRecord(line)
	if err != nil {
		return rec, im.torn("the line is torn: %w", err)
	}
	if rec.Seq != last+1 {
		return rec, im.torn("the record at position %d is missing; this one has position %d", last+1, rec.Seq)
	}
	if err := CheckRecord(&rec); err != nil {
		return rec, im.torn("%w", err)
	}
	return rec, nil
}

// take skips a record that is there, and keeps a new one for the next batch.
func (im *importer) take(ctx context.Context, rec event.Record, size int) error {
	if rec.Seq <= im.have {
		if len(im.known) == 0 {
			page, err := im.dst.Read(ctx, rec.Seq-1, 0)
			if err != nil {
				return err
			}
			im.known = page
		}
		if len(im.known) == 0 || im.known[0].Seq != rec.Seq || im.known[0].Hash != rec.Hash {
			return im.other(rec.Seq)
		}
		im.known = im.known[1:]
		im.done.Skipped++
		return nil
	}
	im.batch = append(im.batch, rec)
	im.bytes += size
	if len(im.batch) >= importRecords || im.bytes >= importBytes {
		return im.flush(ctx)
	}
	return nil
}

func (im *importer) flush(ctx context.Context) error {
	if len(im.batch) == 0 {
		return nil
	}
	if err := im.dst.Restore(ctx, im.batch); err != nil {
		return err
	}
	im.done.Stored += len(im.batch)
	im.done.Head = im.batch[len(im.batch)-1].Seq
	im.batch, im.bytes = nil, 0
	return nil
}

func (im *importer) torn(format string, args ...any) error {
	return fault.New(fault.Invalid, "line %d: %w", im.in.n, fmt.Errorf(format, args...)).
		WithHint("export again, or take an undamaged copy; what is stored already is skipped next time")
}

func (im *importer) other(seq event.Seq) error {
	return fault.New(fault.Conflict, "the file is from another journal: its record at position %d is not the one here", seq).
		WithHint("import it into an empty office (BUREAU_HOME)")
}

// lines reads a file line by line and counts.
type lines struct {
	r *bufio.Reader
	n int
}

// next gives the next line without its end; io.EOF means that there is none.
func (l *lines) next() ([]byte, error) {
	l.n++
	var line []byte
	for {
		part, err := l.r.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			return nil, errors.New("the line is too long")
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return bytes.TrimRight(line, "\r\n"), nil
		case errors.Is(err, bufio.ErrBufferFull):
		case err == io.EOF && len(line) > 0:
			return line, nil
		default:
			return nil, err
		}
	}
}
