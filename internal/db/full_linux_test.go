package db

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"bureau/internal/fault"
)

func init() { children["full"] = fullChild }

// fullChild fills a small file system and looks at what a writer sees.
func fullChild(args []string) error {
	dir := args[0]
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		return fmt.Errorf(skip+"%w", err)
	}
	defer syscall.Unmount(dir, 0)
	d, err := Open(ctx(), filepath.Join(dir, "small.db"), creating)
	if err != nil {
		return err
	}
	err = d.Update(ctx(), func(tx *Tx) error { return tx.Exec(`CREATE TABLE note(n); INSERT INTO note VALUES(1)`) })
	if err := errors.Join(err, d.Close()); err != nil {
		return err
	}
	if d, err = Open(ctx(), filepath.Join(dir, "test.db"), creating); err != nil {
		return err
	}
	insert := func(size int) error {
		return d.Update(ctx(), func(tx *Tx) error {
			return tx.Exec(`INSERT INTO note(text) VALUES(?)`, strings.Repeat("x", size))
		})
	}
	if err := d.Update(ctx(), func(tx *Tx) error { return tx.Exec(`CREATE TABLE note(n INTEGER PRIMARY KEY, text TEXT)`) }); err != nil {
		return err
	}
	stored := 0
	for ; stored < 1000; stored++ {
		if err = insert(10_000); err != nil {
			break
		}
	}
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "disk is full") || !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "nothing was stored") {
		return fmt.Errorf("after %d: %v", stored, err)
	}
	// It can still be read, by this process and a new one, and nothing is torn.
	for range 2 {
		var n int
		var ok string
		err := d.View(ctx(), func(tx *Tx) error {
			_, err1 := tx.One(`SELECT count(*) FROM note`, nil, &n)
			_, err2 := tx.One(`PRAGMA integrity_check`, nil, &ok)
			return errors.Join(err1, err2)
		})
		if err != nil || n != stored || ok != "ok" {
			return fmt.Errorf("%d notes, want %d, %s, %w", n, stored, ok, err)
		}
		if err := d.Close(); err != nil {
			return err
		}
		if d, err = Open(ctx(), filepath.Join(dir, "test.db"), creating); err != nil {
			return fmt.Errorf("on a full disk: %w", err)
		}
	}
	// A store whose log has no room at all can still be read, and says so.
	if err := fillUp(filepath.Join(dir, "ballast")); err != nil {
		return err
	}
	small, err := Open(ctx(), filepath.Join(dir, "small.db"), creating)
	if err != nil {
		return fmt.Errorf("on a disk without any room: %w", err)
	}
	defer small.Close()
	addOne := func() error {
		return small.Update(ctx(), func(tx *Tx) error { return tx.Exec(`INSERT INTO note VALUES(2)`) })
	}
	var n int
	if err := small.View(ctx(), func(tx *Tx) error {
		_, err := tx.One(`SELECT count(*) FROM note`, nil, &n)
		return err
	}); err != nil || n != 1 || !small.ReadOnly() {
		return fmt.Errorf("%d notes without any room, %v", n, err)
	}
	if err := addOne(); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "disk is full") {
		return fmt.Errorf("without any room: %v", err)
	}
	// With room again, it goes on.
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT, "size=4m"); err != nil {
		return err
	}
	return errors.Join(insert(10_000), d.Close(), addOne())
}

// fillUp writes a file until there is no room.
func fillUp(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 512))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		return err
	}
	return nil
}

func TestFullDisk(t *testing.T) { runMounted(t, mount(t, "full", t.TempDir())) }
