package locks

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"bureau/internal/fault"
	"bureau/internal/mirror/mclaude"
	"bureau/internal/office"
)

// begins is what a guard does before the first edit of a file: it asks, and asks
// once more with what was claimed on the way. It gives the claims that were made.
func (s *site) begins(c office.Caller, path string, between func()) (claimed bool, err error) {
	s.t.Helper()
	e := office.Editing{Paths: []string{path}, Tree: s.project.Root}
	done, err := s.MayEdit(context.Background(), c, s.project, e)
	if err != nil {
		return false, err
	}
	e.Made = done.Made
	between()
	if _, err = s.MayEdit(context.Background(), c, s.project, e); err != nil {
		s.must0(s.GiveBack(context.Background(), c, e.Made))
	}
	return len(e.Made) > 0, err
}

// once gives something that happens the first time only.
func once(do func()) func() {
	done := false
	return func() {
		if !done {
			done = true
			do()
		}
	}
}

// TestTwoOfficesBeginWithOneFile: of two sessions of two offices that begin to
// edit a file in one moment exactly one may, whichever of their steps comes first,
// and it goes on; the other claims nothing and may once the file is free.
func TestTwoOfficesBeginWithOneFile(t *testing.T) {
	nothing := func() {}
	for name, race := range map[string]func(one, two *site, begin func(s *site, between func()) error) (first, second error){
		// The second one looks, then the first one claims; both then look again.
		"the first one asks first": func(one, two *site, begin func(*site, func()) error) (first, second error) {
			two.mirror.read = once(func() { first = begin(one, nothing) })
			second = begin(two, nothing)
			return first, second
		},
		"both have claimed before either asks again": func(one, two *site, begin func(*site, func()) error) (first, second error) {
			var wrote func()
			two.mirror.read = once(func() { first = begin(one, func() { wrote() }) })
			wrote = func() { // in the middle of the first one's two questions
				_, err := two.MayEdit(context.Background(), two.ana, two.project, office.Editing{Paths: []string{"n.txt"}, Tree: two.project.Root})
				if !fault.Is(err, fault.Conflict) {
					t.Errorf("the first one's lock is there: %v", err)
				}
			}
			second = begin(two, nothing)
			return first, second
		},
		// The first one claims first, and writes its lock when the second one is through.
		"who claims first writes later": func(one, two *site, begin func(*site, func()) error) (first, second error) {
			one.mirror.looked = once(func() { second = begin(two, nothing) })
			first = begin(one, nothing)
			return first, second
		},
	} {
		t.Run(name, func(t *testing.T) {
			one := newSite(t)
			two := newSiteIn(t, one.project.Root)
			// Each has had a lock for long, so that the locks' own ages say nothing.
			for s, path := range map[*site]string{one: "first", two: "second"} {
				if claimed, err := s.begins(s.ana, path, nothing); err != nil || !claimed {
					t.Fatal(err)
				}
			}
			begin := func(s *site, between func()) error {
				_, err := s.begins(s.ana, "n.txt", between)
				return err
			}
			first, second := race(one, two, begin)
			if (first == nil) == (second == nil) {
				t.Fatalf("%v and %v", first, second)
			}
			for _, err := range []error{first, second} {
				if err != nil && !fault.Is(err, fault.Conflict) {
					t.Error(err)
				}
			}
			winner, loser := one, two
			if first != nil {
				winner, loser = two, one
			}
			if n := len(loser.held(loser.ana)); n != 1 {
				t.Errorf("the one that was refused holds %d claims", n)
			}
			for range 2 {
				if claimed, err := winner.begins(winner.ana, "n.txt", nothing); err != nil || claimed {
					t.Errorf("the one that has it: %v", err)
				}
				if _, err := loser.begins(loser.ana, "n.txt", nothing); !fault.Is(err, fault.Conflict) {
					t.Errorf("the other one: %v", err)
				}
			}
			_, err := winner.Release(context.Background(), winner.ana, winner.project, nil, "done")
			winner.must0(err)
			if claimed, err := loser.begins(loser.ana, "n.txt", nothing); err != nil || !claimed {
				t.Errorf("once it is free: %v", err)
			}
			l, _ := mclaude.Locate(one.project.Root)
			list, err := l.List()
			one.must0(err)
			if len(list) != 1 || !slices.Contains(list[0].Files, "n.txt") || len(list[0].Claim.FilesSince) != 2 {
				t.Errorf("%+v", list)
			}
		})
	}
}

// TestTwoOfficesClaimTheSame: of two claims of two offices that meet, made in one
// moment, exactly one is granted, whichever of their steps comes first.
func TestTwoOfficesClaimTheSame(t *testing.T) {
	claim := func(s *site, path string) error {
		_, err := s.claim(s.ana, "work on "+path, path)
		return err
	}
	for name, race := range map[string]func(one, two *site) (first, second error){
		"one after the other": func(one, two *site) (first, second error) {
			first = claim(one, "src")
			return first, claim(two, "src/a.go")
		},
		// The second one looks, then the first one claims.
		"who looks first decides later": func(one, two *site) (first, second error) {
			two.mirror.read = once(func() { first = claim(one, "src") })
			second = claim(two, "src/a.go")
			return first, second
		},
		// The first one decides, and writes its lock when the second one is through.
		"who decides first writes later": func(one, two *site) (first, second error) {
			one.mirror.looked = once(func() { second = claim(two, "src/a.go") })
			first = claim(one, "src")
			return first, second
		},
		"at once": func(one, two *site) (first, second error) {
			var both sync.WaitGroup
			both.Go(func() { first = claim(one, "src") })
			both.Go(func() { second = claim(two, "src/a.go") })
			both.Wait()
			return first, second
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range 10 {
				one := newSite(t)
				two := newSiteIn(t, one.project.Root)
				first, second := race(one, two)
				if (first == nil) == (second == nil) {
					t.Fatalf("%v and %v", first, second)
				}
				winner, loser := one, two
				if first != nil {
					winner, loser = two, one
				}
				if err := errors.Join(first, second); !fault.Is(err, fault.Conflict) {
					t.Error(err)
				}
				if w, l := len(winner.held(winner.ana)), len(loser.held(loser.ana)); w != 1 || l != 0 {
					t.Errorf("the one that got it holds %d claims, the other %d", w, l)
				}
				if n := len(winner.files()); n != 3 {
					t.Errorf("the folder has %q", winner.files())
				}
				// The winner's claim stays also when it is renewed, and the other one may once it is free.
				if err := claim(winner, map[bool]string{true: "src", false: "src/a.go"}[winner == one]); err != nil {
					t.Errorf("the one that has it: %v", err)
				}
				_, err := winner.Release(context.Background(), winner.ana, winner.project, nil, "done")
				winner.must0(err)
				if err := claim(loser, "src"); err != nil {
					t.Errorf("once it is free: %v", err)
				}
			}
		})
	}
}

// TestOneOfficeClaimsTheOtherEdits: the same where one claims on purpose what a
// session of the other begins to edit.
func TestOneOfficeClaimsTheOtherEdits(t *testing.T) {
	for name, race := range map[string]func(claim, edit func() error, one, two *site) (first, second error){
		"at once": func(claim, edit func() error, _, _ *site) (first, second error) {
			var both sync.WaitGroup
			both.Go(func() { first = claim() })
			both.Go(func() { second = edit() })
			both.Wait()
			return first, second
		},
		"the edit in the middle of the claim": func(claim, edit func() error, one, _ *site) (first, second error) {
			one.mirror.looked = once(func() { second = edit() })
			first = claim()
			return first, second
		},
		"the claim in the middle of the edit": func(claim, edit func() error, _, two *site) (first, second error) {
			two.mirror.read = once(func() { first = claim() })
			second = edit()
			return first, second
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range 10 {
				one := newSite(t)
				two := newSiteIn(t, one.project.Root)
				first, second := race(func() error {
					_, err := one.claim(one.ana, "all of it", "src")
					return err
				}, func() error {
					_, err := two.begins(two.ana, "src/a.go", func() {})
					return err
				}, one, two)
				if (first == nil) == (second == nil) || !fault.Is(errors.Join(first, second), fault.Conflict) {
					t.Fatalf("the claim: %v, the edit: %v", first, second)
				}
			}
		})
	}
}
