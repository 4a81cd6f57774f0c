package name

import (
	"slices"
	"strings"
)

// Suggest gives at most most of the candidates that target may have been meant
// to be, nearest first: by edit distance of the keys (a swap of neighbours
// counts as one edit), up to a third of the target's length and at least one
// edit. Behind those come candidates that begin with the target, and those of
// which it is a whole part between . _ - @ (bureau in ana@bureau). Each name is
// given once, equals in alphabetical order.
func Suggest(target string, candidates []string, most int) []string {
	const longest = 2 * MaxRunes // a longer target resembles no name
	want := []rune(string(Fold(head(target, longest*4))))
	if len(want) == 0 || len(want) > longest || most <= 0 {
		return nil
	}
	limit := max(1, min(4, len(want)/3))

	type near struct {
		name     string
		key      Key
		distance int
	}
	var found []near
	seen := make(map[Key]bool)
	var rows [3][]int
	for _, c := range candidates {
		key := Fold(c)
		if seen[key] || key == "" {
			continue
		}
		seen[key] = true
		have := []rune(string(key))
		d := distance(want, have, limit, &rows)
		switch {
		case d <= limit && d < max(len(want), len(have)): // not all of it changed
		case len(want) >= 2 && strings.HasPrefix(string(key), string(want)):
			d = limit + 1
		case len(want) >= 2 && hasPart(string(key), string(want)):
			d = limit + 2
		default:
			continue
		}
		found = append(found, near{c, key, d})
	}
	slices.SortFunc(found, func(a, b near) int {
		if a.distance != b.distance {
			return a.distance - b.distance
		}
		return strings.Compare(string(a.key), string(b.key))
	})
	names := make([]string, 0, min(most, len(found)))
	for _, f := range found[:min(most, len(found))] {
		names = append(names, f.name)
	}
	return names
}

func hasPart(key, part string) bool {
	for p := range strings.FieldsFuncSeq(key, Joint) {
		if p == part {
			return true
		}
	}
	return false
}

// distance is the number of insertions, deletions, substitutions and swaps of
// neighbours that turn a into b, or limit+1 when there are more than limit.
func distance(a, b []rune, limit int, rows *[3][]int) int {
	if diff := len(a) - len(b); diff > limit || -diff > limit {
		return limit + 1
	}
	for i := range rows {
		if cap(rows[i]) <= len(b) {
			rows[i] = make([]int, len(b)+1)
		}
		rows[i] = rows[i][:len(b)+1]
	}
	before, last, row := rows[0], rows[1], rows[2]
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := row[0]
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > limit {
			return limit + 1
		}
		before, last, row = last, row, before
	}
	return min(last[len(b)], limit+1)
}

// head cuts s to at most most bytes, between characters.
func head(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && s[most]&0xC0 == 0x80 {
		most--
	}
	return s[:most]
}
