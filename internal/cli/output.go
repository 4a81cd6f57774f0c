package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"syscall"
	"unicode"

	"bureau/internal/fault"
	"bureau/internal/quote"
)

// printf writes to the output. Errors stay with the writer; flush gives them.
func (a *app) printf(format string, args ...any) { fmt.Fprintf(a.out, format, args...) }

// errf writes to the error output.
func (a *app) errf(format string, args ...any) { fmt.Fprintf(a.Err, format, args...) }

// note says something beside the result, on the error output.
func (a *app) note(format string, args ...any) {
	if !a.json {
		if a.OutTTY && a.ErrTTY {
			_ = a.flush() // one terminal shows both in their order; what failed fails again
		}
		a.errf("%s\n", a.folded("bureau: "+fmt.Sprintf(format, args...), a.ErrTTY))
	}
}

// folded breaks the lines of a message that are too long for the terminal that
// it goes to, if it goes to one.
func (a *app) folded(text string, terminal bool) string {
	if !terminal {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = fold(line, a.width(), "  ")
	}
	return strings.Join(lines, "\n")
}

// fold breaks a line that is wider than columns where a part of it ends: behind
// a semicolon, a colon or a full stop, or before a bracket. What stands in quotes
// and the words of a command stay together, so that they can be copied; a line
// without such a place is left to the terminal.
func fold(line string, columns int, margin string) string {
	var out strings.Builder
	for quote.Width(line) > columns {
		at := foldAt(line, columns, len(margin))
		if at == 0 {
			break
		}
		out.WriteString(strings.TrimRight(line[:at], " ") + "\n")
		line = margin + line[at:]
	}
	return out.String() + line
}

// foldAt gives the last place to break a line before it is too wide, or else the
// first one behind, or 0.
func foldAt(line string, columns, from int) (at int) {
	quoted := byte(0)
	for i := from; i+1 < len(line); i++ {
		c, blank := line[i], i == 0 || line[i-1] == ' ' || line[i-1] == '('
		switch {
		case quoted != 0:
			if c == quoted {
				quoted = 0
			}
			continue
		case c == '"' || c == '\'' && blank:
			quoted = c
			continue
		}
		place := 0
		switch {
		case line[i+1] == ' ' && (c == ';' || c == ':' || c == '.') && line[:i+1] != "bureau:":
			place = i + 2
		case c == '(' && blank && i > from+1:
			place = i
		default:
			continue
		}
		if quote.Width(line[:place]) > columns+1 {
			if at == 0 {
				return place
			}
			return at
		}
		at = place
	}
	return at
}

// printJSON writes one JSON object: on one line, or indented for a person.
func (a *app) printJSON(v any) error {
	raw, err := encodeJSON(v, a.OutTTY)
	if err != nil {
		return err
	}
	_, _ = a.out.Write(raw)
	return nil
}

// encodeJSON is JSON with a newline at its end. Text stays readable (no HTML
// escapes), but what could steer a terminal or hide in it is escaped, which
// JSON readers undo.
func encodeJSON(v any, indent bool) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if indent {
		enc.SetIndent("", "  ")
	}
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	raw := buf.Bytes()
	if bytes.IndexFunc(raw, steers) < 0 {
		return raw, nil
	}
	var safe bytes.Buffer
	for _, r := range string(raw) {
		switch {
		case !steers(r):
			safe.WriteRune(r)
		case r > 0xffff:
			high := 0xd800 + (r-0x10000)>>10
			low := 0xdc00 + (r-0x10000)&0x3ff
			fmt.Fprintf(&safe, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&safe, `\u%04x`, r)
		}
	}
	return safe.Bytes(), nil
}

// steers reports whether a character could move the cursor, change direction
// or hide. Those below space are escaped by every JSON encoder; the joiners
// are part of emoji and of several scripts.
func steers(r rune) bool {
	const zwnj, zwj = 0x200c, 0x200d
	return r >= 0x7f && r <= 0x9f || r > 0x9f && unicode.Is(unicode.Cf, r) && r != zwnj && r != zwj
}

// errorView is the shape of an error in JSON.
type errorView struct {
	Error struct {
		Code    fault.Code `json:"code"`
		Message string     `json:"message"`
		Hint    string     `json:"hint"`
		Detail  any        `json:"detail,omitempty"`
	} `json:"error"`
}

// report says on the error output why a run failed.
func (a *app) report(err error) {
	if errors.Is(err, syscall.EPIPE) && fault.HintOf(err) == "" {
		return // whoever read the output has left and wants no more
	}
	if a.json {
		var v errorView
		v.Error.Code, v.Error.Message, v.Error.Hint = fault.CodeOf(err), err.Error(), fault.HintOf(err)
		var f *fault.Error
		if errors.As(err, &f) {
			v.Error.Detail = f.Detail
		}
		raw, encodeErr := encodeJSON(v, a.ErrTTY)
		if encodeErr != nil {
			v.Error.Detail = nil
			raw, _ = encodeJSON(v, a.ErrTTY)
		}
		_, _ = a.Err.Write(raw)
		return
	}
	a.errf("%s\n", a.folded("bureau: "+safeText(err.Error()), a.ErrTTY))
	if hint := a.hint(err); hint != "" {
		a.errf("%s\n", a.folded("  "+strings.ReplaceAll(safeText(hint), "\n", "\n  "), a.ErrTTY))
	}
}

// bureau is how a command begins that the caller is shown as a next step.
func (a *app) bureau() string {
	if a.as == "" {
		return "bureau"
	}
	return "bureau --as " + quote.Shell(a.as)
}

// own are commands that are somebody's, in the hints of packages that do not
// know under which name they were called.
var own = regexp.MustCompile(`\bbureau (ask|answer|inbox|read|ack|sent|withdraw|thread|room|claim|claims give|release|takeover) `)

// others are parts of hints whose commands somebody else has to run.
var others = regexp.MustCompile(`\bcan (add|invite) you: |\bmoderator can begin with: `)

// hint is the next step after an error, under the name that the caller acts as.
func (a *app) hint(err error) string {
	hint := fault.HintOf(err)
	if a.as == "" || strings.Contains(hint, "--as ") || strings.Contains(hint, "the person") {
		return hint
	}
	parts := strings.Split(hint, "; ")
	for i, part := range parts {
		if !others.MatchString(part) {
			parts[i] = own.ReplaceAllString(part, strings.ReplaceAll(a.bureau(), "$", "$$")+" $1 ")
		}
	}
	return strings.Join(parts, "; ")
}
