package git

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// HookState says how a hook of ours stands.
type HookState string

// The states.
const (
	HookAbsent    HookState = "absent"    // no hook of ours; another one may be there
	HookInstalled HookState = "installed" // git runs it
	HookOff       HookState = "off"       // it is there, but not executable, so git does not run it
	HookEdited    HookState = "edited"    // somebody changed our script
	HookReplaced  HookState = "replaced"  // it was asked for, or keeps something, and is gone
	HookMoved     HookState = "moved"     // another tool put its hook there and moved ours aside
)

// Hook is what is known of a hook.
type Hook struct {
	Name  string    `json:"name"`
	Path  string    `json:"path"` // where git looks for it
	State HookState `json:"state"`
	// Runs says that git runs ours: directly, or by a hook that runs it.
	Runs bool `json:"runs"`
	// Kept is where the hook from before ours is; "" if there was none. In a
	// folder of core.hooksPath it is where it always was.
	Kept string `json:"kept,omitempty"`
	// KeptRuns says that it is run after ours: ours is run, and it is
	// executable, so that git would have run it.
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
	// Lapse says why git does not run ours although it was asked for; else
	// it is empty.
	Lapse string `json:"lapse,omitempty"`
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
	// twoKept says that both formats of ours have kept a hook, and not the
	// same one.
	twoKept bool
}

// maxHook bounds what is read of a hook, in bytes. What is longer is no
// script of a tool that we know.
const maxHook = 1 << 20

// asideSuffixes are where other tools move a hook that they find: .legacy the
// pre-commit framework, which runs it; .old lefthook, which does not.
var asideSuffixes = [...]string{legacy, ".old"}

const legacy = ".legacy"

func (l *hookLook) ours() bool { return l.present != nil && l.script.state != foreignScript }

func (at *hookPlace) look() hookLook {
	if at.chain != nil && at.chain.led {
		return at.lookChain()
	}
	l := hookLook{Hook: Hook{Name: at.name, Path: at.path, State: HookAbsent, Shared: at.shared, Note: at.note}}
	l.present, l.content = readHook(at.path)
	if l.present != nil && l.present.Mode().IsRegular() {
		l.script = parseHook(l.content)
	}
	for _, suffix := range asideSuffixes {
		if ownFile(at.path + suffix) {
			l.aside = append(l.aside, at.path+suffix)
		}
	}
	kept := at.lookKept(&l)
	switch {
	case l.ours():
		l.lookOurs(at.path)
	case len(l.aside) > 0:
		l.State = HookMoved
		l.Manager = hookManager(l.content)
		// The framework runs what it moved aside.
		l.Runs = l.Manager == framework && strings.HasSuffix(l.aside[0], legacy) && executable(l.aside[0]) && executable(at.path)
		l.KeptRuns = l.Runs && hookManager(kept) != framework && executable(l.Kept)
		why := tool(l.Manager) + " put its own hook there and moved bureau's to " + filepath.Base(l.aside[0])
		if l.Note = why + "; install again"; !l.Runs {
			l.Lapse = why
		}
	case l.present != nil && (l.kept != nil || at.asked):
		l.Manager = hookManager(l.content)
		l.lapse(tool(l.Manager) + " put its own hook in the place of bureau's")
	case l.kept != nil:
		l.lapse("bureau's hook was deleted, and the one from before it is not run")
		l.Note += ", or remove to put it back"
	case at.asked:
		l.lapse("bureau's hook is not where git looks for it: it was deleted, or core.hooksPath was changed")
	default:
		l.Manager = hookManager(l.content)
		l.Note = "" // nothing of ours is there to know about
	}
	return l
}

// lookKept finds what either format of ours has kept, and gives its content.
func (at *hookPlace) lookKept(l *hookLook) (content []byte) {
	l.kept, content = readHook(at.kept)
	old, oldContent := readHook(at.keptOld)
	switch {
	case old == nil, old.IsDir():
	case ownFile(at.keptOld): // an older bureau took this one's script for another tool's
		l.aside = append(l.aside, at.keptOld)
	case l.kept == nil:
		l.Kept, l.kept, content = at.keptOld, old, oldContent
	default:
		l.twoKept = !sameFile(at.kept, at.keptOld)
	}
	if l.kept == nil {
		return nil
	}
	if l.Kept == "" {
		l.Kept = at.kept
	}
	l.Manager = hookManager(content)
	return content
}

// lookOurs says how a script of ours stands, which git looks for at path.
func (l *hookLook) lookOurs(path string) {
	l.Program = l.script.program
	l.Missing = !executable(l.Program)
	l.State = HookInstalled
	l.Runs = executable(path)
	l.KeptRuns = l.Runs && l.Kept != "" && executable(l.Kept)
	switch {
	case l.script.state == editedScript:
		l.State = HookEdited
		l.Note = "the script was changed by hand; bureau neither updates nor removes it"
	case !l.Runs:
		l.State = HookOff
		l.lapse("the script is not executable, so git does not run it")
	case l.Missing:
		l.Note = "the program is gone: without a bureau on PATH commits go on unguarded; install again"
	}
}

// lapse says why nothing is guarded.
func (l *hookLook) lapse(why string) {
	if l.State == HookAbsent {
		l.State = HookReplaced
	}
	l.Lapse, l.Note = why, why+", so nothing is guarded; install again"
}

// tool names who wrote another hook.
func tool(manager string) string {
	if manager == "" {
		return "another tool"
	}
	return manager
}

// lookChain looks at a hook in the folder that we led git to.
func (at *hookPlace) lookChain() hookLook {
	l := hookLook{Hook: Hook{Name: at.name, Path: at.chain.path, State: HookAbsent}}
	if st, content := readHook(at.path); st != nil && parseHook(content).state == foreignScript {
		l.Kept, l.Manager = at.path, hookManager(content)
	}
	l.present, l.content = readHook(at.chain.path)
	if l.present != nil && l.present.Mode().IsRegular() {
		l.script = parseHook(l.content)
	}
	switch {
	case l.ours() && !l.script.passed:
		l.lookOurs(at.chain.path)
	case at.asked:
		l.lapse("bureau's hook is not where git looks for it")
	default:
		l.Kept = "" // it is just a hook
	}
	return l
}

// ownFile reports whether a file is a script of ours, as we wrote it.
func ownFile(path string) bool {
	st, content := readHook(path)
	return st != nil && st.Mode().IsRegular() && parseHook(content).state == ownScript
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
