//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bureau/internal/e2e/mockapi"
)

// Two sessions want one file: the second one's edit is denied with who holds
// it, and is made once the first has ended. The same file in another work tree
// is edited with a word about it.
func TestAHeldFileIsNotEdited(t *testing.T) {
	d := NewDesk(t)
	d.install(d.hook())
	git := func(args ...string) {
		d.Run("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...)
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "begin")
	tree := filepath.Join(d.Dir, "tree")
	git("worktree", "add", "-q", tree)
	write := func(file, text string) mockapi.Turn {
		return mockapi.Call("Write", map[string]any{"file_path": file, "content": text})
	}
	held := filepath.Join(d.Project, "held.txt")
	d.API.Add(
		mockapi.Rule{When: mockapi.When{Last: "HOLD"}, Turn: write(held, "first")},
		mockapi.Rule{Name: "holds", When: mockapi.When{Any: "HOLD", NotLast: "tool-ran", Last: "held.txt"}, Turn: bash("while [ ! -e go ]; do sleep 0.1; done; echo tool-ran")},
		mockapi.Rule{When: mockapi.When{Last: "TAKE"}, Turn: write(held, "second")},
		mockapi.Rule{Name: "taken", When: mockapi.When{Any: "TAKE", Last: "tool_result"}, Turn: mockapi.Say("over")},
		mockapi.Rule{When: mockapi.When{Last: "BESIDE"}, Turn: write(filepath.Join(tree, "held.txt"), "beside")},
		mockapi.Rule{Name: "beside", When: mockapi.When{Any: "BESIDE", Last: "tool_result"}, Turn: mockapi.Say("over")},
		mockapi.Rule{When: mockapi.When{Last: "AGAIN"}, Turn: mockapi.Call("Read", map[string]any{"file_path": held})},
		mockapi.Rule{When: mockapi.When{Any: "AGAIN", Last: "first"}, Turn: write(held, "third")},
	)
	d.Extra = []string{"BUREAU_NAME=ana"}
	first := d.Background("HOLD", "--allowedTools", "Write,Bash")
	d.Request(func(r *mockapi.Request) bool { return r.Rule == "holds" })
	d.Extra = []string{"BUREAU_NAME=bob"}
	d.Print("TAKE", "--allowedTools", "Write")
	if last := d.Request(func(r *mockapi.Request) bool { return r.Rule == "taken" }).Last(); !strings.Contains(last, "somebody else holds") || !strings.Contains(last, "bureau ask ana") {
		t.Errorf("bob was told\n%s", last)
	}
	if text, _ := os.ReadFile(held); string(text) != "first" {
		t.Errorf("the file says %q", text)
	}
	d.Print("BESIDE", "--allowedTools", "Write", "--add-dir", tree)
	if last := d.Request(func(r *mockapi.Request) bool { return r.Rule == "beside" }).Last(); !strings.Contains(last, "at the merge") || !strings.Contains(last, "ana") {
		t.Errorf("in the other work tree bob was told\n%s", last)
	}
	if text, _ := os.ReadFile(filepath.Join(tree, "held.txt")); string(text) != "beside" {
		t.Errorf("the other file says %q", text)
	}
	touch(t, d.Project, "go")
	first.Wait(t)
	d.Print("AGAIN", "--allowedTools", "Read,Write")
	if text, _ := os.ReadFile(held); string(text) != "third" {
		t.Errorf("after ana has ended the file says %q", text)
	}
}
