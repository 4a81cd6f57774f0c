// Package transcript keeps the live Markdown transcript of a room: a header
// that changes with every turn and, below it, entries that are only appended.
// It knows nothing of a room's rules; a caller hands it what to show.
//
// # The file
//
//	<!-- bureau:transcript {…} {…}      -->   whose file this is, and how far it goes
//	# Multi-Agent Room
//	- **File:** …                            lines with room to grow, padded with spaces
//	| Handle | Name | Status | Joined |
//	| @ana   | …    | …      | …      |
//	## Discussion
//	<!-- bureau:entry {…} -->                what the next lines are, for programs
//	### @ana ➔ @bob (2026-03-04 10:11:12 UTC)
//	the message
//	---
//
// The header occupies the first bytes of the file, a fixed number of them.
// Each line that can change has a place of its own in it, filled up with
// spaces, which Markdown does not show. A post writes the new entry at the end
// and then the header over the old one, in one write of exactly its size, so
// that it costs the same at the first message and at the ten thousandth. When
// something no longer fits its place, the place is doubled and the file is
// written anew beside the old one and renamed: that happens a few times in the
// life of a room, each time half as often.
//
// # What a reader may see
//
// Never an empty or a short file, and never one without a whole header: the
// file appears under its name complete, and is never cut below what a reader
// could have seen of finished entries. A reader that comes in the middle of a
// post may see the entry before the header knows of it, or the beginning of
// the entry; both are sound Markdown. Some systems let a read and a write of
// the same bytes pass each other (ext4 does). Then a reader can see the first
// part of the new header and the rest of the old. As every line has its place,
// each line is the new or the old one, and at most one of them is half of
// each. [Parse] notices and reads again; an editor shows it until its next look.
//
// # What a crash leaves
//
// At most one unfinished entry at the end, or a header of two halves. Whoever
// appends next finds out from the file alone, cuts the unfinished entry off and
// goes on. Nothing is synced after a post: the journal is the truth, and after
// a power failure the next [File.Update] asks for what the file has lost.
//
// # Text of others
//
// Members' Markdown is kept where it cannot do harm: emphasis, lists, code
// spans and blocks, links to the web. Everything that would look like a part of
// the transcript or do something in a renderer is escaped: headings, rules,
// quotes, tables, HTML, pictures, link definitions, links that are no web
// addresses. That holds also where a renderer links bare addresses and takes the
// escapes behind them for a part of them. What opens in a message ends in it.
// Control and invisible characters are shown as package quote shows them, and
// [Parse] gives back exactly that text.
package transcript

import (
	"time"

	"bureau/internal/fault"
)

// Header is what stands above the discussion.
type Header struct {
	// Seq is the room's sequence number up to which header and entries speak.
	// An older header never takes the place of a newer one.
	Seq     int64
	Topic   string
	Purpose string // left out when empty
	File    string // the path as people know it
	Opened  time.Time
	Closed  time.Time // zero: the room is open
	Turn    string    // handle of who has the floor; empty: nobody
	Queue   []Waiting
	Members []Member // in the order of the table; after 128 they are only counted
}

// Waiting is a place in the queue for the floor.
type Waiting struct {
	Handle string
	Points int // shown when more than one
}

// Member is a row of the members table.
type Member struct {
	Handle string
	Name   string // display name
	Status Status
	Joined time.Time // zero: not yet
}

// Status is a member's state. The known ones are shown in the transcript's
// language, any other as it is.
type Status string

// The states with a name in every language.
const (
	Invited Status = "invited" // declared, has not come yet
	Present Status = "present"
	Away    Status = "away" // was here; may come back
	Left    Status = "left"
	Stayed  Status = "stayed" // was there when the room was closed
)

// Kind says what an entry is.
type Kind string

// The kinds of entries.
const (
	Message  Kind = "message"
	Whisper  Kind = "whisper" // only in a private transcript
	Notice   Kind = "notice"  // the room speaks: somebody came, lost the floor, …
	Proposal Kind = "proposal"
	Vote     Kind = "vote"
	Result   Kind = "result"
	Close    Kind = "close"
)

// Entry is one thing that was said or happened.
type Entry struct {
	Seq       int64 // the room's sequence number: positive, each one greater than the last
	Kind      Kind
	From      string   // handle; empty for a notice
	To        []string // handles, as the sender addressed them
	Time      time.Time
	Body      string // Markdown of the sender
	RelayedBy string // who typed it for From, if somebody did
	// Mark tells this entry from any other that may have its number in another
	// course of the same meeting; "" for none. It stands in the file for the next
	// [File.Update] to compare.
	Mark string
}

// Spec says which file is meant and whose it is.
type Spec struct {
	// Root is the folder that the file must lie in, absolute.
	Root string
	// Path is the file, absolute or relative to Root. See [DefaultPath].
	Path string
	// Force allows a Path outside Root. Nothing else: what bureau did not
	// write stays as it is, and links are not followed.
	Force bool
	// Room is the id of the room: 1 to 64 ASCII letters, digits, dots, dashes
	// and underscores. The file says it, and belongs to no other.
	Room string
	// Lang is the language of the labels: en (also when empty), fr, de, es, pt
	// or ru. An existing file keeps its own.
	Lang string
	// Private is for a transcript that shows whispers: mode 0600 from its
	// beginning. Others are 0644, less what the umask takes.
	Private bool
}

// kinds that an entry may have.
var kinds = map[Kind]bool{Message: true, Whisper: true, Notice: true, Proposal: true, Vote: true, Result: true, Close: true}

// check refuses entries that cannot be written one after the other.
func check(entries []Entry, private bool) error {
	last := int64(0)
	for _, e := range entries {
		switch {
		case !kinds[e.Kind]:
			return fault.New(fault.Invalid, "entry %d has the unknown kind %q", e.Seq, e.Kind)
		case e.Seq <= last:
			return fault.New(fault.Invalid, "entry %d follows entry %d: entries come in order", e.Seq, last)
		case e.Kind == Whisper && !private:
			return fault.New(fault.Denied, "entry %d is a whisper and this transcript is not private", e.Seq).
				WithHint("open the room with a private transcript, or leave whispers out")
		}
		last = e.Seq
	}
	return nil
}
