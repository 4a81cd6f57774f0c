package mclaude

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"bureau/internal/fault"
)

func TestPatience(t *testing.T) {
	l := locks(t)
	inside, err := l.enter()
	must(t, err)
	if !inside.alone {
		t.Skip("the file system has no locks")
	}
	put(t, l, tempName("abc.metadata.json"), "{")
	foreign(t, l, "abc", "9f86d081884c7d65")
	l.Patience = time.Millisecond
	if _, err := l.Write(anna("xyz")); !fault.Is(err, fault.Timeout) || ExitCode(err) != ExitInvalid {
		t.Error(err)
	}
	if es := list(t, l); len(es) != 1 { // a look waits for nobody
		t.Errorf("%+v", es)
	}
	inside.close()
	write(t, l, anna("xyz"))
}

// Where processes cannot keep each other out, what looks half done may be what
// another one is doing just now.
func TestRepairBesideOthers(t *testing.T) {
	l := locks(t)
	fresh, old := tempName("abc.metadata.json"), tempName("xyz.metadata.json")
	put(t, l, fresh, "{")
	put(t, l, old, "{")
	age(t, l, old, time.Hour)
	f, err := l.open()
	must(t, err)
	defer f.close()
	must(t, f.repair())
	if left := folderNames(t, l); left != fresh {
		t.Errorf("left: %s", left)
	}
}

// A lock that was taken aside by mistake comes back, unless there is a new one.
func TestTakenAsideByMistake(t *testing.T) {
	l := locks(t)
	foreign(t, l, "abc", "second-session")
	f, err := l.at("aside", func() error {
		put(t, l, "abc.lock", "third-session")
		return nil
	}).open()
	must(t, err)
	defer f.close()
	gone, err := f.take("abc.lock", sameAs([]byte("first-session")))
	if gone || err != nil {
		t.Errorf("%v %v", gone, err)
	}
	data, err := os.ReadFile(filepath.Join(l.Dir(), "abc.lock"))
	if left := folderNames(t, l); err != nil || string(data) != "third-session" || left != "abc.heartbeat abc.lock abc.metadata.json" {
		t.Errorf("%q %v, left: %s", data, err, left)
	}
}
