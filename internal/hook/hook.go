// Package hook is what coding-agent clients run at the events of a session: it
// puts mail before the model, notes what proves that earlier mail arrived, and
// says who is there.
//
// It is run on every tool call of every session, so it must cost next to
// nothing when there is nothing to do, must never hold a session up, and must
// print exactly one JSON document or nothing. When anything fails it says so
// in one line on the error output and lets the session go on.
package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"bureau/internal/agent/claude"
	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/git"
	"bureau/internal/mailflag"
	"bureau/internal/mirror/locks"
	"bureau/internal/office"
	"bureau/internal/proc"
	"bureau/internal/roster"
	"bureau/internal/runtimedir"
)

// Deadlines of a whole run; the client gives all hooks of a SessionEnd 1.5 s.
const (
	deadline    = 2 * time.Second
	endDeadline = time.Second
	// lastWords is how long the words about a deadline may take.
	lastWords = 100 * time.Millisecond
)

// slack is added to the deadlines of the whole program. It is empty but in what
// tests link, who start many hooks at once on slow machines.
var slack string

// IO is the hook's way to the world.
type IO struct {
	In       io.Reader
	Out, Err io.Writer
	Env      func(string) string
	Now      func() time.Time
	Exit     func(code int) // ends the process at the deadline
	// patience is added to the deadlines, in tests on slow machines.
	patience time.Duration
	// Closed, if set, tells before anything is written whether it would reach
	// nobody.
	Closed func() bool
}

// System is the IO of the process itself.
func System() IO {
	more, _ := time.ParseDuration(slack)
	return IO{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.Getenv, Now: time.Now, Exit: os.Exit, Closed: closed, patience: more}
}

// Run handles one event of Claude Code. args are the event's name (the one in
// the input wins) and --home DIR. It gives the exit status, which is always 0
// but for a call by hand that is wrong.
func Run(streams IO, args []string) int {
	opts, err := parseArgs(args)
	if err != nil {
		// Not 2, which a client takes for a wish to block what it is about to do.
		fmt.Fprintf(streams.Err, "bureau-hook: %s\n", err)
		return 1
	}
	limit := func(event string) time.Duration {
		if event == endEvent {
			return endDeadline + streams.patience
		}
		return deadline + streams.patience
	}
	begun := time.Now()
	var once sync.Once
	say := func(format string, args ...any) {
		once.Do(func() { fmt.Fprintf(streams.Err, "bureau-hook: "+format+"\n", args...) })
	}
	// Whatever hangs, the session goes on. As long as nothing says which event
	// it is, it may be the one with the least time.
	first := opts.event
	if first == "" {
		first = endEvent
	}
	var given atomic.Int64 // the limit that counts
	given.Store(int64(limit(first)))
	timer := time.AfterFunc(limit(first), func() {
		said := make(chan bool)
		go func() {
			say("gave up after %s", time.Duration(given.Load()))
			close(said)
		}()
		select {
		case <-said:
		case <-time.After(lastWords + streams.patience): // nobody reads those either
		}
		streams.Exit(0)
	})
	defer timer.Stop()
	left := func(event string) time.Duration {
		given.Store(int64(limit(event)))
		rest := max(limit(event)-time.Since(begun), 0)
		timer.Reset(rest) // the arguments may have said nothing
		return rest
	}
	if first != opts.event {
		streams.In = &overture{Reader: streams.In, heard: func(text []byte) {
			if !bytes.Contains(text, []byte(endEvent)) {
				left("")
			}
		}}
	}
	if err := handle(streams, opts, left); err != nil {
		line, _, _ := strings.Cut(err.Error(), "\n")
		if hint := fault.HintOf(err); hint != "" {
			line += " (" + hint + ")"
		}
		say("%s", line)
	}
	return 0
}

// endEvent is the event with the least time.
const endEvent = "SessionEnd"

// overture tells once what an input begins with.
type overture struct {
	io.Reader
	heard func(text []byte)
}

func (o *overture) Read(p []byte) (int, error) {
	n, err := o.Reader.Read(p)
	if n > 0 && o.heard != nil {
		o.heard(p[:n])
		o.heard = nil
	}
	return n, err
}

type options struct {
	event string
	home  string
}

func parseArgs(args []string) (options, error) {
	var o options
	if len(args) == 0 || args[0] != "claude" {
		return o, fmt.Errorf("usage: bureau-hook claude [EVENT] [--home DIR]; the event's JSON comes on the input")
	}
	for i := 1; i < len(args); i++ {
		switch {
		case args[i] == "--home" && i+1 < len(args):
			i++
			o.home = args[i]
		case o.event == "" && args[i] != "" && args[i][0] != '-':
			o.event = args[i]
		default:
			return o, fmt.Errorf("what is %q? usage: bureau-hook claude [EVENT] [--home DIR]", args[i])
		}
	}
	return o, nil
}

// nothingNew reports whether there is no mail and nothing to be proved: for the
// session, for a subagent that the office does not know, or for one that it
// knows.
func nothingNew(flags string, f fields, now time.Time) bool {
	return mailflag.Idle(flags, f.session, f.agent, now) ||
		f.agent != "" && mailflag.Idle(flags, office.FlagName(f.session, f.agent), "", now)
}

// frequent are the events that fire around every tool call.
func frequent(event string) bool { return event == "PostToolBatch" || event == "PostToolUse" }

// handle answers what needs no office, and leaves the rest to work; left gives how
// long it may still take.
func handle(streams IO, opts options, left func(event string) time.Duration) error {
	obj, err := read(streams.In)
	if err != nil {
		return err
	}
	f := peek(obj)
	if f.event == "" {
		f.event = opts.event
	}
	home := opts.home
	if home == "" {
		if home, err = office.DefaultHome(); err != nil {
			return err
		}
	}
	in := &payload{obj: obj}
	h := &visit{io: streams, in: in, fields: f}
	switch run, err := runtimedir.Look(home); {
	case frequent(f.event):
		// The idle path: no database, and no decoding unless files were changed.
		if f.edits && err == nil && streams.Env(guardVariable) != guardOff {
			h.others, h.late = traced(run.EditDir(), f, in, streams.Now())
		}
		h.idle = err == nil && nothingNew(run.FlagDir(), f, streams.Now())
		if h.idle && len(h.others) == 0 {
			return h.late
		}
	case f.event == "PreToolUse" && claude.KindOf(f.tool) != claude.OwnTool:
		if path := secret(f, streams.Env); path != "" {
			return h.guardSecret(path)
		}
		h.edit = guarded(f, streams.Env)
		if h.edit == nil || err == nil && h.edit.allowed(run.EditDir(), streams.Now()) {
			return nil
		}
	}
	return h.work(home, left)
}

// work does what an event asks the office for.
func (h *visit) work(home string, left func(event string) time.Duration) error {
	act := actionAt(h.fields.event)
	if err := h.in.check(); err != nil {
		return fmt.Errorf("the input is no JSON: %w", err)
	}
	if act == nil {
		return nil
	}
	if h.fields.session == "" {
		return fmt.Errorf("the input names no session")
	}
	// The office is given a little less, so that it can still say what is wrong.
	ctx, cancel := context.WithTimeout(context.Background(), left(h.fields.event)*9/10)
	defer cancel()
	// A session that starts begins the office: hooks are set up by whoever wants
	// one, and nothing else may have run yet.
	o, err := office.Open(ctx, office.Options{Home: home, Create: h.fields.event == "SessionStart", NoFill: true, Early: true, Now: h.io.Now, Mirror: locks.Mirror(), Mark: git.Mark, Stamp: git.Stamp})
	if err != nil {
		return err
	}
	h.ctx, h.o, h.client = ctx, o, clientProcess(h.io.Env)
	_ = o.NoteHook(h.io.Env(claude.EnvPluginRoot) != "") // for the doctor only
	err = errors.Join(act(h), h.late)
	if closeErr := o.Close(); err == nil {
		err = closeErr
	}
	return err
}

// visit is one event being handled.
type visit struct {
	ctx    context.Context
	io     IO
	o      *office.Office
	in     *payload
	fields fields
	client roster.Process
	edit   *edit           // what is about to be changed or run
	idle   bool            // there is no mail and nothing to be proved
	others []office.Change // of the files that were changed now
	main   office.Caller   // the session's main agent
	caller office.Caller   // whose event it is: main, or one of its subagents

	begun   *office.Registered // what came of it if the session began only now
	late    error              // what went wrong and changed nothing about the answer
	left    []event.ID         // agents whose conversation the process has just left
	badName string             // the name from the environment, if it cannot be one
}

// actionAt gives what is done at an event, nil for nothing. It is no table: one
// would be built at the start of every run.
func actionAt(event string) func(*visit) error {
	switch event {
	case "SessionStart":
		return (*visit).sessionStart
	case "UserPromptSubmit":
		return (*visit).userPromptSubmit
	case "PreToolUse":
		return (*visit).preToolUse
	case "PostToolBatch":
		return (*visit).postToolBatch
	case "PostToolUse":
		return (*visit).postToolUse
	case "Stop", "SubagentStop":
		return (*visit).stop
	case "StopFailure":
		return (*visit).stopFailure
	case endEvent:
		return (*visit).sessionEnd
	case "Notification":
		return (*visit).notification
	case "CwdChanged":
		return (*visit).cwdChanged
	}
	return nil
}

// output is the one document that is printed. Only the fields that an event
// knows are ever set.
type output struct {
	Decision string    `json:"decision,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Specific *specific `json:"hookSpecificOutput,omitempty"`
}

type specific struct {
	Event      string `json:"hookEventName"`
	Permission string `json:"permissionDecision,omitempty"`
	Why        string `json:"permissionDecisionReason,omitempty"`
	Context    string `json:"additionalContext,omitempty"`
}

// print writes the document; after it returns nil the client has it.
func (h *visit) print(out output) error {
	if h.io.Closed != nil && h.io.Closed() {
		return fault.New(fault.Unavailable, "the output is closed").WithHint("nothing was given to the session")
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		return err
	}
	_, err := h.io.Out.Write(buf.Bytes())
	return err
}

// context prints a text into the model's context, if there is one.
func (h *visit) context(text string) error {
	if text == "" {
		return nil
	}
	return h.print(output{Specific: &specific{Event: h.fields.event, Context: text}})
}

// clientProcess names the client's process: the one that it says, or the one
// that the hook was started for.
func clientProcess(env func(string) string) roster.Process {
	if pid, err := strconv.Atoi(env(claude.EnvPID)); err == nil {
		if id, ok := proc.Of(pid); ok {
			return processOf(id)
		}
	}
	if id, _, ok := proc.Starter(proc.Ancestors(16)); ok {
		return processOf(id)
	}
	return roster.Process{}
}

func processOf(id proc.ID) roster.Process {
	return roster.Process{PID: id.PID, Start: id.Start, Host: proc.Host()}
}
