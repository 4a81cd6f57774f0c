package mclaude

import (
	"path"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestRelative(t *testing.T) {
	unix, windows := []string{"/home/a/proj", "/mnt/proj"}, []string{"C:/Proj"}
	for _, c := range []struct {
		roots         []string
		workdir, file string
		want          string // "" is outside
	}{
		{unix, "/home/a/proj", "src/a.go", "src/a.go"},
		{unix, "/home/a/proj", "./src//a.go", "src/a.go"},
		{unix, "/home/a/proj", `src\a.go`, "src/a.go"},
		{unix, "/home/a/proj", "/home/a/proj/a.go", "a.go"},
		{unix, "/home/a/proj", "/mnt/proj/a.go", "a.go"},
		{unix, "/home/a/proj", "/home/a/project/a.go", ""},
		{unix, "/home/a/proj", "../x", ""},
		{unix, "/home/a/proj", "..", ""},
		{unix, "/home/a/proj", "..x/y", "..x/y"},
		{unix, "/home/a/proj", "src/", "src"},
		{unix, "/home/a/proj", "src/**", "src/**"},
		{unix, "/home/a/proj", ".", "."},
		{unix, "/home/a/proj", "/home/a/proj/", "."},
		{unix, "/home/a/proj", "", ""},
		{unix, "/home/a/proj", "a\x00b", ""},
		{unix, "/home/a/proj/sub", "a.go", "sub/a.go"},
		{unix, "/home/a/proj/sub", "../a.go", "a.go"},
		{unix, "/home/a/proj/sub", "../../a.go", ""},
		{unix, "/elsewhere", "a.go", "a.go"},
		{unix, "/elsewhere", "/elsewhere/a.go", "a.go"},
		{unix, "/elsewhere", "/other/a.go", ""},
		{unix, "", "a.go", "a.go"},
		{unix, "relative", "a.go", "a.go"},
		{unix, `D:\work`, `D:\work\src\a.go`, "src/a.go"},
		{windows, `C:\Proj`, `c:\proj\src\a.go`, "src/a.go"},
		{windows, `C:\Proj\sub`, `a.go`, "sub/a.go"},
		{windows, `C:\Proj`, `D:\x`, ""},
		{[]string{"/"}, "/", "/etc/a", "etc/a"},
	} {
		got, ok := relative(c.roots, c.workdir, c.file)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%q in %q: %q %v, want %q", c.file, c.workdir, got, ok, c.want)
		}
	}
}

func TestRelativeStaysBelow(t *testing.T) {
	part := rapid.SampledFrom([]string{"..", ".", "a", "proj", "/", `\`, "home", "C:", "**", "", "é", "\x00"})
	rapid.Check(t, func(t *rapid.T) {
		file := strings.Join(rapid.SliceOf(part).Draw(t, "file"), rapid.SampledFrom([]string{"", "/", `\`}).Draw(t, "sep"))
		workdir := strings.Join(rapid.SliceOf(part).Draw(t, "workdir"), "/")
		got, ok := relative([]string{"/home/proj"}, workdir, file)
		if ok && (got == "" || got != path.Clean(got) || got == ".." || strings.HasPrefix(got, "../") || strings.HasPrefix(got, "/") || strings.Contains(got, `\`)) {
			t.Fatalf("%q in %q gives %q", file, workdir, got)
		}
	})
}
