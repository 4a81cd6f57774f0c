// Package inbox posts lines to the inbox socket of a Claude Code session. It is
// apart from package claude because it needs the network library, which the
// hook program does not pay for.
package inbox

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"

	"bureau/internal/agent/claude"
	"bureau/internal/fault"
	"bureau/internal/quote"
)

// Why a ring failed. Each comes as a [fault.Error] of code unavailable, or
// timeout for the last, that wraps it.
var (
	// ErrUnsupported: the client speaks another version of the inbox.
	ErrUnsupported = errors.New("the client's inbox speaks another protocol")
	// ErrNoSocket: there is no inbox at the path, or not one of this user.
	ErrNoSocket = errors.New("no inbox socket")
	// ErrRefused: the socket is there and nobody listens.
	ErrRefused = errors.New("the inbox refused the connection")
	// ErrTimeout: the client did not take the line in time.
	ErrTimeout = errors.New("the inbox did not take the line in time")
)

// ringTimeout bounds a ring whose context has no deadline.
const ringTimeout = 2 * time.Second

// doorbellLimit bounds a doorbell's text in terminal columns.
const doorbellLimit = 400

// Result is what is known of a ring. The client answers nothing: the line is
// in its socket, and a turn beginning (status busy) is the proof.
type Result struct {
	// MessageID is the frame's msg_id; the transcript's origin repeats it.
	MessageID string
}

// RingRecord posts one line to the session's inbox: a busy session gets it with the
// next round of tools, an idle one starts a turn. It refuses, with
// [ErrUnsupported], a client whose inbox is not of version [claude.PeerProtocol].
// See [Ring] for token and text.
func RingRecord(ctx context.Context, r claude.Record, token, text string) (Result, error) {
	if r.PeerProtocol != claude.PeerProtocol {
		return Result{}, fault.New(fault.Unavailable, "Claude Code %s: %w (%d, wanted %d)", r.Version, ErrUnsupported, r.PeerProtocol, claude.PeerProtocol)
	}
	if r.SocketPath == "" {
		return Result{}, fault.New(fault.Unavailable, "the session of process %d: %w", r.Process.PID, ErrNoSocket)
	}
	return Ring(ctx, r.SocketPath, token, text)
}

// Ring posts one line to an inbox socket whose protocol is known to be
// [claude.PeerProtocol]; [RingRecord] checks that. token is the session's
// [claude.EnvToken]; "" sends no authentication, which the client accepts from its
// own children on Linux.
//
// The text must differ from the last one of ours, for instance by naming the
// newest message: the client drops a repetition and says so on the person's
// screen. It also drops more than about 30 lines in a burst. The text is one
// short line of our own, never a message's body: it stands in the terminal.
//
// A nil error means that the client's kernel has the line, nothing more.
func Ring(ctx context.Context, socket, token, text string) (Result, error) {
	if err := checkSocket(socket); err != nil {
		return Result{}, fault.New(fault.Unavailable, "%w %s: %v", ErrNoSocket, socket, err)
	}
	id := newUUID()
	lines, err := frame(id, token, text)
	if err != nil {
		return Result{}, err
	}
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, ringTimeout)
		defer cancel()
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return Result{}, ringError(socket, err)
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return Result{}, ringError(socket, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := conn.Write(lines); err != nil {
		if ctx.Err() != nil && errors.Is(ctx.Err(), context.Canceled) {
			return Result{}, ctx.Err()
		}
		return Result{}, ringError(socket, err)
	}
	return Result{MessageID: id}, nil
}

func ringError(socket string, err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return fault.New(fault.Timeout, "%s: %w", socket, ErrTimeout)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fault.New(fault.Unavailable, "%s: %w", socket, ErrRefused)
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.Unavailable, "%w %s", ErrNoSocket, socket)
	}
	return fault.New(fault.Unavailable, "cannot ring at %s: %w", socket, err)
}

// checkSocket reports why the path is no inbox of this user. Its folder lies
// in /tmp, and the token must not go to somebody else's socket.
func checkSocket(path string) error {
	st, err := os.Lstat(path)
	switch {
	case err != nil:
		return err
	case st.Mode().Type() != fs.ModeSocket:
		return errors.New("it is no socket")
	}
	return checkOwner(st)
}

// authLine and userFrame are the inbox's two lines (peerProtocol 1).
type authLine struct {
	Type  string `json:"type"`
	Token string `json:"token"`
}

type userFrame struct {
	MsgV     int         `json:"msgV"`
	MsgID    string      `json:"msg_id"`
	Type     string      `json:"type"`
	Message  userMessage `json:"message"`
	Priority string      `json:"priority"`
	From     string      `json:"from"`
}

type userMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// frame makes the lines of a ring. No from-mode is claimed: the client knows
// its own children, and a false one would go around the person's review.
func frame(id, token, text string) ([]byte, error) {
	text = quote.Line(text, doorbellLimit)
	if text == "" {
		return nil, fault.New(fault.Invalid, "a ring needs a text")
	}
	content := quote.Exact(claude.FrameTag, []quote.Attr{{Name: "from", Value: claude.DoorbellName}, {Name: "from-name", Value: claude.DoorbellName}}, text)
	var lines []byte
	add := func(v any) error {
		line, err := json.Marshal(v)
		lines = append(append(lines, line...), '\n')
		return err
	}
	if token != "" {
		if err := add(authLine{Type: "auth", Token: token}); err != nil {
			return nil, err
		}
	}
	err := add(userFrame{
		MsgV: 1, MsgID: id, Type: "user", Message: userMessage{Role: "user", Content: content},
		Priority: "next", From: claude.DoorbellName,
	})
	return lines, err
}

// newUUID makes a random UUID (version 4).
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails; see crypto/rand
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
