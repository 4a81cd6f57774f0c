package bell

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is how long a test waits for what must come: only a hang takes
// longer, on however busy a machine.
const patience = time.Minute

// TestMain lets the test binary play a waiter in another process.
func TestMain(m *testing.M) {
	if dir := os.Getenv("BELL_TEST_DIR"); dir != "" {
		waiter(dir, strings.Fields(os.Getenv("BELL_TEST_TOPICS")))
		return
	}
	goleak.VerifyTestMain(m)
}

// waiter hangs a bell and prints the time of every ring. It ends when its
// input does, without closing the bell: most waiters are killed.
func waiter(dir string, topics []string) {
	b, err := Listen(dir, topics...)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		os.Stdin.Read(make([]byte, 1))
		cancel()
	}()
	fmt.Println("ready")
	for {
		if _, err := b.Wait(ctx, 0); err != nil {
			return
		}
		fmt.Println(time.Now().UnixNano())
	}
}

// other is a waiter in another process.
type other struct {
	cmd   *exec.Cmd
	lines chan string
}

// startOther starts a waiter; ready waits until it listens.
func startOther(t testing.TB, dir string, topics ...string) *other {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "BELL_TEST_DIR="+dir, "BELL_TEST_TOPICS="+strings.Join(topics, " "))
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	o := &other{cmd, make(chan string, 1000)}
	go func() {
		defer close(o.lines)
		for s := bufio.NewScanner(stdout); s.Scan(); {
			o.lines <- s.Text()
		}
	}()
	t.Cleanup(func() {
		stdin.Close()
		cmd.Process.Kill()
		for range o.lines {
		}
		cmd.Wait()
	})
	return o
}

func (o *other) ready(t testing.TB) {
	t.Helper()
	if line := o.next(t); line != "ready" {
		t.Fatalf("the waiter says %q", line)
	}
}

// next gives the waiter's next line.
func (o *other) next(t testing.TB) string {
	t.Helper()
	select {
	case line, ok := <-o.lines:
		if !ok {
			t.Fatal("the waiter ended")
		}
		return line
	case <-time.After(patience):
		t.Fatal("the waiter says nothing")
	}
	return ""
}

// woke gives the time of the waiter's next ring.
func (o *other) woke(t testing.TB) time.Time {
	t.Helper()
	n, err := strconv.ParseInt(o.next(t), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Unix(0, n)
}

// bellDir is short, unlike a test's own folder.
func bellDir(t testing.TB) string {
	t.Helper()
	parent := "/tmp"
	if runtime.GOOS == "windows" {
		parent = ""
	}
	dir, err := os.MkdirTemp(parent, "bell")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "b")
}

func listen(t testing.TB, dir string, topics ...string) *Bell {
	t.Helper()
	b, err := Listen(dir, topics...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// ring rings and checks how many were reached.
func ring(t testing.TB, want int, dir string, topics ...string) {
	t.Helper()
	if n, err := Ring(dir, topics...); n != want || err != nil {
		t.Errorf("Ring(%q) = %d %v, want %d", topics, n, err, want)
	}
}

// files lists what is in a topic's folder, hidden sockets too.
func files(t testing.TB, dir, topic string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir + "/" + topic)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
