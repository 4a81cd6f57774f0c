package office

import (
	"context"
	"path/filepath"
	"testing"

	"bureau/internal/roster"
)

// One send in a process that has the office open: decide, append, fold, sync.
func BenchmarkSend(b *testing.B) {
	ctx := context.Background()
	o, err := Open(ctx, Options{Home: filepath.Join(b.TempDir(), "office"), Create: true})
	if err != nil {
		b.Fatal(err)
	}
	defer o.Close()
	user, err := o.Identify(ctx, Claim{})
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []string{"ana", "bob"} {
		if _, err := o.Register(ctx, user, n, roster.Process{}); err != nil {
			b.Fatal(err)
		}
	}
	ana, err := o.Identify(ctx, Claim{As: "ana"})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := o.Send(ctx, ana, Letter{To: []string{"bob"}, Body: []byte("a message of some length, as people write them")}); err != nil {
			b.Fatal(err)
		}
	}
}
