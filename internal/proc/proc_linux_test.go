package proc

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestParseStat(t *testing.T) {
	tail := " S 7 8 9 34816 10 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987654 1000 2000 18446744073709551615"
	tests := map[string]struct {
		line string
		want info
		ok   bool
	}{
		"plain":                  {"42 (bash)" + tail, info{987654, 7, false}, true},
		"spaces":                 {"42 (tmux: server)" + tail, info{987654, 7, false}, true},
		"parentheses":            {"42 (a) S 1 1 (b)" + tail, info{987654, 7, false}, true},
		"a newline":              {"42 (a\nb) R)" + tail, info{987654, 7, false}, true},
		"empty name":             {"42 ()" + tail, info{987654, 7, false}, true},
		"zombie":                 {"42 (x)" + strings.Replace(tail, " S ", " Z ", 1), info{987654, 7, true}, true},
		"cut off":                {"42 (bash) S 7 8", info{}, false},
		"no name":                {"42 bash S 7", info{}, false},
		"empty":                  {"", info{}, false},
		"a parent not a number":  {"42 (x)" + strings.Replace(tail, " 7 ", " p ", 1), info{}, false},
		"a start not a number":   {"42 (x)" + strings.Replace(tail, "987654", "-", 1), info{}, false},
		"a name that ends early": {"42 (x)", info{}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := parseStat([]byte(tt.line))
			if got != tt.want || ok != tt.ok {
				t.Errorf("got %+v %v, want %+v %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}

// A program may be called anything; the kernel writes its name unescaped.
func TestProcessWithAnOddName(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	odd := t.TempDir() + "/) S 1 (x"
	if err := os.Link(exe, odd); err != nil {
		t.Skip("cannot link the test binary here:", err)
	}
	cmd := exec.Command(odd)
	cmd.Env = append(os.Environ(), "PROC_TEST_CHILD=wait")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer stdin.Close()
	if p, ok := Parent(cmd.Process.Pid); !ok || p != os.Getpid() {
		t.Errorf("Parent = %d %v, want %d", p, ok, os.Getpid())
	}
}

func TestTerminal(t *testing.T) {
	v, _, err := ask(t, child(t, "tell"))
	if err != nil {
		t.Fatal(err)
	}
	if v.HasOne {
		t.Errorf("a process without a terminal has %+v", v.Terminal)
	}

	pty := openTerminal(t)
	cmd := child(t, "tell")
	cmd.Stderr = pty // only one of the three
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 2}
	v, pid, err := ask(t, cmd)
	if err != nil {
		t.Fatal(err)
	}
	if !v.HasOne || v.Terminal != v.Self || v.Terminal.PID != pid {
		t.Errorf("the leader %d of a terminal sees %+v %v", pid, v.Terminal, v.HasOne)
	}
}

// openTerminal makes a pseudo terminal and gives the end for a program.
func openTerminal(t *testing.T) *os.File {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo terminals here:", err)
	}
	t.Cleanup(func() { master.Close() })
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Skip("no pseudo terminals here:", err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo terminals here:", err)
	}
	t.Cleanup(func() { slave.Close() })
	return slave
}

// A sandbox with its own pids is another host domain. With the old /proc its
// numbers are strangers', which must not be taken for us.
func TestAnotherPidNamespace(t *testing.T) {
	cmd := child(t, "tell")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	v, _, err := ask(t, cmd)
	if err != nil {
		t.Skip("cannot make a pid namespace here:", err)
	}
	if v.Host == Host() {
		t.Errorf("two pid namespaces share the host domain %s", v.Host)
	}
	if v.Self != (ID{PID: 1}) || !v.Alive || len(v.Ancestors) != 0 {
		t.Errorf("inside, the process sees %+v", v)
	}
}
