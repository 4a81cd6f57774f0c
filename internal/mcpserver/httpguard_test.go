package mcpserver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Who may be called by which name, on a server that listens at all addresses.
func TestGuard(t *testing.T) {
	at := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 7777}
	h := guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), []string{"Box.Example", "198.51.100.1"}, time.Second)
	for _, c := range []struct {
		host    string
		origins []string
		status  int
	}{
		{"192.0.2.7:7777", nil, 200}, {"192.0.2.7", nil, 200}, {"[::ffff:192.0.2.7]:7777", nil, 200},
		{"192.0.2.8:7777", nil, 403}, {"0.0.0.0:7777", nil, 403}, {"[::]:7777", nil, 403},
		{"box.example", nil, 200}, {"BOX.example:443", nil, 200}, {"198.51.100.1", nil, 200},
		{"box.example.evil", nil, 403}, {"box.example.", nil, 403}, {"", nil, 403},
		{"localhost", nil, 200}, {"[::1]:1", nil, 200}, {"127.0.0.1.", nil, 403}, {"2130706433", nil, 403},
		{"localhost", []string{"https://box.example:8443"}, 200}, {"localhost", []string{"https://192.0.2.7"}, 200},
		{"localhost", []string{"http://localhost@evil.example"}, 403}, {"localhost", []string{"null"}, 403},
		{"localhost", []string{"http://localhost", "http://evil.example"}, 403}, {"localhost", []string{""}, 200},
	} {
		r := httptest.NewRequest(http.MethodGet, PathHealth, nil)
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(at)))
		r.Host, r.Header["Origin"] = c.host, c.origins
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != c.status {
			t.Errorf("%q, %q: %d", c.host, c.origins, w.Code)
		}
	}
}

// A request whose rest does not come is ended, with a token and without.
func TestHTTPSlowBody(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := b.site("TEST_BODY=2s")
	text, _ := b.token("ana", 0)
	for _, header := range []string{"", "Authorization: Bearer " + text + "\r\n"} {
		c, err := net.Dial("tcp", s.at)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(patience))
		fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: 100\r\n\r\n{", PathMCP, header)
		if _, err := io.Copy(io.Discard, bufio.NewReader(c)); err != nil {
			t.Errorf("with %.20q the connection stays: %v", header, err)
		}
	}
	// One that came in time is not cut off however long it is worked on.
	ana := s.connect(text)
	go func() {
		time.Sleep(3 * time.Second)
		b.tell("ana", "late")
	}()
	if box := told[inboxOut](t, ana.tool("inbox", args{"wait_seconds": 50})); box.Total != 1 {
		t.Errorf("%+v", box)
	}
}

// A request begins no office: where one was removed, or never was, a token is
// not called wrong either.
func TestHTTPWithoutOffice(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	home := filepath.Join(t.TempDir(), "none")
	s := b.site("BUREAU_HOME=" + home)
	text, _ := b.token("ana", 0)
	a := (&caller{s: s, token: text}).post("initialize", nil)
	if a.status != http.StatusServiceUnavailable || !strings.Contains(a.body, home) {
		t.Errorf("%+v", a)
	}
	if _, err := os.Stat(home); err == nil {
		t.Error("a request began an office")
	}
}
