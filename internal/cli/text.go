package cli

import (
	"fmt"
	"strings"
	"time"

	"bureau/internal/quote"
)

// longLine bounds a line of others' text where the listing does not.
const longLine = 1000

// safeLine makes one line of text of others that fits into a number of
// columns; 0 is for what the listing cuts itself. Nothing in it steers a
// terminal.
func safeLine(s string, columns int) string {
	if columns <= 0 {
		columns = longLine
	}
	return quote.Line(s, columns)
}

// line joins the parts of a line of a listing with two spaces behind a margin,
// as far as the line has room; each part is made safe for itself, and empty
// ones are left out.
func (a *app) line(margin string, parts ...string) string {
	left := a.width() - quote.Width(margin)
	b := []byte(margin)
	for _, part := range parts {
		if part = safeLine(part, max(left, 1)); part == "" || left <= 0 {
			continue
		}
		b = append(append(b, part...), "  "...)
		left -= quote.Width(part) + gap
	}
	return strings.TrimRight(string(b), " ")
}

// safeText keeps the lines of a text of others and shows what would steer a
// terminal instead of letting it act.
func safeText(s string) string { return quote.Terminal(s) }

// indented puts a text of others behind a margin, so that no line of it can be
// taken for one of ours.
func indented(margin, text string) string {
	text = strings.TrimRight(safeText(text), "\n")
	return margin + strings.ReplaceAll(text, "\n", "\n"+margin) + "\n"
}

// ago says how long ago a moment was, for people.
func (a *app) ago(at time.Time) string {
	if at.IsZero() {
		return "never"
	}
	d := a.Now().Sub(at)
	switch {
	case d < time.Second:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	case d < 100*24*time.Hour:
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	}
	return at.Local().Format("2006-01-02")
}

// since is ago inside a sentence: "3 min ago", "just now".
func (a *app) since(at time.Time) string {
	switch s := a.ago(at); {
	case s == "now":
		return "just now"
	case s == "never" || strings.Contains(s, "-"):
		return s
	default:
		return s + " ago"
	}
}

// size says how much, for people.
func size(bytes int64) string {
	switch {
	case bytes < 10_000:
		return fmt.Sprintf("%d bytes", bytes)
	case bytes < 1<<20:
		return fmt.Sprintf("%d KiB", bytes>>10)
	}
	return fmt.Sprintf("%d MiB", bytes>>20)
}

// plural gives "1 message" or "2 messages".
func plural(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(what, "y"))
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// The few colours in use. They only repeat what the words say.
func (a *app) bold(s string) string { return a.style("1", s) }
func (a *app) dim(s string) string  { return a.style("2", s) }

func (a *app) style(code, s string) string {
	if !a.Color || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// listing prints a page of a list as a table, if there is anything in it, and
// under it how much there is in all: words say it, total counts it.
func (a *app) listing(head []string, rows [][]string, total int, words, next string) {
	if len(rows) > 0 {
		a.table(head, rows)
	}
	if len(rows) < total {
		words = fmt.Sprintf("%d of %s", len(rows), words)
	}
	a.tail(words, next)
}

// tail is the last line of a listing: how much there is, and the way to more.
func (a *app) tail(total, next string) {
	if next != "" {
		total += "; next page: --cursor " + next
	}
	a.printf("%s\n", a.dim(total))
}
