package mail

import (
	"strings"

	"bureau/internal/fault"
)

// Kind says what a message is for.
type Kind string

// The kinds. A question expects one answer from each of those it was put to;
// an answer belongs to a question; all others are information.
const (
	Question  Kind = "question"
	Answer    Kind = "answer"
	Note      Kind = "note"
	Request   Kind = "request"
	Update    Kind = "update"
	Error     Kind = "error"
	Broadcast Kind = "broadcast"
	Ack       Kind = "ack"
)

// kindWords maps every word that a user may say to a kind: our own and those
// of the older systems (Escritório's ask, dm and resposta; mclaude's letter
// types carry our names already).
var kindWords = map[string]Kind{
	"question": Question, "ask": Question, "pergunta": Question,
	"answer": Answer, "reply": Answer, "response": Answer, "resposta": Answer,
	"note": Note, "dm": Note, "message": Note, "info": Note,
	"request": Request, "task": Request,
	"update": Update, "status": Update,
	"error": Error, "failure": Error,
	"broadcast": Broadcast, "announcement": Broadcast,
	"ack": Ack, "acknowledgement": Ack, "receipt": Ack,
}

// ParseKind maps a word to a kind, ignoring case. The empty word stays empty:
// the office then chooses.
func ParseKind(word string) (Kind, error) {
	if word == "" {
		return "", nil
	}
	if k, ok := kindWords[strings.ToLower(strings.TrimSpace(word))]; ok {
		return k, nil
	}
	return "", fault.New(fault.Invalid, "no message kind %q", word).
		WithHint("kinds are question, answer, note, request, update, error, broadcast and ack")
}

// Importance orders an inbox; low importance never wakes anybody.
type Importance int

// The degrees of importance.
const (
	Low    Importance = -1
	Normal Importance = 0
	High   Importance = 1
)

// ParseImportance maps a word to a degree; the empty word is Normal.
func ParseImportance(word string) (Importance, error) {
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "low":
		return Low, nil
	case "", "normal":
		return Normal, nil
	case "high", "urgent":
		return High, nil
	}
	return Normal, fault.New(fault.Invalid, "no importance %q", word).WithHint("importance is low, normal or high")
}

// String gives the word for the degree.
func (i Importance) String() string {
	switch {
	case i < Normal:
		return "low"
	case i > Normal:
		return "high"
	}
	return "normal"
}
