package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"bureau/internal/claim"
	"bureau/internal/fault"
	"bureau/internal/git/place"
	"bureau/internal/office"
	"bureau/internal/quote"
)

func addClaimTools(s *server) {
	add(s, spec{
		name: "claim", title: "Claims",
		about: "Reserve what you are about to change, so nobody else does: all or nothing. Also list, see who holds a path, release.",
	}, claimTool)
}

type claimIn struct {
	Action    string   `json:"action,omitempty" jsonschema:"default: claim with paths or resources, else list; or who, extend, change, release, takeover, give, history"`
	Paths     []string `json:"paths,omitempty" jsonschema:"files, folders, globs"`
	Resources []string `json:"resources,omitempty" jsonschema:"like port:8080"`
	Intent    string   `json:"intent,omitempty" jsonschema:"what you will do; to claim"`
	IDs       []string `json:"ids,omitempty" jsonschema:"of claims"`
	Shared    bool     `json:"shared,omitempty"`
	TTL       int      `json:"ttl_minutes,omitempty"`
	Keep      *bool    `json:"keep,omitempty" jsonschema:"outlives your session while in use"`
	Task      string   `json:"task,omitempty"`
	Wait      int      `json:"wait_seconds,omitempty" jsonschema:"if others hold it"`
	Text      string   `json:"text,omitempty" jsonschema:"summary of the work, or reason"`
	Agent     string   `json:"agent,omitempty" jsonschema:"whose to list (me), whom to give to"`
	Limit     int      `json:"limit,omitempty"`
	Cursor    string   `json:"cursor,omitempty"`

	misread string
}

type claimOut struct {
	Status string  `json:"status,omitempty" jsonschema:"claimed, nothing yet, released, given"`
	Claims []held  `json:"claims"`
	Blocks []block `json:"blocks,omitempty"`
	// Line are those who stand in line; whoever asks later is behind.
	Line  []inLine `json:"waiting,omitempty"`
	Total int      `json:"total"`
	Next  string   `json:"next,omitempty"`
	Hint  string   `json:"hint,omitempty"`
}

// What became of a claim.
const (
	statusClaimed  = "claimed"
	statusReleased = "released"
	statusGiven    = "given"
)

// placeStays is how long a place in the queue is kept between two calls: a
// model that was told to call again thinks for a while.
const placeStays = 2 * time.Minute

// claimActions are what the tool does, by its word.
var claimActions = map[string]func(context.Context, *call, *claimIn) (claimOut, error){
	"claim": takeClaim, "list": listClaims, "history": listClaims, "who": whoHolds, "extend": extendClaims, "change": changeClaim,
	"release": releaseClaims, "takeover": takeOverClaim, "give": giveClaims,
}

func claimTool(ctx context.Context, c *call, in claimIn) (claimOut, error) {
	action := strings.ToLower(strings.TrimSpace(in.Action))
	switch {
	case action != "":
	case len(in.Paths)+len(in.Resources) > 0:
		action = "claim"
	case in.Intent == "" && len(in.IDs) == 0 && in.Text == "":
		action = "list"
	default:
		return claimOut{Claims: []held{}}, fault.New(fault.Invalid, "claim what?").WithHint("give paths or resources, or an action with ids")
	}
	do := claimActions[action]
	switch {
	case do == nil:
		return claimOut{Claims: []held{}}, fault.New(fault.Invalid, "no action %q", in.Action).
			WithHint("actions are claim, list, who, extend, change, release, takeover, give and history")
	case in.TTL < 0 || in.TTL > int(claim.MaxTTL/time.Minute):
		return claimOut{Claims: []held{}}, fault.New(fault.Invalid, "ttl_minutes cannot be %d: from 1 to %d", in.TTL, int(claim.MaxTTL/time.Minute))
	}
	in.Action = action
	out, err := do(ctx, c, &in)
	if out.Claims == nil {
		out.Claims = []held{}
	}
	if out.Total == 0 {
		out.Total = len(out.Claims)
	}
	note := c.readFrom(in.Paths)
	if len(in.Paths) == 0 && c.looked != nil {
		note = c.ofProject(*c.looked)
	}
	out.Hint = hints(out.Hint, note)
	return out, alsoHint(err, note)
}

func (in *claimIn) ttl() time.Duration { return time.Duration(in.TTL) * time.Minute }

// where gives the place that paths mean, and its project as the office knows it.
func (c *call) where(ctx context.Context, paths []string) (place.Place, office.Project, error) {
	at, err := place.For(c.folder, paths)
	if err != nil {
		return at, office.Project{}, err
	}
	p, err := c.o.SettleProject(ctx, at.Project)
	c.looked = &p
	return at, p, err
}

// want is what the arguments name. in.misread is set to what of it was read as
// a pattern though it may be a name.
func (c *call) want(ctx context.Context, in *claimIn) (claim.Want, office.Project, error) {
	mode := claim.Exclusive
	if in.Shared {
		mode = claim.Shared
	}
	at, p, err := c.where(ctx, in.Paths)
	if err != nil {
		return claim.Want{}, p, err
	}
	w, err := at.Want(in.Paths, in.Resources, mode)
	if err == nil {
		in.misread = at.Misread(in.Paths)
	}
	return w, p, err
}

func takeClaim(ctx context.Context, c *call, in *claimIn) (out claimOut, err error) {
	if len(in.IDs) > 0 {
		return out, fault.New(fault.Invalid, "a new claim takes no ids").WithHint("action is extend, change, release, takeover or give")
	}
	w, p, err := c.want(ctx, in)
	if err != nil {
		return out, err
	}
	v, blocks, err := c.claim(ctx, p, office.Claiming{Want: w, Intent: in.Intent, Task: in.Task, TTL: in.ttl(), Keep: in.Keep != nil && *in.Keep}, in.Wait)
	switch {
	case err != nil:
		return out, err
	case blocks != nil:
		return claimOut{Status: statusNothing, Blocks: blocksOf(blocks), Hint: keptHint}, nil
	}
	return claimOut{Status: statusClaimed, Claims: []held{c.heldOf(&v)}, Hint: in.misread}, nil
}

const keptHint = "others hold it still; your place in the queue is kept for 2 minutes: call again with the same arguments to wait on"

// claim claims, and waits for it where seconds are given. What stands in the
// way when they are over is no error: the place in the queue stays for the
// next call. Whoever cancels the call gives the place up.
func (c *call) claim(ctx context.Context, p office.Project, want office.Claiming, seconds int) (v office.ClaimView, blocks []claim.Block, err error) {
	want.Stay = placeStays
	stop := func() {}
	defer func() { stop() }()
	if seconds > 0 {
		want.Wait = c.patience(seconds)
		want.Waiting = func(blocks []claim.Block) {
			stop = c.progress(ctx, want.Wait, "waiting for "+quote.Line(blocks[0].Name, 64)+" to release "+quote.Line(blocks[0].Overlap[0], 100))
		}
	}
	v, err = c.o.Claim(ctx, c.caller, p, want)
	var f *fault.Error
	if ctx.Err() == nil && fault.Is(err, fault.Timeout) && errors.As(err, &f) {
		if list, ok := f.Detail.([]claim.Block); ok {
			return v, list, nil
		}
	}
	return v, nil, err
}

func listClaims(ctx context.Context, c *call, in *claimIn) (out claimOut, err error) {
	if len(in.Paths)+len(in.Resources) > 0 {
		return out, fault.New(fault.Invalid, "%s takes no paths or resources", in.Action).WithHint("action=who says who holds them")
	}
	at, p, err := c.where(ctx, nil)
	if err != nil {
		return out, err
	}
	get := func(page office.Page) (office.Claims, error) {
		return c.o.ClaimList(ctx, c.caller, office.ClaimQuery{Project: p, Holder: in.Agent, Auto: in.Agent != "", Tree: at.Tree, Page: page})
	}
	if in.Action == "history" {
		get = func(page office.Page) (office.Claims, error) { return c.o.ClaimHistory(ctx, p, page) }
	}
	out.Claims, err = paged(office.Page{Limit: in.Limit, From: in.Cursor}, maxList, func(page office.Page) ([]held, error) {
		found, err := get(page)
		if err != nil {
			return nil, err
		}
		out.Total, out.Next, out.Line = found.Total, found.Next, lineOf(found.Waiting)
		if len(found.Elsewhere) > 0 && in.Agent == "me" {
			out.Hint = elsewhere(found.Elsewhere)
		}
		return c.heldList(found.Claims), nil
	})
	return out, err
}

// elsewhere says what the caller holds in other projects.
func elsewhere(list []office.HeldElsewhere) string {
	words := make([]string, len(list))
	for i, h := range list {
		words[i] = fmt.Sprintf("%s (%d)", line(h.Project), h.Claims)
		if h.Project == "" {
			words[i] = fmt.Sprintf("outside of any (%d)", h.Claims)
		}
	}
	return "you hold more in other projects: " + strings.Join(few(words), ", ") + "; action=who with paths there shows it"
}

func extendClaims(ctx context.Context, c *call, in *claimIn) (out claimOut, err error) {
	ids, err := c.ids(ctx, in)
	switch {
	case err != nil:
		return out, err
	case len(ids) == 0:
		return out, fault.New(fault.Invalid, "extend what?").WithHint("give ids, or the paths that you claimed")
	}
	for _, id := range ids {
		v, err := c.o.ExtendClaim(ctx, c.caller, id, in.ttl())
		if err != nil {
			return out, soFar(err, "extended", out.Claims)
		}
		out.Claims = append(out.Claims, c.heldOf(&v))
	}
	out.Status = statusClaimed
	return out, nil
}

// soFar says what was done before a list of claims failed at one.
func soFar(err error, what string, done []held) error {
	if len(done) == 0 {
		return err
	}
	ids := make([]string, len(done))
	for i := range done {
		ids[i] = done[i].ID
	}
	return fault.New(fault.CodeOf(err), "%s; %s before it: %s", err, what, strings.Join(ids, ", ")).WithHint("%s", fault.HintOf(err))
}

// one gives the only id of a call that is about one claim.
func (in *claimIn) one() (string, error) {
	if len(in.IDs) != 1 {
		return "", fault.New(fault.Invalid, "%s is for one claim, not %d", in.Action, len(in.IDs)).WithHint("give its id in ids; action=list shows them")
	}
	return in.IDs[0], nil
}

func changeClaim(ctx context.Context, c *call, in *claimIn) (out claimOut, err error) {
	id, err := in.one()
	if err != nil {
		return out, err
	}
	change := office.ClaimChange{Intent: in.Intent, Task: in.Task, TTL: in.ttl(), Keep: in.Keep}
	if len(in.Paths)+len(in.Resources) > 0 {
		w, _, err := c.want(ctx, in)
		if err != nil {
			return out, err
		}
		change.Want = &w
	}
	v, err := c.o.ChangeClaim(ctx, c.caller, id, change)
	if err != nil {
		return out, err
	}
	return claimOut{Status: statusClaimed, Claims: []held{c.heldOf(&v)}, Hint: in.misread}, nil
}

// everything as the only id means all that the caller holds in the project. No
// id has these letters.
const everything = "all"

func releaseClaims(ctx context.Context, c *call, in *claimIn) (out claimOut, err error) {
	_, p, err := c.where(ctx, nil)
	if err != nil {
		return out, err
	}
	var ids []string
	if named := len(in.Paths) + len(in.Resources); named > 0 || len(in.IDs) != 1 || !strings.EqualFold(strings.TrimSpace(in.IDs[0]), everything) {
		if ids, err = c.ids(ctx, in); err != nil {
			return out, err
		}
		if len(ids) == 0 {
			return out, fault.New(fault.Invalid, "release what?").
				WithHint("give ids, or the paths that you claimed; ids=[\"all\"] gives up all that you hold in this project; action=list with agent=me shows it")
		}
	}
	list, err := c.o.Release(ctx, c.caller, p, ids, in.Text)
	out.Status, out.Total, out.Claims = statusReleased, len(list), c.heldList(list)
	out.Claims = out.Claims[:fit(out.Claims, maxList)]
	return out, err
}

func takeOverClaim(ctx context.Context, c *call, in *claimIn) (out claimOut, err error) {
	id, err := in.one()
	if err != nil {
		return out, err
	}
	at, _, err := c.where(ctx, nil)
	if err != nil {
		return out, err
	}
	t := office.Takeover{Claim: id, Intent: in.Intent, Reason: in.Text, TTL: in.ttl()}
	if was, err := c.o.ClaimShow(ctx, id); err == nil && was.Tree != "" && was.Tree != at.Tree && was.Project == at.Project.Name {
		t.Tree = at.Tree // it goes on where the caller works
	}
	v, err := c.o.TakeOver(ctx, c.caller, t)
	if err != nil {
		return out, err
	}
	out = claimOut{Status: statusClaimed, Claims: []held{c.heldOf(&v)}}
	ended := 0
	for i := range v.With {
		if w := &v.With[i]; w.EndedAt != nil {
			ended++
		} else {
			out.Claims = append(out.Claims, c.heldOf(w))
		}
	}
	if ended > 0 {
		out.Hint = fmt.Sprintf("what else the same session held within it (%d) is over with it", ended)
	}
	return out, nil
}

func giveClaims(ctx context.Context, c *call, in *claimIn) (out claimOut, err error) {
	if in.Agent == "" {
		return out, fault.New(fault.Invalid, "give to whom?").WithHint("give a name in agent; roster lists everyone")
	}
	ids, err := c.ids(ctx, in)
	switch {
	case err != nil:
		return out, err
	case len(ids) == 0:
		return out, fault.New(fault.Invalid, "give what?").WithHint("give ids, or the paths that you claimed")
	}
	list, err := c.o.TransferClaims(ctx, c.caller, ids, in.Agent, in.Text)
	out.Status, out.Claims = statusGiven, c.heldList(list)
	if err != nil {
		return out, soFar(err, "given", out.Claims)
	}
	return out, nil
}

// tree gives the work tree that the caller works in, "" outside of any.
func (c *call) tree() string {
	if c.root == nil {
		root := ""
		if at, err := place.Of(c.folder); err == nil {
			root = at.Tree
		}
		c.root = &root
	}
	return *c.root
}
