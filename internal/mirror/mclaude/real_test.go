package mclaude

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// program runs the real mclaude in a project.
type program struct {
	t      *testing.T
	python string
	root   string
}

// realProgram finds it. It is not fetched: where Python or the package is missing the
// recorded files of golden_test.go stand for it, in CI too.
func realProgram(t *testing.T, root string) program {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("NOT TESTED against the real mclaude: there is no python3")
	}
	if out, err := exec.CommandContext(t.Context(), python, "-c", "import mclaude.cli").CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED against the real mclaude: python3 has no package mclaude (%s)", strings.TrimSpace(string(out)))
	}
	return program{t, python, root}
}

// lock runs one of its lock commands and wants an exit code.
func (p program) lock(exit int, args ...string) string {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), p.python, append([]string{"-m", "mclaude", "lock"}, args...)...)
	cmd.Dir = p.root
	cmd.Env = append(os.Environ(), "PYTHONUTF8=1")
	out, err := cmd.CombinedOutput()
	var exited *exec.ExitError
	if err != nil && !errors.As(err, &exited) {
		p.t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != exit {
		p.t.Fatalf("mclaude lock %q: exit code %d, want %d:\n%s", args, got, exit, out)
	}
	return string(out)
}

func TestRealProgramHonoursOurs(t *testing.T) {
	l := locks(t)
	p := realProgram(t, l.root)
	lock := anna("our-work")
	lock.Description, lock.Files = "Переписать вход", []string{"src/вход.go"}
	write(t, l, lock)

	out := p.lock(ExitHeld, "claim", "--slug", "our-work", "--description", "theirs")
	for _, want := range []string{session, lock.Description, lock.Files[0]} {
		if !strings.Contains(out, want) {
			t.Errorf("a refused claim does not say %q:\n%s", want, out)
		}
	}
	if out := p.lock(ExitOK, "status", "our-work"); !strings.Contains(out, string(Active)) || !strings.Contains(out, session) {
		t.Errorf("status:\n%s", out)
	}
	if out := p.lock(ExitOK, "list"); !strings.Contains(out, "our-work") {
		t.Errorf("list:\n%s", out)
	}
	p.lock(ExitWrongSession, "heartbeat", "our-work", "--session", "somebody")
	p.lock(ExitWrongSession, "release", "our-work", "--session", "somebody")
	p.lock(ExitOK, "heartbeat", "our-work", "--session", session)
	if e := get(t, l, "our-work"); !e.Ours || e.Status != Active || e.Trouble != "" {
		t.Errorf("%+v", e)
	}
	age(t, l, "our-work.heartbeat", 181e9)
	p.lock(ExitStale, "claim", "--slug", "our-work", "--description", "theirs")
	p.lock(ExitOK, "force-release", "our-work", "--reason", "stale")
	p.lock(ExitOK, "claim", "--slug", "our-work", "--description", "theirs", "--session", "theirs-0123")
	_, err := l.Touch("our-work", session, time.Time{})
	wantExit(t, err, ExitWrongSession)

	write(t, l, anna("other-work"))
	_, err = l.Release("other-work", session, "done")
	must(t, err)
	if out := p.lock(ExitOK, "status", "other-work"); !strings.Contains(out, string(Free)) {
		t.Errorf("status:\n%s", out)
	}
}

func TestWeHonourTheRealProgram(t *testing.T) {
	l := locks(t)
	p := realProgram(t, l.root)
	p.lock(ExitOK, "claim", "--slug", "their-work", "--description", "Изменить вход", "--session", "theirs-0123", "--files", "src/a.py", "./b.py")
	e := get(t, l, "their-work")
	if e.Session != "theirs-0123" || e.Ours || e.Status != Active || e.Description != "Изменить вход" || e.Trouble != "" || e.ClaimedAt.IsZero() ||
		!slices.Equal(e.Paths, []string{"src/a.py", "b.py"}) {
		t.Errorf("%+v", e)
	}
	_, err := l.Write(anna("their-work"))
	wantExit(t, err, ExitHeld)
	_, err = l.Release("their-work", session, "")
	wantExit(t, err, ExitWrongSession)
	_, err = l.Touch("their-work", "theirs-0123", time.Time{})
	must(t, err)
	age(t, l, "their-work.heartbeat", 181e9)
	p.lock(ExitStale, "claim", "--slug", "their-work", "--description", "again")
	_, err = l.Write(anna("their-work"))
	wantExit(t, err, ExitStale)
	_, err = l.Touch("their-work", "theirs-0123", time.Time{})
	must(t, err)
	p.lock(ExitOK, "release", "their-work", "--session", "theirs-0123", "--summary", "done")
	if es, err := l.Archive(10); err != nil || len(es) != 1 || es[0].Slug != "their-work" || es[0].Forced {
		t.Errorf("%+v %v", es, err)
	}
	write(t, l, anna("their-work"))

	// A lock of theirs that we end is where theirs look for it.
	p.lock(ExitOK, "claim", "--slug", "more-work", "--description", "x", "--session", "theirs-0123")
	done, err := l.Release("more-work", "theirs-0123", "by us")
	must(t, err)
	if _, err := os.Stat(filepath.Join(l.root, done.Archive)); err != nil {
		t.Error(err)
	}
	p.lock(ExitNone, "release", "more-work", "--session", "theirs-0123")
}
