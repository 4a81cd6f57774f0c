package locks

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bureau/internal/claim"
	"bureau/internal/fault"
	"bureau/internal/git/place"
	"bureau/internal/mirror/mclaude"
	"bureau/internal/office"
	"bureau/internal/presence"
	"bureau/internal/proc"
	"bureau/internal/roster"
	"bureau/internal/runtimedir"
)

// site is an office with a project that has mclaude's lock folder.
type site struct {
	*office.Office
	t       *testing.T
	project office.Project
	mirror  *mirror
	ana     office.Caller
	bob     office.Caller
}

func newSite(t *testing.T) *site {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return newSiteIn(t, root)
}

// newSiteIn is newSite for a project that may be another office's too.
func newSiteIn(t *testing.T, root string) *site {
	t.Helper()
	ctx := context.Background()
	s := &site{t: t, mirror: &mirror{now: time.Now, looked: func() {}, read: func() {}}}
	home := filepath.Join(t.TempDir(), "office")
	o, err := office.Open(ctx, office.Options{Home: home, Create: true, Mirror: s.mirror})
	if err != nil {
		t.Fatal(err)
	}
	s.Office = o
	t.Cleanup(func() {
		if err := o.Close(); err != nil {
			t.Error(err)
		}
		if run, err := runtimedir.Look(home); err == nil {
			os.RemoveAll(run.Path())
		}
	})
	s.project = office.Project{ID: "site", Name: "site", Root: root}
	if _, err := mclaude.Create(root); err != nil {
		t.Fatal(err)
	}
	s.ana, s.bob = s.terminal("ana"), s.terminal("Bøb Ström")
	return s
}

func (s *site) terminal(name string) office.Caller {
	s.t.Helper()
	ctx := context.Background()
	user, err := s.Identify(ctx, office.Claim{Ancestors: []proc.ID{}, Project: s.project})
	if err != nil {
		s.t.Fatal(err)
	}
	name = strings.ReplaceAll(name, " ", "-")
	if _, err := s.Register(ctx, user, name, presence.Self()); err != nil {
		s.t.Fatal(err)
	}
	c, err := s.Identify(ctx, office.Claim{As: name, Ancestors: []proc.ID{}, Project: s.project})
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

func (s *site) claim(c office.Caller, intent string, paths ...string) (office.ClaimView, error) {
	w := claim.Want{Mode: claim.Exclusive, Tree: s.project.Root}
	for _, p := range paths {
		pat, err := claim.ParsePattern(p)
		if err != nil {
			s.t.Fatal(err)
		}
		w.Paths = append(w.Paths, pat)
	}
	return s.Claim(context.Background(), c, s.project, office.Claiming{Want: w, Intent: intent})
}

func (s *site) must(c office.Caller, intent string, paths ...string) office.ClaimView {
	s.t.Helper()
	v, err := s.claim(c, intent, paths...)
	if err != nil {
		s.t.Fatal(err)
	}
	return v
}

func (s *site) active() string { return filepath.Join(s.project.Root, ".claude/locks/active-work") }

// files lists the lock folder.
func (s *site) files() []string {
	s.t.Helper()
	entries, err := os.ReadDir(s.active())
	if err != nil {
		s.t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// foreign writes a lock as mclaude does.
func (s *site) foreign(slug string, age time.Duration, files ...string) {
	s.t.Helper()
	s.foreignIn(s.project.Root, slug, age, files...)
}

// foreignIn writes a lock as a session of mclaude does that works in a folder.
func (s *site) foreignIn(dir, slug string, age time.Duration, files ...string) {
	s.t.Helper()
	at := time.Now().Add(-age)
	active := filepath.Join(dir, ".claude/locks/active-work")
	if err := os.MkdirAll(active, 0o777); err != nil {
		s.t.Fatal(err)
	}
	meta, err := json.MarshalIndent(map[string]any{
		"slug": slug, "session_id": "vasya-77", "claimed_at": at.Format("2006-01-02T15:04:05-0700"), "claimed_at_epoch": float64(at.UnixMicro()) / 1e6,
		"working_directory": dir, "description": "theirs", "files": files, "worktree": nil, "branch": nil,
	}, "", "  ")
	if err != nil {
		s.t.Fatal(err)
	}
	for name, content := range map[string][]byte{slug + ".lock": []byte("vasya-77"), slug + ".metadata.json": meta, slug + ".heartbeat": nil} {
		path := filepath.Join(active, name)
		if err := os.WriteFile(path, content, 0o644); err != nil {
			s.t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *site) metadata(slug string) map[string]any {
	s.t.Helper()
	raw, err := os.ReadFile(filepath.Join(s.active(), slug+".metadata.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		s.t.Fatal(err)
	}
	return m
}

func (s *site) archive() []string {
	s.t.Helper()
	found, err := filepath.Glob(filepath.Join(s.project.Root, ".claude/locks/completed/*.md"))
	if err != nil {
		s.t.Fatal(err)
	}
	return found
}

// A claim is a lock file with the holder's name as it is, and an archive once
// it ended.
func TestClaimIsALockFile(t *testing.T) {
	s := newSite(t)
	v := s.must(s.bob, "Rename the parser!", "src/parser", "lib/*.go", `app/\[slug]/page.tsx`)
	want := []string{"rename-the-parser.heartbeat", "rename-the-parser.lock", "rename-the-parser.metadata.json"}
	if got := s.files(); !slices.Equal(got, want) {
		t.Fatalf("the folder holds %q", got)
	}
	m := s.metadata("rename-the-parser")
	identity := mclaude.Identity("Bøb-Ström")
	if m["holder"] != "Bøb-Ström" || m["identity"] != identity || m["claim"] != string(v.ID) || m["description"] != "Rename the parser!" {
		t.Errorf("%v", m)
	}
	if got := fmt.Sprint(m["files"]); got != "[app/[slug]/page.tsx lib/*.go src/parser]" {
		t.Errorf("files %s", got)
	}
	if id, _ := m["session_id"].(string); !strings.HasPrefix(id, identity+"-") {
		t.Errorf("session %v", m["session_id"])
	}
	// A second work of that name gets a number; what edits claim is one more.
	s.must(s.ana, "rename the parser", "doc")
	for _, path := range []string{"x", "y/z"} {
		if _, err := s.MayEdit(context.Background(), s.ana, s.project, office.Editing{Paths: []string{path}, Tree: s.project.Root}); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.files(); len(got) != 9 || !slices.Contains(got, "rename-the-parser-2.lock") || !slices.Contains(got, "edits-of-ana.lock") {
		t.Errorf("the folder holds %q", got)
	}
	if got := fmt.Sprint(s.metadata("edits-of-ana")["files"]); got != "[x y/z]" {
		t.Errorf("files of the edits: %s", got)
	}
	if _, err := s.Release(context.Background(), s.bob, s.project, []string{string(v.ID)}, "all renamed"); err != nil {
		t.Fatal(err)
	}
	if got := s.files(); len(got) != 6 || slices.Contains(got, "rename-the-parser.lock") {
		t.Errorf("after the release it holds %q", got)
	}
	list := s.archive()
	if len(list) != 1 {
		t.Fatalf("archives %q", list)
	}
	if raw, _ := os.ReadFile(list[0]); !strings.Contains(string(raw), "all renamed") || strings.Contains(list[0], "_FORCE") {
		t.Errorf("%s: %s", list[0], raw)
	}
}

// A lock of another program refuses a claim and is named; a stale one, or one
// on nothing, does not.
func TestForeignLockIsRespected(t *testing.T) {
	for _, c := range []struct {
		name    string
		age     time.Duration
		files   []string
		claims  string
		refused bool
	}{
		{"the file itself", 0, []string{"src/a.py"}, "src/a.py", true},
		{"the folder of it", 0, []string{"src/a.py"}, "src", true},
		{"a file below its folder", 0, []string{"src"}, "src/b/c.py", true},
		{"an absolute name", 0, []string{"ROOT/src/a.py"}, "src/a.py", true},
		{"a pattern", 0, []string{"src/**/*.py"}, "src/b/c.py", true},
		{"another file", 0, []string{"src/a.py"}, "src/b.py", false},
		{"a file outside of the project", 0, []string{"/elsewhere/src/a.py"}, "src/a.py", false},
		{"a name only", 0, nil, "src/a.py", false},
		{"150 s old", 150 * time.Second, []string{"src/a.py"}, "src/a.py", true},
		{"stale", 190 * time.Second, []string{"src/a.py"}, "src/a.py", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			var files []string
			for _, f := range c.files {
				files = append(files, strings.ReplaceAll(f, "ROOT", s.project.Root))
			}
			s.foreign("theirs", c.age, files...)
			_, err := s.claim(s.ana, "mine", c.claims)
			switch {
			case !c.refused && err != nil:
				t.Errorf("refused: %v", err)
			case c.refused && (!fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), `mclaude lock "theirs"`) || !strings.Contains(err.Error(), "vasya-77")):
				t.Errorf("got %v", err)
			}
			if _, err := os.Stat(filepath.Join(s.active(), "theirs.lock")); err != nil {
				t.Error("the other program's lock is gone")
			}
		})
	}
}

// A lock that appears between the look and the writing was there first.
func TestRaceWithAForeignLock(t *testing.T) {
	s := newSite(t)
	s.mirror.looked = func() { s.foreign("theirs", 0, "src/a.py") }
	_, err := s.claim(s.ana, "mine", "src")
	if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "a moment earlier") {
		t.Fatalf("got %v", err)
	}
	if got := s.files(); len(got) != 3 || slices.Contains(got, "mine.lock") {
		t.Errorf("the folder holds %q", got)
	}
	if list, err := s.ClaimList(context.Background(), s.ana, office.ClaimQuery{Project: s.project, Holder: "me"}); err != nil || list.Total != 0 {
		t.Errorf("ana still holds %+v, %v", list, err)
	}
	// One that comes later takes nothing away.
	s.mirror.looked = func() {}
	v := s.must(s.ana, "other", "lib")
	s.foreign("later", -time.Second, "lib/a.py")
	if _, err := s.ExtendClaim(context.Background(), s.ana, string(v.ID), 0); err != nil {
		t.Errorf("a later lock: %v", err)
	}
}

// A takeover's archive says so, and the lock file goes on under the new holder.
func TestTakeoverIsMirrored(t *testing.T) {
	s := newSite(t)
	v := s.must(s.bob, "long work", "src")
	user, err := s.Identify(context.Background(), office.Claim{Ancestors: []proc.ID{}, Project: s.project})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.TakeOver(context.Background(), user, office.Takeover{Claim: string(v.ID), Reason: "bob is ill", Break: true}); err != nil {
		t.Fatal(err)
	}
	if m := s.metadata("long-work"); m["holder"] != "user" {
		t.Errorf("%v", m)
	}
	list := s.archive()
	if len(list) != 1 || !strings.HasSuffix(list[0], "_FORCE.md") {
		t.Fatalf("archives %q", list)
	}
	if raw, _ := os.ReadFile(list[0]); !strings.Contains(string(raw), "bob is ill") {
		t.Errorf("%s", raw)
	}
	// Ended for good, nothing of it is left.
	held, err := s.ClaimList(context.Background(), user, office.ClaimQuery{Project: s.project, Holder: "me"})
	if err != nil || held.Total != 1 {
		t.Fatalf("%+v, %v", held, err)
	}
	if _, err := s.TakeOver(context.Background(), s.ana, office.Takeover{Claim: string(held.Claims[0].ID), Reason: "x", Only: true}); err == nil {
		t.Fatal("ana took it from somebody who is at it")
	}
	v = s.must(s.bob, "more work", "lib")
	if _, err := s.TakeOver(context.Background(), user, office.Takeover{Claim: string(v.ID), Reason: "x", Only: true, Break: true}); err != nil {
		t.Fatal(err)
	}
	if got := s.files(); len(got) != 3 {
		t.Errorf("the folder holds %q", got)
	}
}

// A server's heartbeat is that of the claims whose holders live.
func TestBeat(t *testing.T) {
	s := newSite(t)
	ctx := context.Background()
	if n, err := s.BeatMirrors(ctx); n != 0 || err != nil {
		t.Errorf("without a claim: %d, %v", n, err)
	}
	s.must(s.ana, "living", "src")
	dead := s.session("dead", roster.Process{PID: 1 << 30, Start: 1, Host: proc.Host()})
	s.must(dead, "of the dead", "lib")
	s.foreign("theirs", time.Minute, "doc")
	old := time.Now().Add(-time.Minute)
	beats := []string{"living", "of-the-dead", "theirs"}
	for _, slug := range beats {
		if err := os.Chtimes(filepath.Join(s.active(), slug+".heartbeat"), old, old); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := s.BeatMirrors(ctx); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	for _, slug := range beats {
		st, err := os.Stat(filepath.Join(s.active(), slug+".heartbeat"))
		if err != nil || (time.Since(st.ModTime()) < 30*time.Second) != (slug == "living") {
			t.Errorf("%s: %v, %v", slug, st.ModTime(), err)
		}
	}
}

// Nobody touches the heartbeat of a holder without a server of its own: it is
// set to when the claim can be taken over here, and every command of its holder
// moves it on. With a server it is always of now. A holder that died is stale
// soon.
func TestHeartbeatAhead(t *testing.T) {
	s := newSite(t)
	ctx := context.Background()
	about := func(what, slug string, want time.Duration) {
		t.Helper()
		st, err := os.Stat(filepath.Join(s.active(), slug+".heartbeat"))
		if err != nil {
			t.Fatal(err)
		}
		if got := time.Until(st.ModTime()); got > want || got < want-time.Minute {
			t.Errorf("%s: the heartbeat is %v ahead, want %v", what, got, want)
		}
	}
	age := func(slug string) {
		t.Helper()
		old := time.Now().Add(-5 * time.Minute)
		if err := os.Chtimes(filepath.Join(s.active(), slug+".heartbeat"), old, old); err != nil {
			t.Fatal(err)
		}
	}
	says := func(as string) {
		t.Helper()
		if _, err := s.Identify(ctx, office.Claim{As: as, Ancestors: []proc.ID{}, Project: s.project}); err != nil {
			t.Fatal(err)
		}
	}
	const (
		quiet = 4*time.Hour - mclaude.DefaultStale
		grace = 30*time.Minute - mclaude.DefaultStale
	)
	s.must(s.ana, "alone", "src") // its process is this one
	about("a terminal agent whose process lives", "alone", quiet)
	age("alone")
	says("Bøb-Ström")
	about("a command of one who holds nothing", "alone", -5*time.Minute)
	says("ana")
	about("its next command", "alone", quiet)

	carl := s.session("carl", presence.Self())
	s.must(carl, "hooks only", "lib")
	about("a session without a server", "hooks-only", quiet)
	live, err := s.Live(ctx)
	if err != nil {
		t.Fatal(err)
	}
	server := presence.Life{Agent: carl.Agent.ID, Process: presence.Self(), Role: presence.Server, Client: "claude", Session: "carl", Since: time.Now()}
	if err := live.Enter(ctx, server); err != nil {
		t.Fatal(err)
	}
	s.must(carl, "served", "doc")
	about("a session with a server", "served", 0)

	sleep := exec.Command("sleep", "600")
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	id, ok := proc.Of(sleep.Process.Pid)
	if !ok {
		t.Fatal("the process is gone")
	}
	dead := s.session("dead", roster.Process{PID: id.PID, Start: id.Start, Host: proc.Host()})
	s.must(dead, "of the dead", "etc")
	about("before its death", "of-the-dead", quiet)
	if err := sleep.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = sleep.Wait()
	if n, err := s.BeatMirrors(ctx); n != 3 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	about("the server's round, of a terminal agent", "alone", quiet)
	about("the server's round, of its session", "hooks-only", 0)
	about("the server's round, of the dead", "of-the-dead", 0)
	age("of-the-dead")
	if _, err := s.BeatMirrors(ctx); err != nil {
		t.Error(err)
	}
	about("of one that is dead for long", "of-the-dead", -5*time.Minute)

	// Another office takes none of them for a broken clock.
	l, _ := mclaude.Locate(s.project.Root)
	for slug, want := range map[string]mclaude.Status{"alone": mclaude.Active, "served": mclaude.Active, "of-the-dead": mclaude.Stale} {
		if e, found, err := l.Get(slug); err != nil || !found || e.Status != want || e.Claim.Ahead != 4*time.Hour {
			t.Errorf("%s: %+v, %v", slug, e, err)
		}
	}

	// Whose session ended may come back within the grace time.
	if err := s.EndSession(ctx, carl.Agent.ID, carl.Process, "logout"); err != nil {
		t.Fatal(err)
	}
	about("a parked claim", "served", grace)
}

func (s *site) session(id string, p roster.Process) office.Caller {
	s.t.Helper()
	ctx := context.Background()
	r, err := s.StartSession(ctx, office.Session{Client: "claude", ID: id, Declared: id, Process: p, Folder: s.project.Root, Project: s.project})
	if err != nil {
		s.t.Fatal(err)
	}
	return office.Caller{Agent: r.Agent, Process: p, Session: id, Project: s.project}
}

// The setting decides whether there are files at all.
func TestSetting(t *testing.T) {
	s := newSite(t)
	if err := os.RemoveAll(filepath.Join(s.project.Root, ".claude")); err != nil {
		t.Fatal(err)
	}
	s.must(s.ana, "no folder", "a")
	if _, err := os.Stat(filepath.Join(s.project.Root, ".claude")); !os.IsNotExist(err) {
		t.Errorf("a folder was made: %v", err)
	}
	set := func(mirror string) {
		t.Helper()
		user, err := s.Identify(context.Background(), office.Claim{Ancestors: []proc.ID{}, Project: s.project})
		if err != nil {
			t.Fatal(err)
		}
		r := claim.DefaultRules()
		r.Mirror = mirror
		if err := s.SetClaimRules(context.Background(), user, s.project, r); err != nil {
			t.Fatal(err)
		}
	}
	set("on")
	s.must(s.ana, "with folder", "b")
	if got := s.files(); !slices.Contains(got, "with-folder.lock") {
		t.Errorf("on: %q", got)
	}
	set("off")
	s.foreign("theirs", 0, "c")
	s.must(s.ana, "off now", "c")
	if got := s.files(); slices.Contains(got, "off-now.lock") {
		t.Errorf("off: %q", got)
	}
}

// When no lock files are to be kept any more, those that were written go, and
// nothing of others; what is left of a claim that has ended goes with the next
// heartbeat.
func TestOffTakesBack(t *testing.T) {
	s, other := newSite(t), newSite(t)
	other.project.Root = s.project.Root
	ctx := context.Background()
	user, err := s.Identify(ctx, office.Claim{Ancestors: []proc.ID{}, Project: s.project})
	if err != nil {
		t.Fatal(err)
	}
	set := func(mirror string) {
		t.Helper()
		r := claim.DefaultRules()
		r.Mirror = mirror
		if err := s.SetClaimRules(ctx, user, s.project, r); err != nil {
			t.Fatal(err)
		}
		if err := s.TakeBackLocks(ctx, s.project); err != nil {
			t.Fatal(err)
		}
	}
	s.foreign("theirs", 0, "c")
	other.must(other.ana, "another office", "lib")
	v := s.must(s.ana, "docs", "docs")
	w := s.must(s.bob, "left over", "old")
	if _, err := s.MayEdit(ctx, s.bob, s.project, office.Editing{Paths: []string{"src/a.go"}, Tree: s.project.Root}); err != nil {
		t.Fatal(err)
	}
	// A process that died before it removed the file of the claim that it ended.
	left := map[string][]byte{}
	for _, f := range s.files() {
		if strings.HasPrefix(f, "left-over") {
			if left[f], err = os.ReadFile(filepath.Join(s.active(), f)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := s.Release(ctx, s.bob, s.project, []string{string(w.ID)}, "it is finished"); err != nil {
		t.Fatal(err)
	}
	crash := func() {
		t.Helper()
		for f, raw := range left {
			if err := os.WriteFile(filepath.Join(s.active(), f), raw, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	locked := func() (out []string) {
		for _, f := range s.files() {
			if slug, ok := strings.CutSuffix(f, ".lock"); ok {
				out = append(out, slug)
			}
		}
		return out
	}
	crash()
	if _, err := s.BeatMirrors(ctx); err != nil {
		t.Fatal(err)
	}
	if got := locked(); slices.Contains(got, "left-over") || len(got) != 4 {
		t.Fatalf("%q", got)
	}
	crash()
	set("off")
	if got := locked(); !slices.Equal(got, []string{"another-office", "theirs"}) {
		t.Fatalf("%q", got)
	}
	for _, f := range s.files() {
		if strings.HasPrefix(f, "docs") || strings.HasPrefix(f, "edits-of") || strings.HasPrefix(f, "left-over") {
			t.Errorf("%s is still there", f)
		}
	}
	if text := strings.Join(s.archive(), " "); !strings.Contains(text, "docs") || !strings.Contains(text, "left-over") {
		t.Errorf("%s", text)
	}
	set("auto")
	if held := s.held(s.ana); len(held) != 1 || held[0].ID != v.ID {
		t.Errorf("%+v", held)
	}
	// Nobody has taken the place of what has no file.
	if _, err := s.BeatMirrors(ctx); err != nil {
		t.Fatal(err)
	}
	if held := s.held(s.ana); len(held) != 1 {
		t.Errorf("%+v", held)
	}
}

// A lock file of another office is respected; one of a claim that ended here is
// not.
func TestTwoOfficesOneFolder(t *testing.T) {
	s, other := newSite(t), newSite(t)
	other.project.Root = s.project.Root
	other.must(other.ana, "theirs", "src")
	if _, err := s.claim(s.ana, "mine", "src/a"); !fault.Is(err, fault.Conflict) {
		t.Errorf("got %v", err)
	}
	v := s.must(s.ana, "lib work", "lib")
	copied := map[string][]byte{}
	for _, f := range s.files() {
		if strings.HasPrefix(f, "lib-work") {
			raw, err := os.ReadFile(filepath.Join(s.active(), f))
			if err != nil {
				t.Fatal(err)
			}
			copied[f] = raw
		}
	}
	if _, err := s.Release(context.Background(), s.ana, s.project, []string{string(v.ID)}, ""); err != nil {
		t.Fatal(err)
	}
	for f, raw := range copied {
		if err := os.WriteFile(filepath.Join(s.active(), f), raw, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.claim(s.bob, "lib again", "lib"); err != nil {
		t.Errorf("a file of an ended claim: %v", err)
	}
}

func TestSlug(t *testing.T) {
	for _, c := range []struct {
		resources []claim.Resource
		intent    string
		paths     []claim.Pattern
		want      string
		exact     bool
	}{
		{[]claim.Resource{"lock:fix-auth"}, "whatever", nil, "fix-auth", true},
		{[]claim.Resource{"port:8080"}, "Fix the auth", nil, "fix-the-auth", false},
		{[]claim.Resource{"lock:x"}, "Fix the auth", nil, "fix-the-auth", false},
		{nil, "", []claim.Pattern{"src/a.py"}, "src-a-py", false},
	} {
		if got, exact := Slug(c.resources, c.intent, c.paths); got != c.want || exact != c.exact {
			t.Errorf("%v %q %v: %q, %v", c.resources, c.intent, c.paths, got, exact)
		}
	}
}

// Of several processes in one name exactly one gets a lock.
func TestOneOfManyGetsTheLock(t *testing.T) {
	for _, folder := range []bool{true, false} {
		s := newSite(t)
		if !folder {
			if err := os.RemoveAll(filepath.Join(s.project.Root, ".claude")); err != nil {
				t.Fatal(err)
			}
		}
		at, err := place.Of(s.project.Root)
		if err != nil {
			t.Fatal(err)
		}
		const many = 8
		got := make(chan error, many)
		for i := range many {
			go func() {
				c := s.ana
				if i%2 == 0 {
					c = s.bob
				}
				_, err := Work{Office: s.Office, Caller: c, Project: s.project}.
					Claim(context.Background(), Request{Slug: "one-only", Description: "the only one", Place: at})
				got <- err
			}()
		}
		won := 0
		for range many {
			if err := <-got; err == nil {
				won++
			} else if exit := mclaude.ExitCode(err); exit != mclaude.ExitHeld {
				t.Errorf("exit %d: %v", exit, err)
			}
		}
		if won != 1 {
			t.Errorf("folder %v: %d got it", folder, won)
		}
	}
}
