package office

import (
	"context"
	"strings"
	"testing"
	"time"

	"bureau/internal/claim"
	"bureau/internal/fault"
	"bureau/internal/proc"
)

// TestAShellsOwnSubagents: a command in a session's shell, whose subagent may
// have run it, is granted what the subagents' edits claimed on the way, and waits
// for no subagent: that may be itself.
func TestAShellsOwnSubagents(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	d := openDesk(t, Options{})
	p := d.project("app")
	main := d.session("A", self(), p)
	sub, err := d.Subagent(ctx, main, "claude", "a1", "worker")
	if err != nil {
		t.Fatal(err)
	}
	shell, err := d.Identify(ctx, Claim{Project: p, Ancestors: []proc.ID{proc.Self()}})
	if err != nil || shell.Agent.ID != main.Agent.ID {
		t.Fatalf("%+v, %v", shell, err)
	}
	want := func(path claim.Pattern) Claiming {
		return Claiming{Want: claim.Want{Paths: []claim.Pattern{path}, Mode: claim.Exclusive, Tree: p.Root}, Intent: "all", Wait: 10 * time.Hour}
	}
	if _, err := d.MayEdit(ctx, sub, p, Editing{Paths: []string{"docs/d.md"}, Tree: p.Root}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Claim(ctx, shell, p, want("docs")); err != nil {
		t.Fatal(err)
	}
	d.claims(sub, p, "src")
	_, err = d.Claim(ctx, shell, p, want("src/a.go"))
	if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "your own subagent "+string(sub.Agent.Name)) {
		t.Fatal(err)
	}
	list, err := d.WhoHolds(ctx, shell, p, want("src").Want)
	if err != nil || list.Total != 1 || !list.Claims[0].Own || list.Claims[0].Mine {
		t.Errorf("%+v, %v", list, err)
	}
}
