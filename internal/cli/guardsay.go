package cli

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"bureau/internal/claim"
	"bureau/internal/fault"
	"bureau/internal/git"
	"bureau/internal/office"
	"bureau/internal/quote"
)

// Bounds of what a guard says: enough to act on, and no flood in the context
// of a model.
const (
	mostHolders = 8
	mostPaths   = 6 // of one holder
)

// guardDetail is what a refusal holds for programs.
type guardDetail struct {
	Hook string     `json:"hook"`
	Held []heldPath `json:"held"`
	Lost string     `json:"lost,omitempty"`
}

// refusal says what stands in the way of a commit, and the ways out.
func (g *guardRun) refusal(f *findings, caller office.Caller) error {
	var b strings.Builder
	act := "commit"
	if g.hook == git.PrePush {
		act = "push"
	}
	var hints []string
	if len(f.held) > 0 {
		paths := map[string]bool{}
		for _, h := range f.held {
			paths[h.Path] = true
		}
		fmt.Fprintf(&b, "this %s changes %s that somebody else holds", act, plural(len(paths), "path"))
		g.list(&b, f.held, caller)
	}
	detail := guardDetail{Hook: g.hook, Held: f.held}
	if f.lost != nil {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		detail.Lost = f.lost.Error()
		b.WriteString(g.theirs(f.lost.Error(), longLine))
		hints = append(hints, fault.HintOf(f.lost))
	}
	switch {
	case g.session && g.off():
		hints = append(hints, guardVariable+"=off does not count inside an agent session: it is a person's decision")
	case !g.session && g.hook == git.PrePush:
		hints = append(hints, "to push it all the same: "+guardVariable+"=off git push …")
	case !g.session:
		hints = append(hints, "to commit it all the same: "+guardVariable+"=off git commit …")
	case len(f.held) > 0:
		hints = append(hints, "leave these paths out of the "+act+", or wait for their release: bureau claim PATH --intent TEXT --wait 10m")
	}
	return fault.New(fault.Denied, "%s", b.String()).WithHint("%s", strings.Join(hints, "\n")).WithDetail(detail)
}

// list names the holders, each with what it holds of the commit.
func (g *guardRun) list(b *strings.Builder, held []heldPath, caller office.Caller) {
	type holder struct {
		claim.Block
		paths []string
	}
	var holders []*holder
	known := map[string]*holder{}
	for _, h := range held {
		key := string(h.Claim) + "\x00" + h.Foreign
		if known[key] == nil {
			known[key] = &holder{Block: h.Block}
			holders = append(holders, known[key])
		}
		known[key].paths = append(known[key].paths, h.Path)
	}
	for i, h := range holders {
		if i == mostHolders {
			fmt.Fprintf(b, "\n  and %s more: bureau claims", plural(len(holders)-i, "holder"))
			return
		}
		who := g.theirs(h.Name, 80)
		if h.Foreign != "" {
			who += " (mclaude lock " + g.theirs(h.Foreign, 80) + ")"
		}
		fmt.Fprintf(b, "\n  %s: %s (%s)", who, g.theirs(h.Intent, 200), g.how(&h.Block))
		for j, path := range h.paths {
			if j == mostPaths {
				fmt.Fprintf(b, "\n    and %d more", len(h.paths)-j)
				break
			}
			b.WriteString("\n    " + g.theirs(showPath(path), longLine))
		}
		for _, way := range g.waysOut(&h.Block, h.paths[0], caller) {
			b.WriteString("\n    " + way)
		}
	}
}

// how says since when a claim stands and how its holder is.
func (g *guardRun) how(b *claim.Block) string {
	words := []string{"claimed " + g.since(b.Since)}
	if b.Since.IsZero() {
		words = nil
	}
	words = append(words, string(b.Standing))
	if b.Auto {
		words = append(words, "by editing it")
	}
	if !b.Last.IsZero() {
		words = append(words, "last sign "+g.since(b.Last))
	}
	if b.Project != "" {
		words = append(words, "in project "+g.theirs(b.Project, 80))
	}
	if b.Tree != "" {
		words = append(words, "in the work tree "+g.theirs(b.Tree, 200))
	}
	return strings.Join(words, ", ")
}

// waysOut says what can be done about a claim in the way.
func (g *guardRun) waysOut(b *claim.Block, path string, caller office.Caller) (ways []string) {
	switch {
	case b.Foreign != "":
		return []string{"once it gives no sign of life: bureau lock force-release " + quote.Shell(b.Foreign) + " --reason TEXT"}
	case b.Holder == caller.Agent.ID:
		return []string{"go on from it: bureau takeover " + string(b.Claim)}
	}
	act := "commit"
	if g.hook == git.PrePush {
		act = "push"
	}
	ways = append(ways, "ask: bureau ask "+quote.Shell(b.Name)+" "+quote.Shell("may I "+act+" "+g.theirs(showPath(path), 200)+"?"))
	if b.Standing == claim.Stale || b.Standing == claim.Parking || b.Standing == claim.Unowned || b.LongQuiet {
		ways = append(ways, "it shows no sign of life; take it over: bureau takeover "+string(b.Claim))
	}
	return ways
}

// warn says what does not stop the commit.
func (g *guardRun) warn(f *findings) {
	if f.unread != "" {
		g.note("other programs' locks were not looked at: %s", g.theirs(f.unread, longLine))
	}
	for _, w := range []struct {
		list []heldPath
		what string
	}{
		{f.merged, "the merge brings changes of what others hold"},
		{f.beside, "another program has a lock on what you hold"},
		{f.shares, "others share your claim and may change the same"},
		{f.meets, "others hold the same in another work tree, where it will meet at the merge"},
	} {
		var words []string
		for i, h := range w.list {
			if i == mostPaths {
				words = append(words, fmt.Sprintf("%d more", len(w.list)-i))
				break
			}
			words = append(words, g.theirs(showPath(h.Path), 200)+" ("+g.theirs(h.Name, 80)+": "+g.theirs(h.Intent, 100)+")")
		}
		if len(words) > 0 {
			g.note("%s: %s", w.what, strings.Join(words, ", "))
		}
	}
}

// theirs makes one line of words of others. A model, which reads the output of
// a commit as it comes, is shown no tag that means something to it.
func (g *guardRun) theirs(s string, columns int) string {
	if g.session {
		s = quote.Text(s)
	}
	return safeLine(s, columns)
}

// showPath shows a path as it is, or as a Go string where it has characters
// that could not be told from others.
func showPath(path string) string {
	plain := utf8.ValidString(path) && path == strings.TrimSpace(path) && !strings.ContainsFunc(path, func(r rune) bool {
		return !unicode.IsPrint(r) || r == '"' || r == '\\'
	})
	if plain {
		return path
	}
	return strconv.Quote(path)
}
