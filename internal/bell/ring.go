package bell

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"bureau/internal/fault"
	"bureau/internal/runtimedir"
)

// verdict is what a send or a probe says about a socket.
type verdict int

const (
	rung    verdict = iota // a live process was reached, or has a full queue of rings
	dead                   // nobody holds it any more
	foreign                // it is no bell of ours, or cannot be judged: leave it alone
)

// unready is how long a hidden socket may take until it is ready. What is
// older was left by a process that died at that moment.
const unready = time.Minute

// Ring rings the bells of some topics, after what they announce is committed.
// It gives the number of bells rung. It never blocks: a waiter whose queue is
// full will wake anyway and counts as rung; the socket of a dead process is
// removed. A topic that nobody listens to costs one failed system call. The
// error is the first trouble met; the other bells are rung all the same.
func Ring(dir string, topics ...string) (rings int, err error) {
	var s sender
	defer s.close()
	for i, topic := range topics {
		if slices.Contains(topics[:i], topic) {
			continue
		}
		n, trouble := ringTopic(&s, dir, topic)
		rings += n
		if err == nil {
			err = trouble
		}
	}
	return rings, err
}

func ringTopic(s *sender, dir, topic string) (rings int, err error) {
	if !runtimedir.SafeName(topic) {
		return 0, invalidTopic(topic)
	}
	folder := filepath.Join(dir, topic)
	entries, err := list(folder)
	if err != nil {
		return 0, err
	}
	removed := 0
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), hidden) || !isBell(e) {
			continue
		}
		path := filepath.Join(folder, e.Name())
		v, trouble := s.send(path)
		switch v {
		case rung:
			rings++
		case dead:
			os.Remove(path)
			removed++
		}
		if trouble != nil && err == nil {
			err = fault.New(fault.Unavailable, "cannot ring %s: %w", path, trouble)
		}
	}
	// A folder that was empty before may be one that a listener just made.
	if removed > 0 && removed == len(entries) {
		os.Remove(folder) // only if it is still empty
	}
	return rings, err
}

// Sweep removes all sockets of dead processes, and the folders that are empty
// then, without ringing anybody. It gives the number of sockets removed.
func Sweep(dir string) (removed int, err error) {
	topics, err := list(dir)
	for _, t := range topics {
		if !t.IsDir() || !runtimedir.SafeName(t.Name()) {
			continue
		}
		folder := filepath.Join(dir, t.Name())
		entries, trouble := list(folder)
		if trouble != nil && err == nil {
			err = trouble
		}
		for _, e := range entries {
			path := filepath.Join(folder, e.Name())
			if isBell(e) && !justMade(e) && probe(path) == dead {
				os.Remove(path)
				removed++
			}
		}
		os.Remove(folder) // only if it is empty
	}
	return removed, err
}

// justMade reports whether e may be a socket on its way to be ready.
func justMade(e fs.DirEntry) bool {
	if !strings.HasPrefix(e.Name(), hidden) {
		return false
	}
	st, err := e.Info()
	return err != nil || time.Since(st.ModTime()) < unready
}

// list reads a folder; one that does not exist is empty.
func list(folder string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.Unavailable, "cannot look for bells: %w", err)
	}
	return entries, nil
}
