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
	"encoding/json"
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

// Tx is one look at the office or one change of it.
type Tx struct {
	o        *Office
	t        *db.Tx
	now      time.Time
	actor    event.Actor
	project  string
	bells    map[string]bool   // topics to ring after the commit
	flags    map[event.ID]bool // agents with new mail
	names    map[event.ID]string
	presence *presenceOf
	mint     event.ID        // the id for the next message, where it was promised before
	ringing  func()          // runs after the commit, before anybody is rung
	claimed  map[string]bool // scopes whose claims changed
	edited   map[string]bool // scopes and agents for which edits claimed or gave up something
	after    []func()        // to be done after the commit
	record   event.Record    // that an entry of a room was read from last
	roused   []event.ID      // agents whom something in a room concerns
	staff    roster.Staff    // colleagues whom a letter may go to before they have a seat

}

func (o *Office) tx(t *db.Tx, actor event.Actor) *Tx {
	return &Tx{o: o, t: t, now: o.Now(), actor: actor, bells: map[string]bool{}, flags: map[event.ID]bool{}, names: map[event.ID]string{}, claimed: map[string]bool{}}
}

// reader gives the journal's records inside the transaction.
func (tx *Tx) reader() func(after event.Seq, limit int) ([]event.Record, error) {
	return tx.o.journal.In(tx.t).Read
}

// standing says how far the tables and the journal have come; ready is false
// when the tables are not whole.
func (tx *Tx) standing() (pos, head event.Seq, ready bool, err error) {
	if pos, ready, err = tx.o.tables.Position(tx.t); err == nil {
		head, err = tx.o.journal.In(tx.t).Head()
	}
	return pos, head, ready, err
}

// look runs fn on one snapshot. If the tables are behind the journal (another
// version's process appended, or they were dropped), they are brought up first.
func (o *Office) look(ctx context.Context, fn func(*Tx) error) error {
	for attempt := 0; ; attempt++ {
		behind, readOnly := false, o.ReadOnly()
		err := o.store.View(ctx, func(t *db.Tx) error {
			tx := o.tx(t, event.Actor{})
			pos, head, ready, err := tx.standing()
			if err != nil {
				return err
			}
			if (!ready || pos < head) && !readOnly {
				behind = true
				return nil
			}
			if !ready {
				return fault.New(fault.Unavailable, "the store %s can only be read and its tables are not built", o.store.Path()).
					WithHint("make it writable once: bureau doctor")
			}
			return fn(tx)
		})
		if err != nil && o.tablesGone(err) && attempt == 0 {
			if err := o.Rebuild(ctx); err != nil {
				return err
			}
			continue
		}
		if err != nil || !behind {
			return o.unreadable(err)
		}
		if err := o.fill(ctx); err != nil {
			return err
		}
	}
}

// change runs fn in one writing transaction, on tables that have followed the
// journal to its head, and rings the bells after the commit.
func (o *Office) change(ctx context.Context, actor event.Actor, fn func(*Tx) error) error {
	for attempt := 0; ; attempt++ {
		var done *Tx
		behind := false
		err := o.store.Update(ctx, func(t *db.Tx) error {
			tx := o.tx(t, actor)
			pos, head, ready, err := tx.standing()
			if err != nil {
				return err
			}
			if !ready || pos != head {
				caughtUp, err := o.tables.Advance(t, tx.reader(), projection.Batch)
				if err != nil {
					return err
				}
				if !caughtUp {
					behind = true
					return nil // keep this batch and go on in further transactions
				}
			}
			if err := fn(tx); err != nil {
				return err
			}
			done = tx
			return nil
		})
		if err != nil && o.tablesGone(err) && attempt == 0 {
			if err := o.Rebuild(ctx); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return o.unreadable(err)
		}
		if behind {
			if err := o.fill(ctx); err != nil {
				return err
			}
			continue
		}
		done.ring()
		if o.rouse != nil && len(done.roused) > 0 {
			o.rouse(committed(ctx), o, done.roused)
		}
		return nil
	}
}

// committed gives the context for the report of something that is stored:
// whoever gives up from then on is told what was done, and those it concerns
// are told as well.
func committed(ctx context.Context) context.Context { return context.WithoutCancel(ctx) }

// fill advances the tables in batches, each a transaction of its own, so that
// other writers get their turn.
func (o *Office) fill(ctx context.Context) error {
	for first := true; ; first = false {
		var done bool
		var pos, head event.Seq
		err := o.store.Update(ctx, func(t *db.Tx) error {
			tx := o.tx(t, event.Actor{})
			var err error
			if pos, head, _, err = tx.standing(); err != nil {
				return err
			}
			if o.noFill && head-pos > projection.Batch {
				return fault.New(fault.Unavailable, "the office's tables are %d records behind", head-pos).WithHint("run bureau once, it brings them up")
			}
			done, err = o.tables.Advance(t, tx.reader(), projection.Batch)
			return err
		})
		if err != nil {
			return o.unreadable(err)
		}
		if o.progress != nil && (!first || !done) {
			o.progress(min(pos+projection.Batch, head), head)
		}
		if done {
			return nil
		}
	}
}

// Rebuild drops this generation's tables and fills them from the journal.
func (o *Office) Rebuild(ctx context.Context) error {
	if err := o.store.Update(ctx, o.tables.Drop); err != nil {
		return err
	}
	return o.fill(ctx)
}

// tablesGone recognises that somebody dropped or damaged this generation's
// tables while the process ran.
func (o *Office) tablesGone(err error) bool {
	s := err.Error()
	return strings.Contains(s, "no such table: "+o.tables.Prefix()) ||
		(strings.Contains(s, "has no column") || strings.Contains(s, "no such column")) && strings.Contains(s, o.tables.Prefix())
}

// unreadable says of a row that cannot be decoded that the store is damaged.
// What SQLite finds damaged says so itself.
func (o *Office) unreadable(err error) error {
	var (
		f      *fault.Error
		syntax *json.SyntaxError
		kind   *json.UnmarshalTypeError
		date   *time.ParseError
	)
	if err == nil || errors.As(err, &f) {
		return err
	}
	if errors.As(err, &syntax) || errors.As(err, &kind) || errors.As(err, &date) || errors.Is(err, db.ErrDamaged) {
		return db.Damaged(o.store.Path(), err)
	}
	return err
}

// append stores a record and folds it, once: a known id changes nothing.
func (tx *Tx) append(id event.ID, subject event.Subject, expect *event.Seq, events []event.Event) (event.Record, error) {
	if len(events) == 0 {
		return event.Record{}, nil
	}
	j := tx.o.journal.In(tx.t)
	var rec event.Record
	var err error
	if id == "" {
		rec, err = j.AppendNew(journalEntry(event.NewID(tx.now), subject, expect, tx, events))
	} else {
		var fresh bool
		if rec, fresh, err = j.Append(journalEntry(id, subject, expect, tx, events)); err == nil && !fresh {
			return rec, nil
		}
	}
	if err != nil {
		return rec, err
	}
	if err := tx.o.tables.Apply(tx.t, &rec); err != nil {
		return rec, err
	}
	tx.bells["all"] = true
	return rec, nil
}
