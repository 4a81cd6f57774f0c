package office

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bureau/internal/db"
)

// TestCheckOfDamage damages the store at random. The check names what is wrong
// and goes on; it does not end with the first thing that it cannot read.
func TestCheckOfDamage(t *testing.T) {
	d := newDesk(t)
	ana, _ := d.agent("ana"), d.agent("bob")
	for i := range 40 {
		d.send(ana, "bob", fmt.Sprint(i, strings.Repeat(" word", 100)))
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(d.store.Path())
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	home := filepath.Join(t.TempDir(), "office")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(home, filepath.Base(d.store.Path()))
	found, looked := 0, 0
	for range 60 {
		damaged := append([]byte{}, whole...)
		for range 30 {
			damaged[4096+random.IntN(len(damaged)-4096)] ^= byte(1 + random.IntN(255))
		}
		for _, end := range []string{"-wal", "-shm"} {
			if err := os.Remove(store + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(store, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		o, err := Open(context.Background(), Options{Home: home})
		if err != nil {
			if !errors.Is(err, db.ErrDamaged) {
				t.Errorf("not said to be damaged: %v", err)
			}
			continue
		}
		looked++
		c, err := o.Check(context.Background(), random.IntN(2) == 0)
		if err != nil {
			t.Errorf("the check ended with %v", err)
		}
		if len(c.Findings) > 0 {
			found++
		}
		o.Close()
	}
	t.Logf("%d of 60 could be opened, in %d of them something was found", looked, found)
	if looked == 0 || found < looked*9/10 {
		t.Errorf("%d of 60 could be opened, in %d of them something was found", looked, found)
	}
}
