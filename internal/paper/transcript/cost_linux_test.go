package transcript

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

// moved gives the bytes that this process has read and written so far.
func moved(t *testing.T) (read, written int64) {
	t.Helper()
	b, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(b) {
		fmt.Sscanf(string(line), "rchar: %d", &read)
		fmt.Sscanf(string(line), "wchar: %d", &written)
	}
	if read == 0 {
		t.Fatalf("the system does not count: %s", b)
	}
	return read, written
}

// A post at 10,000 entries reads and writes the bytes that one at 10 does.
func TestAppendIsFlat(t *testing.T) {
	f := start(t, Spec{}, Header{Topic: "t", Members: twoMembers})
	body := strings.Repeat("word ", 40)
	seq := int64(0)
	cost := func() (read, written int64) {
		t.Helper()
		seq++
		r, w := moved(t)
		// Each from a process that knows nothing of the file.
		g, err := Open(f.spec)
		if err != nil {
			t.Fatal(err)
		}
		err = g.Update(ctx, func(after Point) (Header, []Entry, error) {
			if after.Seq != seq-1 {
				t.Errorf("asked for what comes after %d, want %d", after.Seq, seq-1)
			}
			return Header{Topic: "t", Members: twoMembers, Seq: seq, Turn: "@ana", Queue: []Waiting{{"@bob", 1}}}, []Entry{say(seq, body)}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		r2, w2 := moved(t)
		return r2 - r, w2 - w
	}
	fill := func(to int64) {
		t.Helper()
		var entries []Entry
		for ; seq < to; seq++ {
			entries = append(entries, say(seq+1, body))
		}
		if err := f.Append(ctx, Header{Topic: "t", Members: twoMembers, Seq: seq}, entries...); err != nil {
			t.Fatal(err)
		}
	}
	fill(10)
	r10, w10 := cost()
	for _, n := range []int64{100, 1000, 10_000} {
		fill(n)
		r, w := cost()
		t.Logf("at %d entries: %d bytes read, %d written", n, r, w)
		// Numbers have more digits later.
		if r > r10+64 || w > w10+64 {
			t.Errorf("at %d entries %d bytes read, %d written; at 10: %d, %d", n, r, w, r10, w10)
		}
	}
	if most := int64(3 * firstRead); r10 > most || w10 > most {
		t.Errorf("a post reads %d bytes and writes %d, more than %d", r10, w10, most)
	}
}

// The header is written anew as a whole a few times only, however much it grows.
func TestGrowthIsRare(t *testing.T) {
	f := start(t, Spec{}, Header{})
	var members []Member
	rewritten, was := 0, info(t, f)
	for seq := int64(1); seq <= 400; seq++ {
		members = append(members, Member{Handle: fmt.Sprint("@m", seq), Name: strings.Repeat("n", int(seq)), Status: Present})
		h := Header{Seq: seq, Members: members, Topic: strings.Repeat("t", int(seq)), Turn: members[seq-1].Handle}
		for _, m := range members {
			h.Queue = append(h.Queue, Waiting{m.Handle, 1})
		}
		if err := f.Append(ctx, h, say(seq, "x")); err != nil {
			t.Fatal(err)
		}
		if now := info(t, f); !os.SameFile(was, now) {
			rewritten++
			was = now
		}
	}
	if rewritten == 0 || rewritten > 16 {
		t.Errorf("the file was written anew %d times in 400 posts", rewritten)
	}
	if doc := whole(t, f.Path()); len(doc.Entries) != 400 {
		t.Errorf("%d entries", len(doc.Entries))
	}
}

func info(t *testing.T, f *File) os.FileInfo {
	t.Helper()
	i, err := os.Stat(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	return i
}
