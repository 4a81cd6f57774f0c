package probe

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// maxPath bounds one pattern, in bytes; maxBraces what its { } unfold to.
const (
	maxPath   = 4096
	maxBraces = 64
)

// place is where a pattern is looked at: the deepest folder that exists on its
// fixed part, and the rest of it below. Git run there finds the repository
// that the files belong to: a submodule's own, a linked worktree's.
type place struct {
	dir  string // absolute, links resolved
	rest string // "" for the folder itself
}

// locate finds a pattern's place below a root whose links are resolved. It
// reports false where a link leads out of the root or the pattern climbs.
func locate(root, pattern string) (place, bool) {
	p := place{dir: root}
	pattern, _ = written(pattern)
	if strings.ContainsRune(pattern, 0) {
		return p, false
	}
	parts := strings.FieldsFunc(pattern, func(c rune) bool { return c == '/' })
	for i, part := range parts {
		switch {
		case part == ".":
			continue
		case part == "..":
			return place{}, false
		}
		// A name that looks like a glob is no place to go on from: the glob
		// may mean its neighbours as well.
		if !isGlob(part) {
			if dir, err := resolve(p.dir, unescape(part)); err == nil {
				if st, err := os.Stat(dir); err == nil && st.IsDir() {
					if !below(root, dir) {
						return place{}, false
					}
					p.dir = dir
					continue
				}
				if !below(root, dir) {
					return place{}, false
				}
			}
		}
		p.rest = strings.Join(parts[i:], "/")
		return p, !strings.Contains("/"+p.rest+"/", "/../")
	}
	return p, true
}

// resolve finds an entry of a folder in either Unicode form.
func resolve(dir, name string) (path string, err error) {
	for _, form := range forms(name) {
		if path, err = filepath.EvalSymlinks(filepath.Join(dir, form)); err == nil {
			break
		}
	}
	return path, err
}

// forms gives a text as it is, and in the Unicode forms that it could have in a
// name on the disk.
func forms(s string) []string {
	out := []string{s}
	for _, form := range []norm.Form{norm.NFC, norm.NFD} {
		if !form.IsNormalString(s) {
			out = append(out, form.String(s))
		}
	}
	return out
}

// written takes a pattern's :(icase) off and writes its octal escapes as the bytes
// that they are, which is how git takes them.
func written(pattern string) (plain string, fold bool) {
	pattern, fold = strings.CutPrefix(pattern, ":(icase)")
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '\\' || i+1 == len(pattern) {
			b.WriteByte(pattern[i])
			continue
		}
		if i+4 <= len(pattern) {
			if n, err := strconv.ParseUint(pattern[i+1:i+4], 8, 8); err == nil {
				if n < 0x80 {
					b.WriteByte('\\') // it may be special
				}
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteString(pattern[i : i+2])
		i++
	}
	return b.String(), fold
}

// below reports whether path is root or under it.
func below(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}

// isGlob reports whether a part of a pattern means more than one name.
func isGlob(part string) bool {
	for i := 0; i < len(part); i++ {
		switch part[i] {
		case '\\':
			i++
		case '*', '?', '[', '{':
			return true
		}
	}
	return false
}

// unescape takes a pattern's escapes away.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// specs gives git's pathspecs for a place: what it means as a glob with all
// that lies below, and the same text as a plain name, whatever characters are
// in it. It reports false where a pattern's braces unfold to too much.
func (p place) specs(fold bool) ([]string, bool) {
	var out []string
	add := func(magic, path string) {
		for _, form := range forms(path) {
			out = append(out, magic+form)
		}
	}
	if p.rest == "" {
		return []string{":(literal)."}, true
	}
	literal, glob := ":(literal)", ":(glob)"
	if fold {
		literal, glob = ":(literal,icase)", ":(glob,icase)"
	}
	add(literal, p.rest)
	if plain := unescape(p.rest); plain != p.rest {
		add(literal, plain)
	}
	if !isGlob(p.rest) {
		return out, true
	}
	globs, ok := unfold(p.rest, nil)
	if named := p.named(); named != p.rest && ok {
		globs, ok = unfold(named, globs)
	}
	for _, g := range globs {
		add(glob, g)
		if !strings.HasSuffix(g, "/**") && g != "**" {
			add(glob, g+"/**")
		}
	}
	return out, ok
}

// named gives the pattern with the folders escaped that exist under a name that
// looks like a glob: app/[id]/** means what is in the folder [id], too.
func (p place) named() string {
	parts := strings.Split(p.rest, "/")
	dir := p.dir
	for i, part := range parts {
		dir = filepath.Join(dir, part)
		if _, err := os.Lstat(dir); err != nil {
			break
		}
		parts[i] = special.Replace(part)
	}
	return strings.Join(parts, "/")
}

var special = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`)

// unfold writes {a,b} out, since git does not know it. It reports false at more
// than maxBraces patterns.
func unfold(s string, done []string) ([]string, bool) {
	open, shut, commas := braces(s)
	if shut < 0 {
		return append(done, s), len(done) < maxBraces
	}
	cuts := append(append([]int{open}, commas...), shut)
	for i, from := range cuts[:len(cuts)-1] {
		var ok bool
		if done, ok = unfold(s[:open]+s[from+1:cuts[i+1]]+s[shut+1:], done); !ok {
			return done, false
		}
	}
	return done, true
}

// braces finds the first pair and the commas directly inside it; shut is -1
// where there is none.
func braces(s string) (open, shut int, commas []int) {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == '{':
			if depth++; depth == 1 {
				open, commas = i, nil
			}
		case s[i] == ',' && depth == 1:
			commas = append(commas, i)
		case s[i] == '}' && depth > 0:
			if depth--; depth == 0 {
				return open, i, commas
			}
		}
	}
	return 0, -1, nil
}
