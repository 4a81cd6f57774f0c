package hook

import (
	"path/filepath"
	"testing"
)

// TestFolders: the hook reports where its session works, with each call of our
// tools and when that changes, so that the tools read relative paths as the
// session's shell does.
func TestFolders(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	now := func(want string) {
		t.Helper()
		folder, err := d.o.FolderNow(d.ctx, c.caller())
		d.must(err)
		if folder != want {
			t.Errorf("the session is in %q, want %q", folder, want)
		}
	}
	sub, far := filepath.Join(d.dir, "sub"), filepath.Join(d.dir, "far")
	now(d.dir)
	c.event("CwdChanged", "cwd", sub, "old_cwd", d.dir, "new_cwd", sub).silent()
	now(sub)
	// The folder that is new counts, whatever the event's own is.
	c.event("CwdChanged", "cwd", sub, "old_cwd", sub, "new_cwd", far).silent()
	now(far)
	c.event("CwdChanged", "cwd", sub, "new_cwd", nil).silent()
	now(sub)
	c.event("CwdChanged", "cwd", "not/absolute", "new_cwd", nil).silent()
	now(sub)
	for i, sender := range [][]any{{}, {"agent_id", "a1", "agent_type", "fixer"}} {
		id := "toolu_" + itoa(i)
		c.event("PreToolUse", append([]any{"tool_name", "mcp__bureau__claim", "tool_input", map[string]any{}, "tool_use_id", id, "cwd", far}, sender...)...).silent()
		call, found, err := d.o.Announced(d.ctx, id)
		d.must(err)
		if !found || call.Folder != far {
			t.Errorf("%v %+v", found, call)
		}
	}
	now(far)
	// Who takes the conversation up elsewhere begins in a folder of its own.
	again := d.client("S1")
	again.event("SessionStart", "source", "resume", "cwd", d.dir)
	c = again
	now(d.dir)
}
