package setup

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"bureau/internal/agent/claude"
	"bureau/internal/setup/jsonc"
)

// source is a settings file that the client reads.
type source struct {
	path    string
	root    jsonc.Node
	managed bool // the administrator's
	home    bool // the person's own
}

// sources are the files that the client reads, as far as there are such: the
// administrator's and what lies in the folder beside it, the person's, the
// project's two.
func (d *checkup) sources() (list []source) {
	add := func(s source) {
		if slices.ContainsFunc(list, func(x source) bool { return x.path == s.path }) {
			return
		}
		if _, doc, err := open(s.path); err == nil {
			s.root = doc.Root()
			list = append(list, s)
		}
	}
	add(source{path: d.Managed, managed: true})
	dropped, _ := filepath.Glob(filepath.Join(filepath.Dir(d.Managed), "managed-settings.d", "*.json")) // the pattern is ours
	for _, path := range dropped {
		add(source{path: path, managed: true})
	}
	for _, h := range d.Homes {
		add(source{path: h.Settings(), home: true})
	}
	if d.Project != "" {
		for _, name := range []string{"settings.json", "settings.local.json"} {
			add(source{path: filepath.Join(d.Project, ".claude", name)})
		}
	}
	return list
}

// switches looks for settings that turn our ways off, in every file that the
// client reads.
func (d *checkup) switches() {
	files := d.sources()
	for _, s := range files {
		d.switchesIn(s)
	}
	d.serverLists(files)
	d.serverOff()
}

// off adds a finding about a setting, with whom to turn to.
func (d *checkup) off(s source, id string, level Level, text string) {
	fix := "change it in " + s.path
	if s.managed {
		fix = "ask the administrator of " + s.path
	}
	d.add(id, level, text+" ("+s.path+")", fix)
}

func (d *checkup) switchesIn(s source) {
	root := s.root
	off := func(id string, level Level, text string) { d.off(s, id, level, text) }
	on := func(key string) bool { return root.Get(key).Kind() == 't' }
	if on("disableAllHooks") {
		off("claude.off.hooks", Problem, "disableAllHooks is set: no hook runs, so no mail is delivered")
	}
	// Seen with 2.1.332: hold and refuse also stop what the session's own
	// MCP server posts; with refuse nothing is said anywhere.
	if v := root.Get("crossSessionInbound").Text(); v == "hold" || v == "refuse" {
		off("claude.off.inbox", Problem, fmt.Sprintf("crossSessionInbound is %q: an idle session cannot be woken", v))
	}
	for _, list := range []string{"deny", "ask"} {
		rules := root.Get("permissions", list)
		for i := range rules.Len() {
			rule := rules.At(i).Text()
			if rules.Kind() != '[' || !ofOurs(rule) {
				continue
			}
			level := Problem
			if list == "ask" {
				level = Info
			}
			off("claude.off.tools", level, fmt.Sprintf("permissions.%s has %q", list, rule))
		}
	}
	for _, key := range []string{"disabledMcpjsonServers", "disabledMcpServers"} {
		if has(root.Get(key), serverName) {
			off("claude.off.server", Problem, key+" lists our server")
		}
	}
	if !s.managed {
		return
	}
	if on("allowManagedHooksOnly") {
		off("claude.off.hooks", Problem, "allowManagedHooksOnly is set: only the administrator's hooks run")
	}
	strict := root.Get("strictPluginOnlyCustomization")
	for _, x := range []struct{ key, id, what string }{{"hooks", "claude.off.hooks", "hooks"}, {"mcp", "claude.off.server", "servers"}} {
		if (strict.Kind() == 't' || has(strict, x.key)) && !PluginEnabled(d.Homes) {
			off(x.id, Problem, "strictPluginOnlyCustomization is set: only the "+x.what+" of plugins run")
		}
	}
	if on("allowManagedPermissionRulesOnly") {
		off("claude.off.rules", Info, "allowManagedPermissionRulesOnly is set: --allow has no effect")
	}
}

// ofOurs reports whether a permission rule is about our tools.
func ofOurs(rule string) bool {
	plugin := strings.TrimSuffix(claude.PluginToolPrefix, "__")
	return rule == toolRule || strings.HasPrefix(rule, toolRule+"__") || rule == plugin || strings.HasPrefix(rule, claude.PluginToolPrefix) || rule == "mcp__*"
}

// has reports whether a list holds a text.
func has(list jsonc.Node, text string) bool {
	for i := range list.Len() {
		if list.Kind() == '[' && list.At(i).Text() == text {
			return true
		}
	}
	return false
}

// quiet is how long a session may work without one of our hooks: a turn
// begins with one.
const quiet = 2 * time.Minute

// firing compares what the client says about its sessions with when a hook of
// ours last ran.
func (d *checkup) firing() {
	var newest time.Time
	for _, r := range d.Sessions {
		for _, at := range []time.Time{r.StartedAt, r.StatusUpdatedAt} {
			if at.After(newest) && !at.After(d.Now) {
				newest = at
			}
		}
	}
	switch {
	case d.LastHook.IsZero() && newest.IsZero():
		d.add("claude.firing", Info, "no hook has run yet, and no session runs", "start a session of Claude Code")
	case d.LastHook.IsZero():
		d.add("claude.firing", Problem, "sessions run, and no hook of ours ever has", "type /hooks in a session to see what is registered; sessions with --bare run none")
	case newest.Sub(d.LastHook) > quiet:
		d.add("claude.firing", Warning, fmt.Sprintf("the last hook ran %s, and a session was at work %s", ago(d.Now, d.LastHook), ago(d.Now, newest)),
			"type /hooks in that session; one with --bare, or of another office, runs none of ours")
	default:
		d.add("claude.firing", OK, "the last hook ran "+ago(d.Now, d.LastHook), "")
	}
}

func ago(now, then time.Time) string {
	return now.Sub(then).Round(time.Second).String() + " ago"
}

// inboxes looks at the sessions that run now.
func (d *checkup) inboxes() {
	deaf := 0
	for _, r := range d.Sessions {
		if r.SocketPath == "" || r.PeerProtocol != claude.PeerProtocol {
			deaf++
		}
	}
	switch {
	case deaf > 0:
		d.add("claude.inbox", Warning, fmt.Sprintf("%d of %d sessions have no inbox that bureau can ring", deaf, len(d.Sessions)),
			"start them again; two sessions that start in the same second sometimes leave one without")
	case len(d.Sessions) > 0:
		d.add("claude.inbox", OK, fmt.Sprintf("%d sessions run, all with an inbox", len(d.Sessions)), "")
	}
}
