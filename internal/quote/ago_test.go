package quote

import (
	"testing"
	"time"
)

func TestAgo(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0 s": -time.Hour, "59 s": 59*time.Second + 999*time.Millisecond, "1 min": time.Minute, "59 min": time.Hour - 1, "1 h": time.Hour,
		"47 h": 48*time.Hour - 1, "2 days": 48 * time.Hour, "30 days": 30*24*time.Hour + time.Hour,
	} {
		if got := Ago(d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}
