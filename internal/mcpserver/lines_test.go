package mcpserver

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// What is no JSON is answered and skipped; everything else passes, in order.
func TestLinesThatAreNoJSON(t *testing.T) {
	var out bytes.Buffer
	long := `"` + strings.Repeat("x", maxRequest) + `"`
	r, _ := lines(strings.NewReader("\xef\xbb\xbf{\"a\":1}\r\n\ngarbage\n{\"b\":\n"+long+"\n  {\"c\":3}"), &out)
	got, err := io.ReadAll(r)
	if err != nil || string(got) != "{\"a\":1}\n{\"c\":3}\n" {
		t.Errorf("passed %q, %v", got, err)
	}
	if out.String() != strings.Repeat(parseError, 3) {
		t.Errorf("answered %q, want three errors", out.String())
	}
}
