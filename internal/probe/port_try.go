package probe

import (
	"context"
	"errors"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"
)

// tryPort finds out by trying. First it connects on loopback, where whoever
// listens on all addresses is met as well; then it binds the port on each
// address of this machine by itself, where whoever has just that one is in the
// way. It never listens on all addresses: firewalls ask the person about that,
// and some systems allow it beside a listener on one address.
func tryPort(ctx context.Context, number int) finding {
	to := strconv.Itoa(number)
	dialer := net.Dialer{Timeout: time.Second}
	addresses := []string{"127.0.0.1", "::1"}
	for _, a := range addresses {
		conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(a, to))
		var ne net.Error
		switch {
		case err == nil:
			conn.Close()
			return busy("port", "port %d is listened on", number)
		case errors.As(err, &ne) && ne.Timeout():
			return unknown("port", "port %d of %s neither accepts nor refuses", number, a)
		}
	}
	if found, err := net.InterfaceAddrs(); err == nil {
		for _, a := range found {
			if ip, ok := a.(*net.IPNet); ok && ip.IP.IsGlobalUnicast() {
				addresses = append(addresses, ip.IP.String())
			}
		}
	}
	bound := 0
	for _, a := range addresses {
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(a, to))
		switch {
		case err == nil:
			bound++
			listener.Close()
		case inUse(err):
			return busy("port", "port %d of %s is taken", number, a)
		case errors.Is(err, os.ErrPermission):
			return unknown("port", "this user may not try port %d", number)
		}
	}
	if bound == 0 {
		return unknown("port", "port %d cannot be tried on any address", number)
	}
	return free("port", "nobody answers on port %d, and it can be bound", number)
}

// inUse knows the error of a bound port on Unix and on Windows (WSAEADDRINUSE,
// and WSAEACCES where another has it for itself).
func inUse(err error) bool {
	return errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, syscall.Errno(10048)) || errors.Is(err, syscall.Errno(10013))
}
