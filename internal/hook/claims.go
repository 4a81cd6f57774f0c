package hook

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"bureau/internal/claim"
	"bureau/internal/git/place"
	"bureau/internal/office"
	"bureau/internal/quote"
)

const (
	// claimsShown is how many claims of others a session is told of at its
	// start, and how many of its own.
	claimsShown = 10
	// Columns of what a claim covers and of what it is for, in such a list.
	listPath   = 60
	listIntent = 80
)

// claims says what others hold in the session's project, and what it holds
// itself: after a compaction its model may not know that any more. What guards
// claimed on the way is left out.
func (h *visit) claims(me office.Caller) (string, error) {
	var b strings.Builder
	project, err := h.claimProject(me)
	if err != nil {
		return "", err
	}
	tree := h.tree(project)
	shown, mine, total := 0, 0, 0
	for q := (office.ClaimQuery{Project: project, Tree: tree, Page: office.Page{Limit: 4 * claimsShown}}); ; {
		here, err := h.o.ClaimList(h.ctx, me, q)
		if err != nil && len(here.Claims) == 0 {
			return "", err
		}
		h.late = errors.Join(h.late, err) // what it lists all the same is right
		total = max(total, here.Total)    // the first page counts other programs' locks too
		for i := range here.Claims {
			switch c := &here.Claims[i]; {
			case c.Mine:
				mine++
			case shown == claimsShown:
			default:
				if shown == 0 {
					b.WriteString("\nClaimed by others in this project, so ask before you change it:")
				}
				shown++
				b.WriteString("\n- " + h.claimLine(c, tree, ""))
			}
		}
		if q.Page.From = here.Next; shown == claimsShown || here.Next == "" {
			break
		}
	}
	if more := total - mine - shown; shown > 0 && more > 0 {
		fmt.Fprintf(&b, "\n- and %d more: the claim tool, or `bureau claims`, lists all", more)
	} else if shown > 0 {
		b.WriteString("\nThe claim tool lists them, and with action \"who\" says who holds a file; so do `bureau claims` and `bureau who PATH`.")
	}
	around, err := h.claimsAround(me, project, tree)
	if err != nil {
		return b.String(), err
	}
	b.WriteString(around)
	own, err := h.o.ClaimList(h.ctx, me, office.ClaimQuery{Project: project, Holder: "me", Page: office.Page{Limit: 4 * claimsShown}})
	if err != nil {
		return b.String(), err
	}
	// What an earlier session in this seat left behind is not this one's.
	own.Claims = slices.DeleteFunc(own.Claims, func(c office.ClaimView) bool { return !c.Mine })
	for i := range own.Claims {
		if i == claimsShown {
			b.WriteString("\n- and more: the claim tool, or `bureau claims`, lists all")
			break
		}
		if i == 0 {
			b.WriteString("\nYou hold, until you give it up with the claim tool (action \"release\", ids, and a summary as text) or `bureau release CLAIM --summary TEXT`:")
		}
		c := &own.Claims[i]
		fmt.Fprintf(&b, "\n- %s, claim %s, for %s", covers(c), c.Short, words(c.Intent, listIntent))
	}
	return b.String(), nil
}

// claimsAround says what others hold of the session's work tree in the projects
// around its own, "" for nothing.
func (h *visit) claimsAround(me office.Caller, p office.Project, tree string) (string, error) {
	list, total, err := h.o.ClaimsAround(h.ctx, me, p, tree, claimsShown)
	var b strings.Builder
	for i := range list {
		c := &list[i]
		if c.Mine {
			total--
			continue
		}
		if b.Len() == 0 {
			b.WriteString("\nClaimed by others in the projects around this one, and it covers files here:")
		}
		where := ""
		if c.Project != "" {
			where = " (in project " + line(c.Project, listPath) + ")"
		}
		b.WriteString("\n- " + h.claimLine(c, c.Tree, where))
	}
	if more := total - strings.Count(b.String(), "\n- "); b.Len() > 0 && more > 0 {
		fmt.Fprintf(&b, "\n- and %d more: the claim tool with action \"who\" and paths [\".\"], or `bureau who .`, lists all", more)
	}
	return b.String(), err
}

// claimProject gives the project whose claims are the session's concern: work
// in a mere folder shares those outside of any project.
func (h *visit) claimProject(me office.Caller) (office.Project, error) {
	if me.Project.Root == "" {
		return office.Project{}, nil
	}
	at, err := place.Of(me.Project.Root)
	if err != nil {
		return me.Project, nil // the folder is gone; its claims may be there
	}
	return h.o.SettleProject(h.ctx, at.Project)
}

// tree gives the session's own work tree of a project.
func (h *visit) tree(p office.Project) string {
	if at, err := place.Of(h.folderNow()); err == nil && at.Project.Root == p.Root {
		return at.Tree
	}
	return p.Root
}

// claimLine says who holds what, why, since when and how they are, and where if
// that is not the session's own work tree; where says in which project.
func (h *visit) claimLine(c *office.ClaimView, tree, where string) string {
	holder := line(c.Holder, listPath)
	if holder == "" {
		holder = "somebody"
	}
	s := fmt.Sprintf("%s%s: %s%s, %s", covers(c), where, holder, h.since(c.Since), c.Standing)
	if c.Mode == claim.Shared {
		s += ", shared"
	}
	if c.Lock != "" {
		s += ", by mclaude"
	}
	if len(c.Paths) > 0 && c.Tree != "" && c.Tree != tree {
		s += ", in the work tree " + line(c.Tree, pathColumns)
	}
	if c.Intent == "" {
		return s
	}
	return s + ", for " + words(c.Intent, listIntent)
}

// since says how long ago something began; nothing where that is not known, as
// of a lock that does not say.
func (h *visit) since(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return " since " + quote.Ago(h.io.Now().Sub(at)) + " ago"
}

// covers names the first things that a claim covers. Another program's lock need
// not name files.
func covers(c *office.ClaimView) string {
	if all := c.Covered(); len(all) > 0 || c.Lock == "" {
		return listed(all, listPath)
	}
	return "the lock " + line(c.Lock, listPath) + ", which names no files"
}

// listed names the first of many things.
func listed(all []string, columns int) string {
	const named = 2
	out := make([]string, 0, named)
	for _, s := range all[:min(len(all), named)] {
		out = append(out, line(s, columns))
	}
	return andMore(strings.Join(out, ", "), len(all)-named)
}
