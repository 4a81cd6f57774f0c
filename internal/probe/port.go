package probe

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"strings"
)

// port tells whether anybody listens on a TCP port, on any address.
func port(ctx context.Context, s Subject) finding {
	number, _ := digits(s.Name, 5)
	if !here(s.Host) {
		return remotePort(ctx, s.Host, int(number))
	}
	return localPort(ctx, int(number))
}

// readSockets is what another Linux machine is asked; no number goes there.
const readSockets = "cat /proc/net/tcp /proc/net/tcp6 2>/dev/null || cat /proc/net/tcp"

func remotePort(ctx context.Context, host string, number int) finding {
	o, f := ssh(ctx, "port", host, readSockets)
	if f.verdict == Unknown {
		return f
	}
	found, ok := listening(o.out, number)
	switch {
	case !ok || len(o.out) >= maxOutput:
		return unknown("port", "%s does not say who listens there (%s)", host, o.why("ssh"))
	case len(found) > 0:
		return busy("port", "port %d of %s is listened on", number, host)
	}
	return free("port", "nobody listens on port %d of %s", number, host)
}

// stateListen is TCP_LISTEN in the kernel's tables.
const stateListen = "0A"

// listening finds the sockets that listen on a port in the text of
// /proc/net/tcp and tcp6 (proc_pid_net(5)): their inodes. It reports false for
// a text that is no such table.
func listening(table []byte, number int) (inodes []string, ok bool) {
	lines := bufio.NewScanner(bytes.NewReader(table))
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) > 1 && f[0] == "sl" && f[1] == "local_address" {
			ok = true
			continue
		}
		if len(f) < 10 || f[3] != stateListen {
			continue
		}
		_, local, _ := strings.Cut(f[1], ":")
		b, err := hex.DecodeString(local)
		if err == nil && len(b) == 2 && int(b[0])<<8|int(b[1]) == number {
			inodes = append(inodes, f[9])
		}
	}
	return inodes, ok && lines.Err() == nil
}
