package setup

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"bureau/internal/agent/claude"
)

func readJSON(t *testing.T, to any, path ...string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{"..", ".."}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, to); err != nil {
		t.Fatalf("%s: %v", filepath.Join(path...), err)
	}
}

// The plugin registers what setup registers, with programs found on the path.
func TestPluginIsTheSame(t *testing.T) {
	want := map[string][]group{}
	for _, e := range Events(claude.Tested.Features()) {
		want[e.Name] = []group{{Matcher: e.Matcher, Hooks: []handler{{Type: "command", Command: hookName, Args: []string{clientWord}, Timeout: e.Timeout}}}}
	}
	var hooks struct{ Hooks map[string][]group }
	readJSON(t, &hooks, "plugin", "hooks", "hooks.json")
	if !reflect.DeepEqual(hooks.Hooks, want) {
		t.Errorf("plugin/hooks/hooks.json registers\n%s\nsetup\n%s", jsonText(hooks.Hooks), jsonText(want))
	}
	var servers struct{ MCPServers map[string]server }
	readJSON(t, &servers, "plugin", ".mcp.json")
	if want := map[string]server{serverName: {Type: "stdio", Command: "bureau", Args: []string{"mcp"}}}; !reflect.DeepEqual(servers.MCPServers, want) {
		t.Errorf("plugin/.mcp.json registers %+v", servers.MCPServers)
	}
	folders, err := os.ReadDir(filepath.Join("..", "..", "plugin", "skills"))
	if err != nil || len(folders) != len(skills) {
		t.Errorf("the plugin has %d skills, setup %d: %v", len(folders), len(skills), err)
	}
	for _, s := range skills {
		text, err := os.ReadFile(filepath.Join("..", "..", "plugin", "skills", s.name, "SKILL.md"))
		if err != nil || string(text) != string(s.text) {
			t.Errorf("plugin/skills/%s/SKILL.md differs from setup's: %v", s.name, err)
		}
		if !strings.HasPrefix(string(s.text), "---\nname: "+s.name+"\ndescription: ") {
			t.Errorf("the skill in %s has another name", s.name)
		}
	}
	var plugin struct{ Name, Version string }
	readJSON(t, &plugin, "plugin", ".claude-plugin", "plugin.json")
	var market struct {
		Name    string
		Plugins []struct{ Name, Source string }
	}
	readJSON(t, &market, ".claude-plugin", "marketplace.json")
	if plugin.Name != serverName || market.Name != serverName || len(market.Plugins) != 1 || market.Plugins[0].Name != serverName || market.Plugins[0].Source != "./plugin" {
		t.Errorf("%+v %+v", plugin, market)
	}
}

// The names of our tools that the client makes are what hooks and rules match.
func TestToolNames(t *testing.T) {
	if claude.ToolPrefix != toolRule+"__" || claude.PluginToolPrefix != "mcp__plugin_"+serverName+"_"+serverName+"__" {
		t.Error(claude.ToolPrefix, claude.PluginToolPrefix)
	}
}
