//go:build !linux

package claude

import (
	"runtime"
	"strings"
)

// comparableStart: the unit of procStart is not known here.
const comparableStart = false

// sameDomain reports whether process ids of a record's domain are process ids
// here. The form beyond the system's name is known for Linux only.
func sameDomain(domain string) bool {
	system, _, told := strings.Cut(domain, ":")
	return !told || system == runtime.GOOS || system != "linux"
}
