package office

import (
	"strconv"
	"strings"
	"syscall"
)

// volumeOf names the file system that a folder lies on.
func volumeOf(dir string) string {
	var st syscall.Stat_t
	if err := syscall.Stat(dir, &st); err != nil {
		return ""
	}
	return strconv.FormatInt(int64(st.Dev), 10)
}

// declaredMount gives the folder of a volume that is not mounted: /Volumes/X
// lies on the system's own volume then.
func declaredMount(path string) string {
	rest, ok := strings.CutPrefix(path, "/Volumes/")
	if !ok {
		return ""
	}
	volume, _, _ := strings.Cut(rest, "/")
	point := "/Volumes/" + volume
	if v := volumeOf(point); v != "" && v == volumeOf("/Volumes") {
		return point
	}
	return ""
}
