//go:build !linux && !darwin

package office

// volumeOf has no answer on this system; a missing volume is then noticed only
// by its missing folder.
func volumeOf(string) string { return "" }

func declaredMount(string) string { return "" }
