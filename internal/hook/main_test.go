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
	late      string // the same with deadlines that are a little later
	d0        = context.Background()
)

// patience is how long a test waits for what must come: only a hang takes
// longer, on however busy a machine.
const patience = time.Minute

// lateBy is how much later than usual a hook gives up that must do so in a
// test: it has the time to begin, and to say so, on a busy machine.
const lateBy = 3 * time.Second

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
	patient, late = filepath.Join(dir, "bureau-hook-patient"), filepath.Join(dir, "bureau-hook-late")
	for path, more := range map[string]time.Duration{program: 0, patient: patience, late: lateBy} {
		flags := "-X bureau/internal/hook.slack=" + more.String()
		if out, err := exec.Command("go", "build", "-ldflags", flags, "-o", path, "bureau/cmd/bureau-hook").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
			return 1
		}
	}
	return m.Run()
}

func itoa(n int) string { return strconv.Itoa(n) }
