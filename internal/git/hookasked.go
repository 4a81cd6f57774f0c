package git

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bureau/internal/fault"
)

// The setting of a repository that names the hooks at which the guard was
// asked for.
const askedSection, askedKey = "bureau", "guard"

// askedIn gives the hooks at which the guard was asked for.
func askedIn(list []setting) []string {
	value, _ := lastOf(list, askedSection, askedKey)
	return slices.DeleteFunc(strings.Fields(value), func(name string) bool { return !slices.Contains(hookNames, name) })
}

// remember notes in the repository's configuration that the guard was asked
// for, or that it is not wanted any more.
func (at *hookPlace) remember(ctx context.Context, wanted bool) error {
	had := askedIn(readConfig(configOf(at.common)))
	var names []string
	for _, name := range hookNames {
		if name == at.name && wanted || name != at.name && slices.Contains(had, name) {
			names = append(names, name)
		}
	}
	at.asked = wanted
	switch {
	case slices.Equal(names, had):
		return nil
	case len(names) == 0:
		return at.config(ctx, "--unset-all", askedSection+"."+askedKey)
	}
	return at.config(ctx, "--replace-all", askedSection+"."+askedKey, strings.Join(names, " "))
}

// Lapsed looks whether git still runs the hooks that [InstallHook] put into the
// repository that dir is in, and gives the first one that it does not run, with
// why (Lapse). That happens: husky and lefthook put their own hooks in their
// place, somebody deletes them or sets core.hooksPath.
//
// It reads a few small files. Git is run only to make sure before something is
// said, so that nobody hears of a loss that is none. Where no guard was asked
// for, or nothing can be found out, ok is false.
func Lapsed(ctx context.Context, dir string) (h Hook, ok bool) {
	dir = resolved(dir)
	tree, common, ok := Root(dir)
	if !ok {
		return Hook{}, false
	}
	config := readConfig(configOf(common))
	names := askedIn(config)
	if len(names) == 0 {
		return Hook{}, false
	}
	folder := usualFolder(config, tree, common)
	for _, name := range names {
		if path := filepath.Join(folder, name); executable(path) && asksGuard(path) {
			continue
		}
		h, err := HookStatus(ctx, dir, name)
		switch {
		case fault.Is(err, fault.Conflict):
			return Hook{Name: name, State: HookReplaced, Lapse: err.Error()}, true
		case err == nil && h.Lapse != "":
			return h, true
		}
	}
	return Hook{}, false
}

// Warning says in one line that the hook lapsed, and why.
func (h Hook) Warning() string {
	act := "commits"
	if h.Name == PrePush {
		act = "pushes"
	}
	return "the guard of this repository's " + act + " is not run any more: " + h.Lapse
}

// usualFolder is where git looks for hooks, as far as the repository's own
// configuration and the person's say.
func usualFolder(config []setting, tree, common string) string {
	if chainLeads(config, common) {
		return chainFolder(common)
	}
	folder, at := lastOf(config, "core", "hookspath")
	for _, path := range personsConfigs() {
		if at >= 0 {
			break
		}
		folder, at = lastOf(readConfig(path), "core", "hookspath")
	}
	if rest, ok := strings.CutPrefix(folder, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			folder = filepath.Join(home, rest)
		}
	}
	switch {
	case at < 0:
		return filepath.Join(common, "hooks")
	case filepath.IsAbs(folder):
		return folder
	}
	return filepath.Join(tree, filepath.FromSlash(folder))
}

// personsConfigs are the files of a person's own configuration, the one that
// counts first.
func personsConfigs() []string {
	if path, ok := os.LookupEnv("GIT_CONFIG_GLOBAL"); ok {
		return []string{path}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	more := os.Getenv("XDG_CONFIG_HOME")
	if more == "" {
		more = filepath.Join(home, ".config")
	}
	return []string{filepath.Join(home, ".gitconfig"), filepath.Join(more, "git", "config")}
}

// asksGuard reports whether a hook is a script of ours that asks the guard,
// whoever changed it since.
func asksGuard(path string) bool {
	_, content := readHook(path)
	s := parseHook(content)
	return s.state != foreignScript && !s.passed
}
