package office

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"bureau/internal/db/fts"
	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/mail"
)

func TestSearch(t *testing.T) {
	ctx := context.Background()
	c := newClock()
	d := openDesk(t, Options{Now: c.now, FullText: fts.Register})
	ana, bob := d.agent("ana"), d.agent("bob")
	say := func(from Caller, to string, kind mail.Kind, subject, body string) Sent {
		t.Helper()
		sent, err := d.Send(ctx, from, Letter{To: []string{to}, Kind: kind, Subject: subject, Body: []byte(body)})
		if err != nil {
			t.Fatal(err)
		}
		c.move(1e9)
		return sent
	}
	first := say(ana, "bob", mail.Note, "The Café", "a déjà vu of the parser")
	second := say(bob, "ana", mail.Request, "", "the parser of "+strings.Repeat("x ", 40<<10)+"needle at the end")
	say(ana, "bob", mail.Note, "", "nothing \xff of the kind")
	for text, want := range map[string][]event.ID{
		"parser": {second.ID, first.ID}, "PARSER": {second.ID, first.ID}, "cafe": {first.ID}, "deja vu": {first.ID}, `"vu of"`: {first.ID}, `"of vu"`: {},
		"pars*": {second.ID, first.ID}, "needle": {second.ID}, "parser needle": {second.ID}, "parser AND needle": {}, "nosuch": {}, "the -parser": {second.ID, first.ID},
	} {
		got, err := d.Find(ctx, bob, Search{Text: text})
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		ids := []event.ID{}
		for _, m := range got.Messages {
			ids = append(ids, m.ID)
		}
		if fmt.Sprint(ids) != fmt.Sprint(want) || got.Total != len(want) {
			t.Errorf("%q finds %v of %d, want %v", text, ids, got.Total, want)
		}
	}
	for what, s := range map[string]Search{
		"from":   {Text: "parser", From: "bob"},
		"to":     {Text: "parser", To: "ana"},
		"thread": {Text: "parser", Thread: string(second.Thread)},
		"kind":   {Text: "parser", Kind: mail.Request},
		"since":  {Text: "parser", Since: c.now().Add(-2500e6)},
	} {
		if got, err := d.Find(ctx, ana, s); err != nil || got.Total != 1 || got.Messages[0].ID != second.ID {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
	}
	// Page by page.
	page, found := Page{Limit: 1}, 0
	for {
		got, err := d.Find(ctx, ana, Search{Text: "parser", Page: page})
		if err != nil || got.Total != 2 {
			t.Fatalf("%+v, %v", got, err)
		}
		found += len(got.Messages)
		if page.From = got.Next; got.Next == "" {
			break
		}
	}
	if found != 2 {
		t.Errorf("%d found page by page", found)
	}
	// The part around the word is shown, also far behind the beginning.
	if got, err := d.Find(ctx, ana, Search{Text: "needle"}); err != nil || !strings.Contains(got.Messages[0].Body, "needle") || !got.Messages[0].Cut {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{"", " ", "*", `""`, "---", `"`, "()"} {
		_, err := d.Find(ctx, ana, Search{Text: text})
		d.want(fault.Invalid, err)
	}
	// Another generation finds the same with the index that is there.
	if got, err := d.beside(Options{Generation: 2, FullText: fts.Register}).Find(ctx, ana, Search{Text: "parser"}); err != nil || got.Total != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := d.beside(Options{}).Find(ctx, ana, Search{Text: "parser"}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("searched without the library: %v", err)
	}
}

// TestAnySearch: whatever is typed is words, never an operator that fails.
func TestAnySearch(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{FullText: fts.Register})
	ana := d.agent("ana")
	d.send(ana, "ana", "some words NEAR others AND more")
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.OneOf(
			rapid.SampledFrom([]string{"AND", "OR", "NOT", "NEAR(", ")", `"`, `""`, "*", "^", ":", "subject:", "-", "+", "{", "}", "'", "\x00", "\xff", "words"}), rapid.String(),
		), 1, 8).Draw(t, "parts"), " ")
		if _, err := d.Find(ctx, ana, Search{Text: text}); err != nil && !fault.Is(err, fault.Invalid) {
			t.Fatalf("%q: %v", text, err)
		}
	})
}
