package office

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"bureau/internal/event"
	"bureau/internal/fault"
)

// TestTheBoard: keys keep to their scope and their spelling, a prefix is a
// prefix, and the history outlives the entry.
func TestTheBoard(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{Now: newClock().now})
	ana, bob := d.agent("ana"), d.agent("bob")
	set := func(who Caller, scope, key, value string) EntryView {
		t.Helper()
		e, err := d.BoardSet(ctx, who, scope, key, value, nil)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	list := func(scope, prefix string, limit int) string {
		t.Helper()
		var keys []string
		page := Page{Limit: limit}
		for {
			got, err := d.BoardList(ctx, scope, prefix, page)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range got.Entries {
				keys = append(keys, e.Key)
			}
			if got.Next == "" {
				if got.Total != len(keys) {
					t.Errorf("%q: %d listed of %d", prefix, len(keys), got.Total)
				}
				return strings.Join(keys, " ")
			}
			page.From = got.Next
		}
	}
	keys := []string{"a", "a%", "a_b", "aXb", "A", "ab", "a\U0010ffff", "b"}
	for _, k := range keys {
		set(ana, "project-one", k, "one "+k)
	}
	set(ana, "project-one-more", "a", "another scope")
	set(bob, "office", "a", "the office's")
	for prefix, want := range map[string]string{
		"": "A a a% aXb a_b ab a\U0010ffff b", "*": "A a a% aXb a_b ab a\U0010ffff b", "a": "a a% aXb a_b ab a\U0010ffff",
		"a*": "a a% aXb a_b ab a\U0010ffff", "a_": "a_b", "a%": "a%", "A": "A", "c": "", "%": "", "_": "",
	} {
		for _, limit := range []int{1, 2, 100} {
			if got := list("project-one", prefix, limit); got != want {
				t.Errorf("%q, %d at a time: %q, want %q", prefix, limit, got, want)
			}
		}
	}
	first := set(ana, "office", "k", "one")
	second := set(bob, "office", "k", "two")
	if e, err := d.BoardGet(ctx, "office", "k"); err != nil || e != second || e.Author != "bob" || e.Value != "two" || e.Version <= first.Version {
		t.Fatalf("%+v, %v", e, err)
	}
	_, err := d.BoardSet(ctx, ana, "office", "k", "three", &first.Version)
	d.want(fault.Conflict, err)
	_, err = d.BoardDelete(ctx, ana, "office", "k", &first.Version)
	d.want(fault.Conflict, err)
	gone, err := d.BoardDelete(ctx, ana, "office", "k", &second.Version)
	if err != nil || !gone.Deleted {
		t.Fatalf("%+v, %v", gone, err)
	}
	_, err = d.BoardGet(ctx, "office", "k")
	d.want(fault.NotFound, err)
	_, err = d.BoardDelete(ctx, ana, "office", "k", nil)
	d.want(fault.NotFound, err)
	nothing := event.Seq(0)
	if _, err := d.BoardSet(ctx, ana, "office", "k", "four", &nothing); err != nil {
		t.Fatal(err)
	}
	var told []string
	for page := (Page{Limit: 1}); ; {
		h, err := d.BoardHistory(ctx, "office", "k", page)
		if err != nil || h.Total != 4 {
			t.Fatalf("%+v, %v", h, err)
		}
		for _, e := range h.Entries {
			told = append(told, fmt.Sprintf("%s %q %v", e.Author, e.Value, e.Deleted))
		}
		if page.From = h.Next; h.Next == "" {
			break
		}
	}
	if got := strings.Join(told, ", "); got != `ana "four" false, ana "" true, bob "two" false, ana "one" false` {
		t.Errorf("the history is %s", got)
	}
	d.sound()
}
