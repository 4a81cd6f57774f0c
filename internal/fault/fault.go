// Package fault is bureau's one error vocabulary.
//
// Every refusal a user can meet carries a code, a sentence that names the
// value that was wrong, and a hint that says what to do next. A face (command
// line, MCP, HTTP) maps the code once, at its edge: [ExitCode] is the command
// line's map. Errors without a code are defects or trouble of the machine and
// count as [Unavailable].
package fault

import (
	"context"
	"errors"
	"fmt"
)

// Code classes an error by what the caller can do about it.
type Code string

// The codes. They are part of every JSON shape, so their spelling is fixed.
const (
	Invalid     Code = "invalid"     // the input is wrong: mend it and try again
	NotFound    Code = "not_found"   // nothing there by that name or id
	Conflict    Code = "conflict"    // it was there, but another state stands in the way
	Denied      Code = "denied"      // this caller may not do that
	Timeout     Code = "timeout"     // nothing came in the time given; nothing is lost
	Unavailable Code = "unavailable" // the store, the disk or a peer cannot serve now
)

// Error is a refusal with its reason and its way out.
type Error struct {
	Code    Code
	Message string // one sentence without a full stop, naming the value
	Hint    string // the next step, often a command; may be empty
	Detail  any    // what a program may want to look at (candidates, holder, …); JSON-encodable
	Err     error  // the cause, if there is one
}

// Error gives the message, and the cause where it adds something.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Message
	}
	if _, shown := e.Err.(silent); shown {
		return e.Message
	}
	return e.Message + ": " + e.Err.Error()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// New makes an error with a code and a formatted message. A %w verb sets the
// cause without repeating it in the message's tail.
func New(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	made := &Error{Code: code, Message: err.Error()}
	if cause := errors.Unwrap(err); cause != nil {
		made.Err = silent{cause}
	}
	return made
}

// silent marks a cause that Message shows already; errors.Is still finds it.
type silent struct{ error }

func (s silent) Unwrap() error { return s.error }

// WithHint sets the next step and returns the same error.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// WithDetail sets the machine-readable part and returns the same error.
func (e *Error) WithDetail(detail any) *Error {
	e.Detail = detail
	return e
}

// CodeOf gives the code of err: its own, [Timeout] for a deadline that ran
// out, [Unavailable] for anything without a code, and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return Timeout
	}
	return Unavailable
}

// HintOf gives the next step that err carries, or "".
func HintOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Hint
	}
	return ""
}

// Is reports whether err carries the code.
func Is(err error, code Code) bool { return err != nil && CodeOf(err) == code }

// ExitCode maps an error to the command line's exit status: 0 ok, 1 refused,
// 2 usage, 3 not found, 4 conflict, 5 timeout, 6 unavailable.
func ExitCode(err error) int {
	switch CodeOf(err) {
	case "":
		return 0
	case Denied:
		return 1
	case Invalid:
		return 2
	case NotFound:
		return 3
	case Conflict:
		return 4
	case Timeout:
		return 5
	default:
		return 6
	}
}
