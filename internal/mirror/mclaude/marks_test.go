package mclaude

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A lock of ours that is gone, or another session's, is noticed until its claim
// is said to be over; so is one that was never there to be lost.
func TestMissing(t *testing.T) {
	l := locks(t)
	missing := func(what string, want ...string) {
		t.Helper()
		got, err := l.Missing()
		must(t, err)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	missing("nothing was written")
	write(t, l, anna("abc"))
	id := anna("abc").Claim.ID
	missing("it is there")
	write(t, l, anna("abc"))
	missing("written again")
	remove := func() {
		for _, ext := range []string{lockExt, metadataExt, heartbeatExt} {
			must(t, os.Remove(filepath.Join(l.Dir(), "abc"+ext)))
		}
	}
	remove()
	missing("gone", id)
	foreign(t, l, "abc", "ani-1234567", "a.go")
	missing("another's", id)
	remove()
	write(t, l, anna("other"))
	missing("written under another name")
	_, err := l.Release("other", session, "done")
	must(t, err)
	missing("released by somebody else", id)
	must(t, l.Unmark(id))
	must(t, l.Unmark(id))
	missing("over")

	// What others left there is no note.
	for _, name := range []string{"x.y", "TORN", "EMPTY"} {
		must(t, os.WriteFile(filepath.Join(l.root, marksDir, name), []byte("ABC\n"), 0o666))
	}
	must(t, os.Mkdir(filepath.Join(l.root, marksDir, "FOLDER"), 0o777))
	missing("odd notes")
	for _, id := range []string{"", "../x", "a/b", "a.b"} {
		if markable(id) || l.Unmark(id) != nil {
			t.Errorf("%q is taken for an id", id)
		}
	}
}
