package office

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/name"
	"bureau/internal/roster"
)

// TokenVariable is the environment variable that holds a token's text.
const TokenVariable = "BUREAU_TOKEN"

// tokenConversation is the one conversation that a token stands for.
func tokenConversation(token event.ID) string {
	return conversation(roster.TokenClient, string(token), "")
}

// TokenView is a token as it is shown: never its secret.
type TokenView struct {
	ID      event.ID   `json:"id"`
	Short   string     `json:"short"`
	Name    string     `json:"name"`            // as it was issued for
	Agent   string     `json:"agent,omitempty"` // who its session is, from its issue on
	Note    string     `json:"note,omitempty"`
	Folder  string     `json:"folder,omitempty"`
	Issued  time.Time  `json:"issued"`
	Expires *time.Time `json:"expires,omitempty"`
	Revoked *time.Time `json:"revoked,omitempty"`
	Valid   bool       `json:"valid"`
}

// Issuing says what a token is for.
type Issuing struct {
	Name   string
	Note   string
	TTL    time.Duration // 0: it does not end
	Folder string        // where its session works; absolute
}

// IssueToken makes a token for sessions that come from elsewhere than a client
// process of this machine. When it returns the token is durable and its name is
// a seat; the text is given this once and kept by nobody. Errors: denied for all
// but the person, invalid for a reserved name and beyond the limits of package
// roster.
func (o *Office) IssueToken(ctx context.Context, caller Caller, i Issuing) (v TokenView, text string, err error) {
	if err := onlyPerson(caller, "issue tokens"); err != nil {
		return v, "", err
	}
	n, err := name.Parse(i.Name)
	if err != nil {
		return v, "", err
	}
	_, err = o.settle(ctx, caller.actor(), caller.Project, func(tx *Tx) (d roster.Decision, err error) {
		if err := tx.known(event.Tokens); err != nil {
			return d, err
		}
		id := event.NewID(tx.now)
		var secret roster.Secret
		_, _ = rand.Read(secret[:]) // never fails
		var hash string
		text, hash = roster.TokenText(id, secret)
		t, events, err := roster.IssueToken{
			Token: roster.Token{ID: id, Name: n, Hash: hash, Note: strings.TrimSpace(i.Note), Project: caller.Project.ID, Folder: i.Folder}, TTL: i.TTL,
		}.Decide(tx.now)
		if err != nil {
			return d, err
		}
		if d, err = tx.seatToken(&t); err != nil {
			return d, err
		}
		if err := tx.appendTokens(events); err != nil {
			return d, err
		}
		v, err = tx.tokenView(&t)
		return d, err
	})
	return v, text, err
}

// seatToken gives a new token's session its seat, so that others can write to
// it before it is first used. Nobody sits there yet.
func (tx *Tx) seatToken(t *roster.Token) (roster.Decision, error) {
	d, err := tx.decideNames(roster.Start{
		ID: event.NewID(tx.now), Life: event.NewID(tx.now), Declared: t.Name, Default: t.Name, Client: roster.TokenClient,
		Conversation: tokenConversation(t.ID), Project: t.Project, Folder: t.Folder, Alive: verdict,
	})
	if err != nil || d.Agent.Life == nil {
		return d, err
	}
	ended, err := tx.decideNames(roster.End{Agent: d.Agent.ID, Life: d.Agent.Life.ID, Reason: "its token was not used yet"})
	d.Agent = ended.Agent
	return d, err
}

// Tokens lists all tokens, the newest first. Only the person sees them.
func (o *Office) Tokens(ctx context.Context, caller Caller) (list []TokenView, err error) {
	if err := onlyPerson(caller, "see tokens"); err != nil {
		return nil, err
	}
	err = o.look(ctx, func(tx *Tx) error {
		list = []TokenView{}
		all, err := o.tables.Tokens(tx.t)
		for i := range all {
			v, err := tx.tokenView(&all[i])
			if err != nil {
				return err
			}
			list = append(list, v)
		}
		return err
	})
	return list, err
}

// RevokeTokens ends all valid tokens of a name or, where no token has that name,
// one by its id or a part of it. When it returns no call with one of them is
// served any more and its session has ended; the agent keeps its name and mail.
// Errors: not_found for a word that names none, conflict for a part of several
// ids, denied for all but the person.
func (o *Office) RevokeTokens(ctx context.Context, caller Caller, word string) (list []TokenView, err error) {
	if err := onlyPerson(caller, "revoke tokens"); err != nil {
		return nil, err
	}
	word = strings.TrimSpace(word)
	var held []roster.Agent
	err = o.change(ctx, caller.actor(), func(tx *Tx) error {
		if err := tx.known(event.Tokens); err != nil {
			return err
		}
		list, held = []TokenView{}, nil
		tokens, err := tx.findTokens(word)
		if err != nil {
			return err
		}
		var events []event.Event
		for i := range tokens {
			events = append(events, tokens[i].Revoke(caller.Agent.ID, tx.now)...)
			v, err := tx.tokenView(&tokens[i])
			if err != nil {
				return err
			}
			list = append(list, v)
			key := tokenConversation(tokens[i].ID)
			a, found, err := o.tables.Conversation(tx.t, key)
			if err != nil {
				return err
			}
			if found && a.Life != nil && a.Life.Conversation == key {
				held = append(held, a)
			}
		}
		return tx.appendTokens(events)
	})
	if err != nil {
		return nil, err // nothing was revoked, so nothing ends
	}
	for i := range held {
		err = errors.Join(err, o.EndSession(ctx, held[i].ID, held[i].Life.Process, "its token was revoked"))
	}
	return list, err
}

// minIDPart is how much of an id names a token where no name does: what is
// revoked by a slip is gone.
const minIDPart = 4

// findTokens gives the ones of a name that are not revoked or, where no token
// has that name, the token of an id or a part of it.
func (tx *Tx) findTokens(word string) ([]roster.Token, error) {
	var list []roster.Token
	named := false
	if n, err := name.ParseAny(word); err == nil {
		all, err := tx.o.tables.Tokens(tx.t)
		if err != nil {
			return nil, err
		}
		for _, t := range all {
			if t.Name.Key() == n.Key() {
				named = true
				if t.Revoked.IsZero() {
					list = append(list, t)
				}
			}
		}
	}
	if !named && len(word) >= minIDPart {
		found, err := tx.o.tables.Find(tx.t, word, "token", maxCandidates+1)
		if err != nil {
			return nil, err
		}
		if len(found) > 1 {
			return nil, fault.New(fault.Conflict, "%q is part of several tokens' ids", word).WithHint("bureau token list shows them whole with --json")
		}
		if len(found) == 1 {
			t, _, err := tx.o.tables.Token(tx.t, found[0].ID)
			return []roster.Token{t}, err
		}
	}
	if len(list) == 0 {
		return nil, fault.New(fault.NotFound, "no token %q that could be revoked", word).WithHint("bureau token list lists ids and names")
	}
	return list, nil
}

func (tx *Tx) appendTokens(events []event.Event) error {
	version, err := tx.o.journal.In(tx.t).Version(event.Tokens)
	if err != nil {
		return err
	}
	_, err = tx.append("", event.Tokens, &version, events)
	return err
}

func (tx *Tx) tokenView(t *roster.Token) (TokenView, error) {
	v := TokenView{
		ID: t.ID, Name: string(t.Name), Note: t.Note, Folder: t.Folder, Issued: t.Issued,
		Valid: t.Revoked.IsZero() && !t.Over(tx.now),
	}
	if !t.Expires.IsZero() {
		v.Expires = &t.Expires
	}
	if !t.Revoked.IsZero() {
		v.Revoked = &t.Revoked
	}
	a, found, err := tx.o.tables.Conversation(tx.t, tokenConversation(t.ID))
	if err != nil {
		return v, err
	}
	if found {
		v.Agent = string(a.Name)
	}
	v.Short, err = tx.o.tables.Short(tx.t, t.ID)
	return v, err
}

func onlyPerson(c Caller, what string) error {
	if c.Human && !c.InSession() {
		return nil
	}
	return fault.New(fault.Denied, "%s cannot %s", c.Agent.Name, what).WithHint("the person does, in a plain terminal, without --as, BUREAU_AS and %s", TokenVariable)
}

// Credential says which token a text is; denied if it is none, was revoked, or
// its time is over.
func (o *Office) Credential(ctx context.Context, text string) (t roster.Token, err error) {
	id, hash, ok := roster.ParseToken(text)
	if !ok {
		return t, roster.UnknownToken()
	}
	err = o.look(ctx, func(tx *Tx) error {
		var found bool
		if t, found, err = o.tables.Token(tx.t, id); err != nil {
			return err
		}
		if !found {
			return roster.UnknownToken()
		}
		return t.Check(hash, tx.now)
	})
	return t, err
}

// IdentifyToken gives the caller that a token stands for, which [Office.Credential]
// has found good: always the same conversation. Its session begins with the
// first call, and again when it had ended, its process is gone, or another
// session took its seat meanwhile; process is the one that speaks for it. Of two
// processes the one that began later has it, and the other may only read. A
// token that has ended since is denied, and no session of it has begun.
func (o *Office) IdentifyToken(ctx context.Context, t roster.Token, process roster.Process) (Caller, error) {
	key := tokenConversation(t.ID)
	c, err := o.SessionCaller(ctx, roster.TokenClient, string(t.ID), "", process)
	switch {
	case err != nil && !fault.Is(err, fault.NotFound):
		return c, err
	case err == nil && !c.Adrift && c.Agent.Life.Conversation == key:
		// A process that never held it is a newer one that takes it up; one
		// that held it before has been overtaken, and stays so.
		if held, err := o.held(ctx, c); err != nil || held || !c.Stale {
			return c, err
		}
	}
	if err := o.TokenGood(ctx, t.ID); err != nil {
		return Caller{}, err
	}
	s := Session{Client: roster.TokenClient, ID: string(t.ID), Declared: string(t.Name), Process: process, Folder: t.Folder}
	err = o.look(ctx, func(tx *Tx) (err error) {
		s.Project, err = tx.projectByID(t.Project)
		return err
	})
	if err != nil {
		return Caller{}, err
	}
	if _, err := o.StartSession(ctx, s); err != nil {
		return Caller{}, err
	}
	// One that was revoked meanwhile may have been looked at before this began.
	if err := o.TokenGood(ctx, t.ID); err != nil {
		return Caller{}, errors.Join(err, o.EndToken(context.WithoutCancel(ctx), t.ID, process))
	}
	return o.SessionCaller(ctx, roster.TokenClient, string(t.ID), "", process)
}

// TokenGood reports whether a token opens anything now: nil, or denied with what
// its holder should do.
func (o *Office) TokenGood(ctx context.Context, token event.ID) error {
	return o.look(ctx, func(tx *Tx) error {
		t, found, err := o.tables.Token(tx.t, token)
		if err != nil {
			return err
		}
		if !found {
			return roster.UnknownToken()
		}
		return t.Check(t.Hash, tx.now)
	})
}

// tokenGrace is how long after its last sign of life the session of a token is
// not taken for gone with the process that spoke for it: its client is elsewhere,
// and a server that is restarted under it speaks for it again soon.
const tokenGrace = 5 * time.Minute

// sessionVerdict is verdict for what somebody loses by it: claims, and a place
// in a meeting.
func (tx *Tx) sessionVerdict(a *roster.Agent) roster.Verdict {
	v := verdict(*a.Life)
	if v != roster.Gone || a.Life.Client != roster.TokenClient {
		return v
	}
	if tx.sighted(a.ID) {
		return roster.Unknown
	}
	return v
}

// sighted reports whether an agent showed a sign of life within the grace time.
func (tx *Tx) sighted(agent event.ID) bool {
	live, err := tx.o.Live(tx.t.Context())
	if err != nil {
		return false
	}
	sights, err := live.Sights(tx.t.Context(), agent)
	s, seen := sights[agent]
	return err == nil && seen && tx.now.Sub(s.At) < tokenGrace
}

// EndToken ends the session of a token in a process, as when its last
// connection is closed: what it claimed is kept for it for a while, and it goes
// on with its next call.
func (o *Office) EndToken(ctx context.Context, token event.ID, process roster.Process) error {
	c, err := o.SessionCaller(ctx, roster.TokenClient, string(token), "", process)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil || c.Stale || c.Adrift || c.Agent.Life.Conversation != tokenConversation(token) {
		return err
	}
	return o.EndSession(ctx, c.Agent.ID, process, "its connections are closed")
}

// tokenName gives the name that a session is to have which was started with a
// token; "" for a text that is no valid one.
func (o *Office) tokenName(ctx context.Context, text string) string {
	t, err := o.Credential(ctx, text)
	if err != nil {
		return ""
	}
	return string(t.Name)
}

// tokenAgent gives the agent of a token for commands of a terminal. They act
// for its session without taking it from the process that has it, and without
// beginning one: what else is done in that terminal is not the token's.
func (o *Office) tokenAgent(ctx context.Context, text string) (a roster.Agent, err error) {
	t, err := o.Credential(ctx, text)
	if err != nil {
		return a, err
	}
	key := tokenConversation(t.ID)
	var found bool
	var p Project
	err = o.look(ctx, func(tx *Tx) (err error) {
		if a, found, err = o.tables.Conversation(tx.t, key); err == nil {
			p, err = tx.projectByID(t.Project)
		}
		return err
	})
	// Another session may hold the seat that it was given.
	others := a.Life != nil && a.Life.Conversation != key && verdict(*a.Life) != roster.Gone
	if err != nil || found && !a.Retired && !others {
		return a, err
	}
	done, err := o.settle(ctx, event.Actor{}, p, func(tx *Tx) (roster.Decision, error) { return tx.seatToken(&t) })
	return done.Agent, err
}
