package proc

import (
	"os/exec"
	"testing"
)

// TestStarter: who is behind shells started us.
func TestStarter(t *testing.T) {
	run := func(name string, args ...string) ID {
		t.Helper()
		cmd := exec.Command(name, args...)
		in, err := cmd.StdinPipe() // kept open, so that it stays
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() { in.Close(); cmd.Wait() })
		id, ok := Of(cmd.Process.Pid)
		if !ok {
			t.Fatal("it is gone")
		}
		return id
	}
	shell, client := run("sh"), run("cat")
	for _, c := range []struct {
		line  []ID
		want  ID
		above int
		ok    bool
	}{
		{nil, ID{}, 0, false},
		{[]ID{client, shell}, client, 1, true},
		{[]ID{shell, shell, client, shell}, client, 1, true},
		{[]ID{shell}, shell, 0, true},
	} {
		if got, above, ok := Starter(c.line); got != c.want || len(above) != c.above || ok != c.ok {
			t.Errorf("%v: %v, %v, %v", c.line, got, above, ok)
		}
	}
}
