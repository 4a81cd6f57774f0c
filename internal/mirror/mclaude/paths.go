package mclaude

import (
	"path"
	"path/filepath"
	"strings"
)

// roots are the spellings of a project's root, with slashes: as it was given,
// and without symbolic links.
func roots(root string) []string {
	out := []string{slashed(root)}
	if plain, err := filepath.EvalSymlinks(root); err == nil {
		if plain = slashed(plain); plain != out[0] {
			out = append(out, plain)
		}
	}
	return out
}

// relative gives an entry of the list of files relative to the root: with
// slashes, without "." and "..", "." for the root itself. Relative ones begin
// at the working directory of whoever listed them; if that is not below the
// root, it is where the root was for them (another mount, another machine).
// It reports false for what lies outside.
func relative(roots []string, workdir, file string) (string, bool) {
	if file == "" || strings.ContainsRune(file, 0) {
		return "", false
	}
	workdir, file = slashed(workdir), strings.ReplaceAll(file, `\`, "/")
	base, inside := "", false
	if absolute(workdir) {
		if base, inside = below(roots, workdir); !inside {
			roots = append(roots[:len(roots):len(roots)], workdir)
		}
	}
	if absolute(file) {
		return below(roots, path.Clean(file))
	}
	file = path.Join(base, file)
	if file == ".." || strings.HasPrefix(file, "../") {
		return "", false
	}
	return file, true
}

func slashed(p string) string {
	if p == "" {
		return ""
	}
	return path.Clean(strings.ReplaceAll(p, `\`, "/"))
}

func absolute(p string) bool { return strings.HasPrefix(p, "/") || hasDrive(p) }

// hasDrive reports whether a path begins with a drive of Windows, on whatever
// system it is read.
func hasDrive(p string) bool {
	return len(p) >= 3 && p[1] == ':' && p[2] == '/' && (p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z')
}

// below gives a path relative to the first of the roots that it is below of.
func below(roots []string, p string) (string, bool) {
	for _, r := range roots {
		same := func(a, b string) bool { return a == b || hasDrive(r) && strings.EqualFold(a, b) }
		if same(p, r) {
			return ".", true
		}
		if r != "/" {
			r += "/"
		}
		if len(p) > len(r) && same(p[:len(r)], r) {
			return p[len(r):], true
		}
	}
	return "", false
}
