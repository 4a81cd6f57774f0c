package mention

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"bureau/internal/name"
)

// longestWord bounds, in bytes, what is looked up: no name is longer, however
// it is composed and whatever invisible characters stand in it.
const longestWord = 2048

// at looks at the @ (of width bytes) at i and gives the position behind what it
// has read.
func (p *inline) at(i, width int) int {
	from := i + width
	first, _ := utf8.DecodeRuneInString(p.text[from:p.end])
	if !name.Starts(first) {
		return from
	}
	before := p.before(i)
	if before == blocked {
		return from
	}
	// A word in which several are mentioned is read to its end once.
	if from >= p.run {
		p.run, p.runName = p.word(from)
	}
	wordEnd, end := p.run, max(from, p.runName)
	if p.pathFollows(wordEnd) || before == mailLike && p.hasDot(from, end) {
		return wordEnd
	}
	if behind := p.resolve(i, from, end); behind < end {
		return behind // text goes on in the same word
	}
	return wordEnd
}

// What stands before an @.
const (
	free     = iota
	mailLike // may be the local part of a mail address
	blocked
)

func (p *inline) before(i int) int {
	r, size := utf8.DecodeLastRuneInString(p.text[p.start:i])
	if size == 0 {
		return free
	}
	switch {
	case r == '@' || r == '＠':
		return blocked
	case r == '/':
		if p.known == i-1 && i-1 > p.start {
			return free // @A/@B
		}
		return blocked
	case isWord(r):
		if unspaced(r) {
			return mailLike
		}
		return blocked
	}
	for j := i; j > p.start; j-- {
		switch c := p.text[j-1]; {
		case c == '.' || c == '_' || c == '-' || c == '+':
			continue
		case isASCIIWord(c):
			if j < i {
				return mailLike
			}
		}
		break
	}
	return free
}

// word gives the end of the word that starts at from, and the end of the name
// in it, which is without the punctuation behind.
func (p *inline) word(from int) (wordEnd, nameEnd int) {
	i := from
	nameEnd = from
	for i < p.end {
		r, size := utf8.DecodeRuneInString(p.text[i:p.end])
		joint := isJoint(r)
		if !joint && !isWord(r) && !name.Invisible(r) {
			break
		}
		i += size
		if !joint && !name.Invisible(r) {
			nameEnd = i
		}
	}
	return i, nameEnd
}

// pathFollows reports whether text[i:] continues a path or the name of a
// package.
func (p *inline) pathFollows(i int) bool {
	if i >= p.end || p.text[i] != '/' {
		return false
	}
	r, _ := utf8.DecodeRuneInString(p.text[i+1 : p.end])
	return isWord(r) || r == '.' || r == '_' || r == '-'
}

func (p *inline) hasDot(from, end int) bool {
	for _, r := range p.text[from:min(end, from+longestWord)] {
		if r == '.' || r == '．' {
			return true
		}
	}
	return false
}

// resolve notes whom the word text[from:end] behind the @ at i means, and gives
// the position behind it.
func (p *inline) resolve(i, from, end int) int {
	if end-from <= longestWord && p.note(i, from, end) {
		p.known = end
		return end
	}
	if short := p.shorter(from, end); short > from {
		p.note(i, from, short)
		p.known = short
		return short
	}
	if chain := p.chain(from, end); chain != nil {
		for _, link := range chain {
			p.note(i, link[0], link[1])
			i = link[1] // the next @ stands behind punctuation, if there is any
			for i < end && !isAt(p.text[i:]) {
				i++
			}
		}
		p.known = end
		return end
	}
	key := name.Fold(p.text[from:end])
	if p.unknown == nil {
		p.unknown = make(map[name.Key]bool)
	}
	if !p.unknown[key] {
		p.unknown[key] = true
		p.found = append(p.found, Mention{Unknown, -1, p.text[from:end], i, end})
	}
	return end
}

// shorter gives the end of the longest known name with which text[from:end]
// begins and which text follows that is written without spaces; from if there is
// none.
func (p *inline) shorter(from, end int) int {
	found, nameEnd, folded := from, from, from
	var key strings.Builder
	for i := from; i < end && i-from <= longestWord; {
		r, size := utf8.DecodeRuneInString(p.text[i:end])
		if nameEnd > folded && follows(r) {
			key.WriteString(string(name.Fold(p.text[folded:nameEnd])))
			folded = nameEnd
			if !p.roster.begins(key.String()) {
				break
			}
			// The parts are folded one by one, so that the whole is read once. What
			// is found that way is looked up as it stands.
			if p.has(name.Key(key.String())) && p.isKnown(from, nameEnd) {
				found = nameEnd
			}
		}
		i += size
		if !isJoint(r) && !name.Invisible(r) {
			nameEnd = i
		}
	}
	return found
}

// follows reports whether a letter may be the beginning of the text behind a
// name, with no space between. Vowels and signs that only go on with what is
// before them are none.
func follows(r rune) bool {
	switch {
	case 0x1100 <= r && r < 0x1160: // Hangul, taken apart
		return true
	case r < 0xE00 || !unicode.IsLetter(r) || unicode.Is(unicode.Lm, r):
		return false
	case 0xE30 <= r && r <= 0xE33 || r == 0xE45 || 0xEB0 <= r && r <= 0xEB3:
		return false
	}
	return unspaced(r) || 0xAC00 <= r && r <= 0xD7A3
}

// note adds the word text[from:end] to what was found, if it is known.
func (p *inline) note(i, from, end int) bool {
	word := p.text[from:end]
	key := name.Fold(word)
	if key == "all" || key == "everyone" {
		if !p.all {
			p.all = true
			p.found = append(p.found, Mention{All, -1, word, i, end})
		}
		return true
	}
	for _, m := range p.roster.members[key] {
		if p.members[m] {
			continue
		}
		if p.members == nil {
			p.members = make(map[int]bool)
		}
		p.members[m] = true
		p.found = append(p.found, Mention{Member, m, word, i, end})
	}
	return p.roster.members[key] != nil
}

// chain splits text[from:end] at its @ into known words, each the longest that
// the roster has; nil if that cannot be done.
func (p *inline) chain(from, end int) [][2]int {
	var starts []int // of the parts between the @
	for i := from; i < end; {
		if i == from {
			starts = append(starts, i)
		}
		r, size := utf8.DecodeRuneInString(p.text[i:end])
		i += size
		if r == '@' || r == '＠' {
			starts = append(starts, i)
		}
	}
	if len(starts) < 2 {
		return nil
	}
	var links [][2]int
	for part := 0; part < len(starts); {
		taken := 0
		for parts := min(p.roster.ats+1, len(starts)-part); parts > 0; parts-- {
			stop := end
			if part+parts < len(starts) {
				stop = starts[part+parts]
			}
			_, nameEnd := (&inline{finder: p.finder, end: stop}).word(starts[part])
			if nameEnd <= starts[part+parts-1] {
				continue // an empty part
			}
			if nameEnd-starts[part] <= longestWord && p.isKnown(starts[part], nameEnd) {
				links = append(links, [2]int{starts[part], nameEnd})
				taken = parts
				break
			}
		}
		if taken == 0 {
			return nil
		}
		part += taken
	}
	return links
}

func (p *inline) isKnown(from, end int) bool {
	return p.has(name.Fold(p.text[from:end]))
}

func (p *inline) has(key name.Key) bool {
	return key == "all" || key == "everyone" || p.roster.members[key] != nil
}

func isAt(s string) bool {
	return s[0] == '@' || len(s) >= len("＠") && s[:len("＠")] == "＠"
}

// isWord reports whether r is a letter, digit or mark of a name.
func isWord(r rune) bool { return name.Continues(r) && !name.Joint(r) }

// isJoint reports whether r stands between the letters of a name, also in
// full width and as a typographic hyphen: name.Fold takes them for the same.
func isJoint(r rune) bool {
	switch r {
	case '．', '＿', '－', '＠', '‐', '‑':
		return true
	}
	return name.Joint(r)
}

// unspaced reports whether r belongs to a script written without spaces between
// words.
func unspaced(r rune) bool {
	return r >= 0xE00 && (r == 'ー' || r == '々' || unicode.In(r,
		unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Yi,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Javanese, unicode.Balinese, unicode.Tai_Tham))
}
