package cli

import (
	"net"
	"testing"
)

// The address that is shown can be called.
func TestCalledAt(t *testing.T) {
	for _, c := range []struct {
		ip    string
		hosts []string
		want  string
	}{
		{"127.0.0.1", []string{"box.example"}, "127.0.0.1:7"},
		{"::1", nil, "[::1]:7"},
		{"0.0.0.0", []string{" box.example", "other"}, "box.example:7"},
		{"::", []string{"[2001:db8::1]"}, "[2001:db8::1]:7"},
		{"::", nil, "[::]:7"},
	} {
		if got := calledAt(&net.TCPAddr{IP: net.ParseIP(c.ip), Port: 7}, c.hosts); got != c.want {
			t.Errorf("%s, %q: %s", c.ip, c.hosts, got)
		}
	}
}

func TestHostName(t *testing.T) {
	for _, h := range []string{"box", "Box.Example", "192.0.2.1", "::1", "[::1]", " box "} {
		if err := hostName(h); err != nil {
			t.Errorf("%q: %v", h, err)
		}
	}
	for _, h := range []string{"", " ", "box:443", "http://box", "box/", "*.example", "me@box", "[box]", "[::1]:443"} {
		if hostName(h) == nil {
			t.Errorf("%q is a host name", h)
		}
	}
}
