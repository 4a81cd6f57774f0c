// Package office is the one writer of the journal: one method for each thing
// that can be done in an office. A method loads the state that a decision
// needs, decides by the rules, appends what was decided, folds it into the
// tables and, after the commit, rings who is addressed.
//
// All of that up to the bells is one transaction of one database, so several
// processes can run an office together without a daemon: they decide one
// after the other, each on the newest state.
//
// When a method that changes something returns nil, the change is durable.
// Views never change what they show.
package office

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"bureau/internal/db"
	"bureau/internal/event"
	"bureau/internal/fault"
	journalsqlite "bureau/internal/journal/sqlite"
	"bureau/internal/presence"
	"bureau/internal/projection"
	"bureau/internal/roster"
	"bureau/internal/runtimedir"
)

// Options say how an office is opened.
type Options struct {
	Home   string // the office's folder; "" for DefaultHome
	Create bool   // begin a new office if there is none
	// Now gives the time; nil for the machine's clock.
	Now func() time.Time
	// Generation of the tables; 0 for this version's own.
	Generation int
	// Progress, if set, is told how far a slow preparation has come.
	Progress func(done, total event.Seq)
	// NoFill refuses with fault.Unavailable instead of filling tables that are
	// far behind: hooks must not be slow.
	NoFill bool
	// FullText registers full-text search on the store's connection (package
	// db/fts); nil in programs that do not link it, where Find is unavailable.
	FullText func(*db.DB) error
	// Bare leaves a new office empty, for an import to fill it.
	Bare bool
	// Early opens the live state beside the store, for a short program that will
	// need both: the two take as long as one.
	Early bool
	// Probe looks at what claims cover; nil where nothing can.
	Probe Prober
	// Mirror keeps lock files in another program's layout; nil for none.
	Mirror Mirror
	// ClaimNote gives a warning that goes with each claim in a project, such as
	// that claims on a network file system hold on this machine only.
	ClaimNote func(p Project) string
	// Mark reads what a project is recognised by wherever it lies ([Project.Mark]),
	// "" if nothing tells; nil where nobody can. It is called at most once for a
	// project that the office does not know.
	Mark func(ctx context.Context, root string) string
	// Stamp gives what a folder is recognised by after a move ("DEVICE:FILE:BIRTH",
	// as git.Stamp does), "" if it cannot tell. nil recognises a project by its
	// mark alone, and no work tree by itself.
	Stamp func(folder string) string
	// Colleagues reads the roster files of the office and of a project's root
	// (package paper/colleagues); nil where nobody but agents is known.
	Colleagues func(home, root string) roster.Staff
	// Rouse, if set, is called after something in a room concerned agents, so that
	// sessions without a server of their own are rung (package wake). The bells
	// have been rung by then; it must not take long.
	Rouse func(ctx context.Context, o *Office, agents []event.ID)
	// Glance, if set, begins a look at what the clients of sessions say of
	// themselves, for the office at a folder (package wake). The function that it
	// gives corrects the entry of a client by its newer word, and names the way
	// into its session that is there without a server; it must be quick.
	Glance func(home string) func(l presence.Life, now time.Time) presence.Life
}

// Office is an open office. Its methods may be called from several goroutines.
type Office struct {
	home     string
	now      func() time.Time
	store    *db.DB
	journal  *journalsqlite.Engine
	tables   *projection.Projection
	glance   func(home string) func(presence.Life, time.Time) presence.Life
	run      runtimedir.Dir
	progress func(done, total event.Seq)
	noFill   bool
	fullText func(*db.DB) error
	bare     bool

	probe     Prober
	mirror    Mirror
	claimNote func(p Project) string
	markOf    func(ctx context.Context, root string) string
	stampOf   func(folder string) string

	colleagues func(home, root string) roster.Staff
	rouse      func(ctx context.Context, o *Office, agents []event.ID)

	waiting shared // agents and questions that this process waits for

	liveMu sync.Mutex
	live   *presence.Store
	early  chan opened // of the live state, if it was opened beside the store
}

// Open opens the office, and begins it if that is asked for and there is none.
// Errors: not_found without Create; unavailable when the store, its volume or
// its disk cannot serve.
func Open(ctx context.Context, opts Options) (*Office, error) {
	if strings.TrimSpace(opts.Home) == "" {
		opts.Home = os.Getenv(HomeVariable)
	}
	home, err := HomeOf(opts.Home)
	if err != nil {
		return nil, err
	}
	run, err := runtimedir.Open(home)
	if err != nil {
		return nil, err
	}
	if opts.Create {
		if err := checkPlace(home, run); err != nil {
			return nil, err
		}
	}
	o := &Office{
		home: home, now: opts.Now, run: run, progress: opts.Progress, noFill: opts.NoFill, fullText: opts.FullText, bare: opts.Bare,
		tables: projection.New(projection.Generation), probe: opts.Probe, mirror: opts.Mirror, claimNote: opts.ClaimNote, markOf: opts.Mark, stampOf: opts.Stamp,
		rouse: opts.Rouse, glance: opts.Glance,
		colleagues: opts.Colleagues,
	}
	if o.now == nil {
		o.now = time.Now
	}
	if opts.Generation != 0 {
		o.tables = projection.New(opts.Generation)
	}
	if opts.Early {
		o.early = make(chan opened, 1)
		go func() {
			live, err := presence.Open(ctx, run.LiveDB())
			o.early <- opened{live, err}
		}()
	}
	o.store, err = db.Open(ctx, filepath.Join(home, storeFile), db.Options{Create: opts.Create, Sync: db.Full, AppID: journalsqlite.AppID})
	if err != nil {
		if fault.Is(err, fault.NotFound) {
			return nil, fault.New(fault.NotFound, "no office at %s", home).WithHint("bureau init begins one")
		}
		return nil, err
	}
	if o.journal, err = journalsqlite.Open(ctx, o.store); err != nil {
		return nil, errors.Join(err, o.store.Close())
	}
	if opts.NoFill && !opts.Create {
		// A hook of an office that is there: what it does first brings the
		// tables up as well, and the human is somebody else's to register.
		rememberPlace(home, run)
		return o, nil
	}
	if err := o.prepare(ctx); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	rememberPlace(home, run)
	return o, nil
}

// Close releases the office. It must be called on every path: a process that
// exits without it leaves a log behind that slows the next one down.
func (o *Office) Close() error {
	o.liveMu.Lock()
	defer o.liveMu.Unlock()
	var errs []error
	if o.early != nil { // nobody needed it
		if got := <-o.early; got.err == nil {
			o.live = got.live
		}
		o.early = nil
	}
	if o.live != nil {
		errs = append(errs, o.live.Close())
		o.live = nil
	}
	return errors.Join(append(errs, o.store.Close())...)
}

// Home is the office's folder.
func (o *Office) Home() string { return o.home }

// StorePath is the file that holds the journal and the tables.
func (o *Office) StorePath() string { return o.store.Path() }

// RuntimeDir is the folder of live state on this machine.
func (o *Office) RuntimeDir() runtimedir.Dir { return o.run }

// ReadOnly reports whether this process may not change the office.
func (o *Office) ReadOnly() bool { return o.store.ReadOnly() }

// Now gives the office's time.
func (o *Office) Now() time.Time { return o.now().UTC().Truncate(time.Millisecond) }

// Live gives the live state, opening it when it is first needed.
func (o *Office) Live(ctx context.Context) (*presence.Store, error) {
	o.liveMu.Lock()
	defer o.liveMu.Unlock()
	if o.live != nil {
		return o.live, nil
	}
	live, err := o.openLive(ctx)
	if err != nil {
		return nil, err
	}
	o.live = live
	return live, nil
}

// opened is what came of opening the live state.
type opened struct {
	live *presence.Store
	err  error
}

// openLive gives the live state that was opened early, or opens it now.
func (o *Office) openLive(ctx context.Context) (*presence.Store, error) {
	if o.early != nil {
		got := <-o.early
		o.early = nil
		if got.err == nil {
			return got.live, nil
		}
	}
	return presence.Open(ctx, o.run.LiveDB())
}

// prepare brings the tables up to the journal's head and begins the office's
// own entries if it is new.
func (o *Office) prepare(ctx context.Context) error {
	if o.ReadOnly() || o.bare {
		return nil
	}
	var user bool
	err := o.look(ctx, func(tx *Tx) error {
		var err error
		_, _, user, err = o.tables.Holder(tx.t, roster.UserName.Key())
		return err
	})
	if err != nil || user {
		return err
	}
	return o.change(ctx, event.Actor{}, func(tx *Tx) error { return tx.registerHuman() })
}
