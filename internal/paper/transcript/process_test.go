package transcript

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestMain lets the test binary play a member in another process.
func TestMain(m *testing.M) {
	if dir := os.Getenv("TRANSCRIPT_TEST_DIR"); dir != "" {
		if err := speak(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func testSpec(dir string) Spec {
	return Spec{Root: dir, Path: "room.md", Room: "room", Lang: "fr"}
}

// journal is the truth in these tests: a line a post, and the number of the
// line is the post's.
func journal(dir string) string { return filepath.Join(dir, "journal") }

func posts(dir string) ([]string, error) {
	b, err := os.ReadFile(journal(dir))
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(b), "\n")
	return lines[:len(lines)-1], nil
}

// catchUp writes what the journal has and the transcript has not.
func catchUp(f *File, dir string) error {
	return f.Update(ctx, func(after Point) (Header, []Entry, error) {
		lines, err := posts(dir)
		if err != nil {
			return Header{}, nil, err
		}
		n := int64(len(lines))
		h := Header{Topic: "load", Seq: n, Turn: lines[n-1]}
		for i := range n / 20 { // somebody comes every 20 posts
			h.Members = append(h.Members, Member{Handle: fmt.Sprint("@m", i), Status: Present})
		}
		var entries []Entry
		for seq := after.Seq + 1; seq <= n; seq++ {
			e := say(seq, lines[seq-1]+"\n\n```\nopen\n# x")
			if seq%5 == 0 {
				e.Kind = Notice
			}
			entries = append(entries, e)
		}
		return h, entries, nil
	})
}

// speak posts lines to the journal and, after each, to the transcript, and
// reads it back.
func speak(dir string) error {
	f, err := Create(testSpec(dir), Header{Topic: "load"})
	if err != nil {
		return err
	}
	out, err := os.OpenFile(journal(dir), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	var count int
	fmt.Sscan(os.Getenv("TRANSCRIPT_TEST_POSTS"), &count)
	for i := range count {
		post := fmt.Sprintf("%s-%d", os.Getenv("TRANSCRIPT_TEST_NAME"), i)
		if _, err := out.WriteString(post + "\n"); err != nil {
			return err
		}
		if err := catchUp(f, dir); err != nil {
			return err
		}
		doc, err := Parse(f.Path())
		if err != nil {
			return err
		}
		mine := slices.ContainsFunc(doc.Entries, func(e Entry) bool { return strings.HasPrefix(e.Body, post+"\n") })
		if !mine || !inOrder(doc.Entries) {
			return fmt.Errorf("after %s: mine %v, entries %v", post, mine, seqs(doc.Entries))
		}
	}
	return nil
}

// inOrder reports whether the entries are 1, 2, 3, …
func inOrder(entries []Entry) bool {
	for i, e := range entries {
		if e.Seq != int64(i)+1 {
			return false
		}
	}
	return true
}

func speaker(t *testing.T, dir, name string, posts int) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "TRANSCRIPT_TEST_DIR="+dir, "TRANSCRIPT_TEST_NAME="+name, fmt.Sprint("TRANSCRIPT_TEST_POSTS=", posts))
	cmd.Stderr = new(bytes.Buffer)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// checkAgainstJournal fails unless the transcript is the journal.
func checkAgainstJournal(t *testing.T, dir string, want int) {
	t.Helper()
	lines, err := posts(dir)
	if err != nil {
		t.Fatal(err)
	}
	if want > 0 && len(lines) != want {
		t.Fatalf("%d posts, want %d", len(lines), want)
	}
	doc := whole(t, filepath.Join(dir, "room.md"))
	if len(doc.Entries) != len(lines) || !inOrder(doc.Entries) {
		t.Fatalf("%d entries for %d posts: %v", len(doc.Entries), len(lines), seqs(doc.Entries))
	}
	for i, e := range doc.Entries {
		if !strings.HasPrefix(e.Body, lines[i]+"\n") {
			t.Fatalf("entry %d is %q, want %q", e.Seq, e.Body, lines[i])
		}
	}
}

// 8 processes, 1,000 posts, and a reader that never stops and knows nothing of
// locks: no post is lost or there twice, and what the reader sees is always a
// whole transcript, up to an entry that is just being written.
func TestProcesses(t *testing.T) {
	dir := t.TempDir()
	var cmds []*exec.Cmd
	for i := range 8 {
		cmds = append(cmds, speaker(t, dir, fmt.Sprint("p", i), 125))
	}
	var done atomic.Bool
	finished := make(chan int)
	go func() {
		reads, most := 0, 0
		for ; !done.Load(); reads++ {
			src, err := os.ReadFile(filepath.Join(dir, "room.md"))
			if os.IsNotExist(err) && most == 0 {
				time.Sleep(time.Millisecond)
				continue
			}
			if err != nil {
				t.Errorf("the reader: %v", err)
				break
			}
			n, problem := glance(src)
			if problem != "" || n < most {
				t.Errorf("the reader saw %d entries after %d, %s:\n%s", n, most, problem, src)
				break
			}
			most = n
		}
		finished <- reads
	}()
	for _, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %s", err, cmd.Stderr)
		}
	}
	done.Store(true)
	if reads := <-finished; reads < 10 {
		t.Errorf("the reader came only %d times", reads)
	}
	if !t.Failed() {
		checkAgainstJournal(t, dir, 1000)
	}
}

// glance looks at a transcript as an editor would, without our checks of sums,
// and gives the number of entries that it shows.
func glance(src []byte) (int, string) {
	// The whole of a long file takes a parser too long to be quick.
	head, thread, ok := bytes.Cut(src, []byte("\n## Fil de discussion\n"))
	if !ok {
		return 0, "without a thread"
	}
	o := read(markdown, append(bytes.Clone(head), "\n## Fil de discussion\n"...))
	if len(o.headings) != 2 || o.headings[0] != "# Multi-Agent Room" || o.tables != 1 || len(o.quotes)+o.rules+len(o.foreign) > 0 {
		return 0, fmt.Sprintf("with the header %+v", o)
	}
	n := bytes.Count(thread, []byte("\n"+entryMark))
	tail := thread[max(0, bytes.LastIndex(thread[:max(0, len(thread)-600)], []byte("\n"+entryMark))):]
	if o := read(markdown, tail); o.tables > 0 || slices.ContainsFunc(o.headings, func(h string) bool { return strings.Trim(h, "# ") != "" && !strings.HasPrefix(h, "### ") }) {
		return n, fmt.Sprintf("with the end %+v", o)
	}
	return n, ""
}

// Members die at any moment, in the middle of a post too. Nothing that the
// journal has is lost, and the next one goes on.
func TestKilledWriters(t *testing.T) {
	dir := t.TempDir()
	for round := range 6 {
		var cmds []*exec.Cmd
		for i := range 3 {
			cmds = append(cmds, speaker(t, dir, fmt.Sprintf("r%dp%d", round, i), 100_000))
		}
		for i, cmd := range cmds {
			was, _ := posts(dir)
			for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
				if now, _ := posts(dir); len(now) > len(was)+7*i {
					break
				}
				if time.Now().After(deadline) {
					t.Fatal("nobody posts any more")
				}
			}
			cmd.Process.Kill()
		}
		for _, cmd := range cmds {
			cmd.Wait()
			if s := cmd.Stderr.(*bytes.Buffer).String(); s != "" {
				t.Fatalf("a member failed before it was killed: %s", s)
			}
		}
		f, err := Create(testSpec(dir), Header{})
		if err != nil {
			t.Fatal(err)
		}
		if err := catchUp(f, dir); err != nil {
			t.Fatal(err)
		}
		checkAgainstJournal(t, dir, 0)
	}
}
