package office

import (
	"slices"
	"strings"
	"time"

	"bureau/internal/claim"
	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/presence"
	"bureau/internal/proc"
	"bureau/internal/roster"
)

// Mirror keeps lock files in another program's layout beside the claims of a
// project. root is the project's, tree a work tree of it ("" for none in
// particular); the other work trees of the repository count as well. What it
// cannot do it reports; the claims of the office stand all the same.
type Mirror interface {
	// Foreign lists the locks that other programs hold.
	Foreign(root, tree string, r claim.Rules) ([]claim.Foreign, error)
	// Missing lists what a lock file was written for, claims and agents (see
	// Edited), that is not there any more or is another program's now.
	Missing(root, tree string, r claim.Rules) ([]event.ID, error)
	// Granted writes the lock file of a claim. lost says that another program's
	// lock, or another office's, on the same name or files was there first.
	Granted(root string, r claim.Rules, l MirroredClaim) (lost bool, err error)
	// Edited brings the one lock file of all that edits claimed for an agent up
	// to date; without files it is removed. of is called only where there are
	// lock files.
	Edited(root string, r claim.Rules, of func() (MirroredEdits, error)) error
	// Ended removes the file of a claim and keeps an account of the work.
	Ended(root string, r claim.Rules, l MirroredClaim, how claim.How, summary string) error
	// Beat refreshes the lock files of ours whose claims live, gives how many
	// they are, takes back what was said ahead for those that do not, and removes
	// the files of what is over. pulses
	// says how it is with the claims and agents that it knows; it is not called
	// where there are none.
	Beat(root string, r claim.Rules, pulses func(ids []event.ID) (map[event.ID]Pulse, error)) (beaten int, err error)
}

// Pulse says whether a claim's holder counts as living for other programs, and
// its MirroredClaim.Until.
type Pulse struct {
	Lives bool
	Until time.Time
	// Over says that nothing of it is held any more, or that no file of it is
	// wanted: the file goes. How and Summary are for the account of the work.
	Over    bool
	How     claim.How
	Summary string
}

// MirroredEdits is what edits claimed for an agent in a project, with what its
// lock file says.
type MirroredEdits struct {
	Agent      event.ID
	HolderName string
	Process    roster.Process
	Since      time.Time // of the first of them
	Until      time.Time // see MirroredClaim
	TTL        time.Duration
	Files      []MirroredFile
}

// MirroredFile is a file in a work tree, by its name there, with since when it is
// claimed.
type MirroredFile struct {
	Tree, Path string
	Since      time.Time
}

// MirroredClaim is a claim with what a lock file says about its holder.
type MirroredClaim struct {
	claim.Claim
	HolderName string
	Process    roster.Process
	Session    string
	// Until is when other programs may take the holder for dead if nothing of
	// ours says more. Zero: three minutes from now, as a server of the holder's
	// own session goes on saying so.
	Until time.Time
	// Ours tells of a claim in a lock that a bureau wrote whether it is one of this
	// office; nil: they all are.
	Ours func(id event.ID) (bool, error)
}

// ClaimScope names the claims that a project's work shares; work outside of
// any project shares one too.
func ClaimScope(p Project) string {
	if p.ID == "" {
		return "office"
	}
	return "project-" + p.ID
}

// by says in whose name a caller holds claims: its agent's, for the
// conversation that it is and those that it goes on from.
func (tx *Tx) by(c Caller) (claim.By, error) {
	b, err := tx.byAgent(&c.Agent)
	b.Human, b.Shell = c.Human, c.shell
	return b, err
}

func (tx *Tx) byAgent(a *roster.Agent) (claim.By, error) {
	b := claim.By{Agent: a.ID}
	if a.Life == nil || a.Life.Conversation == "" {
		return b, nil
	}
	b.Conversations = append([]string{a.Life.Conversation}, a.Life.Earlier...)
	main, _, sub := strings.Cut(a.Life.Conversation, "/")
	if !sub {
		return b, nil
	}
	parent, found, err := tx.o.tables.Conversation(tx.t, main)
	if err != nil || !found || parent.ID == a.ID {
		return b, err
	}
	b.For = parent.ID
	b.Conversations = append(b.Conversations, main)
	if parent.Life != nil && parent.Life.Conversation == main {
		b.Conversations = append(b.Conversations, parent.Life.Earlier...)
	}
	return b, nil
}

// evidence is what this machine knows of the holders, for one decision.
func (tx *Tx) evidence() claim.Evidence {
	return claim.Evidence{Sign: tx.sign, Waiting: tx.placeHeld, Name: tx.nameOf}
}

// longestStep is how long a turn goes on without a hook: one tool call, or one
// answer. A turn that its user interrupts ends without any, so a session that
// is busy by its hooks and silent for longer was interrupted.
const longestStep = time.Hour

// sign tells of the life of a claim's holder.
func (tx *Tx) sign(c *claim.Claim) claim.Sign {
	a, found, err := tx.o.tables.Agent(tx.t, c.Holder)
	if err != nil || !found {
		return claim.Sign{Process: claim.Unknown}
	}
	if a.Retired {
		return claim.Sign{Process: claim.Gone}
	}
	s := claim.Sign{Process: claim.Unknown}
	if c.Conversation != "" {
		if a.Life == nil || a.Life.Conversation != c.Conversation && !slices.Contains(a.Life.Earlier, c.Conversation) {
			return claim.Sign{Process: claim.Gone} // its conversation ended, or its seat is another's
		}
		s.Process = claim.Verdict(tx.sessionVerdict(&a))
	} else if named := namedProcess(&a); !named.Zero() {
		s.Process = claim.Verdict(presence.Verdict(named))
	}
	live, err := tx.o.Live(tx.t.Context())
	if err != nil {
		return s
	}
	sights, err := live.Sights(tx.t.Context(), c.Holder)
	if err != nil {
		return s
	}
	seen, known := sights[c.Holder]
	s.At, s.Watched = seen.At, seen.Awake
	if !known || s.Watched == 0 {
		// Never seen since this machine started: it has been awake that long.
		s.Watched = min(proc.Awake(), max(tx.now.Sub(c.Renewed), 0))
	}
	lives, err := live.Lives(tx.t.Context(), c.Holder)
	if err != nil {
		return s
	}
	for _, l := range lives {
		if presence.Verdict(l.Process) == roster.Alive {
			if c.Conversation == "" {
				s.Process = claim.Alive
			}
			atWork := l.Role == presence.Client && l.Status == presence.Busy && a.Life != nil && l.Process == a.Life.Process &&
				tx.now.Sub(later(s.At, c.Renewed)) < longestStep
			if l.Role == presence.Waiter || atWork {
				s.At = later(s.At, tx.now) // it is at work this very moment
			}
		}
	}
	return s
}

// left refuses whoever's session has ended meanwhile, as while it waited: what
// it got would be nobody's.
func (tx *Tx) left(c Caller) (refusal, err error) {
	if c.Agent.Life == nil || c.Agent.Life.Conversation == "" {
		return nil, nil
	}
	a, found, err := tx.o.tables.Agent(tx.t, c.Agent.ID)
	if err != nil {
		return nil, err
	}
	was := c.Agent.Life.Conversation
	if found && a.Life != nil && (a.Life.Conversation == was || slices.Contains(a.Life.Earlier, was)) {
		return nil, nil
	}
	return fault.New(fault.Denied, "the session of %s has ended", c.Agent.Name).WithHint("claim it from the session that goes on"), nil
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// placeHeld reports whether somebody still waits at a place in the queue. The
// process that takes one says so before it takes it.
func (tx *Tx) placeHeld(w *claim.Wait) bool {
	live, err := tx.o.Live(tx.t.Context())
	if err != nil {
		return true
	}
	held, err := live.PlaceHeld(tx.t.Context(), w.ID)
	return held || err != nil
}

// endClaims is what a session's end does to its claims, in every project; by
// says whose. final: nobody can come back.
func (tx *Tx) endClaims(by claim.By, final bool) error {
	scopes, err := tx.o.tables.HolderScopes(tx.t, by.Agent)
	if err != nil {
		return err
	}
	for _, s := range scopes {
		if _, err := tx.onClaims(s, by, claim.EndSession{Final: final}, claim.Evidence{}); err != nil {
			return err
		}
		tx.beatLater(s)
	}
	return nil
}

// resumeClaims takes up what was parked for an agent's conversation.
func (tx *Tx) resumeClaims(a *roster.Agent) error {
	scopes, err := tx.o.tables.HolderScopes(tx.t, a.ID)
	if err != nil || len(scopes) == 0 {
		return err
	}
	by, err := tx.byAgent(a)
	if err != nil {
		return err
	}
	for _, s := range scopes {
		if _, err := tx.onClaims(s, by, claim.Resume{}, claim.Evidence{}); err != nil {
			return err
		}
	}
	return nil
}
