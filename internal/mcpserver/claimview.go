package mcpserver

import (
	"time"

	"bureau/internal/claim"
	"bureau/internal/event"
	"bureau/internal/office"
	"bureau/internal/quote"
)

// held is a claim, as held or as it was. Its paths begin at the root of the
// work tree.
type held struct {
	ID        string     `json:"id,omitempty"`
	Lock      string     `json:"lock,omitempty"` // another program's lock instead
	Holder    string     `json:"holder"`
	Mine      bool       `json:"mine,omitempty"`
	Paths     []string   `json:"paths,omitempty"`
	Resources []string   `json:"resources,omitempty"`
	More      int        `json:"more,omitempty"` // that were left out
	Shared    bool       `json:"shared,omitempty"`
	Project   string     `json:"project,omitempty"` // where it is not the caller's own
	Tree      string     `json:"tree,omitempty"`    // likewise
	Intent    string     `json:"intent,omitempty"`
	Task      string     `json:"task,omitempty"`
	Since     time.Time  `json:"since,omitzero"`
	LastSign  *time.Time `json:"last_sign,omitempty"`
	Until     *time.Time `json:"until,omitempty"`
	Standing  string     `json:"standing,omitempty"`
	Lapsed    bool       `json:"lapsed,omitempty"`
	Auto      bool       `json:"auto,omitempty"` // made by a guard for an edit
	Keep      bool       `json:"keep,omitempty"`
	Token     event.Seq  `json:"token,omitempty"`
	Meets     []block    `json:"meets_in_other_worktrees,omitempty"`
	Note      string     `json:"note,omitempty"`

	EndedAt *time.Time `json:"ended_at,omitempty"`
	How     string     `json:"how,omitempty"`
	By      string     `json:"by,omitempty"`
	Summary string     `json:"summary,omitempty"`
}

// maxCovered bounds how many paths and resources of one claim are listed, and
// maxBlocks how many claims in the way.
const (
	maxCovered = 20
	maxBlocks  = 10
)

func (c *call) heldList(list []office.ClaimView) []held {
	out := make([]held, len(list))
	for i := range list {
		out[i] = c.heldOf(&list[i])
	}
	return out
}

func (c *call) heldOf(v *office.ClaimView) held {
	h := held{
		ID: string(v.ID), Lock: line(v.Lock), Holder: line(v.Holder), Mine: v.Mine, Shared: v.Mode == claim.Shared, Intent: quote.Text(v.Intent),
		Task: line(v.Task), Since: v.Since.Truncate(time.Second), Standing: string(v.Standing), Lapsed: v.Lapsed, Auto: v.Auto, Keep: v.Keep, Token: v.Token,
		Meets: blocksOf(v.Meets), Note: v.Note, How: string(v.How), By: line(v.By), Summary: line(v.Summary),
	}
	h.Paths, h.More = someOf(v.Paths)
	var more int
	h.Resources, more = someOf(v.Resources)
	h.More += more
	if v.Tree != c.tree() && len(v.Paths) > 0 {
		h.Tree = quote.Text(v.Tree)
	}
	if !v.In(c.caller.Project) {
		h.Project = line(v.Project)
	}
	if v.EndedAt == nil {
		h.LastSign, h.Until = moment(v.LastSign), moment(v.Deadline)
	} else {
		h.EndedAt = moment(*v.EndedAt)
	}
	return h
}

func someOf(list []string) (out []string, more int) {
	if len(list) > maxCovered {
		list, more = list[:maxCovered], len(list)-maxCovered
	}
	for _, s := range list {
		out = append(out, line(s))
	}
	return out, more
}

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.Truncate(time.Second)
	return &t
}

// block is what stands in the way of a claim: somebody's claim, their place
// before the caller in the queue, or another program's lock.
type block struct {
	Claim    string     `json:"claim,omitempty"`
	Queue    bool       `json:"first_in_queue,omitempty"`
	Lock     string     `json:"lock,omitempty"`
	Holder   string     `json:"holder"`
	Intent   string     `json:"intent"`
	Shared   bool       `json:"shared,omitempty"`
	Overlap  []string   `json:"overlap"`
	Project  string     `json:"project,omitempty"` // where it is not the caller's own
	Yours    []string   `json:"yours,omitempty"`   // what of the caller's own the one in the queue waits for too
	Own      bool       `json:"own_subagent,omitempty"`
	Tree     string     `json:"tree,omitempty"`
	Since    time.Time  `json:"since,omitzero"`
	LastSign *time.Time `json:"last_sign,omitempty"`
	Standing string     `json:"standing"`
	Lapsed   bool       `json:"lapsed,omitempty"`
	Auto     bool       `json:"auto,omitempty"`
	Keep     bool       `json:"keep,omitempty"`
	Saw      string     `json:"saw,omitempty"` // what a look at the thing itself found
}

func blocksOf(list []claim.Block) (out []block) {
	for i := range list {
		if i == maxBlocks {
			break
		}
		b := &list[i]
		x := block{
			Claim: string(b.Claim), Queue: b.Waiting != "", Lock: line(b.Foreign), Holder: line(b.Name), Intent: line(b.Intent), Shared: b.Mode == claim.Shared,
			Project: line(b.Project), Tree: quote.Text(b.Tree), Since: b.Since.Truncate(time.Second), LastSign: moment(b.Last), Standing: string(b.Standing), Lapsed: b.Lapsed, Auto: b.Auto, Keep: b.Keep, Own: b.Own,
		}
		for _, s := range few(b.Overlap) {
			x.Overlap = append(x.Overlap, line(s))
		}
		for _, s := range few(b.Yours) {
			x.Yours = append(x.Yours, line(s))
		}
		if b.Probe != nil {
			x.Saw = line(b.Probe.Saw)
		}
		out = append(out, x)
	}
	return out
}

// inLine is somebody who stands in line for what others hold.
type inLine struct {
	Waiter  string    `json:"waiter"`
	Mine    bool      `json:"mine,omitempty"`
	For     []string  `json:"for"`
	Shared  bool      `json:"shared,omitempty"`
	Intent  string    `json:"intent"`
	Project string    `json:"project,omitempty"`
	Since   time.Time `json:"since"`
}

func lineOf(list []office.WaitView) (out []inLine) {
	for i := range list {
		if i == maxBlocks {
			break
		}
		w := &list[i]
		x := inLine{Waiter: line(w.Waiter), Mine: w.Mine, Shared: w.Mode == claim.Shared, Intent: line(w.Intent), Project: line(w.Project), Since: w.Since.Truncate(time.Second)}
		for _, s := range few(w.Covered()) {
			x.For = append(x.For, line(s))
		}
		out = append(out, x)
	}
	return out
}
