package cli

import (
	"strings"

	"bureau/internal/quote"
)

// Widths of a table.
const (
	gap       = 2  // between columns
	leastCell = 8  // a column is not shrunk below this
	leastRest = 20 // what the last column should have left
)

// table prints rows under a head, each column as wide as its widest cell. The
// last column is cut to what the line has left. Where that is too little the
// widest columns are shrunk, but never the first one: half an id or half a
// name that one is to type is of no use.
func (a *app) table(head []string, rows [][]string) {
	widths := a.widths(head, rows)
	a.row(head, widths, a.dim)
	for _, row := range rows {
		a.row(row, widths, func(s string) string { return s })
	}
}

func (a *app) widths(head []string, rows [][]string) []int {
	last := len(head) - 1
	widths := make([]int, len(head))
	for i, cell := range head {
		widths[i] = quote.Width(cell)
	}
	for _, row := range rows {
		for i, cell := range row[:last] {
			widths[i] = max(widths[i], quote.Width(cell))
		}
	}
	for {
		rest, widest := a.width(), 0
		for i, w := range widths[:last] {
			rest -= w + gap
			if i > 0 && w > leastCell && (widest == 0 || w > widths[widest]) {
				widest = i
			}
		}
		if rest >= leastRest || widest == 0 {
			widths[last] = max(rest, leastCell)
			return widths
		}
		widths[widest]--
	}
}

func (a *app) row(cells []string, widths []int, style func(string) string) {
	var b strings.Builder
	for i, cell := range cells {
		cell = quote.Line(cell, widths[i])
		b.WriteString(cell)
		b.WriteString(strings.Repeat(" ", max(widths[i]-quote.Width(cell), 0)+gap))
	}
	a.printf("%s\n", style(strings.TrimRight(b.String(), " ")))
}
