package mclaude

import (
	"testing"
	"time"
)

func TestJudge(t *testing.T) {
	now := time.Date(2026, 3, 14, 9, 30, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	var none time.Time
	for _, c := range []struct {
		name                      string
		rule                      Rule
		lock, heartbeat, metadata time.Time
		ahead                     time.Duration
		want                      Status
	}{
		{"heartbeat of 179 s", Rule{}, ago(time.Hour), ago(179 * time.Second), ago(time.Hour), 0, Active},
		{"heartbeat of 181 s", Rule{}, ago(time.Hour), ago(181 * time.Second), ago(time.Hour), 0, Stale},
		{"another stale time", Rule{Stale: time.Hour}, ago(2 * time.Hour), ago(59 * time.Minute), none, 0, Active},
		{"no heartbeat yet", Rule{}, ago(time.Minute), none, none, 0, Active},
		{"no heartbeat for too long", Rule{}, ago(3 * time.Minute), none, ago(3 * time.Minute), 0, Stale},
		{"another grace", Rule{Grace: time.Second}, ago(2 * time.Second), none, none, 0, Stale},
		{"no heartbeat, lock of the future", Rule{}, ago(-time.Hour), none, none, 0, Active},
		{"no heartbeat, lock of the future, old metadata", Rule{}, ago(-time.Hour), none, ago(time.Hour), 0, Stale},
		{"heartbeat a little ahead", Rule{}, ago(time.Hour), ago(-4 * time.Minute), ago(time.Hour), 0, Active},
		{"heartbeat of the future, old lock", Rule{}, ago(time.Hour), ago(-2 * time.Hour), ago(time.Hour), 0, Stale},
		{"heartbeat of the future, old lock, no metadata", Rule{}, ago(time.Hour), ago(-2 * time.Hour), none, 0, Stale},
		{"heartbeat of the future, new lock", Rule{}, ago(time.Minute), ago(-2 * time.Hour), ago(time.Minute), 0, Active},
		{"heartbeat of the future, new metadata", Rule{}, ago(time.Hour), ago(-2 * time.Hour), ago(time.Minute), 0, Active},
		{"all of the future", Rule{}, ago(-time.Hour), ago(-2 * time.Hour), ago(-time.Hour), 0, Active},
		{"another skew", Rule{Skew: 3 * time.Hour}, ago(time.Hour), ago(-2 * time.Hour), none, 0, Active},
		{"ahead to the end of the lease", Rule{}, ago(10 * time.Minute), ago(-17 * time.Minute), ago(10 * time.Minute), 30 * time.Minute, Active},
		{"ahead by more than the lease", Rule{}, ago(10 * time.Minute), ago(-40 * time.Minute), ago(10 * time.Minute), 30 * time.Minute, Stale},
		{"past the lease", Rule{}, ago(time.Hour), ago(181 * time.Second), ago(time.Hour), 30 * time.Minute, Stale},
	} {
		if got := c.rule.Judge(now, c.lock, c.heartbeat, c.metadata, c.ahead); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
