//go:build unix && !bell_udp

package bell

import (
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// This file has no use for package net: the program that clients run on every
// tool call rings bells too, and net costs it start-up time.

// maxPath is what fits into sun_path with its final zero on macOS, where it is
// shortest.
const maxPath = 103

// perSocket is how many sends one sending socket is used for. What a receiver
// has not read yet counts against the sender's buffer, which on Linux is full
// after some 280 datagrams (SO_SNDBUF 208 KiB, 768 bytes each).
const perSocket = 128

// receiver is a bound datagram socket.
type receiver interface {
	receive() error // blocks until a ring; os.ErrClosed after close
	close() error
}

type unixReceiver struct{ file *os.File }

// bind makes a socket file.
func bind(path string) (receiver, error) {
	fd, err := datagramSocket()
	if err != nil {
		return nil, err
	}
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: path}); err != nil {
		unix.Close(fd)
		return nil, &fs.PathError{Op: "bind", Path: path, Err: err}
	}
	// A file in non-blocking mode waits in the run-time's poller: an idle
	// waiter holds no thread, and Close ends a Read.
	return &unixReceiver{os.NewFile(uintptr(fd), path)}, nil
}

func (r *unixReceiver) receive() error {
	var buf [8]byte
	_, err := r.file.Read(buf[:])
	if err == io.EOF { // an empty datagram
		return nil
	}
	return err
}

func (r *unixReceiver) close() error { return r.file.Close() }

func isBell(e fs.DirEntry) bool { return e.Type()&fs.ModeSocket != 0 }

// sender sends rings. Its zero value is ready; it opens a socket when needed.
type sender struct {
	fd   int
	open bool
	sent int
}

// send rings one bell without blocking. Go's own WriteToUnix would wait for a
// receiver whose queue is full, and on Linux that is so after 10 datagrams.
func (s *sender) send(path string) (verdict, error) {
	if s.sent >= perSocket {
		s.close()
	}
	for {
		if err := s.ensure(); err != nil {
			return foreign, err
		}
		err := unix.Sendto(s.fd, []byte{1}, unix.MSG_DONTWAIT, &unix.SockaddrUnix{Name: path})
		switch err {
		case nil:
			s.sent++
			return rung, nil
		case unix.EINTR:
		case unix.EAGAIN, unix.ENOBUFS:
			// Linux says EAGAIN for a full receiver and for our own full
			// buffer. A fresh socket has an empty one.
			if s.sent == 0 {
				return rung, nil
			}
			s.close()
		case unix.ECONNREFUSED, unix.ENOENT:
			return dead, nil
		case unix.EPROTOTYPE: // a stream socket
			return foreign, nil
		default:
			return foreign, err
		}
	}
}

func (s *sender) ensure() (err error) {
	if !s.open {
		s.fd, err = datagramSocket()
		s.open = err == nil
	}
	return err
}

func (s *sender) close() {
	if s.open {
		unix.Close(s.fd)
	}
	*s = sender{}
}

// probe tells whether a process holds the socket. Connecting a datagram socket
// sends nothing.
func probe(path string) verdict {
	fd, err := datagramSocket()
	if err != nil {
		return foreign
	}
	defer unix.Close(fd)
	for {
		switch err := unix.Connect(fd, &unix.SockaddrUnix{Name: path}); err {
		case nil:
			return rung
		case unix.EINTR:
		case unix.ECONNREFUSED, unix.ENOENT:
			return dead
		default:
			return foreign
		}
	}
}
