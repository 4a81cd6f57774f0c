// Package mail holds the rules of conversations: threads with an owner,
// participants and a hop budget, questions and their answers, and how far each
// message has come with each recipient.
//
// The package is pure. A command is decided against the state of one thread
// ([Decide]) and gives events or a refusal; [Thread.Apply] is what an event
// does to the state. Time and ids come in from outside.
//
// Promises, each a property test: a thread never carries more messages than
// its budget; an open question always has a hop left for its answer; only the
// owner closes or grants; who is no participant neither writes nor adds; an
// answer belongs to an open question that was put to its author; a question is
// answered once.
package mail

import (
	"time"

	"bureau/internal/event"
)

// Limits of mail.
const (
	MaxBody        = 1 << 20  // bytes of a message's body
	InlineBody     = 32 << 10 // bytes up to which a body stands in the event itself; longer ones are blobs
	MaxSubject     = 200      // characters of a subject
	MaxAttachments = 16       // per message
	MaxAttachment  = 16 << 20 // bytes of one attachment
	MaxMembers     = 64       // participants of one thread
	MaxHops        = 1000     // messages that one thread can be allowed
	DefaultHops    = 8        // messages of a thread, unless it was opened with another budget
)

// DefaultBroadcastLife is how long a message to a project reaches agents that
// come later.
const DefaultBroadcastLife = 7 * 24 * time.Hour

// GroupLive addresses who is live now.
const GroupLive = "@all"

// GroupProject addresses every agent of the sender's project, later ones too.
const GroupProject = "*"

// Blob points to a text or file kept outside the journal by its content.
type Blob struct {
	Sum  string `json:"sha256"`
	Size int64  `json:"size"`           // bytes
	UTF8 bool   `json:"utf8"`           // whether the content is valid UTF-8
	Head string `json:"head,omitempty"` // the first characters, for listings
}

// Attachment is a file that travels with a message, kept by content.
type Attachment struct {
	Name string `json:"name"` // base name only
	Sum  string `json:"sha256"`
	Size int64  `json:"size"` // bytes
}

// Message is one message as it stands in the journal. Who sent it and when
// are established by the office, never taken from its text.
type Message struct {
	ID         event.ID     `json:"id"`
	From       event.ID     `json:"from"`
	To         []event.ID   `json:"to"`
	Kind       Kind         `json:"kind"`
	Subject    string       `json:"subject,omitempty"`
	Body       string       `json:"body,omitempty"`
	Blob       *Blob        `json:"blob,omitempty"` // instead of Body
	Importance Importance   `json:"importance,omitempty"`
	ReplyTo    event.ID     `json:"reply_to,omitempty"`  // the message that this one responds to
	Answers    event.ID     `json:"answers,omitempty"`   // the question that this one answers
	AnswerTo   event.ID     `json:"answer_to,omitempty"` // whom the answer goes to, if not the asker
	Expires    time.Time    `json:"expires,omitzero"`
	AckWanted  bool         `json:"ack_wanted,omitempty"`
	NoWake     bool         `json:"no_wake,omitempty"`
	Files      []Attachment `json:"files,omitempty"`
	Group      string       `json:"group,omitempty"`   // the group that the sender wrote to, as written
	Print      string       `json:"print,omitempty"`   // fingerprint of a question's text, for asking again
	Request    string       `json:"request,omitempty"` // fingerprint of a request with a client id, for sending again
}

// Status is what a thread can still take.
type Status string

// The states of a thread.
const (
	Open      Status = "open"
	Exhausted Status = "exhausted" // the hop budget is used up; the owner can grant more
	Closed    Status = "closed"    // for good
)

// OpenQuestion is a question that one of those asked has yet to answer.
type OpenQuestion struct {
	ID       event.ID  `json:"id"`
	Asker    event.ID  `json:"asker"`
	Asked    event.ID  `json:"asked"`
	AnswerTo event.ID  `json:"answer_to,omitempty"`
	Expires  time.Time `json:"expires,omitzero"`
}

// Deadline is a message that ends unseen at a certain moment.
type Deadline struct {
	ID event.ID  `json:"id"`
	At time.Time `json:"at"`
}

// Thread is the bounded state of one conversation: what a decision needs and
// nothing that grows with its history.
type Thread struct {
	ID        event.ID       `json:"id"`
	Subject   string         `json:"subject"`
	Owner     event.ID       `json:"owner"`
	Members   []event.ID     `json:"members"`
	Status    Status         `json:"status"`
	Hops      int            `json:"hops"` // granted in all
	Left      int            `json:"left"` // messages that may still be sent
	Questions []OpenQuestion `json:"questions,omitempty"`
	Deadlines []Deadline     `json:"deadlines,omitempty"`
	Last      time.Time      `json:"last"`
	// Unknown is a kind that this version does not know; commands are then
	// refused, because a newer bureau may have decided something.
	Unknown event.Kind `json:"unknown,omitempty"`
}

// Exists reports whether the thread was ever opened.
func (t *Thread) Exists() bool { return t.ID != "" }

// Has reports whether the agent is a participant.
func (t *Thread) Has(agent event.ID) bool {
	for _, m := range t.Members {
		if m == agent {
			return true
		}
	}
	return false
}

// PutTo lists the open questions that were put to an agent.
func (t *Thread) PutTo(agent event.ID) []OpenQuestion {
	var out []OpenQuestion
	for _, q := range t.Questions {
		if q.Asked == agent {
			out = append(out, q)
		}
	}
	return out
}

// Free is the number of messages that may be sent besides the answers that
// open questions have kept.
func (t *Thread) Free() int { return t.Left - len(t.Questions) }
