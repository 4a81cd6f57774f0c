//go:build unix

package trial

import (
	"context"
	"syscall"
	"testing"
	"time"

	"bureau/internal/office"
)

// A waiter that is stopped, as by ctrl-Z, is rung like every other one; its
// full queue must not hold up who sends.
func TestStoppedWaiterDelaysNobody(t *testing.T) {
	p := newPlace(t, "ana", "bob")
	w := p.child("wait bob")
	w.begin()
	time.Sleep(200 * time.Millisecond) // until it waits; the test holds either way
	if err := w.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.cmd.Process.Signal(syscall.SIGCONT) }()
	done := make(chan error, 1)
	go func() {
		for range 60 {
			if _, err := p.Send(context.Background(), p.as("ana"), office.Letter{To: []string{"bob"}, Body: []byte("text")}); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(patience):
		t.Fatal("60 sends did not end while a waiter was stopped")
	}
	if err := w.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	w.end(t)
}

// A holder that is stopped, overtaken meanwhile and goes on passes no guard.
func TestStoppedHolderCannotWrite(t *testing.T) {
	p := newPlace(t, "bob")
	c := p.child("hold S1")
	asked := 0
	ask := func(want string) {
		t.Helper()
		c.begin()
		asked++
		for _, word := range []string{"edit", "commit", "token"} {
			for deadline := time.Now().Add(patience); len(c.said(word)) < asked; time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("no word about %s", word)
				}
			}
			if got := c.said(word)[asked-1][0]; got != want {
				t.Errorf("%s: %s, want %s", word, got, want)
			}
		}
	}
	ask("true")
	if err := c.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	v := overtake(t, p, "bob")
	if err := c.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	ask("false")
	// Not even after the one who took it over has gone.
	if _, err := p.Release(context.Background(), p.as("bob"), project(), []string{string(v.ID)}, ""); err != nil {
		t.Fatal(err)
	}
	ask("false")
}
