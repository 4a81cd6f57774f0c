//go:build unix

package db

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func init() { children["umask"] = umaskChild }

// umaskChild creates a database under an odd umask and prints the modes.
func umaskChild(args []string) error {
	var mask int
	if _, err := fmt.Sscanf(args[0], "%o", &mask); err != nil {
		return err
	}
	syscall.Umask(mask)
	path := args[1]
	d, err := Open(ctx(), path, creating)
	if err != nil {
		return err
	}
	if err := d.Update(ctx(), func(tx *Tx) error { return tx.Exec(`CREATE TABLE note(n)`) }); err != nil {
		return err
	}
	for name, want := range map[string]fs.FileMode{filepath.Dir(path): dirMode, path: fileMode, path + "-wal": fileMode, path + "-shm": fileMode} {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		if got := info.Mode().Perm(); got != want {
			err = errors.Join(err, fmt.Errorf("%s has mode %v, want %v", name, got, want))
		}
		if err != nil {
			return err
		}
	}
	return d.Close()
}

func TestModes(t *testing.T) {
	for _, mask := range []string{"0000", "0022", "0077", "0177", "0027"} {
		runChild(t, child(t, "umask", mask, filepath.Join(t.TempDir(), "office", "test.db")))
	}
}
