package claim

import (
	"slices"
	"strings"
)

// Below gives what a pattern matches in a folder, as patterns relative to that
// folder; none where it matches nothing there. The folder is a path as Normal
// gives it.
func (p Pattern) Below(folder string) []Pattern {
	g, err := parseGlob(string(p))
	if err != nil || outside(folder) {
		return nil
	}
	if folder == "." {
		return []Pattern{p}
	}
	if g.icase {
		folder = foldText(folder)
	}
	// The segments that what follows may begin with.
	at := []int{0}
	for name := range strings.SplitSeq(folder, "/") {
		var next []int
		add := func(i int) {
			if !slices.Contains(next, i) {
				next = append(next, i)
			}
		}
		here := segment{tokens: chars(name)}
		for k := 0; k < len(at); k++ {
			i := at[k]
			switch {
			case i == len(g.segments):
				return []Pattern{Root}
			case g.segments[i].deep: // it takes the name, or ends before it
				add(i)
				if !slices.Contains(at, i+1) {
					at = append(at, i+1)
				}
			case g.segments[i].coversName(here):
				add(i + 1)
			}
		}
		at = next
	}
	var out []Pattern
	for _, i := range at {
		if i == len(g.segments) {
			return []Pattern{Root}
		}
		rest := glob{icase: g.icase, segments: g.segments[i:]}
		out = append(out, rest.pattern())
	}
	return out
}
