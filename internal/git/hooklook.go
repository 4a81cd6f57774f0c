package git

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// HookState says how a hook of ours stands.
type HookState string

// The states.
const (
	HookAbsent    HookState = "absent"    // no hook of ours; another one may be there
	HookInstalled HookState = "installed" // git runs it
	HookOff       HookState = "off"       // it is there, but not executable, so git does not run it
	HookEdited    HookState = "edited"    // somebody changed our script
	HookReplaced  HookState = "replaced"  // ours is gone, what it kept is still there
	HookMoved     HookState = "moved"     // another tool put its hook there and moved ours aside
)

// Hook is what is known of a hook.
type Hook struct {
	Name  string    `json:"name"`
	Path  string    `json:"path"` // where git looks for it
	State HookState `json:"state"`
	// Kept is where the hook from before ours is; "" if there was none.
	Kept string `json:"kept,omitempty"`
	// KeptRuns says that it is executable: git would have run it, so we do.
	KeptRuns bool `json:"kept_runs,omitempty"`
	// Manager is the tool that wrote the other hook (the kept one, or the one
	// in the place of ours): husky, lefthook, pre-commit; "" if unknown.
	Manager string `json:"manager,omitempty"`
	// Program is what our script runs; Missing says that it is not there or
	// not executable.
	Program string `json:"program,omitempty"`
	Missing bool   `json:"missing,omitempty"`
	// Shared says why the hooks folder is not this repository's alone.
	Shared string `json:"shared,omitempty"`
	// Note is what a person should know or do; often empty.
	Note    string `json:"note,omitempty"`
	Changed bool   `json:"changed"` // by the call that gave this
}

// hookLook is one look at a hook's files.
type hookLook struct {
	Hook
	present, kept fs.FileInfo // nil if there is none; links not followed
	content       []byte      // of the present one, up to maxHook
	script        hookScript  // if it is ours
	aside         []string    // copies of ours that another tool made
}

// maxHook bounds what is read of a hook, in bytes. What is longer is no
// script of a tool that we know.
const maxHook = 1 << 20

// asideSuffixes are where other tools move a hook that they find: .legacy the
// pre-commit framework, which runs it; .old lefthook, which does not.
var asideSuffixes = [...]string{".legacy", ".old"}

func (l *hookLook) ours() bool { return l.present != nil && l.script.state != foreignScript }

func (at *hookPlace) look() hookLook {
	l := hookLook{Hook: Hook{Name: at.name, Path: at.path, State: HookAbsent, Shared: at.shared, Note: at.note}}
	l.present, l.content = readHook(at.path)
	var kept []byte
	l.kept, kept = readHook(at.kept)
	if l.present != nil && l.present.Mode().IsRegular() {
		l.script = parseHook(l.content)
	}
	for _, suffix := range asideSuffixes {
		st, content := readHook(at.path + suffix)
		if st != nil && st.Mode().IsRegular() && parseHook(content).state == ownScript {
			l.aside = append(l.aside, at.path+suffix)
		}
	}
	if l.kept != nil {
		l.Kept = at.kept
		l.KeptRuns = executable(at.kept)
		l.Manager = hookManager(kept)
	}
	switch {
	case l.ours():
		l.Program = l.script.program
		l.Missing = !executable(l.Program)
		l.State = HookInstalled
		if l.script.state == editedScript {
			l.State = HookEdited
			l.Note = "the script was changed by hand; bureau neither updates nor removes it"
		} else if !executable(at.path) {
			l.State = HookOff
			l.Note = "the script is not executable, so git does not run it; install again"
		} else if l.Missing {
			l.Note = "the program is gone: without a bureau on PATH commits go on unguarded; install again"
		}
	case len(l.aside) > 0:
		l.State = HookMoved
		l.Manager = hookManager(l.content)
		l.Note = "another tool put its own hook there and moved bureau's to " + filepath.Base(l.aside[0]) + "; install again"
	case l.kept != nil && l.present != nil:
		l.State = HookReplaced
		l.Manager = hookManager(l.content)
		l.Note = "another tool put its own hook in the place of bureau's, so nothing is guarded; install again"
	case l.kept != nil:
		l.State = HookReplaced
		l.Note = "bureau's hook was deleted and the one from before it is not run; install again, or remove to put it back"
	default:
		l.Manager = hookManager(l.content)
		l.Note = "" // nothing of ours is there to know about
	}
	return l
}

// superseded reports whether the kept hook is of no more use beside the
// present one of another tool: the same file, or what the same tool wrote
// before.
func (l *hookLook) superseded() bool {
	st, kept := readHook(l.Kept)
	if st == nil || l.present == nil || st.Mode() != l.present.Mode() {
		return false
	}
	if st.Mode()&fs.ModeSymlink != 0 {
		a, errA := os.Readlink(l.Kept)
		b, errB := os.Readlink(l.Path)
		return errA == nil && errB == nil && a == b
	}
	if os.SameFile(st, l.present) {
		return true
	}
	if st.Size() == l.present.Size() && st.Size() <= maxHook && bytes.Equal(kept, l.content) {
		return true
	}
	by := hookManager(kept)
	return by != "" && by == hookManager(l.content)
}

// readHook gives what is at a path, and its first bytes if that is a file or a
// link to one.
func readHook(path string) (fs.FileInfo, []byte) {
	st, err := os.Lstat(path)
	if err != nil {
		return nil, nil
	}
	if to, err := os.Stat(path); err != nil || !to.Mode().IsRegular() {
		return st, nil // opening a pipe would wait
	}
	f, err := os.Open(path)
	if err != nil {
		return st, nil
	}
	defer f.Close()
	content, _ := io.ReadAll(io.LimitReader(f, maxHook))
	return st, content
}
