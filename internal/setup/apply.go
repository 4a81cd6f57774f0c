package setup

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"bureau/internal/agent/claude"
	"bureau/internal/fault"
	"bureau/internal/paper"
)

// lockWait bounds how long one set-up waits for another.
const lockWait = 20 * time.Second

// errRaced: a file changed between the look and the write.
var errRaced = errors.New("the file was changed by somebody else at the same moment")

// Apply does what the plan says, and sets Changes to what was really done: it
// looks again first, under a lock, since another set-up may have been faster.
// What was written before an error stays and is known for removal.
func (p *Plan) Apply(ctx context.Context) error {
	if len(p.Changes) == 0 && !p.lost() {
		return nil
	}
	dir := receiptDir(p.o.Home)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fault.New(fault.Unavailable, "cannot make the office's folder: %w", err)
	}
	release, err := paper.Lock(filepath.Join(dir, "lock"), lockWait)
	if err != nil {
		return err
	}
	defer release()
	var did []Change
	for attempt := 0; ; attempt++ {
		now, err := p.again()
		if err != nil {
			return err
		}
		written, err := now.write(ctx)
		did = append(did, written...)
		p.Notes = mergeNotes(p.Notes, now.Notes)
		if errors.Is(err, errRaced) && attempt < 4 && ctx.Err() == nil {
			continue
		}
		p.Changes = did
		return err
	}
}

// lost reports whether what is to be taken out is gone by itself, or was taken
// out by other means, and is only noted still.
func (p *Plan) lost() bool {
	project := p.o.Project
	if p.o.Scope == User {
		project = ""
	}
	return p.removal && slices.ContainsFunc(p.done.Done, func(d Registration) bool {
		return d.Scope == p.o.Scope && d.Project == project && (d.Scope == Project || slices.ContainsFunc(d.Homes, func(h claude.Home) bool {
			return slices.ContainsFunc(p.o.Homes, func(x claude.Home) bool { return x.Dir == h.Dir })
		}))
	})
}

// forget drops what is noted of files that a removal finds nothing in any more:
// they are gone, or somebody took our entries out by hand. What another scope has
// in a file stays noted.
func (p *Plan) forget() {
	for _, path := range p.o.skillFiles() {
		if !exists(path) {
			delete(p.done.Files, path)
		}
	}
	drop := func(path, where string) {
		r := p.done.Files[path]
		switch {
		case r == nil:
		case r.only(where) || !exists(path):
			delete(p.done.Files, path)
		default:
			r.Places = slices.DeleteFunc(r.Places, func(place string) bool { return place == where })
		}
	}
	for _, path := range p.o.settingsFiles() {
		drop(path, "")
	}
	for _, at := range p.o.serverPlaces() {
		drop(at.path, dotted(at.keys))
	}
}

func (p *Plan) again() (*Plan, error) {
	if p.removal {
		return PrepareRemoval(p.o)
	}
	return Prepare(p.o)
}

func mergeNotes(a, b []string) []string {
	for _, n := range b {
		if !slices.Contains(a, n) {
			a = append(a, n)
		}
	}
	return a
}

// write makes the changes, one after the other, and keeps receipts of each.
func (p *Plan) write(ctx context.Context) (did []Change, err error) {
	if !p.removal {
		p.done.enter(&p.o, false)
	}
	for _, c := range p.Changes {
		if err := ctx.Err(); err != nil {
			return did, err
		}
		if p.removal {
			err = p.takeBack(c)
		} else {
			err = p.putIn(ctx, c)
		}
		if err != nil {
			return did, err
		}
		did = append(did, c)
	}
	if p.removal {
		p.done.enter(&p.o, true)
		p.forget()
	}
	return did, p.done.save(p.o.Home)
}

// putIn makes one change of a registration.
func (p *Plan) putIn(ctx context.Context, c Change) error {
	if same, err := c.before.same(); err != nil || !same {
		return orRaced(err)
	}
	if c.before.exists && !c.had && c.What != "skill" && p.done.Files[c.Path] == nil {
		if err := c.before.backup(); err != nil {
			return err
		}
	}
	r := p.done.Files[c.Path]
	exact := r == nil && !c.had || r != nil && r.After != "" && r.After == hashOf(c.before.text)
	if r == nil {
		r = &receipt{Created: !c.before.exists, Was: was{}}
		p.done.Files[c.Path] = r
	}
	if r.Was == nil {
		r.Was = was{}
	}
	if exact = exact && r.only(c.where()); !slices.Contains(r.Places, c.where()) {
		r.Places = append(r.Places, c.where())
	}
	for path, before := range c.was {
		if _, known := r.Was[path]; !known {
			r.Was[path] = before
		}
	}
	if len(c.Command) > 0 {
		if err := p.runAdd(ctx, c); err == nil {
			r.After, r.Splices = "", nil
			// The client's global file is its own, also if it had to make it.
			r.Created = r.Created && p.o.Scope == Project
			return p.done.save(p.o.Home)
		} else if ctx.Err() != nil {
			return ctx.Err()
		} else {
			p.note("%s did not work (%v); bureau edited %s itself", commandLine(c.Command[:min(len(c.Command), 6)]), err, c.Path)
		}
	}
	made, err := p.replace(c, c.after)
	r.Dirs = append(r.Dirs, made...)
	if err != nil {
		return err
	}
	if exact {
		r.After, r.Splices = hashOf(c.after), append(r.Splices, c.splices...)
	} else {
		r.After, r.Splices = "", nil
	}
	if c.What == "skill" {
		r.After, r.Splices = hashOf(c.after), nil
	}
	return p.done.save(p.o.Home)
}

// replace writes a file, under the client's lock where it is the client's own.
func (p *Plan) replace(c Change, text []byte) ([]string, error) {
	if c.private {
		defer clientLock(c.before.path)()
	}
	if same, err := c.before.same(); err != nil || !same {
		return nil, orRaced(err)
	}
	return c.before.replace(text)
}

func orRaced(err error) error {
	if err == nil {
		err = errRaced
	}
	return err
}

// takeBack makes one change of a removal.
func (p *Plan) takeBack(c Change) error {
	r := p.done.Files[c.Path]
	if same, err := c.before.same(); err != nil || !same {
		return orRaced(err)
	}
	if c.Remove {
		if err := os.Remove(c.before.real); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fault.New(fault.Unavailable, "cannot remove %s: %w", c.Path, err)
		}
		if c.What == "skill" { // its folder is ours by its name
			removeDirs([]string{filepath.Dir(c.Path)})
		}
		if r != nil {
			removeDirs(r.Dirs)
		}
	} else {
		if _, err := p.replace(c, c.after); err != nil {
			return err
		}
		dropBackup(c.Path, c.after)
	}
	if r != nil && !r.only(c.where()) && !c.Remove {
		// What another scope has in it stays, and is known.
		r.Places = slices.DeleteFunc(r.Places, func(place string) bool { return place == c.where() })
		r.After, r.Splices = "", nil
	} else {
		delete(p.done.Files, c.Path)
	}
	return p.done.save(p.o.Home)
}

// runAdd registers the server by the client's own command, and looks whether
// it is there then.
func (p *Plan) runAdd(ctx context.Context, c Change) error {
	if c.had { // an older entry of ours is in the way
		remove := []string{c.Command[0], "mcp", "remove", "--scope", string(p.o.Scope), serverName}
		if err := p.o.runClient(ctx, c, remove); err != nil {
			return err
		}
	}
	if err := p.o.runClient(ctx, c, c.Command); err != nil {
		return err
	}
	_, d, err := open(c.Path)
	if err != nil {
		return err
	}
	if now := d.Root().Get(append(slices.Clone(c.place.keys), serverName)...); !sameServer(now, p.o.server()) {
		return errors.New("the entry is not there afterwards")
	}
	return nil
}

// runClient runs the client for one of its homes.
func (o *Options) runClient(ctx context.Context, c Change, words []string) error {
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, claude.EnvConfigDir+"=") })
	if dir := c.configDir(); dir != "" {
		env = append(env, claude.EnvConfigDir+"="+dir)
	} else if c.place.home.Default {
		// The default home is that of HOME; tests and sudo move it.
		env = append(env, "HOME="+filepath.Dir(c.place.home.Dir))
	}
	out, err := o.Client.run(ctx, o.Project, env, words)
	if err != nil && out != "" {
		return errors.New(out)
	}
	return err
}
