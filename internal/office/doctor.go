package office

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"bureau/internal/bell"
	"bureau/internal/db"
	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/mailflag"
	"bureau/internal/presence"
	"bureau/internal/projection"
	"bureau/internal/quote"
	"bureau/internal/roster"
)

// Severity says how bad a finding is.
type Severity string

// The severities. Trouble loses something or keeps the office from working;
// a hint can be left as it is.
const (
	Trouble Severity = "trouble"
	Hint    Severity = "hint"
)

// Finding is something that a check-up found, with what helps.
type Finding struct {
	Severity Severity `json:"severity"`
	Text     string   `json:"text"`
	Fix      string   `json:"fix"`             // what to do, often a command
	Fixed    bool     `json:"fixed,omitempty"` // it was done now
}

// Checkup is the outcome of a check-up.
type Checkup struct {
	Home     string    `json:"home"`
	Records  int       `json:"records"` // of the journal, all verified
	Findings []Finding `json:"findings"`
}

// Check looks through the office: journal, tables, contents, live state. With
// fix it repairs what can be repaired without losing anything: tables are
// built anew, what dead processes left in the runtime folder is removed, other
// versions' unused tables are dropped. The journal is never changed.
func (o *Office) Check(ctx context.Context, fix bool) (Checkup, error) {
	c := &checkup{o: o, ctx: ctx, fix: fix && !o.ReadOnly(), out: Checkup{Home: o.home, Findings: []Finding{}}}
	for _, step := range []func() error{c.store, c.verify, c.tables, c.generations, c.contents, c.clock, c.live} {
		err := step()
		if c.ctx.Err() != nil {
			return c.out, err
		}
		if err != nil && !c.damaged(err) {
			return c.out, err
		}
	}
	return c.out, nil
}

// restoring is what to do about what cannot be repaired.
func (c *checkup) restoring() string {
	return "keep " + c.o.store.Path() + " and restore it from a backup, or import an export into a new office"
}

// damaged makes a finding of a step that the store's damage ended: the other
// steps still have something to say.
func (c *checkup) damaged(err error) bool {
	// An error without a code is one of reading what is stored.
	var f *fault.Error
	if errors.As(err, &f) && !errors.Is(err, db.ErrDamaged) {
		return false
	}
	// Steps that meet the same damage say it once.
	for _, f := range c.out.Findings {
		if f.Text == err.Error() {
			return true
		}
	}
	c.add(Trouble, false, c.restoring(), "%s", err.Error())
	return true
}

type checkup struct {
	o   *Office
	ctx context.Context
	fix bool
	out Checkup
}

func (c *checkup) add(s Severity, fixed bool, fix, format string, args ...any) {
	c.out.Findings = append(c.out.Findings, Finding{Severity: s, Text: fmt.Sprintf(format, args...), Fix: fix, Fixed: fixed})
}

func (c *checkup) store() error {
	if c.o.ReadOnly() {
		c.add(Trouble, false, "make it writable for you", "the store %s can only be read: nothing can be sent", c.o.store.Path())
	}
	for path, want := range map[string]fs.FileMode{c.o.home: 0o700, c.o.store.Path(): 0o600} {
		st, err := os.Stat(path)
		if err != nil || st.Mode().Perm()&0o077 == 0 {
			continue
		}
		fixed := c.fix && os.Chmod(path, want) == nil
		c.add(Trouble, fixed, fmt.Sprintf("chmod %o %s", want, path), "%s can be read by other users (%s)", path, st.Mode().Perm())
	}
	return nil
}

func (c *checkup) verify() error {
	report, err := c.o.Verify(c.ctx, c.o.progress)
	if err != nil {
		return err
	}
	c.out.Records = report.Records
	for _, f := range report.Findings {
		c.add(Trouble, false, c.restoring(), "journal: %s", f.Text)
	}
	return nil
}

func (c *checkup) tables() error {
	differ, err := c.o.CompareTables(c.ctx, 100)
	if err != nil || len(differ) == 0 {
		return err
	}
	fixed := false
	if c.fix {
		if err := c.o.Rebuild(c.ctx); err != nil {
			return err
		}
		left, err := c.o.CompareTables(c.ctx, 100)
		if err != nil {
			return err
		}
		fixed = len(left) == 0
	}
	for i, d := range differ {
		if i == 5 {
			c.add(Trouble, fixed, "bureau doctor --rebuild", "tables: and %d more differences", len(differ)-i)
			break
		}
		c.add(Trouble, fixed, "bureau doctor --rebuild", "tables: %s", d.String())
	}
	return nil
}

func (c *checkup) generations() error {
	var list []int
	err := c.o.store.View(c.ctx, func(t *db.Tx) (err error) {
		list, err = projection.Generations(t)
		return err
	})
	if err != nil {
		return err
	}
	for _, g := range list {
		if projection.New(g).Prefix() == c.o.tables.Prefix() {
			continue
		}
		fixed := false
		if c.fix && g < projection.Generation {
			if err := c.o.store.Update(c.ctx, func(t *db.Tx) error { return projection.DropGeneration(t, g) }); err != nil {
				return err
			}
			fixed = true
		}
		if g > projection.Generation {
			c.add(Hint, false, "install the newer version here too", "a newer bureau (tables of generation %d) uses this office", g)
			continue
		}
		c.add(Hint, fixed, "bureau doctor --fix, when no process of the older version runs any more", "tables of the older generation %d are still there", g)
	}
	return nil
}

func (c *checkup) contents() error {
	return c.o.named(c.ctx, 0, func(sum string) error {
		if _, err := c.o.Blob(sum); err != nil {
			c.add(Trouble, false, "restore it from a backup of "+filepath.Join(c.o.home, blobDir), "%s", err.Error())
		}
		return nil
	})
}

// skew is how far the clock may be behind the newest record.
const skew = 5 * time.Second

func (c *checkup) clock() error {
	head, err := c.o.journal.Head(c.ctx)
	if err != nil || head == 0 {
		return err
	}
	newest, err := c.o.journal.Read(c.ctx, head-1, 1)
	if err != nil || len(newest) == 0 {
		return err
	}
	if ahead := newest[0].Time.Sub(c.o.Now()); ahead > skew {
		c.add(Hint, false, "set the clock; order does not depend on it", "the newest record is %s in the future: a clock jumped", quote.Ago(ahead))
	}
	return nil
}

// live looks at what dead processes left in the runtime folder.
func (c *checkup) live() error {
	live, err := c.o.Live(c.ctx)
	if err != nil {
		c.add(Trouble, false, "remove "+c.o.run.LiveDB()+" when nothing uses it; mail is then offered again", "live state: %s", err.Error())
		return nil
	}
	if err := c.served(live); err != nil || !c.fix {
		return err
	}
	removed, err := live.Sweep(c.ctx)
	if err != nil {
		return err
	}
	sockets, err := bell.Sweep(c.o.run.BellDir())
	if err != nil {
		return err
	}
	flags, err := mailflag.Sweep(c.o.run.FlagDir(), c.o.Now().Add(-48*time.Hour))
	if err != nil {
		return err
	}
	if n := removed + sockets + flags; n > 0 {
		c.add(Hint, true, "", "%d entries of processes that are gone were removed from the runtime folder", n)
	}
	return nil
}

// startup is how long a client may take to start its server.
const startup = 30 * time.Second

// served finds sessions whose hooks run, and that have no server of ours: it died,
// or it was switched off. Clients do not start one again by themselves.
func (c *checkup) served(live *presence.Store) error {
	lives, _, err := live.Known(c.ctx)
	if err != nil {
		return err
	}
	clients := map[roster.Process]presence.Life{} // one client's agents are its session's and subagents
	server := map[event.ID]bool{}
	served := map[roster.Process]bool{}
	for _, l := range lives {
		server[l.Agent] = server[l.Agent] || l.Role == presence.Server
	}
	for _, l := range lives {
		if l.Role != presence.Client || l.Client != "claude" {
			continue
		}
		served[l.Process] = served[l.Process] || server[l.Agent]
		if first, known := clients[l.Process]; !known || l.Since.Before(first.Since) {
			clients[l.Process] = l
		}
	}
	return c.o.look(c.ctx, func(tx *Tx) error {
		var names []string
		for process, l := range clients {
			if !served[process] && c.o.Now().Sub(l.Since) > startup {
				names = append(names, tx.nameOf(l.Agent))
			}
		}
		if slices.Sort(names); len(names) > 0 {
			c.add(Hint, false, "type /mcp there and reconnect bureau; the client does not do that by itself",
				"no MCP server of ours runs for %s: nothing wakes it, and it has no tools but what comes over HTTP", strings.Join(names, ", "))
		}
		return nil
	})
}
