// Package claim holds the rules of claims: somebody says what they are about
// to change, and others respect it.
//
// A claim covers paths of a project and named things (a GPU, a deployment, a
// port), exclusively or shared. All claims of a project are one subject of the
// journal, so overlapping ones are decided one after the other. The position
// of the record that granted a claim, or gave it to another holder, is its
// fencing token: tokens only grow.
//
// The package is pure: [Decide] reads through a [View] and gives events,
// [Apply] folds them into a [Store]. Whether a holder shows signs of life and
// what a probe saw enter as [Evidence], and what was relied on is written into
// the event.
//
// Promises, each a property test: no two claims that stand and are not both
// shared overlap, unless one holder works for the other; tokens only grow;
// claims that wait are served in the order of asking, so nobody starves; a
// holder without a sign of life is overtaken only by somebody who watched for
// it while awake, and once overtaken it passes no guard until it claims anew.
package claim

import (
	"strings"
	"time"

	"bureau/internal/event"
)

// Mode says who else may hold what a claim covers.
type Mode string

// The modes.
const (
	Exclusive Mode = "exclusive" // nobody else
	Shared    Mode = "shared"    // others who hold it shared
)

// Want is what a claim covers.
type Want struct {
	Paths     []Pattern  `json:"paths,omitempty"`
	Resources []Resource `json:"resources,omitempty"`
	Mode      Mode       `json:"mode"`
	// Tree is the root of the work tree that the paths are meant in. Linked
	// work trees of a repository share the claims of their project.
	Tree string `json:"tree,omitempty"`
	// Fold says that the file system does not tell upper from lower case.
	Fold bool `json:"fold,omitempty"`
}

// Show gives a pattern as people read it: where the work tree is the whole file
// system, as outside of any project, with the root in front.
func (w *Want) Show(p Pattern) string {
	if w.Tree == "/" || len(w.Tree) == 3 && w.Tree[1:] == `:\` {
		if p == Root {
			return w.Tree
		}
		return w.Tree + string(p)
	}
	return string(p)
}

// whole gives a path as a command takes it from whatever folder.
func (w *Want) whole(path string) string {
	if w.Tree == "" {
		return path
	}
	return strings.TrimRight(w.Tree, `/\`) + "/" + path
}

// Claim is a lease on what it covers.
type Claim struct {
	ID     event.ID  `json:"id"`
	Token  event.Seq `json:"token"` // position at which the holder got it
	Holder event.ID  `json:"holder"`
	// Conversation is the client's conversation that holds it, where there is
	// one: a seat passes to the next session that takes it, its claims do not.
	Conversation string `json:"conversation,omitempty"`
	// For is the agent whose subagent the holder is; "" for none. A claim of
	// the one that it works for does not stand in the holder's way.
	For event.ID `json:"for,omitempty"`
	Want
	Intent string    `json:"intent"`
	Task   string    `json:"task,omitempty"`
	Files  []string  `json:"files,omitempty"` // what the holder said it will touch, as said
	Since  time.Time `json:"since"`
	// Renewed is the newest sign of life that the journal knows of.
	Renewed time.Time     `json:"renewed"`
	TTL     time.Duration `json:"ttl"`
	// Auto marks a claim that a guard made for the first edit of a path.
	Auto bool `json:"auto,omitempty"`
	// Keep lets the claim outlive its session while its probe says busy.
	Keep bool `json:"keep,omitempty"`
	// Parked is set when the holder's session ended: until then the claim is
	// kept for the same conversation to come back.
	Parked time.Time `json:"parked,omitzero"`
	// Folder is what the folder of the work tree is recognised by wherever it is
	// moved to; "" if unknown.
	Folder string `json:"folder,omitempty"`
	// Elsewhere marks a claim of another project, which counts for the machine's
	// own things only. It is no part of what is stored.
	Elsewhere bool `json:"-"`
}

// Finished is a claim that ended.
type Finished struct {
	Claim
	At      time.Time `json:"at"`
	How     How       `json:"how"`
	By      event.ID  `json:"by,omitempty"`
	Summary string    `json:"summary,omitempty"` // of the work, or the reason of a takeover
	Probe   *Probe    `json:"probe,omitempty"`
	// Lost says that the holder did not give it up itself and has not claimed
	// anything of it since: it passes no guard there.
	Lost bool `json:"lost,omitempty"`
}

// How says how a claim ended.
type How string

// Deed reports whether somebody ended the claim. The other ways come by
// themselves, and who is named with them only was the next to look.
func (h How) Deed() bool { return h == Released || h == Taken || h == Broken }

// The ways in which a claim ends.
const (
	Released     How = "released"      // by its holder
	SessionEnded How = "session_ended" // with the holder's session, or the time to come back to it passed
	Expired      How = "expired"       // its lease was over, its holder gone, and somebody else wanted it
	Taken        How = "taken"         // a verified takeover
	Broken       How = "broken"        // by the person, or by whoever may take it over and takes nothing
	Overtaken    How = "overtaken"     // another program's lock on the same files was there first, or took its place
)

// Wait is a place in the queue for what others hold.
type Wait struct {
	ID     event.ID  `json:"id"`
	Agent  event.ID  `json:"agent"`
	For    event.ID  `json:"for,omitempty"`
	Want   Want      `json:"want"`
	Intent string    `json:"intent"`
	Since  time.Time `json:"since"`
	Seq    event.Seq `json:"seq"` // the place: lower comes first
	// Conversations are those that the waiter speaks for.
	Conversations []string `json:"conversations,omitempty"`
	// Until bounds the wait, whatever becomes of its process.
	Until time.Time `json:"until"`
}

// Limits.
const (
	MaxPaths     = 200                 // paths and resources of one claim
	MaxIntent    = 500                 // characters of an intent
	MaxSummary   = 4000                // characters of a summary or reason
	MaxTTL       = 24 * time.Hour      // of a lease
	MinTTL       = time.Minute         // of a lease
	MaxKeep      = 30 * 24 * time.Hour // how long a kept claim outlives its session
	MaxWait      = 24 * time.Hour      // of a place in the queue
	Heartbeat    = time.Minute         // how often a sign of life can be expected
	MaxHeld      = 2000                // live claims of one holder
	MaxWaiting   = 500                 // places in one project's queue
	MaxFilesSaid = 500                 // entries of Files
)

// Guard says what an edit without a claim meets.
type Guard string

// The settings of the edit guard.
const (
	Auto   Guard = "auto"   // it is allowed and claimed for a short while
	Strict Guard = "strict" // it is refused: claim first
	Off    Guard = "off"    // edits are not looked at
)

// Trees says what becomes of an edit in one linked work tree of a path that
// somebody holds in another.
type Trees string

// The settings for linked work trees.
const (
	Warn Trees = "warn" // allowed, with a word that it will meet at the merge
	Deny Trees = "deny" // as if it were the same work tree
)

// Rules are a project's settings. They are journaled with the claims, so each
// decision is made under the settings of that moment.
type Rules struct {
	Guard      Guard         `json:"guard"`
	Worktrees  Trees         `json:"worktrees"`
	Lease      time.Duration `json:"lease"`       // of a claim that names no other
	AutoLease  time.Duration `json:"auto_lease"`  // of a claim that a guard made
	QuietAfter time.Duration `json:"quiet_after"` // without a turn, before a quiet holder can be overtaken
	Grace      time.Duration `json:"grace"`       // a closed session's claims wait for it this long
	// Mirror keeps a lock file in mclaude's layout for each claim: "auto"
	// where the project has such a folder, "on" or "off".
	Mirror string `json:"mirror"`
	// ForeignStale is the age of a foreign lock's heartbeat from which it
	// counts as stale.
	ForeignStale time.Duration `json:"foreign_stale"`
}

// DefaultRules are in force until somebody sets others.
func DefaultRules() Rules {
	return Rules{
		Guard: Auto, Worktrees: Warn, Lease: 30 * time.Minute, AutoLease: 10 * time.Minute,
		QuietAfter: 4 * time.Hour, Grace: 30 * time.Minute, Mirror: "auto", ForeignStale: 3 * time.Minute,
	}
}
