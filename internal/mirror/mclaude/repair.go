package mclaude

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
)

// repair puts in order what processes of ours left when they died in the
// middle of a change. Whose it is, is known by the temporary names and by
// "written_by"; what mclaude left is not touched.
//
//   - metadata that was prepared: the lock has its session's id, so the lock is
//     finished; it does not, so the metadata is removed. An empty lock beside it
//     is removed when it is older than [Rule].Grace: until then it may be
//     mclaude's, which writes the id after the creation too.
//   - a lock that was taken aside to be removed: the removal is finished, or, if
//     it is not the lock that the metadata speaks of, the lock is put back.
//   - our metadata without a lock: a release that got as far as that; it is
//     finished.
//   - our lock without a heartbeat: it gets one with the age of the lock.
func (f *folder) repair() error {
	names, err := f.names()
	if err != nil {
		return err
	}
	for _, name := range names {
		if base, _, ok := strings.Cut(name, tempMark); ok {
			err = errors.Join(err, f.repairTemp(name, base))
		}
	}
	for _, name := range names {
		if slug, ok := slugOf(name, lockExt); ok {
			err = errors.Join(err, f.repairHeartbeat(slug))
		}
		if slug, ok := slugOf(name, metadataExt); ok && f.orphaned(slug) {
			err = errors.Join(err, f.clear(slug))
		}
	}
	return err
}

// repairTemp deals with a file under a temporary name.
func (f *folder) repairTemp(temp, base string) error {
	data, st, err := f.read(temp, maxMetadata)
	if st == nil {
		return nil // gone
	}
	if !f.alone && f.now().Sub(st.ModTime()) <= f.Rule.filled().Grace {
		return nil // its process may live
	}
	if slug, ok := slugOf(base, lockExt); ok && err == nil {
		return f.repairAside(temp, slug, data)
	}
	if slug, ok := slugOf(base, metadataExt); ok && err == nil {
		if done, err := f.repairPrepared(temp, slug, data); done || err != nil {
			return err
		}
	}
	return f.remove(temp)
}

// repairAside finishes the removal of a lock, or puts it back.
func (f *folder) repairAside(temp, slug string, lock []byte) error {
	data, _, err := f.read(slug+metadataExt, maxMetadata)
	if m, _ := parseMetadata(data); err == nil && m.session == string(bytes.TrimSpace(lock)) {
		return f.remove(temp)
	}
	return f.putBack(temp, slug+lockExt)
}

// repairPrepared finishes a lock whose metadata was prepared. It reports false
// if the metadata is of no use any more.
func (f *folder) repairPrepared(temp, slug string, data []byte) (done bool, err error) {
	m, _ := parseMetadata(data)
	e, there := f.entry(slug, nil)
	switch {
	case !there || m.session == "":
		return false, nil
	case string(e.lock) == m.session:
		if e.described {
			return false, nil
		}
		return true, f.active.Rename(temp, slug+metadataExt)
	case len(e.lock) > 0 && !strings.HasPrefix(m.session, string(e.lock)):
		return false, nil
	}
	st, err := f.active.Lstat(slug + lockExt)
	if err != nil || !st.Mode().IsRegular() {
		return false, nil
	}
	if f.now().Sub(st.ModTime()) <= f.Rule.filled().Grace {
		return true, nil // not yet
	}
	_, err = f.take(slug+lockExt, sameAs(e.lock))
	return false, err
}

// repairHeartbeat gives a lock of ours the heartbeat that it should have.
func (f *folder) repairHeartbeat(slug string) error {
	e, there := f.entry(slug, nil)
	if !there || !e.Ours || !e.Heartbeat.IsZero() {
		return nil
	}
	st, err := f.active.Lstat(slug + lockExt)
	if err != nil {
		return nil
	}
	return f.beat(slug, st.ModTime())
}

// orphaned reports whether there is metadata of ours without its lock.
func (f *folder) orphaned(slug string) bool {
	if _, err := f.active.Lstat(slug + lockExt); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	data, _, err := f.read(slug+metadataExt, maxMetadata)
	m, _ := parseMetadata(data)
	return err == nil && m.ours
}

// clear removes heartbeat and metadata of ours that have no lock.
func (f *folder) clear(slug string) error {
	data, _, err := f.read(slug+metadataExt, maxMetadata)
	if m, _ := parseMetadata(data); err != nil || !m.ours {
		return nil
	}
	return f.removeRest(slug, f.heartbeatOf(slug), data)
}

// heartbeatOf gives what the heartbeat of a lock is now, nil for none.
func (f *folder) heartbeatOf(slug string) fs.FileInfo {
	st, err := f.active.Lstat(slug + heartbeatExt)
	if err != nil || !st.Mode().IsRegular() {
		return nil
	}
	return st
}

// removeRest removes heartbeat and metadata of a lock that is gone, if they
// still are what they were: mclaude may have made a new lock by now.
func (f *folder) removeRest(slug string, heartbeat fs.FileInfo, metadata []byte) error {
	var err error
	if heartbeat != nil {
		_, err = f.take(slug+heartbeatExt, func(_ []byte, st fs.FileInfo) bool {
			return st.ModTime().Equal(heartbeat.ModTime())
		})
	}
	if e := f.step("silent"); e != nil {
		return errors.Join(err, e)
	}
	if metadata != nil {
		_, e := f.take(slug+metadataExt, sameAs(metadata))
		err = errors.Join(err, e)
	}
	return err
}

func (f *folder) remove(name string) error {
	if err := f.active.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
