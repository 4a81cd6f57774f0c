package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bureau/internal/claim"
	"bureau/internal/fault"
	"bureau/internal/git"
	where "bureau/internal/git/place"
	"bureau/internal/mirror/locks"
	"bureau/internal/office"
)

// guardVariable set to "off" is a person's word to go on whatever is held.
const guardVariable = "BUREAU_GUARD"

// guardLimit bounds one question: the guard must not be what keeps somebody
// from working.
const guardLimit = 20 * time.Second

func newGuardRun(a *app) *cobra.Command {
	var home string
	cmd := &cobra.Command{
		Use:   "run HOOK [-- ARG…]",
		Short: "Ask the guard, as git's hooks do",
		Long: `Ask the guard about the commit or push that is being made, as the installed
hooks do: HOOK is pre-commit, pre-merge-commit or pre-push. By hand it looks at
what is staged.

Exit status 1 is a no: somebody holds one of the paths, or the caller lost its
claim of it. Any other status but 0 means that it could not be found out, and
the commit goes on. An office is never begun for it. Whoever commits is the
session that git runs in, or the agent of BUREAU_AS, or the person.`,
		Example: "  bureau guard run pre-commit",
		Args:    between(1, -1, "the hook"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(guardHooks, args[0]) {
				return usage(cmd, "the guard knows no hook %q; it knows %s", args[0], strings.Join(guardHooks, ", "))
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), guardLimit)
			defer cancel()
			g := guardRun{app: a, hook: args[0], home: home}
			err := g.run(ctx)
			switch {
			case err == nil, g.refused:
				return err
			case g.off():
				return nil // its own trouble is nobody's when it is not wanted
			}
			return oneLine(err)
		},
	}
	cmd.Flags().StringVar(&home, "home", "", "the office is the folder `DIR` (default: $BUREAU_HOME or ~/.bureau)")
	return cmd
}

// guardRun is one question of git's.
type guardRun struct {
	*app
	hook    string
	home    string
	refused bool // what run gives is a no, and not trouble
}

func (g *guardRun) off() bool {
	return strings.EqualFold(strings.TrimSpace(g.Env(guardVariable)), "off")
}

// touched is what a commit or push changes, in git's own names.
type touched struct {
	own    []string // by the commits themselves
	merged []string // brought in by a merge, changed elsewhere
}

func (g *guardRun) run(ctx context.Context) error {
	paths, err := g.touched(ctx)
	if err != nil || len(paths.own)+len(paths.merged) == 0 {
		return err
	}
	o, err := office.Open(ctx, office.Options{Home: g.officeHome(), Now: g.Now, NoFill: true, Mirror: locks.Mirror(), Mark: git.Mark, Stamp: git.Stamp})
	if err != nil {
		return err
	}
	g.office = o
	grounds, err := g.grounds(ctx, o, paths)
	if err != nil {
		return err
	}
	caller, err := g.committer(ctx, o, grounds[0].project)
	if err != nil {
		return err
	}
	if g.session = caller.InSession(); g.off() && !g.session {
		return nil
	}
	var found findings
	for i := range grounds {
		if err := found.ask(ctx, o, caller, &grounds[i]); err != nil {
			return err
		}
	}
	g.warn(&found)
	if len(found.held) == 0 && found.lost == nil {
		return nil
	}
	g.refused = true
	return g.refusal(&found, caller)
}

func (g *guardRun) officeHome() string {
	if g.home != "" {
		return g.home
	}
	return g.Env(office.HomeVariable)
}

func (g *guardRun) touched(ctx context.Context) (t touched, err error) {
	if g.hook == git.PrePush {
		push, err := git.Pushed(ctx, g.Dir, nil, g.In)
		if err == nil && push.More {
			g.note("the push is larger than what the guard looks at; it looked at %s", plural(len(push.Paths), "path"))
		}
		return touched{own: push.Paths}, err
	}
	changes, err := git.Staged(ctx, g.Dir, nil)
	for _, c := range changes {
		if c.Merged {
			t.merged = append(t.merged, c.Paths()...)
		} else {
			t.own = append(t.own, c.Paths()...)
		}
	}
	return t, err
}

// committer says who commits. A name that is none does not open the way: the
// session or the person is asked about then.
func (g *guardRun) committer(ctx context.Context, o *office.Office, p office.Project) (office.Caller, error) {
	as := g.as
	if as == "" {
		as = strings.TrimSpace(g.Env("BUREAU_AS"))
	}
	claim := office.Claim{As: as, Project: p}
	if token := strings.TrimSpace(g.Env(office.TokenVariable)); g.as == "" && token != "" {
		claim.As, claim.Token, as = "", token, office.TokenVariable
	}
	caller, err := o.Identify(ctx, claim)
	if err != nil && as != "" && !fault.Is(err, fault.Unavailable) {
		if !g.off() {
			g.note("%s", safeText(err.Error()))
		}
		caller, err = o.Identify(ctx, office.Claim{Project: p})
	}
	return caller, err
}

// ground is one project's part of a commit. A repository has several if
// folders of it are projects of their own.
type ground struct {
	project office.Project
	tree    string
	fold    bool
	own     []string // names in the project's work tree
	merged  []string
	git     map[string]string // what git calls them
}

// grounds sorts paths by projects. Nothing is resolved: git's names lead
// through no links.
func (g *guardRun) grounds(ctx context.Context, o *office.Office, t touched) ([]ground, error) {
	top, err := g.top()
	if err != nil {
		return nil, err
	}
	var list []ground
	index := map[string]int{} // by the folder that decides
	at := func(dir string) (*ground, error) {
		if i, ok := index[dir]; ok {
			return &list[i], nil
		}
		p, err := where.Of(dir)
		if err != nil {
			return nil, err
		}
		project, err := o.SettleProject(ctx, p.Project)
		if err != nil {
			return nil, err
		}
		index[dir] = len(list)
		list = append(list, ground{project: project, tree: p.Tree, fold: p.Fold, git: map[string]string{}})
		return &list[len(list)-1], nil
	}
	own := nested(top)
	for i, paths := range [][]string{t.own, t.merged} {
		for _, path := range paths {
			gr, err := at(own(path))
			if err != nil {
				return nil, err
			}
			rel, err := filepath.Rel(gr.tree, filepath.Join(top, filepath.FromSlash(path)))
			if err != nil {
				return nil, err
			}
			name := claim.Normal(filepath.ToSlash(rel))
			part, err := submodule(path, i == 0, filepath.Join(top, filepath.FromSlash(path)), at)
			if err != nil {
				return nil, err
			}
			if part {
				name += "/" + gitEntry
			}
			if gr, err = at(own(path)); err != nil { // the list may have moved
				return nil, err
			}
			gr.add(name, path, i == 0)
		}
	}
	return list, nil
}

// gitEntry stands for a submodule as a whole, which a claim of some of its files
// does not cover.
const gitEntry = ".git"

// submodule asks, where a path is a submodule, about the whole of it too: it is
// a project of its own, and a claim of the folder lies there. part is set for
// one that belongs to the project around it, as all below a project's file
// does.
func submodule(path string, own bool, dir string, at func(string) (*ground, error)) (part bool, err error) {
	if _, err := os.Lstat(filepath.Join(dir, gitEntry)); err != nil {
		return false, nil // a file, or a submodule that is not there
	}
	gr, err := at(dir)
	if err != nil {
		return false, err
	}
	if gr.tree != dir {
		return true, nil
	}
	gr.add(gitEntry, path, own)
	return false, nil
}

// add adds a path by its name in the project's work tree.
func (gr *ground) add(name, path string, own bool) {
	gr.git[name] = path
	if own {
		gr.own = append(gr.own, name)
	} else {
		gr.merged = append(gr.merged, name)
	}
}

// top is the work tree's own folder, links resolved.
func (g *guardRun) top() (string, error) {
	dir := g.Dir
	if tree := g.Env("GIT_WORK_TREE"); tree != "" {
		if !filepath.IsAbs(tree) {
			tree = filepath.Join(dir, tree)
		}
		return filepath.EvalSymlinks(tree)
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	if root, _, ok := git.Root(dir); ok {
		return root, nil
	}
	return dir, nil
}

// nested gives for a path the nearest folder above it that is a project of its
// own, or the top.
func nested(top string) func(path string) string {
	known := map[string]string{".": top}
	var of func(dir string) string
	of = func(dir string) string {
		if at, ok := known[dir]; ok {
			return at
		}
		at := filepath.Join(top, filepath.FromSlash(dir))
		if _, err := os.Lstat(filepath.Join(at, filepath.FromSlash(git.IDFile))); err != nil {
			at = of(parent(dir))
		}
		known[dir] = at
		return at
	}
	return func(path string) string { return of(parent(path)) }
}

func parent(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "."
}

// findings are what stands in the way of a commit.
type findings struct {
	held   []heldPath
	meets  []heldPath // held in other work trees
	shares []heldPath // held by others, shared like the caller's own claim
	beside []heldPath // held by the caller, and locked by another program since
	merged []heldPath // held, and changed by a commit that is merged
	lost   error
	unread string // why other programs' locks were not looked at
}

// heldPath is a path that somebody else holds.
type heldPath struct {
	Path string `json:"path"` // as git calls it
	claim.Block
}

func (f *findings) ask(ctx context.Context, o *office.Office, caller office.Caller, g *ground) error {
	say := func(to *[]heldPath, blocks []claim.Block) {
		for _, b := range blocks {
			path := g.git[b.Overlap[0]]
			// A submodule is asked about from above and from inside.
			if b.Overlap[0] == gitEntry && slices.ContainsFunc(*to, func(h heldPath) bool {
				return h.Path == path && h.Claim == b.Claim && h.Foreign == b.Foreign
			}) {
				continue
			}
			*to = append(*to, heldPath{Path: path, Block: b})
		}
	}
	for i, paths := range [][]string{g.own, g.merged} {
		if len(paths) == 0 {
			continue
		}
		done, err := o.MayCommit(ctx, caller, g.project, office.Editing{Paths: paths, Tree: g.tree, Fold: g.fold})
		if done.Unread != nil {
			f.unread = done.Unread.Error()
		}
		blocks, refused := blocksOf(err)
		switch {
		case err != nil && !refused:
			return err
		case i == 1:
			say(&f.merged, blocks)
		case len(blocks) == 0 && err != nil && f.lost == nil:
			f.lost = err
			fallthrough
		default:
			say(&f.held, blocks)
			say(&f.meets, done.Meets)
			say(&f.shares, done.Shares)
			say(&f.beside, done.Beside)
		}
	}
	return nil
}

// blocksOf gives what a refusal names; none where the caller lost its claim.
func blocksOf(err error) (blocks []claim.Block, refused bool) {
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != fault.Conflict {
		return nil, false
	}
	blocks, _ = f.Detail.([]claim.Block)
	return blocks, true
}
