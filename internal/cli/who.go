package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bureau/internal/office"
)

func newWho(a *app) *cobra.Command {
	var resources []string
	cmd := &cobra.Command{
		Use:     "who PATH…|KIND:NAME…",
		GroupID: groupClaims,
		Short:   "Say who holds a path or a thing, and what for",
		Long: `Say who holds a path, a pattern or a thing, and what for, in whatever work tree
of the project, in the repositories around it and within it, other programs'
locks included, and who stands in line for it: whoever comes later is behind
them. Claims that an edit made on the way are shown too. It changes nothing;
that nobody holds it is no error.`,
		Example: `  bureau who src/parser/lex.go
  bureau who 'src/**' port:8080 --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args)+len(resources) == 0 {
				return usage(cmd, "who holds what? Name a path or a thing")
			}
			list := make([]meant, 0, len(args)+1)
			for _, word := range args {
				m, err := a.meaning([]string{word}, nil)
				if err != nil {
					return err
				}
				list = append(list, m)
			}
			if len(resources) > 0 {
				m, err := a.meaning(nil, resources)
				if err != nil {
					return err
				}
				list = append(list, m)
			}
			o, caller, err := a.enter(cmd.Context())
			if err != nil {
				return err
			}
			found, err := a.who(cmd.Context(), o, caller, list)
			if err != nil {
				return err
			}
			for i := range list {
				if list[i].misread != "" {
					a.note("%s", list[i].misread)
				}
			}
			if a.json {
				return a.printJSON(found)
			}
			if found.Total == 0 {
				a.printf("nobody holds %s\n", safeLine(strings.Join(append(slices.Clone(args), resources...), ", "), a.width()))
				a.showLine(found.Waiting)
				return nil
			}
			foreign := slices.ContainsFunc(found.Claims, func(v office.ClaimView) bool { return !v.In(caller.Project) })
			p, err := list[0].settle(cmd.Context(), o)
			if err != nil {
				return err
			}
			a.showClaims(&found, foreign, list[0].place.Tree, p)
			a.showLine(found.Waiting)
			return nil
		},
	}
	cmd.Flags().StringArrayVar(&resources, "resource", nil, "the thing `KIND:NAME`; may be repeated")
	return cmd
}

// who lists the claims on any of several things, each once.
func (a *app) who(ctx context.Context, o *office.Office, caller office.Caller, list []meant) (office.Claims, error) {
	out := office.Claims{Claims: []office.ClaimView{}}
	for i := range list {
		p, err := list[i].settle(ctx, o)
		if err != nil {
			return out, err
		}
		found, err := o.WhoHolds(ctx, caller, p, list[i].want)
		if err != nil {
			return out, err
		}
		out.Add(&found)
	}
	return out, nil
}
