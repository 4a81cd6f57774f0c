package projection

import (
	"encoding/json"

	"bureau/internal/db"
	"bureau/internal/event"
	"bureau/internal/roster"
)

func (p *Projection) applyTokens(tx *db.Tx, rec *event.Record) error {
	for _, e := range rec.Events {
		var t roster.Token
		var revoked roster.TokenRevoked
		var err error
		switch {
		case e.Kind == roster.KindTokenIssued && e.Decode(&t) == nil && t.ID != "":
			if err = p.putToken(tx, &t); err == nil {
				err = p.addIdent(tx, t.ID, "token")
			}
		case e.Kind == roster.KindTokenRevoked && e.Decode(&revoked) == nil:
			var found bool
			if t, found, err = p.Token(tx, revoked.Token); err == nil && found && t.Revoked.IsZero() {
				t.Revoked = revoked.At
				err = p.putToken(tx, &t)
			}
		default:
			err = p.noteUnknown(tx, rec.Subject, e.Kind)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *Projection) putToken(tx *db.Tx, t *roster.Token) error {
	state, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return p.exec(tx, `INSERT OR REPLACE INTO ~token (id, state) VALUES (?, ?)`, t.ID, string(state))
}

// Token finds a token by its id.
func (p *Projection) Token(tx *db.Tx, id event.ID) (t roster.Token, found bool, err error) {
	var state string
	found, err = p.one(tx, `SELECT state FROM ~token WHERE id = ?`, []any{id}, &state)
	if err == nil && found {
		err = json.Unmarshal([]byte(state), &t)
	}
	return t, found, err
}

// Tokens lists all tokens, the newest first.
func (p *Projection) Tokens(tx *db.Tx) (list []roster.Token, err error) {
	err = p.each(tx, `SELECT state FROM ~token ORDER BY id DESC`, nil, func(r db.Row) error {
		var state string
		var t roster.Token
		if err := r.Scan(&state); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(state), &t); err != nil {
			return err
		}
		list = append(list, t)
		return nil
	})
	return list, err
}
