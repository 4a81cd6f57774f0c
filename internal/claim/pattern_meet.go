package claim

import (
	"cmp"
	"slices"
	"strings"
)

// state is one state of the automaton of a name. The last one accepts.
type state struct {
	loop bool  // a *: takes any symbol and stays, or goes to the next state without one
	arcs []arc // to later states
}

type arc struct {
	set        class
	dot, other bool // what is in the set
	to         int
}

func arcTo(to int, set class) arc {
	dot, other := set.common(anySymbol)
	return arc{set, dot, other, to}
}

// machine makes the automaton of a name's tokens.
func machine(tokens []token, folded bool) []state {
	var m []state
	for i, t := range tokens {
		if t.kind == tokenStar {
			m = append(m, state{loop: true})
			continue
		}
		from := len(m)
		m = append(m, state{})
		if folded && expanding(tokens, i) {
			m = expand(m, t.set())
		}
		m[from].arcs = append(m[from].arcs, arcTo(len(m), t.set()))
	}
	return append(m, state{})
}

// expand adds the ways from the last state over the folded text of the members
// that fold to several characters. There is one state for each rest of such a
// text, longer ones first.
func expand(m []state, set class) []state {
	firsts := make(map[string][]span)
	for _, e := range expansions() {
		if set.has(e.from) {
			for i := range e.to[1:] {
				rest := string(e.to[i+1:])
				first := firsts[rest]
				if i == 0 {
					first = append(first, span{e.to[0], e.to[0]})
				}
				firsts[rest] = first
			}
		}
	}
	rests := make([]string, 0, len(firsts))
	for rest := range firsts {
		rests = append(rests, rest)
	}
	slices.SortFunc(rests, func(a, b string) int {
		return cmp.Or(len([]rune(b))-len([]rune(a)), strings.Compare(a, b))
	})
	from := len(m) - 1
	end := from + 1 + len(rests)
	for i, rest := range rests {
		if first := firsts[rest]; len(first) > 0 {
			m[from].arcs = append(m[from].arcs, arcTo(from+1+i, join(first)))
		}
		next := []symbol(rest)
		to := end
		if len(next) > 1 {
			to = from + 1 + slices.Index(rests, string(next[1:]))
		}
		m = append(m, state{arcs: []arc{arcTo(to, class{{next[0], next[0]}})}})
	}
	return m
}

// What can have been read when two automata stand in a pair of states, as bits.
const (
	readNothing = 1 << iota
	readDot     // "."
	readDots    // ".."
	readName    // something that can be, or begin, a file's name and is neither
)

// read follows what a symbol adds.
func read(had uint8, dot, other bool) (has uint8) {
	if had == 0 {
		return 0
	}
	if other {
		has |= readName
	}
	if dot {
		has |= had&readNothing<<1 | had&readDot<<1
		if had&(readDots|readName) != 0 {
			has |= readName
		}
	}
	return has
}

// meet reports whether a name other than "." and ".." is accepted by both
// automata. It visits each pair of states once, for arcs lead forwards only;
// steps counts the pairs and arcs.
func meet(a, b []state, steps *int) bool {
	w := len(b)
	had := make([]uint8, len(a)*w)
	had[0] = readNothing
	for u := range a {
		for v := range b {
			h := had[u*w+v]
			if h == 0 {
				continue
			}
			*steps++
			if a[u].loop && b[v].loop {
				h |= readName
				had[u*w+v] = h
			}
			if a[u].loop {
				had[(u+1)*w+v] |= h
				for _, y := range b[v].arcs {
					*steps++
					had[u*w+y.to] |= read(h, y.dot, y.other)
				}
			}
			if b[v].loop {
				had[u*w+v+1] |= h
				for _, x := range a[u].arcs {
					*steps++
					had[x.to*w+v] |= read(h, x.dot, x.other)
				}
			}
			for _, x := range a[u].arcs {
				for _, y := range b[v].arcs {
					*steps++
					dot, other := x.set.common(y.set)
					had[x.to*w+y.to] |= read(h, dot, other)
				}
			}
		}
	}
	return had[len(had)-1]&readName != 0
}

// meetsName reports whether one name can match both segments.
func (s segment) meetsName(t segment, folded bool, steps *int) bool {
	*steps++
	if s.anyName() || t.anyName() {
		return true
	}
	x, plain := s.literal()
	y, both := t.literal()
	if plain && both {
		return x == y
	}
	return meet(machine(s.tokens, folded), machine(t.tokens, folded), steps)
}

// meets reports whether a path can match both: the product of the two
// sequences of segments. When one side is at its end it takes whatever the
// other wants, and there is something for it to want: no segment is empty.
func (g *glob) meets(h *glob, steps *int) bool {
	a, b := g.segments, h.segments
	w := len(b) + 1
	reached := make([]bool, (len(a)+1)*w)
	reached[0] = true
	for i := range len(a) + 1 {
		for j := range w {
			if !reached[i*w+j] {
				continue
			}
			*steps++
			switch {
			case i == len(a) || j == len(b):
				return true
			case a[i].deep || b[j].deep:
				// ** takes the other's segment, or is over.
				reached[(i+1)*w+j] = true
				reached[i*w+j+1] = true
			case a[i].meetsName(b[j], g.icase, steps):
				reached[(i+1)*w+j+1] = true
			}
		}
	}
	return false
}

// match reports whether the path, in Normal form, or a parent folder matches.
func (g *glob) match(path string) bool {
	if len(g.segments) == 0 {
		return true
	}
	if path == "." {
		return false
	}
	if g.icase {
		path = foldText(path)
	}
	n := len(g.segments)
	at := make([]bool, n+1)
	at[0] = true
	for name := range strings.SplitSeq(path, "/") {
		next := make([]bool, n+1)
		for i, s := range g.segments {
			switch {
			case !at[i]:
			case s.deep:
				next[i] = true
				at[i+1] = true
			case s.matchName(name, g.icase):
				next[i+1] = true
			}
		}
		// ** is never last, so the end is reached by a name.
		if next[n] {
			return true
		}
		at = next
	}
	return false
}

// matchName reports whether the segment matches a name.
func (s segment) matchName(name string, folded bool) bool {
	if s.anyName() {
		return true
	}
	if plain, ok := s.literal(); ok {
		return plain == name
	}
	m := machine(s.tokens, folded)
	at := make([]bool, len(m))
	at[0] = true
	for _, c := range symbols(name) {
		next := make([]bool, len(m))
		for i, st := range m {
			if !at[i] {
				continue
			}
			if st.loop {
				next[i] = true
				at[i+1] = true
			}
			for _, x := range st.arcs {
				if x.set.has(c) {
					next[x.to] = true
				}
			}
		}
		at = next
	}
	for i, st := range m {
		if at[i] && st.loop {
			at[i+1] = true
		}
	}
	return at[len(m)-1]
}
