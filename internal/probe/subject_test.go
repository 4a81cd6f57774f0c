package probe

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"bureau/internal/fault"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Subject{
		"port:8080":                   {Kind: KindPort, Name: "8080"},
		"Port:8080":                   {Kind: KindPort, Name: "8080"},
		"port:host-a/8080":            {Kind: KindPort, Host: "host-a", Name: "8080"},
		"gpu:0":                       {Kind: KindGPU, Name: "0"},
		"gpu:host-a/2":                {Kind: KindGPU, Host: "host-a", Name: "2"},
		"gpu:me@host-a.example.org/2": {Kind: KindGPU, Host: "me@host-a.example.org", Name: "2"},
		"gpu:-/2":                     {Kind: KindGPU, Host: "-", Name: "2"},
		"gpu:GPU-12ab-34":             {Kind: KindGPU, Name: "GPU-12ab-34"},
		"pid:4711":                    {Kind: KindPID, PID: 4711},
		"pid:4711@99":                 {Kind: KindPID, PID: 4711, Start: 99},
		"lockfile:var/a b.lock":       {Kind: KindLockfile, Name: "var/a b.lock"},
		"path:src/**":                 {Kind: KindPath, Paths: []string{"src/**"}},
		"deploy:staging":              {Kind: "deploy", Name: "staging"},
		"deploy:eu west/staging":      {Kind: "deploy", Host: "eu west", Name: "staging"},
		"deploy:/a/b":                 {Kind: "deploy", Name: "a/b"},
		"the big printer":             {Name: "the big printer"},
		"2nd:thing":                   {Name: "2nd:thing"},
	} {
		got, err := Parse(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "port:", "port:0", "port:65536", "port:+1", "port:8080 ", "port:80_80", "port:http", "port:-o/80", "port:a b/80", "port:a;b/80",
		"port:$(x)/80", "port:a@-b/80", "port:-oProxyCommand=x@h/80", "gpu:", "gpu:x", "gpu:-1", "gpu:0;reboot", "gpu:GPU-1;2", "gpu:h'/0", "gpu:.h/0",
		"gpu:GPU-" + strings.Repeat("a", 80), "pid:", "pid:0", "pid:-1", "pid:1@", "pid:1@x", "pid:99999999999", "pid:4711@99999999999999999999",
		"lockfile:", "deploy:", "path:", "a\nb", "port:80\x00", "\xff", strings.Repeat("x", 2000), "gpu:" + strings.Repeat("h", 300) + "/0",
	} {
		if got, err := Parse(text); !fault.Is(err, fault.Invalid) || fault.HintOf(err) == "" {
			t.Errorf("%q is %+v, %v", text, got, err)
		}
	}
}

// What no caller should make by hand is refused again at the look.
func TestForgedSubjects(t *testing.T) {
	for _, s := range []Subject{
		{}, {Kind: KindPath}, Paths("a\x00b"), Paths(`a\000b`), Paths(""), Paths(strings.Repeat("x", 5000)), {Kind: KindGPU, Host: "-oProxyCommand=x", Name: "0"},
		{Kind: KindGPU, Host: "h", Name: "0; x"}, {Kind: KindPID, PID: -1}, Process(1<<40, 0, ""), {Kind: KindPort, Host: "h x", Name: "1"},
	} {
		if r := newLooker(Request{Root: t.TempDir()}).look(t.Context(), s); r.Verdict != Unknown {
			t.Errorf("%+v: %+v", s, r)
		}
	}
}

func TestSum(t *testing.T) {
	for _, c := range []struct {
		of   []Verdict
		want Verdict
	}{
		{nil, Unknown},
		{[]Verdict{Free}, Free},
		{[]Verdict{Free, Unknown}, Unknown},
		{[]Verdict{Unknown, Busy, Free}, Busy},
		{[]Verdict{Busy, Unknown}, Busy},
		{[]Verdict{Free, "of a later version"}, "of a later version"},
	} {
		var all []Result
		for _, v := range c.of {
			all = append(all, Result{Verdict: v})
		}
		if got := Sum(all); got != c.want {
			t.Errorf("%v sum up to %s, want %s", c.of, got, c.want)
		}
	}
}

func TestJSON(t *testing.T) {
	b, err := json.Marshal(Run(t.Context(), Request{Subjects: []Subject{{Kind: "deploy", Name: "x"}}})[0])
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if got["resource"] != "deploy:x" || got["verdict"] != "unknown" || got["probe"] != "none" || got["saw"] == "" || got["at"] == "" || got["hint"] == "" {
		t.Errorf("%s", b)
	}
}

// A text that parses has a form that parses to the same, and holds nothing that
// could be an option of ssh, a second word, or a command.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"port:8080", "gpu:host-a/2", "pid:4711@99", "lockfile:/a/b", "path:src/**", "deploy:eu/x", "x", "deploy:/a/b", "pid:h/3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			if fault.CodeOf(err) != fault.Invalid {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		again, err := Parse(s.String())
		if err != nil || !reflect.DeepEqual(again, s) {
			t.Fatalf("%q is %+v, written %q, which is %+v, %v", text, s, s, again, err)
		}
		if s.builtIn() && s.Host != "" && s.Host != "-" && (strings.HasPrefix(s.Host, "-") || strings.ContainsAny(s.Host, " \t\"'`$;&|<>()\\*?[]{}!#~=%/:")) {
			t.Fatalf("%q names the host %q", text, s.Host)
		}
	})
}
