package claude

import (
	"os"
	"strings"
	"sync"
)

// comparableStart: the client's procStart and proc.ID's start are both field
// 22 of /proc/PID/stat.
const comparableStart = true

var ownDomain = sync.OnceValue(func() string {
	machine, err := os.ReadFile("/etc/machine-id")
	if err != nil {
		return ""
	}
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return "linux:" + strings.TrimSpace(string(machine)) + ":" + namespace
})

// sameDomain reports whether process ids of a record's domain are process ids
// here. Where either side does not say, they are taken to be: the start time
// decides.
func sameDomain(domain string) bool {
	own := ownDomain()
	return domain == "" || own == "" || domain == own
}
