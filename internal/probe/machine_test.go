//go:build unix

package probe

import (
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"bureau/internal/proc"
)

// TestPort: a port that is really listened on, and afterwards is not.
func TestPort(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0", "0.0.0.0:0"} {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Log(address, err) // no IPv6 here
			continue
		}
		number := listener.Addr().(*net.TCPAddr).Port
		s := parse(t, "port:"+strconv.Itoa(number))
		r := one(t, Request{}, s)
		want(t, r, Busy, "port "+strconv.Itoa(number))
		if proc.Name(os.Getpid()) != "" {
			want(t, r, Busy, "pid "+strconv.Itoa(os.Getpid()))
		}
		want(t, one(t, Request{}, parse(t, "port:localhost/"+strconv.Itoa(number))), Busy)
		if f := tryPort(t.Context(), number); f.verdict != Busy {
			t.Errorf("tried: %+v", f)
		}
		listener.Close()
		want(t, one(t, Request{}, s), Free)
		if f := tryPort(t.Context(), number); f.verdict != Free {
			t.Errorf("tried: %+v", f)
		}
	}
	// A connection from a port is no listener.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	want(t, one(t, Request{}, parse(t, "port:"+strconv.Itoa(conn.LocalAddr().(*net.TCPAddr).Port))), Free)
}

const sockets = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1588 1 0
   1: 0100007F:1F91 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 1589 1 0
`

func TestPortOfAnotherHost(t *testing.T) {
	argv := program(t, "ssh", "cat <<'X'\n"+sockets+"X")
	want(t, one(t, Request{}, parse(t, "port:host-a/8080")), Busy, "port 8080 of host-a")
	want(t, one(t, Request{}, parse(t, "port:host-a/8081")), Free, "port 8081 of host-a")
	got := read(t, argv)
	for _, arg := range []string{"BatchMode=yes\n", "ConnectTimeout=5\n", "\nhost-a\n" + readSockets + "\n"} {
		if !strings.Contains(got, arg) {
			t.Errorf("ssh was called without %q:\n%s", arg, got)
		}
	}
	if strings.Contains(got, "808") {
		t.Errorf("a number went to the other host:\n%s", got)
	}
	program(t, "ssh", "echo 'cat: /proc/net/tcp: No such file' >&2; exit 1")
	want(t, one(t, Request{}, parse(t, "port:host-a/8080")), Unknown, "No such file")
	program(t, "ssh", "echo 'host-a: Permission denied (publickey).' >&2; exit 255")
	want(t, one(t, Request{}, parse(t, "port:host-a/8080")), Unknown, "no access to host-a: ssh: ", "Permission denied")
}

const (
	fourGPUs = "0, GPU-aa, 3, 0\n1, GPU-bb, 2000, 97\n2, GPU-cc, 22000, 0\n3, GPU-dd, [N/A], [N/A]\n"
	someApps = "GPU-bb, 4711, 1990, python3 train.py, a, b\nGPU-bb, 4712, 10, x\nGPU-ff, 1, 1, y\n"
)

var smiScript = `case "$1" in
--query-gpu=*) cat <<'X'
` + fourGPUs + `X
;;
--query-compute-apps=*) cat <<'X'
` + someApps + `X
;;
esac`

func TestGPU(t *testing.T) {
	t.Setenv("PATH", "/usr/bin:/bin")
	if _, err := exec.LookPath("nvidia-smi"); err != nil {
		want(t, one(t, Request{}, parse(t, "gpu:0")), Unknown, "nvidia-smi is not installed")
	}
	argv := program(t, "nvidia-smi", smiScript)
	for _, c := range []struct {
		resource string
		want     Verdict
		says     string
	}{
		{"gpu:0", Free, "nobody computes on GPU 0"},
		{"gpu:-/0", Free, "GPU 0"},
		{"gpu:GPU-aa", Free, "GPU-aa"},
		{"gpu:1", Busy, "pid 4711 (python3 train.py, a, b), 1990 MiB and 1 more"},
		{"gpu:GPU-bb", Busy, "pid 4711"},
		{"gpu:2", Unknown, "22000 MiB"},
		{"gpu:3", Free, "GPU 3"},
		{"gpu:7", Unknown, "there is no GPU 7 (there are: 0, 1, 2, 3)"},
	} {
		want(t, one(t, Request{}, parse(t, c.resource)), c.want, c.says)
	}
	if got := read(t, argv); !strings.Contains(got, askGPUs+"\n"+askedFor+"\n"+askApps+"\n"+askedFor) {
		t.Errorf("nvidia-smi was asked\n%s", got)
	}
	program(t, "nvidia-smi", "echo 'Failed to initialize NVML: Driver/library version mismatch'; exit 18")
	want(t, one(t, Request{}, parse(t, "gpu:0")), Unknown, "version mismatch")
	program(t, "nvidia-smi", "exit 0")
	want(t, one(t, Request{}, parse(t, "gpu:0")), Unknown, "there is no GPU 0")
}

func TestGPUOfAnotherHost(t *testing.T) {
	// What ssh would run over there, run here by the same words.
	program(t, "nvidia-smi", smiScript)
	argv := program(t, "ssh", `for last; do :; done; exec sh -c "$last"`)
	want(t, one(t, Request{}, parse(t, "gpu:me@host-a/1")), Busy, "GPU 1 of me@host-a", "pid 4711")
	want(t, one(t, Request{}, parse(t, "gpu:host-a/0")), Free, "GPU 0 of host-a")
	if got := read(t, argv); !strings.Contains(got, "\nme@host-a\n"+askRemote+"\n") {
		t.Errorf("ssh was called with\n%s", got)
	}
	program(t, "ssh", "echo 'sh: nvidia-smi: not found' >&2; exit 127")
	want(t, one(t, Request{}, parse(t, "gpu:host-a/0")), Unknown, "nvidia-smi: not found")
	program(t, "ssh", "exit 255")
	want(t, one(t, Request{}, parse(t, "gpu:host-a/0")), Unknown, "no access to host-a")
	program(t, "ssh", "trap '' TERM; sleep 600")
	ctx, cancel := timeout(t, 300e6)
	defer cancel()
	r := (&looker{own: func() ownProbes { return ownProbes{} }}).look(ctx, parse(t, "gpu:host-a/0"))
	want(t, r, Unknown, "no access to host-a: ssh: it did not end in time")
	t.Setenv("PATH", t.TempDir())
	want(t, one(t, Request{}, parse(t, "gpu:host-a/0")), Unknown, "ssh is not installed")
}

func TestProcess(t *testing.T) {
	self, host := proc.Self(), proc.Host()
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Skip(err)
	}
	id := strconv.Itoa(self.PID)
	for _, c := range []struct {
		s      Subject
		domain string
		want   Verdict
		says   string
	}{
		{Process(self.PID, self.Start, host), "", Busy, "pid " + id},
		{Process(self.PID, self.Start, ""), host, Busy, "runs"},
		{Process(self.PID, 0, host), "", Busy, "not compared"},
		{Subject{Kind: KindPID, PID: self.PID, Before: time.Now()}, host, Busy, "not compared"},
		{Subject{Kind: KindPID, PID: self.PID, Before: time.Now().Add(-24 * time.Hour)}, host, Unknown, "has started since"},
		{Process(self.PID, self.Start-1, host), "", Free, "another one has its number"}, // recycled
		{Process(gone.Process.Pid, 0, host), "", Free, "is gone"},
		{Process(self.PID, self.Start, "other"), host, Unknown, "another machine"},
		{Process(gone.Process.Pid, 1, ""), "other", Unknown, "another machine"},
		{Process(self.PID, self.Start, ""), "", Unknown, "not known on which machine"},
		{parse(t, "pid:host-a/"+id), host, Unknown, "another machine"},
		{parse(t, "pid:localhost/"+id), "", Busy, "runs"},
		{parse(t, "pid:"+id+"@1"), host, Free, "not 1"},
	} {
		want(t, one(t, Request{Domain: c.domain}, c.s), c.want, c.says)
	}
}

func TestHere(t *testing.T) {
	own, err := os.Hostname()
	if err != nil {
		t.Skip(err)
	}
	short, _, _ := strings.Cut(own, ".")
	for host, want := range map[string]bool{
		"": true, "-": true, "LocalHost": true, "127.0.0.1": true, own: true, strings.ToUpper(short): true,
		own + "x": false, "me@" + own: false, short + ".elsewhere.example": false,
	} {
		if here(host) != want {
			t.Errorf("%q is this machine: %v", host, !want)
		}
	}
}
