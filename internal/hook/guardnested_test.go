package hook

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"bureau/internal/mirror/mclaude"
	"bureau/internal/office"
)

// inner makes a repository inside the desk's, and gives it as a project.
func (d *desk) inner(name string) office.Project {
	d.t.Helper()
	root := filepath.Join(d.dir, name)
	d.file(filepath.Join(root, "x", "f"), "text\n")
	cmd := exec.Command("git", "init", "-q", root)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		d.t.Fatalf("%v: %s", err, out)
	}
	p, err := d.o.SettleProject(d.ctx, office.Project{Name: filepath.Base(root), Root: root})
	d.must(err)
	return p
}

// TestAClaimCoversProjectsBelow: a claim of a folder protects what lies in a
// submodule or another repository below it, and nothing is claimed on the way
// against it.
func TestAClaimCoversProjectsBelow(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.repo("libs/l")
	foo := d.inner("libs/foo")
	bob, carla := d.started("B"), d.started("C")
	file := filepath.Join(foo.Root, "x", "f")
	v := bob.claims(p, "all libs", "libs")
	carla.edit(file).denied("- libs: "+bob.name()+" since", "claim "+string(v.ID), "all libs")
	carla.edit(filepath.Join(d.dir, "libs", "l")).denied("- libs: " + bob.name())
	if got := d.held(foo); got != "" {
		t.Errorf("held within: %s", got)
	}
	// A session that works in the inner one is told which project it is.
	carla.edit(file, "cwd", foo.Root).denied("libs")
	within := d.client("D")
	within.event("SessionStart", "source", "startup", "cwd", foo.Root).has("Claimed by others in the projects around this one",
		"- libs (in project "+p.Name+"): "+bob.name()+" since").lacks("in this project")
	within.edit(file, "cwd", foo.Root).denied("- libs (in project " + p.Name + "): " + bob.name())

	// The holder needs no claim of its own there, and is let pass unasked.
	bob.edit(file).silent()
	if got := d.held(foo); got != "" {
		t.Errorf("held within: %s", got)
	}
	if bob.looks("PreToolUse", "tool_name", "Edit", "tool_input", map[string]any{"file_path": file}) {
		t.Error("the holder's second edit opened a database")
	}
	if _, err := d.o.Release(d.ctx, bob.caller(), p, []string{string(v.ID)}, "done"); err != nil {
		t.Fatal(err)
	}
	carla.edit(file).silent()
	if got := d.held(foo); got != carla.name()+" x/f" {
		t.Errorf("held within: %s", got)
	}
	bob.edit(file).denied(carla.name())
}

// TestAnAnswerEndsWithAClaimAround: an edit that was allowed a moment ago is
// asked about again when a claim of a project around it changes.
func TestAnAnswerEndsWithAClaimAround(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.repo("libs/l")
	foo := d.inner("libs/foo")
	bob, carla := d.started("B"), d.started("C")
	file := filepath.Join(foo.Root, "x", "f")
	looks := func() bool {
		t.Helper()
		return carla.looks("PreToolUse", "tool_name", "Edit", "tool_input", map[string]any{"file_path": file})
	}
	carla.edit(file).silent()
	see := d.blind()
	if looks() {
		t.Error("a database was opened for what was allowed a moment ago")
	}
	see()
	bob.claims(p, "x", "libs/l")
	see = d.blind()
	if !looks() {
		t.Error("a claim around changed, and nobody looked")
	}
	see()
	carla.edit(file).silent()
}

// TestAProjectAroundByFileAndLock: a folder with a project file of its own, and
// a lock of another program around it.
func TestAProjectAroundByFileAndLock(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.repo("api/a", "web/b")
	d.file(filepath.Join(d.dir, "api", ".bureau", "project"), "our-api\n")
	bob, carla := d.started("B"), d.started("C")
	v := bob.claims(p, "x", ".")
	carla.edit("api/a").denied("- .: " + bob.name())
	if _, err := d.o.Release(d.ctx, bob.caller(), p, []string{string(v.ID)}, "done"); err != nil {
		t.Fatal(err)
	}
	folder, err := mclaude.Create(d.dir)
	d.must(err)
	meta := `{"slug": "theirs", "session_id": "vasya-77", "description": "their work", "files": ["api"]}`
	for name, content := range map[string]string{"theirs.lock": "vasya-77", "theirs.metadata.json": meta, "theirs.heartbeat": ""} {
		d.must(os.WriteFile(filepath.Join(folder.Dir(), name), []byte(content), 0o644))
	}
	carla.edit("api/a").denied("- api: locked by vasya-77", "their work")
	d.must(os.Remove(filepath.Join(folder.Dir(), "theirs.lock")))
	carla.edit("api/a").silent()
	if got := d.held(office.Project{ID: "our-api"}); !strings.HasSuffix(got, " a") {
		t.Errorf("held: %s", got)
	}
}

// TestAProjectThatGetsAnID: an id in a file that comes or goes under a session
// makes another project of the place, and neither lets anybody in.
func TestAProjectThatGetsAnID(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.repo("src/a", "docs/d")
	bob, carla := d.started("B"), d.started("C")
	bob.claims(p, "parser", "src")
	carla.edit("src/a").denied("- src: " + bob.name())
	id := filepath.Join(d.dir, ".bureau", "project")
	d.file(id, "our-api\n")
	carla.edit("src/a").denied("- src: "+bob.name(), "parser")
	bob.edit("src/a").silent() // it holds it, and needs no claim of its own
	see := d.blind()
	if bob.looks("PreToolUse", "tool_name", "Edit", "tool_input", map[string]any{"file_path": filepath.Join(d.dir, "src", "a")}) {
		t.Error("the holder's second edit opened a database")
	}
	see()
	carla.edit("docs/d").silent()
	if err := os.Remove(id); err != nil {
		t.Fatal(err)
	}
	bob.edit("docs/d").denied("- docs/d: " + carla.name())
}
