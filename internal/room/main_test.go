package room

import "flag"

// Random schedules by default small enough for every run; -rapid.checks asks
// for more. A failure prints the seed that repeats it.
func init() {
	flag.Set("rapid.checks", "400")
	flag.Set("rapid.nofailfile", "true")
}
