package office

import (
	"time"

	"bureau/internal/claim"
	"bureau/internal/event"
)

// WaitView is somebody who stands in line for what others hold, or for what
// somebody waits for who came before. Whoever asks for the same is behind it.
type WaitView struct {
	ID        event.ID   `json:"id"` // of the place in the queue
	Waiter    string     `json:"waiter"`
	Project   string     `json:"project"` // name, "" for none
	Paths     []string   `json:"paths,omitempty"`
	Resources []string   `json:"resources,omitempty"`
	Mode      claim.Mode `json:"mode"`
	Tree      string     `json:"tree,omitempty"`
	Intent    string     `json:"intent"`
	Since     time.Time  `json:"since"`
	Until     time.Time  `json:"until"` // at most so long
	Mine      bool       `json:"mine,omitempty"`
}

// Covered lists what it waits for.
func (v *WaitView) Covered() []string { return append(append([]string{}, v.Paths...), v.Resources...) }

// waitViews gives those of a scope's places that are still waited for, first
// come first, and that meant accepts.
func (tx *Tx) waitViews(caller Caller, scope string, meant func(w *claim.Wait) bool) (out []WaitView, err error) {
	waits, err := tx.o.tables.Claims(tx.t, scope).Waits()
	if err != nil || len(waits) == 0 {
		return nil, err
	}
	p, err := tx.scopeProject(scope)
	if err != nil {
		return nil, err
	}
	for i := range waits {
		w := &waits[i]
		if !tx.now.Before(w.Until) || !meant(w) || !tx.placeHeld(w) {
			continue
		}
		v := WaitView{
			ID: w.ID, Waiter: tx.nameOf(w.Agent), Project: p.Name, Mode: w.Want.Mode, Tree: w.Want.Tree, Intent: w.Intent, Since: w.Since, Until: w.Until,
			Mine: w.Agent == caller.Agent.ID,
		}
		for _, x := range w.Want.Paths {
			v.Paths = append(v.Paths, w.Want.Show(x))
		}
		for _, x := range w.Want.Resources {
			v.Resources = append(v.Resources, string(x))
		}
		out = append(out, v)
	}
	return out, nil
}
