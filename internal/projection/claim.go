package projection

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"bureau/internal/claim"
	"bureau/internal/db"
	"bureau/internal/event"
)

// Claims gives the state of one project's claims inside a transaction. It is a
// claim.View and a claim.Store.
func (p *Projection) Claims(tx *db.Tx, scope string) Claims {
	return Claims{p: p, tx: tx, scope: scope}
}

// Claims is the state of one project's claims.
type Claims struct {
	p     *Projection
	tx    *db.Tx
	scope string
}

func (p *Projection) applyClaims(tx *db.Tx, rec *event.Record) error {
	s := p.Claims(tx, strings.TrimPrefix(string(rec.Subject), "claims."))
	for _, e := range rec.Events {
		known, err := claim.Apply(s, e, rec.Time, rec.Seq)
		if err == nil && !known {
			err = p.noteUnknown(tx, rec.Subject, e.Kind)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Rules implements claim.View.
func (s Claims) Rules() (claim.Rules, error) {
	r := claim.DefaultRules()
	var raw string
	found, err := s.p.one(s.tx, `SELECT rules FROM ~claim_rules WHERE scope = ?`, []any{s.scope}, &raw)
	if err != nil || !found {
		return r, err
	}
	return r, json.Unmarshal([]byte(raw), &r)
}

// PutRules implements claim.Store.
func (s Claims) PutRules(r claim.Rules) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return s.p.exec(s.tx, `INSERT OR REPLACE INTO ~claim_rules (scope, rules) VALUES (?, ?)`, s.scope, string(raw))
}

// Claim implements claim.View and claim.Store.
func (s Claims) Claim(id event.ID) (c claim.Claim, found bool, err error) {
	list, err := s.list(`SELECT state FROM ~claim WHERE id = ? AND scope = ?`, id, s.scope)
	if err != nil || len(list) == 0 {
		return c, false, err
	}
	return list[0], true, nil
}

func (s Claims) list(q string, args ...any) (out []claim.Claim, err error) {
	err = s.p.each(s.tx, q, args, func(r db.Row) error {
		var raw string
		if err := r.Scan(&raw); err != nil {
			return err
		}
		var c claim.Claim
		if err := json.Unmarshal([]byte(raw), &c); err != nil {
			return err
		}
		out = append(out, c)
		return nil
	})
	return out, err
}

// Held implements claim.View.
func (s Claims) Held(agent event.ID) ([]claim.Claim, error) {
	return s.list(`SELECT state FROM ~claim WHERE holder = ? AND scope = ? ORDER BY token, id`, agent, s.scope)
}

// HeldCount implements claim.View.
func (s Claims) HeldCount(agent event.ID) (n int, err error) {
	_, err = s.p.one(s.tx, `SELECT count(*) FROM ~claim WHERE holder = ? AND scope = ?`, []any{agent, s.scope}, &n)
	return n, err
}

// Parked implements claim.View.
func (s Claims) Parked(before time.Time) ([]claim.Claim, error) {
	return s.list(`SELECT state FROM ~claim WHERE parked > 0 AND parked <= ? AND scope = ? ORDER BY token, id`, before, s.scope)
}

// Touching implements claim.View: the claims on the same things, on folders
// above the wanted ones, and on what is below them.
func (s Claims) Touching(w *claim.Want) ([]claim.Claim, error) {
	ids := map[event.ID]bool{}
	collect := func(q string, args ...any) error {
		return s.p.each(s.tx, q, args, func(r db.Row) error {
			var id event.ID
			if err := r.Scan(&id); err != nil {
				return err
			}
			ids[id] = true
			return nil
		})
	}
	asked := map[string]bool{}
	for _, p := range w.Paths {
		prefix := p.Fold().Prefix()
		for at := prefix; ; {
			if !asked[at] {
				asked[at] = true
				if err := collect(`SELECT claim FROM ~claim_item WHERE scope = ? AND kind = 'p' AND prefix = ?`, s.scope, at); err != nil {
					return nil, err
				}
			}
			if at == "" {
				break
			}
			at = at[:max(strings.LastIndexByte(at, '/'), 0)]
		}
		low, high := prefix+"/", prefix+"0" // '0' comes after '/'
		if prefix == "" {
			low, high = "", "\U0010FFFF"
		}
		if err := collect(`SELECT claim FROM ~claim_item WHERE scope = ? AND kind = 'p' AND prefix >= ? AND prefix < ?`, s.scope, low, high); err != nil {
			return nil, err
		}
	}
	for _, r := range w.Resources {
		if err := collect(`SELECT claim FROM ~claim_item WHERE scope = ? AND kind = 'r' AND prefix = ?`, s.thingScope(r), string(r)); err != nil {
			return nil, err
		}
	}
	out := make([]claim.Claim, 0, len(ids))
	for id := range ids {
		list, err := s.list(`SELECT state FROM ~claim WHERE id = ?`, id)
		if err != nil || len(list) == 0 {
			return nil, err
		}
		if len(w.Resources) > 0 { // only a thing leads to another project's claims
			if _, err := s.p.one(s.tx, `SELECT scope <> ? FROM ~claim WHERE id = ?`, []any{s.scope, id}, &list[0].Elsewhere); err != nil {
				return nil, err
			}
		}
		out = append(out, list[0])
	}
	slices.SortFunc(out, claim.Older)
	return out, nil
}

// Put implements claim.Store.
func (s Claims) Put(c claim.Claim) error {
	old, found, err := s.Claim(c.ID)
	if err != nil {
		return err
	}
	if !found {
		if err := s.p.addIdent(s.tx, c.ID, "claim"); err != nil {
			return err
		}
	}
	raw, err := json.Marshal(&c)
	if err != nil {
		return err
	}
	err = s.p.exec(s.tx, `INSERT INTO ~claim (id, scope, holder, token, parked, auto, state) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET holder = excluded.holder, token = excluded.token, parked = excluded.parked,
			auto = excluded.auto, state = excluded.state`,
		c.ID, s.scope, c.Holder, c.Token, c.Parked, c.Auto, string(raw))
	if err != nil || found && slices.Equal(old.Paths, c.Paths) && slices.Equal(old.Resources, c.Resources) {
		return err
	}
	if err := s.dropItems(c.ID); err != nil {
		return err
	}
	for _, p := range c.Paths {
		if err := s.item(c.ID, s.scope, "p", p.Fold().Prefix()); err != nil {
			return err
		}
	}
	for _, r := range c.Resources {
		if err := s.item(c.ID, s.thingScope(r), "r", string(r)); err != nil {
			return err
		}
	}
	return nil
}

// thingScope is where the index keeps a thing: the machine's own are the same
// in every project.
func (s Claims) thingScope(r claim.Resource) string {
	if r.Machine() {
		return ""
	}
	return s.scope
}

func (s Claims) item(id event.ID, scope, kind, prefix string) error {
	return s.p.exec(s.tx, `INSERT OR IGNORE INTO ~claim_item (scope, kind, prefix, claim) VALUES (?, ?, ?, ?)`, scope, kind, prefix, id)
}

func (s Claims) dropItems(id event.ID) error {
	return s.p.exec(s.tx, `DELETE FROM ~claim_item WHERE claim = ?`, id)
}

// Finish implements claim.Store.
func (s Claims) Finish(f claim.Finished) error {
	if err := s.dropItems(f.ID); err != nil {
		return err
	}
	if err := s.p.exec(s.tx, `DELETE FROM ~claim WHERE id = ?`, f.ID); err != nil {
		return err
	}
	raw, err := json.Marshal(&f)
	if err != nil {
		return err
	}
	return s.p.exec(s.tx, `INSERT OR REPLACE INTO ~claim_done (id, scope, holder, at, lost, auto, state) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		f.ID, s.scope, f.Holder, f.At, f.Lost, f.Auto, string(raw))
}

func (s Claims) finished(q string, args ...any) (out []claim.Finished, err error) {
	err = s.p.each(s.tx, q, args, func(r db.Row) error {
		var raw string
		if err := r.Scan(&raw); err != nil {
			return err
		}
		var f claim.Finished
		if err := json.Unmarshal([]byte(raw), &f); err != nil {
			return err
		}
		out = append(out, f)
		return nil
	})
	return out, err
}

// Lost implements claim.View and claim.Store.
func (s Claims) Lost(agent event.ID) ([]claim.Finished, error) {
	return s.finished(`SELECT state FROM ~claim_done WHERE (?1 = '' OR holder = ?1) AND lost = 1 AND scope = ?2 ORDER BY at, id`, agent, s.scope)
}

// Regain implements claim.Store.
func (s Claims) Regain(id event.ID) error {
	list, err := s.finished(`SELECT state FROM ~claim_done WHERE id = ?`, id)
	if err != nil || len(list) == 0 {
		return err
	}
	list[0].Lost = false
	raw, err := json.Marshal(&list[0])
	if err != nil {
		return err
	}
	return s.p.exec(s.tx, `UPDATE ~claim_done SET lost = 0, state = ? WHERE id = ?`, string(raw), id)
}

// Waits implements claim.View.
func (s Claims) Waits() (out []claim.Wait, err error) {
	err = s.p.each(s.tx, `SELECT state FROM ~claim_wait WHERE scope = ? ORDER BY seq`, []any{s.scope}, func(r db.Row) error {
		var raw string
		if err := r.Scan(&raw); err != nil {
			return err
		}
		var w claim.Wait
		if err := json.Unmarshal([]byte(raw), &w); err != nil {
			return err
		}
		out = append(out, w)
		return nil
	})
	return out, err
}

// PutWait implements claim.Store.
func (s Claims) PutWait(w claim.Wait) error {
	raw, err := json.Marshal(&w)
	if err != nil {
		return err
	}
	return s.p.exec(s.tx, `INSERT OR REPLACE INTO ~claim_wait (id, scope, seq, state) VALUES (?, ?, ?, ?)`, w.ID, s.scope, w.Seq, string(raw))
}

// DropWait implements claim.Store.
func (s Claims) DropWait(id event.ID) error {
	return s.p.exec(s.tx, `DELETE FROM ~claim_wait WHERE id = ?`, id)
}

// LiveCursor is a place in the list of live claims.
type LiveCursor struct {
	Token event.Seq
	ID    event.ID
}

// Live lists up to limit of a project's claims (-1: all), oldest first, with or
// without those that a guard made, beginning after a place (zero: at the
// oldest).
func (s Claims) Live(auto bool, after LiveCursor, limit int) ([]claim.Claim, error) {
	return s.list(`SELECT state FROM ~claim WHERE scope = ? AND auto <= ? AND (token, id) > (?, ?) ORDER BY token, id LIMIT ?`,
		s.scope, auto, after.Token, after.ID, limit)
}

// Count counts a project's claims, with or without those that a guard made.
func (s Claims) Count(auto bool) (n int, err error) {
	_, err = s.p.one(s.tx, `SELECT count(*) FROM ~claim WHERE scope = ? AND auto <= ?`, []any{s.scope, auto}, &n)
	return n, err
}

// DoneCursor is a place in the list of finished claims.
type DoneCursor struct {
	At time.Time
	ID event.ID
}

// Done lists a project's finished claims without those that a guard made,
// newest first, beginning after a place (zero: at the newest), and says how
// many there are in all.
func (s Claims) Done(after DoneCursor, limit int) (list []claim.Finished, total int, err error) {
	if _, err := s.p.one(s.tx, `SELECT count(*) FROM ~claim_done WHERE scope = ? AND auto = 0`, []any{s.scope}, &total); err != nil {
		return nil, 0, err
	}
	if after.At.IsZero() {
		after.At = time.UnixMilli(1 << 52)
	}
	list, err = s.finished(`SELECT state FROM ~claim_done WHERE scope = ? AND auto = 0 AND (at, id) < (?, ?) ORDER BY at DESC, id DESC LIMIT ?`,
		s.scope, after.At, after.ID, limit)
	return list, total, err
}

// FinishedClaim finds a finished claim by its id, in any project.
func (p *Projection) FinishedClaim(tx *db.Tx, id event.ID) (f claim.Finished, scope string, found bool, err error) {
	var raw string
	found, err = p.one(tx, `SELECT scope, state FROM ~claim_done WHERE id = ?`, []any{id}, &scope, &raw)
	if err == nil && found {
		err = json.Unmarshal([]byte(raw), &f)
	}
	return f, scope, found, err
}

// ClaimScope gives the scope of a live claim.
func (p *Projection) ClaimScope(tx *db.Tx, id event.ID) (scope string, found bool, err error) {
	found, err = p.one(tx, `SELECT scope FROM ~claim WHERE id = ?`, []any{id}, &scope)
	return scope, found, err
}

// HolderScopes lists the projects in which an agent holds or waits for claims.
func (p *Projection) HolderScopes(tx *db.Tx, agent event.ID) (out []string, err error) {
	err = p.each(tx, `SELECT scope FROM ~claim WHERE holder = ?1
		UNION SELECT scope FROM ~claim_wait WHERE json_extract(state, '$.agent') = ?1 ORDER BY scope`, []any{agent}, func(r db.Row) error {
		var s string
		err := r.Scan(&s)
		out = append(out, s)
		return err
	})
	return out, err
}

// ClaimScopes lists the projects that have claims.
func (p *Projection) ClaimScopes(tx *db.Tx) (out []string, err error) {
	err = p.each(tx, `SELECT DISTINCT scope FROM ~claim ORDER BY scope`, nil, func(r db.Row) error {
		var s string
		err := r.Scan(&s)
		out = append(out, s)
		return err
	})
	return out, err
}

// BusyScopes lists the projects in which something is held or waited for, or an
// agent has lost something. It steps from one to the next, whatever number of
// claims they have.
func (p *Projection) BusyScopes(tx *db.Tx, agent event.ID) (out []string, err error) {
	err = p.each(tx, `WITH RECURSIVE held (scope) AS (
			SELECT min(scope) FROM ~claim
			UNION ALL SELECT (SELECT min(c.scope) FROM ~claim c WHERE c.scope > held.scope) FROM held WHERE held.scope IS NOT NULL)
		SELECT scope FROM held WHERE scope IS NOT NULL
		UNION SELECT scope FROM ~claim_wait
		UNION SELECT scope FROM ~claim_done WHERE holder = ? AND lost = 1`, []any{agent}, func(r db.Row) error {
		var s string
		err := r.Scan(&s)
		out = append(out, s)
		return err
	})
	return out, err
}
