package hook

import (
	"errors"
	"fmt"
	"strings"

	"bureau/internal/claim"
	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/quote"
)

const (
	// maxReason bounds the reason of a denial, in UTF-16 units: the client cuts
	// some at 2,000.
	maxReason = 1900
	// blocksShown is how many of the claims in the way are named.
	blocksShown = 3
	// Columns of a path, and of what a claim is for.
	pathColumns   = 120
	intentColumns = 100
)

// what names the edit: its first file, and how many more there are.
func (e *edit) what() string {
	if len(e.paths) == 0 {
		return "the edit"
	}
	return "the edit of " + andMore(line(e.paths[0], pathColumns), len(e.paths)+e.extra-1)
}

func andMore(s string, n int) string {
	if n <= 0 {
		return s
	}
	return fmt.Sprintf("%s and %d more", s, n)
}

// refusal says why an edit was not made, and the ways on. What others wrote
// stands in quotes, with nothing hidden in it.
func (h *visit) refusal(err error) string {
	blocks := blocksOf(err)
	if len(blocks) == 0 {
		text := h.edit.what() + " was not made: " + quote.Text(err.Error()) + "."
		if hint := fault.HintOf(err); hint != "" {
			text += "\nWhat to do: " + quote.Text(hint)
		}
		return cut(text)
	}
	how := h.how()
	var b strings.Builder
	b.WriteString(h.edit.what() + " was not made, because somebody else holds what it changes:")
	for i := range blocks {
		if i == blocksShown {
			fmt.Fprintf(&b, "\n- and %d more: %s", len(blocks)-i, how.way(`the claim tool with action "who" and the path`, "bureau who "+word(h.edit.paths[0])))
			break
		}
		b.WriteString("\n- " + h.held(&blocks[i]))
	}
	first := &blocks[0]
	path := word(h.edit.paths[0])
	claimIt := how.way("the claim tool with this path and your intent", "bureau claim "+path+" --intent TEXT")
	if first.Own && first.Claim != "" {
		fmt.Fprintf(&b, "\n%s is your own subagent and keeps it until it stops.", line(first.Name, 80))
		if first.Auto {
			fmt.Fprintf(&b, " To change it beside it all the same, claim it: %s", claimIt)
		} else {
			fmt.Fprintf(&b, " If it does not need it any more: %s", how.way(`the claim tool with action "release" and this id`, "bureau release "+string(first.Claim)))
		}
		return cut(b.String())
	}
	if askable(first) {
		question := "May I change " + line(h.edit.paths[0], pathColumns) + "?"
		fmt.Fprintf(&b, "\nAsk: %s", how.way(fmt.Sprintf("the ask tool with to %q", first.Name), "bureau ask "+first.Name+" "+word(question)))
	}
	if len(first.YourClaims) > 0 {
		fmt.Fprintf(&b, "\n%s waits for what you hold, too: %s. Give that up first, then take a place behind: %s", line(first.Name, 80), listed(first.Yours, pathColumns), how.releases(first.YourClaims))
	}
	fmt.Fprintf(&b, "\nWait until it is free: %s", how.way("the claim tool with this path, your intent and wait_seconds 300", "bureau claim "+path+" --intent TEXT --wait 10m"))
	switch {
	case first.Claim == "":
	case first.Lapsed && !first.Auto:
		fmt.Fprintf(&b, "\nIts lease is over, so claiming gets it if it is not in use: %s", claimIt)
	case first.Standing == claim.Stale, first.Standing == claim.Parking, first.Standing == claim.Unowned, first.LongQuiet:
		fmt.Fprintf(&b, "\nIts holder is away. After a look at whether it is still in use you can take it over: %s", how.way(`the claim tool with action "takeover" and this id`, "bureau takeover "+string(first.Claim)))
	}
	b.WriteString("\nOr go on with something else. Do not change the file by another way.")
	return cut(b.String())
}

// releases says how one's own claims are given up.
func (s style) releases(claims []event.ID) string {
	ids := make([]string, 0, blocksShown)
	for _, id := range claims[:min(len(claims), blocksShown)] {
		ids = append(ids, string(id))
	}
	return s.way(`the claim tool with action "release" and ids [`+strings.Join(ids, ", ")+"]", "bureau release "+strings.Join(ids, " "))
}

// askable reports whether there is somebody to ask.
func askable(b *claim.Block) bool {
	return b.Foreign == "" && (b.Standing == claim.Active || b.Standing == claim.Quiet) && !strings.Contains(b.Name, " ")
}

// held says in one line who holds what, why, since when and how they are.
func (h *visit) held(b *claim.Block) string {
	now := h.io.Now()
	var s strings.Builder
	s.WriteString(listed(b.Overlap, pathColumns))
	if b.Project != "" {
		fmt.Fprintf(&s, " (in project %s)", line(b.Project, 80))
	}
	name := line(b.Name, 80)
	switch {
	case b.Waiting != "":
		fmt.Fprintf(&s, ": %s waits for it%s and comes first", name, h.since(b.Since))
	case b.Foreign != "":
		fmt.Fprintf(&s, ": locked by %s%s, in mclaude (lock %s)", name, h.since(b.Since), line(b.Foreign, 80))
	default:
		fmt.Fprintf(&s, ": %s%s, %s", name, h.since(b.Since), b.Standing)
		if !b.Last.IsZero() {
			fmt.Fprintf(&s, ", last sign of life %s", quote.Since(now.Sub(b.Last)))
		}
		if b.Claim != "" {
			fmt.Fprintf(&s, ", claim %s", b.Claim)
		}
	}
	if b.Tree != "" {
		fmt.Fprintf(&s, ", in the work tree %s", line(b.Tree, pathColumns))
	}
	if b.Intent != "" {
		fmt.Fprintf(&s, "; in their words: %s", words(b.Intent, intentColumns))
	}
	return s.String()
}

// meeting warns of claims in other work trees, "" for none.
func (h *visit) meeting(meets []claim.Block) string {
	return h.warning("bureau: the edit is allowed, but it will meet another's work at the merge:", meets, "")
}

// sharing says who else has a shared claim on what the session changes by one,
// "" for nobody.
func (h *visit) sharing(shares []claim.Block) string {
	return h.warning("bureau: the edit is allowed, because your claim is shared; so is that of others, who may change the same at this moment:", shares,
		"\nRead the file before you write it.")
}

// lockedToo warns of other programs' locks on what the session holds already, ""
// for none.
func (h *visit) lockedToo(locks []claim.Block) string {
	return h.warning("bureau: the edit is allowed, because you hold it, but another program has a lock on the same, and may change it at this moment:", locks,
		"\nRead the file before you write it, and tell your user that two work on it.")
}

// warning says something of claims that an edit passes, "" for none.
func (h *visit) warning(head string, blocks []claim.Block, tail string) string {
	if len(blocks) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(head)
	for i := range blocks {
		if i == blocksShown {
			fmt.Fprintf(&b, "\n- and %d more", len(blocks)-i)
			break
		}
		b.WriteString("\n- " + h.held(&blocks[i]))
	}
	return cut(b.String() + tail)
}

func blocksOf(err error) []claim.Block {
	var f *fault.Error
	if errors.As(err, &f) {
		blocks, _ := f.Detail.([]claim.Block)
		return blocks
	}
	return nil
}

// line makes one line of what somebody else wrote, with nothing hidden in it.
// Characters without a width are bounded too.
func line(s string, columns int) string {
	short, _ := quote.CutUTF16(quote.Line(s, columns), 2*columns)
	return short
}

// words is line in quotes.
func words(s string, columns int) string {
	return `"` + strings.ReplaceAll(line(s, columns), `"`, "'") + `"`
}

// word writes a word of a command for a shell. What cannot be shown as it is
// becomes a placeholder.
func word(s string) string {
	if line(s, 300) != s {
		return "PATH"
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-/:@+,", r))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// cut bounds a text; its end is the least of it.
func cut(s string) string {
	if short, was := quote.CutUTF16(s, maxReason); was {
		return short + "…"
	}
	return s
}
