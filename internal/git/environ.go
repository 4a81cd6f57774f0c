package git

import "strings"

// Environ gives an environment for running git in another repository: env
// without what ties a process to one. Git sets such variables for its hooks
// (the index of the commit being made, the repository, the work tree, the
// quarantine of a push), and a git that inherits them damages or judges the
// wrong index. The list is that of `git rev-parse --local-env-vars`, and what
// else git sets for hooks that would change another commit: the author's date,
// the editor ":", how pathspecs are read, the heads of a merge.
//
// The author's name and address stay, since a person may have no others; in a
// hook they are those of the commit being made. Who commits in a name of his
// own sets them anew.
func Environ(env []string) []string {
	out := make([]string, 0, len(env)+4)
	for _, kv := range env {
		if key, value, _ := strings.Cut(kv, "="); !local(key, value) {
			out = append(out, kv)
		}
	}
	return out
}

// local reports whether a variable is of one repository or of one run of git.
func local(key, value string) bool {
	switch key {
	case "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT",
		"GIT_OBJECT_DIRECTORY", "GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE",
		"GIT_INDEX_FILE", "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_PREFIX",
		"GIT_INTERNAL_SUPER_PREFIX", "GIT_SHALLOW_FILE", "GIT_COMMON_DIR",
		"GIT_QUARANTINE_PATH", "GIT_REFLOG_ACTION", "GIT_AUTHOR_DATE",
		"GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS":
		return true
	case "GIT_EDITOR":
		return value == ":"
	}
	return strings.HasPrefix(key, "GIT_CONFIG_KEY_") || strings.HasPrefix(key, "GIT_CONFIG_VALUE_") || strings.HasPrefix(key, "GITHEAD_")
}

// plain adds to env what makes git's answer one for programs: no translation,
// no other program in between, no question at a terminal, and no write to the
// index, which another git may hold.
func plain(env []string) []string {
	out := make([]string, 0, len(env)+4)
	for _, kv := range env {
		key, _, _ := strings.Cut(kv, "=")
		switch key {
		case "LC_ALL", "LANGUAGE", "GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS", "GIT_PAGER", "GIT_OPTIONAL_LOCKS",
			"GIT_TERMINAL_PROMPT":
			continue
		}
		if strings.HasPrefix(key, "GIT_TRACE") {
			continue
		}
		out = append(out, kv)
	}
	return append(out, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0")
}
