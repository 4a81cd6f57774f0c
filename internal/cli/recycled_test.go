package cli

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"bureau/internal/db"
	"bureau/internal/proc"
	"bureau/internal/runtimedir"
)

// A process's number that went to another one speaks for nobody: its claims go
// on when their lease is over (L1). A holder whose process lives keeps them.
func TestRecycledPID(t *testing.T) {
	for _, c := range []struct {
		name     string
		recycled bool
	}{{"recycled", true}, {"alive", false}} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t)
			holder := sleeper(t)
			first, _ := proc.Of(holder.Process.Pid)
			other := sleeper(t)
			for next, _ := proc.Of(other.Process.Pid); next.Start == first.Start; next, _ = proc.Of(other.Process.Pid) {
				other = sleeper(t) // within the same hundredth of a second
			}
			d.must("register", "bob")
			d.must("register", "builder", "--pid", strconv.Itoa(holder.Process.Pid))
			d.must("claim", "src", "--intent", "build", "--ttl", "1m", "--as", "builder")
			if c.recycled {
				// Another process has the number now; all else in the record is old.
				if err := holder.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				_ = holder.Wait()
				d.live(`UPDATE life SET pid = ? WHERE pid = ?`, other.Process.Pid, holder.Process.Pid)
			}
			// Three minutes pass, in which the machine was awake.
			d.live(`UPDATE last SET awake = awake - ?`, int64(3*time.Minute))
			later := IO{Now: func() time.Time { return time.Now().Add(3 * time.Minute) }}
			status, out, errs := d.runIO(later, "claim", "src/a.go", "--intent", "my turn", "--as", "bob")
			if c.recycled && status != 0 {
				t.Errorf("a stranger with the holder's number keeps its claim: %s", errs)
			}
			if !c.recycled && (status != 4 || !strings.Contains(errs, "held by builder") || !strings.Contains(errs, "quiet")) {
				t.Errorf("a living holder lost its claim: %d, %s%s", status, out, errs)
			}
		})
	}
}

// sleeper is a process that lives until the test ends.
func sleeper(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if _, ok := proc.Of(cmd.Process.Pid); !ok {
		t.Fatal("it does not live")
	}
	return cmd
}

// live changes the live state of this machine by hand.
func (d *desk) live(q string, args ...any) {
	d.t.Helper()
	ctx := context.Background()
	run, err := runtimedir.Look(d.home)
	if err != nil {
		d.t.Fatal(err)
	}
	store, err := db.Open(ctx, run.LiveDB(), db.Options{})
	if err != nil {
		d.t.Fatal(err)
	}
	defer store.Close()
	if err := store.Update(ctx, func(tx *db.Tx) error { return tx.Exec(q, args...) }); err != nil {
		d.t.Fatal(err)
	}
}
