package mailflag

import (
	"os"
	"path/filepath"

	"bureau/internal/runtimedir"
)

// makeLink writes a small file that names the agent, since symbolic links need
// a privilege here.
func makeLink(path, agent string) error {
	return os.WriteFile(path, []byte(agent), 0o600)
}

// linkedTo gives the agent that a link leads to, or "".
func linkedTo(link string) string {
	name, err := os.ReadFile(link)
	if err != nil || !runtimedir.SafeName(string(name)) {
		return ""
	}
	return string(name)
}

// flagSize reads the link and looks at the flag it names.
func flagSize(dir, link string) (int64, bool) {
	agent := linkedTo(link)
	if agent == "" {
		return 0, false
	}
	st, err := os.Stat(filepath.Join(dir, agent))
	if err != nil {
		return 0, false
	}
	return st.Size(), true
}
