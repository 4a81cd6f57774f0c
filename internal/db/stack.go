package db

// deepStack is how much of a goroutine's stack SQLite uses in bytes, about:
// its functions are compiled to Go and call each other deeply.
const deepStack = 60 << 10

// growStack makes the stack of the calling goroutine large enough for SQLite
// in one step. A stack that grows while it is used doubles three times, and
// each time everything on it is copied: some 6 to 11 % of the processor time of
// a hook that delivers a message. The stack grows when a function with a large
// frame is entered; that this one does nothing does not matter.
//
//go:noinline
func growStack(use string) byte {
	if use == "" {
		return 0
	}
	var frame [deepStack]byte
	n := copy(frame[:], use)
	return frame[n-1]
}
