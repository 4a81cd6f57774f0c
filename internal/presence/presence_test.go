package presence

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"bureau/internal/roster"
)

var at = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestLives(t *testing.T) {
	ctx := context.Background()
	s := newStore(t)
	enter := func(l Life) {
		t.Helper()
		if l.Since.IsZero() {
			l.Since = at
		}
		if err := s.Enter(ctx, l); err != nil {
			t.Fatal(err)
		}
	}
	far := roster.Process{PID: 1, Start: 1, Host: "elsewhere"}
	enter(Life{Agent: "ana", Process: Self(), Role: Client, Session: "S1"})
	enter(Life{Agent: "ana", Process: Self(), Role: Waiter})
	enter(Life{Agent: "ana", Process: gone(1), Role: Client})
	enter(Life{Agent: "ana", Process: far, Role: Client})
	enter(Life{Agent: "bob", Process: gone(1), Role: Client})
	// Who is gone does not live; of another host nobody can tell.
	if list, err := s.Lives(ctx, "ana"); err != nil || len(list) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	if list, err := s.Lives(ctx, "bob"); err != nil || len(list) != 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	// The last to enter comes last, whatever the clock says, and again.
	enter(Life{Agent: "carla", Process: Self(), Role: Client, Session: "S2", Since: at.Add(-time.Hour)})
	last := func(want string) {
		t.Helper()
		list, err := s.Process(ctx, Self())
		if err != nil || len(list) != 2 || list[1].Session != want {
			t.Fatalf("%+v, %v", list, err)
		}
	}
	last("S2")
	enter(Life{Agent: "ana", Process: Self(), Role: Client, Session: "S3", Since: at.Add(-2 * time.Hour)})
	last("S3")
	// A sign of life is not taken back.
	if _, when, err := s.Known(ctx); err != nil || !when["ana"].Equal(at) || !when["carla"].Equal(at.Add(-time.Hour)) {
		t.Fatalf("%v, %v", when, err)
	}
	// One role is left without the other.
	if err := s.Leave(ctx, "ana", Self(), Waiter); err != nil {
		t.Fatal(err)
	}
	last("S3")
	// Only what is gone is swept away.
	if n, err := s.Sweep(ctx); err != nil || n != 2 {
		t.Fatalf("%d swept, %v", n, err)
	}
	if list, err := s.Lives(ctx, ""); err != nil || len(list) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
}

// TestLostLiveState: a damaged file, a foreign one and one of another layout
// are put aside, and what is true now is written anew.
func TestLostLiveState(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	path := filepath.Join(dir, "live.db")
	for name, damage := range map[string]func() error{
		"noise": func() error {
			return os.WriteFile(path, []byte("no database at all, but some text of some length"), 0o600)
		},
		"nothing":   func() error { return os.WriteFile(path, nil, 0o600) },
		"not there": func() error { return os.Remove(path) },
	} {
		s, err := Open(ctx, path)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Enter(ctx, Life{Agent: "ana", Process: Self(), Role: Client, Since: at}); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		s, err = Open(ctx, path)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if list, _, err := s.Known(ctx); err != nil || len(list) != 0 {
			t.Fatalf("%s: %+v, %v", name, list, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLeased(t *testing.T) {
	for name, c := range map[string]struct {
		o    Offered
		want bool
	}{
		"just made":              {Offered{At: at, Until: at.Add(time.Minute)}, true},
		"over":                   {Offered{At: at.Add(-time.Minute), Until: at}, false},
		"the clock went back 1s": {Offered{At: at.Add(time.Second), Until: at.Add(time.Minute)}, true},
		"the clock went back 1h": {Offered{At: at.Add(time.Hour), Until: at.Add(time.Hour + time.Minute)}, false},
	} {
		c.o.Key.Process = Self()
		if got := c.o.Leased(at); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		c.o.Key.Process = gone(1)
		if c.o.Leased(at) {
			t.Errorf("%s: the offer of a process that is gone holds", name)
		}
	}
}
