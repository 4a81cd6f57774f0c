// Package mention finds who is addressed by @name in a message. Mail and rooms
// share it, so that the same words reach the same people everywhere.
//
// # What is looked at
//
// The text is read as Markdown. A mention does not count inside
//
//   - code: spans, and fences of any length and kind, also within list items;
//     an unclosed fence hides everything to its end;
//   - quotes of earlier text: lines that start with ">", also in list items
//     (a line that only continues a quote's paragraph is the writer's own);
//   - link destinations and titles, autolinks, bare URLs (a scheme and ://, or
//     www.), HTML comments, and attributes of HTML tags. The text of a link is
//     the writer's own.
//
// Text indented by four spaces counts: it is as often a list as it is code.
//
// # What is a mention
//
// "@" (or the full-width "＠") directly followed by a letter or digit. The word
// goes on as far as a name could ([name.Continues]), less . _ - @ at its end.
// The whole word must be a name or an alias of the roster; a part of it never
// hits somebody with a shorter name. So @build-bot is build-bot, or unknown,
// but not build, while "@build-", "@build.", "_@build_" and "@build's" are
// build. Where no space tells a name from the text behind it, the roster does:
// before Chinese, Japanese, Korean, Thai and the like it is the longest that the
// roster has (@build请看, @王さん, @王请看, @build에게), so that @李四 is 李 only where
// nobody is called 李四. Case, width, normal form, typographic hyphens and invisible
// characters do not matter ([name.Fold]).
//
// A word that holds further @ is a name such as ana@web if the roster has it,
// otherwise a chain (@Bob@Carol) if every link is known, otherwise unknown as a
// whole: @ana@web never reaches an agent called web after ana@web has gone.
//
// No mention at all, not even an unknown one, is an @
//
//   - after a letter or digit: x@B.com, git@B (scripts written without spaces,
//     such as Chinese and Thai, excepted: there a name follows a word directly);
//   - after punctuation of a mail address, if a domain follows: a.b-@B.com;
//   - after a backslash or another @: \@B, @@B;
//   - in a path or package: src/@B, @B/x. But "@B/" and "@A/@B" are mentions.
//
// # Guarantees
//
// The time is linear in the text for any input, invalid UTF-8 included. The
// package is pure.
package mention

import (
	"slices"
	"strings"

	"bureau/internal/name"
)

// Candidate is one who can be mentioned. A "@" in front of a name or alias is
// not part of it. What is no single word of name characters can be registered
// but never mentioned.
type Candidate struct {
	Name    string
	Aliases []string // further names: short forms, roles, groups
}

// Roster answers who a word means. It is read-only and may be shared.
type Roster struct {
	members map[name.Key][]int
	ats     int      // the most @ that a name or alias holds
	sorted  []string // the keys, and the words for all
}

// NewRoster prepares the candidates. A name belongs to the first candidate that
// has it, and wins over any alias. An alias of several candidates is a group: a
// mention of it is a mention of each.
func NewRoster(candidates []Candidate) *Roster {
	r := &Roster{members: make(map[name.Key][]int, len(candidates))}
	for i, c := range candidates {
		if key := r.key(c.Name); key != "" && r.members[key] == nil {
			r.members[key] = []int{i}
		}
	}
	names := make(map[name.Key]bool, len(r.members))
	for key := range r.members {
		names[key] = true
	}
	for i, c := range candidates {
		for _, alias := range c.Aliases {
			key := r.key(alias)
			group := r.members[key]
			if key == "" || names[key] || len(group) > 0 && group[len(group)-1] == i {
				continue
			}
			r.members[key] = append(group, i)
		}
	}
	r.sorted = append(r.sorted, "all", "everyone")
	for key := range r.members {
		r.sorted = append(r.sorted, string(key))
	}
	slices.Sort(r.sorted)
	return r
}

// begins reports whether something in the roster begins like this.
func (r *Roster) begins(like string) bool {
	i, _ := slices.BinarySearch(r.sorted, like)
	return i < len(r.sorted) && strings.HasPrefix(r.sorted[i], like)
}

func (r *Roster) key(word string) name.Key {
	key := name.Fold(strings.TrimPrefix(strings.TrimSpace(word), "@"))
	r.ats = max(r.ats, strings.Count(string(key), "@"))
	return key
}

// Kind says what a mention means.
type Kind uint8

// The kinds of mentions.
const (
	Member  Kind = iota + 1 // one candidate
	All                     // @all or @everyone, as a whole word
	Unknown                 // looks like a mention, but nobody has that name
)

// Mention is one mention in a text.
type Mention struct {
	Kind Kind
	// Member is the index of the candidate, -1 for the other kinds.
	Member int
	// Text is the word as written, without the @ before it.
	Text string
	// Start and End are byte offsets: text[Start:End] is the @ and the word.
	Start, End int
}

// Find gives the mentions in a text in order of first appearance: each
// candidate at most once, All at most once, each unknown word at most once. The
// members of a group come in the order of the candidates, all with the offsets
// of the one word. Whether the writer itself is among them is for the caller
// to see to, and what @all beside a name means.
func (r *Roster) Find(text string) []Mention {
	f := finder{roster: r, text: text}
	if strings.Contains(text, "@") || strings.Contains(text, "＠") {
		f.blocks()
	}
	return f.found
}

// finder is one run over one text.
type finder struct {
	roster *Roster
	text   string

	found   []Mention
	members map[int]bool
	unknown map[name.Key]bool
	all     bool

	known int // end of the last word that was a known mention

	run, runName int // the end of the word that was read last, and of the name in it
}
