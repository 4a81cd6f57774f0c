package cli

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bureau/internal/claim"
	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/git/place"
	"bureau/internal/office"
)

func newClaimsExtend(a *app) *cobra.Command {
	var ttl duration
	cmd := &cobra.Command{
		Use:               "extend CLAIM…",
		Short:             "Renew claims of yours",
		ValidArgsFunction: a.completeClaims,
		Long: `Renew claims of yours: a sign of life, and with --ttl another lease. A session's
own work is a sign of life by itself; this is for what works without one.`,
		Example: `  bureau claims extend 7XKQ2M
  bureau claims extend 7XKQ2M --ttl 8h`,
		Args: between(1, -1, "the id of a claim"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, caller, err := a.enter(cmd.Context())
			if err != nil {
				return err
			}
			out := office.Claims{Claims: []office.ClaimView{}}
			for _, id := range args {
				v, err := o.ExtendClaim(cmd.Context(), caller, id, time.Duration(ttl))
				if err != nil {
					return err
				}
				out.Claims, out.Total = append(out.Claims, v), out.Total+1
			}
			if a.json {
				return a.printJSON(out)
			}
			for i := range out.Claims {
				v := &out.Claims[i]
				a.printf("%s stands until %s without another sign of life: %s\n", v.Short, v.Deadline.Local().Format("2006-01-02 15:04"), coveredHere(v, 5, caller.Project))
			}
			return nil
		},
	}
	cmd.Flags().Var(&ttl, "ttl", "the new lease")
	return cmd
}

func newClaimsChange(a *app) *cobra.Command {
	var add, drop []string
	var intent, task string
	var files []string
	var shared, exclusive, keep bool
	var ttl duration
	cmd := &cobra.Command{
		Use:               "change CLAIM [PATTERN…]",
		Short:             "Narrow, widen or rename a claim of yours",
		ValidArgsFunction: onlyFirst(a.completeClaims),
		Long: `Change a claim of yours: with PATTERN… it covers exactly those from now on;
--add and --drop change what it covers. What it is to cover more must be free;
otherwise nothing changes. Its token stays. Paths and things are written as for
bureau claim.`,
		Example: `  bureau claims change 7XKQ2M src/parser
  bureau claims change 7XKQ2M --add docs --add port:8080 --drop src/old
  bureau claims change 7XKQ2M --intent "and its tests"`,
		Args: between(1, -1, "the id of a claim"),
		RunE: func(cmd *cobra.Command, args []string) error {
			words := args[1:]
			flags := cmd.Flags()
			switch {
			case shared && exclusive:
				return usage(cmd, "a claim is shared or exclusive")
			case len(words) > 0 && len(add)+len(drop) > 0:
				return usage(cmd, "PATTERN… says all of it; --add and --drop do not go with it")
			case len(words) == 0 && !slices.ContainsFunc([]string{"add", "drop", "intent", "task", "files", "ttl", "keep", "shared", "exclusive"}, flags.Changed):
				return usage(cmd, "change what? Name patterns, --add, --drop, --intent, --task, --files, --ttl, --keep or --shared")
			}
			o, caller, err := a.enter(cmd.Context())
			if err != nil {
				return err
			}
			misread := ""
			c := office.ClaimChange{Intent: intent, Task: task, Files: files, TTL: time.Duration(ttl)}
			if flags.Changed("keep") {
				c.Keep = &keep
			}
			if len(words)+len(add)+len(drop) > 0 || shared || exclusive {
				if c.Want, misread, err = a.changed(cmd.Context(), o, args[0], words, add, drop); err != nil {
					return err
				}
				if shared {
					c.Want.Mode = claim.Shared
				} else if exclusive {
					c.Want.Mode = claim.Exclusive
				}
			}
			v, err := o.ChangeClaim(cmd.Context(), caller, args[0], c)
			if err != nil {
				return err
			}
			v.Note = beside(v.Note, misread)
			if a.json {
				return a.printJSON(v)
			}
			a.holding(&v, caller.Project)
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&add, "add", nil, "cover `PATTERN` too; may be repeated")
	flags.StringArrayVar(&drop, "drop", nil, "cover `PATTERN` no longer; may be repeated")
	flags.StringVar(&intent, "intent", "", "what you are about to do, in `WORDS`")
	flags.StringVar(&task, "task", "", "the task that it belongs to, as `WORDS`")
	flags.StringSliceVar(&files, "files", nil, "which `FILE[,FILE…]` you expect to touch")
	flags.BoolVar(&shared, "shared", false, "others may claim the same, shared too")
	flags.BoolVar(&exclusive, "exclusive", false, "nobody else may claim it")
	flags.Var(&ttl, "ttl", "another lease")
	flags.BoolVar(&keep, "keep", false, "it outlives the session while it is in use")
	return cmd
}

// changed gives what a claim is to cover, and what of it may be misread.
func (a *app) changed(ctx context.Context, o *office.Office, id string, words, add, drop []string) (*claim.Want, string, error) {
	v, err := o.ClaimShow(ctx, id)
	if err != nil {
		return nil, "", err
	}
	w := claim.Want{Mode: v.Mode, Tree: v.Tree}
	if at, err := place.Of(v.Tree); err == nil {
		w.Fold = at.Fold
	}
	named, err := a.meaning(slices.Concat(words, add, drop), nil)
	if err != nil {
		return nil, "", err
	}
	if len(named.want.Paths) > 0 && len(v.Paths) > 0 && named.place.Tree != v.Tree {
		return nil, "", fault.New(fault.Invalid, "claim %s is of the work tree %s, and these paths lie in %s", v.Short, v.Tree, named.place.Tree).
			WithHint("name paths of its work tree, or make another claim")
	}
	if len(v.Paths) == 0 {
		w.Tree, w.Fold = named.place.Tree, named.place.Fold
	}
	if len(words) > 0 {
		w.Paths, w.Resources = named.want.Paths, named.want.Resources
		return &w, named.misread, nil
	}
	less, err := a.meaning(drop, nil)
	if err != nil {
		return nil, "", err
	}
	more, err := a.meaning(add, nil)
	if err != nil {
		return nil, "", err
	}
	for _, p := range v.Paths {
		if !slices.Contains(less.want.Paths, claim.Pattern(p)) {
			w.Paths = append(w.Paths, claim.Pattern(p))
		}
	}
	for _, r := range v.Resources {
		if !slices.Contains(less.want.Resources, claim.Resource(r)) {
			w.Resources = append(w.Resources, claim.Resource(r))
		}
	}
	if n := len(w.Paths) + len(w.Resources); len(less.want.Paths)+len(less.want.Resources) > len(v.Paths)+len(v.Resources)-n {
		return nil, "", fault.New(fault.Invalid, "claim %s does not name %s", v.Short, strings.Join(drop, ", ")).
			WithHint("it covers %s; say what is left: bureau claims change %s PATTERN…", strings.Join(shorten(v.Covered(), 5), ", "), v.Short)
	}
	w.Paths, w.Resources = append(w.Paths, more.want.Paths...), append(w.Resources, more.want.Resources...)
	return &w, more.misread, nil
}

func newClaimsGive(a *app) *cobra.Command {
	var why string
	cmd := &cobra.Command{
		Use:   "give CLAIM… NAME",
		Short: "Hand claims of yours to somebody else",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			ids, directive := a.completeClaims(cmd, args, typed)
			if len(args) > 0 {
				names, _ := a.completeNames(cmd, args, typed)
				ids = append(ids, names...)
			}
			return ids, directive
		},
		Long: `Hand claims of yours to somebody else, who is told: all of them or, if one is
refused, none. They get new tokens: with the old ones nobody passes a guard any
more. Claims of yours that mean the same are given together; what your edits
claimed within them is over.`,
		Example: `  bureau claims give 7XKQ2M bob --why "the parser is done, the tests are yours"`,
		Args:    between(2, -1, "the claims and a name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, caller, err := a.enter(cmd.Context())
			if err != nil {
				return err
			}
			list, err := o.TransferClaims(cmd.Context(), caller, args[:len(args)-1], args[len(args)-1], why)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(office.Claims{Claims: list, Total: len(list)})
			}
			for i := range list {
				a.printf("%s is %s's now: %s (token %d)\n", list[i].Short, list[i].Holder, coveredHere(&list[i], 5, caller.Project), list[i].Token)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&why, "why", "", "a word to the receiver, in `WORDS`")
	return cmd
}

func newClaimsToken(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "token CLAIM TOKEN",
		Short:             "Check a fencing token, for programs that write",
		ValidArgsFunction: onlyFirst(a.completeClaims),
		Long: `Check that a claim is still yours with the token that you got for it. A program
that writes where no guard sees it asks this before each write: after a pause it
may have been overtaken. Exit status 0: go on; 4: the token is dead, stop.`,
		Example: `  bureau claims token 7XKQ2M 1841 && ./publish`,
		Args:    between(2, 2, "the claim and its token"),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := strconv.ParseInt(args[1], 10, 64)
			if err != nil || n < 1 {
				return usage(cmd, "%q is no token", args[1])
			}
			o, caller, err := a.enter(cmd.Context())
			if err != nil {
				return err
			}
			v, err := o.CheckToken(cmd.Context(), caller, args[0], event.Seq(n))
			if err != nil {
				return err
			}
			v.Mine = true
			if a.json {
				return a.printJSON(v)
			}
			a.printf("%s is yours, token %d\n", v.Short, v.Token)
			return nil
		},
	}
}
