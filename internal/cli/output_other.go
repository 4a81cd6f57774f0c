//go:build !unix

package cli

import "os"

// closedOutput cannot tell here; a write then fails by itself.
func closedOutput(*os.File) bool { return false }
