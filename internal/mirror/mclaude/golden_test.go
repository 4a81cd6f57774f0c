package mclaude

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// The files in testdata have the formats of mclaude 0.6.0, byte by byte.

// recorded puts a recorded lock into a project whose root is called as in it.
func recorded(t *testing.T, l Locks, dir string) {
	t.Helper()
	must(t, os.CopyFS(l.Dir(), os.DirFS(filepath.Join("testdata", dir))))
	es, err := os.ReadDir(filepath.Join("testdata", dir))
	must(t, err)
	for _, e := range es {
		age(t, l, e.Name(), 0)
	}
}

func TestRecordedCommandLine(t *testing.T) {
	l := locks(t)
	recorded(t, l, "cli")
	e := get(t, l, "refactor-auth-middleware")
	if e.Session != "ani-7f3a91c2" || e.Status != Active || e.Ours || e.Trouble != "" || e.Branch != "feature/auth" || e.Worktree != "" ||
		e.Description != "Переписать middleware — 認証" || e.ClaimedAtText != "2026-03-14T09:26:53+0300" || e.WorkingDirectory != "/home/ani/проект" {
		t.Errorf("%+v", e)
	}
	if want := time.UnixMicro(1773469613271828); !e.ClaimedAt.Equal(want) {
		t.Errorf("claimed at %v, want %v", e.ClaimedAt, want)
	}
	if want := []string{"src/auth/middleware.py", "src/auth/session.py", "docs/вход.md", "win/dos/a.py"}; !slices.Equal(e.Paths, want) {
		t.Errorf("paths %q, want %q", e.Paths, want)
	}
	if len(e.Files) != 5 || e.Files[3] != `win\dos\a.py` {
		t.Errorf("files %q", e.Files)
	}
}

func TestRecordedMCP(t *testing.T) {
	l := locks(t)
	recorded(t, l, "mcp")
	age(t, l, "train-model.heartbeat", time.Hour)
	e := get(t, l, "train-model")
	if e.Session != "9f86d081884c7d65" || e.Status != Stale || e.Worktree != "/srv/ml-wt" || e.Branch != "" || len(e.Files) != 0 || e.Trouble != "" {
		t.Errorf("%+v", e)
	}
	if want := time.Unix(1773469613, 0); !e.ClaimedAt.Equal(want) {
		t.Errorf("claimed at %v, want %v", e.ClaimedAt, want)
	}
}

// goldenLock is the lock whose metadata is recorded in testdata.
func goldenLock() Lock {
	return Lock{
		Slug: "fix-login", Session: session, Description: "Fix <login> & log out — вход",
		Files: []string{"src/login.go", "docs/вход.md"}, WorkingDirectory: "/home/ani/проект", Branch: "main",
		ClaimedAt: time.UnixMicro(1773469613250000),
		Claim: Claim{ID: "01J0CLAIM", Holder: "Анна", Identity: "anna", Patterns: []string{"src/**"}, Mode: "exclusive",
			PID: 4711, Host: "host-a", TTL: 30 * time.Minute, Token: 42},
	}
}

func TestWrittenMetadata(t *testing.T) {
	l := locks(t)
	e := write(t, l, goldenLock())
	for name, want := range map[string][]byte{
		"fix-login.lock": []byte(session), "fix-login.heartbeat": nil, "fix-login.metadata.json": golden(t, "written.metadata.json"),
	} {
		got, err := os.ReadFile(filepath.Join(l.Dir(), name))
		must(t, err)
		wantSame(t, name, got, want)
	}
	if !e.Ours || e.Claim.TTL != 30*time.Minute || e.Claim.Token != 42 || e.Claim.Holder != "Анна" || e.Status != Active || e.Trouble != "" {
		t.Errorf("%+v", e)
	}
	least := goldenLock()
	least.Files, least.Branch, least.ClaimedAt, least.Claim = nil, "", time.Unix(1773469613, 0), Claim{Identity: "anna"}
	got, err := least.encode()
	must(t, err)
	wantSame(t, "the least metadata", got, golden(t, "written-least.metadata.json"))
	if !json.Valid(got) {
		t.Error("not JSON")
	}
}

func TestWrittenArchives(t *testing.T) {
	l := locks(t)
	l.now = func() time.Time { return time.Date(2026, 3, 14, 9, 30, 0, 0, time.Local) }
	write(t, l, goldenLock())
	done, err := l.Release("fix-login", session, "Login works again.\r\nSee the tests.\n")
	must(t, err)
	if done.Archive != ".claude/locks/completed/fix-login_2026-03-14_09-30.md" || done.Lock.Claim.ID != "01J0CLAIM" {
		t.Errorf("%+v", done)
	}
	got, err := os.ReadFile(filepath.Join(l.root, done.Archive))
	must(t, err)
	wantSame(t, "release", got, golden(t, "completed/release.md"))

	recorded(t, l, "cli")
	beat := l.now().Add(-200 * time.Second)
	must(t, os.Chtimes(filepath.Join(l.Dir(), "refactor-auth-middleware.heartbeat"), beat, beat))
	done, err = l.Force("refactor-auth-middleware", Forcing{Reason: "the machine\nis gone", Note: "Work is on branch feature/auth."})
	must(t, err)
	if done.Archive != ".claude/locks/completed/refactor-auth-middleware_2026-03-14_09-30_FORCE.md" {
		t.Errorf("%+v", done)
	}
	got, err = os.ReadFile(filepath.Join(l.root, done.Archive))
	must(t, err)
	wantSame(t, "force", got, golden(t, "completed/force.md"))
	if left := folderNames(t, l); left != "" {
		t.Errorf("left: %s", left)
	}
}
