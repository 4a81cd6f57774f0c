package mcpserver

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync/atomic"
	"syscall"
)

// link is a client's connection. A client that closes one with an answer that it
// has not read resets it, where its system does as TCP wants (Linux and Windows
// do); one that has read everything ends it in order.
type link struct {
	net.Conn
	broke atomic.Bool
}

func (l *link) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	l.note(err)
	return n, err
}

func (l *link) Write(p []byte) (int, error) {
	n, err := l.Conn.Write(p)
	l.note(err)
	return n, err
}

func (l *link) note(err error) {
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		l.broke.Store(true)
	}
}

// CloseWrite is what the HTTP library ends a connection with, so that its last
// answer is not lost.
func (l *link) CloseWrite() error {
	if c, ok := l.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return nil
}

// there reports whether the client is, as far as the system knows now.
func (l *link) there() bool { return !l.broke.Load() && l.state() <= linkOpen }

// lost reports whether the connection broke, so that nobody knows what of the
// last answer was read.
func (l *link) lost() bool { return l.broke.Load() || l.state() == linkBroken }

// linkState is how a connection stands at the system.
type linkState int

const (
	linkUnknown linkState = iota // or closed by this side
	linkOpen
	linkLeft   // the client sends nothing any more
	linkBroken // reset
)

func (l *link) state() linkState {
	c := l.Conn
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	s, ok := c.(syscall.Conn)
	if !ok {
		return linkUnknown
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return linkUnknown
	}
	state := linkUnknown
	if raw.Control(func(fd uintptr) { state = socketState(fd) }) != nil {
		return linkUnknown
	}
	return state
}

// links makes the connections of a listener known. Those that are encrypted
// already are left as they are: the HTTP library looks for them.
type links struct{ net.Listener }

func (l links) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if t, ok := c.(*net.TCPConn); ok && err == nil {
		return &link{Conn: t}, nil
	}
	return c, err
}

type linkKey struct{}

// withLink notes a connection for its requests.
func withLink(ctx context.Context, c net.Conn) context.Context {
	l, ok := c.(*link)
	if !ok {
		l = &link{Conn: c}
	}
	return context.WithValue(ctx, linkKey{}, l)
}

func linkOf(ctx context.Context) *link {
	if l, ok := ctx.Value(linkKey{}).(*link); ok {
		return l
	}
	return &link{} // of which nothing is known
}
