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

// switches looks for settings that turn our ways off, in every file that the
// client reads: the administrator's, the person's, the project's two.
func (d *checkup) switches() {
	files := []string{d.Managed}
	for _, h := range d.Homes {
		files = append(files, h.Settings())
	}
	if d.Project != "" {
		for _, name := range []string{"settings.json", "settings.local.json"} {
			files = append(files, filepath.Join(d.Project, ".claude", name))
		}
	}
	for i, path := range files {
		if slices.Contains(files[:i], path) {
			continue
		}
		if _, doc, err := open(path); err == nil {
			d.switchesIn(path, doc.Root(), i == 0)
		}
	}
}

func (d *checkup) switchesIn(path string, root jsonc.Node, managed bool) {
	off := func(id string, level Level, text string) {
		fix := "change it in " + path
		if managed {
			fix = "ask the administrator of " + path
		}
		d.add(id, level, text+" ("+path+")", fix)
	}
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
			if rules.Kind() != '[' || rule != toolRule && !strings.HasPrefix(rule, toolRule+"__") && rule != "mcp__*" {
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
		names := root.Get(key)
		for i := range names.Len() {
			if names.Kind() == '[' && names.At(i).Text() == serverName {
				off("claude.off.server", Problem, key+" lists our server")
			}
		}
	}
	if !managed {
		return
	}
	if on("allowManagedHooksOnly") {
		off("claude.off.hooks", Problem, "allowManagedHooksOnly is set: only the administrator's hooks run")
	}
	if on("allowManagedMcpServersOnly") {
		off("claude.off.server", Problem, "allowManagedMcpServersOnly is set: only the administrator's servers run")
	}
	if on("allowManagedPermissionRulesOnly") {
		off("claude.off.rules", Info, "allowManagedPermissionRulesOnly is set: --allow has no effect")
	}
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
