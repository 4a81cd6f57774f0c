package setup

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"bureau/internal/agent/claude"
	"bureau/internal/fault"
	"bureau/internal/paper"
	"bureau/internal/setup/jsonc"
)

// receipts is what we did to files, so that it can be taken back exactly. It
// lies in the office's folder and holds no content of others.
type receipts struct {
	Version int                 `json:"version"`
	Files   map[string]*receipt `json:"files"` // by the path as it was named
	// Homes are the client's homes that were set up, but the usual one, for
	// those who look for sessions; see [claude.SetUp].
	Homes []string `json:"homes,omitempty"`
	// Done is for whom it was done.
	Done []Registration `json:"registrations,omitempty"`
}

// Registration is for whom setup has put something in: a scope, for Project and
// Local the project's folder, and the client's homes.
type Registration struct {
	Scope   Scope         `json:"scope"`
	Project string        `json:"project,omitempty"`
	Homes   []claude.Home `json:"homes"`
}

// enter notes a registration, or takes its homes out again.
func (r *receipts) enter(o *Options, removal bool) {
	r.register(o, removal)
	r.Homes = nil
	for _, d := range r.Done {
		for _, h := range d.Homes {
			if !h.Default && !slices.Contains(r.Homes, h.Dir) {
				r.Homes = append(r.Homes, h.Dir)
			}
		}
	}
}

func (r *receipts) register(o *Options, removal bool) {
	project := o.Project
	if o.Scope == User {
		project = ""
	}
	i := slices.IndexFunc(r.Done, func(d Registration) bool { return d.Scope == o.Scope && d.Project == project })
	if i < 0 {
		if removal {
			return
		}
		i, r.Done = len(r.Done), append(r.Done, Registration{Scope: o.Scope, Project: project})
	}
	d := &r.Done[i]
	d.Homes = slices.DeleteFunc(d.Homes, func(h claude.Home) bool {
		return slices.ContainsFunc(o.Homes, func(x claude.Home) bool { return x.Dir == h.Dir })
	})
	switch {
	case !removal:
		d.Homes = append(d.Homes, o.Homes...)
	case len(d.Homes) == 0 || o.Scope == Project: // a project's files are of no home
		r.Done = slices.Delete(r.Done, i, i+1)
	}
}

// Registrations lists for whom setup has put something in for an office and not
// taken it out again, in the order in which that began. One without homes is of
// the homes that the environment means.
func Registrations(home string) []Registration {
	r, err := loadReceipts(home)
	switch {
	case err != nil || len(r.Files) == 0:
		return nil
	case len(r.Done) == 0: // an older bureau did not note for whom
		return []Registration{{Scope: User}}
	}
	return r.Done
}

// receipt is what we did to one file.
type receipt struct {
	// After is the hash of the file as we left it; while it holds, Splices
	// lead back to what was before us. Both are empty when somebody else wrote
	// in between, or the client's own command did our part.
	After   string         `json:"after,omitempty"`
	Splices []jsonc.Splice `json:"splices,omitempty"`
	// Created: there was no file before. Dirs were made for it.
	Created bool     `json:"created,omitempty"`
	Dirs    []string `json:"dirs,omitempty"`
	// Was says which lists and rules in it are ours.
	Was was `json:"was,omitempty"`
	// Places are where in it we put something, by dotted paths: two scopes can
	// share the client's global file.
	Places []string `json:"places,omitempty"`
}

// only reports whether we put something in this place and in no other.
func (r *receipt) only(place string) bool {
	return len(r.Places) == 0 || len(r.Places) == 1 && r.Places[0] == place
}

const receiptVersion = 1

func receiptFile(home string) string {
	return filepath.Join(home, filepath.FromSlash(claude.SetUpFile))
}
func receiptDir(home string) string { return filepath.Dir(receiptFile(home)) }

// loadReceipts reads what was done. Nothing done, and a damaged file, give
// none: removal then goes by what our entries look like.
func loadReceipts(home string) (*receipts, error) {
	r := &receipts{Version: receiptVersion, Files: map[string]*receipt{}}
	text, err := os.ReadFile(receiptFile(home))
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, fault.New(fault.Unavailable, "cannot read what setup did before: %w", err)
	}
	var read receipts
	if err := json.Unmarshal(text, &read); err != nil {
		return r, nil
	}
	if read.Version > receiptVersion {
		return nil, fault.New(fault.Unavailable, "%s was written by a newer bureau", receiptFile(home)).WithHint("use the newer bureau")
	}
	for path, f := range read.Files {
		if f != nil {
			r.Files[path] = f
		}
	}
	r.Homes, r.Done = read.Homes, read.Done
	return r, nil
}

// save writes the receipts; without any left, the file and the folders that
// are empty then go.
func (r *receipts) save(home string) error {
	if len(r.Files) == 0 {
		if err := os.Remove(receiptFile(home)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fault.New(fault.Unavailable, "cannot remove %s: %w", receiptFile(home), err)
		}
		return nil
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = paper.WriteFile(receiptFile(home), append(text, '\n'), 0o600)
	}
	if err != nil {
		return fault.New(fault.Unavailable, "cannot keep what setup did: %w", err)
	}
	return nil
}
