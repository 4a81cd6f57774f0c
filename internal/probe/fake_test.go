//go:build unix

package probe

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// need finds a program that a test is about.
func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

// program puts a shell script first on PATH, under a program's name. It writes
// its arguments, one a line, to the file that program gives.
func program(t *testing.T, name, body string) (argv string) {
	t.Helper()
	need(t, "sh")
	dir := t.TempDir()
	argv = filepath.Join(dir, "argv")
	script := "#!/bin/sh\nprintf '%s\\n' \"$@\" >>'" + argv + "'\n" + body + "\n"
	write(t, filepath.Join(dir, name), script, 0o755)
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return argv
}

func write(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// one looks at one thing.
func one(t *testing.T, req Request, s Subject) Result {
	t.Helper()
	req.Subjects = []Subject{s}
	begin := time.Now()
	got := Run(context.Background(), req)
	if took := time.Since(begin); took > Whole+10*time.Second { // never hangs, with room for a busy machine
		t.Errorf("the look at %s took %v", s, took)
	}
	if len(got) != 1 || got[0].Saw == "" || got[0].Probe == "" || got[0].At.IsZero() {
		t.Fatalf("%s: %+v", s, got)
	}
	return got[0]
}

func parse(t *testing.T, text string) Subject {
	t.Helper()
	s, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// want checks a verdict and words of what was seen.
func want(t *testing.T, r Result, v Verdict, words ...string) {
	t.Helper()
	if r.Verdict != v {
		t.Errorf("%s is %s (%s), want %s", r.Resource, r.Verdict, r.Saw, v)
	}
	for _, w := range words {
		if !strings.Contains(r.Saw, w) {
			t.Errorf("%s: %q does not say %q", r.Resource, r.Saw, w)
		}
	}
}
