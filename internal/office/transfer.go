package office

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/journal"
	"bureau/internal/mail"
	"bureau/internal/room"
)

// An exported office is JSON lines: first the contents that records name (one
// line each, {"blob": SHA-256, "data": base64}), then the journal as package
// journal writes it. A record is never stored before what it names.

type blobLine struct {
	Blob string `json:"blob"`
	Data []byte `json:"data"`
}

// Exported says what an export wrote.
type Exported struct {
	Records int      `json:"records"`
	Blobs   int      `json:"blobs"`
	Missing []string `json:"missing,omitempty"` // contents that records name and that are not there
}

// Export writes the journal after a position, with the contents it names. The
// caller must be the human: an agent sees only what it takes part in, which
// [Office.Events] gives.
func (o *Office) Export(ctx context.Context, caller Caller, w io.Writer, after event.Seq) (Exported, error) {
	var out Exported
	if !caller.Human {
		return out, fault.New(fault.Denied, "%s sees only what it takes part in, which is no whole journal", caller.Agent.Name).
			WithHint("bureau tail --since 0 --json shows it; the person exports from a plain terminal")
	}
	buf := bufio.NewWriterSize(w, 64<<10)
	enc := json.NewEncoder(buf)
	err := o.named(ctx, after, func(sum string) error {
		content, err := o.Blob(sum)
		if err != nil {
			out.Missing = append(out.Missing, sum)
			return nil
		}
		out.Blobs++
		return enc.Encode(blobLine{Blob: sum, Data: content})
	})
	if err == nil {
		err = buf.Flush()
	}
	if err != nil {
		return out, err
	}
	out.Records, err = journal.Export(ctx, o.journal, w, after)
	return out, err
}

// named calls fn once for each content that the journal names after a position.
func (o *Office) named(ctx context.Context, after event.Seq, fn func(sum string) error) error {
	done := map[string]bool{}
	once := func(sum string) error {
		if sum == "" || done[sum] {
			return nil
		}
		done[sum] = true
		return fn(sum)
	}
	for {
		recs, err := o.journal.Read(ctx, after, 500)
		if err != nil || len(recs) == 0 {
			return err
		}
		for _, r := range recs {
			after = r.Seq
			for _, e := range r.Events {
				m, ok := messageOf(e)
				if !ok {
					continue
				}
				if m.Blob != nil {
					if err := once(m.Blob.Sum); err != nil {
						return err
					}
				}
				for _, f := range m.Files {
					if err := once(f.Sum); err != nil {
						return err
					}
				}
			}
		}
	}
}

// messageOf gives the message that an event carries; of one in a room only the
// content that it names.
func messageOf(e event.Event) (m mail.Message, ok bool) {
	switch e.Kind {
	case mail.KindSent:
		ok = e.Decode(&m) == nil
	case mail.KindBroadcasted:
		var d mail.Posted
		ok = e.Decode(&d) == nil
		m = d.Message
	case room.KindSaid, room.KindWhispered:
		var d room.Message
		if ok = e.Decode(&d) == nil; ok && d.Blob != nil {
			m.Blob = &mail.Blob{Sum: d.Blob.Sum}
		}
	}
	return m, ok
}

// Imported says what an import stored.
type Imported struct {
	Records int       `json:"records"` // stored now
	Known   int       `json:"known"`   // there already
	Blobs   int       `json:"blobs"`
	Head    event.Seq `json:"head"`
}

// maxBlobLine bounds a content's line: the largest attachment in base64.
const maxBlobLine = mail.MaxAttachment/3*4 + 256

// Import reads what Export wrote into an office that the file continues, or
// into a new one (opened Bare). Every line is checked before it is stored;
// doing it again changes nothing.
func (o *Office) Import(ctx context.Context, caller Caller, r io.Reader, progress func(records int)) (Imported, error) {
	var out Imported
	if !caller.Human {
		return out, fault.New(fault.Denied, "%s cannot import a journal", caller.Agent.Name).WithHint("the person does it from a plain terminal")
	}
	in := bufio.NewReaderSize(r, 64<<10)
	prefix := []byte(`{"blob":`)
	for n := 1; ; n++ {
		start, err := in.Peek(len(prefix))
		if err != nil && err != io.EOF {
			return out, fault.New(fault.Unavailable, "line %d cannot be read: %w", n, err)
		}
		if !bytes.Equal(start, prefix) {
			break
		}
		if err := o.importBlob(in); err != nil {
			return out, fault.New(fault.Invalid, "line %d: %w", n, err).WithHint("the file is damaged; the lines before are stored")
		}
		out.Blobs++
	}
	done, err := journal.Import(ctx, o.journal, in, progress)
	out.Records, out.Known, out.Head = done.Stored, done.Skipped, done.Head
	if err != nil {
		return out, err
	}
	return out, o.fill(ctx)
}

func (o *Office) importBlob(in *bufio.Reader) error {
	var raw []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(raw)+len(part) > maxBlobLine {
			return fmt.Errorf("longer than the largest content")
		}
		raw = append(raw, part...)
		if err == nil {
			break
		}
		if err != bufio.ErrBufferFull {
			return fmt.Errorf("torn: %w", err)
		}
	}
	var b blobLine
	if err := json.Unmarshal(raw, &b); err != nil {
		return err
	}
	if event.Sum(b.Data) != b.Blob {
		return fmt.Errorf("the content does not have the SHA-256 %s", b.Blob)
	}
	_, err := o.keep(b.Data)
	return err
}
