package office

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/mail"
	"bureau/internal/paper"
	"bureau/internal/projection"
)

// Blobs are contents kept beside the journal under the SHA-256 of their bytes:
// long bodies, bodies that are not valid UTF-8, and attachments. A blob is
// durable before the event that names it is appended, and is never changed.

// isSum reports whether s has the form of a blob's name.
func isSum(s string) bool {
	return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == ""
}

func (o *Office) blobPath(sum string) string {
	return filepath.Join(o.home, blobDir, sum[:2], sum)
}

// keep stores content and gives its name.
func (o *Office) keep(content []byte) (sum string, err error) {
	sum = event.Sum(content)
	path := o.blobPath(sum)
	if st, err := os.Stat(path); err == nil && st.Size() == int64(len(content)) {
		return sum, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fault.New(fault.Unavailable, "cannot keep a file in the office: %w", err)
	}
	if err := paper.WriteFile(path, content, 0o600); err != nil {
		return "", fault.New(fault.Unavailable, "cannot keep a file in the office: %w", err).WithHint("nothing was sent")
	}
	paper.SyncDir(filepath.Join(o.home, blobDir))
	paper.SyncDir(o.home)
	return sum, nil
}

// Blob gives a kept content, checked against its name.
func (o *Office) Blob(sum string) ([]byte, error) {
	if !isSum(sum) {
		return nil, fault.New(fault.Invalid, "%q is no SHA-256", sum)
	}
	content, err := os.ReadFile(o.blobPath(sum))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.NotFound, "the content %s is not in the office", sum).
			WithHint("it may be in a backup of %s", filepath.Join(o.home, blobDir))
	}
	if err != nil {
		return nil, fault.New(fault.Unavailable, "cannot read the content %s: %w", sum, err)
	}
	if event.Sum(content) != sum {
		return nil, fault.New(fault.Unavailable, "the content %s was changed on the disk", sum).WithHint("bureau doctor; restore it from a backup of %s", filepath.Join(o.home, blobDir))
	}
	return content, nil
}

// store puts a body into a message: itself if it is short text, as a blob
// otherwise.
func (o *Office) storeBody(m *mail.Message, body []byte) error {
	text := utf8.Valid(body)
	if text && len(body) <= mail.InlineBody {
		m.Body = string(body)
		return nil
	}
	sum, err := o.keep(body)
	if err != nil {
		return err
	}
	m.Blob = &mail.Blob{Sum: sum, Size: int64(len(body)), UTF8: text, Head: projection.Head(string(body), projection.PreviewLen)}
	return nil
}

// lostContent is the reason why a body cannot be had, now or ever, while the
// store itself is sound.
type lostContent struct{ error }

func (l *lostContent) Unwrap() error { return l.error }

// body gives a message's bytes.
func (tx *Tx) body(row *projection.Message) ([]byte, error) {
	if row.From == "" {
		return []byte(projection.ExhaustedBody), nil
	}
	recs, err := tx.reader()(row.Seq-1, 1)
	if err != nil {
		return nil, err
	}
	if len(recs) == 0 || recs[0].Seq != row.Seq || row.Part >= len(recs[0].Events) {
		return nil, &lostContent{fault.New(fault.Unavailable, "the journal has no record %d, which holds message %s", row.Seq, row.ID).WithHint("bureau journal verify")}
	}
	var m mail.Message
	if err := recs[0].Events[row.Part].Decode(&m); err != nil {
		return nil, &lostContent{fault.New(fault.Unavailable, "message %s cannot be read: %w", row.ID, err).WithHint("bureau journal verify")}
	}
	if m.Blob == nil {
		return []byte(m.Body), nil
	}
	content, err := tx.o.Blob(m.Blob.Sum)
	if err != nil {
		return nil, &lostContent{err}
	}
	return content, nil
}

// File is a file to attach.
type File struct {
	Name    string
	Content []byte
}

// attach keeps files for a message.
func (o *Office) attach(m *mail.Message, files []File) error {
	for _, f := range files {
		if len(f.Content) > mail.MaxAttachment {
			return fault.New(fault.Invalid, "%s has %d bytes; the limit for an attachment is %d (16 MiB)", f.Name, len(f.Content), mail.MaxAttachment).
				WithHint("send its path instead")
		}
		base := filepath.Base(filepath.Clean("/" + filepath.ToSlash(f.Name)))
		if base == string(filepath.Separator) {
			base = "file" // nothing of the name was one
		}
		sum, err := o.keep(bytes.Clone(f.Content))
		if err != nil {
			return err
		}
		m.Files = append(m.Files, mail.Attachment{Name: base, Sum: sum, Size: int64(len(f.Content))})
	}
	return nil
}
