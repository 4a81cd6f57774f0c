package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"bureau/internal/claim"
	"bureau/internal/fault"
	"bureau/internal/git"
	"bureau/internal/git/place"
	"bureau/internal/office"
	"bureau/internal/roster"
)

// claims measures what guards cost in a project with many live claims.
func (b *bench) claims() error {
	env, err := b.office("claims")
	if err != nil {
		return err
	}
	home := filepath.Join(b.dir, "claims", "office")
	project := filepath.Join(b.dir, "claims", "project")
	if err := os.MkdirAll(filepath.Join(project, "mine"), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(project, ".bureau"), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(project, git.IDFile), []byte("bench\n"), 0o600); err != nil {
		return err
	}
	n := b.scale(10_000, 200)
	if err := fillClaims(home, project, n); err != nil {
		return err
	}
	s, err := b.sessionIn(env, "guarded", project)
	if err != nil {
		return err
	}
	defer s.end()
	where := fmt.Sprintf(", %d live claims", n)
	edit := func(path string) string {
		text := strings.Repeat("some line of a file, as people write them\\n", 700)
		return `{"hook_event_name":"PreToolUse","session_id":"bench-guarded","cwd":"` + project + `","tool_name":"Edit","tool_use_id":"t1",` +
			`"tool_input":{"file_path":"` + filepath.Join(project, path) + `","old_string":"x","new_string":"` + text + `"}}`
	}
	measure := func(n int, path func(i int) string, want string) (list, floor []time.Duration, err error) {
		for i := range n {
			took, out, err := s.hook(edit(path(i)))
			if err != nil || !strings.Contains(out, want) || want == "" && out != "" {
				return nil, nil, fmt.Errorf("the guard of %s printed %q, %v", path(i), out, err)
			}
			list = append(list, took)
			e, err := s.empty(edit(path(i)))
			if err != nil {
				return nil, nil, err
			}
			floor = append(floor, e)
		}
		return list, floor, nil
	}
	add := func(what, budget string, list, floor []time.Duration) {
		ratio := float64(quantile(list, 0.5)) / float64(quantile(floor, 0.5))
		b.add(what+where, fmt.Sprintf("%.2f × an empty program", ratio), budget, ms(quantile(list, 0.5))+", beside "+ms(quantile(floor, 0.5))+", p99 "+ms(quantile(list, 0.99)))
	}
	first, floor, err := measure(b.scale(60, 5), func(i int) string { return "mine/" + strconv.Itoa(i) + ".go" }, "")
	if err != nil {
		return err
	}
	add("guard, first edit of a file (claimed, synced)", "≤ 6 ×", first, floor)
	again, floor, err := measure(b.scale(200, 10), func(int) string { return "mine/0.go" }, "")
	if err != nil {
		return err
	}
	add("guard, edit of a file allowed before", "≤ 1.6 ×", again[1:], floor[1:])
	held, floor, err := measure(b.scale(60, 5), func(i int) string { return fmt.Sprintf("held/%d/a.go", i) }, "deny")
	if err != nil {
		return err
	}
	add("guard, edit of what another holds, denied", "≤ 6 ×", held, floor)
	for _, c := range []struct {
		what, budget string
		args         []string
	}{
		{"bureau who PATH, whole process", "≤ 20 ms", []string{"who", filepath.Join(project, "held/77/a.go"), "--project", project}},
	} {
		list, err := times(b.scale(60, 5), env, b.bureau, c.args...)
		if err != nil {
			return err
		}
		b.add(c.what+where, ms(quantile(list, 0.5)), c.budget, b.timesEmpty(quantile(list, 0.5))+", p99 "+ms(quantile(list, 0.99)))
	}
	return nil
}

// fillClaims makes n live claims of folders in a project.
func fillClaims(home, project string, n int) error {
	ctx := context.Background()
	o, err := office.Open(ctx, office.Options{Home: home, Create: true})
	if err != nil {
		return err
	}
	defer o.Close()
	at, err := place.Of(project)
	if err != nil {
		return err
	}
	p, err := o.SettleProject(ctx, at.Project)
	if err != nil {
		return err
	}
	var holder office.Caller
	for i := range n {
		if i%(claim.MaxHeld/2) == 0 {
			user, err := o.Identify(ctx, office.Claim{})
			if err != nil {
				return err
			}
			name := fmt.Sprintf("holder%d", i)
			if _, err := o.Register(ctx, user, name, roster.Process{}); err != nil {
				return err
			}
			if holder, err = o.Identify(ctx, office.Claim{As: name}); err != nil {
				return err
			}
		}
		pat, err := claim.ParsePattern(fmt.Sprintf("held/%d", i))
		if err != nil {
			return err
		}
		w := claim.Want{Paths: []claim.Pattern{pat}, Mode: claim.Exclusive, Tree: at.Tree, Fold: at.Fold}
		if _, err := o.Claim(ctx, holder, p, office.Claiming{Want: w, Intent: "work on it", TTL: claim.MaxTTL}); err != nil {
			return fmt.Errorf("claim %d: %w (%s)", i, err, fault.HintOf(err))
		}
	}
	return nil
}
