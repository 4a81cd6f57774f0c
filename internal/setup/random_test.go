package setup

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"bureau/internal/setup/jsonc"
)

// settingsText draws a settings file: valid for the client in its parts, with
// hooks of any kind, and laid out in any way that the grammar allows.
func settingsText(t *rapid.T) string {
	g := layout{t}
	var members []string
	for i := range rapid.IntRange(0, 2).Draw(t, "others") {
		members = append(members, g.member(fmt.Sprintf("k%d", i), rapid.SampledFrom([]string{`1e3`, `"<&>\u00e9"`, `{"x":[1,2]}`, `[]`, `null`, `9007199254740993`}).Draw(t, "value")))
	}
	if rapid.Bool().Draw(t, "hooks") {
		members = append(members, g.member("hooks", rapid.SampledFrom([]string{"null", "{}", g.events()}).Draw(t, "hooks value")))
	}
	if rapid.Bool().Draw(t, "permissions") {
		members = append(members, g.member("permissions", rapid.SampledFrom([]string{"null", "{}", `{"allow":null,"deny":["a"]}`,
			g.list('{', g.member("allow", g.list('[', `"Read"`, `"mcp__bureau__roster"`)))}).Draw(t, "permissions value")))
	}
	mark := rapid.SampledFrom([]string{"", "\ufeff"}).Draw(t, "mark")
	return mark + g.gap() + g.list('{', members...) + g.gap()
}

type layout struct{ t *rapid.T }

func (g layout) gap() string {
	return rapid.SampledFrom([]string{"", "", " ", "\n", "\n  ", "\r\n\t", " // c \"{[\n", "/* c, */"}).Draw(g.t, "gap")
}

func (g layout) member(key, value string) string {
	return `"` + key + `"` + g.gap() + ":" + g.gap() + value
}

func (g layout) list(open byte, items ...string) string {
	text := string(open)
	for i, item := range items {
		text += g.gap() + item + g.gap()
		if i < len(items)-1 || rapid.IntRange(0, 3).Draw(g.t, "trailing") == 0 {
			text += ","
		}
	}
	return text + g.gap() + map[byte]string{'{': "}", '[': "]"}[open]
}

func (g layout) events() string {
	var events []string
	for _, name := range []string{"Stop", "PreToolUse", "PostToolUse", "NewEvent"} {
		switch rapid.IntRange(0, 3).Draw(g.t, name) {
		case 1:
			events = append(events, g.member(name, "null"))
		case 2:
			events = append(events, g.member(name, g.list('[')))
		case 3:
			var groups []string
			for range rapid.IntRange(1, 2).Draw(g.t, "groups") {
				groups = append(groups, rapid.SampledFrom([]string{
					g.list('{', g.member("matcher", `"Bash"`), g.member("hooks", g.list('[', foreign[0], foreign[1]))),
					g.list('{', g.member("hooks", g.list('['))), `"odd"`, g.list('{', g.member("hooks", g.list('[', foreign[2]))), foreign[0],
				}).Draw(g.t, "group"))
			}
			events = append(events, g.member(name, g.list('[', groups...)))
		}
	}
	return g.list('{', events...)
}

// foreign are entries that are not ours, however much they look like it.
var foreign = []string{
	`{"type":"command","command":"bureau-hook claude || true"}`,
	`{"type":"http","url":"http://127.0.0.1:1/bureau-hook","n":9007199254740993}`,
	`{"command":"bureau-hook","args":["claude"]}`,
}

// Whatever the settings: putting in and taking out, exactly or by looks, gives
// what was there; in between ours is there once and all else as before.
func TestAnySettings(t *testing.T) {
	o := Options{Home: "/office", Bureau: "/bin/bureau", Hook: "/bin/bureau-hook"}
	rapid.Check(t, func(t *rapid.T) {
		text := settingsText(t)
		d, err := jsonc.Parse([]byte(text))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		w := was{}
		if err := o.installHooks(d, w); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if err := installRule(d, w); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		installed := d.Bytes()
		for _, f := range foreign {
			if strings.Count(string(installed), f) != strings.Count(text, f) {
				t.Fatalf("%q: %s became\n%s", text, f, installed)
			}
		}
		if back, err := jsonc.Revert(installed, d.Splices()); err != nil || string(back) != text {
			t.Fatalf("%q taken back: %q %v", text, back, err)
		}
		again, _ := jsonc.Parse(installed)
		if err := o.installHooks(again, was{}); err != nil || again.Changed() {
			t.Fatalf("twice is not once: %v\n%s", err, again.Bytes())
		}
		if err := removeHooks(again, w); err != nil {
			t.Fatal(err)
		}
		if err := removeRule(again, w); err != nil {
			t.Fatal(err)
		}
		if got, want := meaning(t, again.Bytes()), meaning(t, []byte(text)); got != want {
			t.Fatalf("%q\nwith ours %q\nwithout %q\ngot  %s\nwant %s", text, installed, again.Bytes(), got, want)
		}
	})
}

// meaning is a document without its layout; the order of keys stays.
func meaning(t *rapid.T, text []byte) string {
	d, err := jsonc.Parse(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	var out strings.Builder
	var walk func(n jsonc.Node)
	walk = func(n jsonc.Node) {
		if n.Kind() != '{' && n.Kind() != '[' {
			out.Write(n.Raw())
			return
		}
		out.WriteByte(n.Kind())
		for i := range n.Len() {
			if n.Kind() == '{' {
				out.WriteString(n.Key(i) + ":")
			}
			walk(n.At(i))
			out.WriteByte(',')
		}
		out.WriteByte(n.Kind() + 2)
	}
	walk(d.Root())
	return out.String()
}
