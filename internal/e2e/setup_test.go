//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bureau/internal/agent/claude"
	"bureau/internal/setup"
)

// listing is what a session says of itself when it starts.
type listing struct {
	Servers []struct{ Name, Status string } `json:"mcp_servers"`
	Skills  []string                        `json:"skills"`
	Plugins []struct{ Name string }         `json:"plugins"`
}

func (l listing) server(name string) string {
	for _, s := range l.Servers {
		if s.Name == name {
			return s.Status
		}
	}
	return ""
}

// listed starts a session and gives its listing.
func (d *Desk) listed(args ...string) listing {
	d.T.Helper()
	out := d.Print("hi", append([]string{"--output-format", "stream-json", "--verbose"}, args...)...)
	for _, line := range strings.Split(out, "\n") {
		var l struct {
			Type, Subtype string
			listing
		}
		if json.Unmarshal([]byte(line), &l) == nil && l.Type == "system" && l.Subtype == "init" {
			return l.listing
		}
	}
	d.T.Fatalf("the session lists nothing:\n%s", out)
	return listing{}
}

// Setup, removal and the plugin, as the client itself lists them.
func TestSetupAsTheClientListsIt(t *testing.T) {
	d := NewDesk(t)
	o := d.options(filepath.Join(d.Bin, "bureau-hook"))
	settings := o.Homes[0].Settings()
	d.WriteJSON(settings, map[string]any{"theirs": true})
	before, err := os.ReadFile(settings)
	if err != nil {
		t.Fatal(err)
	}
	apply := func(prepare func(setup.Options) (*setup.Plan, error)) *setup.Plan {
		t.Helper()
		p, err := prepare(o)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Apply(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(p.Notes) > 0 {
			t.Errorf("notes %q", p.Notes)
		}
		return p
	}
	if l := d.listed(); l.server("bureau") != "" || slices.Contains(l.Skills, "bureau") {
		t.Fatalf("listed before: %+v", l)
	}
	for range 2 {
		apply(setup.Prepare)
	}
	got := d.Run(d.Claude, "mcp", "get", "bureau")
	for _, want := range []string{"Scope: User config", "Command: " + o.Bureau, "Args: mcp --home " + d.Office} {
		if !strings.Contains(got, want) {
			t.Errorf("the client's own listing lacks %q:\n%s", want, got)
		}
	}
	if l := d.listed(); l.server("bureau") != "connected" || !slices.Contains(l.Skills, "bureau") {
		t.Errorf("listed: %+v", l)
	}
	apply(setup.PrepareRemoval)
	if l := d.listed(); l.server("bureau") != "" || slices.Contains(l.Skills, "bureau") {
		t.Errorf("listed after removal: %+v", l)
	}
	if out, err := d.Try(d.Claude, "mcp", "get", "bureau"); err == nil {
		t.Errorf("the client still knows the server:\n%s", out)
	}
	if after, err := os.ReadFile(settings); err != nil || string(after) != string(before) {
		t.Errorf("settings are %q, were %q (%v)", after, before, err)
	}
	if _, err := os.Stat(filepath.Join(d.Home, ".claude", "skills")); err == nil {
		t.Error("an empty skills folder is left")
	}

	plugin := d.plugin()
	l := d.listed("--plugin-dir", plugin)
	if l.server("plugin:bureau:bureau") != "connected" || !slices.Contains(l.Skills, "bureau:bureau") || !slices.ContainsFunc(l.Plugins, func(p struct{ Name string }) bool { return p.Name == "bureau" }) {
		t.Errorf("listed with the plugin: %+v", l)
	}
	for _, folder := range []string{plugin, filepath.Dir(plugin)} {
		if out, err := d.Try(d.Claude, "plugin", "validate", folder); err != nil {
			t.Errorf("%s: %v\n%s", folder, err, out)
		}
	}
}

// The plugin for one session only: the doctor sees that its hooks run, does not
// propose to set up what would run them twice, and says so where both are there.
func TestDoctorKnowsThePlugin(t *testing.T) {
	d := NewDesk(t)
	d.Extra = []string{"BUREAU_NAME=bob"}
	d.Terminal("bob", "", "--plugin-dir", d.plugin())
	d.eventually("bob is here", func() bool { return d.agents()["bob"] != "" && len(d.Sessions()) == 1 })
	if out, _ := d.Try("bureau", "doctor"); strings.Contains(out, "setup claude") {
		t.Errorf("with the plugin alone the doctor says\n%s", out)
	}
	d.install(d.hook())
	if out, _ := d.Try("bureau", "doctor"); !strings.Contains(out, "every hook runs twice") || !strings.Contains(out, "--plugin-dir") {
		t.Errorf("with both the doctor says\n%s", out)
	}
}

// Another home of the client has its own files.
func TestSetupInAnotherHome(t *testing.T) {
	d := NewDesk(t)
	dir := filepath.Join(d.Dir, "work account é")
	o := d.options(filepath.Join(d.Bin, "bureau-hook"))
	o.Homes = []claude.Home{{Dir: dir}}
	p, err := setup.Prepare(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	if l := d.listed(); l.server("bureau") != "" {
		t.Errorf("the usual home lists %+v", l)
	}
	d.Extra = append(d.Extra, claude.EnvConfigDir+"="+dir)
	if l := d.listed(); l.server("bureau") != "connected" || !slices.Contains(l.Skills, "bureau") {
		t.Errorf("the other home lists %+v", l)
	}
}
