package setup

import "encoding/json"

// Session gives what registers the office for single sessions and touches no
// file of the person's: the client's --settings (hooks, and the rule that our
// tools may be called) and --mcp-config.
func (o *Options) Session() (settings, servers []byte, err error) {
	hooks := map[string][]group{}
	for _, e := range Events(o.Client.Version.Features()) {
		hooks[e.Name] = []group{{Matcher: e.Matcher, Hooks: []handler{o.handlerFor(e)}}}
	}
	settings, err = json.MarshalIndent(map[string]any{
		"hooks": hooks, "permissions": map[string]any{"allow": []string{toolRule}},
	}, "", "  ")
	if err != nil {
		return nil, nil, err
	}
	servers, err = json.MarshalIndent(map[string]any{"mcpServers": map[string]server{serverName: o.server()}}, "", "  ")
	return settings, servers, err
}
