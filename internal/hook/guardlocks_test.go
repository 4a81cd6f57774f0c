package hook

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bureau/internal/mirror/locks"
	"bureau/internal/mirror/mclaude"
	"bureau/internal/office"
)

// mclaudeLock writes a lock as a session of mclaude does that works in a folder.
func (d *desk) mclaudeLock(dir, slug string, files ...string) {
	d.t.Helper()
	now := time.Now()
	meta, err := json.Marshal(map[string]any{
		"slug": slug, "session_id": "ani-1234567", "claimed_at": now.Format("2006-01-02T15:04:05-0700"), "claimed_at_epoch": float64(now.UnixMicro()) / 1e6,
		"working_directory": dir, "description": "their work", "files": files, "worktree": nil, "branch": nil,
	})
	d.must(err)
	for name, content := range map[string][]byte{slug + ".lock": []byte("ani-1234567"), slug + ".metadata.json": meta, slug + ".heartbeat": nil} {
		d.file(filepath.Join(mclaude.Folder(dir), name), string(content))
	}
}

// settle makes the lock folder look as if nothing had changed in it for long.
func (d *desk) settle(dir string) {
	d.t.Helper()
	long := time.Now().Add(-time.Hour)
	d.must(os.Chtimes(mclaude.Folder(dir), long, long))
}

// mirrored makes a claim of the client's session, and its lock file.
func (c *client) mirrored(p office.Project, intent, path string) {
	c.d.t.Helper()
	o, err := office.Open(c.d.ctx, office.Options{Home: c.d.home, Now: c.d.now, Mirror: locks.Mirror()})
	c.d.must(err)
	defer func(was *office.Office) { c.d.o = was; c.d.must(o.Close()) }(c.d.o)
	c.d.o = o
	c.claims(p, intent, path)
}

// TestALockOnWhatIsBeingEdited: another program's lock on a file that the
// session is at is said at every edit, also where the edit was allowed a moment
// before; and the other sees by a lock file what the session edits.
func TestALockOnWhatIsBeingEdited(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.repo("a.go", "b.go")
	_, err := mclaude.Create(d.dir)
	d.must(err)
	c := d.started("S1")
	c.edit("a.go").silent()
	slug := "edits-of-" + mclaude.Slug(c.name())
	meta, err := os.ReadFile(filepath.Join(mclaude.Folder(d.dir), slug+".metadata.json"))
	if err != nil || !strings.Contains(string(meta), `"a.go"`) {
		t.Fatalf("the other program sees %s, %v", meta, err)
	}
	// The answer is kept once the folder is quiet.
	d.settle(d.dir)
	c.edit("a.go").silent()
	looks := func() bool {
		see := d.blind()
		defer see()
		return c.looks("PreToolUse", "tool_name", "Edit", "tool_input", map[string]any{"file_path": "a.go"})
	}
	if looks() {
		t.Error("a database was opened for what was allowed a moment ago")
	}
	d.mclaudeLock(d.dir, "theirs", "a.go")
	if !looks() {
		t.Error("a lock was made, and nobody looked")
	}
	for range 2 {
		c.edit("a.go").has("another program has a lock on the same", "a.go: locked by ani-1234567", "in mclaude (lock theirs)")
		d.settle(d.dir)
	}
	c.edit("b.go").silent()
}

// TestALockThatWasForced: a session whose lock file mclaude removed, to lock the
// same, is refused at its next edit and told why.
func TestALockThatWasForced(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.repo("docs/d.md")
	_, err := mclaude.Create(d.dir)
	d.must(err)
	c := d.started("S1")
	c.mirrored(p, "sue docs", "docs")
	d.settle(d.dir)
	c.edit("docs/d.md").silent()
	for _, ext := range []string{".lock", ".metadata.json", ".heartbeat"} {
		d.must(os.Remove(filepath.Join(mclaude.Folder(d.dir), "sue-docs"+ext)))
	}
	d.mclaudeLock(d.dir, "sue-docs", "docs/d.md")
	c.edit("docs/d.md").denied("docs/d.md: locked by ani-1234567", "in mclaude (lock sue-docs)")
	c.event("UserPromptSubmit", "prompt", "go on").has("you lost what you had claimed", "its lock file was removed, and ani-1234567 locked the same")
	if strings.Contains(d.held(p), "sue docs") {
		t.Errorf("still held: %s", d.held(p))
	}
}

// TestALockInALinkedWorkTree: a session of mclaude that works in a linked work
// tree has its locks there, and they count there.
func TestALockInALinkedWorkTree(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.repo("a.go", "b.go")
	tree := filepath.Join(filepath.Dir(d.dir), "w2")
	d.git("worktree", "add", "-q", "-b", "w2", tree)
	d.mclaudeLock(tree, "fixw", "a.go")
	c := d.started("S1")
	c.edit(filepath.Join(tree, "a.go")).denied("a.go: locked by ani-1234567", "in mclaude (lock fixw)")
	c.edit(filepath.Join(tree, "b.go")).silent()
	c.edit(filepath.Join(d.dir, "a.go")).has("will meet another's work at the merge", "in the work tree "+tree)
}
