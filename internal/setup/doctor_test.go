package setup

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bureau/internal/agent/claude"
)

// healthy is a desk where everything is as it should be.
func healthy(t *testing.T) (*desk, Checkup) {
	t.Helper()
	d := newDesk(t)
	d.write(d.o.Bureau, "x")
	d.write(d.o.Hook, "x")
	d.o.Client.Version = claude.Tested
	d.apply(Prepare)
	d.o.Client.Path = "/bin/claude"
	now := time.Now()
	return d, Checkup{
		Options: d.o, Now: now, LastHook: now.Add(-time.Second), Managed: filepath.Join(d.root, "managed.json"),
		Look:     func(string) (string, error) { return "there", nil },
		Version:  func(_ context.Context, path string) (string, error) { return filepath.Base(path) + " v1", nil },
		Serve:    func(context.Context, []string) error { return nil },
		Sessions: []claude.Record{{PeerProtocol: 1, SocketPath: "/s", StatusUpdatedAt: now.Add(-time.Minute)}},
	}
}

// bad gives the findings that are not fine, as "level id".
func bad(fs []Finding) []string {
	out := []string{}
	for _, f := range fs {
		if f.Level != OK {
			out = append(out, string(f.Level)+" "+f.ID)
		}
		if (f.Level == Problem || f.Level == Warning) && f.Fix == "" {
			out = append(out, "no fix for "+f.Text)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		spoil func(t *testing.T, d *desk, c *Checkup)
		want  []string
	}{
		"healthy": {func(*testing.T, *desk, *Checkup) {}, []string{}},
		"no hook program": {func(t *testing.T, d *desk, c *Checkup) { c.Hook += "x" },
			[]string{"problem claude.hooks", "problem programs"}},
		"two versions": {func(t *testing.T, d *desk, c *Checkup) {
			c.Version = func(_ context.Context, path string) (string, error) { return path, nil }
		}, []string{"problem programs"}},
		"does not run": {func(t *testing.T, d *desk, c *Checkup) {
			c.Version = func(context.Context, string) (string, error) { return "", errors.New("exec format error") }
		}, []string{"problem programs"}},
		"a server that says nothing": {func(t *testing.T, d *desk, c *Checkup) {
			c.Serve = func(context.Context, []string) error { return errors.New("no answer") }
		}, []string{"problem claude.server.answers"}},
		"not on the path": {func(t *testing.T, d *desk, c *Checkup) {
			c.Look = func(string) (string, error) { return "", errors.New("no") }
		}, []string{"info programs.path"}},
		"no client": {func(t *testing.T, d *desk, c *Checkup) { c.Client.Path = "" }, []string{"info claude.client"}},
		"an old client": {func(t *testing.T, d *desk, c *Checkup) {
			c.Client.Version = claude.Version{Major: 2, Minor: 1, Patch: 200}
		},
			[]string{"warning claude.client"}},
		"removed": {func(t *testing.T, d *desk, c *Checkup) { d.apply(PrepareRemoval) },
			[]string{"problem claude.hooks", "problem claude.server"}},
		"one hook gone": {func(t *testing.T, d *desk, c *Checkup) {
			d.write(d.settings(), strings.Replace(d.read(d.settings()), `"Stop"`, `"Stopp"`, 1))
		}, []string{"problem claude.hooks"}},
		"an older version's hooks": {func(t *testing.T, d *desk, c *Checkup) {
			d.write(d.settings(), strings.Replace(d.read(d.settings()), jsonText(claude.ToolMatcher), `"mcp__bureau__.*"`, 1))
		}, []string{"problem claude.hooks"}},
		"another office": {func(t *testing.T, d *desk, c *Checkup) { c.Home += "2" },
			[]string{"problem claude.hooks", "problem claude.server"}},
		"comments": {func(t *testing.T, d *desk, c *Checkup) { d.write(d.settings(), "// x\n"+d.read(d.settings())) },
			[]string{"problem claude.settings"}},
		"broken": {func(t *testing.T, d *desk, c *Checkup) { d.write(d.settings(), "{") }, []string{"problem claude.settings"}},
		"another's server": {func(t *testing.T, d *desk, c *Checkup) {
			d.write(d.global(), `{"mcpServers":{"bureau":{"command":"npx"}}}`)
		}, []string{"problem claude.server"}},
		"hooks off": {func(t *testing.T, d *desk, c *Checkup) {
			d.write(filepath.Join(d.o.Project, ".claude", "settings.json"), `{"disableAllHooks":true}`)
		}, []string{"problem claude.off.hooks"}},
		"inbox off": {func(t *testing.T, d *desk, c *Checkup) { d.write(c.Managed, `{"crossSessionInbound":"refuse"}`) },
			[]string{"problem claude.off.inbox"}},
		"rules": {func(t *testing.T, d *desk, c *Checkup) {
			d.write(filepath.Join(d.o.Project, ".claude", "settings.local.json"), `{"permissions":{"deny":["mcp__bureau__send"],"ask":["mcp__bureau"]},"disabledMcpjsonServers":["x","bureau"]}`)
		}, []string{"info claude.off.tools", "problem claude.off.server", "problem claude.off.tools"}},
		"the administrator": {func(t *testing.T, d *desk, c *Checkup) {
			d.write(c.Managed, `{"allowManagedHooksOnly":true,"allowManagedMcpServersOnly":true,"allowedMcpServers":[],"allowManagedPermissionRulesOnly":true}`)
		}, []string{"info claude.off.rules", "problem claude.off.hooks", "problem claude.off.server"}},
		"never fired, nothing runs": {func(t *testing.T, d *desk, c *Checkup) { c.LastHook, c.Sessions = time.Time{}, nil },
			[]string{"info claude.firing"}},
		"never fired": {func(t *testing.T, d *desk, c *Checkup) { c.LastHook = time.Time{} }, []string{"problem claude.firing"}},
		"stopped firing": {func(t *testing.T, d *desk, c *Checkup) { c.LastHook = c.Now.Add(-time.Hour) },
			[]string{"warning claude.firing"}},
		"a deaf session": {func(t *testing.T, d *desk, c *Checkup) { c.Sessions = append(c.Sessions, claude.Record{}) },
			[]string{"warning claude.inbox"}},
		"the plugin too": {func(t *testing.T, d *desk, c *Checkup) {
			d.write(d.settings(), appendKey(t, d.read(d.settings()), "enabledPlugins", "x"))
			d.write(d.settings(), strings.Replace(d.read(d.settings()), `"x"`, `{"bureau@bureau": true}`, 1))
		}, []string{"warning claude.twice"}},
		"the plugin too, for one session": {func(t *testing.T, d *desk, c *Checkup) { c.LastPlugin = c.Now.Add(-time.Minute) },
			[]string{"warning claude.twice"}},
		"the plugin for one session, long ago": {func(t *testing.T, d *desk, c *Checkup) { c.LastPlugin = c.Now.Add(-2 * time.Hour) }, []string{}},
		"the plugin for one session alone": {func(t *testing.T, d *desk, c *Checkup) {
			d.apply(PrepareRemoval)
			c.LastPlugin = c.Now.Add(-2 * time.Hour)
		}, []string{}},
		"the plugin for one session alone, long ago": {func(t *testing.T, d *desk, c *Checkup) {
			d.apply(PrepareRemoval)
			c.LastPlugin = c.Now.Add(-25 * time.Hour)
		}, []string{"problem claude.hooks", "problem claude.server"}},
		"the plugin alone": {func(t *testing.T, d *desk, c *Checkup) {
			d.apply(PrepareRemoval)
			d.write(d.settings(), `{"enabledPlugins":{"bureau@bureau":true}}`)
		}, []string{}},
		"wrong options": {func(t *testing.T, d *desk, c *Checkup) { c.Homes = nil }, []string{"no fix for no home of Claude Code was named", "problem claude.options"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, c := healthy(t)
			tt.spoil(t, d, &c)
			if got := bad(Doctor(t.Context(), c)); !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// The way to mend a home that only its folder names says which one it is.
func TestFixNamesTheHome(t *testing.T) {
	t.Parallel()
	d, c := healthy(t)
	c.Homes = append(c.Homes, claude.Home{Dir: filepath.Join(d.root, "work account")})
	fixes := ""
	for _, f := range Doctor(t.Context(), c) {
		if f.Setup {
			fixes += f.Fix + "\n"
		}
	}
	if !strings.Contains(fixes, "bureau setup claude --config-dir "+shellQuote(c.Homes[0].Dir)+" --config-dir "+shellQuote(c.Homes[1].Dir)+"\n") {
		t.Errorf("fixes are %s", fixes)
	}
}

// Whether a server answers is tried with a process.
func TestServes(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct{ script, want string }{
		"answers":        {`read a; echo '{"jsonrpc":"2.0","id":1,"result":{}}'; read b; read c; echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[{}]}}'; cat`, ""},
		"offers nothing": {`echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}'; cat`, "no tools"},
		"refuses":        {`echo '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"go away"}}'; cat`, "go away"},
		"says why":       {`echo 'bureau: the office is on another disk' >&2; exit 3`, "another disk"},
		"ends":           {`exit 3`, "exit status 3"},
		"ends well":      {`exit 0`, "without an answer"},
		"talks":          {`echo hello; cat`, "hello"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			err := serves(t.Context(), []string{standIn(t, d, x.script)})
			if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
				t.Errorf("%v, want %q", err, x.want)
			}
		})
	}
	if err := serves(t.Context(), []string{filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("a program that is not there answers")
	}
}
