//go:build !linux && !darwin

package db

// fileSystemOf does not know: the system does not say it in a common way.
func fileSystemOf(string) (kind string, remote bool) { return "", false }
