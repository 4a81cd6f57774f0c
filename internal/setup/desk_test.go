package setup

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bureau/internal/agent/claude"
	"bureau/internal/setup/jsonc"
)

// desk is a person's machine: a home of the client, an office, a project. Its
// paths have spaces and letters beyond ASCII in them.
type desk struct {
	t    *testing.T
	root string
	o    Options
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	root := filepath.Join(t.TempDir(), "Jürgen's disk (日本)")
	for _, dir := range []string{"home/.claude", "my project"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return &desk{t: t, root: root, o: Options{
		Home: filepath.Join(root, "home", ".bureau"), Bureau: filepath.Join(root, "bin", "bureau"), Hook: filepath.Join(root, "bin", "bureau-hook"),
		Project: filepath.Join(root, "my project"),
		Homes:   []claude.Home{{Dir: filepath.Join(root, "home", ".claude"), Default: true}},
	}}
}

func (d *desk) settings() string { return d.o.Homes[0].Settings() }
func (d *desk) global() string   { return d.o.Homes[0].Global() }

func (d *desk) write(path, text string) {
	d.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) read(path string) string {
	d.t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		d.t.Fatal(err)
	}
	return string(text)
}

// apply carries out a plan and gives it.
func (d *desk) apply(prepare func(Options) (*Plan, error)) *Plan {
	d.t.Helper()
	p, err := prepare(d.o)
	if err != nil {
		d.t.Fatal(err)
	}
	if err := p.Apply(d.t.Context()); err != nil {
		d.t.Fatal(err)
	}
	return p
}

// files gives every file below the root with its content, and every folder,
// except those of the office.
func (d *desk) files() map[string]string {
	out := map[string]string{}
	err := filepath.WalkDir(d.root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path == d.o.Home {
			return filepath.SkipDir
		}
		rel, _ := filepath.Rel(d.root, path)
		if e.IsDir() {
			out[rel] = "(folder)"
			return nil
		}
		text, err := os.ReadFile(path)
		out[rel] = string(text)
		return err
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return out
}

func sameFiles(t *testing.T, got, want map[string]string) {
	t.Helper()
	for path, text := range want {
		if now, ok := got[path]; !ok {
			t.Errorf("%s is gone", path)
		} else if now != text {
			t.Errorf("%s is\n%q\nand was\n%q", path, now, text)
		}
	}
	for path, text := range got {
		if _, ok := want[path]; !ok {
			t.Errorf("%s was left: %q", path, text)
		}
	}
}

// ourHooks lists the events of a settings file that run our hook, once for
// each entry.
func ourHooks(t *testing.T, text string) []string {
	t.Helper()
	d, err := jsonc.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, event := range eventNames(d) {
		groups := d.Root().Get("hooks", event)
		for g := range groups.Len() {
			for h := range groups.At(g).Get("hooks").Len() {
				if ourHandler(groups.At(g).Get("hooks", h)) {
					out = append(out, event)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

func wantedHooks(f claude.Features) []string {
	var out []string
	for _, e := range Events(f) {
		out = append(out, e.Name)
	}
	slices.Sort(out)
	return out
}

func appendKey(t *testing.T, text, key, value string) string {
	t.Helper()
	d, err := jsonc.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Set(nil, key, value); err != nil {
		t.Fatal(err)
	}
	return string(d.Bytes())
}

func sameMeaning(t *testing.T, a, b string) bool {
	t.Helper()
	plain := func(s string) string {
		d, err := jsonc.Parse([]byte(s))
		if err != nil {
			t.Fatal(err)
		}
		var v any
		raw := json.RawMessage{}
		if err := d.Root().Decode(&raw); err != nil {
			t.Fatal(err)
		}
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
		return jsonText(v)
	}
	return plain(a) == plain(b)
}

// foreignKept checks that every line of a text is still there, in order, but
// for a comma at its end or brackets that opened up.
func foreignKept(t *testing.T, before, after string) {
	t.Helper()
	if !strings.Contains(strings.TrimSpace(before), "\n") {
		return
	}
	at := 0
	for _, line := range strings.Split(before, "\n") {
		word := strings.TrimRight(strings.TrimSpace(line), ",]}[{ \r")
		i := strings.Index(after[at:], word)
		if i < 0 {
			if strings.Contains(line, "null") {
				return // it was replaced
			}
			t.Errorf("%q is gone from\n%s", word, after)
			return
		}
		at += i
	}
}
