package cli

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"bureau/internal/fault"
)

// duration is a flag for a length of time: Go's notation (90s, 1h30m), whole
// days and weeks (2d, 1w), and a bare number of seconds.
type duration time.Duration

var _ pflag.Value = (*duration)(nil)

func (d *duration) String() string {
	if *d == 0 {
		return ""
	}
	return length(time.Duration(*d))
}

// Type names the value in the help.
func (d *duration) Type() string { return "D" }

// Set reads what was typed.
func (d *duration) Set(s string) error {
	v, err := parseDuration(s)
	*d = duration(v)
	return err
}

// maxDuration keeps moments in the future within what dates can hold.
const maxDuration = 100 * 365 * 24 * time.Hour

func parseDuration(s string) (time.Duration, error) {
	word := strings.ToLower(strings.TrimSpace(s))
	d, err := time.ParseDuration(word)
	if err != nil {
		unit := time.Second
		number := word
		for suffix, u := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
			if n, ok := strings.CutSuffix(word, suffix); ok {
				number, unit = n, u
			}
		}
		n, nErr := strconv.ParseFloat(number, 64)
		if nErr != nil || n != n || n > float64(maxDuration/unit) || n < -float64(maxDuration/unit) {
			return 0, fault.New(fault.Invalid, "%q is no length of time", s).WithHint("write 90s, 5m, 2h, 3d or 1w")
		}
		d = time.Duration(n * float64(unit))
	}
	if d <= 0 || d > maxDuration {
		return 0, fault.New(fault.Invalid, "%q is not a time from now on", s).WithHint("write 90s, 5m, 2h, 3d or 1w")
	}
	return d, nil
}

// length says a duration as short as it can be typed: 5m, 1h30m.
func length(d time.Duration) string {
	s := d.String()
	if short, ok := strings.CutSuffix(s, "m0s"); ok {
		s = short + "m"
	}
	if short, ok := strings.CutSuffix(s, "h0m"); ok {
		s = short + "h"
	}
	return s
}
