package claim

import "flag"

// Random schedules by default small enough for every run; -rapid.checks asks
// for more. A failure prints the seed that repeats it.
func init() {
	flag.Set("rapid.checks", "500")
	flag.Set("rapid.nofailfile", "true")
}
