package proc

import (
	"os"
	"strconv"
	"strings"
)

// Name gives the short name of a process's program (at most 15 bytes), "" if
// it cannot be told.
func Name(pid int) string {
	name, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(name))
}
