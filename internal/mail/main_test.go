package mail

import "flag"

// Random schedules by default small enough for every run; -rapid.checks asks
// for more. A failure prints the seed that repeats it.
func init() {
	flag.Set("rapid.checks", "1000")
	flag.Set("rapid.nofailfile", "true")
}
