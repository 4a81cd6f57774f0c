package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"bureau/internal/fault"
)

// keptSuffix names the hook that was there before ours.
const keptSuffix = ".before-bureau"

// hookPlace is where git looks for one hook of a repository.
type hookPlace struct {
	common string // the folder that all work trees of the repository share
	name   string
	folder string // absolute
	path   string // folder/name
	kept   string
	shared string // why the folder is not this repository's alone; "" if it is
	note   string
	// changed says whether anything was written.
	changed bool
}

// findHook asks git. The hooks folder is that of core.hooksPath, where a
// relative path counts from the top of the work tree (of a bare repository:
// from itself), else "hooks" in the folder that all work trees share.
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
	at := &hookPlace{name: name, common: common}
	switch {
	case scope == "":
		at.folder = filepath.Join(common, "hooks")
	case value == "":
		return nil, fault.New(fault.Conflict, "core.hooksPath is set to nothing, so git runs no hooks here").
			WithHint("git config --unset core.hooksPath")
	case filepath.IsAbs(value):
		at.folder = filepath.Clean(value)
	case top != "":
		at.folder = filepath.Join(top, value)
	default:
		at.folder = filepath.Join(common, value)
	}
	if st, err := os.Stat(at.folder); err == nil && !st.IsDir() {
		return nil, fault.New(fault.Conflict, "the hooks folder %s is no folder, so git runs no hooks here", at.folder).
			WithHint("see where it is set: git config --show-origin --get core.hooksPath")
	}
	at.path = filepath.Join(at.folder, name)
	at.kept = at.path + keptSuffix
	inTop, inCommon := top != "" && within(at.folder, top), within(at.folder, common)
	switch {
	case scope == "global" || scope == "system":
		at.shared = "core.hooksPath is set in the " + scope + " configuration of git"
	case !inTop && !inCommon:
		at.shared = "it lies outside of the repository"
	}
	if inTop && !inCommon {
		if _, err := run(ctx, top, env, nil, "check-ignore", "--quiet", "--", at.path); exitCode(err) == 1 {
			at.note = "the hooks folder is part of the work tree: do not commit bureau's hook, which names a program of this machine"
		}
	}
	return at, nil
}

// hooksPath gives core.hooksPath and the scope that it is set in; no scope
// means that it is not set.
func hooksPath(ctx context.Context, dir string, env []string) (scope, value string, err error) {
	out, err := run(ctx, dir, env, nil, "config", "--show-scope", "-z", "--type=path", "--get", "core.hooksPath")
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
