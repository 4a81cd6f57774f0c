package mail

import "time"

// State is how far one message has come with one recipient. A state only
// moves forward: stored, offered, seen, then answered or acked; held, expired
// and undeliverable end it early.
type State string

// The states of a receipt.
const (
	Stored        State = "stored"        // durable; nothing more is claimed
	Offered       State = "offered"       // written into a client's context channel, not yet proved
	Held          State = "held"          // the recipient's client keeps it back for its user
	Expired       State = "expired"       // its time ran out before it was seen
	Undeliverable State = "undeliverable" // nobody can receive it any more
	Seen          State = "seen"          // proved
	Acked         State = "acked"         // the recipient said so explicitly
	Answered      State = "answered"      // a question whose answer is stored
)

// rank orders the states. Equal ranks exclude each other: whoever came first
// stays. Offered and held are live state and never stored in the journal.
var rank = map[State]int{
	Stored: 0, Offered: 1, Held: 2,
	Expired: 3, Undeliverable: 3,
	Seen: 3, Acked: 4, Answered: 5,
}

// Forward gives the state after news arrives: the later of the two. Expired
// and undeliverable are final; nothing that was seen can expire.
func Forward(old, news State) State {
	if Final(old) || rank[news] <= rank[old] {
		return old
	}
	return news
}

// Final reports whether the message can never be seen by that recipient.
func Final(s State) bool { return s == Expired || s == Undeliverable }

// Unseen reports whether the recipient has yet to get the message.
func Unseen(s State) bool { return s == Stored || s == Offered || s == Held }

// Pending reports whether the message still waits for something from its
// recipient: to be seen or, where the sender wanted that, acknowledged. It is
// the one definition of "unread": lists, counts, hooks and reminders use it.
func Pending(s State, ackWanted bool) bool {
	return Unseen(s) || ackWanted && s == Seen
}

// Due reports whether a message that expires has run out at the given moment.
func Due(expires time.Time, now time.Time) bool {
	return !expires.IsZero() && !now.Before(expires)
}

// Wakes reports whether a message may wake an idle session and make a
// stopping one go on: every message but low importance, --no-wake, receipts,
// acknowledgements and broadcasts to a project.
func Wakes(m *Message) bool { return Silent(m) == "" }

// Silent says why a message wakes nobody; "" for one that may.
func Silent(m *Message) string {
	switch {
	case m.NoWake:
		return "sent to wake nobody"
	case m.Importance < Normal:
		return "low importance"
	case m.Kind == Ack:
		return "an acknowledgement"
	case m.Group != "" && m.Group != GroupLive && m.Kind == Broadcast:
		return "a broadcast to a project"
	}
	return ""
}

// Before reports whether a message has come less far in one state than in the
// other; what ended early counts as least.
func Before(a, b State) bool {
	if Final(a) != Final(b) {
		return Final(a)
	}
	return rank[a] < rank[b]
}
