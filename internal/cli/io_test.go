package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"

	"bureau/internal/fault"
	"bureau/internal/office"
	"bureau/internal/quote"
)

// A listing fits the terminal, whatever others wrote, and is coloured only
// where colour is allowed.
func TestListingsFitTheTerminal(t *testing.T) {
	d := newDesk(t)
	d.must("register", "ana")
	d.must("register", "bob-with-a-long-name")
	d.must("send", "ana", strings.Repeat("wide 漢字 👩‍👩‍👧 ", 40), "--as", "bob-with-a-long-name", "--subject", "on \x1b[31mred\u202e")
	for _, width := range []int{70, 80, 200} {
		for _, args := range [][]string{{"inbox", "--as", "ana"}, {"agents"}, {"thread", "list", "--as", "ana"}, {"sent", "--as", "bob-with-a-long-name"}, {}, {"tail", "--since", "0", "--stop"}} {
			status, out, errs := d.runIO(IO{OutTTY: true, ErrTTY: true, Width: width}, args...)
			if status != 0 {
				t.Fatalf("%v: %s", args, errs)
			}
			for line := range strings.Lines(out) {
				line = strings.TrimSuffix(line, "\n")
				if quote.Width(line) > width {
					t.Errorf("%v at %d: %d columns: %s", args, width, quote.Width(line), line)
				}
				if i := strings.IndexFunc(line, func(r rune) bool { return unicode.IsControl(r) || r == '\u202e' }); i >= 0 {
					t.Errorf("%v: %q steers the terminal", args, line)
				}
			}
		}
	}
	_, plain, _ := d.runIO(IO{OutTTY: true, Width: 80}, "inbox", "--as", "ana")
	_, coloured, _ := d.runIO(IO{OutTTY: true, Width: 80, Color: true}, "inbox", "--as", "ana")
	if strings.Contains(plain, "\x1b") || !strings.Contains(coloured, "\x1b[") {
		t.Errorf("colour: %q, %q", plain, coloured)
	}
	_, raw, _ := d.runIO(IO{OutTTY: true}, "inbox", "--as", "ana", "--json")
	var box office.Messages
	if err := json.Unmarshal([]byte(raw), &box); err != nil || box.Messages[0].Subject != "on \x1b[31mred\u202e" || !strings.Contains(raw, "\n  ") {
		t.Errorf("JSON for a person: %v, %s", err, raw)
	}
}

func TestJSONHoldsNothingThatSteers(t *testing.T) {
	text := "a<b>&c \x1b\x7f\u009b\u202e\ufeff\u2028\U000e0041 👩‍👩‍👧 é漢"
	raw, err := encodeJSON(map[string]string{"text": text}, false)
	if err != nil {
		t.Fatal(err)
	}
	if i := bytes.IndexFunc(raw[:len(raw)-1], func(r rune) bool { return unicode.IsControl(r) || steers(r) }); i >= 0 {
		t.Errorf("%q holds %q", raw, raw[i:])
	}
	if !bytes.Contains(raw, []byte("a<b>&c")) || !bytes.Contains(raw, []byte("👩‍👩‍👧 é漢")) {
		t.Errorf("%s is hard to read", raw)
	}
	var back map[string]string
	if err := json.Unmarshal(raw, &back); err != nil || back["text"] != text {
		t.Errorf("%q came back as %q, %v", text, back["text"], err)
	}
}

func TestDurations(t *testing.T) {
	for _, c := range []struct {
		in   string
		want time.Duration
		out  string
	}{
		{"90s", 90 * time.Second, "1m30s"}, {"5m", 5 * time.Minute, "5m"}, {"2H", 2 * time.Hour, "2h"}, {"1h30m", 90 * time.Minute, "1h30m"},
		{"2d", 48 * time.Hour, "48h"}, {"1w", 168 * time.Hour, "168h"}, {"1.5d", 36 * time.Hour, "36h"}, {"30", 30 * time.Second, "30s"}, {" 1ms ", time.Millisecond, "1ms"},
	} {
		got, err := parseDuration(c.in)
		if err != nil || got != c.want || length(got) != c.out {
			t.Errorf("%q is %v (%s), %v", c.in, got, length(got), err)
		}
	}
	for _, in := range []string{"", "0", "0s", "-1h", "-2d", "soon", "d", "1y", "NaN", "Inf", "nand", "1e99d", "999999w", "10000000000000000000"} {
		if got, err := parseDuration(in); err == nil {
			t.Errorf("%q is taken for %v", in, got)
		} else if !fault.Is(err, fault.Invalid) || fault.HintOf(err) == "" {
			t.Errorf("%q: %v", in, err)
		}
	}
}

// gone is an output whose reader has left.
type gone struct{ err error }

func (g gone) Write([]byte) (int, error) { return 0, g.err }

// What could not be printed stays unread, and so does what goes nowhere.
func TestUnprintedMailStaysUnread(t *testing.T) {
	d := newDesk(t)
	d.must("register", "ana")
	d.must("send", "ana", "hello")
	for _, streams := range []IO{{Out: gone{syscall.EPIPE}}, {Out: gone{errors.New("broken")}}, {Out: io.Discard, NoReader: true}} {
		status, _, errs := d.runIO(streams, "read", "--as", "ana")
		if status != 6 || errs == "" {
			t.Errorf("status %d, %q", status, errs)
		}
		var box office.Messages
		if d.decode(&box, "inbox", "--as", "ana"); box.Unread != 1 {
			t.Fatalf("%d unread after %q", box.Unread, errs)
		}
	}
	// A list that nobody reads to its end is no reason to complain.
	if _, _, errs := d.runIO(IO{Out: gone{syscall.EPIPE}}, "inbox", "--as", "ana"); errs != "" {
		t.Errorf("%q", errs)
	}
}

// Input that never comes does not hold a command that was interrupted.
func TestInterruptedWhileReadingInput(t *testing.T) {
	d := newDesk(t)
	d.must("register", "ana")
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	defer w.Close()
	time.AfterFunc(20*time.Millisecond, cancel)
	var out, errs bytes.Buffer
	status := Run(ctx, IO{In: r, Out: &out, Err: &errs, Env: d.env, Now: time.Now, Dir: d.dir}, []string{"send", "ana", "-"})
	if status != Interrupted || errs.String() != "bureau: interrupted\n" {
		t.Errorf("status %d, %q", status, errs.String())
	}
	errs.Reset()
	if status := Run(ctx, IO{In: r, Out: &out, Err: &errs, Env: d.env, Now: time.Now, Dir: d.dir}, []string{"inbox", "--json"}); status != Interrupted || !strings.Contains(errs.String(), `"code":"unavailable"`) {
		t.Errorf("status %d, %q", status, errs.String())
	}
}

// Every command explains itself, with an example, and no flag is undocumented.
func TestEveryCommandIsExplained(t *testing.T) {
	a := newApp(IO{Out: io.Discard, Err: io.Discard, Env: func(string) string { return "" }, Now: time.Now})
	root := newRoot(a)
	queue := root.Commands()
	names := map[string]bool{}
	for len(queue) > 0 {
		c := queue[0]
		queue = append(queue[1:], c.Commands()...)
		names[c.CommandPath()] = true
		if c.Short == "" || c.Long == "" || c.Example == "" || strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: short %q, long of %d bytes, example of %d bytes", c.CommandPath(), c.Short, len(c.Long), len(c.Example))
		}
		if c.Parent() == root && c.GroupID == "" {
			t.Errorf("%s is in no group", c.CommandPath())
		}
		for _, text := range []string{c.Long, c.Example, c.UsageString()} {
			for line := range strings.Lines(text) {
				if quote.Width(strings.TrimSuffix(line, "\n")) > 80 {
					t.Errorf("%s: the help is wider than 80 columns: %s", c.CommandPath(), line)
				}
			}
		}
		for _, word := range append(c.SuggestFor, c.Aliases...) {
			if names["bureau "+word] {
				t.Errorf("%s: %q is a command", c.CommandPath(), word)
			}
		}
	}
	for _, want := range []string{"send", "ask", "answer", "inbox", "read", "ack", "sent", "thread grant", "board history", "agents retire", "register", "whoami", "init", "version"} {
		if !names["bureau "+want] {
			t.Errorf("no command %q", want)
		}
	}
}

// Every sign that tail shows is explained in its help.
func TestTailExplainsItsSigns(t *testing.T) {
	help := newTail(newApp(IO{})).Long
	for kind, sign := range signs {
		if !strings.Contains(help, sign+" ") {
			t.Errorf("%s is shown as %q, which the help does not explain", kind, sign)
		}
	}
	for kind, sign := range mailSigns {
		if !strings.Contains(help, sign+" ") {
			t.Errorf("%s is shown as %q, which the help does not explain", kind, sign)
		}
	}
}

// A message breaks where a part of it ends, and never inside of a command.
func TestLongMessagesBreakBetweenParts(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"bureau: short", "bureau: short"},
		{"bureau: no answer yet, it stays open; again: bureau ask --question 7XKQ2M", "bureau: no answer yet, it stays open;\n  again: bureau ask --question 7XKQ2M"},
		{"bureau: src is held by ana: rename it (claimed just now, active)", "bureau: src is held by ana: rename it\n  (claimed just now, active)"},
		{"  ask      bureau ask ana 'may I have src? I want to: rename; then (more)' --as bob", "  ask      bureau ask ana 'may I have src? I want to: rename; then (more)' --as bob"},
		{"bureau: nobody's claim stands in the way of all of this; go on", "bureau: nobody's claim stands in the way of all of this;\n  go on"},
		{"bureau: 漢字漢字漢字漢字漢字; 漢字漢字漢字漢字漢字", "bureau: 漢字漢字漢字漢字漢字;\n  漢字漢字漢字漢字漢字"},
		{strings.Repeat("x", 60), strings.Repeat("x", 60)},
	} {
		if got := fold(c.line, 40, "  "); got != c.want {
			t.Errorf("%q becomes\n%s\nnot\n%s", c.line, got, c.want)
		}
	}
	d := newDesk(t)
	d.must("register", "ana")
	d.must("register", "bob")
	_, _, errs := d.runIO(IO{ErrTTY: true, Width: 80}, "ask", "bob", "are you there?", "--as", "ana", "--timeout", "10ms")
	for line := range strings.Lines(errs) {
		if quote.Width(strings.TrimSuffix(line, "\n")) > 80 {
			t.Errorf("wider than 80 columns: %s", line)
		}
	}
	if !strings.Contains(errs, "\n  to wait again: bureau --as ana ask --question ") {
		t.Errorf("the next step is not ana's: %s", errs)
	}
}

// What a room says after a command fits the terminal too.
func TestRoomsFitTheTerminal(t *testing.T) {
	d := newDesk(t)
	for _, name := range []string{"ana", "bob", "carla"} {
		d.must("register", name)
	}
	for _, args := range [][]string{
		{"room", "open", "debate", "--topic", "Tabs or spaces?", "--members", "ana,bob,carla"},
		{"room", "join", "debate", "--no-wait", "--as", "ana"},
		{"room", "show", "debate"},
		{"room", "join", "debate", "--no-wait", "--as", "bob"},
		{"room", "propose", "debate", "We use tabs, four columns wide, in all of the files", "--as", "ana"},
		{"room", "show", "debate"},
	} {
		status, out, errs := d.runIO(IO{OutTTY: true, ErrTTY: true, Width: 80}, args...)
		if status != 0 {
			t.Fatalf("%v: %s", args, errs)
		}
		for line := range strings.Lines(out + errs) {
			if quote.Width(strings.TrimSuffix(line, "\n")) > 80 {
				t.Errorf("%v: wider than 80 columns: %s", args, line)
			}
		}
	}
}

// On a terminal a word beside the result comes behind what was printed before.
func TestNotesKeepTheirPlace(t *testing.T) {
	d := newDesk(t)
	d.must("whoami")
	var both bytes.Buffer
	streams := IO{In: strings.NewReader(""), Out: &both, Err: &both, OutTTY: true, ErrTTY: true, Width: 80, Env: d.env, Now: time.Now, Dir: d.dir}
	if status := Run(t.Context(), streams, []string{"token", "new", "ana"}); status != 0 || !strings.HasPrefix(both.String(), "bureau_") {
		t.Errorf("status %d: %s", status, both.String())
	}
}
