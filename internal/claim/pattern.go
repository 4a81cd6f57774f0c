package claim

import (
	"path"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Pattern is a set of paths below a project's root, in canonical form: two
// spellings of one pattern are equal strings. A pattern that matches a folder
// covers everything below it, so src, src/, ./src/** are all "src".
//
// In a name, * stands for any characters (a leading dot too: a claim must not
// miss dot files), ? for one, [a-z] and [!x] for one of a class; ** as a whole
// name stands for any number of folders. A backslash takes the meaning from
// the next character; with three octal digits it is one byte, which is how git
// quotes names: Latin-1 names stay exact in JSON that way, for the canonical
// form is always valid UTF-8. Characters are those of the path's NFC form, and
// each byte that is not UTF-8.
//
// A pattern that begins with :(icase), as in git's pathspecs, ignores case;
// [Pattern.Fold] makes it. A value that is no pattern, the empty one among
// them, matches nothing.
type Pattern string

// Root is everything in the project, its root folder included.
const Root Pattern = "."

// Bounds of a pattern.
const (
	MaxPattern  = 4096 // bytes, as written and in canonical form
	MaxSegments = 128  // names between slashes, in canonical form
)

const icase = ":(icase)"

// ParsePattern reads a user's text, relative to the project's root. It refuses
// (invalid) what is empty, absolute, leaves the root, is not well formed or
// beyond a bound. ParsePattern(string(p)) is p for every pattern that it gave,
// and for its Fold unless that has grown beyond a bound.
func ParsePattern(text string) (Pattern, error) {
	if len(text) > MaxPattern {
		return "", tooLong(text)
	}
	g, err := parseGlob(text)
	if err != nil {
		return "", err
	}
	return g.bounded(text)
}

// Literal gives the pattern of one path and what is below it: no character has
// a meaning, so app/[slug]/page.tsx is that file. "." is the root. It refuses
// (invalid) the same paths as [ParsePattern].
func Literal(path string) (Pattern, error) {
	if len(path) > MaxPattern {
		return "", tooLong(path)
	}
	if err := checkPath(path, path); err != nil {
		return "", err
	}
	clean := Normal(path)
	if outside(clean) {
		return "", leavesRoot(path)
	}
	var g glob
	if clean != "." {
		for name := range strings.SplitSeq(clean, "/") {
			g.segments = append(g.segments, segment{tokens: chars(name)})
		}
	}
	return g.bounded(path)
}

// Normal gives the path in the one spelling that patterns compare: cleaned as
// by [path.Clean], in Unicode's composed form (NFC). The root is ".".
func Normal(name string) string {
	return path.Clean(norm.NFC.String(name))
}

// outside reports whether a path in Normal form is not below the root.
func outside(clean string) bool {
	return clean == ".." || strings.HasPrefix(clean, "../") || strings.HasPrefix(clean, "/")
}

// Match reports whether the pattern matches the path or one of its parent
// folders. The path is relative to the root, "." or "" for the root itself;
// a path outside matches nothing.
func (p Pattern) Match(path string) bool {
	path = Normal(path)
	if outside(path) {
		return false
	}
	if p == Root {
		return true
	}
	if plain, ok := p.plain(); ok && path != "." {
		if plain != string(p) {
			path = foldText(path)
		}
		return below(path, plain)
	}
	g, err := parseGlob(string(p))
	return err == nil && g.match(path)
}

// Overlap reports whether any path can match both patterns. It is symmetric.
// If one of them ignores case, both do.
//
// It is exact: no pair of patterns that share a path is missed, and none is
// reported that share no sequence of characters. (Sequences that NFC would
// compose count as names.) The work is bounded by the product of the lengths.
func Overlap(a, b Pattern) bool {
	if x, ok := a.plain(); ok {
		if y, ok := b.plain(); ok && (x == string(a)) == (y == string(b)) {
			return below(x, y) || below(y, x)
		}
	}
	x, y, ok := pair(a, b)
	return ok && x.meets(y, new(int))
}

// Covers reports whether every path that b matches a matches too. It may say
// false when that is hard to see, and never says true wrongly.
func Covers(a, b Pattern) bool {
	if x, ok := a.plain(); ok {
		if y, ok := b.plain(); ok && (x == string(a)) == (y == string(b)) {
			return below(y, x)
		}
	}
	if strings.HasPrefix(string(b), icase) && !strings.HasPrefix(string(a), icase) {
		return a == Root
	}
	x, y, ok := pair(a, b)
	return ok && x.covers(y)
}

// pair reads two patterns for a comparison.
func pair(a, b Pattern) (x, y *glob, ok bool) {
	x, err := parseGlob(string(a))
	if err != nil {
		return nil, nil, false
	}
	y, err = parseGlob(string(b))
	if err != nil {
		return nil, nil, false
	}
	if x.icase || y.icase {
		x.fold()
		y.fold()
	}
	return x, y, true
}

// Prefix gives the leading folders without a wildcard, unescaped: "src/api"
// for src/api/*.go and for src/api itself, "" where there are none. Two
// patterns that are both folded or both not can overlap only if one's prefix
// is the other's or a parent folder of it (see [Pattern.Fold]).
func (p Pattern) Prefix() string {
	if p == Root {
		return ""
	}
	if plain, ok := p.plain(); ok {
		return plain
	}
	g, err := parseGlob(string(p))
	if err != nil {
		return ""
	}
	var names []string
	for _, s := range g.segments {
		name, ok := s.literal()
		if !ok {
			break
		}
		names = append(names, name)
	}
	return strings.Join(names, "/")
}

// Fold gives the form that is compared on file systems that ignore case. It
// matches a path if p matches any spelling of it: full Unicode case folding,
// so STRASSE and straße are one name. It is marked with :(icase), [Root]
// excepted, and [Pattern.Match] folds the path itself.
//
// For a pattern of more than 64 ? and classes the result may match more.
func (p Pattern) Fold() Pattern {
	if text, ok := p.plain(); ok {
		return Pattern(icase + foldText(text))
	}
	g, err := parseGlob(string(p))
	if err != nil {
		return p
	}
	g.fold()
	return g.pattern()
}

// plain gives the path of a canonical pattern without wildcards and escapes.
func (p Pattern) plain() (string, bool) {
	text, folded := strings.CutPrefix(string(p), icase)
	if text == "" || strings.ContainsAny(text, "*?[\\{}\x00") || text == "." || Normal(text) != text || outside(text) {
		return "", false
	}
	return text, !folded || foldText(text) == text
}

// below reports whether path is folder or something below it.
func below(path, folder string) bool {
	rest, ok := strings.CutPrefix(path, folder)
	return ok && (rest == "" || rest[0] == '/')
}
