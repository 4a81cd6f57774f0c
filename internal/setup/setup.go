// Package setup registers bureau with coding agents and takes it out again,
// and finds out why it does not work.
//
// For Claude Code that is four things: the MCP server, the hooks, skills that
// say when to use the office and its rooms, and, if asked for, a rule that lets
// our tools run without a prompt. [Prepare] and [PrepareRemoval] look and write nothing;
// what they give shows its diff and is then applied.
//
// The promise for other people's files: only our own entries change. Comments,
// order, unknown keys and foreign hooks stay byte for byte; a file that is
// broken or of an unexpected shape is refused before anything is written; a
// write is atomic and keeps mode and link; what was there before us is kept
// once beside the file as NAME.before-bureau. Done twice is done once. Removal
// gives back every byte if nothing else has changed since, and otherwise takes
// out what is ours and nothing else.
//
// What was done is kept in the office's folder (setup/claude.json): no
// contents of others, only our own insertions and a hash.
package setup

import (
	"path/filepath"
	"strings"

	"bureau/internal/agent/claude"
	"bureau/internal/fault"
)

// Scope says for whom the registration holds.
type Scope string

// The scopes, as Claude Code names them.
const (
	User    Scope = "user"    // this person, in every project
	Project Scope = "project" // everybody in a project: files that are checked in
	Local   Scope = "local"   // this person, in one project
)

// Options say what to register, and where.
type Options struct {
	// Home is the office's folder, absolute. Every registered command names it.
	Home string
	// Bureau and Hook are the two programs, absolute.
	Bureau, Hook string
	Scope        Scope // "" is User
	// Project is the project's folder, absolute; for Project and Local.
	Project string
	// Homes are the client's homes; see [claude.Homes].
	Homes []claude.Home
	// Allow lets our tools run without a prompt.
	Allow bool
	// Client is the client's program, if there is one; see [FindClient]. Its
	// own command registers the server then, and its version decides on the
	// hooks. Without it files are edited, for a new version.
	Client Client
}

// check refuses options that cannot be meant.
func (o *Options) check() error {
	if o.Scope == "" {
		o.Scope = User
	}
	for what, path := range map[string]string{"the office's folder": o.Home, "bureau": o.Bureau, "bureau-hook": o.Hook} {
		if !filepath.IsAbs(path) {
			return fault.New(fault.Invalid, "the path of %s is not absolute: %q", what, path)
		}
		if strings.ContainsAny(path, "\x00\n\r") {
			return fault.New(fault.Invalid, "the path of %s has a line break in it: %q", what, path)
		}
		if strings.Contains(path, "${") {
			return fault.New(fault.Invalid, "the path of %s contains ${, which Claude Code would replace: %q", what, path)
		}
	}
	switch o.Scope {
	case User:
	case Project, Local:
		if !filepath.IsAbs(o.Project) {
			return fault.New(fault.Invalid, "scope %s needs the project's folder, absolute, not %q", o.Scope, o.Project)
		}
	default:
		return fault.New(fault.Invalid, "no scope %q", o.Scope).WithHint("user, project or local")
	}
	if len(o.Homes) == 0 {
		return fault.New(fault.Invalid, "no home of Claude Code was named")
	}
	return nil
}

// settingsFiles are the files that hold hooks and permissions.
func (o *Options) settingsFiles() []string {
	switch o.Scope {
	case Project:
		return []string{filepath.Join(o.Project, ".claude", "settings.json")}
	case Local:
		return []string{filepath.Join(o.Project, ".claude", "settings.local.json")}
	}
	var files []string
	for _, h := range o.Homes {
		files = append(files, h.Settings())
	}
	return files
}

// skillFiles are the files of our skills. The client has no local skills, so
// those of a local registration lie in the project too.
func (o *Options) skillFiles() []string {
	var files []string
	for _, s := range skills {
		if o.Scope != User {
			files = append(files, filepath.Join(o.Project, ".claude", "skills", s.name, "SKILL.md"))
			continue
		}
		for _, h := range o.Homes {
			files = append(files, h.Skill(s.name))
		}
	}
	return files
}

// place is a file that lists MCP servers, and where in it.
type place struct {
	path string
	home claude.Home
	keys []any // of the object mcpServers
}

// serverPlaces are the files that hold MCP servers. settings.json is none:
// the client ignores mcpServers there.
func (o *Options) serverPlaces() []place {
	if o.Scope == Project {
		return []place{{path: filepath.Join(o.Project, ".mcp.json"), home: o.Homes[0], keys: []any{"mcpServers"}}}
	}
	var places []place
	for _, h := range o.Homes {
		p := place{path: h.Global(), home: h, keys: []any{"mcpServers"}}
		if o.Scope == Local {
			p.keys = []any{"projects", o.Project, "mcpServers"}
		}
		places = append(places, p)
	}
	return places
}
