package proc

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"testing"
)

// TestMain lets the test binary play the child: it tells what it sees, or just
// waits for the end of its input.
func TestMain(m *testing.M) {
	switch os.Getenv("PROC_TEST_CHILD") {
	case "wait":
		os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	case "host":
		os.Stdout.WriteString(Host())
		os.Exit(0)
	case "tell":
		tell()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// view is what a child process tells about itself.
type view struct {
	Self      ID
	Alive     bool
	Ancestors []ID
	Host      string
	Terminal  ID
	HasOne    bool
}

func tell() {
	v := view{Self: Self(), Alive: Self().Alive(), Ancestors: Ancestors(20), Host: Host()}
	v.Terminal, v.HasOne = Terminal()
	// The answer goes to a descriptor of its own: the others may be a terminal.
	json.NewEncoder(os.NewFile(3, "answer")).Encode(v)
}

// ask starts a child as it is set up and reads what it tells.
func ask(t *testing.T, cmd *exec.Cmd) (view, int, error) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd.ExtraFiles = []*os.File{w}
	err = cmd.Start()
	w.Close()
	if err != nil {
		return view{}, 0, err
	}
	var v view
	if err := json.NewDecoder(r).Decode(&v); err != nil {
		t.Errorf("the child said nothing: %v", err)
	}
	return v, cmd.Process.Pid, cmd.Wait()
}

func child(t *testing.T, role string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "PROC_TEST_CHILD="+role)
	return cmd
}

func TestSelfIsAliveAndFound(t *testing.T) {
	self := Self()
	if self.PID != os.Getpid() || self.Start == 0 {
		t.Fatalf("Self() = %+v", self)
	}
	if got, ok := Of(self.PID); !ok || got != self {
		t.Errorf("Of(%d) = %+v %v, want %+v", self.PID, got, ok, self)
	}
	if !self.Alive() {
		t.Error("this process counts as dead")
	}
	if (ID{PID: self.PID, Start: self.Start - 1}).Alive() {
		t.Error("another start with the same id counts as alive")
	}
	if !(ID{PID: self.PID}).Alive() {
		t.Error("an unknown start counts as dead")
	}
}

func TestNobody(t *testing.T) {
	for _, pid := range []int{-1, 0, 1 << 30} {
		if id, ok := Of(pid); ok {
			t.Errorf("Of(%d) = %+v", pid, id)
		}
		if (ID{PID: pid, Start: 1}).Alive() {
			t.Errorf("process %d is alive", pid)
		}
		if p, ok := Parent(pid); ok {
			t.Errorf("Parent(%d) = %d", pid, p)
		}
	}
}

func TestDeathOfAChild(t *testing.T) {
	cmd := child(t, "wait")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	id, ok := Of(cmd.Process.Pid)
	if !ok || !id.Alive() {
		t.Fatalf("a running child: %+v %v", id, ok)
	}
	if p, ok := Parent(id.PID); !ok || p != os.Getpid() {
		t.Errorf("Parent = %d %v, want %d", p, ok, os.Getpid())
	}
	stdin.Close()
	waitZombie(t, id)
	if id.Alive() {
		t.Error("a zombie counts as alive")
	}
	if _, ok := Of(id.PID); ok {
		t.Error("a zombie is found")
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if id.Alive() {
		t.Error("a collected child counts as alive")
	}
}

func TestAncestors(t *testing.T) {
	line := Ancestors(20)
	if len(line) == 0 || line[0].PID != os.Getppid() {
		t.Fatalf("Ancestors(20) = %+v, want parent %d first", line, os.Getppid())
	}
	for _, id := range line {
		if !id.Alive() {
			t.Errorf("ancestor %+v is not alive", id)
		}
	}
	if got := Ancestors(1); len(got) != 1 || got[0] != line[0] {
		t.Errorf("Ancestors(1) = %+v", got)
	}
	if got := Ancestors(0); len(got) != 0 {
		t.Errorf("Ancestors(0) = %+v", got)
	}
}

func TestAncestorsOfOddTables(t *testing.T) {
	tests := map[string]struct {
		table map[int]info
		want  []int
	}{
		"a line":          {map[int]info{9: {90, 5, false}, 5: {50, 1, false}, 1: {1, 0, false}}, []int{5, 1}},
		"a loop":          {map[int]info{9: {90, 5, false}, 5: {50, 4, false}, 4: {50, 9, false}}, []int{5, 4}},
		"its own parent":  {map[int]info{9: {90, 9, false}}, nil},
		"a parent gone":   {map[int]info{9: {90, 5, false}}, nil},
		"a zombie":        {map[int]info{9: {90, 5, false}, 5: {50, 1, true}, 1: {1, 0, false}}, nil},
		"a reused id":     {map[int]info{9: {90, 5, false}, 5: {91, 1, false}, 1: {1, 0, false}}, nil},
		"unknown starts":  {map[int]info{9: {0, 5, false}, 5: {0, 1, false}, 1: {0, 0, false}}, []int{5, 1}},
		"nobody to start": {nil, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := ancestors(9, 10, func(pid int) (info, bool) { i, ok := tt.table[pid]; return i, ok })
			if len(got) != len(tt.want) {
				t.Fatalf("got %+v, want %v", got, tt.want)
			}
			for i := range got {
				if got[i].PID != tt.want[i] {
					t.Errorf("got %+v, want %v", got, tt.want)
				}
			}
		})
	}
}

func TestHostIsSharedByProcesses(t *testing.T) {
	if !regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(Host()) {
		t.Fatalf("Host() = %q", Host())
	}
	out, err := child(t, "host").Output()
	if err != nil {
		t.Fatal(err)
	}
	if string(out) != Host() {
		t.Errorf("another process says %q, this one %q", out, Host())
	}
}

func TestHashPartsTellsPartsApart(t *testing.T) {
	all := map[string][]string{}
	for _, parts := range [][]string{{}, {""}, {"a", ""}, {"", "a"}, {"a"}, {"a\n1:b"}, {"a", "b"}} {
		h := hashParts(parts)
		if other, taken := all[h]; taken {
			t.Errorf("%q and %q share %s", parts, other, h)
		}
		all[h] = parts
	}
}

func BenchmarkAlive(b *testing.B) {
	id := Self()
	for b.Loop() {
		if !id.Alive() {
			b.Fatal("dead")
		}
	}
}

func BenchmarkAncestors(b *testing.B) {
	for b.Loop() {
		Ancestors(20)
	}
}

func BenchmarkHostParts(b *testing.B) {
	for b.Loop() {
		hashParts(hostParts())
	}
}
