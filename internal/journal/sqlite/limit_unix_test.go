//go:build unix

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"bureau/internal/fault"
)

func init() { children["limited"] = limitedChild }

// limitedChild appends until its files may grow no more: path.
func limitedChild(args []string) error {
	signal.Ignore(syscall.SIGXFSZ) // the default ends the process
	limit := syscall.Rlimit{Cur: 256 << 10, Max: 256 << 10}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	return with(args[0], func(e *Engine) error {
		for n := range 10_000 {
			if err := write(e, "limited", n); err != nil {
				fmt.Println(n)
				if !fault.Is(err, fault.Unavailable) || !errors.Is(err, syscall.EFBIG) || !strings.Contains(err.Error(), "nothing was stored") {
					return err
				}
				// It goes on refusing, and reading.
				if err := write(e, "limited", n); err == nil {
					return errors.New("the next append was stored")
				}
				if head, err := e.Head(context.Background()); err != nil || int(head) != n {
					return fmt.Errorf("head %d after %d, %w", head, n, err)
				}
				return nil
			}
		}
		return errors.New("the limit was not reached")
	})
}

func TestFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	out, err := child(t, "limited", path).Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var acked int
	if _, err := fmt.Sscan(string(out), &acked); err != nil || acked == 0 {
		t.Fatalf("%q, %v", out, err)
	}
	e := openAt(t, path)
	if r := clean(t, e); r.Records != acked {
		t.Errorf("%d records, %d were acknowledged", r.Records, acked)
	}
	if err := write(e, "limited", acked); err != nil {
		t.Errorf("with room again: %v", err)
	}
}
