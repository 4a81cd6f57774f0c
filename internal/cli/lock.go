package cli

import (
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"bureau/internal/fault"
	where "bureau/internal/git/place"
	"bureau/internal/mirror/locks"
	"bureau/internal/mirror/mclaude"
	"bureau/internal/quote"
)

func newLock(a *app) *cobra.Command {
	return verbs(&cobra.Command{
		Use:     "lock",
		GroupID: groupClaims,
		Short:   "Claims in the words of mclaude's lock commands",
		Long: `The lock commands of mclaude, with its flags and exit codes, on the office's own
claims: a lock is a claim of its files and of its name (the resource lock:SLUG).
What others claimed with bureau claim is listed too, under a name made of its
intent, and what they claimed by editing, as one lock for each of them. In a
project with mclaude's lock folder the locks of real mclaude sessions are among
them, those in its linked work trees too.

Other than with mclaude only the holder releases a lock, and a lock whose holder
is at it cannot be forced.

Exit status: 0 done, 1 no slug or trouble, 2 usage, 10 held, 11 held without a
sign of life, 12 there is no such lock, 13 it is another session's.`,
		Example: `  bureau lock claim --slug fix-auth --description "new tokens" --files src/auth
  bureau lock status fix-auth
  bureau lock release fix-auth --summary "tokens are signed"`,
	}, newLockClaim(a), newLockHeartbeat(a), newLockRelease(a), newLockList(a), newLockStatus(a), newLockForce(a))
}

// work gives a project's claims in mclaude's words.
func (a *app) work(cmd *cobra.Command) (locks.Work, error) {
	m, err := a.meaning(nil, nil)
	if err != nil {
		return locks.Work{}, err
	}
	o, caller, err := a.enter(cmd.Context())
	if err != nil {
		return locks.Work{}, err
	}
	p, err := m.settle(cmd.Context(), o)
	return locks.Work{Office: o, Caller: caller, Project: p, Tree: m.place.Tree}, err
}

// lockRun makes every error of a lock command one with mclaude's exit code.
func (a *app) lockRun(run func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := run(cmd, args)
		if _, ok := mclaude.RefusalOf(err); err != nil && !ok {
			exit := mclaude.ExitInvalid
			if fault.Is(err, fault.Invalid) {
				exit = mclaude.ExitUsage
			}
			a.exit = exit
		} else if err != nil {
			a.exit = mclaude.ExitCode(err)
		}
		return err
	}
}

func newLockClaim(a *app) *cobra.Command {
	var slug, description, session, tree string
	var files []string
	cmd := &cobra.Command{
		Use:   "claim --slug SLUG --description TEXT [--files PATH…]",
		Short: "Take a piece of work",
		Long: `Take a piece of work: its name, and the files that are given. All of it or
nothing. Values that begin with a dash are written with =, as in --files=-x.`,
		Example: `  bureau lock claim --slug fix-auth --description tokens --files src/a src/b
  bureau lock claim --slug deploy --description "to staging" --session ani-1`,
		RunE: a.lockRun(func(cmd *cobra.Command, args []string) error {
			switch {
			case slug == "":
				return usage(cmd, "--slug is missing")
			case description == "":
				return usage(cmd, "--description is missing")
			case len(args) > 0 && !cmd.Flags().Changed("files"):
				return usage(cmd, "%s: what is %q?", cmd.CommandPath(), args[0])
			}
			w, err := a.work(cmd)
			if err != nil {
				return err
			}
			dir, err := a.folder()
			if err != nil {
				return err
			}
			if tree != "" {
				if dir = tree; !filepath.IsAbs(dir) {
					dir = filepath.Join(a.Dir, tree)
				}
			}
			at, err := where.Of(dir)
			if err != nil {
				return err
			}
			row, err := w.Claim(cmd.Context(), locks.Request{Slug: slug, Description: description, Session: session, Files: append(files, args...), Place: at})
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(row)
			}
			a.printf("claimed %s, session %s\n", row.Slug, safeLine(row.Session, 0))
			return nil
		}),
	}
	f := cmd.Flags()
	f.StringVar(&slug, "slug", "", "the name of the work: `SLUG` is 3 to 80 of a-z, 0-9 and -")
	f.StringVar(&description, "description", "", "what you are about to do: `TEXT`")
	f.StringVar(&session, "session", "", "a session id of your own: `ID` (default: made up)")
	f.StringArrayVar(&files, "files", nil, "the files: `PATH` and more behind it")
	f.StringVar(&tree, "worktree", "", "the files are meant in the work tree `DIR` (default: the working one)")
	return cmd
}

func newLockHeartbeat(a *app) *cobra.Command {
	var session string
	cmd := &cobra.Command{
		Use:   "heartbeat SLUG",
		Short: "Give a lock a sign of life",
		Long: `Give a lock a sign of life. That is not needed inside of agent sessions, whose
turns and tool calls are signs of life by themselves.`,
		Example: "  bureau lock heartbeat fix-auth",
		Args:    between(1, 1, "the slug"),
		RunE: a.lockRun(func(cmd *cobra.Command, args []string) error {
			w, err := a.work(cmd)
			if err != nil {
				return err
			}
			if err := w.Beat(cmd.Context(), args[0], session); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(lockDone{Slug: args[0], Success: true})
			}
			a.printf("%s is alive\n", args[0])
			return nil
		}),
	}
	cmd.Flags().StringVar(&session, "session", "", "only if the lock is of session `ID`")
	return cmd
}

// lockDone is what a lock command that ends or keeps a lock prints.
type lockDone struct {
	Success bool   `json:"success"`
	Slug    string `json:"slug"`
	Archive string `json:"archive,omitempty"` // relative to the project's root
}

func (a *app) showReleased(slug, word, archive string) error {
	if a.json {
		return a.printJSON(lockDone{Success: true, Slug: slug, Archive: archive})
	}
	a.printf("%s %s\n", word, slug)
	if archive != "" {
		a.printf("archived in %s\n", safeLine(archive, 0))
	}
	return nil
}

func newLockRelease(a *app) *cobra.Command {
	var session, summary string
	cmd := &cobra.Command{
		Use:     "release SLUG",
		Short:   "Give a lock up",
		Long:    `Give a lock up, with a summary of what was done. Only its holder does that.`,
		Example: `  bureau lock release fix-auth --summary "tokens are signed"`,
		Args:    between(1, 1, "the slug"),
		RunE: a.lockRun(func(cmd *cobra.Command, args []string) error {
			w, err := a.work(cmd)
			if err != nil {
				return err
			}
			_, archive, err := w.Release(cmd.Context(), args[0], session, summary)
			if err != nil {
				return err
			}
			return a.showReleased(args[0], "released", archive)
		}),
	}
	cmd.Flags().StringVar(&session, "session", "", "only if the lock is of session `ID`")
	cmd.Flags().StringVar(&summary, "summary", "", "what was done: `TEXT`")
	return cmd
}

func newLockForce(a *app) *cobra.Command {
	var reason string
	var broken bool
	cmd := &cobra.Command{
		Use:   "force-release SLUG --reason TEXT",
		Short: "End a lock that its holder does not use any more",
		Long: `End the lock of somebody without a sign of life. It is a takeover (bureau
takeover --help): refused while the holder is at it, or what the lock covers is
in use. --break is the person's own decision, at a plain terminal.`,
		Example: `  bureau lock force-release fix-auth --reason "its session crashed"`,
		Args:    between(1, 1, "the slug"),
		RunE: a.lockRun(func(cmd *cobra.Command, args []string) error {
			if reason == "" {
				return usage(cmd, "--reason is missing")
			}
			w, err := a.work(cmd)
			if err != nil {
				return err
			}
			_, archive, err := w.Force(cmd.Context(), args[0], reason, broken)
			if err != nil {
				return err
			}
			return a.showReleased(args[0], "force-released", archive)
		}),
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why it is free: `TEXT`")
	cmd.Flags().BoolVar(&broken, "break", false, "end it whatever speaks against it; only the person can")
	return cmd
}

func newLockStatus(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "status SLUG",
		Short: "Say whether a piece of work is free",
		Long: `Say whether a piece of work is FREE, ACTIVE (held) or STALE (held by somebody
who gives no sign of life).`,
		Example: "  bureau lock status fix-auth",
		Args:    between(1, 1, "the slug"),
		RunE: a.lockRun(func(cmd *cobra.Command, args []string) error {
			w, err := a.work(cmd)
			if err != nil {
				return err
			}
			row, err := w.Get(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(row)
			}
			a.showLock(&row)
			return nil
		}),
	}
}

func newLockList(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the work that is held",
		Long:    `List the work of this project that is held, by name.`,
		Example: "  bureau lock list --json",
		Args:    between(0, 0, ""),
		RunE: a.lockRun(func(cmd *cobra.Command, _ []string) error {
			w, err := a.work(cmd)
			if err != nil {
				return err
			}
			rows, err := w.List(cmd.Context())
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(struct {
					Locks []locks.Row `json:"locks"`
					Count int         `json:"count"`
				}{rows, len(rows)})
			}
			for i := range rows {
				a.showLock(&rows[i])
			}
			a.printf("%s\n", a.dim(plural(len(rows), "lock")))
			return nil
		}),
	}
}

// showLock prints one piece of work.
func (a *app) showLock(r *locks.Row) {
	theirs := func(s string) string {
		if a.session {
			s = quote.Text(s)
		}
		return safeLine(s, 0)
	}
	if r.Status == mclaude.Free {
		a.printf("%-6s  %s\n", r.Status, r.Slug)
		return
	}
	who := ""
	if r.Holder != "" {
		who = theirs(r.Holder) + ", "
	}
	a.printf("%-6s  %s  %s\n", r.Status, r.Slug, theirs(r.Description))
	age := time.Duration(r.HeartbeatAge * float64(time.Second)).Round(time.Second)
	sign := "last sign " + quote.Since(age)
	switch {
	case r.Silent:
		sign = "no heartbeat"
	case age < 0:
		sign = "its heartbeat is " + (-age).String() + " ahead of this clock"
	}
	a.printf("        %ssession %s, %s\n", who, theirs(r.Session), sign)
	for i, f := range r.Files {
		if i == mostPaths {
			a.printf("        and %d more\n", len(r.Files)-i)
			break
		}
		a.printf("        %s\n", theirs(showPath(f)))
	}
	if r.Worktree != "" {
		a.printf("        in the work tree %s\n", theirs(r.Worktree))
	}
}
