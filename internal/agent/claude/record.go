package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"bureau/internal/fault"
	"bureau/internal/proc"
)

// Status says what a session is at. The client writes it within about 50 ms
// of a change.
type Status string

// The states of a session. A waiting one has a dialog open; see
// [Record.WaitingFor]. Print-mode sessions write none.
const (
	Idle    Status = "idle"
	Busy    Status = "busy"
	Waiting Status = "waiting"
)

// Record is what a running session says about itself in
// HOME/sessions/PID.json (as 2.1.332 writes it). A field that the client did
// not write, or wrote in an unknown form, is zero.
type Record struct {
	Home    Home
	Process proc.ID // the client; its start is the record's own claim
	// SessionID is the conversation now. It changes with /clear and /resume
	// while the process goes on.
	SessionID string
	CWD       string
	StartedAt time.Time
	Version   string
	// PeerProtocol is the inbox's version; 0 for none. See [PeerProtocol].
	PeerProtocol int
	PeerFeatures []string
	Kind         string // interactive, bg, …
	Entrypoint   string // [EntryTerminal], [EntryPrint], …
	PIDDomain    string // what Process counts in: linux:MACHINE-ID:pid:[NS]
	SocketPath   string // the inbox
	Name         string
	NameSource   string // derived, user, peer
	Status       Status
	WaitingFor   string // what a waiting session waits for: "permission prompt", …
	// StatusUpdatedAt is when Status was written, to the millisecond.
	StatusUpdatedAt time.Time
	JobID           string // of a background session
}

// recordLimit bounds a record's size; the client's are below 1 KiB.
const recordLimit = 1 << 20

// halfWritten is how long to wait before a record that does not parse is read
// again: the client writes it in place.
const halfWritten = 15 * time.Millisecond

// sleep is time.Sleep; a test puts what the client does meanwhile here.
var sleep = time.Sleep

// Records lists the sessions that run now, over all homes, ordered by start.
// Records of dead or foreign processes and unreadable ones are left out. A
// home without sessions is no error.
func Records(homes []Home) ([]Record, error) {
	var out []Record
	var trouble error
	for _, h := range homes {
		entries, err := os.ReadDir(h.Sessions())
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				trouble = errors.Join(trouble, err)
			}
			continue
		}
		for _, e := range entries {
			pid, ok := recordPID(e.Name())
			if !ok {
				continue
			}
			if r, err := readRecord(h, pid); err == nil && r.Alive() {
				out = append(out, r)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Record) int { return a.StartedAt.Compare(b.StartedAt) })
	if trouble != nil {
		return out, fault.New(fault.Unavailable, "cannot list the sessions of Claude Code: %w", trouble)
	}
	return out, nil
}

// RecordOf gives the record of the client that runs as pid:
// [fault.NotFound] when no home has one or its process is gone,
// [fault.Unavailable] when it cannot be read.
func RecordOf(homes []Home, pid int) (Record, error) {
	left := false // a record that an earlier process of that number left behind
	for _, h := range homes {
		r, err := readRecord(h, pid)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return Record{}, fault.New(fault.Unavailable, "cannot read Claude Code's record of process %d: %w", pid, err)
		case !r.Alive():
			left = true
			continue
		}
		return r, nil
	}
	if left {
		return Record{}, fault.New(fault.NotFound, "the Claude Code session of process %d is gone", pid)
	}
	return Record{}, fault.New(fault.NotFound, "process %d has no Claude Code session", pid)
}

// Alive reports whether the very process that wrote the record still runs, as
// far as this host can tell. A process of another host domain cannot be
// judged and counts as gone.
func (r Record) Alive() bool {
	return sameDomain(r.PIDDomain) && r.Process.Alive()
}

// recordPID reads the process id of a record's file name.
func recordPID(name string) (int, bool) {
	digits, ok := strings.CutSuffix(name, ".json")
	pid, err := strconv.Atoi(digits)
	return pid, ok && err == nil && pid > 0 && strconv.Itoa(pid) == digits
}

func readRecord(h Home, pid int) (Record, error) {
	path := filepath.Join(h.Sessions(), strconv.Itoa(pid)+".json")
	for attempt := 0; ; attempt++ {
		text, err := readFile(path, recordLimit)
		if err != nil {
			return Record{}, err
		}
		r, err := parseRecord(text)
		if err == nil && r.Process.PID == pid {
			r.Home = h
			return r, nil
		}
		if err == nil {
			err = errors.New("it names another process")
		}
		if attempt > 0 {
			return Record{}, err
		}
		sleep(halfWritten)
	}
}

// parseRecord reads a record field by field, so that one of a new form does
// not cost the others.
func parseRecord(text []byte) (Record, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &fields); err != nil {
		return Record{}, err
	}
	if fields == nil {
		return Record{}, errors.New("it holds no object")
	}
	var r Record
	get := func(name string, to any) bool {
		raw, ok := fields[name]
		return ok && json.Unmarshal(raw, to) == nil
	}
	moment := func(name string) time.Time {
		var ms float64
		if !get(name, &ms) || ms <= 0 || ms > 1<<53 {
			return time.Time{}
		}
		return time.UnixMilli(int64(ms))
	}
	if !get("pid", &r.Process.PID) || !get("sessionId", &r.SessionID) || r.Process.PID <= 0 || r.SessionID == "" {
		return Record{}, errors.New("it lacks the process or the session")
	}
	// On Linux field 22 of /proc/PID/stat, as text. Elsewhere its unit is not
	// known to be ours, and the process id alone has to do.
	var start string
	if get("procStart", &start) && comparableStart {
		r.Process.Start, _ = strconv.ParseInt(start, 10, 64)
	}
	get("cwd", &r.CWD)
	get("version", &r.Version)
	get("peerProtocol", &r.PeerProtocol)
	get("peerFeatures", &r.PeerFeatures)
	get("kind", &r.Kind)
	get("entrypoint", &r.Entrypoint)
	get("pidDomain", &r.PIDDomain)
	get("messagingSocketPath", &r.SocketPath)
	get("name", &r.Name)
	get("nameSource", &r.NameSource)
	get("status", &r.Status)
	get("waitingFor", &r.WaitingFor)
	get("jobId", &r.JobID)
	r.StartedAt = moment("startedAt")
	r.StatusUpdatedAt = moment("statusUpdatedAt")
	return r, nil
}

// readFile reads a regular file of at most limit bytes.
func readFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = errors.New("it is too large")
	}
	return text, err
}
