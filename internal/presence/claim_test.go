package presence

import (
	"context"
	"os/exec"
	"testing"
	"time"

	"bureau/internal/proc"
	"bureau/internal/roster"
)

// TestASightCountsOnlyTimeAwake: how long ago an agent was seen is told with
// how long the machine was awake since, whatever the wall clock says.
func TestASightCountsOnlyTimeAwake(t *testing.T) {
	ctx := context.Background()
	s := open1(t)
	long := time.Now().Add(-8 * time.Hour)
	ok(t, s.Touch(ctx, "ana", long))
	got, err := s.Sights(ctx, "ana", "bob")
	ok(t, err)
	if x := got["ana"]; !x.At.Equal(long.Truncate(time.Millisecond)) || x.Awake > time.Hour {
		t.Errorf("%+v", x)
	}
	if _, known := got["bob"]; known {
		t.Error("bob was never seen")
	}
}

// TestAPlaceIsHeldByALivingProcess: a place in the queue goes with its process.
func TestAPlaceIsHeldByALivingProcess(t *testing.T) {
	ctx := context.Background()
	s := open1(t)
	held := func(want bool) {
		t.Helper()
		if got, err := s.PlaceHeld(ctx, "w1"); err != nil || got != want {
			t.Errorf("held %v, want %v (%v)", got, want, err)
		}
	}
	held(false)
	child := exec.Command("sleep", "60")
	ok(t, child.Start())
	id, found := proc.Of(child.Process.Pid)
	if !found {
		t.Fatal("no process")
	}
	ok(t, s.HoldPlace(ctx, "w1", roster.Process{PID: id.PID, Start: id.Start, Host: proc.Host()}, time.Now()))
	held(true)
	ok(t, child.Process.Kill())
	_ = child.Wait()
	held(false)
	ok(t, s.HoldPlace(ctx, "w1", Self(), time.Now()))
	held(true)
	ok(t, s.LeavePlace(ctx, "w1"))
	held(false)
}
