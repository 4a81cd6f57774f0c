package hook

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var (
	temporary string // folder of this run, removed at its end
	program   string // the real hook, built once
	patient   string // the same with deadlines for a busy machine
	d0        = context.Background()
)

// patience is how long a test waits for what must come: only a hang takes
// longer, on however busy a machine.
const patience = time.Minute

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if path := os.Getenv(lockVariable); path != "" {
		if err := holdLock(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
	if slices.ContainsFunc(os.Args, func(a string) bool { return strings.Contains(a, "test.fuzzworker") }) {
		return m.Run() // it is killed in the end, and would leave the folder behind
	}
	dir, err := os.MkdirTemp("", "bureau-hook-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	temporary, program = dir, filepath.Join(dir, "bureau-hook")
	patient = filepath.Join(dir, "bureau-hook-patient")
	for path, flags := range map[string]string{program: "", patient: "-X bureau/internal/hook.slack=" + patience.String()} {
		if out, err := exec.Command("go", "build", "-ldflags", flags, "-o", path, "bureau/cmd/bureau-hook").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
			return 1
		}
	}
	return m.Run()
}

func itoa(n int) string { return strconv.Itoa(n) }
