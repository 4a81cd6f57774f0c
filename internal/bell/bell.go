// Package bell wakes processes that wait, without a daemon and without polling.
//
// A process that waits hangs a bell: a datagram socket of its own in the
// folder of each topic it listens to. A process that changed something rings a
// topic: one non-blocking send to each socket it finds there. A topic is an
// agent's id, or "all".
//
//	b, err := bell.Listen(dir, agent, "all") // first the bell,
//	defer b.Close()
//	for !there() {                           // then a look,
//		if _, err := b.Wait(ctx, 5*time.Second); err != nil { // then the wait
//			return err
//		}
//	}
//
// In this order nothing is missed: a ring that comes between the look and the
// wait ends the wait at once. A bell is still only a hint. It carries no
// content, several rings may arrive as one, a ring may be for something that
// was seen already, and a machine in trouble may lose one. So every waiter
// looks again after each ring and after each sweep, and never concludes
// anything from silence.
//
// The folder given everywhere is [runtimedir.Dir.BellDir]. Two guarantees hold
// for whoever rings: it is never kept waiting, not even by a receiver that is
// stopped, and it leaves alone what is not a bell.
package bell

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"bureau/internal/fault"
	"bureau/internal/runtimedir"
)

const (
	// hidden marks a socket that is not ready yet.
	hidden = "."
	// attempts bounds the race with those who remove empty folders.
	attempts = 100
)

// Bell is what one process hears by. Its methods may be called from any
// goroutine.
type Bell struct {
	dir  string
	c    chan struct{}
	done chan struct{}

	mu     sync.Mutex
	ears   []*ear // one per topic
	closed bool
	heard  sync.WaitGroup
}

// ear is the bell's socket in one topic.
type ear struct {
	topic  string
	path   string
	socket receiver
	broken bool // its reader gave up
}

// Listen hangs a bell in dir for some topics. When it returns, rings reach it.
// Close must follow, else the socket files stay until the next ring or sweep.
func Listen(dir string, topics ...string) (*Bell, error) {
	b := &Bell{dir: dir, c: make(chan struct{}, 1), done: make(chan struct{})}
	for i, topic := range topics {
		if !runtimedir.SafeName(topic) {
			b.Close()
			return nil, invalidTopic(topic)
		}
		if slices.Contains(topics[:i], topic) {
			continue
		}
		e := &ear{topic: topic}
		if err := b.hang(e); err != nil {
			b.Close()
			return nil, err
		}
		b.ears = append(b.ears, e)
	}
	return b, nil
}

// C carries a value when the bell was rung since the last value was taken.
// A waiter that uses it in its own select calls [Bell.Mend] on its sweep.
func (b *Bell) C() <-chan struct{} { return b.c }

// Wait returns true at the next ring, or at once when one has come since the
// last Wait. It returns false without an error after sweep, which is when the
// caller looks by itself; a sweep of 0 or less never comes. Its errors are
// the context's, and [os.ErrClosed] once the bell is closed.
func (b *Bell) Wait(ctx context.Context, sweep time.Duration) (rung bool, err error) {
	select {
	case <-b.c:
		return true, nil
	default:
	}
	var tick <-chan time.Time
	if sweep > 0 {
		timer := time.NewTimer(sweep)
		defer timer.Stop()
		tick = timer.C
	}
	select {
	case <-b.c:
		return true, nil
	case <-tick:
		// Before the caller looks, so that what comes after the look rings.
		// Without a socket the sweep still works, so trouble is no reason to
		// end the wait.
		_ = b.Mend()
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	case <-b.done:
		return false, os.ErrClosed
	}
}

// Mend hangs the bell again in every topic where its socket was taken away,
// as cleaners of /tmp do. It costs one system call per topic.
func (b *Bell) Mend() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return os.ErrClosed
	}
	var all error
	for _, e := range b.ears {
		if _, err := os.Lstat(e.path); e.broken || errors.Is(err, fs.ErrNotExist) {
			e.take()
			all = errors.Join(all, b.hang(e))
		}
	}
	return all
}

// Close takes the bell down and removes its sockets. Waiters return.
func (b *Bell) Close() error {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return nil
	}
	b.closed = true
	close(b.done)
	for _, e := range b.ears {
		e.take()
		os.Remove(filepath.Dir(e.path)) // only if it is empty
	}
	b.mu.Unlock()
	b.heard.Wait()
	return nil
}

// hang gives an ear a new socket. It is bound under a hidden name and renamed
// when it is ready: where making the file and binding it are two steps, a ring
// in between would find a dead socket and remove it.
func (b *Bell) hang(e *ear) error {
	folder := filepath.Join(b.dir, e.topic)
	var err error
	for range attempts {
		if err = makeFolders(b.dir, folder); err != nil {
			return fault.New(fault.Unavailable, "cannot hang a bell: %w", err)
		}
		name := uniqueName()
		e.path = filepath.Join(folder, name)
		temp := filepath.Join(folder, hidden+name)
		if len(temp) > maxPath {
			return fault.New(fault.Unavailable, "the path of the bell %s has %d bytes, sockets take %d", temp, len(temp), maxPath)
		}
		if e.socket, err = bind(temp); err == nil {
			if err = os.Rename(temp, e.path); err == nil {
				e.broken = false
				b.heard.Add(1)
				go b.hear(e, e.socket)
				return nil
			}
			e.socket.close()
			os.Remove(temp)
		}
		e.socket = nil
		// Somebody removed the folder while it was empty: make it again.
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return fault.New(fault.Unavailable, "cannot hang a bell in %s: %w", folder, err)
}

// hear passes rings on until the socket is closed.
func (b *Bell) hear(e *ear, socket receiver) {
	defer b.heard.Done()
	for {
		if err := socket.receive(); err != nil {
			if !errors.Is(err, os.ErrClosed) {
				b.mu.Lock()
				e.broken = e.broken || e.socket == socket
				b.mu.Unlock()
			}
			return
		}
		select {
		case b.c <- struct{}{}:
		default: // one is waiting already, and stands for both
		}
	}
}

// take removes an ear's socket: the file first, so that nobody rings at a
// socket that is about to go.
func (e *ear) take() {
	os.Remove(e.path)
	if e.socket != nil {
		e.socket.close()
		e.socket = nil
	}
}

// makeFolders makes the topic's folder and its parent, but not the runtime
// folder, which must be made and checked by package runtimedir.
func makeFolders(folders ...string) error {
	for _, f := range folders {
		if err := os.Mkdir(f, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// uniqueName is never used twice: whoever finds a socket dead may remove it by
// name, however long ago that was. The process id is for people.
func uniqueName() string {
	return strconv.Itoa(os.Getpid()) + "-" + strconv.FormatUint(rand.Uint64(), 36)
}

func invalidTopic(topic string) error {
	return fault.New(fault.Invalid, "%q is not a topic of a bell; agents' ids and \"all\" are", topic)
}
