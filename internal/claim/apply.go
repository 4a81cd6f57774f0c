package claim

import (
	"slices"
	"time"

	"bureau/internal/event"
)

// Store is where the state of one project's claims is kept.
type Store interface {
	Claim(id event.ID) (c Claim, found bool, err error)
	Put(c Claim) error // a live claim, new or changed
	// Finish ends a live claim and archives it, or replaces what is archived.
	Finish(f Finished) error
	// Lost lists the archived claims of an agent ("" for anybody's) that are
	// marked as lost, and Regain unmarks one.
	Lost(agent event.ID) ([]Finished, error)
	Regain(id event.ID) error
	PutWait(w Wait) error
	DropWait(id event.ID) error
	PutRules(r Rules) error
}

// Apply folds one event of a claims subject; known is false for a kind that
// this version does not know. at and seq are the record's.
func Apply(s Store, e event.Event, at time.Time, seq event.Seq) (known bool, err error) {
	switch e.Kind {
	case KindGranted:
		var d GrantedClaim
		if err := e.Decode(&d); err != nil {
			return false, nil
		}
		d.Token = seq
		if err := regain(s, &d.Claim); err != nil {
			return true, err
		}
		if d.Wait != "" {
			if err := s.DropWait(d.Wait); err != nil {
				return true, err
			}
		}
		return true, s.Put(d.Claim)
	case KindRenewed:
		var d RenewedClaim
		if err := e.Decode(&d); err != nil {
			return false, nil
		}
		return true, update(s, d.Claim, func(c *Claim) {
			c.Renewed, c.Parked = later(c.Renewed, at), time.Time{}
			if d.TTL > 0 {
				c.TTL = d.TTL
			}
		})
	case KindChanged:
		var d ChangedClaim
		if err := e.Decode(&d); err != nil {
			return false, nil
		}
		err := update(s, d.Claim, func(c *Claim) {
			c.Want, c.Intent, c.Task, c.Files, c.TTL, c.Keep, c.Auto = d.Want, d.Intent, d.Task, d.Files, d.TTL, d.Keep, d.Auto
			if !d.Relocated {
				c.Renewed, c.Parked = later(c.Renewed, at), time.Time{}
			}
		})
		if err == nil && d.Relocated {
			err = relocateLost(s, &d)
		}
		if err != nil || d.Relocated {
			return true, err
		}
		c, found, err := s.Claim(d.Claim)
		if err != nil || !found {
			return true, err
		}
		return true, regain(s, &c)
	case KindMoved:
		var d MovedClaim
		if err := e.Decode(&d); err != nil {
			return false, nil
		}
		return true, update(s, d.Claim, func(c *Claim) {
			c.Holder, c.For, c.Conversation, c.Token, c.Renewed, c.Parked, c.Auto = d.To, d.For, d.Conversation, seq, later(c.Renewed, at), time.Time{}, false
		})
	case KindParked:
		var d ParkedClaims
		if err := e.Decode(&d); err != nil {
			return false, nil
		}
		return true, updateAll(s, d.Claims, func(c *Claim) { c.Parked = d.Until })
	case KindResumed:
		var d ResumedClaims
		if err := e.Decode(&d); err != nil {
			return false, nil
		}
		return true, updateAll(s, d.Claims, func(c *Claim) { c.Parked, c.Renewed = time.Time{}, later(c.Renewed, at) })
	case KindEnded:
		var d EndedClaim
		if err := e.Decode(&d); err != nil {
			return false, nil
		}
		c, found, err := s.Claim(d.Claim)
		if err != nil || !found {
			return true, err
		}
		return true, s.Finish(Finished{
			Claim: c, At: at, How: d.How, By: d.By, Summary: d.Summary, Probe: d.Probe,
			Lost: slices.Contains([]How{Taken, Broken, Expired, Overtaken}, d.How) && d.By != c.Holder,
		})
	case KindWaiting:
		var d WaitingFor
		if err := e.Decode(&d); err != nil {
			return false, nil
		}
		d.Seq = seq
		return true, s.PutWait(d.Wait)
	case KindWaitEnded:
		var d WaitEnded
		if err := e.Decode(&d); err != nil {
			return false, nil
		}
		return true, s.DropWait(d.Wait)
	case KindRules:
		var d RulesSet
		if err := e.Decode(&d); err != nil {
			return false, nil
		}
		return true, s.PutRules(d.Rules)
	}
	return false, nil
}

// regain takes back the mark of what a holder lost and has now again, all of
// it.
func regain(s Store, c *Claim) error {
	if c.Auto {
		return nil
	}
	lost, err := s.Lost(c.Holder)
	if err != nil {
		return err
	}
	mine := c.Want
	mine.Mode = Exclusive // a shared claim gives it back as well
	for i := range lost {
		if covers(&mine, &lost[i].Want) {
			if err := s.Regain(lost[i].ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// relocateLost says of a claim that was lost where its work tree is now, so that
// its token stays dead there.
func relocateLost(s Store, d *ChangedClaim) error {
	lost, err := s.Lost("")
	if err != nil {
		return err
	}
	for i := range lost {
		if lost[i].ID == d.Claim {
			lost[i].Want = d.Want
			return s.Finish(lost[i])
		}
	}
	return nil
}

func update(s Store, id event.ID, change func(*Claim)) error {
	c, found, err := s.Claim(id)
	if err != nil || !found {
		return err
	}
	change(&c)
	return s.Put(c)
}

func updateAll(s Store, ids []event.ID, change func(*Claim)) error {
	for _, id := range ids {
		if err := update(s, id, change); err != nil {
			return err
		}
	}
	return nil
}
