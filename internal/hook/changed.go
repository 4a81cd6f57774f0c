package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"bureau/internal/agent/claude"
	"bureau/internal/editflag"
	"bureau/internal/office"
	"bureau/internal/quote"
)

// changed gives the files that the calls of an event changed, as written. What
// failed or was denied changed nothing.
func changed(f fields, in *payload) []string {
	type call struct {
		Tool     string          `json:"tool_name"`
		Input    json.RawMessage `json:"tool_input"`
		Response json.RawMessage `json:"tool_response"`
		Error    any             `json:"error"`
		IsError  any             `json:"is_error"`
	}
	var calls []call
	if len(f.calls) > 0 {
		// Nothing else of the event is taken apart for it.
		_ = json.Unmarshal(f.calls[:valueEnd(f.calls, 0)], &calls)
	}
	if claude.KindOf(f.tool) == claude.EditTool {
		calls = append(calls, call{Tool: f.tool, Input: f.input, Response: in.field("tool_response")})
	}
	var out []string
	for _, c := range calls {
		if claude.KindOf(c.Tool) == claude.EditTool && c.Error == nil && c.IsError != true && !failed(c.Response) && !kept(c.Response) {
			out = append(out, touched(c.Input)...)
		}
	}
	return out
}

// kept recognises the result of a call that was not made, by a hook (the
// guard's own denials are such), a rule or the person. The client marks none;
// its version 2.1.332 begins them with these words.
func kept(response json.RawMessage) bool {
	var text string
	if json.Unmarshal(response, &text) != nil {
		return false
	}
	for _, begin := range []string{"PreToolUse:", "Permission to use ", "Claude requested permissions ", "The user doesn't want "} {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	return false
}

// traced writes down which files an event's calls changed, and gives the
// changes of the same files by others a moment before. It opens no database.
func traced(dir string, f fields, in *payload, now time.Time) ([]office.Change, error) {
	files := absolute(f.cwd, changed(f, in))
	list, err := editflag.Trace(dir, f.session+"\x00"+f.agent, files[:min(len(files), maxTouched)], now, now.Add(-office.EditWindow))
	var out []office.Change
	for _, c := range list {
		session, sub, _ := strings.Cut(c.By, "\x00")
		out = append(out, office.Change{Path: c.Path, Client: clientName, Session: session, Sub: sub, At: c.At})
	}
	return out, err
}

// changedToo gives the words about files that somebody else changed a moment
// before, and writes to those; "" for none. Its failure keeps nothing else back.
func (h *visit) changedToo() string {
	if len(h.others) == 0 {
		return ""
	}
	told, err := h.o.TellChanges(h.ctx, h.caller, h.others)
	if h.late = errors.Join(h.late, err); err != nil || len(told) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("bureau: somebody else changed a file within the last minute that you changed now. Read it again before you go on, and talk to them:")
	for i, o := range told {
		if i == claimsShown {
			fmt.Fprintf(&b, "\n- and %d more", len(told)-i)
			break
		}
		fmt.Fprintf(&b, "\n- %s: %s, %s before you", line(o.Path, pathColumns), o.By, quote.Ago(h.o.Now().Sub(o.At)))
	}
	return b.String()
}

// join puts one text behind another.
func join(a, b string) string {
	if a != "" && b != "" {
		a += "\n"
	}
	return a + b
}
