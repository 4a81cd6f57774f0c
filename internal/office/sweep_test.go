package office

import "time"

// In these tests a waiter that nobody rings sleeps for longer than any of them
// allows, so that one which was not rung is noticed whatever the machine's pace.
func init() { sweepEvery = time.Minute }
