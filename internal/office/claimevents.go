package office

import (
	"strings"

	"bureau/internal/claim"
	"bureau/internal/event"
)

// fillClaimEvent puts into words what an event of a claims subject says.
func (tx *Tx) fillClaimEvent(v *EventView, e event.Event) error {
	short := func(id event.ID) string {
		s, err := tx.o.tables.Short(tx.t, id)
		if err != nil {
			return string(id)
		}
		return s
	}
	list := func(ids []event.ID) string {
		words := make([]string, 0, len(ids))
		for _, id := range ids {
			words = append(words, short(id))
		}
		return strings.Join(words, " ")
	}
	var err error
	switch e.Kind {
	case claim.KindGranted:
		var d claim.GrantedClaim
		if err = e.Decode(&d); err == nil {
			v.From, v.Text, v.Short = tx.nameOf(d.Holder), strings.Join(covered(&d.Claim), ", ")+": "+d.Intent, short(d.ID)
			if d.Auto {
				v.Text = strings.Join(covered(&d.Claim), ", ") + " (by an edit)"
			}
		}
	case claim.KindRenewed:
		var d claim.RenewedClaim
		if err = e.Decode(&d); err == nil {
			v.Short = short(d.Claim)
		}
	case claim.KindChanged:
		var d claim.ChangedClaim
		if err = e.Decode(&d); err == nil {
			v.Text, v.Short = strings.Join(covered(&claim.Claim{Want: d.Want}), ", ")+": "+d.Intent, short(d.Claim)
			if d.Relocated {
				v.Text += " (the work tree was moved to " + d.Want.Tree + ")"
			}
		}
	case claim.KindMoved:
		var d claim.MovedClaim
		if err = e.Decode(&d); err == nil {
			v.From, v.To, v.Text, v.Short = tx.nameOf(d.From), []string{tx.nameOf(d.To)}, d.Why, short(d.Claim)
		}
	case claim.KindParked:
		var d claim.ParkedClaims
		if err = e.Decode(&d); err == nil {
			v.Text = list(d.Claims) + " kept until " + d.Until.Format("15:04")
		}
	case claim.KindResumed:
		var d claim.ResumedClaims
		if err = e.Decode(&d); err == nil {
			v.Text = list(d.Claims)
		}
	case claim.KindEnded:
		var d claim.EndedClaim
		if err = e.Decode(&d); err == nil {
			v.From, v.Short = tx.nameOf(d.Holder), short(d.Claim)
			words := []string{strings.ReplaceAll(string(d.How), "_", " ")}
			if d.By != "" && d.By != d.Holder && d.How.Deed() {
				words = append(words, "by "+tx.nameOf(d.By))
			}
			v.Text = strings.Join(words, " ")
			if d.Summary != "" {
				v.Text += ": " + d.Summary
			}
			if d.Probe != nil && d.Probe.Saw != "" {
				v.Text += " (seen: " + d.Probe.Saw + ")"
			}
		}
	case claim.KindWaiting:
		var d claim.WaitingFor
		if err = e.Decode(&d); err == nil {
			v.From, v.Text = tx.nameOf(d.Agent), strings.Join(covered(&claim.Claim{Want: d.Want}), ", ")+": "+d.Intent
		}
	case claim.KindWaitEnded:
		var d claim.WaitEnded
		if err = e.Decode(&d); err == nil {
			v.Text = d.How
		}
	case claim.KindRules:
		var d claim.RulesSet
		if err = e.Decode(&d); err == nil {
			v.Text = "guard " + string(d.Rules.Guard) + ", work trees " + string(d.Rules.Worktrees)
		}
	}
	return err
}
