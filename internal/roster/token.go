package roster

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/name"
)

// TokenClient is what sessions of tokens are known by beside the names of
// clients: a token is one conversation, through whatever client it is used.
const TokenClient = "token"

// Token is a credential that the person gave out: whoever shows its secret is
// the session that it stands for, wherever it comes from. Its name is a seat
// like any other: the session takes it with its mail.
type Token struct {
	ID      event.ID  `json:"id"`
	Name    name.Name `json:"name"`
	Hash    string    `json:"hash"` // SHA-256 of the secret, in hexadecimal
	Note    string    `json:"note,omitempty"`
	Project string    `json:"project,omitempty"` // where its session works
	Folder  string    `json:"folder,omitempty"`
	Issued  time.Time `json:"issued"`
	Expires time.Time `json:"expires,omitzero"` // zero: it does not
	Revoked time.Time `json:"revoked,omitzero"` // zero: it is not
}

// The kinds of events in the tokens subject.
const (
	KindTokenIssued  event.Kind = "token.issued"
	KindTokenRevoked event.Kind = "token.revoked"
)

// TokenRevoked ends a token.
type TokenRevoked struct {
	Token event.ID  `json:"token"`
	By    event.ID  `json:"by"`
	At    time.Time `json:"at"`
}

// Limits of tokens.
const (
	MaxNote     = 200         // bytes of a note
	MinTokenTTL = time.Minute // shortest life of a token that ends
	MaxTokenTTL = 10 * 365 * 24 * time.Hour
	tokenMark   = "bureau_"
	secretBytes = 32
)

// Secret is what opens a token: random bits, which the caller draws.
type Secret [secretBytes]byte

// TokenText makes the text of a token: "bureau_", its id, and the secret in
// base64 for URLs without padding (RFC 4648). Only whoever it is given to has
// it; hash is what is kept.
func TokenText(id event.ID, secret Secret) (text, hash string) {
	return tokenMark + string(id) + "_" + base64.RawURLEncoding.EncodeToString(secret[:]), hashOf(secret[:])
}

func hashOf(secret []byte) string {
	sum := sha256.Sum256(secret)
	return hex.EncodeToString(sum[:])
}

// ParseToken takes a token's text apart. It reports false for what is none.
func ParseToken(text string) (id event.ID, hash string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), tokenMark)
	if !ok {
		return "", "", false
	}
	word, encoded, ok := strings.Cut(rest, "_")
	if !ok || len(word) != 26 {
		return "", "", false
	}
	// Strict: of the texts that decode to one secret only the one that was given
	// out counts.
	secret, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	if err != nil || len(secret) != secretBytes {
		return "", "", false
	}
	return event.ID(word), hashOf(secret), true
}

// Check reports whether a secret with this hash opens the token now: nil, or
// denied with what the holder should do.
func (t *Token) Check(hash string, now time.Time) error {
	switch {
	case subtle.ConstantTimeCompare([]byte(hash), []byte(t.Hash)) != 1:
		return UnknownToken()
	case !t.Revoked.IsZero():
		return fault.New(fault.Denied, "the token for %s was revoked", t.Name).WithHint("ask the person for another: bureau token new %s", t.Name)
	case t.Over(now):
		return fault.New(fault.Denied, "the token for %s ended at %s", t.Name, t.Expires.UTC().Format(time.RFC3339)).
			WithHint("ask the person for another: bureau token new %s", t.Name)
	}
	return nil
}

// Over reports whether the token's time has run out.
func (t *Token) Over(now time.Time) bool { return !t.Expires.IsZero() && !now.Before(t.Expires) }

// UnknownToken is the refusal of a token that this office did not issue.
func UnknownToken() error {
	return fault.New(fault.Denied, "the token is none of this office").
		WithHint("the person makes one with bureau token new NAME; check that it was copied whole, and which office (BUREAU_HOME) is served")
}

// IssueToken makes a token known.
type IssueToken struct {
	Token Token
	TTL   time.Duration // 0: it does not end
}

// Decide gives the event.
func (c IssueToken) Decide(now time.Time) (Token, []event.Event, error) {
	t := c.Token
	t.Issued = now
	switch {
	case name.Reserved(t.Name.Key()):
		return t, nil, fault.New(fault.Invalid, "the name %q is reserved", t.Name).WithHint("a token is an agent's; the person needs none")
	case len(t.Note) > MaxNote:
		return t, nil, fault.New(fault.Invalid, "the note has %d bytes; the limit is %d", len(t.Note), MaxNote).WithHint("shorten it")
	case c.TTL != 0 && (c.TTL < MinTokenTTL || c.TTL > MaxTokenTTL):
		return t, nil, fault.New(fault.Invalid, "a token cannot last %v", c.TTL).WithHint("from a minute to ten years; without --ttl it does not end")
	}
	if c.TTL != 0 {
		t.Expires = now.Add(c.TTL)
	}
	return t, []event.Event{event.New(KindTokenIssued, t)}, nil
}

// Revoke gives the event that ends a token; none for one that has ended.
func (t *Token) Revoke(by event.ID, now time.Time) []event.Event {
	if !t.Revoked.IsZero() {
		return nil
	}
	t.Revoked = now
	return []event.Event{event.New(KindTokenRevoked, TokenRevoked{Token: t.ID, By: by, At: now})}
}
