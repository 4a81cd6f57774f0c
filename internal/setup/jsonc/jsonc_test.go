package jsonc

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func parse(t *testing.T, text string) *Doc {
	t.Helper()
	d, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return d
}

type pair struct {
	B int    `json:"b"`
	C []bool `json:"c"`
}

func TestSet(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"empty object":           {"{}", "{\n  \"k\": {\n    \"b\": 1,\n    \"c\": [\n      true\n    ]\n  }\n}"},
		"open object":            {"{\n}\n", "{\n  \"k\": {\n    \"b\": 1,\n    \"c\": [\n      true\n    ]\n  }\n}\n"},
		"blank":                  {"", "{\n  \"k\": {\n    \"b\": 1,\n    \"c\": [\n      true\n    ]\n  }\n}\n"},
		"one line":               {`{"a":1}`, `{"a":1,"k":{"b":1,"c":[true]}}`},
		"one line with spaces":   {`{ "a": 1 }`, `{ "a": 1, "k": {"b":1,"c":[true]} }`},
		"four spaces, CRLF":      {"{\r\n    \"a\": 1\r\n}", "{\r\n    \"a\": 1,\r\n    \"k\": {\r\n        \"b\": 1,\r\n        \"c\": [\r\n            true\r\n        ]\r\n    }\r\n}"},
		"tabs":                   {"{\n\t\"a\": {}\n}\n", "{\n\t\"a\": {},\n\t\"k\": {\n\t\t\"b\": 1,\n\t\t\"c\": [\n\t\t\ttrue\n\t\t]\n\t}\n}\n"},
		"trailing comma":         {"{\n \"a\": 1,\n}", "{\n \"a\": 1,\n \"k\": {\n  \"b\": 1,\n  \"c\": [\n   true\n  ]\n },\n}"},
		"comment behind":         {"{\n  \"a\": 1 // why\n  /* more */\n}", "{\n  \"a\": 1, // why\n  /* more */\n  \"k\": {\n    \"b\": 1,\n    \"c\": [\n      true\n    ]\n  }\n}"},
		"comment behind a comma": {"{\n  \"a\": 1, // why\n}", "{\n  \"a\": 1, // why\n  \"k\": {\n    \"b\": 1,\n    \"c\": [\n      true\n    ]\n  },\n}"},
		"comment at the end":     {"{\"a\":1}\n// why", "{\"a\":1,\"k\":{\"b\":1,\"c\":[true]}}\n// why"},
		"only a comment":         {"{\n  // nothing\n}", "{\n  // nothing\n  \"k\": {\n    \"b\": 1,\n    \"c\": [\n      true\n    ]\n  }\n}"},
		"replace":                {"{\n  \"k\": null, \"a\": 1\n}", "{\n  \"k\": {\n    \"b\": 1,\n    \"c\": [\n      true\n    ]\n  }, \"a\": 1\n}"},
		"the last of two counts": {`{"k":1,"k":2}`, `{"k":1,"k":{"b":1,"c":[true]}}`},
		"an escaped name":        {`{"\u006b":2}`, `{"\u006b":{"b":1,"c":[true]}}`},
		"byte order mark":        {"\ufeff{}", "\ufeff{\n  \"k\": {\n    \"b\": 1,\n    \"c\": [\n      true\n    ]\n  }\n}"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := parse(t, tt.text)
			if err := d.Set(nil, "k", pair{1, []bool{true}}); err != nil {
				t.Fatal(err)
			}
			if got := string(d.Bytes()); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			back, err := Revert(d.Bytes(), d.Splices())
			if err != nil || string(back) != tt.text {
				t.Errorf("taken back: %q %v", back, err)
			}
		})
	}
}

func TestSetDeeper(t *testing.T) {
	d := parse(t, "{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n")
	for _, err := range []error{
		d.Append([]any{"hooks", "Stop"}, "x"),
		d.Append([]any{"hooks", "Stop"}, map[string]string{"command": "a <b> & 'c' é"}),
		d.Set([]any{"hooks"}, "End", []int{}),
		d.Set([]any{"hooks", "Stop", 1}, "timeout", json.Number("9007199254740993")),
		d.Replace([]any{"hooks", "Stop", 0}, "y"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	want := `{
  "hooks": {
    "Stop": [
      "y",
      {
        "command": "a <b> & 'c' é",
        "timeout": 9007199254740993
      }
    ],
    "End": []
  }
}
`
	if got := string(d.Bytes()); got != want {
		t.Errorf("got %s", got)
	}
	for _, err := range []error{d.Set([]any{"no"}, "k", 1), d.Set([]any{"hooks", "Stop"}, "k", 1), d.Append([]any{"hooks"}, 1),
		d.Delete("no"), d.Delete("hooks", "Stop", 7), d.Replace([]any{"no"}, 1), d.Set(nil, "k", func() {})} {
		if err == nil {
			t.Error("a wrong path was taken")
		}
	}
	if got := string(d.Bytes()); got != want {
		t.Errorf("a refused change changed something: %s", got)
	}
}

func TestDelete(t *testing.T) {
	for _, tt := range []struct {
		text string
		path []any
		want string
	}{
		{`{"a":1}`, []any{"a"}, `{}`},
		{"{\n  \"a\": 1\n}\n", []any{"a"}, "{}\n"},
		{"{\n  \"a\": 1,\n}\n", []any{"a"}, "{}\n"},
		{`{"a":1, "b":2}`, []any{"a"}, `{ "b":2}`},
		{`{"a":1, "b":2}`, []any{"b"}, `{"a":1}`},
		{`{"a":1, "b":2,}`, []any{"b"}, `{"a":1,}`},
		{"[\n  1,\n  2,\n  3\n]", []any{0}, "[\n  2,\n  3\n]"},
		{"[\n  1,\n  2,\n  3\n]", []any{1}, "[\n  1,\n  3\n]"},
		{"[\n  1,\n  2,\n  3\n]", []any{2}, "[\n  1,\n  2\n]"},
		{"[\n  1, // one\n  2 // two\n]", []any{1}, "[\n  1 // one\n // two\n]"},
		{"[\n  1, // one\n  2, // two\n]", []any{1}, "[\n  1, // one\n // two\n]"},
		{"{ /* x */ \"a\": 1 /* y */ }", []any{"a"}, "{ /* x */ /* y */ }"},
		{`{"a":{"b":[1]}}`, []any{"a", "b", 0}, `{"a":{"b":[]}}`},
	} {
		d := parse(t, tt.text)
		if err := d.Delete(tt.path...); err != nil {
			t.Errorf("%q: %v", tt.text, err)
		}
		if got := string(d.Bytes()); got != tt.want {
			t.Errorf("%q without %v: %q, want %q", tt.text, tt.path, got, tt.want)
		}
		if back, err := Revert(d.Bytes(), d.Splices()); err != nil || string(back) != tt.text {
			t.Errorf("%q taken back: %q %v", tt.text, back, err)
		}
	}
}

func TestBrokenDocuments(t *testing.T) {
	for _, text := range []string{"{", "}", `{"a"}`, `{"a":}`, "nul", "{} {}", "{\x00}", strings.Repeat("\x00", 40), `{"a":01}`, "{'a':1}",
		strings.Repeat("[", depthLimit+1), "\xff\xfe{\x00}\x00", "/* open"} {
		if d, err := Parse([]byte(text)); err == nil {
			t.Errorf("%.20q was read as %q", text, d.Root().Raw())
		} else if strings.Contains(err.Error(), "hujson") {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	if _, err := Parse(make([]byte, Limit+1)); err == nil {
		t.Error("a huge file was read")
	}
	if _, err := Revert([]byte("abc"), []Splice{{Offset: 1, Removed: "x", Inserted: "y"}}); err == nil {
		t.Error("taken back from another text")
	}
	if _, err := Revert([]byte("abc"), []Splice{{Offset: 7, Inserted: "y"}}); err == nil {
		t.Error("taken back from a shorter text")
	}
}

func TestRead(t *testing.T) {
	d := parse(t, "\ufeff// c\n{\"a\": [1, \"x\\u00e9\", null,], \"n\": 9007199254740993, \"a\\u0062\": {}} // d\n")
	r := d.Root()
	if d.Strict() || r.Kind() != '{' || r.Len() != 3 || r.Key(2) != "ab" || r.Get("a", 1).Text() != "xé" || r.Get("a", 2).Kind() != 'n' {
		t.Errorf("%q", r.Raw())
	}
	if n := r.Get("n"); n.Kind() != '0' || string(n.Raw()) != "9007199254740993" {
		t.Errorf("%c %s", n.Kind(), n.Raw())
	}
	for _, n := range []Node{r.Get("no"), r.Get("a", 3), r.Get("a", -1), r.Get("a", "x"), r.Get("n", "x"), r.Get("n", 0), r.Get("no", "x")} {
		if n.Valid() || n.Kind() != 0 || n.Len() != 0 || n.Text() != "" || n.Raw() != nil || n.Decode(new(any)) == nil {
			t.Errorf("%q is not there", n.Raw())
		}
	}
	var v map[string]any
	if err := r.Decode(&v); err != nil || len(v) != 3 {
		t.Errorf("%v %v", v, err)
	}
	if blank := parse(t, " \n"); blank.Root().Valid() || !blank.Strict() || blank.Changed() {
		t.Error("a blank document has a value")
	}
	if !parse(t, "{}").Strict() || parse(t, "[1,]").Strict() {
		t.Error("what is plain JSON")
	}
	before := d.Bytes()
	before[0] = 'x'
	if bytes.Equal(before, d.Bytes()) {
		t.Error("the text can be changed from outside")
	}
}
