package colleagues

import (
	"os"
	"path/filepath"
	"strings"

	"bureau/internal/fault"
)

// maxPath bounds a path, before and after its variables.
const maxPath = 4096

// expand gives the path that a text means: ${NAME} and $NAME from the
// environment, ~/ as the home folder, and a relative path from base (as it is
// for base ""). A variable that is not set is an error, not an empty text:
// that would be another path.
func expand(text, base string, env func(string) string) (string, error) {
	if strings.ContainsRune(text, 0) {
		return "", fault.New(fault.Invalid, "the path %s holds a NUL", show(text)).WithHint("take it out")
	}
	var b strings.Builder
	for rest := text; ; {
		before, after, found := strings.Cut(rest, "$")
		b.WriteString(before)
		if !found {
			break
		}
		var variable string
		if braced, ok := strings.CutPrefix(after, "{"); ok {
			if variable, rest, ok = strings.Cut(braced, "}"); !ok {
				return "", fault.New(fault.Invalid, "in the path %s a ${ has no }", show(text)).WithHint("write ${NAME}")
			}
		} else {
			n := 0
			for n < len(after) && inVariable(after[n], n) {
				n++
			}
			variable, rest = after[:n], after[n:]
		}
		if !isVariable(variable) {
			return "", fault.New(fault.Invalid, "in the path %s a $ names no variable", show(text)).WithHint("write $NAME or ${NAME}")
		}
		value := env(variable)
		if value == "" {
			return "", fault.New(fault.Invalid, "the variable %s in the path %s is not set", show(variable), show(text)).
				WithHint("set it where bureau and its clients start, or write the path without it")
		}
		if b.WriteString(value); b.Len() > maxPath {
			break
		}
	}
	path := b.String()
	if home, ok := strings.CutPrefix(path, "~"); ok && (home == "" || os.IsPathSeparator(home[0])) && strings.HasPrefix(text, "~") {
		dir := env("HOME")
		if dir == "" {
			dir, _ = os.UserHomeDir()
		}
		if dir == "" {
			return "", fault.New(fault.Invalid, "the path %s needs a home folder and HOME is not set", show(text)).WithHint("write it from the root")
		}
		path = dir + home
	}
	if len(path) > maxPath || len(text) > maxPath {
		return "", fault.New(fault.Invalid, "the path %s is longer than %d bytes", show(text), maxPath).WithHint("give a shorter one")
	}
	if base != "" && !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	return filepath.Clean(path), nil
}

func isVariable(s string) bool {
	for i := range len(s) {
		if !inVariable(s[i], i) {
			return false
		}
	}
	return s != ""
}

// inVariable reports whether a byte may stand at a place of a variable's name.
func inVariable(c byte, at int) bool {
	return c == '_' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || at > 0 && c >= '0' && c <= '9'
}
