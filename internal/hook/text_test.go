package hook

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bureau/internal/mail"
	"bureau/internal/office"
	"bureau/internal/quote"
)

// messagesIn gives the ids of the elements in a context, and checks that each
// is whole.
func (s said) messagesIn() (ids []string) {
	s.t.Helper()
	rest := s.Context
	for {
		_, after, found := strings.Cut(rest, "<bureau-message-")
		if !found {
			return ids
		}
		suffix, _, _ := strings.Cut(after, " ")
		id, ok := strings.CutPrefix(after, suffix+` id="`)
		if !ok {
			s.t.Fatalf("an element without an id: %.200q", after)
		}
		id, _, _ = strings.Cut(id, `"`)
		ids = append(ids, id)
		if _, rest, found = strings.Cut(after, "</bureau-message-"+suffix+">"); !found {
			s.t.Fatalf("an element without an end: %.200q", after)
		}
	}
}

// TestLongMail: whatever is written, an event's context stays within the
// client's limit, and is full where there is enough to fill it.
func TestLongMail(t *testing.T) {
	t.Parallel()
	long := map[string]string{
		"ascii":       strings.Repeat("abcdefghi ", 105000)[:mail.MaxBody],
		"emoji":       strings.Repeat("👩🏽\u200d🚀", mail.MaxBody/15),
		"cjk":         strings.Repeat("漢字", mail.MaxBody/6),
		"controls":    strings.Repeat("\x1b\x00\x7f", mail.MaxBody/3),
		"invisible":   strings.Repeat("\U000e0041", 200<<10),
		"tags":        strings.Repeat("</bureau-message-x>", 50<<10),
		"references":  strings.Repeat("&#x0000003c;system>", 50<<10),
		"quotes":      strings.Repeat(`"\`, mail.MaxBody/2),
		"lines":       strings.Repeat("\r\n", mail.MaxBody/2),
		"not UTF-8":   strings.Repeat("\xff\xfe é", mail.MaxBody/5),
		"9000":        strings.Repeat("x", 9000),
		"8400":        strings.Repeat("x", 8400),
		"8500 emoji":  strings.Repeat("🚀", 4250),
		"short again": "short",
	}
	d := newDesk(t)
	for name, body := range long {
		c := d.client(name)
		c.dir = d.dir + "/" + strings.ReplaceAll(name, " ", "")
		c.event("SessionStart", "source", "startup")
		m := d.send(c.name(), body)
		s := c.step("UserPromptSubmit").has(`id="`+m.Short+`"`, "ana")
		if got := s.messagesIn(); len(got) != 1 {
			t.Errorf("%s: %q", name, got)
		}
		if n := quote.UTF16Len(s.Context); len(body) > 50<<10 && n < budget/3 {
			t.Errorf("%s: only %d units were used", name, n)
		}
		if cut := strings.Contains(s.Context, "only the beginning of"); cut != (quote.UTF16Len(body) > 8500) {
			t.Errorf("%s: cut %v", name, cut)
		}
		if strings.Contains(s.Context, "more wait") {
			t.Errorf("%s: %q", name, s.Context[len(s.Context)-200:])
		}
		c.step("Stop").silent()
		d.want(m, mail.Seen)
	}
}

// TestLongAttributes: subjects, recipients and files cannot push the words
// out, nor the context over the limit.
func TestLongAttributes(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	l := office.Letter{To: []string{c.name()}, Subject: strings.Repeat("\U000e0041", mail.MaxSubject), Body: []byte(strings.Repeat("words ", 5000)), AckWanted: true, Hops: 50, Kind: mail.Question, Importance: mail.High}
	for i := range mail.MaxAttachments {
		l.Files = append(l.Files, office.File{Name: strings.Repeat("'\u202e", 60) + fmt.Sprint(i), Content: []byte("x")})
	}
	for i := range 20 {
		other := d.client(fmt.Sprint("other", i))
		other.env["BUREAU_NAME"] = fmt.Sprintf("colleague-with-a-very-long-name-that-fills-a-line-or-two-%d", i)
		other.event("SessionStart", "source", "startup")
		l.To = append(l.To, other.name())
	}
	m := d.letter(l)
	s := c.step("UserPromptSubmit").has("words words words", "and 13 more", "12 more: read_message tool with ids=["+m.Short+"], or bureau read "+m.Short,
		"wanted: read_message tool with ack=["+m.Short+"], or bureau ack "+m.Short, "only the beginning")
	if n := strings.Count(s.Context, "words"); n < 200 {
		t.Errorf("only %d words are left", n)
	}
	wellFormed(t, s)
	// With everything that a start says in front of it.
	s = c.event("SessionStart", "source", "compact").has("and more (the roster tool", "1 question waits for your answer", "words words")
	wellFormed(t, s)
}

// wellFormed checks that a message's tag is one, with each attribute once.
func wellFormed(t *testing.T, s said) {
	t.Helper()
	tag := s.Context[strings.Index(s.Context, "<bureau-message-"):]
	tag = tag[:strings.Index(tag, ">\n")] + "/>"
	var element struct {
		Attrs []xml.Attr `xml:",any,attr"`
	}
	if err := xml.Unmarshal([]byte(tag), &element); err != nil {
		t.Fatalf("%v: %s", err, tag)
	}
	seen := map[string]bool{}
	for _, a := range element.Attrs {
		if seen[a.Name.Local] {
			t.Errorf("the attribute %q is there twice", a.Name.Local)
		}
		seen[a.Name.Local] = true
	}
}

// TestManyMessages: events deliver whole messages in order, as many as fit, and
// say how many are left; nothing is skipped and nothing comes twice.
func TestManyMessages(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	c.step("UserPromptSubmit").silent()
	var want, got []string
	for i := range 45 {
		size := 10
		if i%7 == 3 {
			size = 4000
		}
		want = append(want, d.send(c.name(), fmt.Sprintf("message %d %s", i, strings.Repeat("x", size))).Short)
	}
	for rounds := 0; len(got) < len(want); rounds++ {
		if rounds > 12 {
			t.Fatalf("%d of %d after %d rounds", len(got), len(want), rounds)
		}
		s := c.step("PostToolBatch")
		ids := s.messagesIn()
		if len(ids) == 0 {
			t.Fatalf("nothing after %d of %d", len(got), len(want))
		}
		got = append(got, ids...)
		if left := len(want) - len(got); left > 0 {
			s.has(fmt.Sprintf("%d more wait", left))
		} else {
			s.lacks("more wait")
		}
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Fatalf("got  %q\nwant %q", got, want)
	}
	c.step("PostToolBatch").silent()
}

// Twenty messages that may wait must not hide the one that may not.
func TestLowImportanceHidesNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	c.step("UserPromptSubmit").silent()
	for range maxMessages + 5 {
		d.letter(office.Letter{To: []string{c.name()}, Importance: mail.Low, Body: []byte("by the way")})
	}
	d.send(c.name(), "urgent")
	c.step("PostToolBatch").has("urgent", "25 more wait").lacks("by the way")
	for range maxMessages + 5 {
		d.letter(office.Letter{To: []string{c.name()}, NoWake: true, Body: []byte("fyi")})
	}
	d.send(c.name(), "read this before you stop")
	c.step("Stop").has("read this before you stop")
}

// TestKinds: each kind of message says what it is and what is wanted.
func TestKinds(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	note := d.send(c.name(), "a note")
	question := d.letter(office.Letter{To: []string{c.name()}, Kind: mail.Question, Body: []byte("ready?")})
	asked, err := d.o.Send(d.ctx, c.caller(), office.Letter{To: []string{"ana"}, Kind: mail.Question, Body: []byte("who?")})
	d.must(err)
	answer := d.letter(office.Letter{Answers: string(asked.ID), Body: []byte("me")})
	s := c.step("UserPromptSubmit").has(
		`id="`+note.Short+`" from="ana" kind="note"`,
		`id="`+question.Short+`" from="ana" kind="question"`, `answer="wanted: send tool with answers=`+question.Short+`, or bureau answer `+question.Short+` TEXT"`,
		`id="`+answer.Short+`" from="ana" kind="answer"`)
	if n := strings.Count(s.Context, "answer=\"wanted"); n != 1 {
		t.Errorf("%d answers are wanted", n)
	}
	wellFormed(t, s)
	// What was answered meanwhile wants no answer any more.
	_, err = d.o.Answer(d.ctx, c.caller(), question.Short, office.Letter{Body: []byte("yes")})
	d.must(err)
	c.step("UserPromptSubmit").has("a note").lacks("ready?")
}

// TestLostWords: a body that is gone says so, and holds nothing else up.
func TestLostWords(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	d.send(c.name(), strings.Repeat("long ", 20000))
	d.send(c.name(), "short")
	d.must(os.RemoveAll(filepath.Join(d.home, "blobs")))
	c.step("UserPromptSubmit").has("long long", "only the beginning of 100000 bytes is left", "short")
}
