package office

import (
	"context"
	"strings"
	"testing"
	"time"

	"bureau/internal/claim"
	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/presence"
	"bureau/internal/proc"
	"bureau/internal/roster"
)

func (d *desk) issue(name string, ttl time.Duration) (roster.Token, string) {
	d.t.Helper()
	ctx := context.Background()
	_, text, err := d.IssueToken(ctx, d.user(), Issuing{Name: name, TTL: ttl, Folder: d.t.TempDir()})
	if err != nil {
		d.t.Fatal(err)
	}
	t, err := d.Credential(ctx, text)
	if err != nil {
		d.t.Fatal(err)
	}
	return t, text
}

func (d *desk) as(t roster.Token, p roster.Process) Caller {
	d.t.Helper()
	c, err := d.IdentifyToken(context.Background(), t, p)
	if err != nil {
		d.t.Fatal(err)
	}
	return c
}

// A token is one session: the same agent from wherever it is used.
func TestTokenIsASession(t *testing.T) {
	d := newDesk(t)
	ctx := context.Background()
	d.agent("bob")
	tok, text := d.issue("ana", 0)
	d.send(d.user(), "bob", "x")
	one := d.as(tok, presence.Self())
	if one.Agent.Name != "ana" || !one.InSession() || one.Stale || one.Adrift {
		t.Fatalf("%+v", one)
	}
	if again := d.as(tok, presence.Self()); again.Agent.ID != one.Agent.ID || again.Agent.Life.ID != one.Agent.Life.ID {
		t.Errorf("the same process: %+v", again.Agent)
	}
	d.send(d.user(), "ana", "hello")
	// It is closed, and comes back.
	if err := d.EndToken(ctx, tok.ID, presence.Self()); err != nil {
		t.Fatal(err)
	}
	if a, err := d.Agent(ctx, "ana"); err != nil || a.Here {
		t.Errorf("closed: %+v, %v", a, err)
	}
	if back := d.as(tok, presence.Self()); back.Agent.ID != one.Agent.ID || len(d.unread(back, 10)) != 1 {
		t.Errorf("back: %+v", back.Agent)
	}
	// A server that begins later has it, and the earlier one may only read.
	other := roster.Process{PID: presence.Self().PID + 1, Start: 7, Host: "elsewhere"}
	if c := d.as(tok, other); c.Agent.ID != one.Agent.ID || c.Stale {
		t.Errorf("in another server: %+v", c)
	}
	if old := d.as(tok, presence.Self()); !old.Stale || old.Agent.ID != one.Agent.ID {
		t.Errorf("the overtaken one: %+v", old)
	} else if _, err := d.Send(ctx, old, Letter{To: []string{"bob"}, Body: []byte("x")}); !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "bureau serve") {
		t.Errorf("it sends: %v", err)
	}
	// Below no client the environment's token says who it is, without taking
	// the session from its server.
	c, err := d.Identify(ctx, Claim{Token: text, Ancestors: []proc.ID{}})
	if err != nil || c.Agent.ID != one.Agent.ID || c.InSession() || c.Human {
		t.Errorf("%+v, %v", c, err)
	}
	if now := d.as(tok, other); now.Stale {
		t.Errorf("%+v", now)
	}
	if c, err := d.Identify(ctx, Claim{As: "bob", Token: text, Ancestors: []proc.ID{}}); err != nil || c.Agent.Name != "bob" {
		t.Errorf("--as goes first: %+v, %v", c, err)
	}
	if _, err := d.Identify(ctx, Claim{Token: text + "x", Ancestors: []proc.ID{}}); !fault.Is(err, fault.Denied) {
		t.Errorf("a token that is none: %v", err)
	}
	if n := d.tokenName(ctx, text); n != "ana" {
		t.Errorf("the name is %q", n)
	}
	d.sound()
}

// Two tokens of one name are two agents, also where one process speaks for both
// and both were made before the first was used; so is a seat that somebody else
// took while the token was away.
func TestTokensOfOneName(t *testing.T) {
	d := newDesk(t)
	ctx := context.Background()
	one, _ := d.issue("ana", 0)
	two, _ := d.issue("ana", 0)
	four, text := d.issue("ana", 0)
	p := presence.Self()
	first, second := d.as(one, p), d.as(two, p)
	// Nor is a terminal that shows one of them the other.
	third, err := d.Identify(ctx, Claim{Token: text, Ancestors: []proc.ID{}})
	if err != nil || third.Agent.Name != "ana-3" {
		t.Errorf("in a terminal it is %s, %v", third.Agent.Name, err)
	}
	if c := d.as(four, p); c.Agent.ID != third.Agent.ID {
		t.Errorf("and over HTTP %s", c.Agent.Name)
	}
	if first.Agent.Name != "ana" || second.Agent.Name != "ana-2" {
		t.Fatalf("%s and %s", first.Agent.Name, second.Agent.Name)
	}
	if again := d.as(one, p); again.Agent.ID != first.Agent.ID {
		t.Errorf("the first is %s now", again.Agent.Name)
	}
	// The end of one is not the other's.
	if err := d.EndToken(ctx, two.ID, p); err != nil {
		t.Fatal(err)
	}
	if a, err := d.Agent(ctx, "ana"); err != nil || !a.Here {
		t.Errorf("%+v, %v", a, err)
	}
	three, _ := d.issue("carla", 0)
	if _, err := d.StartSession(ctx, Session{Client: "claude", ID: "s3", Declared: "carla", Process: p, Folder: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	if c := d.as(three, p); c.Agent.Name != "carla-2" || c.Stale {
		t.Errorf("beside the session that has the seat: %s", c.Agent.Name)
	}
	if err := d.EndToken(ctx, three.ID, p); err != nil {
		t.Fatal(err)
	}
	if a, err := d.Agent(ctx, "carla"); err != nil || !a.Here {
		t.Errorf("%+v, %v", a, err)
	}
	d.sound()
}

// A token that was revoked between the look at it and the call begins nothing.
func TestTokenRevokedMeanwhile(t *testing.T) {
	d := newDesk(t)
	ctx := context.Background()
	tok, _ := d.issue("ana", 0)
	if _, err := d.RevokeTokens(ctx, d.user(), "ana"); err != nil {
		t.Fatal(err)
	}
	_, err := d.IdentifyToken(ctx, tok, presence.Self())
	d.want(fault.Denied, err)
	d.want(fault.Denied, d.TokenGood(ctx, tok.ID))
	d.want(fault.Denied, d.TokenGood(ctx, event.NewID(d.Now())))
	if a, err := d.Agent(ctx, "ana"); err != nil || a.Here {
		t.Errorf("%+v, %v", a, err)
	}
}

// A command of a terminal that shows the token of a retired agent makes nobody of
// the terminal: what is done there without the token is the person's.
func TestTokenOfTheRetired(t *testing.T) {
	d := newDesk(t)
	ctx := context.Background()
	_, text := d.issue("ana", 0)
	old, err := d.Retire(ctx, d.user(), "ana", "done")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		c, err := d.Identify(ctx, Claim{Token: text, Ancestors: []proc.ID{}})
		if err != nil || c.Agent.ID == old.ID || c.Agent.Name != "ana" || c.InSession() || c.Agent.Life != nil {
			t.Errorf("%+v, %v", c, err)
		}
	}
	c, err := d.Identify(ctx, Claim{}) // below whatever runs this test
	if err != nil || !c.Human {
		t.Errorf("without the token: %+v, %v", c, err)
	}
	d.sound()
}

// Only the person issues, sees and revokes tokens; one that is revoked or whose
// time is over opens nothing, and no other token is touched.
func TestTokenRights(t *testing.T) {
	clk := newClock()
	d := openDesk(t, Options{Now: clk.now})
	ctx := context.Background()
	ana := d.agent("ana")
	session := d.session("s1", presence.Self(), Project{})
	for _, c := range []Caller{ana, session} {
		_, _, err := d.IssueToken(ctx, c, Issuing{Name: "x"})
		d.want(fault.Denied, err)
		_, err = d.Tokens(ctx, c)
		d.want(fault.Denied, err)
		_, err = d.RevokeTokens(ctx, c, "x")
		d.want(fault.Denied, err)
	}
	_, _, err := d.IssueToken(ctx, d.user(), Issuing{Name: "user"})
	d.want(fault.Invalid, err)
	_, one := d.issue("bob", 0)
	two, twice := d.issue("bob", time.Hour)
	if _, first, _ := strings.Cut(strings.TrimPrefix(one, "bureau_"), "_"); first == "" || strings.HasSuffix(twice, first) {
		t.Errorf("two tokens have one secret: %d characters", len(first))
	}
	_, kept := d.issue("carla", 0)
	list, err := d.Tokens(ctx, d.user())
	if err != nil || len(list) != 3 || list[0].Name != "carla" || !list[1].Valid || list[1].Expires == nil {
		t.Fatalf("%+v, %v", list, err)
	}
	clk.move(2 * time.Hour)
	_, err = d.Credential(ctx, twice)
	d.want(fault.Denied, err)
	if list, err = d.Tokens(ctx, d.user()); err != nil || list[1].Valid {
		t.Errorf("%+v, %v", list, err)
	}
	if done, err := d.RevokeTokens(ctx, d.user(), string(two.ID)); err != nil || len(done) != 1 || done[0].Valid {
		t.Errorf("by its id: %+v, %v", done, err)
	}
	if done, err := d.RevokeTokens(ctx, d.user(), "BOB"); err != nil || len(done) != 1 {
		t.Errorf("by the name: %+v, %v", done, err)
	}
	_, err = d.RevokeTokens(ctx, d.user(), "bob")
	d.want(fault.NotFound, err)
	_, err = d.Credential(ctx, one)
	d.want(fault.Denied, err)
	if _, err := d.Credential(ctx, kept); err != nil {
		t.Error(err)
	}
	// A name that happens to be part of another token's id is a name.
	part := strings.ToLower(string(two.ID)[20:])
	_, named := d.issue(part, 0)
	last, _ := d.issue("zoe", 0)
	if done, err := d.RevokeTokens(ctx, d.user(), part); err != nil || len(done) != 1 || done[0].Name != part {
		t.Errorf("by a name that is part of an id: %+v, %v", done, err)
	}
	_, err = d.Credential(ctx, named)
	d.want(fault.Denied, err)
	_, err = d.RevokeTokens(ctx, d.user(), string(last.ID)[23:])
	d.want(fault.NotFound, err)
	if done, err := d.RevokeTokens(ctx, d.user(), string(last.ID)[16:]); err != nil || len(done) != 1 || done[0].Name != "zoe" {
		t.Errorf("by a part of its id: %+v, %v", done, err)
	}
	// Another office knows none of them.
	_, err = newDesk(t).Credential(ctx, kept)
	d.want(fault.Denied, err)
	d.sound()
}

// A server that is restarted under the sessions of tokens takes nothing from
// them: what they claimed is theirs, as long as they were heard of lately.
func TestTokenOverARestart(t *testing.T) {
	clk := newClock()
	d := openDesk(t, Options{Now: clk.now})
	ctx := context.Background()
	p := d.project("p")
	tok, _ := d.issue("ana", 0)
	// Its server's process is gone.
	ana := d.as(tok, deadProcess(1))
	if err := d.Sighted(ctx, ana); err != nil {
		t.Fatal(err)
	}
	ana.Project = p
	v := d.claims(ana, p, "src")
	standing := func() claim.Standing {
		t.Helper()
		list, err := d.ClaimList(ctx, d.user(), ClaimQuery{Project: p})
		if err != nil || len(list.Claims) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		return list.Claims[0].Standing
	}
	if got := standing(); got != claim.Active {
		t.Errorf("a moment later it is %s", got)
	}
	clk.move(tokenGrace + time.Second)
	if got := standing(); got != claim.Stale {
		t.Errorf("long after it is %s", got)
	}
	// A session of a client process has no such grace.
	bob := d.session("s2", deadProcess(2), p)
	d.claims(bob, p, "lib")
	list, err := d.ClaimList(ctx, d.user(), ClaimQuery{Project: p, Holder: string(bob.Agent.Name)})
	if err != nil || len(list.Claims) != 1 || list.Claims[0].Standing != claim.Stale {
		t.Errorf("%+v, %v", list, err)
	}
	// It comes back, and has what it had.
	back := d.as(tok, presence.Self())
	if err := d.Sighted(ctx, back); err != nil {
		t.Fatal(err)
	}
	if got, err := d.CheckToken(ctx, back, string(v.ID), v.Token); err != nil || got.ID != v.ID {
		t.Errorf("%+v, %v", got, err)
	}
}
