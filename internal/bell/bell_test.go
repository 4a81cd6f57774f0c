package bell

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bureau/internal/fault"
)

const (
	anna = "01J0000000000000000000ANNA"
	ben  = "01J00000000000000000000BEN"
)

func TestRingBeforeWaitIsNotLost(t *testing.T) {
	dir := bellDir(t)
	b := listen(t, dir, anna)
	ring(t, 1, dir, anna)
	ring(t, 1, dir, anna)
	if rung, err := b.Wait(t.Context(), patience); !rung || err != nil {
		t.Fatalf("Wait = %v %v", rung, err)
	}
	// Two rings may arrive as one or as two, however late, but never as three.
	rings := 1
	for range 3 {
		rung, err := b.Wait(t.Context(), 50*time.Millisecond)
		if err != nil {
			t.Error(err)
		}
		if rung {
			rings++
		}
	}
	if rings > 2 {
		t.Errorf("two rings arrived as %d", rings)
	}
}

// A reader that looks, then waits, must see every value of a counter that a
// writer raises before it rings, without any help from the sweep.
func TestLookThenWaitNeverMisses(t *testing.T) {
	dir := bellDir(t)
	b := listen(t, dir, anna, "all")
	var counter atomic.Int64
	const last = 3000
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := range last {
			counter.Add(1)
			topic := anna
			if i%3 == 0 {
				topic = "all"
			}
			if _, err := Ring(dir, topic); err != nil {
				t.Error(err)
			}
		}
	})
	for counter.Load() < last {
		if rung, err := b.Wait(t.Context(), patience); !rung || err != nil {
			t.Fatalf("at %d: Wait = %v %v", counter.Load(), rung, err)
		}
	}
	writer.Wait()
}

func TestTopics(t *testing.T) {
	dir := bellDir(t)
	a, b := listen(t, dir, anna, "all", anna), listen(t, dir, ben, "all")
	ring(t, 0, dir)
	ring(t, 0, dir, "nobody")
	ring(t, 1, dir, ben, ben)
	if rung, _ := b.Wait(t.Context(), patience); !rung {
		t.Error("ben was not rung")
	}
	if rung, _ := a.Wait(t.Context(), 20*time.Millisecond); rung {
		t.Error("anna was rung by ben's bell")
	}
	ring(t, 2, dir, "all")
	for _, bell := range []*Bell{a, b} {
		select {
		case <-bell.C():
		case <-time.After(patience):
			t.Error("not everybody heard")
		}
	}
}

func TestWaitEnds(t *testing.T) {
	dir := bellDir(t)
	b := listen(t, dir, anna)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if rung, err := b.Wait(ctx, 0); rung || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("at the context's end: %v %v", rung, err)
	}
	time.AfterFunc(20*time.Millisecond, func() { b.Close() })
	if rung, err := b.Wait(t.Context(), time.Minute); rung || !errors.Is(err, os.ErrClosed) {
		t.Errorf("at the bell's end: %v %v", rung, err)
	}
	if err := b.Mend(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("mending a closed bell: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	dir := bellDir(t)
	a, b := listen(t, dir, anna, "all"), listen(t, dir, "all")
	a.Close()
	if left := files(t, dir, "all"); len(left) != 1 {
		t.Errorf("after one of two closed: %q", left)
	}
	b.Close()
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("after both closed: %v %v", left, err)
	}
	ring(t, 0, dir, anna, "all")
}

func TestNobodyEverListened(t *testing.T) {
	dir := bellDir(t)
	ring(t, 0, dir, anna, "all")
	if n, err := Sweep(dir); n != 0 || err != nil {
		t.Errorf("Sweep = %d %v", n, err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("ringing created something")
	}
}

func TestWrongTopics(t *testing.T) {
	dir := bellDir(t)
	for _, topic := range []string{"", ".", "..", "../x", "a/b", ".hidden", strings.Repeat("x", 33)} {
		if _, err := Listen(dir, "all", topic); !fault.Is(err, fault.Invalid) {
			t.Errorf("Listen(%q): %v", topic, err)
		}
		if _, err := Ring(dir, topic); !fault.Is(err, fault.Invalid) {
			t.Errorf("Ring(%q): %v", topic, err)
		}
	}
	if left := files(t, dir, "all"); len(left) != 0 {
		t.Errorf("a failed Listen left %q", left)
	}
}

func TestNoRuntimeFolder(t *testing.T) {
	if _, err := Listen("/tmp/no/such/runtime/b", anna); !fault.Is(err, fault.Unavailable) {
		t.Errorf("Listen: %v", err)
	}
	ring(t, 0, "/tmp/no/such/runtime/b", anna)
}

func TestForeignFilesAreLeftAlone(t *testing.T) {
	dir := bellDir(t)
	b := listen(t, dir, anna)
	folder := filepath.Join(dir, anna)
	for _, name := range []string{"notes.txt", ".notes"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(folder, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	ring(t, 1, dir, anna)
	if n, err := Sweep(dir); n != 0 || err != nil {
		t.Errorf("Sweep = %d %v", n, err)
	}
	b.Close()
	ring(t, 0, dir, anna)
	if left := files(t, dir, anna); len(left) != 3 {
		t.Errorf("left: %q", left)
	}
}

func TestASocketThatWasTakenAwayIsHungAgain(t *testing.T) {
	dir := bellDir(t)
	b := listen(t, dir, anna, "all")
	if err := os.RemoveAll(filepath.Join(dir, anna)); err != nil {
		t.Fatal(err)
	}
	ring(t, 0, dir, anna)
	if rung, err := b.Wait(t.Context(), time.Millisecond); rung || err != nil {
		t.Fatalf("Wait = %v %v", rung, err)
	}
	ring(t, 1, dir, anna)
	if rung, err := b.Wait(t.Context(), patience); !rung || err != nil {
		t.Errorf("after the sweep, Wait = %v %v", rung, err)
	}
	if n := len(files(t, dir, "all")); n != 1 {
		t.Errorf("the other topic has %d sockets", n)
	}
}

// Waiters come and go while others ring: every Listen succeeds though empty
// folders are removed under it, and nobody who listens is taken for dead.
func TestComingAndGoing(t *testing.T) {
	dir := bellDir(t)
	stop := make(chan struct{})
	var ringers, waiters sync.WaitGroup
	for range 3 {
		ringers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := Ring(dir, anna, "all"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 4 {
		waiters.Go(func() {
			for range 150 {
				b, err := Listen(dir, anna)
				if err != nil {
					t.Error(err)
					return
				}
				for _, e := range b.ears {
					if _, err := os.Lstat(e.path); err != nil {
						t.Errorf("removed while alive: %v", err)
					}
				}
				if rung, err := b.Wait(t.Context(), patience); !rung || err != nil {
					t.Errorf("Wait = %v %v", rung, err)
				}
				b.Close()
			}
		})
	}
	waiters.Wait()
	close(stop)
	ringers.Wait()
}
