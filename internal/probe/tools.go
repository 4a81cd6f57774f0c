package probe

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// tool is a program whose lock file is known.
type tool struct {
	name string
	file string // below the folder that it works in, a glob with /
	// meaning is what the file guards.
	meaning string
	// advisory: the file stays when the tool is done; only a lock on it counts
	// (flock or a POSIX lock). Otherwise the tool removes it at its end, and
	// that it is there is the lock.
	advisory bool
	// anywhere: it lies outside of projects, and is known for lockfile: only.
	anywhere bool
}

// tools are the lock files that are known. What package managers call a lock
// file (package-lock.json, Cargo.lock, uv.lock, poetry.lock) pins versions and
// is no lock. npm, pnpm and yarn lock no project folder while they install.
var tools = []tool{
	{name: "git", file: ".git/index.lock", meaning: "a command writes the index"},
	{name: "git", file: ".git/worktrees/*/index.lock", meaning: "a command writes the index of a linked worktree"},
	{name: "cargo", file: "target/*/.cargo*lock", meaning: "a build", advisory: true},
	{name: "cargo", file: "target/*/*/.cargo*lock", meaning: "a build for another target", advisory: true},
	{name: "cargo", file: ".cargo/.package-cache", meaning: "downloads", advisory: true, anywhere: true},
	{name: "uv", file: ".venv/.lock", meaning: "an install into the environment", advisory: true},
	{name: "terraform", file: "terraform.tfstate", meaning: "a plan or an apply", advisory: true},
	{name: "terraform", file: ".terraform.tfstate.lock.info", meaning: "a plan or an apply"},
	{name: "terraform", file: "terraform.tfstate.d/*/.terraform.tfstate.lock.info", meaning: "a plan or an apply in a workspace"},
	{name: "next", file: ".next/lock", meaning: "a build", advisory: true},
	{name: "next", file: ".next/dev/lock", meaning: "a development server", advisory: true},
	{name: "nuxt", file: ".nuxt/nuxt.lock", meaning: "a development server or a build"},
	{name: "npx", file: "_npx/*/concurrency.lock", meaning: "an install into npx's cache", anywhere: true},
	{name: "dpkg", file: "var/lib/dpkg/lock", meaning: "an install", advisory: true, anywhere: true},
	{name: "dpkg", file: "var/lib/dpkg/lock-frontend", meaning: "an install", advisory: true, anywhere: true},
	{name: "apt", file: "var/lib/apt/lists/lock", meaning: "an update of the lists", advisory: true, anywhere: true},
}

// toolOf finds whose lock file a path is; the zero tool where it is not known.
func toolOf(file string) tool {
	parts := strings.Split(filepath.ToSlash(file), "/")
	for _, t := range tools {
		n := strings.Count(t.file, "/") + 1
		if len(parts) < n {
			continue
		}
		if ok, _ := path.Match(t.file, strings.Join(parts[len(parts)-n:], "/")); ok {
			return t
		}
	}
	return tool{}
}

// say names a lock file for a reader.
func (t tool) say(path string) string {
	if t.name == "" {
		return path
	}
	return path + " (" + t.name + ": " + t.meaning + ")"
}

// Bounds of the search for tools' locks below a claimed folder. Folders that
// tools fill are entered only where the table says.
const (
	maxFolders = 2000
	maxDepth   = 8
)

var filled = map[string]bool{
	".git": true, "node_modules": true, "target": true, ".venv": true, "venv": true, ".next": true, ".nuxt": true,
	".terraform": true, "terraform.tfstate.d": true, "dist": true, "build": true, "vendor": true, "__pycache__": true,
}

// toolLocks looks below a folder for lock files of known tools, in the first
// two thousand folders, eight deep. Git's own is looked at with its status.
func toolLocks(ctx context.Context, root string) finding {
	folders := 0
	worst := finding{verdict: Free}
	_ = filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil || !d.IsDir():
			return nil
		}
		if rel, err := filepath.Rel(root, dir); err == nil && rel != "." {
			if filled[d.Name()] || strings.Count(filepath.ToSlash(rel), "/") >= maxDepth {
				return fs.SkipDir
			}
		}
		if folders++; folders > maxFolders {
			return fs.SkipAll
		}
		for _, t := range tools {
			if t.anywhere || t.name == "git" {
				continue
			}
			for _, file := range glob(dir, t.file) {
				if f := lockAt(file); graver(f.verdict, worst.verdict) {
					worst = f
				}
				if worst.verdict == Busy {
					return errFound
				}
			}
		}
		return nil
	})
	return worst
}

var errFound = errors.New("found")

// glob finds the files of a pattern below a folder whose own name is taken
// literally.
func glob(dir, pattern string) []string {
	first, _, deeper := strings.Cut(pattern, "/")
	if deeper {
		// Most folders have no such subfolder: one look instead of a search.
		if _, err := filepath.EvalSymlinks(filepath.Join(dir, first)); err != nil {
			return nil
		}
	}
	if !strings.ContainsAny(pattern, "*?[") {
		return []string{filepath.Join(dir, filepath.FromSlash(pattern))}
	}
	found, _ := fs.Glob(os.DirFS(dir), pattern)
	for i, f := range found {
		found[i] = filepath.Join(dir, filepath.FromSlash(f))
	}
	return found
}
