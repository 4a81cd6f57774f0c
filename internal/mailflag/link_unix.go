//go:build !windows

package mailflag

import (
	"os"
	"path/filepath"
)

// makeLink makes a link in a session's folder to an agent's flag. It is
// relative: the runtime folder may be seen under another path in a sandbox.
func makeLink(path, agent string) error {
	return os.Symlink(filepath.Join("..", "..", agent), path)
}

// linkedTo gives the agent that a link leads to, or "".
func linkedTo(link string) string {
	target, err := os.Readlink(link)
	if err != nil {
		return ""
	}
	return filepath.Base(target)
}

// flagSize follows a link to its flag in one stat.
func flagSize(_, link string) (int64, bool) {
	st, err := os.Stat(link)
	if err != nil {
		return 0, false
	}
	return st.Size(), true
}
