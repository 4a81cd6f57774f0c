package office

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// volumeOf names the file system that a folder lies on, by its device number.
// The runtime folder that keeps it goes with a restart, as these numbers do.
func volumeOf(dir string) string {
	var st syscall.Stat_t
	if err := syscall.Stat(dir, &st); err != nil {
		return ""
	}
	return strconv.FormatUint(st.Dev, 10)
}

// declaredMount gives a folder above path that /etc/fstab lists as a mount
// point and where nothing is mounted.
func declaredMount(path string) string {
	table, err := os.ReadFile("/etc/fstab")
	if err != nil {
		return ""
	}
	return missingMount(path, string(table), isMountPoint)
}

func missingMount(path, fstab string, mounted func(string) bool) string {
	for _, line := range strings.Split(fstab, "\n") {
		fields := strings.Fields(line)
		if len(fields) < 2 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		point := filepath.Clean(unescapeMount(fields[1]))
		if point == "/" || !strings.HasPrefix(path, point+"/") || mounted(point) {
			continue
		}
		return point
	}
	return ""
}

// unescapeMount undoes the octal escapes of fstab(5).
func unescapeMount(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

func isMountPoint(dir string) bool {
	var here, above syscall.Stat_t
	if syscall.Stat(dir, &here) != nil || syscall.Stat(filepath.Dir(dir), &above) != nil {
		return false
	}
	return here.Dev != above.Dev
}
