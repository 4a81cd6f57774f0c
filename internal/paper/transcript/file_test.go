package transcript

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"bureau/internal/fault"
)

var ctx = context.Background()

func start(t *testing.T, s Spec, h Header) *File {
	t.Helper()
	if s.Root == "" {
		s.Root = t.TempDir()
	}
	if s.Path == "" {
		s.Path = "debate.md"
	}
	if s.Room == "" {
		s.Room = "r1"
	}
	f, err := Create(s, h)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func say(seq int64, body string) Entry {
	return Entry{Seq: seq, Kind: Message, From: "@ana", To: []string{"@bob"}, Time: noon.Add(time.Duration(seq) * time.Second), Body: body}
}

// whole reads a file back and fails unless it is sound in every way.
func whole(t *testing.T, path string) *Doc {
	t.Helper()
	doc, err := Parse(path)
	if err != nil {
		t.Fatal(err)
	}
	if doc.Torn {
		t.Fatal("the file is not finished")
	}
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	checkStructure(t, src, doc.Lang, doc.Entries)
	return doc
}

func seqs(entries []Entry) []int64 {
	var out []int64
	for _, e := range entries {
		out = append(out, e.Seq)
	}
	return out
}

func TestAppendAndParse(t *testing.T) {
	f := start(t, Spec{Private: true}, Header{Topic: "t"})
	entries := []Entry{
		{Seq: 1, Kind: Notice, Time: noon, Body: "@ana is here\nand so on"},
		say(2, "hello\n\n```\nopen"),
		{Seq: 4, Kind: Whisper, From: "@bob", To: []string{"@ana"}, Time: noon.Add(time.Nanosecond), Body: "psst"},
		{Seq: 5, Kind: Message, From: "@user", To: []string{"@ana"}, Time: noon, Body: "go on\n", RelayedBy: "ana"},
		{Seq: 6, Kind: Proposal, From: "@ana", Time: noon, Body: "- a\n- b"},
		{Seq: 7, Kind: Vote, From: "@bob", Time: noon, Body: "yes"},
		{Seq: 8, Kind: Result, Time: noon, Body: ""},
		{Seq: 9, Kind: Close, From: "@ana", Time: noon, Body: "\n\ndone\n\n"},
	}
	for i, e := range entries {
		if err := f.Append(ctx, Header{Topic: "t", Seq: e.Seq, Turn: "@ana"}, entries[:i+1]...); err != nil { // all of them again
			t.Fatal(err)
		}
		if last, err := f.Last(ctx); err != nil || last != e.Seq {
			t.Fatalf("Last = %d, %v; want %d", last, err, e.Seq)
		}
		if doc := whole(t, f.Path()); !reflect.DeepEqual(doc.Entries, entries[:i+1]) {
			t.Fatalf("got %+v\nwant %+v", doc.Entries, entries[:i+1])
		}
	}
	src, _ := os.ReadFile(f.Path())
	for _, want := range []string{"@user (relayed by ana) ➔ @ana", "- **Has the floor:** @ana "} {
		if !strings.Contains(string(src), want) {
			t.Errorf("no %q in\n%s", want, src)
		}
	}
}

// The position moves on without entries, and the next read starts there.
func TestUpdateAsksFromWhereTheFileIs(t *testing.T) {
	f := start(t, Spec{}, Header{})
	if err := f.Append(ctx, Header{Seq: 7}, say(3, "x")); err != nil {
		t.Fatal(err)
	}
	err := f.Update(ctx, func(after Point) (Header, []Entry, error) {
		if after.Seq != 7 {
			t.Errorf("asked for what comes after %d, want 7", after.Seq)
		}
		return Header{Seq: 9}, []Entry{say(7, "again"), say(9, "new")}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if doc := whole(t, f.Path()); !reflect.DeepEqual(seqs(doc.Entries), []int64{3, 9}) || doc.Seq != 9 {
		t.Errorf("entries %v up to %d", seqs(doc.Entries), doc.Seq)
	}
	if err := f.Update(ctx, func(Point) (Header, []Entry, error) { return Header{}, nil, context.Canceled }); !errors.Is(err, context.Canceled) {
		t.Errorf("the reader's error became %v", err)
	}
}

func TestAnOlderHeaderDoesNotComeBack(t *testing.T) {
	f := start(t, Spec{}, Header{})
	if err := f.Append(ctx, Header{Seq: 5, Turn: "new"}, say(5, "x")); err != nil {
		t.Fatal(err)
	}
	if err := f.Append(ctx, Header{Seq: 4, Turn: strings.Repeat("old", 200)}, say(4, "x")); err != nil {
		t.Fatal(err)
	}
	src, _ := os.ReadFile(f.Path())
	if !strings.Contains(string(src), "@new") || len(whole(t, f.Path()).Entries) != 1 {
		t.Errorf("got\n%s", src)
	}
}

func TestRefusedEntries(t *testing.T) {
	f := start(t, Spec{}, Header{})
	before, _ := os.ReadFile(f.Path())
	for _, tc := range []struct {
		code    fault.Code
		entries []Entry
	}{
		{fault.Denied, []Entry{say(1, "x"), {Seq: 2, Kind: Whisper, Body: "secret"}}},
		{fault.Invalid, []Entry{say(2, "x"), say(1, "y")}},
		{fault.Invalid, []Entry{say(1, "x"), say(1, "y")}},
		{fault.Invalid, []Entry{say(0, "x")}},
		{fault.Invalid, []Entry{{Seq: 1, Kind: "shout"}}},
	} {
		if err := f.Append(ctx, Header{}, tc.entries...); !fault.Is(err, tc.code) {
			t.Errorf("%+v: %v", tc.entries, err)
		}
	}
	if after, _ := os.ReadFile(f.Path()); string(after) != string(before) {
		t.Errorf("the file changed:\n%s", after)
	}
}

// Whatever the header becomes, and whenever it outgrows its place, the entries
// stay and the structure holds.
func TestHeaderGrows(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		s := Spec{Root: dir, Path: fmt.Sprint(n, ".md"), Room: "r", Lang: rapid.SampledFrom(Languages()).Draw(rt, "lang")}
		f, err := Create(s, Header{})
		if err != nil {
			rt.Fatal(err)
		}
		word := rapid.OneOf(rapid.SampledFrom(hostile), rapid.StringN(0, 300, -1), rapid.Just(strings.Repeat("|", 90)), rapid.Just(strings.Repeat("\u0301", 900)))
		for seq := int64(1); seq <= 4; seq++ {
			h := Header{Seq: seq, Topic: word.Draw(rt, "topic"), Purpose: word.Draw(rt, "purpose"), File: word.Draw(rt, "file"), Turn: word.Draw(rt, "turn"), Opened: noon}
			if rapid.Bool().Draw(rt, "closed") {
				h.Closed = noon
			}
			for range rapid.SampledFrom([]int{0, 1, 9, 200}).Draw(rt, "members") {
				m := Member{Handle: "@m", Status: Present}
				if rapid.IntRange(0, 9).Draw(rt, "odd") == 0 {
					m = Member{Handle: word.Draw(rt, "handle"), Name: word.Draw(rt, "name"), Status: Status(word.Draw(rt, "status")), Joined: noon}
				}
				h.Members = append(h.Members, m)
				h.Queue = append(h.Queue, Waiting{m.Handle, len(h.Queue)})
			}
			e := say(seq, "x")
			e.From, e.To, e.RelayedBy = word.Draw(rt, "from"), []string{word.Draw(rt, "to"), "@bob"}, word.Draw(rt, "relay")
			if err := f.Append(ctx, h, e); err != nil {
				rt.Fatal(err)
			}
			doc, err := Parse(f.Path())
			if err != nil || doc.Torn || len(doc.Entries) != int(seq) {
				rt.Fatalf("%v, %+v", err, doc)
			}
			src, _ := os.ReadFile(f.Path())
			o := checkStructure(rt, src, s.Lang, doc.Entries)
			if want := min(len(h.Members), mostRows) + 1; len(o.rows) != want {
				rt.Fatalf("%d rows in the table, want %d:\n%s", len(o.rows), want, src)
			}
			for _, row := range o.rows {
				if strings.Count(row, "|") < 3 {
					rt.Fatalf("a row of fewer than four cells: %q", row)
				}
			}
		}
	})
}

func TestPlaces(t *testing.T) {
	root := t.TempDir()
	outside := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(root, "mine.md"), "# my notes\n")
	write(filepath.Join(root, "empty.md"), "")
	write(filepath.Join(root, "like.md"), "<!-- bureau:transcript -->\n")
	write(filepath.Join(root, "file", "x"), "")
	write(filepath.Join(outside, "theirs.md"), "x")
	other, err := Create(Spec{Root: root, Path: "other.md", Room: "r2"}, Header{})
	if err != nil {
		t.Fatal(err)
	}
	links := map[string]string{"link.md": "mine.md", "dangling.md": "nothing.md", "folder": filepath.Join(root, "file"), "out": outside, "mine2.md": other.Path()}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			if runtime.GOOS == "windows" {
				t.Skip("this system makes no symbolic links here: ", err)
			}
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		path  string
		force bool
		code  fault.Code
	}{
		{"new.md", false, ""},
		{"new.md", false, ""}, // continued
		{"a/b/c.md", false, ""},
		{filepath.Join(root, "absolute.md"), false, ""},
		{DefaultName("../Réunion: x"), false, ""},
		{"mine.md", false, fault.Conflict},
		{"mine.md", true, fault.Conflict},
		{"empty.md", false, fault.Conflict},
		{"like.md", false, fault.Conflict},
		{"other.md", false, fault.Conflict},
		{"file", false, fault.Conflict},
		{"mine.md/x.md", false, fault.Conflict},
		{"link.md", false, fault.Denied},
		{"link.md", true, fault.Denied},
		{"mine2.md", false, fault.Denied},
		{"dangling.md", false, fault.Denied},
		{"folder/x.md", false, fault.Denied},
		{"out/x.md", false, fault.Denied},
		{"../x.md", false, fault.Denied},
		{"a/../../x.md", false, fault.Denied},
		{filepath.Join(outside, "x.md"), false, fault.Denied},
		{filepath.Join(outside, "x.md"), true, ""},
		{filepath.Join(outside, "theirs.md"), true, fault.Conflict},
		{".git/x.md", false, fault.Denied},
		{"a/.GIT/x.md", false, fault.Denied},
		{"", false, fault.Invalid},
		{".", false, fault.Invalid},
		{"a\x00b", false, fault.Invalid},
	} {
		f, err := Create(Spec{Root: root, Path: tc.path, Room: "r1", Force: tc.force}, Header{})
		if fault.CodeOf(err) != tc.code {
			t.Errorf("%q (force %v): %v, want %q", tc.path, tc.force, err, tc.code)
			continue
		}
		if err == nil {
			if err := f.Append(ctx, Header{}, say(1, "x")); err != nil {
				t.Errorf("%q: %v", tc.path, err)
			}
			whole(t, f.Path())
		} else if fault.HintOf(err) == "" && tc.code == fault.Conflict && !strings.Contains(tc.path, "file") && !strings.Contains(tc.path, "/") {
			t.Errorf("%q: no next step in %v", tc.path, err)
		}
	}
	for path, want := range map[string]string{"mine.md": "# my notes\n", "empty.md": "", "like.md": "<!-- bureau:transcript -->\n"} {
		if got, _ := os.ReadFile(filepath.Join(root, path)); string(got) != want {
			t.Errorf("%s became %q", path, got)
		}
	}
	left, _ := filepath.Glob(filepath.Join(root, ".new-*"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := Open(Spec{Root: root, Path: "none.md", Room: "r1"}); !fault.Is(err, fault.NotFound) {
		t.Errorf("Open of nothing: %v", err)
	}
	for _, room := range []string{"", "a b", "-->", strings.Repeat("x", 65)} {
		if _, err := Create(Spec{Root: root, Path: "x.md", Room: room}, Header{}); !fault.Is(err, fault.Invalid) {
			t.Errorf("room %q: %v", room, err)
		}
	}
	if _, err := Create(Spec{Root: root, Path: "x.md", Room: "r", Lang: "tlh"}, Header{}); !fault.Is(err, fault.Invalid) {
		t.Errorf("an unknown language: %v", err)
	}
	if _, err := Create(Spec{Root: "rel", Path: "x.md", Room: "r"}, Header{}); !fault.Is(err, fault.Invalid) {
		t.Errorf("a relative root: %v", err)
	}
}

// A link that is put in the way later is not followed either.
func TestNoLinkLater(t *testing.T) {
	root := t.TempDir()
	victim := filepath.Join(t.TempDir(), "victim.md")
	f := start(t, Spec{Root: root, Path: "a/debate.md"}, Header{})
	src, _ := os.ReadFile(f.Path())
	if err := os.WriteFile(victim, src, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(f.Path()), os.Symlink(victim, f.Path())); err != nil {
		if runtime.GOOS == "windows" {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	if err := f.Append(ctx, Header{}, say(1, "x")); !fault.Is(err, fault.Denied) {
		t.Errorf("through a link: %v", err)
	}
	if err := os.Remove(f.Path()); err != nil {
		t.Fatal(err)
	}
	if err := f.Append(ctx, Header{}, say(1, "x")); !fault.Is(err, fault.NotFound) {
		t.Errorf("without a file: %v", err)
	}
	if now, _ := os.ReadFile(victim); string(now) != string(src) {
		t.Error("the link's target was written")
	}
}

func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such modes here")
	}
	open := start(t, Spec{}, Header{})
	private := start(t, Spec{Private: true}, Header{})
	for range 2 { // again after the header has grown
		for f, allowed := range map[*File]os.FileMode{open: 0o644, private: 0o600} {
			info, err := os.Stat(f.Path())
			if err != nil || info.Mode().Perm()&^allowed != 0 || info.Mode().Perm()&0o600 != 0o600 {
				t.Errorf("%v, %v", info.Mode(), err)
			}
			if err := f.Append(ctx, Header{Seq: 1, Topic: strings.Repeat("topic ", 60)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	s := private.spec
	s.Private = false
	if _, err := Open(s); !fault.Is(err, fault.Conflict) {
		t.Errorf("a private file opened as one that is not: %v", err)
	}
}

func TestSetAside(t *testing.T) {
	f := start(t, Spec{}, Header{})
	if err := f.Append(ctx, Header{}, say(1, "x")); err != nil {
		t.Fatal(err)
	}
	first, err := SetAside(ctx, f.spec, noon)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Base(first) != "debate.2026-03-04T12-00-00.md" || len(whole(t, first).Entries) != 1 {
		t.Errorf("set aside as %s", first)
	}
	if _, err := Open(f.spec); !fault.Is(err, fault.NotFound) {
		t.Errorf("still there: %v", err)
	}
	if _, err := SetAside(ctx, f.spec, noon); !fault.Is(err, fault.NotFound) {
		t.Errorf("nothing to set aside: %v", err)
	}
	start(t, f.spec, Header{})
	second, err := SetAside(ctx, f.spec, noon)
	if err != nil || filepath.Base(second) != "debate.2026-03-04T12-00-00-2.md" {
		t.Errorf("%s, %v", second, err)
	}
	if len(whole(t, first).Entries) != 1 {
		t.Error("the first one was overwritten")
	}
	foreign := f.spec
	start(t, foreign, Header{})
	foreign.Room = "r9"
	if _, err := SetAside(ctx, foreign, noon); !fault.Is(err, fault.Conflict) {
		t.Errorf("another room's: %v", err)
	}
}
