package roster

import (
	"bureau/internal/event"
)

// Apply is what an event of the names subject does to the one agent that it
// is about. Events about other agents, and unknown kinds, leave it alone.
// KindRegistered is not handled: it makes the agent, see [FromRegistered].
func (a *Agent) Apply(e event.Event) error {
	switch e.Kind {
	case KindAttached:
		var d Attached
		if err := e.Decode(&d); err != nil {
			return err
		}
		if d.Agent != a.ID {
			return nil
		}
		a.Life = nil
		if d.Life.ID != "" {
			life := d.Life
			a.Life = &life
		}
		if d.Kind != "" {
			a.Kind = d.Kind
		}
		a.Project, a.Folder = d.Project, d.Folder
	case KindDetached:
		var d Detached
		if err := e.Decode(&d); err != nil {
			return err
		}
		if d.Agent == a.ID && a.Life != nil && a.Life.ID == d.Life {
			a.Life = nil
		}
	case KindRenamed:
		var d Renamed
		if err := e.Decode(&d); err != nil {
			return err
		}
		if d.Agent == a.ID {
			a.Name, a.Seat = d.To, d.To.Key()
		}
	case KindRetired:
		var d RetiredAgent
		if err := e.Decode(&d); err != nil {
			return err
		}
		if d.Agent == a.ID {
			a.Retired, a.Life = true, nil
		}
	}
	return nil
}

// FromRegistered makes the agent of a KindRegistered event.
func FromRegistered(rec *event.Record, e event.Event) (Agent, error) {
	var d Registered
	if err := e.Decode(&d); err != nil {
		return Agent{}, err
	}
	return Agent{ID: d.Agent, Name: d.Name, Kind: d.Kind, Seat: d.Seat, Project: d.Project, Folder: d.Folder, Created: rec.Time}, nil
}

// Touches gives the agent that an event of the names subject is about, "" for
// an unknown kind.
func Touches(e event.Event) event.ID {
	switch e.Kind {
	case KindRegistered, KindAttached, KindDetached, KindRenamed, KindRetired:
		var d struct {
			Agent event.ID `json:"agent"`
		}
		if e.Decode(&d) == nil {
			return d.Agent
		}
	}
	return ""
}
