package transcript

import (
	"os"
	"strings"
	"testing"
	"time"

	"bureau/internal/fault"
)

// TestAnotherCourse: behind what another journal has written nothing is
// written, however alike the numbers are, and the file stays as it is.
func TestAnotherCourse(t *testing.T) {
	marked := func(seq int64, mark string) Entry {
		e := say(seq, "words")
		e.Mark = mark
		return e
	}
	later := marked(2, "")
	later.Time = later.Time.Add(time.Millisecond)
	for name, c := range map[string]struct {
		file  Entry
		there *Entry
		fits  bool
	}{
		"the same":                        {marked(2, "a"), ptr(marked(2, "a")), true},
		"another of this number":          {marked(2, "a"), ptr(marked(2, "b")), false},
		"one that the journal lacks":      {marked(2, "a"), nil, false},
		"a file of before":                {marked(2, ""), ptr(marked(2, "b")), true},
		"a file of before, another one":   {later, ptr(marked(2, "b")), false},
		"a file of before, and it lacks":  {marked(2, ""), nil, false},
		"the journal cannot read its own": {marked(2, "a"), &Entry{Seq: 2}, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, Spec{}, Header{})
			if err := f.Append(ctx, Header{Topic: "one"}, say(1, "first"), c.file); err != nil {
				t.Fatal(err)
			}
			before, err := os.ReadFile(f.Path())
			if err != nil {
				t.Fatal(err)
			}
			err = f.Update(ctx, func(at Point) (Header, []Entry, error) {
				if at.Seq != 2 || at.Last.Seq != 2 || at.Last.Mark != c.file.Mark || !at.Last.Time.Equal(c.file.Time) {
					t.Errorf("the file says it is at %+v", at)
				}
				return Header{Topic: "two"}, []Entry{marked(3, "c")}, at.Is(c.there)
			})
			after, rerr := os.ReadFile(f.Path())
			if rerr != nil {
				t.Fatal(rerr)
			}
			if c.fits {
				if doc := whole(t, f.Path()); err != nil || len(doc.Entries) != 3 || doc.Entries[2].Mark != "c" {
					t.Errorf("%v; %+v", err, doc.Entries)
				}
				return
			}
			if !fault.Is(err, fault.Conflict) || !Renewable(err) || !strings.Contains(err.Error(), f.Path()) || !strings.Contains(fault.HintOf(err), "--sync") {
				t.Errorf("%v (%s)", err, fault.HintOf(err))
			}
			if string(after) != string(before) {
				t.Error("the file was written to")
			}
		})
	}
	// Without entries there is nothing to compare.
	f := start(t, Spec{}, Header{})
	err := f.Update(ctx, func(at Point) (Header, []Entry, error) {
		return Header{}, []Entry{marked(1, "a")}, at.Is(nil)
	})
	if err != nil {
		t.Error(err)
	}
}

// TestTheLastEntryIsKnownAfterACrash: also where the header does not tell where
// it stands.
func TestTheLastEntryIsKnownAfterACrash(t *testing.T) {
	f := start(t, Spec{}, Header{})
	one, two := say(1, "one"), say(2, "two")
	one.Mark, two.Mark = "a", "b"
	if err := f.Append(ctx, Header{}, one); err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Append(ctx, Header{}, two); err != nil {
		t.Fatal(err)
	}
	now, err := os.ReadFile(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	for name, head := range map[string][]byte{"an older header": old[:200], "half a header": append(old[:80:80], now[80:200]...)} {
		if err := os.WriteFile(f.Path(), append(head[:len(head):len(head)], now[200:]...), 0o644); err != nil {
			t.Fatal(err)
		}
		err := f.Update(ctx, func(at Point) (Header, []Entry, error) {
			if at.Last.Mark != "b" || at.Last.Seq != 2 {
				t.Errorf("%s: the file says it is at %+v", name, at)
			}
			return Header{}, nil, nil
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func ptr(e Entry) *Entry { return &e }
