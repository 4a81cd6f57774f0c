package git

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bureau/internal/fault"
)

// keptSuffix names the folder of the hooks that were there before ours, after
// the hooks folder; in format 1 the hook itself.
const keptSuffix = ".before-bureau"

// hookPlace is where git looks for one hook of a repository.
type hookPlace struct {
	common string // the folder that all work trees of the repository share
	name   string
	folder string // absolute; where git would look without a chain of ours
	path   string // folder/name
	kept   string
	// keptOld is where format 1 kept it.
	keptOld string
	shared  string // why the folder is not this repository's alone; "" if it is
	note    string
	asked   bool   // bureau.guard names the hook
	chain   *chain // nil where ours is written into folder itself
	// changed says whether anything was written.
	changed bool
}

// settle fills in the places of a hook in a folder.
func (at *hookPlace) settle(folder string) {
	at.folder, at.path = folder, filepath.Join(folder, at.name)
	at.kept = filepath.Join(resolved(folder)+keptSuffix, at.name)
	at.keptOld = at.path + keptSuffix
}

// findHook asks git. The hooks folder is that of core.hooksPath, where a
// relative path counts from the top of the work tree (of a bare repository:
// from itself), else "hooks" in the folder that all work trees share. Where git
// runs no hooks it gives the repository all the same, with the error.
func findHook(ctx context.Context, dir, name string) (*hookPlace, error) {
	env := Environ(os.Environ())
	common, err := revParse(ctx, dir, env, "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return nil, explain(err, "find the hooks", dir)
	}
	top, err := revParse(ctx, dir, env, "--path-format=absolute", "--show-toplevel")
	if err != nil {
		if f, ok := err.(*failed); !ok || !strings.Contains(f.stderr, "must be run in a work tree") {
			return nil, explain(err, "find the hooks", dir)
		}
		top = "" // bare, or inside of .git
	}
	scope, value, err := hooksPath(ctx, dir, env)
	if err != nil {
		return nil, explain(err, "read core.hooksPath", dir)
	}
	at := &hookPlace{name: name, common: common, asked: slices.Contains(askedIn(readConfig(configOf(common))), name)}
	ours := chainFolder(common)
	led := scope != "" && filepath.IsAbs(value) && SameFolder(value, ours)
	if led {
		// Git is led to us; what would it find else?
		if scope, value, err = hooksPath(ctx, dir, env, "--file", configOf(common)); err != nil {
			return nil, explain(err, "read core.hooksPath", dir)
		}
		if scope != "" && filepath.IsAbs(value) && SameFolder(value, ours) {
			scope = "" // somebody wrote it down
		}
	}
	folder := filepath.Join(common, "hooks")
	switch {
	case scope == "":
	case value == "" && led:
	case value == "":
		return at, fault.New(fault.Conflict, "core.hooksPath is set to nothing, so git runs no hooks here").
			WithHint("git config --unset core.hooksPath")
	case filepath.IsAbs(value):
		folder = filepath.Clean(value)
	case top != "":
		folder = filepath.Join(top, value)
	default:
		folder = filepath.Join(common, value)
	}
	if st, err := os.Stat(folder); err == nil && !st.IsDir() && !led {
		return at, fault.New(fault.Conflict, "the hooks folder %s is no folder, so git runs no hooks here", folder).
			WithHint("see where it is set: git config --show-origin --get core.hooksPath")
	}
	at.settle(folder)
	inTop, inCommon := top != "" && within(at.folder, top), within(at.folder, common)
	switch {
	case led:
	case scope == "global" || scope == "system":
		at.shared = "core.hooksPath is set in the " + scope + " configuration of git"
	case !inTop && !inCommon:
		at.shared = "it lies outside of the repository"
	}
	if led || scope == "local" && inTop && !inCommon {
		at.chain = &chain{folder: ours, path: filepath.Join(ours, name), led: led}
		return at, nil
	}
	if inTop && !inCommon {
		if _, err := run(ctx, top, env, nil, "check-ignore", "--quiet", "--", at.path); exitCode(err) == 1 {
			at.note = "the hooks folder is part of the work tree: do not commit bureau's hook, which names a program of this machine"
		}
	}
	return at, nil
}

// hooksPath gives core.hooksPath and the scope that it is set in; no scope
// means that it is not set. from names one file, if not all are meant.
func hooksPath(ctx context.Context, dir string, env []string, from ...string) (scope, value string, err error) {
	args := append([]string{"config"}, from...)
	out, err := run(ctx, dir, env, nil, append(args, "--show-scope", "-z", "--type=path", "--get", "core.hooksPath")...)
	if err != nil {
		if exitCode(err) == 1 {
			return "", "", nil
		}
		return "", "", err
	}
	scope, value, _ = strings.Cut(strings.TrimSuffix(out, "\x00"), "\x00")
	return scope, filepath.FromSlash(value), nil
}

// within reports whether path lies in folder, links resolved as far as it
// exists.
func within(path, folder string) bool {
	folder = resolved(folder)
	rel, err := filepath.Rel(folder, resolved(path))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// resolved gives a path with the links in its existing part followed.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(resolved(parent), filepath.Base(path))
}

// SameFolder reports whether two paths lead to one folder, through whatever
// links. Of what is not there the existing part is compared, and the names.
func SameFolder(a, b string) bool {
	if a == b {
		return true
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	if errX == nil && errY == nil {
		return os.SameFile(x, y)
	}
	return resolved(filepath.Clean(a)) == resolved(filepath.Clean(b))
}
