package setup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"bureau/internal/agent/claude"
)

// standIn is a program in the client's place that notes how it was called.
func standIn(t *testing.T, d *desk, script string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no shell scripts here")
	}
	path := filepath.Join(d.root, "claude")
	text := fmt.Sprintf("#!/bin/sh\nprintf '%%s|' \"$CLAUDE_CONFIG_DIR\" \"$@\" >> '%s'\n%s", strings.ReplaceAll(filepath.Join(d.root, "calls"), "'", `'\''`), script)
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFindClient(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	path := standIn(t, d, "echo '2.1.332 (Claude Code)'\n")
	c := FindClient(t.Context(), func(string) (string, error) { return path, nil })
	if c.Path != path || c.Version != claude.Tested {
		t.Errorf("%+v", c)
	}
	if c := FindClient(t.Context(), func(string) (string, error) { return "", errors.New("none") }); c != (Client{}) {
		t.Errorf("%+v", c)
	}
	path = standIn(t, d, "exit 3\n")
	if c := FindClient(t.Context(), func(string) (string, error) { return path, nil }); c.Path != path || c.Version.Known() {
		t.Errorf("%+v", c)
	}
}

// The client's own command registers the server; what it made is taken out
// again by editing.
func TestTheClientRegisters(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write(d.global(), `{"theirs":1}`)
	entry := jsonText(map[string]any{"theirs": 1, "started": true, "mcpServers": map[string]any{serverName: d.o.server()}})
	d.o.Client = Client{Path: standIn(t, d, "cat > \"$HOME/.claude.json\" <<'E'\n"+entry+"\nE\n"), Version: claude.Tested}
	p, err := Prepare(d.o)
	if err != nil {
		t.Fatal(err)
	}
	diff := p.Diff()
	if !strings.Contains(diff, "mcp add --scope user bureau -- '"+strings.ReplaceAll(d.o.Bureau, "'", `'\''`)+"' mcp --home ") || strings.Contains(diff, "theirs") {
		t.Errorf("%s", diff)
	}
	if _, err := os.Stat(filepath.Join(d.root, "calls")); err == nil {
		t.Fatal("planning ran the client")
	}
	if err := p.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	calls := d.read(filepath.Join(d.root, "calls"))
	if want := "|mcp|add|--scope|user|bureau|--|" + d.o.Bureau + "|mcp|--home|" + d.o.Home + "|"; calls != want {
		t.Errorf("called %q, want %q", calls, want)
	}
	if d.read(d.global()+backupSuffix) != `{"theirs":1}` {
		t.Error("no copy was kept")
	}
	if p := d.apply(Prepare); len(p.Changes) > 0 || d.read(filepath.Join(d.root, "calls")) != calls {
		t.Errorf("again: %+v", p.Changes)
	}
	d.apply(PrepareRemoval)
	if got := d.read(d.global()); !sameMeaning(t, got, `{"theirs":1,"started":true}`) {
		t.Errorf("%s", got)
	}
}

// A project's file is not left to the client, which would lay it out anew and
// round its numbers, and one that the client made for us goes again.
func TestTheClientAndAProjectsFile(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{
		"theirs": "{ \"theirs\": 9007199254740993,\n      \"mcpServers\": {\"x\" : {\"command\":\"a\"} }\n}", "none": "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.o.Scope = Project
			path := filepath.Join(d.o.Project, ".mcp.json")
			if before != "" {
				d.write(path, before)
			}
			entry := jsonText(map[string]any{"mcpServers": map[string]any{serverName: d.o.server()}})
			client := standIn(t, d, "cat > .mcp.json <<'E'\n"+entry+"\nE\n")
			files := d.files()
			d.o.Client = Client{Path: client, Version: claude.Tested}
			d.apply(Prepare)
			if _, err := os.Stat(filepath.Join(d.root, "calls")); (err == nil) != (before == "") {
				t.Errorf("whether the client was called: %v", err)
			}
			_ = os.Remove(filepath.Join(d.root, "calls"))
			if got := d.read(path); !strings.Contains(got, d.o.Bureau) || !strings.HasPrefix(got, strings.TrimRight(before, "\n} ")) {
				t.Errorf("registered as %s", got)
			}
			d.apply(PrepareRemoval)
			sameFiles(t, d.files(), files)
		})
	}
}

func TestTheClientFails(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{"with an error": "echo no such thing >&2; exit 1\n", "silently": "exit 0\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.o.Homes = []claude.Home{{Dir: filepath.Join(d.root, "second home")}}
			before := d.files()
			d.o.Client = Client{Path: standIn(t, d, script), Version: claude.Tested}
			p := d.apply(Prepare)
			if len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "bureau edited") {
				t.Errorf("notes %q", p.Notes)
			}
			if calls := d.read(filepath.Join(d.root, "calls")); !strings.HasPrefix(calls, d.o.Homes[0].Dir+"|mcp|add|") {
				t.Errorf("called %q", calls)
			}
			if !strings.Contains(d.read(d.o.Homes[0].Global()), d.o.Bureau) {
				t.Error("the server is not registered")
			}
			d.apply(PrepareRemoval)
			os.Remove(d.o.Client.Path)
			os.Remove(filepath.Join(d.root, "calls"))
			sameFiles(t, d.files(), before)
		})
	}
}
