package claim

import (
	"strings"
	"testing"

	"bureau/internal/fault"
)

func TestParseResource(t *testing.T) {
	for _, tc := range []struct{ text, want, kind, host, name string }{
		{"gpu:host-a/2", "gpu:host-a/2", "gpu", "host-a", "2"},
		{"GPU:Host-A/02", "gpu:host-a/2", "gpu", "host-a", "2"},
		{"gpu:00", "gpu:0", "gpu", "", "0"},
		{"deploy:staging", "deploy:staging", "deploy", "", "staging"},
		{"deploy:Staging", "deploy:Staging", "deploy", "", "Staging"},
		{"deploy:007", "deploy:007", "deploy", "", "007"},
		{"port:08080", "port:8080", "port", "", "8080"},
		{"port:h/080", "port:h/80", "port", "h", "80"},
		{"gpu:localhost/0", "gpu:0", "gpu", "", "0"},
		{"port:LocalHost/080", "port:80", "port", "", "80"},
		{"port:127.0.0.1/80", "port:80", "port", "", "80"},
		{"gpu:-/1", "gpu:1", "gpu", "", "1"},
		{"deploy:localhost/web", "deploy:localhost/web", "deploy", "localhost", "web"},
		{"vm:h/a:b/c", "vm:h/a:b/c", "vm", "h", "a:b/c"},
		{"e\u0301:e\u0301", "é:é", "é", "", "é"},
	} {
		r, err := ParseResource(tc.text)
		if err != nil || string(r) != tc.want || r.Kind() != tc.kind || r.Host() != tc.host || r.Name() != tc.name {
			t.Errorf("ParseResource(%q) = %q (%q %q %q), %v", tc.text, r, r.Kind(), r.Host(), r.Name(), err)
		}
		if again, err := ParseResource(string(r)); again != r {
			t.Errorf("ParseResource(%q) = %q, %v", r, again, err)
		}
	}
	for text, want := range map[string]string{"gpu:host-a/2": "gpu:2", "gpu:host-b/2": "gpu:host-b/2", "gpu:2": "gpu:2", "deploy:host-a/2": "deploy:host-a/2"} {
		if got := Resource(text).On("Host-A"); string(got) != want {
			t.Errorf("%s on host-a is %s, not %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"": "empty", "staging": "no kind", ":x": "for a kind", "a b:c": "white space", "a:b c": "white space", "a:b\n": "white space", "a:\x01": "shows nothing",
		"a:b\u200b": "shows nothing", "a:\u00a0": "white space", "a:\xff": "UTF-8", "a:": "empty part", "a:/b": "empty part", "a:b/": "empty part", "-a:b": "for a kind", "a*:b": "for a kind",
		"a/b:c": "for a kind", "port:0": "port number", "port:65536": "port number", "port:http": "port number", "port:+80": "port number", "port:99999999999999999999": "port number",
		"gpu:-oProxyCommand=x/1": "dash", "gpu:me@host-a/2": "names a user (me)", strings.Repeat("k", 33) + ":x": "kind longer", "a:" + strings.Repeat("x", 254): "longer than 255",
	} {
		r, err := ParseResource(text)
		if r != "" || !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) || fault.HintOf(err) == "" {
			t.Errorf("ParseResource(%.40q) = %q, %v; want %q", text, r, err, want)
		}
	}
	if h := Resource("gpu:-o/1").Host(); h != "" {
		t.Errorf("a host that looks like an option: %q", h)
	}
}
