package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"bureau/internal/office"
)

func newClaims(a *app) *cobra.Command {
	list := newClaimsList(a)
	cmd := &cobra.Command{
		Use:        "claims",
		GroupID:    groupClaims,
		Short:      "List what is claimed; show, extend, change or give a claim",
		Long:       list.Long,
		SuggestFor: []string{"locks", "lease", "leases"},
		Example: list.Example + `
  bureau claims show 7XKQ2M
  bureau claims change 7XKQ2M --add docs --drop src/old
  bureau claims give 7XKQ2M bob`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return list.RunE(cmd, nil)
		},
	}
	cmd.Flags().AddFlagSet(list.Flags())
	return verbs(cmd, list, newClaimsShow(a), newClaimsExtend(a), newClaimsChange(a), newClaimsGive(a), newClaimsToken(a))
}

func newClaimsList(a *app) *cobra.Command {
	var mine, every, auto, history bool
	var holder string
	var pages pages
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List what is claimed in this project",
		Long: `List the claims of this project, oldest first, other programs' locks that are
respected here, and who stands in line. Claims of the projects around that cover
files here, and your own in other projects, are told of in a line. The state of
a holder is one of

  active     a turn within the lease
  quiet      it lives, but had no turn for longer
  stale      its process is gone, or showed no sign past the lease
  parked     its session ended and may come back
  running without a session     kept after its session; whether it still runs
             is looked at when somebody claims it or takes it over

and lapsed when the next one to claim gets it. Claims that an edit made on the
way are left out without --auto; they end soon after the last edit.`,
		Example: `  bureau claims
  bureau claims --mine
  bureau claims --every --holder bob
  bureau claims --history`,
		Args: between(0, 0, ""),
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		page, err := pages.page()
		if err != nil {
			return err
		}
		switch {
		case mine && holder != "":
			return usage(cmd, "--mine and --holder name two holders")
		case history && (mine || holder != "" || every || auto):
			return usage(cmd, "--history lists what ended in this project, whoever held it; no other choice goes with it")
		}
		m, err := a.meaning(nil, nil)
		if err != nil {
			return err
		}
		o, caller, err := a.enter(cmd.Context())
		if err != nil {
			return err
		}
		p, err := m.settle(cmd.Context(), o)
		if err != nil {
			return err
		}
		if history {
			return a.claimHistory(cmd.Context(), o, p, page)
		}
		q := office.ClaimQuery{Project: p, Every: every, Holder: holder, Auto: auto, Tree: m.place.Tree, Page: page}
		if mine {
			q.Holder = string(caller.Agent.ID)
		}
		found, err := o.ClaimList(cmd.Context(), caller, q)
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(found)
		}
		tree := m.place.Tree
		if every {
			tree = "" // each project has its own
		}
		a.showClaims(&found, every, tree, p)
		a.showLine(found.Waiting)
		total := plural(found.Total, "claim")
		if len(found.Claims) < found.Total {
			total = fmt.Sprintf("%d of %s", len(found.Claims), total)
		}
		a.tail(total, found.Next)
		if !mine && !every && holder == "" && page.From == "" {
			around, n, err := o.ClaimsAround(cmd.Context(), caller, p, m.place.Tree, 1)
			if err != nil {
				return err
			}
			if n > 0 {
				more := ""
				if n > 1 {
					more = fmt.Sprintf(" and %d more", n-1)
				}
				a.printf("held around this project, and covering files here: %s%s; bureau who . lists it\n",
					inProject(coveredWords(&around[0], 2), safeLine(around[0].Project, 24)), more)
			}
		}
		if words := elsewhere(found.Elsewhere); mine && words != "" {
			a.printf("you hold %s\n", words)
		}
		return nil
	}
	flags := cmd.Flags()
	flags.BoolVar(&mine, "mine", false, "only your own")
	flags.StringVar(&holder, "holder", "", "only those of `NAME`")
	flags.BoolVar(&every, "every", false, "of every project")
	flags.BoolVar(&auto, "auto", false, "also those that an edit made on the way")
	flags.BoolVar(&history, "history", false, "those that ended, the newest first")
	pages.flags(cmd)
	completeFlag(cmd, "holder", a.completeNames)
	return cmd
}

// showClaims prints claims as a table. What lies in another work tree of the
// project than the given one says so.
func (a *app) showClaims(list *office.Claims, projects bool, tree string, p office.Project) {
	head := []string{"ID", "HOLDER", "FOR", "STATE", "WHAT", "INTENT"}
	if projects {
		head = []string{"ID", "PROJECT", "HOLDER", "FOR", "STATE", "WHAT", "INTENT"}
	}
	rows := make([][]string, len(list.Claims))
	for i := range list.Claims {
		v := &list.Claims[i]
		holder, since := pick(v.Holder, "-"), "-"
		if !v.Since.IsZero() {
			since = a.ago(v.Since)
		}
		if v.Mine {
			holder += " (you)"
		} else if v.Own {
			holder += " (your subagent)"
		}
		state := stateWords(v)
		if tree != "" && v.Tree != "" && v.Tree != tree && len(v.Paths) > 0 && v.In(p) {
			state += ", in " + safeLine(filepath.Base(v.Tree), 24)
		}
		row := []string{claimID(v)}
		if projects {
			row = append(row, safeLine(v.Project, 24))
		}
		rows[i] = append(row, safeLine(holder, 0), since, state, safeLine(coveredWords(v, 2), 48), safeLine(v.Intent, 0))
	}
	if len(rows) > 0 {
		a.table(head, rows)
	}
}

// showLine says who stands in line, in its order.
func (a *app) showLine(list []office.WaitView) {
	for i := range list {
		a.printf("%s\n", a.waitWords(&list[i]))
	}
}

func (a *app) waitWords(w *office.WaitView) string {
	who := w.Waiter
	if w.Mine {
		who += " (you)"
	}
	return safeLine(fmt.Sprintf("%s waits for %s (began %s): %s", who, strings.Join(shorten(w.Covered(), 3), ", "), a.since(w.Since), w.Intent), a.width())
}

func (a *app) claimHistory(ctx context.Context, o *office.Office, p office.Project, page office.Page) error {
	list, err := o.ClaimHistory(ctx, p, page)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(list)
	}
	rows := make([][]string, len(list.Claims))
	for i := range list.Claims {
		v := &list.Claims[i]
		rows[i] = []string{v.Short, safeLine(v.Holder, 0), endedAge(a, v), endWords(v), safeLine(coveredWords(v, 2), 48), safeLine(pick(v.Summary, "("+v.Intent+")"), 0)}
	}
	if len(rows) > 0 {
		a.table([]string{"ID", "HOLDER", "ENDED", "HOW", "WHAT", "SUMMARY (INTENT)"}, rows)
	}
	total := plural(list.Total, "finished claim")
	if len(rows) < list.Total {
		total = fmt.Sprintf("%d of %s", len(rows), total)
	}
	a.tail(total, list.Next)
	return nil
}

func endedAge(a *app, v *office.ClaimView) string {
	if v.EndedAt == nil {
		return "-"
	}
	return a.ago(*v.EndedAt)
}

// endWords says how a claim ended.
func endWords(v *office.ClaimView) string {
	how := strings.ReplaceAll(string(v.How), "_", " ")
	if v.By != "" && v.By != v.Holder {
		how += " by " + v.By
	}
	return how
}

func newClaimsShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "show CLAIM",
		Short:             "Show one claim",
		ValidArgsFunction: onlyFirst(a.completeClaims),
		Long:              `Show one claim, live or finished, by its id or a part of it.`,
		Example:           `  bureau claims show 7XKQ2M`,
		Args:              between(1, 1, "the id of a claim"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, caller, err := a.enter(cmd.Context())
			if err != nil {
				return err
			}
			v, err := o.ClaimShow(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(v)
			}
			a.showClaim(&v, caller)
			return nil
		},
	}
}

// showClaim prints one claim.
func (a *app) showClaim(v *office.ClaimView, caller office.Caller) {
	a.printf("%s\n", a.bold("claim "+v.Short+" "+coveredWords(v, 5)))
	for _, what := range v.Covered() {
		a.printf("covers    %s\n", safeLine(what, 0))
	}
	a.printf("intent    %s\n", safeLine(v.Intent, 0))
	if v.Task != "" {
		a.printf("task      %s\n", safeLine(v.Task, 0))
	}
	if len(v.Files) > 0 {
		a.printf("files     %s\n", safeLine(strings.Join(v.Files, ", "), 0))
	}
	a.printf("holder    %s, since %s, token %d\n", v.Holder, v.Since.Local().Format("2006-01-02 15:04"), v.Token)
	if v.Project != "" {
		a.printf("project   %s\n", safeLine(v.Project, 0))
	}
	if v.Tree != "" {
		a.printf("tree      %s\n", safeLine(v.Tree, 0))
	}
	if v.EndedAt != nil {
		a.printf("ended     %s, %s\n", a.since(*v.EndedAt), endWords(v))
		if v.Summary != "" {
			a.printf("%s", indented("          ", v.Summary))
		}
		if v.Probe != nil {
			a.printf("seen      %s: %s\n", v.Probe.Verdict, safeLine(v.Probe.Saw, 0))
		}
		return
	}
	a.printf("state     %s; last sign of life %s\n", stateWords(v), a.since(v.LastSign))
	for i := range v.Waiting {
		a.printf("in line   %s\n", a.waitWords(&v.Waiting[i]))
	}
	a.printf("lease     %s, until %s without another sign\n", leaseWords(v), v.Deadline.Local().Format("2006-01-02 15:04"))
}
