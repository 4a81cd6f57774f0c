package hook

import (
	"testing"
	"time"

	"bureau/internal/office"
	"bureau/internal/proc"
)

// When a hook last ran is what the doctor tells by whether they fire: nothing
// else counts as one.
func TestWhenAHookLastRan(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	last := func() time.Time {
		t.Helper()
		at, plugin, err := d.o.LastHook()
		if !plugin.IsZero() {
			t.Errorf("a hook of a plugin ran at %s", plugin)
		}
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	if at := last(); !at.IsZero() {
		t.Fatalf("a hook ran at %s, before any did", at)
	}
	// A session that a server registers, and that uses the office.
	c := d.client("S1")
	id, ok := proc.Of(c.pid)
	if !ok {
		t.Fatal("the process is gone")
	}
	if _, err := d.o.IdentifyServer(d.ctx, office.ServerClaim{Client: "claude", Session: "S1", Env: true, Process: processOf(id), Folder: d.dir}); err != nil {
		t.Fatal(err)
	}
	if at := last(); !at.IsZero() {
		t.Errorf("a hook ran at %s, and only a server did anything", at)
	}
	c.event("SessionStart", "source", "startup")
	first := last()
	if first.IsZero() {
		t.Fatal("no hook ran")
	}
	d.late += time.Hour
	c.step("UserPromptSubmit")
	if at := last(); at.Sub(first) < time.Hour {
		t.Errorf("the last hook ran at %s, the first at %s", at, first)
	}
}
