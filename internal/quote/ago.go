package quote

import (
	"fmt"
	"time"
)

// Since is [Ago] as part of a sentence: "3 min ago", "just now" below a second.
func Since(d time.Duration) string {
	if d < time.Second {
		return "just now"
	}
	return Ago(d) + " ago"
}

// Ago renders a length of time in one unit, for people: seconds, minutes,
// hours, and from 48 hours on days. A negative one counts as none.
func Ago(d time.Duration) string {
	switch {
	case d < 0:
		return "0 s"
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
