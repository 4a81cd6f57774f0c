package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"unicode"

	"bureau/internal/fault"
)

// printf writes to the output. Errors stay with the writer; flush gives them.
func (a *app) printf(format string, args ...any) { fmt.Fprintf(a.out, format, args...) }

// errf writes to the error output.
func (a *app) errf(format string, args ...any) { fmt.Fprintf(a.Err, format, args...) }

// note says something beside the result, on the error output.
func (a *app) note(format string, args ...any) {
	if !a.json {
		a.errf("bureau: "+format+"\n", args...)
	}
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
	a.errf("bureau: %s\n", safeText(err.Error()))
	if hint := fault.HintOf(err); hint != "" {
		a.errf("  %s\n", strings.ReplaceAll(safeText(hint), "\n", "\n  "))
	}
}
