package mclaude

import (
	"errors"

	"bureau/internal/fault"
)

// The exit codes of mclaude's lock commands.
const (
	ExitOK           = 0  // done; also "status" of work that is free
	ExitInvalid      = 1  // the slug breaks the rule, and trouble of the machine
	ExitUsage        = 2  // wrong arguments
	ExitHeld         = 10 // claim: somebody has it
	ExitStale        = 11 // claim: somebody has it and gives no sign of life
	ExitNone         = 12 // heartbeat, release, force-release: there is no such lock
	ExitWrongSession = 13 // heartbeat, release: another session has it
)

// Refusal is the detail of an error of this package: the exit code in
// mclaude's words, and the lock that stands in the way.
type Refusal struct {
	Exit int    `json:"exit"`
	Lock *Entry `json:"lock,omitempty"`
}

// RefusalOf gives the refusal that err carries.
func RefusalOf(err error) (Refusal, bool) {
	var e *fault.Error
	if !errors.As(err, &e) {
		return Refusal{}, false
	}
	r, ok := e.Detail.(Refusal)
	return r, ok
}

// ExitCode maps an error of this package to the exit code of mclaude's lock
// commands.
func ExitCode(err error) int {
	if err == nil {
		return ExitOK
	}
	if r, ok := RefusalOf(err); ok {
		return r.Exit
	}
	return ExitInvalid
}

func invalidSlug(slug string) error {
	return fault.New(fault.Invalid, "%q is not a slug of a lock", slug).
		WithHint("use 3 to 80 lower-case letters a-z, digits and hyphens, the first not a hyphen").
		WithDetail(Refusal{Exit: ExitInvalid})
}

func usage(format string, args ...any) *fault.Error {
	return fault.New(fault.Invalid, format, args...).WithDetail(Refusal{Exit: ExitUsage})
}

func none(slug string) error {
	return fault.New(fault.NotFound, "there is no lock %q", slug).
		WithHint("it was released, or taken over and released since").
		WithDetail(Refusal{Exit: ExitNone})
}

// held refuses a claim because of the lock that is there.
func held(e Entry) error {
	if e.Status == Stale {
		return fault.New(fault.Conflict, "the lock %q is held by session %q, which gives no sign of life", e.Slug, e.Session).
			WithHint("take it over with a reason, after a look at what the session left").
			WithDetail(Refusal{Exit: ExitStale, Lock: &e})
	}
	return fault.New(fault.Conflict, "the lock %q is held by session %q", e.Slug, e.Session).
		WithHint("ask its holder, or wait until it is released").
		WithDetail(Refusal{Exit: ExitHeld, Lock: &e})
}

// lost says that the file system gave the lock to two and the other one stays.
func lost(e Entry) error {
	return fault.New(fault.Conflict, "the lock %q went to session %q, which made it at the same moment", e.Slug, e.Session).
		WithHint("ask its holder, or wait until it is released").
		WithDetail(Refusal{Exit: ExitHeld, Lock: &e})
}

func wrongSession(e Entry, session string) error {
	return fault.New(fault.Denied, "the lock %q is held by session %q, not by %q", e.Slug, e.Session, session).
		WithHint("only its holder may do that; a stale lock can be forced with a reason").
		WithDetail(Refusal{Exit: ExitWrongSession, Lock: &e})
}

func trouble(doing, slug string, err error) error {
	var known *fault.Error
	if errors.As(err, &known) {
		return err
	}
	return fault.New(fault.Unavailable, "cannot %s the lock %q: %w", doing, slug, err).
		WithHint("see that the disk has room and that this user may write in %s", activeDir).
		WithDetail(Refusal{Exit: ExitInvalid})
}
