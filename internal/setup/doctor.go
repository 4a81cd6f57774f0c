package setup

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"bureau/internal/agent/claude"
	"bureau/internal/setup/jsonc"
)

// Level says how bad a finding is.
type Level string

// The levels.
const (
	OK      Level = "ok"
	Info    Level = "info"    // works, and is worth knowing
	Warning Level = "warning" // something of bureau works less well
	Problem Level = "problem" // something of bureau does not work
)

// Finding is one thing that a checkup found.
type Finding struct {
	ID    string `json:"id"` // fixed words, for programs: claude.hooks, …
	Level Level  `json:"level"`
	Text  string `json:"text"`
	// Fix says what to do, usually a command.
	Fix string `json:"fix,omitempty"`
	// Setup: running setup again with the same options mends it.
	Setup bool `json:"setup,omitempty"`
}

// Checkup is what to check, and with what eyes.
type Checkup struct {
	// Options are what should be registered. Their scope, homes and project
	// say where to look.
	Options
	// Look finds a program on the path; [exec.LookPath].
	Look func(name string) (string, error)
	// Version asks a program of ours for its version; nil runs it.
	Version func(ctx context.Context, path string) (string, error)
	// Serve starts an MCP server of ours, as the client does, and says why it
	// does not answer; nil runs it.
	Serve func(ctx context.Context, words []string) error
	// LastHook is when a hook of ours last ran for Claude Code; zero is never
	// since the machine was started.
	LastHook time.Time
	// LastPlugin is the same for a hook that came with the plugin, which may be
	// loaded for one session only (--plugin-dir).
	LastPlugin time.Time
	// Sessions are those that run now; see [claude.Records].
	Sessions []claude.Record
	Now      time.Time
	// Managed is the administrator's settings file; "" is the system's.
	Managed string
}

type checkup struct {
	Checkup
	ctx      context.Context
	findings []Finding
}

// Doctor checks the registration with Claude Code. It changes nothing.
func Doctor(ctx context.Context, c Checkup) []Finding {
	d := &checkup{Checkup: c, ctx: ctx}
	if d.Managed == "" {
		d.Managed = managedSettings()
	}
	if d.Version == nil {
		d.Version = func(ctx context.Context, path string) (string, error) {
			return Client{}.run(ctx, "", nil, []string{path, "--version"})
		}
	}
	if d.Serve == nil {
		d.Serve = serves
	}
	if err := d.check(); err != nil {
		d.add("claude.options", Problem, err.Error(), "")
		return d.findings
	}
	if d.programs() {
		d.reachable()
	}
	d.client()
	for _, path := range d.settingsFiles() {
		d.hooks(path)
	}
	for _, at := range d.serverPlaces() {
		d.registered(at)
	}
	d.switches()
	d.firing()
	d.inboxes()
	return d.findings
}

func (d *checkup) add(id string, level Level, text, fix string) *Finding {
	d.findings = append(d.findings, Finding{ID: id, Level: level, Text: text, Fix: fix})
	return &d.findings[len(d.findings)-1]
}

// bySetup adds a finding that running setup again mends.
func (d *checkup) bySetup(id string, level Level, format string, args ...any) {
	fix := "bureau setup claude"
	if d.Scope != User {
		fix += " --scope " + string(d.Scope)
	}
	if d.Scope != Project && slices.ContainsFunc(d.Homes, func(h claude.Home) bool { return !h.Default }) {
		for _, h := range d.Homes {
			fix += " --config-dir " + shellQuote(h.Dir)
		}
	}
	d.add(id, level, fmt.Sprintf(format, args...), fix).Setup = true
}

// versionWord gives the version in "PROGRAM VERSION (…)", all of it otherwise.
func versionWord(program, out string) string {
	rest, ok := strings.CutPrefix(out, program+" ")
	if !ok {
		return out
	}
	word, _, _ := strings.Cut(rest, " ")
	return word
}

// programs checks that both programs are there and of one version, and reports
// whether they run.
func (d *checkup) programs() bool {
	versions := map[string]string{}
	for name, path := range map[string]string{"bureau": d.Bureau, hookName: d.Hook} {
		if _, err := os.Stat(path); err != nil {
			d.add("programs", Problem, fmt.Sprintf("%s is not there: %v", name, err), "go install ./cmd/... installs both programs")
			continue
		}
		out, err := d.Version(d.ctx, path)
		if err != nil {
			d.add("programs", Problem, fmt.Sprintf("%s does not run: %v %s", path, err, out), "install it again")
			continue
		}
		versions[name] = versionWord(name, out)
	}
	if len(versions) < 2 {
		return false
	}
	if b, h := versions["bureau"], versions[hookName]; b != h {
		d.add("programs", Problem, fmt.Sprintf("bureau is %s and bureau-hook is %s", b, h), "install both from one source: go install ./cmd/...")
		return true
	}
	d.add("programs", OK, "bureau and bureau-hook "+versions["bureau"], "")
	for _, name := range []string{"bureau", hookName} {
		if _, err := d.Look(name); err != nil {
			d.add("programs.path", Info, name+" is not on the path; what setup registers names it in full, the plugin needs it there", "add its folder to PATH")
		}
	}
	return true
}

// reachable starts the MCP server as the client does.
func (d *checkup) reachable() {
	s := d.server()
	if err := d.Serve(d.ctx, append([]string{s.Command}, s.Args...)); err != nil {
		d.add("claude.server.answers", Problem, "the MCP server does not answer: "+err.Error(), "run it by hand to see what it says: "+commandLine(append([]string{s.Command}, s.Args...)))
		return
	}
	d.add("claude.server.answers", OK, "the MCP server answers", "")
}

// client says which client there is, and what it can do for us.
func (d *checkup) client() {
	if d.Client.Path == "" {
		d.add("claude.client", Info, "claude is not on the path", "")
		return
	}
	v, f := d.Client.Version, d.Client.Version.Features()
	switch {
	case !v.Known():
		d.add("claude.client", Warning, d.Client.Path+" does not say its version", "claude --version")
	case !f.Inbox:
		d.add("claude.client", Warning, fmt.Sprintf("Claude Code %s has no inbox: an idle session cannot be woken, mail waits for its next turn", v), "claude update")
	case !f.PostToolBatch:
		d.add("claude.client", Warning, fmt.Sprintf("Claude Code %s lacks the PostToolBatch hook; mail during a turn comes with PostToolUse", v), "claude update")
	default:
		d.add("claude.client", OK, fmt.Sprintf("Claude Code %s (tested with %s)", v, claude.Tested), "")
	}
}

// hooks checks a settings file.
func (d *checkup) hooks(path string) {
	s, doc, err := open(path)
	if err != nil {
		d.add("claude.settings", Problem, err.Error(), "mend the file; Claude Code skips it as it is")
		return
	}
	missing, stale := d.missing(doc)
	switch {
	case !s.exists || len(missing) == len(Events(d.Client.Version.Features())) && len(stale) == 0:
		if d.plugged(doc) {
			d.add("claude.hooks", OK, "the hooks come with the plugin", "")
			return
		}
		d.bySetup("claude.hooks", Problem, "no hook of bureau is registered in %s", path)
		return
	case len(stale) > 0:
		d.bySetup("claude.hooks", Problem, "hooks in %s are of another office, another place of the program or another version: %s", path, strings.Join(stale, ", "))
	case len(missing) > 0:
		d.bySetup("claude.hooks", Problem, "hooks are missing in %s: %s", path, strings.Join(missing, ", "))
	default:
		d.add("claude.hooks", OK, "hooks are registered in "+path, "")
	}
	if !doc.Strict() {
		d.add("claude.settings", Problem, path+" has comments or trailing commas, and Claude Code skips the whole file because of them", "remove them")
	}
	switch {
	case pluginEnabled(doc):
		d.add("claude.twice", Warning, "the plugin is enabled as well, so every hook runs twice", "claude plugin disable bureau")
	case PluginRan(d.LastPlugin, d.Now, time.Hour):
		d.add("claude.twice", Warning, "the plugin's hooks ran "+ago(d.Now, d.LastPlugin)+" as well: in a session with both, every hook runs twice",
			"start sessions without --plugin-dir")
	}
}

// missing lists the events without a hook of ours, and those whose hook is not
// as setup would write it now.
func (d *checkup) missing(doc *jsonc.Doc) (missing, stale []string) {
	for _, e := range Events(d.Client.Version.Features()) {
		groups := doc.Root().Get("hooks", e.Name)
		switch {
		case groups.Kind() != '[' || !anyHandler(groups):
			missing = append(missing, e.Name)
		case !anySame(groups, e.Matcher, d.handlerFor(e)):
			stale = append(stale, e.Name)
		}
	}
	return missing, stale
}

func anySame(groups jsonc.Node, matcher string, want handler) bool {
	for g := range groups.Len() {
		if groups.At(g).Get("matcher").Text() != matcher {
			continue
		}
		hooks := groups.At(g).Get("hooks")
		for h := range hooks.Len() {
			if hooks.Kind() == '[' && sameHandler(hooks.At(h), want) {
				return true
			}
		}
	}
	return false
}

// plugged reports whether sessions get their hooks and server from the plugin: it
// is enabled, or some were lately started with it.
func (d *checkup) plugged(doc *jsonc.Doc) bool {
	return pluginEnabled(doc) || PluginRan(d.LastPlugin, d.Now, PluginKept)
}

// PluginKept is how long a plugin that was loaded for a session counts as the way
// in which sessions come.
const PluginKept = 24 * time.Hour

// PluginRan reports whether a hook of the plugin ran within a time.
func PluginRan(last, now time.Time, within time.Duration) bool {
	return !last.IsZero() && now.Sub(last) < within
}

// PluginEnabled reports whether the settings of any of the homes enable the
// plugin.
func PluginEnabled(homes []claude.Home) bool {
	for _, h := range homes {
		if _, doc, err := open(h.Settings()); err == nil && pluginEnabled(doc) {
			return true
		}
	}
	return false
}

// registered checks the entry of the MCP server.
func (d *checkup) registered(at place) {
	_, doc, err := open(at.path)
	if err != nil {
		d.add("claude.server", Problem, err.Error(), "mend the file")
		return
	}
	entry := doc.Root().Get(append(append([]any(nil), at.keys...), serverName)...)
	switch {
	case !entry.Valid():
		for _, path := range d.settingsFiles() {
			if _, s, err := open(path); err == nil && d.plugged(s) {
				d.add("claude.server", OK, "the MCP server comes with the plugin", "")
				return
			}
		}
		d.bySetup("claude.server", Problem, "the MCP server is not registered in %s", at.path)
	case !ourServer(entry):
		d.add("claude.server", Problem, fmt.Sprintf("%s has another server under the name %q", at.path, serverName), "claude mcp remove "+serverName+", then bureau setup claude")
	case !sameServer(entry, d.server()):
		d.bySetup("claude.server", Problem, "the MCP server in %s is of another office or another place of the program", at.path)
	default:
		d.add("claude.server", OK, "the MCP server is registered in "+at.path, "")
	}
}

// managedSettings is where an administrator's settings lie.
func managedSettings() string {
	switch {
	case filepath.Separator == '\\':
		return `C:\Program Files\ClaudeCode\managed-settings.json`
	case exists("/Library/Application Support"):
		return "/Library/Application Support/ClaudeCode/managed-settings.json"
	}
	return "/etc/claude-code/managed-settings.json"
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// LookPath is [exec.LookPath], for [Checkup.Look].
var LookPath = exec.LookPath
