package cli

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bureau/internal/claim"
	"bureau/internal/fault"
	"bureau/internal/office"
	"bureau/internal/quote"
)

func newClaim(a *app) *cobra.Command {
	var resources, files []string
	var intent, task string
	var shared, keep bool
	var ttl, wait duration
	cmd := &cobra.Command{
		Use:     "claim PATTERN…",
		GroupID: groupClaims,
		Short:   "Say what you are about to change, so that others leave it alone",
		Long: `Claim files, folders and patterns of a project, and things that are no files
(port:8080, gpu:host-a/2, deploy:staging), for as long as you work on them. A
folder covers all below it; quote patterns such as 'src/**/*.go'. What is there
as you write it is meant so: with a folder app/[id], app/[id]/new.tsx is a name.
Where nothing is there, brackets are a pattern, and \[id\] is the name.

It is all or nothing: either you hold everything that you name, or nothing has
changed.

What somebody else holds is refused, with who holds it, what for, their last
sign of life, and the ways out: wait, ask them, or take it over if they are
gone.

--shared is a claim beside others' shared claims of the same, for people who
have agreed to work there together: each of them may change it, and is told at
an edit or a commit who the others are. Whoever has none is kept out.

--wait stands in line: first come first served, and whoever asks later, also
without waiting, is behind you. Only who held some of it before you asked may
get more of it meanwhile, to finish its work, and only until that is given up.
Waiters of one project cannot block each other for ever: nobody waits with half
of it, and a circle of holders who wait for each other is refused. Waits across
projects are bounded only by --wait.

A claim ends with bureau release, and with its session, which has 30 minutes to
come back. Without a sign of life for the length of its lease (30m, or --ttl up
to 24h) it goes to whoever claims next, if it is not in use. --keep is for what
runs on without you, a training run or a deployment: then the claim stands, up
to 30 days, while a look at the thing says that it is in use.

A claim holds in the project that the paths lie in; of the things, gpu, port,
pid, device and vm are the machine's and the same in all projects. Submodules
and other repositories below a folder are projects of their own, and covered by
a claim of the folder all the same. Linked work trees share the project's
claims: the same path in another one is allowed with a warning, for it meets at
the merge.`,
		Example: `  bureau claim src/parser --intent "rename Node to Tree"
  bureau claim 'src/**/*.go' go.mod --intent "upgrade the driver" --wait 10m
  bureau claim --resource deploy:staging --intent "release 2.1" --keep
  bureau claim docs --shared --intent "proofread, with bob"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args)+len(resources) == 0 {
				return usage(cmd, "claim what? Name a path, a pattern or a thing")
			}
			if strings.TrimSpace(intent) == "" {
				return usage(cmd, "what are you about to do? Say it with --intent")
			}
			m, err := a.meaning(args, resources)
			if err != nil {
				return err
			}
			if shared {
				m.want.Mode = claim.Shared
			}
			o, caller, err := a.enter(cmd.Context())
			if err != nil {
				return err
			}
			p, err := m.settle(cmd.Context(), o)
			if err != nil {
				return err
			}
			c := office.Claiming{
				Want: m.want, Intent: intent, Task: task, Files: files, TTL: time.Duration(ttl), Keep: keep, Wait: time.Duration(wait),
			}
			v, err := a.claim(cmd.Context(), o, caller, p, c)
			if err != nil {
				if wait > 0 && fault.Is(err, fault.Conflict) {
					return err // waiting is no way out of a circle
				}
				return a.refused(err, a.retry(cmd, args), intent)
			}
			v.Note = beside(v.Note, m.misread)
			if a.json {
				return a.printJSON(v)
			}
			a.holding(&v, caller.Project)
			if len(args) > 0 {
				a.noteLapse(cmd.Context())
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&resources, "resource", nil, "also the thing `KIND:NAME`; may be repeated")
	flags.StringVar(&intent, "intent", "", "what you are about to do, in `WORDS`")
	flags.StringVar(&task, "task", "", "the task that it belongs to, as `WORDS`")
	flags.StringSliceVar(&files, "files", nil, "which `FILE[,FILE…]` you expect to touch, to be read")
	flags.BoolVar(&shared, "shared", false, "others may claim the same, shared too")
	flags.Var(&ttl, "ttl", "how long without a sign of life (default 30m)")
	flags.BoolVar(&keep, "keep", false, "it outlives the session while it is in use")
	flags.Var(&wait, "wait", "stand in line for at most `D`")
	return cmd
}

// claim claims, and says on the error output who is waited for.
func (a *app) claim(ctx context.Context, o *office.Office, caller office.Caller, p office.Project, c office.Claiming) (office.ClaimView, error) {
	queued := false
	c.Waiting = func(blocks []claim.Block) {
		queued = true
		for i := range blocks {
			a.note("%s", a.blockWords(&blocks[i]))
		}
		a.note("waiting up to %s; Ctrl-C gives the place in line up", length(c.Wait))
	}
	v, err := o.Claim(ctx, caller, p, c)
	if queued && errors.Is(err, context.Canceled) {
		err = fault.New(fault.Unavailable, "interrupted: %w", context.Canceled).WithHint("the place in line is given up")
	}
	return v, err
}

// retry is the same command again, with a wait.
func (a *app) retry(cmd *cobra.Command, args []string) string {
	words := []string{"bureau", "claim"}
	dashed := false
	for _, arg := range args {
		dashed = dashed || strings.HasPrefix(arg, "-")
		words = append(words, quote.Shell(safeLine(arg, 0)))
	}
	said := []string{}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		list, many := f.Value.(pflag.SliceValue)
		switch {
		case f.Name == "wait":
		case many:
			for _, v := range list.GetSlice() {
				said = append(said, "--"+f.Name, quote.Shell(safeLine(v, 0)))
			}
		case f.Value.Type() == "bool" && f.Value.String() == "false":
		case f.Value.Type() == "bool":
			said = append(said, "--"+f.Name)
		default:
			said = append(said, "--"+f.Name, quote.Shell(safeLine(f.Value.String(), 0)))
		}
	})
	said = append(said, "--wait", "10m")
	if dashed { // behind the flags, where they are no flags
		return strings.Join(append(append(words[:2:2], said...), append([]string{"--"}, words[2:]...)...), " ")
	}
	return strings.Join(append(words, said...), " ")
}
