package setup

import (
	"path/filepath"
	"slices"
	"strings"

	"bureau/internal/quote"
	"bureau/internal/setup/jsonc"
)

// pluginServer is the name under which the client knows the server of our
// plugin.
const pluginServer = "plugin:" + serverName + ":" + serverName

// The client (2.1.332) merges deniedMcpServers of all files. A server that an
// entry fits is not started, and nothing is said in the session. Of
// allowedMcpServers it merges all too, unless the administrator's
// allowManagedMcpServersOnly makes it read the administrator's alone; once there
// is such a list, a server that no entry fits is not started. An entry is an
// object with one of serverName, serverCommand (the exact words) and serverUrl
// (for servers over the network). A list of the allowed with any serverCommand
// in it admits servers that are programs by that only.

// ours is what the lists may name our server by.
type ours struct {
	names   []string
	command []string
}

func (d *checkup) ours() ours {
	s := d.server()
	o := ours{names: []string{serverName}, command: append([]string{s.Command}, s.Args...)}
	if PluginEnabled(d.Homes) {
		o.names = append(o.names, pluginServer)
	}
	return o
}

// byName and byCommand report whether an entry fits.
func (o *ours) byName(entry jsonc.Node) bool {
	return entry.Kind() == '{' && slices.Contains(o.names, entry.Get("serverName").Text())
}

func (o *ours) byCommand(entry jsonc.Node) bool {
	words := entry.Get("serverCommand")
	return entry.Kind() == '{' && words.Kind() == '[' && slices.Equal(o.command, texts(words))
}

func texts(list jsonc.Node) []string {
	out := make([]string, list.Len())
	for i := range out {
		out[i] = list.At(i).Text()
	}
	return out
}

// serverLists looks for lists of servers that keep ours out.
func (d *checkup) serverLists(files []source) {
	us := d.ours()
	onlyManaged := false
	for _, f := range files {
		denied := f.root.Get("deniedMcpServers")
		for i := range denied.Len() {
			if denied.Kind() == '[' && (us.byName(denied.At(i)) || us.byCommand(denied.At(i))) {
				d.off(f, "claude.off.server", Problem, "deniedMcpServers lists our server: sessions have none of our tools")
				break
			}
		}
		onlyManaged = onlyManaged || f.managed && f.root.Get("allowManagedMcpServersOnly").Kind() == 't'
	}
	if onlyManaged {
		files = slices.DeleteFunc(slices.Clone(files), func(f source) bool { return !f.managed })
		d.admitted(files, us)
		return
	}
	for _, h := range d.Homes { // each is a client of its own
		d.admitted(slices.DeleteFunc(slices.Clone(files), func(f source) bool { return f.home && f.path != h.Settings() }), us)
	}
}

// admitted looks whether the lists of allowed servers, if there are any, have
// ours in them.
func (d *checkup) admitted(files []source, us ours) {
	var lists []source
	var entries []jsonc.Node
	for _, f := range files {
		allowed := f.root.Get("allowedMcpServers")
		if allowed.Kind() != '[' {
			continue
		}
		lists = append(lists, f)
		for i := range allowed.Len() {
			entries = append(entries, allowed.At(i))
		}
	}
	fits, entry := us.byName, any(map[string]any{"serverName": us.names[0]})
	if slices.ContainsFunc(entries, func(e jsonc.Node) bool { return e.Kind() == '{' && e.Get("serverCommand").Kind() == '[' }) {
		fits, entry = us.byCommand, map[string]any{"serverCommand": us.command}
	}
	if len(lists) == 0 || slices.ContainsFunc(entries, fits) {
		return
	}
	paths := make([]string, len(lists))
	managed := false
	for i, f := range lists {
		paths[i], managed = f.path, managed || f.managed
	}
	fix := "add " + jsonText(entry) + " to it in " + paths[0]
	if managed {
		fix = "ask the administrator to add " + jsonText(entry) + " to it"
	}
	d.add("claude.off.server", Problem, "allowedMcpServers has not our server: sessions have none of our tools ("+strings.Join(paths, ", ")+")", fix)
}

// serverOff looks where else the client keeps that a server is not started: what
// its /mcp dialog switched off, by folder, and an administrator's own file of
// servers, beside which no others run.
func (d *checkup) serverOff() {
	us := d.ours()
	for _, h := range d.Homes {
		_, doc, err := open(h.Global())
		if err != nil {
			continue
		}
		projects := doc.Root().Get("projects")
		for i := range projects.Len() {
			if projects.Kind() != '{' || !slices.ContainsFunc(us.names, func(name string) bool { return has(projects.At(i).Get("disabledMcpServers"), name) }) {
				continue
			}
			level := Info
			if projects.Key(i) == d.Project {
				level = Problem
			}
			d.add("claude.off.server", level, "our server is switched off in "+quote.Line(projects.Key(i), 200)+" ("+h.Global()+")", "switch it on with /mcp in a session there")
		}
	}
	path := filepath.Join(filepath.Dir(d.Managed), "managed-mcp.json")
	if _, doc, err := open(path); err == nil && exists(path) && !doc.Root().Get("mcpServers", serverName).Valid() {
		d.off(source{path: path, managed: true}, "claude.off.server", Problem, "the administrator has a list of servers, and only those run")
	}
}
