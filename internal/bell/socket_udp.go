//go:build !unix || bell_udp

package bell

// Where there are no unix datagrams, a bell is a UDP socket on the loopback
// address, and the file in the topic's folder says where:
//
//	bureau-bell 1 <port> <nonce> <pid> <start>
//
// A port is soon somebody else's when its owner dies, so the owner is named in
// the file and must be alive; and anybody on the machine may send to a port,
// so a datagram counts only if it is the nonce, which stands in a folder that
// only its user can read. The tag bell_udp builds this on any system.

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"time"

	"bureau/internal/proc"
)

// maxPath is far off: only a file's path is limited here.
const maxPath = 4096

// receiver is a bound datagram socket.
type receiver interface {
	receive() error // blocks until a ring; os.ErrClosed after close
	close() error
}

type udpReceiver struct {
	conn  *net.UDPConn
	nonce []byte
}

// bind opens a port and writes the file that tells it.
func bind(path string) (receiver, error) {
	conn, err := openPort()
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, 16)
	rand.Read(nonce)
	self := proc.Self()
	port := conn.LocalAddr().(*net.UDPAddr).Port
	text := fmt.Sprintf(format, port, hex.EncodeToString(nonce), self.PID, self.Start)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return &udpReceiver{conn, nonce}, nil
}

func openPort() (*net.UDPConn, error) {
	return net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
}

func (r *udpReceiver) receive() error {
	var buf [64]byte
	for {
		n, _, err := r.conn.ReadFromUDPAddrPort(buf[:])
		if errors.Is(err, net.ErrClosed) {
			return os.ErrClosed
		}
		// A datagram that is longer than the buffer is an error on Windows.
		if err != nil && n == 0 {
			return err
		}
		if bytes.Equal(buf[:n], r.nonce) {
			return nil
		}
	}
}

func (r *udpReceiver) close() error { return r.conn.Close() }

func isBell(e fs.DirEntry) bool { return e.Type().IsRegular() }

const format = "bureau-bell 1 %d %s %d %d\n"

// address is what a bell's file says.
type address struct {
	port  uint16
	nonce []byte
	owner proc.ID
}

// readAddress gives the address in a bell's file. It reports dead for a file
// that is gone and for an owner that is, foreign for anything else that is not
// a bell of a live process.
func readAddress(path string) (address, verdict) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return address{}, dead
	}
	var a address
	var nonce string
	if _, err := fmt.Sscanf(string(data), format, &a.port, &nonce, &a.owner.PID, &a.owner.Start); err != nil {
		return address{}, foreign
	}
	if a.nonce, err = hex.DecodeString(nonce); err != nil || len(a.nonce) != 16 {
		return address{}, foreign
	}
	if !a.owner.Alive() {
		return address{}, dead
	}
	return a, rung
}

// sender sends rings. Its zero value is ready; it opens a port when needed.
type sender struct{ conn *net.UDPConn }

// send rings one bell. A datagram that finds a full queue is dropped by the
// system, so nothing blocks; the deadline is for the unexpected.
func (s *sender) send(path string) (verdict, error) {
	a, v := readAddress(path)
	if v != rung {
		return v, nil
	}
	if s.conn == nil {
		conn, err := openPort()
		if err != nil {
			return foreign, err
		}
		s.conn = conn
	}
	s.conn.SetWriteDeadline(time.Now().Add(20 * time.Millisecond))
	to := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), a.port)
	if _, err := s.conn.WriteToUDPAddrPort(a.nonce, to); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return foreign, err
	}
	return rung, nil
}

func (s *sender) close() {
	if s.conn != nil {
		s.conn.Close()
		s.conn = nil
	}
}

// probe tells whether the process that hung the bell is alive.
func probe(path string) verdict {
	_, v := readAddress(path)
	return v
}
