//go:build !linux

package proc

// Name gives the short name of a process's program, "" if it cannot be told,
// as on this system.
func Name(int) string { return "" }
