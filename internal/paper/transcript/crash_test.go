package transcript

import (
	"bytes"
	"os"
	"reflect"
	"testing"

	"bureau/internal/fault"
)

var twoMembers = []Member{{"@ana", "Ana | _x_", Present, noon}, {"@bob", "", Invited, noon}}

// crashed makes a transcript of three entries, and tells what the file was
// before the third one.
func crashed(t *testing.T) (f *File, before, after []byte) {
	t.Helper()
	f = start(t, Spec{}, Header{Topic: "crash", Members: twoMembers[:1]})
	if err := f.Append(ctx, Header{Seq: 2, Turn: "@ana", Topic: "crash", Members: twoMembers[:1]}, say(1, "one"), say(2, "two\n```")); err != nil {
		t.Fatal(err)
	}
	before, _ = os.ReadFile(f.Path())
	third(t, f)
	after, _ = os.ReadFile(f.Path())
	return f, before, after
}

func third(t *testing.T, f *File) {
	t.Helper()
	e := say(3, "three ünï\n<b>\n# x")
	e.Kind = Notice
	if err := f.Append(ctx, Header{Seq: 3, Turn: "@bob, of a longer name", Topic: "crash \\ `", Members: twoMembers, Queue: []Waiting{{"@ana", 2}}}, e); err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, f *File, content ...[]byte) {
	t.Helper()
	if err := os.WriteFile(f.Path(), bytes.Join(content, nil), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A crash at any byte of an append, with any part of it on disk, costs nothing
// that was finished, and the next append mends the file.
func TestCrashInAnEntry(t *testing.T) {
	f, before, after := crashed(t)
	id, _, _, err := readMark(after)
	if err != nil {
		t.Fatal(err)
	}
	oldHead, newHead := before[:id.Head], after[:id.Head]
	for cut := len(after); cut >= len(before); cut -= 6 {
		thread := after[id.Head:cut]
		zeros := make([]byte, len(after)-cut)
		for name, content := range map[string][][]byte{
			"old header":        {oldHead, thread},
			"new header":        {newHead, thread},
			"old header, zeros": {oldHead, thread, zeros},
			"new header, zeros": {newHead, thread, zeros},
		} {
			put(t, f, content...)
			doc, err := Parse(f.Path())
			if err != nil {
				t.Fatalf("%s, cut at %d: %v", name, cut, err)
			}
			want := []int64{1, 2}
			if cut == len(after) {
				want = append(want, 3)
			}
			if !reflect.DeepEqual(seqs(doc.Entries), want) {
				t.Fatalf("%s, cut at %d: entries %v, want %v", name, cut, seqs(doc.Entries), want)
			}
			third(t, f)
			if now, _ := os.ReadFile(f.Path()); !bytes.Equal(now, after) {
				t.Fatalf("%s, cut at %d: mended to\n%s\nwant\n%s", name, cut, now, after)
			}
		}
	}
}

// A header of which the first part is new and the rest old, as a crash can
// leave it and a reader can see it, is still a header.
func TestHeaderOfTwoHalves(t *testing.T) {
	f, before, after := crashed(t)
	id, _, _, err := readMark(after)
	if err != nil {
		t.Fatal(err)
	}
	entries := whole(t, f.Path()).Entries
	for cut := 0; cut <= id.Head; cut++ {
		mixed := bytes.Join([][]byte{after[:cut], before[cut:id.Head], after[id.Head:]}, nil)
		checkStructure(t, mixed, "en", entries)
		if cut%16 > 0 { // the rest needs the disk
			continue
		}
		put(t, f, mixed)
		doc, err := Parse(f.Path())
		if err != nil || len(doc.Entries) != 3 {
			t.Fatalf("cut at %d: %v, %+v", cut, err, doc)
		}
		third(t, f)
		if now, _ := os.ReadFile(f.Path()); !bytes.Equal(now, after) {
			t.Fatalf("cut at %d: mended to\n%s\nwant\n%s", cut, now, after)
		}
	}
}

// What somebody else has changed is neither overwritten nor cut off.
func TestForeignChange(t *testing.T) {
	f, _, after := crashed(t)
	for name, change := range map[string][]byte{
		"a word in the first entry": bytes.Replace(after, []byte("\none\n"), []byte("\nanother\n"), 1),
		"a line at the end":         append(bytes.Clone(after), "my own line\n"...),
		"trailing blanks gone":      bytes.ReplaceAll(after, []byte("  \n"), []byte("\n")),
		"another program's file":    []byte("# x\n"),
		"cut in the header":         after[:300],
		"nothing":                   {},
	} {
		put(t, f, change)
		if err := f.Append(ctx, Header{Seq: 4}, say(4, "four")); !fault.Is(err, fault.Conflict) || fault.HintOf(err) == "" {
			t.Errorf("%s: appended with %v (%s)", name, err, fault.HintOf(err))
		}
		if now, _ := os.ReadFile(f.Path()); !bytes.Equal(now, change) {
			t.Errorf("%s: the file became\n%s", name, now)
		}
		if doc, err := Parse(f.Path()); !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: read with %v as %+v", name, err, doc)
		}
	}
	// A post looks at the ends only: a change of the same length in the middle
	// stays, and whoever reads it all is told.
	put(t, f, bytes.Replace(after, []byte("\none\n"), []byte("\neno\n"), 1))
	if err := f.Append(ctx, Header{Seq: 4}, say(4, "four")); err != nil {
		t.Error(err)
	}
	if doc, err := Parse(f.Path()); !fault.Is(err, fault.Conflict) {
		t.Errorf("read with %v as %+v", err, doc)
	}
	newer := bytes.Replace(after, []byte(`{"v":1`), []byte(`{"v":2`), 1)
	put(t, f, newer)
	if err := f.Append(ctx, Header{Seq: 4}, say(4, "four")); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a newer format: %v", err)
	}
	if _, err := Parse(f.Path()); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a newer format: %v", err)
	}
	if _, err := Parse(f.Path() + "x"); !fault.Is(err, fault.NotFound) {
		t.Errorf("no file: %v", err)
	}
	if _, err := Parse(t.TempDir()); !fault.Is(err, fault.Invalid) {
		t.Errorf("a folder: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	entries := []Entry{say(1, "one"), {Seq: 2, Kind: Notice, Body: "# x"}}
	whole := render(Header{Topic: "t"}, "en", false, entries...)
	f.Add(whole)
	f.Add(whole[:len(whole)-3])
	f.Add(bytes.Replace(whole, []byte(`"head":`), []byte(`"head":9`), 1))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := t.TempDir() + "/x.md"
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		doc, err := Parse(path)
		if err != nil && fault.CodeOf(err) == fault.Invalid || err == nil && doc == nil {
			t.Fatalf("%+v, %v", doc, err)
		}
		g, err := Open(Spec{Root: path[:len(path)-5], Path: path, Room: "r"})
		if err != nil {
			return
		}
		if err := g.Append(ctx, Header{Seq: 9}, say(9, "nine")); err != nil {
			if now, _ := os.ReadFile(path); !bytes.Equal(now, b) {
				t.Fatalf("refused with %v and changed", err)
			}
			return
		}
		doc, err = Parse(path)
		if err != nil || doc.Torn {
			t.Fatalf("written, and then %v, %+v", err, doc)
		}
	})
}
