package office

import (
	"cmp"
	"context"
	"strings"
	"testing"
	"time"

	"bureau/internal/claim"
)

// TestTheHistoryNamesWhoDidIt: whoever only was the next to look at a claim that
// had ended by itself has ended nothing.
func TestTheHistoryNamesWhoDidIt(t *testing.T) {
	ctx := context.Background()
	c := newClock()
	d := openDesk(t, Options{Now: c.now})
	p := d.project("app")
	eva, bob := d.session("E", self(), p), d.agent("bob")
	d.claims(eva, p, "README")
	if err := d.EndSession(ctx, eva.Agent.ID, self(), "exit"); err != nil {
		t.Fatal(err)
	}
	c.move(claim.DefaultRules().Grace + time.Minute)
	mine := d.claims(bob, p, "doc")
	list, err := d.ClaimHistory(ctx, p, Page{})
	if err != nil || list.Total != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	if v := list.Claims[0]; v.How != claim.SessionEnded || v.By != "" || v.NoticedBy != "bob" {
		t.Errorf("%+v", v)
	}
	if _, err := d.Release(ctx, bob, p, []string{string(mine.ID)}, ""); err != nil {
		t.Fatal(err)
	}
	if list, err = d.ClaimHistory(ctx, p, Page{}); err != nil || list.Claims[0].By != "bob" || list.Claims[0].NoticedBy != "" {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestNobodyIsQuotedWithWhatTheyDidNotWrite is of a claim that is given away
// without a word.
func TestNobodyIsQuotedWithWhatTheyDidNotWrite(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	p := d.project("app")
	ana, bob := d.agent("ana"), d.agent("bob")
	for _, why := range []string{"", "the rest is yours"} {
		v := d.claims(ana, p, "src")
		if _, err := d.TransferClaims(ctx, ana, []string{string(v.ID)}, "bob", why); err != nil {
			t.Fatal(err)
		}
		list := d.unread(bob, 10)
		body := list[0].Body
		if strings.Contains(body, "transfer") || (why == "") == strings.Contains(body, "\n") || !strings.HasSuffix(body, cmp.Or(why, "(work on src).")) {
			t.Errorf("%q", body)
		}
		if _, err := d.Release(ctx, bob, p, []string{string(v.ID)}, ""); err != nil {
			t.Fatal(err)
		}
	}
}
