package setup

import (
	"slices"

	"bureau/internal/agent/claude"
	"bureau/internal/setup/jsonc"
)

// HookFile is a settings file of Claude Code with hooks of ours in it, whoever
// put them there.
type HookFile struct {
	Scope Scope
	Path  string
	// Office is the folder of the office that they are of; "" where they say
	// none, and look for the usual one.
	Office string
}

// HookFiles lists the files with hooks of ours that count for sessions in a
// project: those of the homes and the project's own. A file that cannot be read
// has none.
func HookFiles(homes []claude.Home, project string) []HookFile {
	var out []HookFile
	for _, scope := range []Scope{User, Project, Local} {
		if scope != User && project == "" {
			continue
		}
		o := Options{Scope: scope, Homes: homes, Project: project}
		for _, path := range o.settingsFiles() {
			if _, doc, err := open(path); err == nil {
				for _, office := range offices(doc) {
					out = append(out, HookFile{Scope: scope, Path: path, Office: office})
				}
			}
		}
	}
	return out
}

// offices lists the offices that the hooks of ours in a file are of.
func offices(doc *jsonc.Doc) (list []string) {
	for _, e := range Events(claude.Features{}) {
		groups := doc.Root().Get("hooks", e.Name)
		if groups.Kind() != '[' {
			continue
		}
		for g := range groups.Len() {
			hooks := groups.At(g).Get("hooks")
			if hooks.Kind() != '[' {
				continue
			}
			for h := range hooks.Len() {
				words, ours := handlerWords(hooks.At(h))
				if !ours {
					continue
				}
				home := ""
				if len(words) == 4 {
					home = words[3]
				}
				if !slices.Contains(list, home) {
					list = append(list, home)
				}
			}
		}
	}
	return list
}

// Used reports whether Claude Code was ever run with one of these homes.
func Used(homes []claude.Home) bool {
	return slices.ContainsFunc(homes, func(h claude.Home) bool { return exists(h.Dir) || exists(h.Global()) })
}
