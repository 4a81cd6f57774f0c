package cli

import (
	"time"

	"github.com/spf13/cobra"

	"bureau/internal/office"
)

func newToken(a *app) *cobra.Command {
	return verbs(&cobra.Command{
		Use:     "token",
		GroupID: groupPeople,
		Short:   "Credentials of agents that call over HTTP",
		Long: `A token is the credential of an agent whose client no process of this machine
stands for: it is shown with every call to bureau serve, and whoever has it is
that agent. One token is one session; give each client its own. Its name is a
seat like any other, and the mail that waits there is its.

Only the person makes and revokes tokens. Their text is shown once and kept by
nobody. BUREAU_TOKEN=TEXT in the environment of a command or of a client's
session gives that the token's name too.`,
		Example: `  bureau token new ana
  bureau token list
  bureau token revoke ana`,
	}, newTokenNew(a), newTokenList(a), newTokenRevoke(a))
}

// issued is a new token with its text.
type issued struct {
	office.TokenView
	Token string `json:"token"`
}

func newTokenNew(a *app) *cobra.Command {
	var note, ttl string
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Make a token for an agent",
		Long: `Make a token for an agent of this name and print it, once. The session it stands
for works in this folder: paths that it claims begin here.`,
		Example: `  bureau token new ana
  export ANA=$(bureau token new ana --ttl 30d --note "editor on the laptop")`,
		Args: between(1, 1, "the agent's name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var life time.Duration
			if ttl != "" {
				var err error
				if life, err = parseDuration(ttl); err != nil {
					return err
				}
				if life <= 0 {
					return usage(cmd, "--ttl %s is no time to live", ttl)
				}
			}
			o, caller, err := a.enter(cmd.Context())
			if err != nil {
				return err
			}
			folder, err := a.folder()
			if err != nil {
				return err
			}
			v, text, err := o.IssueToken(cmd.Context(), caller, office.Issuing{Name: args[0], Note: note, TTL: life, Folder: folder})
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(issued{v, text})
			}
			a.printf("%s\n", text)
			if v.Agent != v.Name {
				a.note("a running session is %s; the token's is %s", v.Name, v.Agent)
			}
			a.note("it is shown this once; send it as Authorization: Bearer …; end it with bureau token revoke %s", v.Short)
			return nil
		},
	}
	cmd.Flags().StringVar(&note, "note", "", "what it is for, as `TEXT`")
	cmd.Flags().StringVar(&ttl, "ttl", "", "it ends after `D` (default: never)")
	return cmd
}

func newTokenList(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the tokens",
		Long:    "List the tokens, the newest first, with the agent that each one's session is.",
		Example: "  bureau token list",
		Args:    between(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, caller, err := a.enter(cmd.Context())
			if err != nil {
				return err
			}
			list, err := o.Tokens(cmd.Context(), caller)
			if err != nil {
				return err
			}
			return a.showTokens(o, list)
		},
	}
}

func newTokenRevoke(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke ID|NAME",
		Short: "End a token, or all of a name",
		Long: `End all tokens that were made for a name, or one by its id (any unique part of
four characters or more will do, if no token has it as its name). No call with
it is served from then on. The agent keeps its name and its mail; bureau agents
retire ends the agent itself.`,
		Example: "  bureau token revoke 7XKQ2M\n  bureau token revoke ana",
		Args:    between(1, 1, "a token's id, or a name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, caller, err := a.enter(cmd.Context())
			if err != nil {
				return err
			}
			list, err := o.RevokeTokens(cmd.Context(), caller, args[0])
			if err != nil {
				return err
			}
			if a.json {
				return a.showTokens(o, list)
			}
			for _, t := range list {
				a.printf("token %s for %s is revoked\n", t.Short, t.Name)
			}
			return nil
		},
	}
}

func (a *app) showTokens(o *office.Office, list []office.TokenView) error {
	if a.json {
		return a.printJSON(struct {
			Tokens []office.TokenView `json:"tokens"`
		}{list})
	}
	if len(list) == 0 {
		a.note("no tokens; bureau token new NAME makes one")
		return nil
	}
	var rows [][]string
	for _, t := range list {
		state := "valid"
		switch {
		case t.Revoked != nil:
			state = "revoked"
		case !t.Valid:
			state = "ended"
		case t.Expires != nil:
			state = "until " + t.Expires.Local().Format("2006-01-02 15:04")
		}
		who := t.Name
		if t.Agent != "" && t.Agent != t.Name {
			who += " (is " + t.Agent + ")"
		}
		rows = append(rows, []string{t.Short, who, state, a.ago(t.Issued), t.Note})
	}
	a.listing([]string{"ID", "NAME", "STATE", "ISSUED", "NOTE"}, rows, len(rows), plural(len(rows), "token"), "")
	return nil
}
