package jsonc

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// document draws a JSON text as people write it, with everything that the
// grammar allows between its tokens.
func document(t *rapid.T) string {
	g := &generator{t: t, eol: rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol"), comments: rapid.Bool().Draw(t, "comments")}
	mark := rapid.SampledFrom([]string{"", "\ufeff"}).Draw(t, "mark")
	return mark + g.space() + g.object(3) + g.space()
}

type generator struct {
	t        *rapid.T
	eol      string
	comments bool
	n        int
}

func (g *generator) space() string {
	choices := []string{"", "", "", " ", g.eol, g.eol + "  ", g.eol + "\t"}
	if g.comments {
		g.n++
		c := "c" + strconv.Itoa(g.n) + "."
		choices = append(choices, " // "+c+` "{[,`+g.eol, "/* "+c+" */", g.eol+"  // "+c+g.eol+"  ")
	}
	return rapid.SampledFrom(choices).Draw(g.t, "space")
}

func (g *generator) object(depth int) string {
	n := rapid.IntRange(0, 3).Draw(g.t, "members")
	text := "{"
	for i := range n {
		g.n++
		key := "k" + strconv.Itoa(g.n)
		spelled := rapid.SampledFrom([]string{`"` + key + `"`, `"\u006b` + key[1:] + `"`}).Draw(g.t, "key")
		text += g.space() + spelled + g.space() + ":" + g.space() + g.value(depth-1) + g.space()
		text += g.comma(i == n-1)
	}
	return text + g.space() + "}"
}

func (g *generator) comma(last bool) string {
	if last && (!g.comments || rapid.Bool().Draw(g.t, "trailing")) {
		return ""
	}
	return ","
}

func (g *generator) value(depth int) string {
	kind := rapid.IntRange(0, 3).Draw(g.t, "kind")
	switch {
	case kind == 0 && depth > 0:
		return g.object(depth)
	case kind == 1 && depth > 0:
		n := rapid.IntRange(0, 3).Draw(g.t, "elements")
		text := "["
		for i := range n {
			text += g.space() + g.value(depth-1) + g.space() + g.comma(i == n-1)
		}
		return text + g.space() + "]"
	}
	return rapid.SampledFrom([]string{"null", "true", "0", "-1.50e+2", "9007199254740993", `""`, `"<&>\u00e9\\\"/"`, `"// no comment"`, `"ä"`}).Draw(g.t, "scalar")
}

func decode(t *rapid.T, n Node) any {
	plain := n.v.Clone()
	plain.Minimize()
	dec := json.NewDecoder(bytes.NewReader(plain.Pack()))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%s: %v", plain.Pack(), err)
	}
	return v
}

var comment = regexp.MustCompile(`c[0-9]+\.`)

func comments(text []byte) []string {
	out := comment.FindAllString(string(text), -1)
	slices.Sort(out)
	return out
}

// places lists the paths of all containers (or of all values inside one).
func places(n Node, path []any, containers, values *[][]any) {
	if n.Kind() == '{' || n.Kind() == '[' {
		*containers = append(*containers, slices.Clone(path))
		for i := range n.Len() {
			var step any = i
			if n.Kind() == '{' {
				step = n.Key(i)
			}
			at := append(slices.Clone(path), step)
			*values = append(*values, at)
			places(n.At(i), at, containers, values)
		}
	}
}

// model carries out a change on decoded values.
func model(v any, path []any, change func(any) any) any {
	if len(path) == 0 {
		return change(v)
	}
	switch step := path[0].(type) {
	case string:
		m := v.(map[string]any)
		m[step] = model(m[step], path[1:], change)
		return m
	default:
		s := v.([]any)
		s[step.(int)] = model(s[step.(int)], path[1:], change)
		return s
	}
}

// Whatever the document, a change does what it says and nothing else, keeps
// every comment, and can be taken back: exactly by its splices, and, where the
// container held something, by the opposite change.
func TestAnyDocument(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := document(t)
		d, err := Parse([]byte(text))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		var containers, values [][]any
		places(d.Root(), nil, &containers, &values)
		want := decode(t, d.Root())
		kept := comments([]byte(text))
		if len(values) > 0 && rapid.Bool().Draw(t, "delete") {
			path := rapid.SampledFrom(values).Draw(t, "value")
			inside := comments(d.Root().Get(path...).Raw())
			last := path[len(path)-1]
			want = model(want, path[:len(path)-1], func(v any) any {
				if key, ok := last.(string); ok {
					delete(v.(map[string]any), key)
					return v
				}
				return slices.Delete(v.([]any), last.(int), last.(int)+1)
			})
			if err := d.Delete(path...); err != nil {
				t.Fatalf("%q without %v: %v", text, path, err)
			}
			for _, c := range inside {
				if i := slices.Index(kept, c); i >= 0 {
					kept = slices.Delete(kept, i, i+1)
				}
			}
			// A comment between a name and its value goes with them.
			for _, c := range slices.Clone(kept) {
				if !slices.Contains(comments(d.Bytes()), c) && !between(text, path, c) {
					t.Fatalf("%q without %v lost %s: %q", text, path, c, d.Bytes())
				}
			}
		} else {
			path := rapid.SampledFrom(containers).Draw(t, "container")
			at := d.Root().Get(path...)
			full := at.Len() > 0
			var added any
			var last any
			if at.Kind() == '{' {
				last, added = "new", []any{"<x>", json.Number("1")}
				err = d.Set(path, "new", added)
			} else {
				last, added = at.Len(), map[string]any{"new": []any{}}
				err = d.Append(path, added)
			}
			if err != nil {
				t.Fatalf("%q with more at %v: %v", text, path, err)
			}
			want = model(want, path, func(v any) any {
				if m, ok := v.(map[string]any); ok {
					m["new"] = added
					return m
				}
				return append(v.([]any), added)
			})
			if got := comments(d.Bytes()); !slices.Equal(got, kept) {
				t.Fatalf("%q with more at %v: comments %v became %v", text, path, kept, got)
			}
			undone, err := Parse(d.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			if err := undone.Delete(append(slices.Clone(path), last)...); err != nil {
				t.Fatal(err)
			}
			if full && string(undone.Bytes()) != text {
				t.Fatalf("%q with more at %v: %q\nand without it again: %q", text, path, d.Bytes(), undone.Bytes())
			}
		}
		if got := decode(t, d.Root()); !reflect.DeepEqual(got, want) {
			t.Fatalf("%q became %q\n%v, want %v", text, d.Bytes(), got, want)
		}
		if back, err := Revert(d.Bytes(), d.Splices()); err != nil || string(back) != text {
			t.Fatalf("%q taken back: %q %v", text, back, err)
		}
	})
}

// between reports whether a comment stands between a member's name and the end
// of its value.
func between(text string, path []any, c string) bool {
	d, _ := Parse([]byte(text))
	parent := d.Root().Get(path[:len(path)-1]...)
	key, ok := path[len(path)-1].(string)
	if !ok {
		return false
	}
	i, _ := parent.index(key)
	l := d.container(parent)
	return bytes.Contains(d.text[l.starts[i]:l.ends[i]], []byte(c))
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "{}", "\ufeff{\"a\":[1,2,],}// x", "{\"hooks\":null}", "[[[", "{\"a\":{\"b\":\"\\u00e9\"}}\r\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := Parse(text)
		if err != nil {
			return
		}
		if !bytes.Equal(d.Bytes(), text) {
			t.Fatal("reading changed the text")
		}
		if d.Set(nil, "added by us", []int{1}) != nil {
			return
		}
		if d.Root().Get("added by us", 0).Kind() != '0' {
			t.Fatalf("%q became %q", text, d.Bytes())
		}
		if back, err := Revert(d.Bytes(), d.Splices()); err != nil || !bytes.Equal(back, text) {
			t.Fatalf("%q taken back: %q %v", text, back, err)
		}
	})
}
