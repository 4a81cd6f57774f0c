package cli

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bureau/internal/fault"
	"bureau/internal/office"
)

func newRelease(a *app) *cobra.Command {
	var summary string
	var all bool
	cmd := &cobra.Command{
		Use:               "release [CLAIM…|PATTERN…]",
		GroupID:           groupClaims,
		Short:             "Give up what you have claimed",
		ValidArgsFunction: a.completeClaims,
		Long: `Give up claims of yours, by their ids or by what they cover: a path or pattern
means your claims that lie within it. Whoever waits for them is woken. --summary
says what became of the work; bureau claims --history keeps it.

Without a word it lists what --all would release: all that you hold in this
project. The person who runs the office releases anybody's claim by its id.`,
		Example: `  bureau release 7XKQ2M --summary "renamed, all tests pass"
  bureau release src/parser port:8080
  bureau release --all`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if all && len(args) > 0 {
				return usage(cmd, "--all means everything; what is %q?", args[0])
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
			if len(args) == 0 && !all {
				return a.wouldRelease(cmd.Context(), o, caller, p)
			}
			var ids []string
			if !all {
				if ids, err = a.toRelease(cmd.Context(), o, caller, args); err != nil {
					return err
				}
			}
			list, err := o.Release(cmd.Context(), caller, p, ids, summary)
			if err != nil {
				return err
			}
			if a.json {
				if list == nil {
					list = []office.ClaimView{}
				}
				return a.printJSON(office.Claims{Claims: list, Total: len(list)})
			}
			for i := range list {
				a.printf("released %s: %s\n", list[i].Short, coveredHere(&list[i], 5, caller.Project))
			}
			if len(list) == 0 {
				a.printf("you hold nothing in this project\n")
			}
			if !all {
				return nil
			}
			left, err := o.ClaimList(cmd.Context(), caller, office.ClaimQuery{Project: p, Holder: string(caller.Agent.ID), Page: office.Page{Limit: 1}})
			if words := elsewhere(left.Elsewhere); words != "" {
				a.note("you hold %s", words)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&summary, "summary", "", "what became of the work, in `WORDS`")
	cmd.Flags().BoolVar(&all, "all", false, "all that you hold in this project")
	return cmd
}

// wouldRelease refuses to guess what is meant and lists what could be.
func (a *app) wouldRelease(ctx context.Context, o *office.Office, caller office.Caller, p office.Project) error {
	list, err := o.ClaimList(ctx, caller, office.ClaimQuery{Project: p, Holder: string(caller.Agent.ID), Auto: true, Page: office.Page{Limit: 20}})
	if err != nil {
		return err
	}
	if list.Total == 0 {
		hint := "bureau claims lists what others hold; bureau claims --every --mine what you hold elsewhere"
		if words := elsewhere(list.Elsewhere); words != "" {
			hint = "you hold " + words
		}
		return fault.New(fault.NotFound, "you hold nothing in this project").WithHint("%s", hint)
	}
	lines := make([]string, 0, len(list.Claims)+1)
	for i := range list.Claims {
		v := &list.Claims[i]
		lines = append(lines, a.line("", v.Short, coveredWords(v, 3)+": "+v.Intent))
	}
	if n := list.Total - len(list.Claims); n > 0 {
		lines = append(lines, plural(n, "more"))
	}
	lines = append(lines, "release one: bureau release "+list.Claims[0].Short+"; all of them: bureau release --all")
	return fault.New(fault.Invalid, "release what? You hold %s here", plural(list.Total, "claim")).WithHint("%s", strings.Join(lines, "\n")).WithDetail(list.Claims)
}

// toRelease finds the claims that words mean.
func (a *app) toRelease(ctx context.Context, o *office.Office, caller office.Caller, args []string) (ids []string, err error) {
	add := func(id string) {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	var named []string
	for _, word := range args {
		if !a.mayBeID(word) {
			named = append(named, word)
			continue
		}
		v, err := o.ClaimShow(ctx, word)
		switch {
		case err == nil && v.EndedAt != nil:
			return nil, fault.New(fault.NotFound, "claim %s has ended (%s)", v.Short, endWords(&v)).WithHint("bureau claims --mine lists what you hold")
		case err == nil:
			add(string(v.ID))
		case fault.Is(err, fault.NotFound):
			named = append(named, word)
		default:
			return nil, err
		}
	}
	for _, word := range named {
		m, err := a.meaning([]string{word}, nil)
		if err != nil {
			return nil, err
		}
		p, err := m.settle(ctx, o)
		if err != nil {
			return nil, err
		}
		whole, part, err := o.ClaimsWithin(ctx, caller, p, m.want)
		switch {
		case err != nil:
			return nil, err
		case len(part) > 0:
			v := &part[0]
			return nil, fault.New(fault.Conflict, "claim %s covers more than %s: %s", v.Short, word, strings.Join(shorten(v.Covered(), 5), ", ")).
				WithHint("end it: bureau release %s; or narrow it: bureau claims change %s PATTERN…", v.Short, v.Short).WithDetail(part)
		case len(whole) == 0:
			if found, err := o.WhoHolds(ctx, caller, p, m.want); err == nil {
				for i := range found.Claims {
					if v := &found.Claims[i]; v.Own {
						return nil, fault.New(fault.NotFound, "you hold nothing within %q; your subagent %s does: %s", word, v.Holder, coveredWords(v, 3)).
							WithHint("it keeps that until it stops; give it up for it: bureau release %s", v.Short)
					}
				}
			}
			return nil, fault.New(fault.NotFound, "you hold nothing within %q", word).WithHint("bureau claims --mine lists what you hold, bureau who %s who holds it", word)
		}
		for i := range whole {
			add(string(whole[i].ID))
		}
	}
	return ids, nil
}

// mayBeID reports whether a word can be a claim's id or its end, as short as it
// is shown or longer: letters and digits only, and no file that is there. A
// shorter word is a path: src is a part of many an id by chance.
func (a *app) mayBeID(word string) bool {
	if len(word) < office.ShortLen || len(word) > 26 || strings.ContainsFunc(word, func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	}) {
		return false
	}
	dir, err := a.folder()
	if err == nil {
		_, err = os.Lstat(filepath.Join(dir, word))
	}
	return err != nil
}
