package cli

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"bureau/internal/db/fts"
	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/git"
	"bureau/internal/mirror/locks"
	"bureau/internal/office"
	"bureau/internal/paper/colleagues"
	"bureau/internal/probe/verify"
	"bureau/internal/wake"
)

// app is what the commands of one run share: the streams, the global flags
// and the office, which is opened when a command first needs it and closed
// when the run ends, whatever happened.
type app struct {
	IO
	as      string // --as
	project string // --project
	json    bool   // --json

	out     *bufio.Writer
	office  *office.Office
	slow    bool // progress was shown and has not come to its end
	session bool // the caller is a coding agent: its model reads the output
	running bool // the command line was understood and the command began
	exit    int  // the exit status of an error, where a command has codes of its own
}

func newApp(streams IO) *app {
	return &app{IO: streams, out: bufio.NewWriterSize(streams.Out, 32<<10)}
}

// flush writes out what was printed. Only after it returns nil has anybody
// been given it. What failed once fails for good: no later call hides it.
func (a *app) flush() error {
	if err := a.out.Flush(); err != nil {
		return fault.New(fault.Unavailable, "cannot write the output: %w", err)
	}
	return nil
}

// open opens the office, and begins it at the first use.
func (a *app) open(ctx context.Context) (*office.Office, error) {
	if a.office != nil {
		return a.office, nil
	}
	opts := office.Options{Home: a.Env(office.HomeVariable), Now: a.Now, Progress: a.progress, FullText: fts.Register, Mirror: locks.Mirror(), Mark: git.Mark, Stamp: git.Stamp}
	verify.Options(&opts)
	opts.Rouse, opts.Glance, opts.Colleagues = wake.Rouse(a.Env), wake.Glance(a.Env), colleagues.NewReader(a.Env).Staff
	o, err := office.Open(ctx, opts)
	if fault.Is(err, fault.NotFound) {
		opts.Create = true
		if o, err = office.Open(ctx, opts); err == nil {
			a.note("began a new office at %s", o.Home())
		}
	}
	if err != nil {
		return nil, err
	}
	a.office = o
	return o, nil
}

// progress shows how far going through the journal has come, to a person; what
// was done in one step is not worth a word.
func (a *app) progress(done, total event.Seq) {
	if !a.ErrTTY || a.json {
		return
	}
	end := "\r"
	if done >= total {
		if end = "\n"; !a.slow {
			return
		}
	}
	a.slow = done < total
	a.errf("going through the journal: %d of %d%s", done, total, end)
}

// enter opens the office and says who calls.
func (a *app) enter(ctx context.Context) (*office.Office, office.Caller, error) {
	as := a.as
	if as == "" && a.token() == "" {
		// A variable that is blank counts as not set, unlike a blank --as.
		as = strings.TrimSpace(a.Env("BUREAU_AS"))
	}
	return a.enterAs(ctx, as)
}

// token gives the credential that the environment holds.
func (a *app) token() string { return strings.TrimSpace(a.Env(office.TokenVariable)) }

func (a *app) enterAs(ctx context.Context, as string) (*office.Office, office.Caller, error) {
	// What was typed wrong is said before an office is begun for it.
	found, err := a.findProject()
	if err != nil {
		return nil, office.Caller{}, err
	}
	o, err := a.open(ctx)
	if err != nil {
		return nil, office.Caller{}, err
	}
	project, err := o.SettleProject(ctx, found)
	if err != nil {
		return nil, office.Caller{}, err
	}
	claim := office.Claim{As: as, Project: project}
	if as == "" && a.as == "" {
		claim.Token = a.token()
	}
	caller, err := o.Identify(ctx, claim)
	a.session = caller.InSession()
	return o, caller, err
}

// findProject gives the project of --project or of the working folder. Only a
// folder that was named must exist.
func (a *app) findProject() (office.Project, error) {
	dir := a.Dir
	if a.project != "" {
		dir = a.project
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(a.Dir, dir)
		}
		switch st, err := os.Stat(dir); {
		case errors.Is(err, fs.ErrNotExist):
			return office.Project{}, fault.New(fault.NotFound, "the project folder %s is not there", dir).
				WithHint("mount its volume, or name another folder with --project")
		case err != nil:
			return office.Project{}, fault.New(fault.Unavailable, "cannot look at the project folder: %w", err)
		case !st.IsDir():
			return office.Project{}, fault.New(fault.Invalid, "%s is not a folder", dir).WithHint("--project takes a repository or a folder")
		}
	}
	p, err := git.Project(dir)
	if err != nil {
		if a.project == "" && !fault.Is(err, fault.Invalid) {
			return office.Project{}, nil
		}
		return office.Project{}, err
	}
	return office.Project{ID: p.ID, Name: p.Name, Root: p.Root, Repository: p.Repository}, nil
}

// close ends the run: what was printed goes out, the office is released.
func (a *app) close() error {
	err := a.flush()
	if a.office != nil {
		err = errors.Join(err, a.office.Close())
		a.office = nil
	}
	return err
}
