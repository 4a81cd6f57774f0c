package locks

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bureau/internal/claim"
	"bureau/internal/office"
	"bureau/internal/presence"
	"bureau/internal/proc"
)

// clears begins another conversation in a session's process.
func (s *site) clears(c office.Caller, id string) office.Caller {
	s.t.Helper()
	ctx := context.Background()
	r, err := s.StartSession(ctx, office.Session{Client: "claude", ID: id, Continues: true, Process: c.Process, Folder: s.project.Root, Project: s.project})
	s.must0(err)
	if r.Agent.ID != c.Agent.ID {
		s.t.Fatalf("it is %s now", r.Agent.Name)
	}
	c.Agent, c.Session = r.Agent, id
	return c
}

func (s *site) named(c office.Caller) string {
	s.t.Helper()
	a, err := s.Agent(context.Background(), string(c.Agent.ID))
	s.must0(err)
	return string(a.Name)
}

// copyLock makes a second lock file of a claim, under another session.
func (s *site) copyLock(slug, as, session string) {
	s.t.Helper()
	m := s.metadata(slug)
	session = m["identity"].(string) + "-" + session
	m["slug"], m["session_id"] = as, session
	meta, err := json.Marshal(m)
	s.must0(err)
	for name, content := range map[string][]byte{as + ".lock": []byte(session), as + ".metadata.json": meta, as + ".heartbeat": nil} {
		s.must0(os.WriteFile(filepath.Join(s.active(), name), content, 0o644))
	}
}

// A claim's lock stays the one that it was made as, whoever changes the claim
// and under whatever session and name its holder goes on: nobody's own lock is
// taken for another program's, none is left behind, and what earlier versions
// left goes.
func TestLockOfAClaimStaysTheSame(t *testing.T) {
	ctx := context.Background()
	user := func(s *site) office.Caller {
		c, err := s.Identify(ctx, office.Claim{Ancestors: []proc.ID{}, Project: s.project})
		s.must0(err)
		return c
	}
	for _, later := range []struct {
		name string
		by   func(s *site, sue office.Caller) office.Caller // who changes it then
	}{
		{"the same session", func(_ *site, sue office.Caller) office.Caller { return sue }},
		{"another session of its process", func(s *site, sue office.Caller) office.Caller { return s.clears(sue, "cleared") }},
		{"under a new name", func(s *site, sue office.Caller) office.Caller {
			a, err := s.Rename(ctx, user(s), "sue", "zoe")
			s.must0(err)
			sue.Agent = a
			return sue
		}},
		{"a new name, and another session", func(s *site, sue office.Caller) office.Caller {
			_, err := s.Rename(ctx, user(s), "sue", "zoe")
			s.must0(err)
			return s.clears(sue, "cleared")
		}},
		{"the person", func(s *site, _ office.Caller) office.Caller { return user(s) }},
	} {
		for _, named := range []bool{false, true} {
			name := later.name + ", any claim"
			slug := "docs-work"
			if named {
				name, slug = later.name+", a named lock", "fix-it"
			}
			t.Run(name, func(t *testing.T) {
				s := newSite(t)
				sue := s.session("sue", presence.Self())
				w := claim.Want{Mode: claim.Exclusive, Tree: s.project.Root, Paths: []claim.Pattern{"docs"}}
				if named {
					w.Resources = []claim.Resource{"lock:fix-it"}
				}
				v, err := s.Claim(ctx, sue, s.project, office.Claiming{Want: w, Intent: "docs work"})
				s.must0(err)
				was := s.metadata(slug)
				by := later.by(s, sue)
				w.Paths = append(w.Paths, "lib")
				_, err = s.ChangeClaim(ctx, by, string(v.ID), office.ClaimChange{Want: &w})
				s.must0(err)
				_, err = s.ExtendClaim(ctx, by, string(v.ID), 0)
				s.must0(err)
				now := s.metadata(slug)
				if got := s.files(); len(got) != 3 || now["session_id"] != was["session_id"] || now["identity"] != was["identity"] {
					t.Errorf("the folder holds %q; it was %v and is %v", got, was, now)
				}
				if got := now["files"].([]any); len(got) != 2 || now["holder"] != s.named(sue) {
					t.Errorf("it is not brought up to date: %v", now)
				}
				if list := s.archive(); len(list) != 0 {
					t.Errorf("archives %q", list)
				}
				// What an earlier version made of it.
				s.copyLock(slug, "docs-work-2", "another-session-of-it")
				_, err = s.ExtendClaim(ctx, by, string(v.ID), 0)
				s.must0(err)
				if got := names(s.project.Root); !slices.Equal(got, []string{slug}) {
					t.Errorf("with one of an earlier version, the folder holds %q", got)
				}
				s.copyLock(slug, "docs-work-3", "another-session-of-it")
				_, err = s.Release(ctx, by, s.project, []string{string(v.ID)}, "done")
				s.must0(err)
				if got := s.files(); len(got) != 0 {
					t.Errorf("after the release it holds %q", got)
				}
				if missing, err := s.mirror.Missing(s.project.Root, "", claim.DefaultRules()); err != nil || len(missing) != 0 {
					t.Errorf("missing %v, %v", missing, err)
				}
			})
		}
	}
}

// A claim that was given on is another one's lock.
func TestLockOfAGivenClaim(t *testing.T) {
	ctx := context.Background()
	s := newSite(t)
	v := s.must(s.ana, "long work", "src")
	if _, err := s.TransferClaims(ctx, s.ana, []string{string(v.ID)}, string(s.bob.Agent.Name), "yours"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ExtendClaim(ctx, s.bob, string(v.ID), 0); err != nil {
		t.Fatal(err)
	}
	m := s.metadata("long-work")
	if id, _ := m["session_id"].(string); len(s.files()) != 3 || m["holder"] != string(s.bob.Agent.Name) || strings.HasPrefix(id, "ana-") {
		t.Errorf("%q, %v", s.files(), m)
	}
}
