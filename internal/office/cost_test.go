package office

import (
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"bureau/internal/roster"
)

// TestStatementsOfASend counts what one send asks of the store. Every statement
// is processor time under the write lock, and a process that sends only once
// also compiles each of them.
func TestStatementsOfASend(t *testing.T) {
	ctx := t.Context()
	o, err := Open(ctx, Options{Home: t.TempDir(), Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	user, err := o.Identify(ctx, Claim{})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{"ana", "bob"} {
		if _, err := o.Register(ctx, user, n, roster.Process{}); err != nil {
			t.Fatal(err)
		}
	}
	ana, err := o.Identify(ctx, Claim{As: "ana"})
	if err != nil {
		t.Fatal(err)
	}
	var ran []string
	err = o.store.Extend("trace", func(c *sqlite3.Conn) error {
		return c.Trace(sqlite3.TRACE_PROFILE, func(_ sqlite3.TraceEvent, statement, _ any) error {
			sql := "?"
			if s, ok := statement.(*sqlite3.Stmt); ok {
				sql = s.SQL()
			}
			ran = append(ran, sql)
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	var first Sent
	for _, c := range []struct {
		what   string
		letter func() Letter
		most   int
	}{
		{"into a new thread", func() Letter { return Letter{To: []string{"bob"}, Body: []byte("hello")} }, 22},
		{"into a known thread", func() Letter {
			return Letter{Thread: string(first.Thread), To: []string{"bob"}, Body: []byte("hello again")}
		}, 20},
	} {
		ran = nil
		sent, err := o.Send(ctx, ana, c.letter())
		if err != nil {
			t.Fatal(err)
		}
		if first.ID == "" {
			first = sent
		}
		if len(ran) > c.most {
			t.Errorf("a send %s ran %d statements, more than %d:\n%s", c.what, len(ran), c.most, strings.Join(ran, "\n"))
		}
	}
}
