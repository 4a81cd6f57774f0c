package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"bureau/internal/claim"
	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/git/place"
	"bureau/internal/office"
	"bureau/internal/quote"
)

// meant is what the words of a command about claims mean.
type meant struct {
	place   place.Place
	want    claim.Want
	misread string // what was read as a pattern though it may be a name; "" for nothing
}

// meaning reads paths, patterns and things. Paths are relative to the working
// folder, or to that of --project.
func (a *app) meaning(words, resources []string) (m meant, err error) {
	dir, err := a.folder()
	if err != nil {
		return m, err
	}
	paths, things := split(dir, words)
	things = append(things, resources...)
	if m.place, err = place.For(dir, paths); err != nil {
		return m, err
	}
	if m.want, err = m.place.Want(paths, things, claim.Exclusive); err == nil {
		m.misread = m.place.Misread(paths)
	}
	return m, err
}

// split tells things (port:8080) from paths: what stands before the first colon
// is a kind and no folder. A file that is there under such a name is a file;
// one that is not is written ./a:b.
func split(dir string, words []string) (paths, things []string) {
	for _, w := range words {
		if kind, _, ok := strings.Cut(w, ":"); ok && kind != "" && !strings.ContainsAny(kind, `/\*?[{`) && !filepath.IsAbs(w) {
			if _, missing := os.Lstat(filepath.Join(dir, w)); missing != nil {
				things = append(things, w)
				continue
			}
		}
		paths = append(paths, w)
	}
	return paths, things
}

// beside puts one remark beside another.
func beside(a, b string) string {
	if a != "" && b != "" {
		a += "; "
	}
	return a + b
}

func pick(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// settle gives the project that claims are made in with the id that the office
// knows it by.
func (m *meant) settle(ctx context.Context, o *office.Office) (office.Project, error) {
	return o.SettleProject(ctx, m.place.Project)
}

// refused puts the ways out behind a refusal: what else is in the way, and for
// each way the command that goes it. retry is the refused command, with what
// makes it wait.
func (a *app) refused(err error, retry, intent string) error {
	var f *fault.Error
	if a.json || !errors.As(err, &f) || f.Code != fault.Conflict && f.Code != fault.Timeout {
		return err
	}
	blocks, ok := f.Detail.([]claim.Block)
	if !ok || len(blocks) == 0 {
		return err
	}
	var lines []string
	if blocks[0].Own {
		return err // others would come first: there is nobody to ask, and to wait for oneself is no way out
	}
	if b := &blocks[0]; b.Probe != nil || b.Foreign != "" {
		lines = append(lines, fault.HintOf(err)) // what the rules know better
	}
	const most = 5
	for i := 1; i < len(blocks); i++ {
		if i == most {
			lines = append(lines, fmt.Sprintf("also     %d more", len(blocks)-i))
			break
		}
		lines = append(lines, "also     "+a.blockWords(&blocks[i]))
	}
	as := ""
	if a.as != "" {
		as = " --as " + quote.Shell(a.as)
	}
	if b := &blocks[0]; len(b.YourClaims) > 0 {
		lines = append(lines, fmt.Sprintf("release  bureau release %s%s   (then wait behind %s)", idWords(b.YourClaims), as, b.Name))
	}
	lines = append(lines, "wait     "+retry)
	asked := map[string]bool{}
	for i := range min(len(blocks), most) {
		b := &blocks[i]
		name, _, earlier := strings.Cut(b.Name, " (an earlier session)")
		gone := earlier || b.Standing == claim.Stale || b.Standing == claim.Unowned
		if b.Foreign == "" && !b.Own && !gone && !asked[name] {
			asked[name] = true
			question := "may I have " + inProject(strings.Join(shorten(b.Overlap, 3), ", "), b.Project) + "?"
			if intent != "" {
				question += " I want to: " + intent
			}
			lines = append(lines, "ask      bureau ask "+quote.Shell(name)+" "+quote.Shell(safeLine(question, 300))+as)
		}
	}
	for i := range min(len(blocks), most) {
		b := &blocks[i]
		switch {
		case b.Claim == "", b.Probe != nil && b.Probe.Verdict == claim.ProbeBusy && b.Standing != claim.Unowned:
		case b.Standing == claim.Stale, b.Standing == claim.Parking, b.Standing == claim.Unowned, b.LongQuiet:
			lines = append(lines, fmt.Sprintf("take     bureau takeover %s%s   (%s, %s)", b.Claim, as, b.Name, b.Standing))
		}
	}
	return fault.New(f.Code, "%s", err.Error()).WithHint("%s", strings.Join(lines, "\n")).WithDetail(blocks)
}

// shortly gives a refusal that is about a claim with its short id, as the
// caller types it.
func (a *app) shortly(err error, v *office.ClaimView) error {
	var f *fault.Error
	if a.json || !errors.As(err, &f) || !strings.Contains(err.Error()+fault.HintOf(err), string(v.ID)) {
		return err
	}
	short := func(s string) string { return strings.ReplaceAll(s, string(v.ID), v.Short) }
	return fault.New(f.Code, "%s", short(err.Error())).WithHint("%s", short(fault.HintOf(err))).WithDetail(f.Detail)
}

// blockWords says what stands in the way, in a line.
func (a *app) blockWords(b *claim.Block) string {
	what := inProject(strings.Join(shorten(b.Overlap, 3), ", "), b.Project)
	since := a.since(b.Since)
	switch {
	case b.Own && b.Waiting == "":
		return safeLine(fmt.Sprintf("%s is held by your own subagent %s: %s (claimed %s)", what, b.Name, b.Intent, since), 2*a.width())
	case b.Waiting != "":
		return safeLine(fmt.Sprintf("%s waits for %s (began %s): %s", b.Name, what, since, b.Intent), a.width())
	case b.Foreign != "":
		return safeLine(fmt.Sprintf("%s is locked by %s (mclaude lock %s): %s", what, b.Name, b.Foreign, b.Intent), a.width())
	}
	words := fmt.Sprintf("%s is held by %s: %s (claimed %s, %s", what, b.Name, b.Intent, since, b.Standing)
	if !b.Last.IsZero() {
		words += ", last sign " + a.since(b.Last)
	}
	return safeLine(words+")", 2*a.width()) // a message breaks before the bracket
}

// meets warns of claims in other work trees, and says what else goes with a
// claim.
func (a *app) meets(v *office.ClaimView) {
	for i := range v.Meets {
		b := &v.Meets[i]
		a.note("%s; in the work tree %s, so it will meet at the merge", a.blockWords(b), safeLine(b.Tree, 80))
	}
	if v.Note != "" {
		a.note("%s", v.Note)
	}
}

// coveredWords names what a claim covers, the first few.
func coveredWords(v *office.ClaimView, n int) string {
	if len(v.Paths)+len(v.Resources) == 0 && v.Lock != "" {
		return safeLine("(lock "+v.Lock+")", 0) // another program's need not name files
	}
	return safeLine(strings.Join(shorten(v.Covered(), n), ", "), 0)
}

// stateWords says how a claim's holder is, and what is special about the claim.
func stateWords(v *office.ClaimView) string {
	words := []string{string(v.Standing)}
	if v.Lock != "" {
		words = append(words, "mclaude")
	}
	if v.Lapsed {
		words = append(words, "lapsed")
	}
	if v.Mode == claim.Shared {
		words = append(words, "shared")
	}
	if v.Keep {
		words = append(words, "kept")
	}
	if v.Auto {
		words = append(words, "by an edit")
	}
	return strings.Join(words, ", ")
}

// claimID is what a claim is called on the command line.
func claimID(v *office.ClaimView) string {
	if v.Lock != "" {
		return "-"
	}
	return v.Short
}

// shorten keeps the first few of a list.
func shorten(list []string, n int) []string {
	if len(list) <= n {
		return list
	}
	return append(list[:n:n], fmt.Sprintf("%d more", len(list)-n))
}

// leaseWords says how long a lease is.
func leaseWords(v *office.ClaimView) string {
	return length(time.Duration(v.Lease * float64(time.Second)))
}

// inProject puts the name of a project behind what lies in it.
func inProject(what, project string) string {
	if project == "" {
		return what
	}
	return what + " (in project " + project + ")"
}

// coveredHere is coveredWords for somebody who works in a project: what is
// another's says so.
func coveredHere(v *office.ClaimView, n int, here office.Project) string {
	if v.In(here) {
		return coveredWords(v, n)
	}
	return inProject(coveredWords(v, n), safeLine(v.Project, 0))
}

// elsewhere says, in a line, what somebody holds in other projects; "" for
// nothing.
func elsewhere(list []office.HeldElsewhere) string {
	const named = 3
	total, words := 0, []string{}
	for i, h := range list {
		total += h.Claims
		switch {
		case i == named:
			words = append(words, fmt.Sprintf("%d more", len(list)-i))
		case i > named:
		case h.Project == "":
			words = append(words, fmt.Sprintf("outside of any (%d)", h.Claims))
		default:
			words = append(words, fmt.Sprintf("%s (%d)", safeLine(h.Project, 24), h.Claims))
		}
	}
	if total == 0 {
		return ""
	}
	return plural(total, "claim") + " in other projects: " + strings.Join(words, ", ") + "; bureau claims --every --mine lists them"
}

// holding says that a claim is the caller's, who works in a project.
func (a *app) holding(v *office.ClaimView, here office.Project) {
	a.printf("%s is yours: %s (%slease %s, token %d)\n", v.Short, coveredHere(v, 5, here), specials(v), leaseWords(v), v.Token)
	a.meets(v)
}

func specials(v *office.ClaimView) string {
	s := ""
	if v.Mode == claim.Shared {
		s += "shared, "
	}
	if v.Keep {
		s += "kept, "
	}
	return s
}

// idWords lists claims for a command.
func idWords(ids []event.ID) string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = string(id)
	}
	return strings.Join(out, " ")
}
