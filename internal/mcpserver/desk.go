package mcpserver

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"bureau/internal/db/fts"
	"bureau/internal/fault"
	"bureau/internal/git"
	"bureau/internal/mirror/locks"
	"bureau/internal/office"
	"bureau/internal/paper/colleagues"
	"bureau/internal/probe/verify"
	"bureau/internal/wake"
)

// desk lends the office to calls. It is opened when it is first needed, and
// anew when its file is another one than before.
type desk struct {
	opts   Options
	served bool // over HTTP: no office is begun

	mu  sync.Mutex
	cur *opened
}

// opened is one opening of the office and how many use it.
type opened struct {
	o     *office.Office
	file  os.FileInfo
	users int
	old   bool // nobody is given it any more; the last user closes it
}

// use gives the office, and the function that gives it back. It begins one if
// there is none and none was named.
func (d *desk) use(ctx context.Context) (*office.Office, func(), error) {
	return d.lend(ctx, d.opts.Home == "" && !d.served)
}

// look is use for what happens without anybody asking for it, so it begins none.
func (d *desk) look(ctx context.Context) (*office.Office, func(), error) {
	return d.lend(ctx, false)
}

func (d *desk) lend(ctx context.Context, create bool) (*office.Office, func(), error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cur != nil && !d.cur.there() {
		d.retire()
	}
	if d.cur == nil {
		o, err := d.open(ctx, create)
		if err != nil {
			return nil, nil, err
		}
		file, err := os.Stat(o.StorePath())
		if err != nil {
			return nil, nil, fault.New(fault.Unavailable, "the office was taken away: %w", err).WithHint("try again")
		}
		d.cur = &opened{o: o, file: file}
	}
	lent := d.cur
	lent.users++
	var once sync.Once
	return lent.o, func() { once.Do(func() { d.giveBack(lent) }) }, nil
}

func (d *desk) giveBack(c *opened) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c.users--
	if c.old && c.users == 0 {
		c.end()
	}
}

// end closes an opening. Where another file has taken the place of the one that
// is open it is left alone: closing removes the log beside it by its path, and
// that would be the other one's.
func (c *opened) end() {
	if now, err := os.Stat(c.o.StorePath()); err == nil && !os.SameFile(now, c.file) {
		return
	}
	_ = c.o.Close()
}

// there reports whether the file that is open is still the office's.
func (c *opened) there() bool {
	now, err := os.Stat(c.o.StorePath())
	return err == nil && os.SameFile(now, c.file)
}

// retire lets go of an opening, as soon as nobody uses it.
func (d *desk) retire() {
	d.cur.old = true
	if d.cur.users == 0 {
		d.cur.end()
	}
	d.cur = nil
}

func (d *desk) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cur != nil {
		d.retire()
	}
}

func (d *desk) open(ctx context.Context, create bool) (*office.Office, error) {
	opts := office.Options{Home: d.opts.Home, Now: d.opts.Now, FullText: fts.Register, Mark: git.Mark, Stamp: git.Stamp}
	if opts.Home == "" {
		opts.Home = d.opts.Env(office.HomeVariable)
	}
	verify.Options(&opts)
	opts.Mirror, opts.Rouse, opts.Glance, opts.Colleagues = locks.Mirror(), wake.Rouse(d.opts.Env), wake.Glance(d.opts.Env), colleagues.NewReader(d.opts.Env).Staff
	o, err := office.Open(ctx, opts)
	switch {
	case create && fault.Is(err, fault.NotFound):
		opts.Create = true
		return office.Open(ctx, opts)
	case err != nil && d.opts.Home != "" && !there(d.opts.Home):
		return nil, fault.New(fault.Unavailable, "the office %s is not there", d.opts.Home).
			WithHint("mount its volume, or begin it (bureau init, with BUREAU_HOME set to it); the tools work as soon as it is there")
	}
	return o, err
}

// there reports whether something lies in the folder that could be an office.
func there(home string) bool {
	entries, err := os.ReadDir(filepath.Clean(home))
	return err == nil && len(entries) > 0
}
