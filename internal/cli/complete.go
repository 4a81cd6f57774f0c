package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"bureau/internal/name"
	"bureau/internal/office"
	"bureau/internal/paper/colleagues"
)

// Completions look into the office that is there. They begin none, wait for
// none and complain of nothing.

const maxCompletions = 100

// lookUp opens the office for a completion; nil if there is none to ask.
func (a *app) lookUp(ctx context.Context) *office.Office {
	if a.office != nil {
		return a.office
	}
	o, err := office.Open(ctx, office.Options{Home: a.Env(office.HomeVariable), Now: a.Now, NoFill: true, Colleagues: colleagues.NewReader(a.Env).Staff})
	if err != nil {
		return nil
	}
	a.office = o
	return o
}

// completeNames completes the name of an agent, and after a comma another one.
func (a *app) completeNames(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	o := a.lookUp(cmd.Context())
	if o == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	list, err := o.Directory(cmd.Context(), office.DirectoryQuery{Page: office.Page{Limit: maxCompletions}})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	done := typed[:strings.LastIndexByte(typed, ',')+1]
	var out []string
	known := map[name.Key]bool{}
	add := func(n name.Name, about string) {
		if word := done + string(n); !known[n.Key()] && strings.HasPrefix(strings.ToLower(word), strings.ToLower(typed)) {
			out = append(out, cobra.CompletionWithDesc(word, about))
		}
		known[n.Key()] = true
	}
	for i := range list.Agents {
		v := &list.Agents[i]
		add(v.Name, string(v.Kind)+", "+a.presence(v))
	}
	if here, err := a.findProject(); err == nil {
		named, _ := o.Colleagues(cmd.Context(), here.Root)
		for i := range named.Colleagues {
			add(named.Colleagues[i].Name, safeLine(named.Colleagues[i].Brief, 60))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// completeMessages completes the id of a message in the caller's inbox.
func (a *app) completeMessages(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.completeMine(cmd, typed, func(ctx context.Context, o *office.Office, caller office.Caller) (out []string) {
		box, err := o.Inbox(ctx, caller, true, office.Page{Limit: maxCompletions})
		if err != nil {
			return nil
		}
		for i := range box.Messages {
			m := &box.Messages[i]
			out = append(out, cobra.CompletionWithDesc(m.Short, m.From+": "+safeLine(previewOf(m), 40)))
		}
		return out
	})
}

// completeThreads completes the id of one of the caller's open threads.
func (a *app) completeThreads(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.completeMine(cmd, typed, func(ctx context.Context, o *office.Office, caller office.Caller) (out []string) {
		list, err := o.ThreadList(ctx, caller, false, true, office.Page{Limit: maxCompletions})
		if err != nil {
			return nil
		}
		for i := range list.Threads {
			out = append(out, cobra.CompletionWithDesc(list.Threads[i].Short, safeLine(list.Threads[i].Subject, 40)))
		}
		return out
	})
}

// completeClaims completes the id of a claim that stands in this project or
// another: the caller's own first.
func (a *app) completeClaims(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.completeMine(cmd, typed, func(ctx context.Context, o *office.Office, caller office.Caller) (out []string) {
		var others []string
		list, err := o.ClaimList(ctx, caller, office.ClaimQuery{Every: true, Page: office.Page{Limit: maxCompletions}})
		if err != nil {
			return nil
		}
		for i := range list.Claims {
			v := &list.Claims[i]
			word := cobra.CompletionWithDesc(v.Short, safeLine(v.Holder+": "+v.Intent, 40))
			if v.Mine {
				out = append(out, word)
			} else {
				others = append(others, word)
			}
		}
		return append(out, others...)
	})
}

func (a *app) completeMine(cmd *cobra.Command, typed string, find func(context.Context, *office.Office, office.Caller) []string) ([]string, cobra.ShellCompDirective) {
	if a.lookUp(cmd.Context()) == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	o, caller, err := a.enter(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []string
	for _, word := range find(cmd.Context(), o, caller) {
		if strings.HasPrefix(word, strings.ToUpper(typed)) {
			out = append(out, word)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// words completes one of a fixed set.
func words(list ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)
}

// onlyFirst completes the first argument; the others are text.
func onlyFirst(fn cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return fn(cmd, args, typed)
	}
}

// completeFlag says how a flag's value is completed.
func completeFlag(cmd *cobra.Command, flag string, fn cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, fn); err != nil {
		panic(err) // the flag is not there: a defect of this package
	}
}
