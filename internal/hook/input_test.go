package hook

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf16"

	"bureau/internal/agent/claude"
)

func utf16le(s string) string {
	var b bytes.Buffer
	b.WriteString("\xff\xfe")
	for _, u := range utf16.Encode([]rune(s)) {
		b.Write(binary.LittleEndian.AppendUint16(nil, u))
	}
	return b.String()
}

// TestOddInput is case H1: what is valid JSON behaves like the clean input,
// everything else is one line on the error output, at once, and never more.
func TestOddInput(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	d.send(c.name(), "hello there")
	clean := c.input("UserPromptSubmit", "prompt", "go on")
	pretty := func(end string) string {
		var b bytes.Buffer
		if err := json.Indent(&b, []byte(clean), "", "  "); err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(b.String(), "\n", end)
	}
	long := func(n int) string {
		return c.input("UserPromptSubmit", "prompt", "go on", "more", strings.Repeat(`{"session_id":"S2"}`, n/19))
	}
	for name, in := range map[string]string{
		"clean":              clean,
		"byte order mark":    "\xef\xbb\xbf" + clean,
		"lines end in CRLF":  pretty("\r\n"),
		"mark and CRLF":      "\xef\xbb\xbf" + pretty("\r\n") + "\r\n",
		"blank lines":        "\n\r\n \t\n" + clean + "\n\n",
		"30 KB":              long(30 << 10),
		"5 MB":               long(5 << 20),
		"more behind it":     clean + "\n" + `{"hook_event_name":"Stop"}`,
		"nonsense behind it": clean + "]]]",
		"a key twice":        `{"hook_event_name":"Stop","session_id":"S9",` + clean[1:],
		"escaped key":        strings.Replace(clean, `"session_id"`, `"session\u005fid"`, 1),
		"escaped value":      strings.Replace(clean, `"S1"`, `"\u00531"`, 1),
		"other types": c.input("UserPromptSubmit", "prompt", 7, "transcript_path", []int{1}, "prompt_id", map[string]any{"a": 1},
			"agent_id", nil, "tool_name", 5, "cwd", nil),
		"our words inside":   c.input("UserPromptSubmit", "prompt", `"hook_event_name":"Stop","session_id":"S9"`, "x", map[string]any{"hook_event_name": "Stop", "session_id": "S9", "agent_id": "a1"}),
		"an agent that is 5": c.input("UserPromptSubmit", "agent_id", 5),
	} {
		t.Run(name, func(t *testing.T) {
			s := c.run(strings.NewReader(in))
			s.t, s.event = t, "UserPromptSubmit"
			s.check()
			s.has("hello there")
			if s.errOut != "" {
				t.Errorf("said %q", s.errOut)
			}
		})
	}
	for name, in := range map[string]string{
		"nothing":               "",
		"only the mark":         "\xef\xbb\xbf",
		"half the mark":         "\xef\xbb",
		"only blanks":           " \r\n\t\n",
		"null":                  "null",
		"true":                  "true",
		"a string":              `"hello"`,
		"an array":              "[]",
		"UTF-16":                utf16le(clean),
		"UTF-16 without a mark": utf16le(clean)[2:],
		"torn":                  clean[:len(clean)-1],
		"torn in a string":      clean[:20],
		"torn behind an escape": `{"a":"\`,
		"not JSON":              `{session_id: S1, hook_event_name: Stop}`,
		"crossed brackets":      `{"hook_event_name":"Stop","session_id":"S1","x":[1}`,
		"a thousand brackets":   `{"hook_event_name":"Stop","session_id":"S1","x":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "}",
		"no session":            c.input("Stop", "session_id", nil),
		"a session that is 5":   c.input("Stop", "session_id", 5),
		"a session, then 5":     `{"session_id":"S1","hook_event_name":"Stop","session_id":5}`,
	} {
		t.Run(name, func(t *testing.T) {
			begun := time.Now()
			s := c.run(strings.NewReader(in))
			s.t, s.event = t, "Stop"
			s.check()
			s.silent()
			if s.errOut == "" {
				t.Error("it was passed over in silence")
			}
			if took := time.Since(begun); took > patience {
				t.Errorf("it took %s", took)
			}
		})
	}
	for _, event := range []any{"Nonsense", "", nil, 5, "stop", "PermissionRequest"} {
		s := c.run(strings.NewReader(c.input("", "hook_event_name", event)))
		s.check()
		s.silent()
	}
}

// The event in the input wins over the argument, which stands in for it.
func TestTheEventOfTheInputWins(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	d.send(c.name(), "hello")
	s := c.run(strings.NewReader(c.input("Stop")), "UserPromptSubmit")
	s.event = "Stop"
	s.check()
	s.has("hello")
	s = c.run(strings.NewReader(c.input("", "hook_event_name", nil)), "UserPromptSubmit")
	s.event = "UserPromptSubmit"
	s.check()
	s.has("hello")
}

func TestArguments(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"codex"}, {"claude", "--nonsense"}, {"claude", "Stop", "Stop"}, {"claude", "--home"}} {
		var out, errOut bytes.Buffer
		code := Run(IO{In: strings.NewReader("{}"), Out: &out, Err: &errOut, Env: os.Getenv, Now: time.Now, Exit: func(int) {}}, args)
		if code != 1 || out.Len() > 0 || strings.Count(errOut.String(), "\n") != 1 {
			t.Errorf("%q: %d, %q, %q", args, code, out.String(), errOut.String())
		}
	}
}

// TestInputThatStaysOpen: the complete object is enough; without one the
// deadline ends the run.
func TestInputThatStaysOpen(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	d.send(c.name(), "hello")
	r, w := io.Pipe()
	defer w.Close()
	go func() {
		for _, b := range []byte("\xef\xbb\xbf\r\n" + c.input("UserPromptSubmit", "prompt", "x")) {
			w.Write([]byte{b})
		}
	}()
	begun := time.Now()
	s := c.run(r)
	s.event = "UserPromptSubmit"
	s.check()
	s.has("hello")
	if took := time.Since(begun); took > patience {
		t.Errorf("it took %s", took)
	}
}

func TestReadInPieces(t *testing.T) {
	t.Parallel()
	whole := "\xef\xbb\xbf \r\n{\"a\":\"\\\"}{\",\"b\":[{}],\"é\":\"" + strings.Repeat("x", 200<<10) + "\"}"
	for _, r := range []io.Reader{
		strings.NewReader(whole), iotest.OneByteReader(strings.NewReader(whole)), iotest.HalfReader(strings.NewReader(whole)),
		iotest.DataErrReader(strings.NewReader(whole)),
	} {
		obj, err := read(r)
		if err != nil || string(obj) != whole[6:] {
			t.Errorf("%d bytes, %v", len(obj), err)
		}
	}
	if _, err := read(iotest.ErrReader(errors.New("broken"))); err == nil || err.Error() != "broken" {
		t.Errorf("%v", err)
	}
	if _, err := read(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(whole)))); !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("%v", err)
	}
}

// FuzzPeek: whenever the input is JSON, the scan finds what a reader of JSON
// finds, and the whole of it was read.
func FuzzPeek(f *testing.F) {
	for _, s := range []string{
		`{"session_id":"a","hook_event_name":"Stop","agent_id":"b","tool_name":"Bash"}`,
		`{"session_id":"a","session_id":"b","session_id":5}`,
		`{"session_id":"a","session_id":null}`,
		`{"session\u005fid":"\ud800","agent_id":"\ud83d\ude00","tool_name":"\xff"}`,
		`{"a":"\"session_id\":\"x\"","b":{"session_id":"y"},"c":["session_id","z"],"session_id" : "w" }`,
		`{"":{"session_id":{}},"session_id":["a"],"hook_event_name":""}`,
		"\xef\xbb\xbf\r\n{\"tool_response\":\"\\\"hook_event_name\\\":\\\"Stop\\\"\"}\r\n",
		`{"x":"\\","session_id":"\\\"","y":"\\\\\""}`,
		`{"SESSION_ID":"a","Session_Id":"b"}`,
		`{"tool_input":{"file_path":"a","x":[1,{"tool_input":2}]} ,"cwd":"/","tool_name":"Edit"}`,
		`{"tool_input" : 5 , "tool_calls":[{"tool_name":"Edit","tool_input":{"tool_name":"x"}},{"tool_name":5}],"tool_input":"\"}"}`,
		`{"tool_calls":[{"tool_response":"\"tool_name\":\"Edit\"","tool\u005fname":"Wri\u0074e"}],"tool_calls":7}`, `{"tool_input":[`, `{"`,
		`[]`, `null`, ``, `{`, `{"a`, `{"a":"\`, `{"session_id":`, `{}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		peek(in) // whatever it is, no panic
		obj, err := read(bytes.NewReader(in))
		var raw map[string]json.RawMessage
		clean := bytes.TrimPrefix(in, bom)
		valid := json.Unmarshal(clean, &raw) == nil && raw != nil
		if valid != (err == nil && bytes.Equal(bytes.Trim(clean, " \t\r\n"), obj) && json.Valid(obj)) {
			t.Fatalf("read %q: %v; JSON: %v", obj, err, valid)
		}
		if !valid {
			return
		}
		got := peek(obj)
		p := &payload{raw: raw}
		want := fields{event: p.text("hook_event_name"), session: p.text("session_id"), agent: p.text("agent_id"), tool: p.text("tool_name"), cwd: p.text("cwd")}
		want.edits = claude.KindOf(want.tool) == claude.EditTool
		var calls []map[string]any
		if json.Unmarshal(p.field("tool_calls"), &calls) == nil {
			for _, c := range calls {
				tool, _ := c["tool_name"].(string)
				want.edits = want.edits || claude.KindOf(tool) == claude.EditTool
			}
		}
		if input := bytes.TrimSpace(got.input); !bytes.Equal(input, p.field("tool_input")) {
			t.Fatalf("the input %q, want %q", input, p.field("tool_input"))
		}
		if got.input, got.calls = nil, nil; got.edits && !want.edits {
			got.edits = false // taken apart for nothing, where the list is no list of calls
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v, want %+v", got, want)
		}
		p.results()
	})
}
