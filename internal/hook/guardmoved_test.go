package hook

import (
	"path/filepath"
	"runtime"
	"testing"
)

// TestAWorkTreeThatIsMoved: what edits claimed in a work tree goes along with it,
// when the next edit comes from the new place.
func TestAWorkTreeThatIsMoved(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("folders have no numbers here")
	}
	d := newDesk(t)
	d.repo("src/a")
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(tree, file string) string { return filepath.Join(base, tree, file) }
	d.git("worktree", "add", "-q", "--detach", filepath.Join(base, "w2"))
	bob, carla := d.started("B"), d.started("C")
	bob.edit(at("w2", "src/a")).silent()
	carla.edit(at("w2", "libs/x")).silent()

	d.git("worktree", "move", filepath.Join(base, "w2"), filepath.Join(base, "w3"))
	carla.edit(at("w3", "src/a")).denied("- src/a: " + bob.name())
	bob.edit(at("w3", "src/a")).silent()
	bob.edit(at("w3", "libs/x")).denied("- libs/x: " + carla.name())

	// What is made at the old place is another one.
	d.git("worktree", "move", filepath.Join(base, "w3"), filepath.Join(base, "w4"))
	d.git("worktree", "add", "-q", "--detach", filepath.Join(base, "w3"))
	carla.edit(at("w4", "src/a")).denied("- src/a: " + bob.name())
	carla.edit(at("w3", "src/a")).has("will meet another's work at the merge")
}
