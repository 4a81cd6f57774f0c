package setup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"bureau/internal/fault"
	"bureau/internal/paper"
	"bureau/internal/setup/jsonc"
)

// backupSuffix names the copy of what a file was before us.
const backupSuffix = ".before-bureau"

// snapshot is a file as it was when we looked.
type snapshot struct {
	path   string // as it is named
	real   string // where links lead
	exists bool
	text   []byte
	mode   fs.FileMode
	info   fs.FileInfo
}

// look reads a file, through links. What is no regular file, or leads nowhere,
// is refused.
func look(path string) (snapshot, error) {
	s := snapshot{path: path, real: path, mode: 0o600}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(path); err == nil {
			return s, fault.New(fault.Unavailable, "%s is a link to a file that is not there", path).WithHint("mount its volume, or remove the link")
		}
		return s, nil
	}
	if err != nil {
		return s, fault.New(fault.Unavailable, "cannot look at %s: %w", path, err)
	}
	s.real = real
	info, err := os.Stat(real)
	if err != nil {
		return s, fault.New(fault.Unavailable, "cannot look at %s: %w", path, err)
	}
	if !info.Mode().IsRegular() {
		return s, fault.New(fault.Conflict, "%s is no regular file", path)
	}
	f, err := os.Open(real)
	if err != nil {
		return s, fault.New(fault.Unavailable, "cannot read %s: %w", path, err)
	}
	defer f.Close()
	if s.text, err = io.ReadAll(io.LimitReader(f, jsonc.Limit+1)); err != nil {
		return s, fault.New(fault.Unavailable, "cannot read %s: %w", path, err)
	}
	s.exists, s.mode, s.info = true, info.Mode().Perm(), info
	return s, nil
}

// same reports whether the file is still what it was.
func (s snapshot) same() (bool, error) {
	now, err := look(s.path)
	return now.exists == s.exists && now.real == s.real && bytes.Equal(now.text, s.text), err
}

// writable refuses a file that its owner has closed: a rename would get around
// that.
func (s snapshot) writable() error {
	if s.exists && s.mode&0o200 == 0 {
		return fault.New(fault.Denied, "%s is read-only", s.path).WithHint("chmod u+w %s, if bureau may change it", s.path)
	}
	return nil
}

// replace writes the file, whole or not at all, with the mode and the owner
// that it had. It gives the folders that it had to make, the outermost first.
func (s snapshot) replace(text []byte) (made []string, err error) {
	dir := filepath.Dir(s.real)
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil || at == filepath.Dir(at) {
			break
		}
		made = append([]string{at}, made...)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fault.New(fault.Unavailable, "cannot make the folder of %s: %w", s.path, err)
	}
	if err := paper.WriteFile(s.real, text, s.mode); err != nil {
		return made, fault.New(fault.Unavailable, "cannot write %s: %w", s.path, err)
	}
	if s.exists {
		keepOwner(s.real, s.info)
	}
	return made, nil
}

// backup keeps what a file was before us, once.
func (s snapshot) backup() error {
	f, err := os.OpenFile(s.path+backupSuffix, os.O_WRONLY|os.O_CREATE|os.O_EXCL, s.mode)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		_, err = f.Write(s.text)
		err = errors.Join(err, f.Chmod(s.mode), f.Sync(), f.Close())
	}
	if err != nil {
		_ = os.Remove(s.path + backupSuffix)
		return fault.New(fault.Unavailable, "cannot keep a copy of %s: %w", s.path, err)
	}
	return nil
}

// dropBackup removes the copy when the file is again what the copy says.
func dropBackup(path string, text []byte) {
	if kept, err := os.ReadFile(path + backupSuffix); err == nil && bytes.Equal(kept, text) {
		_ = os.Remove(path + backupSuffix)
	}
}

// removeDirs removes folders that we made, as far as they are empty.
func removeDirs(dirs []string) {
	for i := len(dirs) - 1; i >= 0; i-- {
		_ = os.Remove(dirs[i])
	}
}

func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// clientLock takes the lock that the client takes before it writes its global
// file: a folder PATH.lock. It waits a moment and then goes on without: the
// file is compared before it is replaced, and a lock may be left over.
func clientLock(path string) (release func()) {
	lock := path + ".lock"
	for range 20 {
		if err := os.Mkdir(lock, 0o700); err == nil {
			return func() { _ = os.Remove(lock) }
		} else if !errors.Is(err, fs.ErrExist) {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return func() {}
}
