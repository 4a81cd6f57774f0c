package mclaude

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// maxMetadata is the most that is read and written of a S.metadata.json.
const maxMetadata = 1 << 20

const (
	writtenBy = "bureau"
	clockForm = "2006-01-02T15:04:05-0700" // claimed_at of mclaude's commands
	bareClock = "2006-01-02T15:04:05"      // of its MCP server: local, no offset
)

// Claim is what bureau notes in the metadata beside mclaude's own keys. All of
// it is optional.
type Claim struct {
	ID       string        `json:"claim"`
	Holder   string        `json:"holder"`   // the holder's name as it is, in any script
	Identity string        `json:"identity"` // what the session id begins with
	Patterns []string      `json:"patterns"`
	Mode     string        `json:"mode"` // exclusive or shared
	PID      int           `json:"pid"`
	Host     string        `json:"host"`
	TTL      time.Duration `json:"-"` // "ttl", in whole seconds
	// Ahead is how far in the future the heartbeat may lie: "heartbeat_ahead",
	// in whole seconds. mclaude takes no heartbeat of the future for stale.
	Ahead time.Duration `json:"-"`
	Token uint64        `json:"token"`
	// FilesSince says since when each of the files is locked, where they came one
	// after the other: "files_since", in nanoseconds; nil for none. What is given
	// to be written is since when each is claimed: see [folder.since].
	FilesSince []time.Time `json:"-"`
}

// written is S.metadata.json as bureau writes it, in mclaude's order.
type written struct {
	Slug             string   `json:"slug"`
	SessionID        string   `json:"session_id"`
	ClaimedAt        string   `json:"claimed_at"`
	ClaimedAtEpoch   epoch    `json:"claimed_at_epoch"`
	WorkingDirectory string   `json:"working_directory"`
	Description      string   `json:"description"`
	Files            []string `json:"files"`
	Worktree         *string  `json:"worktree"`
	Branch           *string  `json:"branch"`
	WrittenBy        string   `json:"written_by"`
	Claim
	TTL   int64   `json:"ttl"`
	Ahead int64   `json:"heartbeat_ahead,omitempty"`
	Since []int64 `json:"files_since,omitempty"`
}

// epoch is a time in seconds, written with a fraction as Python does.
type epoch float64

func (e epoch) MarshalJSON() ([]byte, error) {
	s := strconv.FormatFloat(float64(e), 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return []byte(s), nil
}

func (l Lock) encode() ([]byte, error) {
	var worktree, branch *string
	if l.Worktree != "" {
		worktree = &l.Worktree
	}
	if l.Branch != "" {
		branch = &l.Branch
	}
	p := written{
		Slug: l.Slug, SessionID: l.Session,
		ClaimedAt:        l.ClaimedAt.Local().Format(clockForm),
		ClaimedAtEpoch:   epoch(float64(l.ClaimedAt.UnixMicro()) / 1e6),
		WorkingDirectory: l.WorkingDirectory,
		Description:      oneLine(l.Description),
		Files:            append([]string{}, l.Files...),
		Worktree:         worktree, Branch: branch,
		WrittenBy: writtenBy, Claim: l.Claim, TTL: int64(l.Claim.TTL / time.Second), Ahead: int64(l.Claim.Ahead / time.Second),
	}
	p.Patterns = append([]string{}, p.Patterns...)
	for _, t := range l.Claim.FilesSince {
		p.Since = append(p.Since, t.UnixNano())
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(p); err != nil {
		return nil, err
	}
	data := bytes.TrimRight(b.Bytes(), "\n")
	if len(data) > maxMetadata {
		return nil, usage("the metadata of the lock %q would have %d bytes; the limit is %d", l.Slug, len(data), maxMetadata).
			WithHint("list folders or fewer files")
	}
	return data, nil
}

// metadata is what could be read of a S.metadata.json of anybody.
type metadata struct {
	session, claimedAt   string
	at                   time.Time
	workdir, description string
	files                []string
	worktree, branch     string
	ours                 bool
	claim                Claim
}

// parseMetadata reads what is there, key by key, and says what is wrong with
// the rest, or "".
func parseMetadata(data []byte) (m metadata, wrong string) {
	if len(data) > maxMetadata {
		return m, "metadata is larger than 1 MiB"
	}
	var keys map[string]json.RawMessage
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !utf8.Valid(data) {
		wrong = "metadata is not UTF-8"
	}
	if err := json.Unmarshal(data, &keys); err != nil || keys == nil {
		return m, "metadata is not a JSON object"
	}
	get := func(key string, into any) {
		raw, ok := keys[key]
		if ok && json.Unmarshal(raw, into) != nil && wrong == "" {
			wrong = "metadata has a wrong value for " + key
		}
	}
	get("session_id", &m.session)
	get("claimed_at", &m.claimedAt)
	get("working_directory", &m.workdir)
	get("description", &m.description)
	get("worktree", &m.worktree)
	get("branch", &m.branch)
	var files []json.RawMessage
	get("files", &files)
	for _, raw := range files {
		var f string
		if json.Unmarshal(raw, &f) != nil && wrong == "" {
			wrong = "metadata has a wrong value for files"
		}
		if f != "" {
			m.files = append(m.files, f)
		}
	}
	var seconds float64
	get("claimed_at_epoch", &seconds)
	m.at = claimTime(seconds, m.claimedAt)
	var by string
	get("written_by", &by)
	if m.ours = by == writtenBy; m.ours {
		get("claim", &m.claim.ID)
		get("holder", &m.claim.Holder)
		get("identity", &m.claim.Identity)
		get("patterns", &m.claim.Patterns)
		get("mode", &m.claim.Mode)
		get("pid", &m.claim.PID)
		get("host", &m.claim.Host)
		get("token", &m.claim.Token)
		var ttl, ahead int64
		get("ttl", &ttl)
		get("heartbeat_ahead", &ahead)
		m.claim.TTL, m.claim.Ahead = seconds64(ttl), seconds64(ahead)
		var since []int64
		if get("files_since", &since); len(since) == len(m.files) {
			for _, ns := range since {
				m.claim.FilesSince = append(m.claim.FilesSince, time.Unix(0, ns))
			}
		}
	}
	return m, wrong
}

// seconds64 gives a length of time that was written as whole seconds; 0 for
// one that is none.
func seconds64(n int64) time.Duration {
	if n <= 0 || n > int64(math.MaxInt64/time.Second) {
		return 0
	}
	return time.Duration(n) * time.Second
}

// claimTime prefers the epoch, which has no zone to guess.
func claimTime(seconds float64, text string) time.Time {
	if seconds > 0 && seconds < 253402300800 { // the year 10000
		return time.UnixMicro(int64(seconds * 1e6))
	}
	if t, err := time.Parse(clockForm, text); err == nil {
		return t
	}
	if t, err := time.ParseInLocation(bareClock, text, time.Local); err == nil {
		return t
	}
	return time.Time{}
}

// oneLine replaces everything that ends a line for any reader, and other
// control characters, so that a value cannot forge a line of a list.
func oneLine(s string) string {
	return strings.TrimSpace(strings.Map(spaced, strings.ToValidUTF8(s, "\ufffd")))
}

// manyLines does so too but keeps the lines themselves and tabs.
func manyLines(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\r\n", "\n")
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return spaced(r)
	}, s))
}

func spaced(r rune) rune {
	if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
		return ' '
	}
	return r
}
