package setup

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"bureau/internal/fault"
	"bureau/internal/paper"
	"bureau/internal/setup/jsonc"
)

// receipts is what we did to files, so that it can be taken back exactly. It
// lies in the office's folder and holds no content of others.
type receipts struct {
	Version int                 `json:"version"`
	Files   map[string]*receipt `json:"files"` // by the path as it was named
	// Homes are the client's homes that were set up, for those who look for
	// sessions.
	Homes []string `json:"homes,omitempty"`
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
}

const receiptVersion = 1

func receiptDir(home string) string  { return filepath.Join(home, "setup") }
func receiptFile(home string) string { return filepath.Join(receiptDir(home), "claude.json") }

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
	r.Homes = read.Homes
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

// Homes lists the client's homes that were set up for an office, beside the
// one that the environment names.
func Homes(home string) []string {
	r, err := loadReceipts(home)
	if err != nil {
		return nil
	}
	return r.Homes
}

// Registered reports whether setup has put anything in that is not taken out
// again, for the office at home.
func Registered(home string) bool {
	r, err := loadReceipts(home)
	return err == nil && len(r.Files) > 0
}
