package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"bureau/internal/git/place"
	"bureau/internal/office"
)

func newTakeover(a *app) *cobra.Command {
	var t office.Takeover
	var ttl duration
	cmd := &cobra.Command{
		Use:               "takeover CLAIM",
		GroupID:           groupClaims,
		Short:             "Take a claim over from somebody who is gone",
		ValidArgsFunction: onlyFirst(a.completeClaims),
		Long: `Take a claim over whose holder is gone: its process ended, or it showed no sign
of life for longer than its lease. A holder that lives but had no turn for 4
hours (or its lease, if that is longer) can be overtaken too. What runs without
a session is adopted.

Before that the thing itself is looked at (docs/probes.md): uncommitted changes
below a path, who listens on a port, who computes on a GPU, commands of the
project. In use is refused, with what was seen; where nothing can tell, --reason
says why it is free. The old holder's token is dead from then on and it is told;
the reason and what was seen stay in bureau claims --history.

What the same session or its subagents hold within the claim goes along with it,
each after a look of its own; what reaches further is named.

--only ends it and takes nothing for oneself. The person who runs the office
ends any claim, in a plain terminal: --break does not ask.`,
		Example: `  bureau takeover 7XKQ2M
  bureau takeover 7XKQ2M --reason "its window is closed" --intent "finish it"
  bureau takeover 7XKQ2M --break --only`,
		Args: between(1, 1, "the id of a claim"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, caller, err := a.enter(cmd.Context())
			if err != nil {
				return err
			}
			old, err := o.ClaimShow(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			t.Claim, t.TTL, t.Tree = string(old.ID), time.Duration(ttl), a.treeFor(&old)
			v, err := o.TakeOver(cmd.Context(), caller, t)
			if err != nil {
				return a.shortly(err, &old)
			}
			return a.tookOver(cmd.Context(), o, caller.Project, &old, &v, t.Only)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&t.Reason, "reason", "", "why it is free, in `WORDS`")
	flags.StringVar(&t.Intent, "intent", "", "what you are about to do, in `WORDS` (default: as it was)")
	flags.Var(&ttl, "ttl", "the new lease (default: as it was)")
	flags.BoolVar(&t.Break, "break", false, "end it whatever is seen; for the person")
	flags.BoolVar(&t.Only, "only", false, "end it and take nothing")
	return cmd
}

// treeFor gives the work tree in which a claim goes on: the caller's own, if it
// is of the same project.
func (a *app) treeFor(old *office.ClaimView) string {
	if len(old.Paths) == 0 {
		return ""
	}
	dir, err := a.folder()
	if err != nil {
		return ""
	}
	here, err := place.Of(dir)
	if err != nil || here.Project.Root == "" {
		return ""
	}
	there, err := place.Of(old.Tree)
	if err != nil || there.Project.Root != here.Project.Root {
		return ""
	}
	return here.Tree
}

func (a *app) tookOver(ctx context.Context, o *office.Office, here office.Project, old, v *office.ClaimView, only bool) error {
	if only {
		ended, err := o.ClaimShow(ctx, string(old.ID))
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(ended)
		}
		a.printf("%s of %s is ended: %s\n", ended.Short, old.Holder, coveredHere(old, 5, here))
		return nil
	}
	if a.json {
		return a.printJSON(v)
	}
	a.holding(v, here)
	for i := range v.With {
		if w := &v.With[i]; w.EndedAt != nil {
			a.printf("%s went along with it: %s, which %s held too\n", w.Short, coveredHere(w, 5, here), w.Holder)
		} else {
			a.printf("%s went along with it and is yours: %s, which runs without a session\n", w.Short, coveredHere(w, 5, here))
		}
	}
	a.printf("%s held it before and is told\n", old.Holder)
	return nil
}
