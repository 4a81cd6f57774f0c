package db

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"bureau/internal/fault"
)

// hold keeps the write lock of a database until release is called.
func hold(t *testing.T, d *DB) (release func()) {
	t.Helper()
	held, done := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := d.Update(context.Background(), func(*Tx) error { close(held); <-done; return nil }); err != nil {
			t.Error(err)
		}
	})
	<-held
	return sync.OnceFunc(func() { close(done); wg.Wait() })
}

func TestWaitsAreBounded(t *testing.T) {
	d := notes(t)
	patient := open(t, d.Path(), Options{AppID: testApp, BusyTimeout: 5 * time.Minute})
	hasty := open(t, d.Path(), Options{AppID: testApp, BusyTimeout: 100 * time.Millisecond})
	nothing := func(*Tx) error { t.Error("ran"); return nil }

	release := hold(t, d)
	defer release()
	start := time.Now()
	err := hasty.Update(t.Context(), nothing)
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "another process has held it for 100ms") {
		t.Errorf("busy: %v", err)
	}
	if took := time.Since(start); took < 90*time.Millisecond || took > time.Minute {
		t.Errorf("gave up after %v", took)
	}
	// A deadline cuts short both the wait for another process and the wait for
	// another goroutine.
	for what, waiting := range map[string]*DB{"process": patient, "goroutine": d} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		start := time.Now()
		if err := waiting.Update(ctx, nothing); !fault.Is(err, fault.Timeout) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waiting for a %s: %v", what, err)
		}
		cancel()
		if took := time.Since(start); took > time.Minute {
			t.Errorf("waited %v for a %s", took, what)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(30*time.Millisecond, cancel)
	if err := patient.Update(ctx, nothing); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	// Readers do not wait.
	if n := count(t, patient); n != 0 {
		t.Errorf("%d notes", n)
	}
	time.AfterFunc(50*time.Millisecond, release)
	update(t, patient, `INSERT INTO note(text) VALUES('x')`)
}

// TestForeignWriter waits for a program that does not know the gate.
func TestForeignWriter(t *testing.T) {
	d := notes(t)
	c, err := sqlite3.Open(d.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Exec(`BEGIN IMMEDIATE`); err != nil {
		t.Fatal(err)
	}
	hasty := open(t, d.Path(), Options{AppID: testApp, BusyTimeout: 50 * time.Millisecond})
	if err := hasty.Update(t.Context(), func(*Tx) error { return nil }); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "busy") {
		t.Errorf("got %v", err)
	}
	committed := make(chan error, 1)
	time.AfterFunc(50*time.Millisecond, func() { committed <- c.Exec(`COMMIT`) })
	update(t, d, `INSERT INTO note(text) VALUES('x')`)
	if err := <-committed; err != nil {
		t.Error(err)
	}
}

// TestAbandonedWaits lets many waits run out while the lock is held. When it
// is free again, none of them may keep it.
func TestAbandonedWaits(t *testing.T) {
	d := notes(t)
	release := hold(t, d)
	defer release()
	var wg sync.WaitGroup
	for range 8 {
		other := open(t, d.Path(), Options{AppID: testApp})
		wg.Go(func() {
			for range 3 {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
				if err := other.Update(ctx, func(*Tx) error { return nil }); !fault.Is(err, fault.Timeout) {
					t.Errorf("got %v", err)
				}
				cancel()
			}
		})
	}
	wg.Wait()
	release()
	other := open(t, d.Path(), Options{AppID: testApp, BusyTimeout: time.Minute})
	for range 20 {
		update(t, other, `INSERT INTO note(text) VALUES('x')`)
		update(t, d, `INSERT INTO note(text) VALUES('x')`)
	}
}

func TestLongStatementsAreInterrupted(t *testing.T) {
	d := notes(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	err := d.View(ctx, func(tx *Tx) error {
		var n int
		_, err := tx.One(`WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c`, nil, &n)
		return err
	})
	if !fault.Is(err, fault.Timeout) || time.Since(start) > time.Minute {
		t.Errorf("%v after %v", err, time.Since(start))
	}
	update(t, d, `INSERT INTO note(text) VALUES('still usable')`)
}

func TestClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	d := open(t, path, creating)
	update(t, d, `CREATE TABLE note(n)`)
	release := hold(t, d)
	closed := make(chan error, 2)
	for range 2 {
		go func() { closed <- d.Close() }()
	}
	select {
	case <-closed:
		t.Error("Close did not wait for the transaction")
	case <-time.After(30 * time.Millisecond):
	}
	release()
	for range 2 {
		if err := <-closed; err != nil {
			t.Error(err)
		}
	}
	nothing := func(*Tx) error { t.Error("ran"); return nil }
	if err := d.Update(t.Context(), nothing); !fault.Is(err, fault.Unavailable) {
		t.Errorf("update: %v", err)
	}
	if err := d.View(t.Context(), nothing); !fault.Is(err, fault.Unavailable) {
		t.Errorf("view: %v", err)
	}
	for _, rest := range []string{"-wal", "-shm"} {
		if size(path+rest) >= 0 {
			t.Errorf("%s is left behind", rest)
		}
	}
}
