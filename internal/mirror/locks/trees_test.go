package locks

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bureau/internal/claim"
	"bureau/internal/fault"
	"bureau/internal/mirror/mclaude"
	"bureau/internal/office"
	"bureau/internal/proc"
	"bureau/internal/roster"
)

func (s *site) must0(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// linked gives the project a linked work tree, by what git writes of one.
func (s *site) linked(tree string) {
	s.t.Helper()
	record := filepath.Join(s.project.Root, ".git/worktrees", filepath.Base(tree))
	for _, dir := range []string{record, tree} {
		s.must0(os.MkdirAll(dir, 0o777))
	}
	for name, text := range map[string]string{
		filepath.Join(s.project.Root, ".git/HEAD"): "ref: refs/heads/main\n",
		filepath.Join(record, "HEAD"):              "ref: refs/heads/w\n",
		filepath.Join(record, "commondir"):         "../..\n",
		filepath.Join(record, "gitdir"):            filepath.Join(tree, ".git") + "\n",
		filepath.Join(tree, ".git"):                "gitdir: " + record + "\n",
	} {
		s.must0(os.WriteFile(name, []byte(text), 0o666))
	}
}

func (s *site) claimIn(c office.Caller, tree, intent, path string) (office.ClaimView, error) {
	s.t.Helper()
	pat, err := claim.ParsePattern(path)
	s.must0(err)
	w := claim.Want{Mode: claim.Exclusive, Tree: tree, Paths: []claim.Pattern{pat}}
	return s.Claim(context.Background(), c, s.project, office.Claiming{Want: w, Intent: intent})
}

func (s *site) edits(c office.Caller, tree, path string) (office.Allowed, error) {
	return s.MayEdit(context.Background(), c, s.project, office.Editing{Paths: []string{path}, Tree: tree})
}

func names(dir string) (out []string) {
	entries, _ := os.ReadDir(filepath.Join(dir, ".claude/locks/active-work"))
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".lock"); ok {
			out = append(out, name)
		}
	}
	return out
}

// A session of mclaude in a linked work tree has its locks there. They count in
// that tree as any lock does, and in the others as what will meet at the merge.
func TestLocksOfLinkedWorkTrees(t *testing.T) {
	ctx := context.Background()
	for _, place := range []string{"beside", "nested"} {
		t.Run(place, func(t *testing.T) {
			s := newSite(t)
			beside := filepath.Join(filepath.Dir(s.project.Root), "w2")
			if place == "nested" {
				beside = filepath.Join(s.project.Root, ".claude/worktrees/w2")
			}
			s.linked(beside)
			s.foreignIn(beside, "fixw", 0, "src/a.go")
			// One in the main tree may name a file of the other.
			s.foreign("far", 0, filepath.Join(beside, "doc.md"), "main.md")

			for _, c := range []struct {
				tree, path string
				refused    bool
				meets      string
			}{
				{beside, "src/a.go", true, ""},
				{beside, "doc.md", true, ""},
				{beside, "src/b.go", false, ""},
				{s.project.Root, "src/a.go", false, "fixw"},
				{s.project.Root, "doc.md", false, "far"},
				{s.project.Root, "main.md", true, ""},
				{beside, "main.md", false, "far"},
			} {
				_, err := s.claimIn(s.ana, c.tree, "mine", c.path)
				done, eerr := s.edits(s.bob, c.tree, c.path)
				if c.refused {
					if !fault.Is(err, fault.Conflict) || !fault.Is(eerr, fault.Conflict) {
						t.Errorf("%s in %s: claim %v, edit %v", c.path, c.tree, err, eerr)
					}
					continue
				}
				if err != nil {
					t.Errorf("%s in %s: %v", c.path, c.tree, err)
				}
				v, err := s.Release(ctx, s.ana, s.project, nil, "")
				s.must0(err)
				_ = v
				done, eerr = s.edits(s.bob, c.tree, c.path)
				met := ""
				for _, b := range done.Meets {
					if b.Foreign != "" {
						met = b.Foreign
					}
				}
				if eerr != nil || met != c.meets {
					t.Errorf("%s in %s: edit %v, meets %q, want %q", c.path, c.tree, eerr, met, c.meets)
				}
			}
			// They are listed, with their tree.
			who, err := s.WhoHolds(ctx, s.ana, s.project, claim.Want{Tree: beside, Paths: []claim.Pattern{"src/a.go"}})
			s.must0(err)
			if !slices.ContainsFunc(who.Claims, func(v office.ClaimView) bool { return v.Lock == "fixw" && v.Tree == beside }) {
				t.Errorf("who: %+v", who.Claims)
			}
			rows, err := Work{Office: s.Office, Caller: s.ana, Project: s.project}.List(ctx)
			s.must0(err)
			if !slices.ContainsFunc(rows, func(r Row) bool { return r.Slug == "fixw" && r.Foreign() && r.Worktree == beside }) {
				t.Errorf("the list has no fixw: %+v", rows)
			}
			// Where they may not be worked on at once, they are in the way.
			user := s.ana
			user.Human = true
			r := claim.DefaultRules()
			r.Worktrees = claim.Deny
			s.must0(s.SetClaimRules(ctx, user, s.project, r))
			if _, err := s.claimIn(s.ana, s.project.Root, "mine", "src/a.go"); !fault.Is(err, fault.Conflict) {
				t.Errorf("with worktrees denied: %v", err)
			}
		})
	}
}

// A claim in a linked work tree is a lock file in that tree's folder as well,
// where it has one, by the names that count there.
func TestClaimInALinkedWorkTree(t *testing.T) {
	ctx := context.Background()
	s := newSite(t)
	other := newSiteIn(t, s.project.Root)
	beside := filepath.Join(filepath.Dir(s.project.Root), "w2")
	s.linked(beside)
	v, err := s.claimIn(s.ana, beside, "no folder", "src")
	s.must0(err)
	if got := names(beside); len(got) != 0 {
		t.Errorf("a folder was made: %q", got)
	}
	_, err = s.Release(ctx, s.ana, s.project, []string{string(v.ID)}, "")
	s.must0(err)
	l, err := mclaude.Create(beside)
	s.must0(err)

	v, err = s.claimIn(s.ana, beside, "in the tree", "src")
	s.must0(err)
	_, err = s.edits(s.ana, beside, "doc/x")
	s.must0(err)
	for _, dir := range []string{s.project.Root, beside} {
		if got := names(dir); !slices.Equal(got, []string{"edits-of-ana", "in-the-tree"}) {
			t.Errorf("%s holds %q", dir, got)
		}
	}
	for slug, file := range map[string]string{"in-the-tree": "src", "edits-of-ana": "doc/x"} {
		e, _, err := l.Get(slug)
		s.must0(err)
		if !slices.Equal(e.Files, []string{file}) || e.Worktree != beside {
			t.Errorf("in the tree: %q, work tree %q", e.Files, e.Worktree)
		}
	}
	if n, err := s.BeatMirrors(ctx); n != 2 || err != nil {
		t.Errorf("beaten %d, %v", n, err)
	}
	// Another office understands both of them.
	for _, path := range []string{"src/a", "doc/x"} {
		if _, err := other.claimIn(other.ana, beside, "theirs", path); !fault.Is(err, fault.Conflict) {
			t.Errorf("another office, %s: %v", path, err)
		}
		if v, err := other.claimIn(other.ana, s.project.Root, "theirs", path); err != nil || len(v.Meets) != 1 || v.Meets[0].Tree != beside {
			t.Errorf("another office in the main tree, %s: %+v, %v", path, v.Meets, err)
		}
	}
	_, err = other.Release(ctx, other.ana, other.project, nil, "")
	s.must0(err)
	_, err = s.Release(ctx, s.ana, s.project, nil, "all done")
	s.must0(err)
	for _, dir := range []string{s.project.Root, beside} {
		if got := names(dir); len(got) != 0 {
			t.Errorf("%s still holds %q", dir, got)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(s.project.Root, ".claude/bureau/written/*")); len(left) != 0 {
		t.Errorf("left over: %q", left)
	}
}

// What edits claimed is one lock for each holder. It goes with the last of
// them, and with its session.
func TestEditsAreOneLock(t *testing.T) {
	ctx := context.Background()
	s := newSite(t)
	dead := s.session("dead", roster.Process{PID: 1 << 30, Start: 1, Host: s.ana.Process.Host})
	_, err := s.edits(dead, s.project.Root, "gone.go")
	s.must0(err)
	_, err = s.edits(s.ana, s.project.Root, "src/a.go")
	s.must0(err)
	_, err = s.edits(s.ana, s.project.Root, "src/b[1].go")
	s.must0(err)
	if got := names(s.project.Root); !slices.Equal(got, []string{"edits-of-ana", "edits-of-dead"}) {
		t.Fatalf("the folder holds %q", got)
	}
	l, _ := mclaude.Locate(s.project.Root)
	e, _, err := l.Get("edits-of-ana")
	s.must0(err)
	if !slices.Equal(e.Files, []string{"src/a.go", "src/b[1].go"}) || e.Status != mclaude.Active {
		t.Errorf("%+v", e)
	}
	// It is listed as one, and is what the guards enforce.
	work := Work{Office: s.Office, Caller: s.ana, Project: s.project}
	row, err := work.Get(ctx, "edits-of-ana")
	s.must0(err)
	if !slices.Equal(row.Files, e.Files) || !row.Mine || row.Foreign() || row.Session != e.Session {
		t.Errorf("listed as %+v", row)
	}
	// A wider claim takes one of them in.
	s.must(s.ana, "the parser", "src/a.go")
	if e, _, err := l.Get("edits-of-ana"); err != nil || !slices.Equal(e.Files, []string{"src/b[1].go"}) {
		t.Errorf("%q, %v", e.Files, err)
	}
	// The file of whoever is gone stands in nobody's way.
	if _, err := s.BeatMirrors(ctx); err != nil {
		t.Error(err)
	}
	if got := names(s.project.Root); !slices.Equal(got, []string{"edits-of-ana", "the-parser"}) {
		t.Errorf("after the round the folder holds %q", got)
	}
	if _, _, err := work.Release(ctx, "edits-of-ana", "", "done"); err != nil {
		t.Error(err)
	}
	if got := names(s.project.Root); !slices.Equal(got, []string{"the-parser"}) {
		t.Errorf("after the release it holds %q", got)
	}
}

// forced does what mclaude's lock force-release does, and then its claim.
func (s *site) forced(slug string, files ...string) {
	s.t.Helper()
	for _, ext := range []string{".lock", ".metadata.json", ".heartbeat"} {
		s.must0(os.Remove(filepath.Join(s.active(), slug+ext)))
	}
	if len(files) > 0 {
		s.foreign(slug, 0, files...)
	}
}

// A holder whose lock file another program removed and locked the same passes no
// guard any more, and is told, whoever notices it first.
func TestOvertakenByAnotherProgram(t *testing.T) {
	ctx := context.Background()
	for _, what := range []string{"claim", "edit"} {
		for _, noticed := range []string{"the holder's edit", "its edit of something else", "its commit", "a server", "a command", "a change of the claim", "its extension"} {
			if what == "edit" && strings.HasPrefix(noticed, "a change") || what == "edit" && strings.HasSuffix(noticed, "extension") {
				continue
			}
			t.Run(what+", "+noticed, func(t *testing.T) {
				s := newSite(t)
				slug := "ana-docs"
				if what == "claim" {
					s.must(s.ana, "ana docs", "docs")
				} else {
					slug = "edits-of-ana"
					for _, path := range []string{"docs/d.md", "docs/e.md"} {
						_, err := s.edits(s.ana, s.project.Root, path)
						s.must0(err)
					}
				}
				held := s.held(s.ana)
				s.forced(slug, "docs/d.md")
				var err error
				switch noticed {
				case "the holder's edit":
					_, err = s.edits(s.ana, s.project.Root, "docs/d.md")
				case "its edit of something else":
					_, err = s.edits(s.ana, s.project.Root, "docs/e.md")
					if what == "edit" {
						if err != nil {
							t.Errorf("a file that nobody else locked: %v", err)
						}
						err = fault.New(fault.Conflict, "none")
					}
				case "its commit":
					_, err = s.MayCommit(ctx, s.ana, s.project, office.Editing{Paths: []string{"docs/d.md"}, Tree: s.project.Root})
				case "a server":
					_, berr := s.BeatMirrors(ctx)
					s.must0(berr)
					err = fault.New(fault.Conflict, "none")
				case "a command":
					_, ierr := s.Identify(ctx, office.Claim{As: "ana", Ancestors: []proc.ID{}, Project: s.project})
					s.must0(ierr)
					err = fault.New(fault.Conflict, "none")
				case "a change of the claim":
					_, err = s.ChangeClaim(ctx, s.ana, string(held[0].ID), office.ClaimChange{Intent: "still mine"})
				case "its extension":
					_, err = s.ExtendClaim(ctx, s.ana, string(held[0].ID), time.Hour)
				}
				if !fault.Is(err, fault.Conflict) {
					t.Errorf("%v", err)
				}
				v, err := s.ClaimShow(ctx, string(held[0].ID))
				s.must0(err)
				if v.How != claim.Overtaken || v.EndedAt == nil || !strings.Contains(v.Summary, "lock") {
					t.Errorf("the claim: %+v", v)
				}
				if _, err := s.edits(s.ana, s.project.Root, "docs/d.md"); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "vasya-77") {
					t.Errorf("the edit after that: %v", err)
				}
				// What else its edits claimed goes on, under a free name.
				if got := names(s.project.Root); slices.Contains(got, slug+"-2") != (what == "edit") {
					t.Errorf("the folder holds %q", got)
				}
				inbox, err := s.Inbox(ctx, s.ana, true, office.Page{})
				s.must0(err)
				asked := strings.HasPrefix(noticed, "a change") || strings.HasPrefix(noticed, "its ext") // and told by the refusal
				if told := len(inbox.Messages) > 0; told == asked {
					t.Errorf("messages: %+v", inbox.Messages)
				}
				// When the other is done, it reads again and claims anew.
				s.forced(slug)
				if _, err := s.edits(s.ana, s.project.Root, "docs/d.md"); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "gave way to another program's lock") {
					t.Errorf("without a new claim: %v", err)
				}
				s.must(s.ana, "again", "docs")
				if done, err := s.edits(s.ana, s.project.Root, "docs/d.md"); err != nil || !done.Known {
					t.Errorf("with a new claim: %+v, %v", done, err)
				}
			})
		}
	}
}

// held lists what somebody holds, what edits claimed too.
func (s *site) held(c office.Caller) []office.ClaimView {
	s.t.Helper()
	list, err := s.ClaimList(context.Background(), c, office.ClaimQuery{Project: s.project, Holder: "me", Auto: true})
	s.must0(err)
	return list.Claims
}

// A lock that came later takes nothing away; the holder is told at every edit.
// What only an edit claimed gives way to a lock that was there before.
func TestWhoWasFirst(t *testing.T) {
	s := newSite(t)
	s.must(s.ana, "ana docs", "docs")
	_, err := s.edits(s.ana, s.project.Root, "src/a.go")
	s.must0(err)
	s.foreign("later", -time.Second, "docs/d.md", "src/a.go")
	for range 2 {
		for _, path := range []string{"docs/d.md", "src/a.go"} {
			done, err := s.edits(s.ana, s.project.Root, path)
			if err != nil || len(done.Beside) != 1 || done.Beside[0].Foreign != "later" {
				t.Errorf("%s: %+v, %v", path, done, err)
			}
			done, err = s.MayCommit(context.Background(), s.ana, s.project, office.Editing{Paths: []string{path}, Tree: s.project.Root})
			if err != nil || len(done.Beside) != 1 || done.Beside[0].Overlap[0] != path {
				t.Errorf("commit of %s: %+v, %v", path, done, err)
			}
		}
	}
	if done, err := s.edits(s.ana, s.project.Root, "docs/other"); err != nil || len(done.Beside) != 0 {
		t.Errorf("another file: %+v, %v", done, err)
	}
	if list := s.held(s.ana); len(list) != 2 {
		t.Errorf("ana holds %+v", list)
	}
	// A lock that was stale when the edit claimed the file shows life again.
	s.foreign("slept", time.Hour, "src/b.go")
	_, err = s.edits(s.ana, s.project.Root, "src/b.go")
	s.must0(err)
	now := time.Now()
	s.must0(os.Chtimes(filepath.Join(s.active(), "slept.heartbeat"), now, now))
	if _, err := s.edits(s.ana, s.project.Root, "src/b.go"); !fault.Is(err, fault.Conflict) {
		t.Errorf("a lock that was first: %v", err)
	}
}

// Without its file, and no lock on the same, a claim stands: somebody cleaned
// up. So does one that never had a file.
func TestAMissingFileAloneTakesNothing(t *testing.T) {
	s := newSite(t)
	s.must0(os.RemoveAll(filepath.Join(s.project.Root, ".claude")))
	s.must(s.ana, "before the folder", "src")
	_, err := mclaude.Create(s.project.Root)
	s.must0(err)
	s.must(s.ana, "with a file", "docs")
	s.forced("with-a-file")
	s.foreign("theirs", -time.Second, "src/a.go", "other")
	_, err = s.BeatMirrors(context.Background())
	s.must0(err)
	for _, path := range []string{"src/a.go", "docs/d.md"} {
		if done, err := s.edits(s.ana, s.project.Root, path); err != nil || !done.Known {
			t.Errorf("%s: %+v, %v", path, done, err)
		}
	}
	if list := s.held(s.ana); len(list) != 2 {
		t.Errorf("ana holds %+v", list)
	}
}

// Two offices on one tree: what the person of one takes by force from the other
// is lost there.
func TestOvertakenByAnotherOffice(t *testing.T) {
	ctx := context.Background()
	s := newSite(t)
	other := newSiteIn(t, s.project.Root)
	s.must(s.ana, "office one", "docs")
	user, err := other.Identify(ctx, office.Claim{Ancestors: []proc.ID{}, Project: other.project})
	s.must0(err)
	work := Work{Office: other.Office, Caller: user, Project: other.project}
	if _, _, err := work.Force(ctx, "office-one", "ana is ill", true); err != nil {
		t.Fatal(err)
	}
	if done, err := s.edits(s.ana, s.project.Root, "docs/d.md"); err != nil || !done.Known {
		t.Errorf("nobody took it yet: %+v, %v", done, err)
	}
	if _, err := other.edits(other.bob, s.project.Root, "docs/d.md"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.edits(s.ana, s.project.Root, "docs/d.md"); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "Bøb-Ström") {
		t.Errorf("the edit of the one that lost it: %v", err)
	}
	if list := s.held(s.ana); len(list) != 0 {
		t.Errorf("ana holds %+v", list)
	}
	if done, err := other.edits(other.bob, s.project.Root, "docs/d.md"); err != nil || !done.Known || len(done.Beside) != 0 {
		t.Errorf("the edit of the one that took it: %+v, %v", done, err)
	}
}
