package mcpserver

import (
	"encoding/json"
	"unicode/utf8"

	"bureau/internal/office"
)

// Bounds of results, so that they stay far below the 50,000 characters (and
// 25,000 tokens, of which one may be a character) at which Claude Code puts a
// result into a file instead of the context (2.1.332).
const (
	maxList   = 16 << 10 // bytes of a list's JSON
	maxRoster = 7 << 10  // bytes of the roster's
	maxText   = 16_000   // characters of bodies that are shown whole
	maxBrief  = 1_000    // characters of a body in a thread
	maxLine   = 300      // characters of a subject or a first line
)

// fit counts how many entries of a list stay within a number of bytes; at
// least one.
func fit[T any](list []T, bytes int) int {
	for i := range list {
		raw, _ := json.Marshal(&list[i])
		if bytes -= len(raw) + 1; bytes < 0 {
			return max(i, 1)
		}
	}
	return len(list)
}

// paged gives a page of a list that stays within a number of bytes. The
// office's cursors stand behind whole pages, so one that is too long is asked
// for again with fewer entries.
func paged[T any](page office.Page, bytes int, get func(office.Page) ([]T, error)) ([]T, error) {
	for {
		list, err := get(page)
		if err != nil {
			return nil, err
		}
		n := fit(list, bytes)
		if n == len(list) {
			return list, nil
		}
		page.Limit = n
	}
}

// part gives count characters of a text from an offset, and the offset behind
// them; 0 at the end of the text.
func part(s string, offset, count int) (text string, next int) {
	runes := 0
	begin := -1
	for i := range s {
		if runes == offset {
			begin = i
		}
		if begin >= 0 && runes == offset+count {
			return s[begin:i], runes
		}
		runes++
	}
	if begin < 0 {
		return "", 0
	}
	return s[begin:], 0
}

// head gives the first characters of a text.
func head(s string, count int) (text string, cut bool) {
	if utf8.RuneCountInString(s) <= count {
		return s, false
	}
	text, _ = part(s, 0, count)
	return text, true
}
