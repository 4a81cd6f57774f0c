//go:build unix

package probe

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"bureau/internal/proc"
)

// pidFrom waits for a process to have written its id.
func pidFrom(t *testing.T, file string) int {
	t.Helper()
	for range 12_000 {
		if b, err := os.ReadFile(file); err == nil && strings.HasSuffix(string(b), "\n") {
			pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("nobody wrote %s", file)
	return 0
}

func waitGone(t *testing.T, pid int) {
	t.Helper()
	for range 12_000 {
		if _, ok := proc.Of(pid); !ok {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("process %d is still there", pid)
}

// Whatever a program does, the look comes back and its group is gone.
func TestChildrenThatMisbehave(t *testing.T) {
	need(t, "sh")
	for name, c := range map[string]struct {
		script string
		want   Verdict
		says   string
	}{
		"hangs":                    {"echo $$ >$1; sleep 600", Unknown, "did not end in time"},
		"ignores signals":          {"trap '' TERM INT HUP; echo $$ >$1; while :; do sleep 600; done", Unknown, "did not end in time"},
		"a child hangs":            {"(sleep 600 & echo $! >$1; wait)", Unknown, "did not end in time"},
		"a child holds the output": {"sleep 600 & echo $! >$1; echo done; exit 1", Busy, "done"},
		"a child let go of it":     {"sleep 600 >/dev/null 2>&1 </dev/null & echo $! >$1; echo done; exit 0", Free, "done"},
		"floods":                   {"echo $$ >$1; while :; do echo $1$1$1$1$1; done", Unknown, "did not end in time"},
		"floods the other output":  {"echo $$ >$1; while :; do echo $1$1$1$1$1 >&2; done", Unknown, "did not end in time"},
		"reads":                    {"echo $$ >$1; read x; echo got $x; exit 0", Free, "got"},
	} {
		t.Run(name, func(t *testing.T) {
			// What hangs needs time to begin, and what ends to end.
			for _, timeout := range []time.Duration{time.Second, 4 * time.Second, 9 * time.Second} {
				if c.want != Unknown {
					timeout = 9 * time.Second
				}
				file := filepath.Join(t.TempDir(), "pid")
				req := project(t, "- match: x\n  command: [./x, "+strconv.Quote(file)+"]\n  timeout: "+timeout.String()+"\n")
				write(t, filepath.Join(req.Root, "x"), "#!/bin/sh\n"+c.script+"\n", 0o755)
				if own := loadOwn(req.Root, req.Home); len(own.commands) != 1 {
					t.Fatal(own.err)
				}
				want(t, one(t, req, Subject{Name: "x"}), c.want, c.says)
				if b, err := os.ReadFile(file); err != nil || !strings.HasSuffix(string(b), "\n") {
					continue // it was ended before it could say who it is
				}
				waitGone(t, pidFrom(t, file))
				return
			}
			t.Error("it never began")
		})
	}
}

func TestSecretsStayHere(t *testing.T) {
	need(t, "sh")
	for k, v := range map[string]string{
		"BUREAU_TOKEN": "secret", "BUREAU_AS": "secret", "CLAUDE_CODE_MESSAGING_TOKEN": "secret", "CLAUDE_CODE_MESSAGING_SOCKET": "secret",
		"GIT_DIR": "secret", "BUREAU_HOME": "kept-home", "OTHER": "kept-other", "GIT_SSH_COMMAND": "kept-ssh",
	} {
		t.Setenv(k, v)
	}
	o := run(t.Context(), child{argv: []string{"sh", "-c", "env"}, max: Each})
	for _, kept := range []string{"kept-home", "kept-other", "kept-ssh"} {
		if !strings.Contains(string(o.out), kept) {
			t.Errorf("the environment lost %s", kept)
		}
	}
	if strings.Contains(string(o.out), "secret") || o.err != nil {
		t.Errorf("%v\n%s", o.err, o.out)
	}
}

// More subjects than looks at a time, and a caller who gives up.
func TestRunEndsWithItsContext(t *testing.T) {
	req := project(t, "- match: \"slow*\"\n  command: [sleep, \"600\"]\n- match: \"fast*\"\n  command: [echo, \"{name}\"]\n")
	for i := range 20 {
		req.Subjects = append(req.Subjects, Subject{Name: "fast" + strconv.Itoa(i)})
	}
	for i, r := range Run(t.Context(), req) {
		want(t, r, Free, "fast"+strconv.Itoa(i))
	}
	req.Subjects = nil
	for i := range 20 {
		req.Subjects = append(req.Subjects, Subject{Name: "slow" + strconv.Itoa(i)})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	begin := time.Now()
	got := Run(ctx, req)
	if took := time.Since(begin); took > Each {
		t.Errorf("took %v", took)
	}
	for i, r := range got {
		want(t, r, Unknown, "in time")
		if r.Resource != req.Subjects[i].Name {
			t.Errorf("result %d is of %s", i, r.Resource)
		}
	}
	if got := Run(t.Context(), Request{}); len(got) != 0 {
		t.Errorf("%v", got)
	}
}
