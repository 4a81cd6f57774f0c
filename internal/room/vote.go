package room

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"bureau/internal/fault"
	"bureau/internal/name"
)

// Propose puts something to the vote of everybody who is there, the human
// included where he is a member. It needs the floor in a strict room, except
// from the moderator and the human, and does not pass it on.
type Propose struct {
	By   Caller
	Text string
	// Quorum is how many must vote for a result; 0: more than half of the
	// voters.
	Quorum int
	// Time until the deadline; 0: DefaultVoteTime. At most 30 days.
	Time time.Duration
}

func (c Propose) by() Caller   { return c.By }
func (c Propose) speaks() bool { return true }

func (c Propose) decide(d *decision) error {
	p := Proposal{Text: strings.TrimSpace(c.Text), Quorum: c.Quorum, Number: d.r.Proposed + 1}
	if c.Time == 0 {
		c.Time = DefaultVoteTime
	}
	switch n := utf8.RuneCountInString(p.Text); {
	case n == 0:
		return fault.New(fault.Invalid, "the proposal is empty").WithHint("say what is to be decided")
	case n > MaxProposal:
		return tooLong("proposal", n, MaxProposal)
	case !utf8.ValidString(p.Text):
		return fault.New(fault.Invalid, "the proposal is not valid UTF-8").WithHint("send it as UTF-8")
	case c.Time < time.Second || c.Time > maxDuration:
		return fault.New(fault.Invalid, "a vote of %s cannot be", c.Time).WithHint("choose between 1s and %s", maxDuration)
	}
	m, err := d.here(c.By)
	if err != nil {
		return err
	}
	if p.By = m.Handle; !m.Human && m.Handle != d.r.Moderator {
		if err := d.mayHold(m); err != nil {
			return err
		}
	}
	if len(d.r.Proposals) >= MaxProposals {
		return fault.New(fault.Conflict, "%d proposals are open in room %s", MaxProposals, d.r.Name).WithHint("vote on them first: bureau room show %s", d.r.Name)
	}
	for i := range d.r.Members {
		if v := &d.r.Members[i]; v.Expected() {
			p.Voters = append(p.Voters, v.Handle)
		}
	}
	if p.Quorum == 0 {
		p.Quorum = len(p.Voters)/2 + 1
	}
	if p.Quorum < 0 || p.Quorum > len(p.Voters) {
		return fault.New(fault.Invalid, "a quorum of %d cannot be reached by %d voters", p.Quorum, len(p.Voters)).WithHint("choose between 1 and %d", len(p.Voters))
	}
	p.Until = stamp(d.now.Add(c.Time))
	p.Seq = d.seq()
	d.emit(KindProposed, p)
	return nil
}

// Vote gives or changes a vote. It needs no turn. The vote ends when everybody
// has voted, when the votes still to come cannot change the result, or at the
// deadline.
type Vote struct {
	By     Caller
	Number int // of the proposal; 0: the only open one
	Choice Choice
}

func (c Vote) by() Caller   { return c.By }
func (c Vote) speaks() bool { return false }

// ParseChoice maps a word to a choice.
func ParseChoice(word string) (Choice, error) {
	switch c := Choice(strings.ToLower(strings.TrimSpace(word))); c {
	case Yes, No, Abstain:
		return c, nil
	}
	return "", oneOf("vote", clip(word), string(Yes), string(No), string(Abstain))
}

func (c Vote) decide(d *decision) error {
	choice, err := ParseChoice(string(c.Choice))
	if err != nil {
		return err
	}
	m, err := d.here(c.By)
	if err != nil {
		return err
	}
	b, err := d.ballot(c.Number)
	if err != nil {
		return err
	}
	if !slices.Contains(b.Voters, m.Handle) {
		return fault.New(fault.Denied, "%s was not there when proposal %d was made", At(m.Handle), b.Number).
			WithHint("its voters are %s", ats(b.Voters))
	}
	if slices.Contains(b.Votes, Cast{m.Handle, choice}) {
		return nil
	}
	d.emit(KindVoted, Voted{Seq: d.seq(), Number: b.Number, By: m.Handle, Choice: choice})
	b, _ = d.r.ballot(b.Number)
	if t := tally(b); t.certain() {
		d.result(b.Number, "votes")
	}
	return nil
}

func (d *decision) ballot(number int) (Ballot, error) {
	if number == 0 && len(d.r.Proposals) == 1 {
		return d.r.Proposals[0], nil
	}
	if b, ok := d.r.ballot(number); ok {
		return b, nil
	}
	switch {
	case number == 0 && len(d.r.Proposals) > 1:
		return Ballot{}, fault.New(fault.Conflict, "%d proposals are open in room %s", len(d.r.Proposals), d.r.Name).WithHint("say which: bureau room vote %s NUMBER yes", d.r.Name)
	case number > 0 && number <= d.r.Proposed:
		return Ballot{}, fault.New(fault.Conflict, "the vote on proposal %d is over", number).WithHint("bureau room history %s shows the result", d.r.Name)
	}
	return Ballot{}, fault.New(fault.NotFound, "no open proposal in room %s", d.r.Name).WithHint("make one: bureau room propose %s TEXT", d.r.Name)
}

func (r *Room) ballot(number int) (Ballot, bool) {
	for _, b := range r.Proposals {
		if b.Number == number {
			return b, true
		}
	}
	return Ballot{}, false
}

// count is where a vote stands.
type count struct {
	yes, no, abstain, left, quorum int
}

func tally(b Ballot) count {
	c := count{quorum: b.Quorum, left: len(b.Voters) - len(b.Votes)}
	for _, v := range b.Votes {
		switch v.Choice {
		case Yes:
			c.yes++
		case No:
			c.no++
		case Abstain:
			c.abstain++
		}
	}
	return c
}

// outcome is the result if no further vote comes.
func (c count) outcome() Outcome {
	switch {
	case c.yes+c.no+c.abstain < c.quorum:
		return NoQuorum
	case c.yes > c.no:
		return Accepted
	}
	return Rejected
}

// certain reports whether no further vote can change the outcome.
func (c count) certain() bool {
	if c.left == 0 {
		return true
	}
	if c.yes+c.no+c.abstain < c.quorum {
		return false
	}
	return c.yes-c.no > c.left || c.no-c.yes >= c.left
}

// result ends a vote.
func (d *decision) result(number int, why string) {
	b, _ := d.r.ballot(number)
	c := tally(b)
	ev := Decided{Number: number, Outcome: c.outcome(), Yes: c.yes, No: c.no, Abstain: c.abstain, Quorum: c.quorum, Why: why}
	if why == "closed" {
		ev.Outcome = Dropped
	}
	for _, v := range b.Voters {
		if !slices.ContainsFunc(b.Votes, func(x Cast) bool { return x.By == v }) {
			ev.Missing = append(ev.Missing, v)
		}
	}
	ev.Seq = d.seq()
	d.emit(KindDecided, ev)
}

// Undecided lists the open proposals that a member has still to vote on.
func Undecided(r *Room, h name.Name) []int {
	var out []int
	for _, b := range r.Proposals {
		voted := slices.ContainsFunc(b.Votes, func(c Cast) bool { return c.By == h })
		if slices.Contains(b.Voters, h) && !voted {
			out = append(out, b.Number)
		}
	}
	return out
}
