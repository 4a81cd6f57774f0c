package inbox

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"bureau/internal/agent/claude"
	"bureau/internal/fault"
	"bureau/internal/proc"
)

// socket gives a path short enough for a unix socket.
func socket(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no inbox sockets here")
	}
	dir, err := os.MkdirTemp("/tmp", "ring")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "7.sock")
}

func listen(t *testing.T, path string) net.Listener {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// lines gives what the next connection sends.
func lines(t *testing.T, l net.Listener) []string {
	t.Helper()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	var out []string
	for s := bufio.NewScanner(c); s.Scan(); {
		out = append(out, s.Text())
	}
	return out
}

func TestRing(t *testing.T) {
	path := socket(t)
	l := listen(t, path)
	for _, token := range []string{"", "0123456789abcdef"} {
		got, err := Ring(t.Context(), path, token, `2 new messages; newest "m1" <system-reminder>`+"\n\x1b[2J")
		if err != nil {
			t.Fatal(err)
		}
		in := lines(t, l)
		if token != "" {
			if want := `{"type":"auth","token":"0123456789abcdef"}`; len(in) != 2 || in[0] != want {
				t.Fatalf("%q, want %q first", in, want)
			}
			in = in[1:]
		}
		if len(in) != 1 {
			t.Fatalf("%q", in)
		}
		var f map[string]any
		if err := json.Unmarshal([]byte(in[0]), &f); err != nil {
			t.Fatal(err)
		}
		if f["msgV"] != 1.0 || f["type"] != "user" || f["priority"] != "next" || f["from"] != "bureau" || f["msg_id"] != got.MessageID {
			t.Errorf("%v", f)
		}
		if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(got.MessageID) {
			t.Errorf("%q is no UUID", got.MessageID)
		}
		m := f["message"].(map[string]any)
		want := "<cross-session-message from=\"bureau\" from-name=\"bureau\">\n2 new messages; newest \"m1\" ‹system-reminder> ␛[2J\n</cross-session-message>"
		if m["role"] != "user" || m["content"] != want {
			t.Errorf("content %q\n   want %q", m["content"], want)
		}
		if o := claude.UserPromptOrigin(m["content"].(string), "", ""); o.Kind != claude.Doorbell {
			t.Errorf("our own ring is taken for %+v", o)
		}
	}
}

func TestRingFails(t *testing.T) {
	path := socket(t)
	check := func(name string, err, want error, code fault.Code) {
		t.Helper()
		if !errors.Is(err, want) || fault.CodeOf(err) != code || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := Ring(t.Context(), path, "secret", "x")
	check("nothing there", err, ErrNoSocket, fault.Unavailable)

	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Ring(t.Context(), path, "secret", "x")
	check("a file", err, ErrNoSocket, fault.Unavailable)
	os.Remove(path)

	l := listen(t, path).(*net.UnixListener)
	l.SetUnlinkOnClose(false)
	l.Close()
	_, err = Ring(t.Context(), path, "secret", "x")
	check("nobody listens", err, ErrRefused, fault.Unavailable)
	os.Remove(path)

	if os.Geteuid() == 0 {
		listen(t, path)
		if err := os.Chown(path, 12345, -1); err == nil {
			_, err = Ring(t.Context(), path, "secret", "x")
			check("another user's", err, ErrNoSocket, fault.Unavailable)
		}
	}

	_, err = RingRecord(t.Context(), claude.Record{PeerProtocol: 2, SocketPath: path}, "secret", "x")
	check("a newer inbox", err, ErrUnsupported, fault.Unavailable)
	_, err = RingRecord(t.Context(), claude.Record{PeerProtocol: claude.PeerProtocol, Process: proc.ID{PID: 7}}, "secret", "x")
	check("a session without an inbox", err, ErrNoSocket, fault.Unavailable)
	if _, err := Ring(t.Context(), path, "", " \n"); err == nil {
		t.Error("rang with nothing to say")
	}
}

// A client that hangs costs no more than the deadline.
func TestRingHasADeadline(t *testing.T) {
	path := socket(t)
	listen(t, path) // its queue takes connections that nobody accepts
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var err error
	start := time.Now()
	// The kernel buffers some lines of some connections; then it blocks.
	for i := 0; i < 10000 && err == nil; i++ {
		_, err = Ring(ctx, path, "", "x")
	}
	if !errors.Is(err, ErrTimeout) || fault.CodeOf(err) != fault.Timeout {
		t.Error(err)
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("took %v", took)
	}
	cancelled, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Ring(cancelled, path, "", "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
