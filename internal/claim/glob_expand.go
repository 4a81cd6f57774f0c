package claim

import (
	"slices"
	"strings"

	"bureau/internal/fault"
)

// MaxAlternatives is how many patterns one text with braces may stand for.
const MaxAlternatives = 64

// Expand writes out the braces of a user's text, as shells do: app/{a,b}/*.go
// is app/a/*.go and app/b/*.go. Braces may be nested. Braces without a comma
// are a part of the name ({id}) and come back escaped, so that [ParsePattern]
// takes each result. A text without braces comes back as it is.
//
// It refuses (invalid) braces that do not match, ranges ({1..3}), a text
// beyond [MaxPattern] and more than [MaxAlternatives] results.
func Expand(text string) ([]string, error) {
	if len(text) > MaxPattern {
		return nil, tooLong(text)
	}
	if !strings.ContainsAny(text, "{}") {
		return []string{text}, nil
	}
	e := expander{text: text}
	all, err := e.sequence(false)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, x := range all {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out, nil
}

type expander struct {
	text string
	at   int
}

// sequence reads to the end of the text or, within braces, up to the comma or
// brace that ends it, and gives what it stands for.
func (e *expander) sequence(within bool) ([]string, error) {
	out := []string{""}
	for e.at < len(e.text) {
		from := e.at
		switch c := e.text[e.at]; {
		case c == '{':
			alternatives, err := e.braces()
			if err != nil {
				return nil, err
			}
			if len(out)*len(alternatives) > MaxAlternatives {
				return nil, e.tooMany()
			}
			var next []string
			for _, head := range out {
				for _, tail := range alternatives {
					next = append(next, head+tail)
				}
			}
			out = next
			continue
		case within && (c == ',' || c == '}'):
			return out, nil
		case c == '}':
			return nil, invalid(e.text, "has a } that closes nothing").WithHint(`write \} for a brace in a name`)
		case c == '\\':
			e.at = min(e.at+2, len(e.text))
		case c == '[' && classEnd(e.text[e.at:]) > 0:
			e.at += classEnd(e.text[e.at:])
		default:
			e.at++
			for e.at < len(e.text) && strings.IndexByte(`{},\[`, e.text[e.at]) < 0 {
				e.at++
			}
		}
		for i := range out {
			out[i] += e.text[from:e.at]
		}
	}
	return out, nil
}

// braces reads from { to its }.
func (e *expander) braces() ([]string, error) {
	from := e.at
	var out []string
	for parts := 1; ; parts++ {
		e.at++ // the brace or comma
		part, err := e.sequence(true)
		if err != nil {
			return nil, err
		}
		if out = append(out, part...); len(out) > MaxAlternatives {
			return nil, e.tooMany()
		}
		if e.at == len(e.text) {
			return nil, invalid(e.text, "has a { without its }").WithHint(`close it, or write \{ for a brace in a name`)
		}
		if e.text[e.at] == ',' {
			continue
		}
		e.at++
		if parts > 1 {
			return out, nil
		}
		if inner := e.text[from+1 : e.at-1]; strings.Contains(inner, "..") && !strings.Contains(inner, "/") {
			return nil, invalid(e.text, "has a range in braces ({%s})", inner).WithHint(`write each one, as in {1,2,3}, or \{ for a brace in a name`)
		}
		for i := range out {
			out[i] = `\{` + out[i] + `\}`
		}
		return out, nil
	}
}

func (e *expander) tooMany() *fault.Error {
	return invalid(e.text, "stands for more than %d patterns", MaxAlternatives).WithHint("claim the folder above, or fewer at a time")
}
