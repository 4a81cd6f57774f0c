package hook

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bureau/internal/office"
)

// meeting opens a room with a transcript in the desk's folder.
func (d *desk) meeting(name string, private bool, members ...string) office.RoomView {
	d.t.Helper()
	op := office.Opening{Name: name, Topic: "t", Transcript: &office.TranscriptOptions{Root: d.dir, Path: name + ".md", Private: private}}
	for _, m := range members {
		op.Members = append(op.Members, office.Invitation{Handle: m})
	}
	r, err := d.o.RoomOpen(d.ctx, d.ana, op)
	d.must(err)
	return r.Room
}

// TestATranscriptWithWhispers is not for agent sessions, however they ask for
// the file itself; everything else is read without a database.
func TestATranscriptWithWhispers(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.meeting("secret", true, "ana", "bob")
	d.meeting("public", false, "ana", "bob")
	d.file(filepath.Join(d.dir, "notes.md"), "<!-- bureau:transcript {} -->\n")
	d.must(os.Symlink("secret.md", filepath.Join(d.dir, "link.md")))
	secret := filepath.Join(d.dir, "secret.md")
	c := d.started("S1")
	c.env["HOME"] = d.dir
	d.blind()
	denied := func(tool string, input any) {
		t.Helper()
		s := c.event("PreToolUse", "tool_name", tool, "tool_use_id", "t1", "tool_input", input)
		if !strings.Contains(s.Denied, "whispers") || !strings.Contains(s.Denied, "bureau room history") {
			t.Errorf("%s %v: %q", tool, input, s.out)
		}
	}
	for tool, key := range map[string]string{
		"Read": "file_path", "NotebookRead": "notebook_path", "Grep": "path", "read_file": "absolute_path", "view": "path",
		"mcp__filesystem__read_text_file": "path", "Edit": "file_path", "Write": "file_path",
	} {
		denied(tool, map[string]any{key: secret, "pattern": "x"})
	}
	for _, path := range []string{"secret.md", "./x/../secret.md", "link.md", filepath.Join(d.dir, "link.md"), "~/secret.md"} {
		denied("Read", map[string]any{"file_path": path})
	}
	denied("str_replace_editor", map[string]any{"command": "view", "path": secret})
	denied("Grep", map[string]any{"pattern": "x", "path": d.dir, "glob": "secret.md"})
	denied("Grep", map[string]any{"pattern": "x", "glob": "secret.md"})
	denied("read_many_files", map[string]any{"paths": []string{"notes.md", secret}})
	denied("apply_patch", map[string]any{"input": "*** Begin Patch\n*** Update File: secret.md\n@@\n*** End Patch"})
	c.event("PreToolUse", "tool_name", "Read", "agent_id", "a1", "tool_input", map[string]any{"file_path": "notes.md"}).silent()
	for _, path := range []string{"public.md", "notes.md", "nothing.md", d.dir, ""} {
		if c.looks("PreToolUse", "tool_name", "Read", "tool_input", map[string]any{"file_path": path}) {
			t.Errorf("reading %q opened a database", path)
		}
	}
	for _, input := range []any{nil, "x", []int{1}, map[string]any{"file_path": 7, "glob": map[string]any{}}, map[string]any{"pattern": "x", "path": d.dir, "glob": "*.md"}} {
		if c.looks("PreToolUse", "tool_name", "Grep", "tool_input", input) {
			t.Errorf("%v opened a database", input)
		}
	}
	for _, command := range []any{
		"cat secret.md", "cat " + secret, "head -3 ./x/../secret.md | wc", "cat <secret.md", "cp 'secret.md' /tmp/x", `grep x "$HOME/y" "secret.md"`,
		"git show HEAD:secret.md", "cat ~/secret.md", "true;cat link.md", `cat s\ecret.md`, []string{"bash", "-lc", "cat secret.md"},
	} {
		denied("Bash", map[string]any{"command": command})
	}
	for _, command := range []any{
		"cat public.md notes.md", "go test ./...", "ls " + d.dir, "echo secret", "", nil, 7, "cat '" + strings.Repeat("a/", 5000), strings.Repeat("x.y ", 5000) + secret,
	} {
		if c.looks("PreToolUse", "tool_name", "Bash", "tool_input", map[string]any{"command": command}) {
			t.Errorf("the command %.40v opened a database", command)
		}
	}
	c.env[guardVariable] = guardOff
	if c.looks("PreToolUse", "tool_name", "Read", "tool_input", map[string]any{"file_path": secret}) {
		t.Error("the person's word counts")
	}
}
