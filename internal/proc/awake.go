package proc

import "time"

// Awake is how long this machine has been running without being suspended
// since some moment that stays the same within one host domain ([Host]). Two
// readings tell how long it was awake between them, whatever its wall clock
// did. 0 where the system cannot tell.
func Awake() time.Duration { return awake() }
