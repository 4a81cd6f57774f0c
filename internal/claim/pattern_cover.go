package claim

// sequences are two rows of parts to compare: the tokens of a name, or the
// segments of a path. A gap (*, **) takes any number of things.
type sequences struct {
	a, b       int // lengths
	gapA, gapB func(i int) bool
	anyA       func(i int) bool    // the part takes any one thing
	within     func(i, j int) bool // the part of a takes all that the part of b does
}

// covers reports whether a takes everything that b does; it never says so
// wrongly. It is the inclusion of what is behind each pair of positions, from
// the end.
func (s sequences) covers() bool {
	after := make([]bool, s.b+1)
	for i := s.a; i >= 0; i-- {
		row := make([]bool, s.b+1)
		for j := s.b; j >= 0; j-- {
			switch {
			case i == s.a:
				row[j] = j == s.b
			case s.gapA(i):
				row[j] = after[j] || j < s.b && row[j+1]
			case j == s.b:
			case s.gapB(j):
				// b's gap is over, or takes one thing and stays.
				row[j] = row[j+1] && after[j] && s.anyA(i)
			default:
				row[j] = after[j+1] && s.within(i, j)
			}
		}
		after = row
	}
	return after[0]
}

// covers reports whether every path that h matches g matches too, as far as it
// can tell. Both ignore case or neither does.
func (g *glob) covers(h *glob) bool {
	// What is below belongs to a pattern.
	a := append(g.segments[:len(g.segments):len(g.segments)], segment{deep: true})
	b := append(h.segments[:len(h.segments):len(h.segments)], segment{deep: true})
	return sequences{
		a: len(a), b: len(b),
		gapA:   func(i int) bool { return a[i].deep },
		gapB:   func(j int) bool { return b[j].deep },
		anyA:   func(i int) bool { return a[i].anyName() },
		within: func(i, j int) bool { return a[i].coversName(b[j]) },
	}.covers()
}

// coversName reports whether s matches every name that t does.
func (s segment) coversName(t segment) bool {
	if s.anyName() {
		return true
	}
	a, b := s.tokens, t.tokens
	return sequences{
		a: len(a), b: len(b),
		gapA:   func(i int) bool { return a[i].kind == tokenStar },
		gapB:   func(j int) bool { return b[j].kind == tokenStar },
		anyA:   func(i int) bool { return a[i].kind == tokenAny },
		within: func(i, j int) bool { return b[j].set().within(a[i].set()) },
	}.covers()
}
