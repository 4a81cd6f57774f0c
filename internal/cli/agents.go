package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"bureau/internal/office"
)

func newAgents(a *app) *cobra.Command {
	list := newAgentsList(a)
	cmd := &cobra.Command{
		Use:        "agents",
		GroupID:    groupPeople,
		Short:      "List everybody in the office; show, rename or retire one",
		Long:       list.Long,
		Aliases:    []string{"agent"},
		SuggestFor: []string{"roster", "people", "list", "sessions"},
		Example: list.Example + `
  bureau agents show bob
  bureau agents rename ana anna
  bureau agents retire old-worker`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return list.RunE(cmd, nil)
		},
	}
	cmd.Flags().AddFlagSet(list.Flags())
	return verbs(cmd, list, newAgentsShow(a), newAgentsRename(a), newAgentsRetire(a))
}

func newAgentsList(a *app) *cobra.Command {
	var q office.DirectoryQuery
	var pages pages
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List everybody in the office",
		Long: `List the agents of the office by name: who is here and idle or busy, who would
not notice mail, what they are at (the intent of what they hold, whose answer
they wait for and since when). --project restricts the list to the agents of a
project, given by name or path.`,
		Example: `  bureau agents
  bureau agents --here
  bureau agents --project api`,
		Args: between(0, 0, ""),
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		page, err := pages.page()
		if err != nil {
			return err
		}
		q.Page = page
		// Here --project says which agents, and may be a project's name.
		q.Project, a.project = a.project, ""
		o, caller, err := a.enter(cmd.Context())
		if err != nil {
			return err
		}
		if q.Project != "" {
			q.Project = a.projectWord(cmd.Context(), o, q.Project)
		}
		found, err := o.Directory(cmd.Context(), q)
		if err != nil {
			return err
		}
		colleagues, err := a.colleagues(cmd.Context(), o, caller, &q)
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(agentsJSON{found, colleagues})
		}
		a.showAgents(&found)
		a.showColleagues(&colleagues)
		return nil
	}
	cmd.Flags().BoolVar(&q.Here, "here", false, "only those who are here now")
	cmd.Flags().BoolVar(&q.Retired, "retired", false, "also those who are retired")
	pages.flags(cmd)
	return cmd
}

// projectWord turns a folder into the project that the office knows for it;
// a name stays as it is.
func (a *app) projectWord(ctx context.Context, o *office.Office, word string) string {
	if !strings.ContainsAny(word, `/\`) && word != "." && word != ".." {
		return word
	}
	b := &app{IO: a.IO, project: word}
	found, err := b.findProject()
	if err != nil || found.Root == "" {
		return word
	}
	if settled, err := o.SettleProject(ctx, found); err == nil {
		return settled.ID
	}
	return word
}

func (a *app) showAgents(list *office.Agents) {
	rows := make([][]string, len(list.Agents))
	for i := range list.Agents {
		v := &list.Agents[i]
		rows[i] = []string{string(v.Name), string(v.Kind), safeLine(v.Project, 24), a.presence(v), unreadWord(v.Unread), a.at(v)}
	}
	if len(rows) > 0 {
		a.table([]string{"NAME", "KIND", "PROJECT", "PRESENCE", "UNREAD", "AT"}, rows)
	}
	total := fmt.Sprintf("%s, %d here", plural(list.Total, "agent"), list.Here)
	if len(rows) < list.Total {
		total = fmt.Sprintf("%d of %s", len(rows), total)
	}
	a.tail(total, list.Next)
}

func unreadWord(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

// presence says whether somebody is here and how they notice mail.
func (a *app) presence(v *office.AgentView) string {
	seen := "never seen here"
	if v.LastSeen != nil {
		seen = "seen " + a.since(*v.LastSeen)
	}
	switch {
	case v.Retired:
		return "retired"
	case v.Ended && v.Heir != "":
		return "ended; " + v.Heir + " has its mail"
	case v.Ended:
		return "ended"
	case v.Here && v.Status != "":
		if v.Wake == office.WakeNone {
			return "here, " + v.Status + ", " + v.Wake
		}
		return "here, " + v.Status
	case v.Here:
		return "here, " + v.Wake
	}
	return seen
}

// at says what an agent is doing, as far as it told: whose answer it waits for,
// and what it holds for which purpose.
func (a *app) at(v *office.AgentView) string {
	var words []string
	if w := a.waits(v); w != "" {
		words = append(words, "waits for "+w)
	}
	for _, c := range v.Claims {
		words = append(words, strings.TrimSpace(c.Intent+" ("+c.What+")"))
	}
	return safeLine(strings.Join(words, "; "), 0)
}

func (a *app) waits(v *office.AgentView) string {
	words := make([]string, len(v.WaitingFor))
	for i, w := range v.WaitingFor {
		words[i] = w.Asked + " (" + a.ago(w.Since) + ")"
	}
	return strings.Join(words, ", ")
}

func newAgentsShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "show NAME",
		Short:             "Show one agent",
		ValidArgsFunction: onlyFirst(a.completeNames),
		Long:              `Show one agent, by its name, a part of its id, or a name that it had before.`,
		Example:           `  bureau agents show bob`,
		Args:              between(1, 1, "the name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, caller, err := a.enter(cmd.Context())
			if err != nil {
				return err
			}
			return a.showAgent(cmd.Context(), o, caller, args[0])
		},
	}
}

func (a *app) showAgent(ctx context.Context, o *office.Office, caller office.Caller, word string) error {
	v, err := a.lookAt(ctx, o, caller, word)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(v)
	}
	a.printf("%s  %s\n", a.bold(string(v.Name)), strings.TrimSpace(string(v.Kind)+" "+v.Short))
	if v.Colleague != nil {
		a.printf("brief     %s\ntier      %s\n", safeLine(v.Colleague.Brief, 0), v.Colleague.Tier)
	}
	a.printf("presence  %s\n", a.presence(&v.AgentView))
	if !v.Retired {
		a.printf("wake      %s\n", v.Wake)
	}
	if v.Project != "" {
		a.printf("project   %s\n", safeLine(v.Project, 0))
	}
	if v.Folder != "" {
		a.printf("folder    %s\n", safeLine(v.Folder, 0))
	}
	a.printf("unread    %d\n", v.Unread)
	if w := a.waits(&v.AgentView); w != "" {
		a.printf("waits for %s\n", w)
	}
	for _, c := range v.Claims {
		a.printf("holds     %s\n", safeLine(c.What+": "+c.Intent, a.width()-10))
	}
	if v.CreatedAt.IsZero() {
		return nil // nobody ever wrote to it
	}
	a.printf("since     %s\n", v.CreatedAt.Local().Format("2006-01-02 15:04"))
	return nil
}

func newAgentsRename(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "rename NAME NEW",
		Short:             "Give an agent another name",
		ValidArgsFunction: onlyFirst(a.completeNames),
		Long: `Give an agent another name. Its mail, questions and threads follow, and who
writes to the old name reaches it until somebody else takes that name. An agent
renames itself; the person who runs the office renames anybody.`,
		Example: `  bureau agents rename ana anna`,
		Args:    between(2, 2, "the name and the new name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, caller, err := a.enter(cmd.Context())
			if err != nil {
				return err
			}
			agent, err := o.Rename(cmd.Context(), caller, args[0], args[1])
			if err != nil {
				return err
			}
			if a.json {
				return a.showAgent(cmd.Context(), o, caller, string(agent.ID))
			}
			a.printf("%s is now %s; mail to the old name still reaches it\n", safeLine(args[0], 0), agent.Name)
			return nil
		},
	}
}

func newAgentsRetire(a *app) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:               "retire NAME",
		Short:             "End an agent for good",
		ValidArgsFunction: onlyFirst(a.completeNames),
		Long: `End an agent for good: its name is free, its unread mail becomes undeliverable
(its senders see that in bureau sent), and whoever waits for its answer is told
at once that none can come. A running session is not retired by others.`,
		Example: `  bureau agents retire old-worker --reason "its project is finished"`,
		Args:    between(1, 1, "the name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, caller, err := a.enter(cmd.Context())
			if err != nil {
				return err
			}
			agent, err := o.Retire(cmd.Context(), caller, args[0], reason)
			if err != nil {
				return err
			}
			if a.json {
				return a.showAgent(cmd.Context(), o, caller, string(agent.ID))
			}
			a.printf("%s is retired\n", agent.Name)
			return nil
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, in `WORDS`")
	return cmd
}
