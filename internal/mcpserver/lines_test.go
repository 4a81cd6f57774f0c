package mcpserver

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

// What is no JSON is answered and skipped; everything else passes, in order.
func TestLinesThatAreNoJSON(t *testing.T) {
	var out bytes.Buffer
	long := `"` + strings.Repeat("x", maxRequest) + `"`
	r, _ := lines(strings.NewReader("\xef\xbb\xbf"+ping+"\r\n\ngarbage\n{\"b\":\n"+long+"\n  "+ping), &out)
	got, err := io.ReadAll(r)
	if err != nil || string(got) != ping+"\n"+ping+"\n" {
		t.Errorf("passed %q, %v", got, err)
	}
	if out.String() != strings.Repeat(parseError, 3) {
		t.Errorf("answered %q, want three errors", out.String())
	}
}

// What is JSON and no message does not end the connection either.
func TestLinesThatAreNoMessages(t *testing.T) {
	initialize := func(version string) string {
		return `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + version + `"}}`
	}
	batch := "[" + ping + "]"
	for name, c := range map[string]struct{ in, passes string }{
		"another version":     {`{"jsonrpc":"1.0","id":1,"method":"ping"}`, ""},
		"no version":          {`{}`, ""},
		"a number":            {`7`, ""},
		"a text":              {`"hello"`, ""},
		"null":                {`null`, ""},
		"an id that is none":  {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, ""},
		"a method of numbers": {`{"jsonrpc":"2.0","id":1,"method":5}`, ""},
		"neither":             {`{"jsonrpc":"2.0"}`, ""},
		"a batch":             {batch, ""},
		"a batch today":       {initialize("2025-11-25") + "\n" + batch, initialize("2025-11-25") + "\n"},
		"a batch once":        {initialize("2025-03-26") + "\n" + batch, initialize("2025-03-26") + "\n" + batch + "\n"},
		"an odd batch once":   {initialize("2025-03-26") + "\n[7]\n[]", initialize("2025-03-26") + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			r, _ := lines(strings.NewReader(c.in+"\n"+ping), &out)
			got, err := io.ReadAll(r)
			if want := c.passes + ping + "\n"; err != nil || string(got) != want {
				t.Errorf("passed %q, %v; want %q", got, err, want)
			}
			refused := strings.Count(c.in+"\n", "\n") - strings.Count(c.passes, "\n")
			if out.String() != strings.Repeat(requestError, refused) {
				t.Errorf("answered %q, want %d errors", out.String(), refused)
			}
		})
	}
}
