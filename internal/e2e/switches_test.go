//go:build e2e

package e2e

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bureau/internal/setup"
)

// The doctor says that our server is kept out exactly where the client does not
// start it.
func TestListsOfServersAsTheClientReadsThem(t *testing.T) {
	d := NewDesk(t)
	o := d.options(filepath.Join(d.Bin, "bureau-hook"))
	o.Project = d.Project
	p, err := setup.Prepare(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	local := filepath.Join(d.Project, ".claude", "settings.local.json")
	type entry = map[string]any
	our := []string{o.Bureau, "mcp", "--home", o.Home}
	for name, settings := range map[string]map[string]any{
		"nothing":             {},
		"denied":              {"deniedMcpServers": []any{entry{"serverName": "bureau"}}},
		"denied by command":   {"deniedMcpServers": []any{entry{"serverCommand": our}}},
		"others denied":       {"deniedMcpServers": []any{entry{"serverName": "x"}, entry{"serverCommand": our[:1]}}},
		"nothing allowed":     {"allowedMcpServers": []any{}},
		"others allowed":      {"allowedMcpServers": []any{entry{"serverName": "x"}}},
		"allowed":             {"allowedMcpServers": []any{entry{"serverName": "bureau"}}},
		"programs by command": {"allowedMcpServers": []any{entry{"serverName": "bureau"}, entry{"serverCommand": []string{"x"}}}},
		"allowed by command":  {"allowedMcpServers": []any{entry{"serverCommand": our}}},
	} {
		t.Run(name, func(t *testing.T) {
			d.WriteJSON(local, settings)
			runs := d.listed().server("bureau") == "connected"
			found := setup.Doctor(t.Context(), setup.Checkup{Options: o, Now: time.Now(), Look: setup.LookPath, Managed: filepath.Join(d.Dir, "none.json")})
			off := slices.ContainsFunc(found, func(f setup.Finding) bool { return f.ID == "claude.off.server" && f.Level == setup.Problem })
			if runs == off {
				t.Errorf("with %v the server runs: %v; the doctor: %+v", slices.Collect(maps.Keys(settings)), runs, found)
			}
		})
	}
	// What the /mcp dialog keeps.
	d.WriteJSON(local, map[string]any{})
	global := o.Homes[0].Global()
	raw, err := os.ReadFile(global)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	all["projects"].(map[string]any)[d.Project].(map[string]any)["disabledMcpServers"] = []string{"bureau"}
	d.WriteJSON(global, all)
	if got := d.listed().server("bureau"); got == "connected" {
		t.Errorf("switched off in the dialog, it is %s", got)
	}
	found := setup.Doctor(t.Context(), setup.Checkup{Options: o, Now: time.Now(), Look: setup.LookPath, Managed: filepath.Join(d.Dir, "none.json")})
	if !slices.ContainsFunc(found, func(f setup.Finding) bool { return f.ID == "claude.off.server" && strings.Contains(f.Text, d.Project) }) {
		t.Errorf("%+v", found)
	}
}
