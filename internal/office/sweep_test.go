package office

import "time"

// patience is how long a test waits for what must come: only a hang takes
// longer, on however busy a machine.
const patience = time.Minute

// In these tests a waiter that nobody rings sleeps for longer than any of them
// allows, so that one which was not rung is noticed whatever the machine's pace.
func init() { sweepEvery = 10 * patience }
