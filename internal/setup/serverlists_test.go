package setup

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestListsOfServers: our server is not started where a list of denied servers
// fits it, or a list of allowed ones does not; the doctor says so. The cases are
// what Claude Code 2.1.332 does; those of a person's own files run in internal/e2e.
func TestListsOfServers(t *testing.T) {
	t.Parallel()
	const off = "problem claude.off.server"
	files := func(d *desk, c *Checkup, where string) string {
		return map[string]string{
			"user": d.settings(), "managed": c.Managed, "project": filepath.Join(d.o.Project, ".claude", "settings.json"),
			"local": filepath.Join(d.o.Project, ".claude", "settings.local.json"), "dropped": filepath.Join(filepath.Dir(c.Managed), "managed-settings.d", "10-x.json"),
			"servers": filepath.Join(filepath.Dir(c.Managed), "managed-mcp.json"),
		}[where]
	}
	for name, x := range map[string]struct {
		in   map[string]string // file: settings; OUR is our command as a list
		want []string
	}{
		"denied by name":           {map[string]string{"user": `"deniedMcpServers":[{"serverName":"bureau"}]`}, []string{off}},
		"denied in the project":    {map[string]string{"local": `"deniedMcpServers":[{"serverName":"x"},{"serverName":"bureau"}]`}, []string{off}},
		"denied by command":        {map[string]string{"managed": `"deniedMcpServers":[{"serverCommand":OUR}]`}, []string{off}},
		"denied in a part":         {map[string]string{"dropped": `"deniedMcpServers":[{"serverName":"bureau"}]`}, []string{off}},
		"others denied":            {map[string]string{"user": `"deniedMcpServers":[{"serverName":"bureau2"},{"serverCommand":["bureau","mcp"]},{"serverUrl":"*"},"bureau",7,{}]`}, []string{}},
		"denied and allowed":       {map[string]string{"user": `"deniedMcpServers":[{"serverName":"bureau"}],"allowedMcpServers":[{"serverName":"bureau"}]`}, []string{off}},
		"no list":                  {map[string]string{"user": `"allowedMcpServers":{"serverName":"x"}`}, []string{}},
		"nothing allowed":          {map[string]string{"user": `"allowedMcpServers":[]`}, []string{off}},
		"others allowed":           {map[string]string{"project": `"allowedMcpServers":[{"serverName":"x"},{"serverUrl":"https://*"},"bureau"]`}, []string{off}},
		"allowed":                  {map[string]string{"user": `"allowedMcpServers":[{"serverName":"x"},{"serverName":"bureau"}]`}, []string{}},
		"allowed elsewhere":        {map[string]string{"user": `"allowedMcpServers":[{"serverName":"x"}]`, "local": `"allowedMcpServers":[{"serverName":"bureau"}]`}, []string{}},
		"programs by command":      {map[string]string{"user": `"allowedMcpServers":[{"serverName":"bureau"},{"serverCommand":["x"]}]`}, []string{off}},
		"allowed by command":       {map[string]string{"user": `"allowedMcpServers":[{"serverCommand":OUR}]`}, []string{}},
		"the administrator's only": {map[string]string{"user": `"allowedMcpServers":[{"serverName":"bureau"}]`, "managed": `"allowManagedMcpServersOnly":true,"allowedMcpServers":[{"serverName":"x"}]`}, []string{off}},
		"the administrator's":      {map[string]string{"user": `"allowedMcpServers":[]`, "managed": `"allowManagedMcpServersOnly":true,"allowedMcpServers":[{"serverName":"bureau"}]`}, []string{}},
		"no list of his":           {map[string]string{"user": `"allowedMcpServers":[]`, "managed": `"allowManagedMcpServersOnly":true`}, []string{}},
		"his servers only":         {map[string]string{"servers": `"mcpServers":{"x":{"command":"x"}}`}, []string{off}},
		"ours among his":           {map[string]string{"servers": `"mcpServers":{"bureau":{"command":"x"}}`}, []string{}},
		"plugins only":             {map[string]string{"managed": `"strictPluginOnlyCustomization":true`}, []string{"problem claude.off.hooks", off}},
		"servers of plugins only":  {map[string]string{"managed": `"strictPluginOnlyCustomization":["skills","mcp"]`}, []string{off}},
		"the plugin's tools":       {map[string]string{"user": `"permissions":{"deny":["mcp__plugin_bureau_bureau__send"]}`}, []string{"problem claude.off.tools"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, c := healthy(t)
			s := c.server()
			our, _ := json.Marshal(append([]string{s.Command}, s.Args...))
			for where, text := range x.in {
				path, text := files(d, &c, where), strings.ReplaceAll(text, "OUR", string(our))
				if where == "user" { // beside what setup wrote
					d.write(path, strings.Replace(d.read(path), "{", "{"+text+",", 1))
					continue
				}
				d.write(path, "{"+text+"}")
			}
			if got := bad(Doctor(t.Context(), c)); !slices.Equal(got, x.want) {
				t.Errorf("%q, want %q", got, x.want)
			}
		})
	}
}

// TestSwitchedOffInTheDialog: what /mcp switches off stands in the client's own
// file, by folder.
func TestSwitchedOffInTheDialog(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ folder, want string }{{"", "problem claude.off.server"}, {"/elsewhere", "info claude.off.server"}} {
		d, c := healthy(t)
		folder := x.folder
		if folder == "" {
			folder = d.o.Project
		}
		text, _ := json.Marshal(map[string]any{folder: map[string]any{"disabledMcpServers": []string{"y", "bureau"}}, "/y": map[string]any{"disabledMcpServers": 7}})
		d.write(d.global(), strings.Replace(d.read(d.global()), "{", `{"projects":`+string(text)+",", 1))
		if got := bad(Doctor(t.Context(), c)); !slices.Equal(got, []string{x.want}) {
			t.Errorf("%q: %q, want %q", x.folder, got, x.want)
		}
	}
}
