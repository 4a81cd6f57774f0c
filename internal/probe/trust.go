package probe

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"bureau/internal/fault"
	"bureau/internal/paper"
)

// MaxTrusted bounds a file that can be trusted, in bytes.
const MaxTrusted = 1 << 20

// TrustRecord is what is kept of trust: a person let the programs that a file names be
// run, for this file with this content. The same content at another path is
// not trusted, since the programs that it names by relative paths are others.
type TrustRecord struct {
	File   string    `json:"file"`   // canonical: absolute, links resolved
	SHA256 string    `json:"sha256"` // of the content
	At     time.Time `json:"at"`
}

// Trust writes down that a file with its present content may name programs to
// run. One record stands for one file: it takes the place of an older one. The
// record is HOME/trust/HASH.json, where HASH is of the file's path, and durable
// when Trust returns. It refuses what is no regular file or is larger than
// [MaxTrusted].
func Trust(home, file string) (TrustRecord, error) {
	if home == "" {
		return TrustRecord{}, fault.New(fault.Invalid, "trust needs an office to be kept in")
	}
	path, content, err := readForTrust(file)
	if err != nil {
		return TrustRecord{}, err
	}
	rec := TrustRecord{File: path, SHA256: sum(content), At: time.Now().UTC().Truncate(time.Millisecond)}
	text, err := json.MarshalIndent(rec, "", "  ")
	if err == nil {
		if err = os.MkdirAll(filepath.Join(home, "trust"), 0o700); err == nil {
			err = paper.WriteFile(recordPath(home, path), append(text, '\n'), 0o600)
		}
	}
	if err != nil {
		return TrustRecord{}, fault.New(fault.Unavailable, "cannot keep the trust in %s: %w", path, err)
	}
	return rec, nil
}

// Trusted reports whether a file is trusted with its present content.
func Trusted(home, file string) (bool, error) {
	path, content, err := readForTrust(file)
	if err != nil {
		return false, err
	}
	state, err := trustOf(home, path, content)
	return state == trusted, err
}

// Untrust takes trust in a file back, whatever its content is and whether or
// not it is still there. It reports false when it was not trusted.
func Untrust(home, file string) (bool, error) {
	path, err := canonical(file)
	if errors.Is(err, fs.ErrNotExist) {
		// The folder may still be there to say what the file was called.
		if dir, err := canonical(filepath.Dir(file)); err == nil {
			path = filepath.Join(dir, filepath.Base(file))
		} else if path, err = filepath.Abs(file); err != nil {
			return false, fault.New(fault.Invalid, "cannot find %s: %w", file, err)
		}
	} else if err != nil {
		return false, fault.New(fault.Unavailable, "cannot find %s: %w", file, err)
	}
	switch err := os.Remove(recordPath(home, path)); {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fault.New(fault.Unavailable, "cannot take back the trust in %s: %w", path, err)
	}
	paper.SyncDir(filepath.Join(home, "trust"))
	return true, nil
}

// TrustedFiles lists what is trusted, by path. Whether a file still has the
// content that was trusted, [Trusted] says. Records that cannot be read are
// left out: they let nothing be run.
func TrustedFiles(home string) ([]TrustRecord, error) {
	list, err := os.ReadDir(filepath.Join(home, "trust"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.New(fault.Unavailable, "cannot read what is trusted: %w", err)
	}
	var out []TrustRecord
	for _, entry := range list {
		text, err := readBounded(filepath.Join(home, "trust", entry.Name()), 64<<10)
		var rec TrustRecord
		if err == nil && json.Unmarshal(text, &rec) == nil && recordPath(home, rec.File) == filepath.Join(home, "trust", entry.Name()) {
			out = append(out, rec)
		}
	}
	slices.SortFunc(out, func(a, b TrustRecord) int { return strings.Compare(a.File, b.File) })
	return out, nil
}

// trustState is what the records say about a file.
type trustState int

const (
	never   trustState = iota // nobody trusted it
	changed                   // trusted with another content
	trusted
)

func trustOf(home, path string, content []byte) (trustState, error) {
	if home == "" {
		return never, nil
	}
	text, err := readBounded(recordPath(home, path), 64<<10)
	if errors.Is(err, fs.ErrNotExist) {
		return never, nil
	}
	var rec TrustRecord
	if err == nil {
		err = json.Unmarshal(text, &rec)
	}
	switch {
	case err != nil:
		return never, fault.New(fault.Unavailable, "cannot read the trust in %s: %w", path, err).WithHint("bureau trust %s writes it anew", path)
	case rec.File != path:
		return never, nil
	case rec.SHA256 != sum(content):
		return changed, nil
	}
	return trusted, nil
}

func recordPath(home, path string) string {
	return filepath.Join(home, "trust", sum([]byte(path))+".json")
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

func canonical(file string) (string, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

func readForTrust(file string) (path string, content []byte, err error) {
	if path, err = canonical(file); err == nil {
		content, err = readBounded(path, MaxTrusted)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil, fault.New(fault.NotFound, "there is no file %s", file)
	case fault.CodeOf(err) == fault.Invalid:
		return "", nil, err
	case err != nil:
		return "", nil, fault.New(fault.Unavailable, "cannot read %s: %w", file, err)
	}
	return path, content, nil
}

// readBounded reads a regular file of at most max bytes.
func readBounded(path string, max int) ([]byte, error) {
	// Before it is opened: opening a pipe waits for its other end.
	if st, err := os.Stat(path); err != nil {
		return nil, err
	} else if !st.Mode().IsRegular() {
		return nil, fault.New(fault.Invalid, "%s is no file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var b bytes.Buffer
	if _, err := io.Copy(&b, io.LimitReader(f, int64(max)+1)); err != nil {
		return nil, err
	}
	if b.Len() > max {
		return nil, fault.New(fault.Invalid, "%s is larger than %d KiB", path, max>>10)
	}
	return b.Bytes(), nil
}
