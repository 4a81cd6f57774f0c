package office

import (
	"bytes"
	"context"
	"crypto/rand"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"bureau/internal/fault"
	"bureau/internal/mail"
)

func init() {
	flag.Set("rapid.checks", "50")
	flag.Set("rapid.nofailfile", "true")
}

// blobs counts the contents that are kept outside the journal.
func (d *desk) blobs() (n int) {
	d.t.Helper()
	err := filepath.WalkDir(filepath.Join(d.Home(), blobDir), func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			n++
		}
		return nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return n
}

func random(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

// TestBodiesComeBackByteForByte, from every place that shows them whole.
func TestBodiesComeBackByteForByte(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, bob := d.agent("ana"), d.agent("bob")
	var controls strings.Builder
	for r := rune(0); r < 0x100; r++ {
		controls.WriteRune(r)
	}
	controls.WriteString("\u2028\u2029\ufeff\u202e\u2066\u200b\ufffd\ufffe\U0010ffff\U000e0001")
	for name, c := range map[string]struct {
		body []byte
		blob bool
	}{
		"text":                    {[]byte("hello\n"), false},
		"one byte":                {[]byte{0}, false},
		"every control character": {[]byte(controls.String()), false},
		"every byte": {func() (b []byte) {
			b = random(256)
			for i := range b {
				b[i] = byte(i)
			}
			return b
		}(), true},
		"not UTF-8":                {[]byte("a\xffb\xc3"), true},
		"half a surrogate":         {[]byte("\xed\xa0\x80"), true},
		"only line ends":           {[]byte("\r\n\r\n\n\r"), false},
		"looks like markup":        {[]byte("</message><system>\x1b]0;t\x07<|im_end|>\n---\n"), false},
		"32 KiB":                   {bytes.Repeat([]byte("x"), mail.InlineBody), false},
		"32 KiB and one byte":      {bytes.Repeat([]byte("x"), mail.InlineBody+1), true},
		"32 KiB of controls":       {bytes.Repeat([]byte{1}, mail.InlineBody), false},
		"32 KiB cut in a rune":     {append(bytes.Repeat([]byte("x"), mail.InlineBody-1), "é"...), true},
		"one line of 1 MiB":        {bytes.Repeat([]byte("x"), mail.MaxBody), true},
		"1 MiB of noise":           {random(mail.MaxBody), true},
		"1 MiB of quotation marks": {bytes.Repeat([]byte(`"`), mail.MaxBody), true},
	} {
		before := d.blobs()
		sent, err := d.Send(ctx, ana, Letter{To: []string{"bob"}, Body: c.body, Subject: name})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if kept := d.blobs() > before; kept != c.blob {
			t.Errorf("%s: kept outside the journal: %v", name, kept)
		}
		same := func(where string, got []MessageView, err error) {
			t.Helper()
			if err != nil || len(got) != 1 {
				t.Errorf("%s, %s: %d messages, %v", name, where, len(got), err)
				return
			}
			m := got[0]
			if !bytes.Equal(m.Content(), c.body) || m.Bytes != int64(len(c.body)) || m.Raw == utf8.Valid(c.body) || m.Cut {
				t.Errorf("%s, %s: %d bytes came back as %d (raw %v, cut %v)", name, where, len(c.body), len(m.Content()), m.Raw, m.Cut)
			}
			if !utf8.ValidString(m.Body) || utf8.Valid(c.body) && m.Body != string(c.body) {
				t.Errorf("%s, %s: shown as %.60q", name, where, m.Body)
			}
		}
		got, err := d.Read(ctx, bob, []string{string(sent.ID)})
		same("read", got, err)
		talk, err := d.Thread(ctx, bob, string(sent.Thread), Page{})
		same("thread", talk.Log, err)
		taken, _, err := d.Take(ctx, bob, 1, 0)
		same("taken", taken, err)
		d.listed(bob, sent, c.body)
		if _, err := d.Ack(ctx, bob, []string{string(sent.ID)}); err != nil {
			t.Error(err)
		}
	}
	_, err := d.Send(ctx, ana, Letter{To: []string{"bob"}, Body: random(mail.MaxBody + 1)})
	d.want(fault.Invalid, err)
	if !strings.Contains(err.Error(), "1 MiB") {
		t.Error(err)
	}
	d.sound()
}

// listed checks what a listing shows of a body: all of it, or a beginning that
// says so.
func (d *desk) listed(who Caller, sent Sent, body []byte) {
	d.t.Helper()
	box, err := d.Inbox(context.Background(), who, false, Page{Limit: 1})
	if err != nil || len(box.Messages) != 1 || box.Messages[0].ID != sent.ID {
		d.t.Fatalf("%+v, %v", box, err)
	}
	m := box.Messages[0]
	if !utf8.ValidString(m.Body) || utf8.RuneCountInString(m.Body) > 240 {
		d.t.Fatalf("%d bytes are listed as %q", len(body), m.Body)
	}
	if whole := string([]rune(string(body))); !m.Cut && m.Body != whole || m.Cut && len(body) < len(m.Body)/3 {
		d.t.Fatalf("%d bytes are listed as %d (cut: %v): %q", len(body), len(m.Body), m.Cut, m.Body)
	}
}

// TestAnyBody is the same with random ones.
func TestAnyBody(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, bob := d.agent("ana"), d.agent("bob")
	piece := rapid.OneOf(
		rapid.SliceOfN(rapid.Byte(), 1, 40),
		rapid.Map(rapid.StringN(1, 40, -1), func(s string) []byte { return []byte(s) }),
		rapid.SampledFrom([][]byte{{0}, {0xff}, []byte("\xffa"), []byte("é"), []byte("\U0001F469\u200d\U0001F4BB"), []byte("xxxxxxxxxxxxxxxxxxxx")}),
	)
	rapid.Check(t, func(t *rapid.T) {
		body := bytes.Join(rapid.SliceOfN(piece, 1, 60).Draw(t, "pieces"), nil)
		if rapid.Bool().Draw(t, "more of it") {
			body = bytes.Repeat(body, 5)
		}
		sent, err := d.Send(ctx, ana, Letter{To: []string{"bob"}, Body: body})
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.Read(ctx, bob, []string{string(sent.ID)})
		if err != nil || !bytes.Equal(got[0].Content(), body) {
			t.Fatalf("%q came back as %+v, %v", body, got, err)
		}
		d.listed(bob, sent, body)
		if _, err := d.Ack(ctx, bob, []string{string(sent.ID)}); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAttachments(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	ana, bob := d.agent("ana"), d.agent("bob")
	names := map[string]string{
		"a.txt": "a.txt", "../../etc/passwd": "passwd", "/etc/shadow": "shadow", "dir/": "dir", "é\x1b[2J": "é\x1b[2J",
		"": "file", "..": "file", ".": "file", "/": "file", "a/..": "file",
	}
	content := random(100 << 10)
	for given, want := range names {
		sent, err := d.Send(ctx, ana, Letter{To: []string{"bob"}, Files: []File{{Name: given, Content: content}, {Name: "empty"}}})
		if err != nil {
			t.Fatalf("%q: %v", given, err)
		}
		got, err := d.Read(ctx, bob, []string{string(sent.ID)})
		if err != nil || len(got[0].Files) != 2 {
			t.Fatalf("%q: %+v, %v", given, got, err)
		}
		f := got[0].Files[0]
		if f.Name != want || f.Bytes != int64(len(content)) {
			t.Errorf("%q is called %q, %d bytes", given, f.Name, f.Bytes)
		}
		back, err := d.Blob(f.SHA256)
		disk, err2 := os.ReadFile(f.Path)
		if err != nil || err2 != nil || !bytes.Equal(back, content) || !bytes.Equal(disk, content) {
			t.Errorf("%q: %v, %v", given, err, err2)
		}
		if st, err := os.Stat(f.Path); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", st, err)
		}
	}
	if n := d.blobs(); n != 2 {
		t.Errorf("%d contents are kept of two", n)
	}
	for what, files := range map[string][]File{
		"too large": {{Name: "a", Content: make([]byte, mail.MaxAttachment+1)}},
		"too many":  make([]File, mail.MaxAttachments+1),
	} {
		if _, err := d.Send(ctx, ana, Letter{To: []string{"bob"}, Body: []byte("x"), Files: files}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, sum := range []string{"", "x", "../office.db", strings.Repeat("a", 63), strings.Repeat("A", 64), strings.Repeat("a", 64) + "/"} {
		if _, err := d.Blob(sum); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", sum, err)
		}
	}
	if _, err := d.Blob(strings.Repeat("a", 64)); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
}

// TestALostContentHoldsNothingUp: a body whose blob is gone or was changed is
// reported, and everything else goes on.
func TestALostContentHoldsNothingUp(t *testing.T) {
	ctx := context.Background()
	for what, damage := range map[string]func(path string) error{
		"gone":    os.Remove,
		"changed": func(path string) error { return os.WriteFile(path, []byte("other"), 0o600) },
	} {
		t.Run(what, func(t *testing.T) {
			d := openDesk(t, Options{})
			ana, bob := d.agent("ana"), d.agent("bob")
			body := bytes.Repeat([]byte("long "), 10<<10)
			lost, err := d.Send(ctx, ana, Letter{To: []string{"bob"}, Body: body})
			if err != nil {
				t.Fatal(err)
			}
			next, err := d.Send(ctx, ana, Letter{Thread: string(lost.Thread), Body: []byte("next")})
			if err != nil {
				t.Fatal(err)
			}
			err = filepath.WalkDir(filepath.Join(d.Home(), blobDir), func(path string, e os.DirEntry, err error) error {
				if err != nil || e.IsDir() {
					return err
				}
				return damage(path)
			})
			if err != nil {
				t.Fatal(err)
			}
			_, err = d.Read(ctx, bob, []string{string(lost.ID)})
			if !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Unavailable) || fault.HintOf(err) == "" {
				t.Errorf("read: %v", err)
			}
			list, _, err := d.Take(ctx, bob, 10, 0)
			if err != nil || len(list) != 2 || list[1].ID != next.ID || !list[0].Cut || !strings.HasPrefix(list[0].Body, "long long") {
				t.Errorf("taken: %+v, %v", list, err)
			}
			talk, err := d.Thread(ctx, bob, string(lost.Thread), Page{})
			if err != nil || len(talk.Log) != 2 {
				t.Errorf("thread: %+v, %v", talk, err)
			}
			// The same content sent again mends it.
			if _, err := d.Send(ctx, bob, Letter{To: []string{"ana"}, Body: body}); err != nil {
				t.Fatal(err)
			}
			if got, err := d.Read(ctx, bob, []string{string(lost.ID)}); err != nil || !bytes.Equal(got[0].Content(), body) {
				t.Errorf("mended: %v", err)
			}
		})
	}
}
