package git

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bureau/internal/fault"
	"bureau/internal/paper"
)

// A chain is a hooks folder of ours, in the repository, that git is led to
// where core.hooksPath names a folder of the work tree. Nothing in the work
// tree is touched, where hooks may be committed or written anew by another
// tool; each hook of the chain goes on to that of core.hooksPath.
//
// Git is led there by a file that the repository's configuration includes, at
// its end and thus with the last word. A tool that sets core.hooksPath (husky
// does, at every npm install) changes the value before it, which the chain
// then follows. The include holds for this place of the repository only: where
// it was moved, or is seen by another path, git does as without us.
type chain struct {
	folder string
	path   string // of the hook in it
	led    bool   // git looks there
}

const (
	chainName = "bureau-hooks"
	chainFile = "config" // in it; what the configuration includes
)

func chainFolder(common string) string { return filepath.Join(common, chainName) }

// passedHooks are the hooks of a work tree that always go on, so that one that
// is added later is run too. The others change by being there what git does:
// these go on if they are there when the chain is made.
var (
	passedHooks = []string{
		PreCommit, PreMergeCommit, "prepare-commit-msg", "commit-msg", "post-commit", "applypatch-msg", "pre-applypatch",
		"post-applypatch", "pre-rebase", "post-rewrite", "post-checkout", "post-merge", PrePush, "pre-auto-gc",
	}
	otherHooks = []string{
		"pre-receive", "update", "proc-receive", "post-receive", "post-update", "reference-transaction", "push-to-checkout",
		"sendemail-validate", "fsmonitor-watchman", "p4-changelist", "p4-prepare-changelist", "p4-post-changelist",
		"p4-pre-submit", "post-index-change",
	}
)

// chainFind are the lines of a script that find the hook of core.hooksPath, as
// git would without us.
func chainFind(name string) []string {
	return []string{
		`bureau_guard_folder=$(git config --file "${0%/*}/../config" --type=path --get core.hooksPath ||`,
		`	git config --global --type=path --get core.hooksPath || git config --system --type=path --get core.hooksPath) ||`,
		`	bureau_guard_folder=${0%/*}/../hooks`,
		`case $bureau_guard_folder in */` + chainName + `) bureau_guard_folder= ;; esac # ourselves`,
		`bureau_guard_kept=${bureau_guard_folder:-/dev/null}/` + name,
	}
}

// renderPassed gives the script of a hook that the guard is not asked at.
func renderPassed(name string) []byte {
	var b script
	b.line("#!/bin/sh")
	b.line(hookMark, "(", name, ", ", passedMark, ")")
	b.line(`# "bureau guard install" wrote this, since it led git to this folder; "bureau guard`)
	b.line(`# remove" takes it out. It goes on to the hook of core.hooksPath.`)
	b.line()
	for _, s := range chainFind(name) {
		b.line(s)
	}
	b.line(`[ -x "$bureau_guard_kept" ] || exit 0`)
	b.line(`exec "$bureau_guard_kept" "$@"`)
	return b.summed()
}

// chainIncludes are the subsections of includeIf that lead to the chain: from
// the main work tree, and from linked ones.
func chainIncludes(common string) []string {
	var b strings.Builder
	for _, c := range filepath.ToSlash(resolved(common)) {
		if strings.ContainsRune(`*?[\`, c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return []string{"gitdir:" + b.String(), "gitdir:" + b.String() + "/worktrees/**"}
}

// chainLeads reports whether a repository's configuration leads to its chain.
func chainLeads(list []setting, common string) bool {
	_, set := lastOf(list, "core", "hookspath")
	includes := chainIncludes(common)
	for i, s := range list {
		if i > set && s.section == "includeif" && s.key == "path" && s.value == chainName+"/"+chainFile {
			includes = slices.DeleteFunc(includes, func(sub string) bool { return sub == s.sub })
		}
	}
	return len(includes) == 0 && exists(filepath.Join(chainFolder(common), chainFile))
}

// installChain leads git to our own folder.
func (at *hookPlace) installChain(ctx context.Context, o HookOptions) error {
	if err := at.removePlain(); err != nil { // an earlier one of ours in the folder itself
		return err
	}
	names := slices.Clone(passedHooks)
	for _, name := range otherHooks {
		if exists(filepath.Join(at.folder, name)) {
			names = append(names, name)
		}
	}
	if err := os.MkdirAll(at.chain.folder, 0o755); err != nil {
		return err
	}
	for _, name := range names {
		script := renderPassed(name)
		path := filepath.Join(at.chain.folder, name)
		present, content := readHook(path)
		had := parseHook(content)
		if name == at.name {
			switch {
			case had.state == editedScript:
				return fault.New(fault.Conflict, "%s was changed since bureau wrote it, so it is left alone", path).
					WithHint("take your lines out of it, or move it away, then do this again")
			case present != nil && had.state == foreignScript:
				return at.strange(path)
			}
			_, before := readHook(at.path)
			script = renderHook(o, "the folder that core.hooksPath names in the repository's configuration", chainFind(name), hookManager(before), 0)
		} else if present != nil && (had.state != ownScript || !had.passed) {
			continue // another guard's, or a tool's that git was led to
		}
		if err := at.write(path, script, hookMode); err != nil {
			return err
		}
	}
	var b strings.Builder
	b.WriteString("# \"bureau guard install\" wrote this: git looks for hooks here, and they go on to\n" +
		"# those of core.hooksPath in ../config. \"bureau guard remove\" takes it out.\n[core]\n\thooksPath = \"")
	b.WriteString(strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(filepath.ToSlash(at.chain.folder)) + "\"\n")
	if err := at.write(filepath.Join(at.chain.folder, chainFile), []byte(b.String()), 0o644); err != nil {
		return err
	}
	if chainLeads(readConfig(configOf(at.common)), at.common) {
		at.chain.led = true
		return nil
	}
	if err := at.leadNoMore(ctx); err != nil {
		return err
	}
	for _, sub := range chainIncludes(at.common) {
		if err := at.config(ctx, "--add", "includeIf."+sub+".path", chainName+"/"+chainFile); err != nil {
			return err
		}
	}
	at.chain.led, at.changed = true, true
	return nil
}

// write writes a file of the chain, if it differs.
func (at *hookPlace) write(path string, content []byte, mode os.FileMode) error {
	if st, had := readHook(path); st != nil && bytes.Equal(had, content) && (mode != hookMode || executable(path)) {
		return nil
	}
	at.changed = true
	return paper.WriteFile(path, content, mode)
}

// removeChain takes the guard out of one hook of the chain, and with the last
// one the chain.
func (at *hookPlace) removeChain(ctx context.Context) error {
	_, content := readHook(at.chain.path)
	switch s := parseHook(content); {
	case s.state == editedScript:
		return fault.New(fault.Conflict, "%s was changed since bureau wrote it, so it is left alone", at.chain.path).
			WithHint("take your lines out of it, or move it away, then do this again")
	case s.state == ownScript && !s.passed:
		if err := at.write(at.chain.path, renderPassed(at.name), hookMode); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(at.chain.folder)
	if err != nil {
		if os.IsNotExist(err) {
			return nil
		}
		return err
	}
	foreign := ""
	for _, e := range entries {
		path := filepath.Join(at.chain.folder, e.Name())
		_, content := readHook(path)
		switch s := parseHook(content); {
		case e.Name() == chainFile, s.state == ownScript && s.passed:
		case slices.Contains(hookNames, e.Name()) && s.state != foreignScript:
			return nil // the guard is still asked there
		case foreign == "":
			foreign = path
		}
	}
	if foreign != "" {
		return at.strange(foreign)
	}
	if err := at.leadNoMore(ctx); err != nil {
		return err
	}
	at.changed, at.chain.led = true, false
	for _, e := range entries {
		if err := os.Remove(filepath.Join(at.chain.folder, e.Name())); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return os.Remove(at.chain.folder)
}

// strange is the refusal to decide about a hook of another tool's in the chain.
func (at *hookPlace) strange(path string) error {
	return fault.New(fault.Conflict, "%s is not bureau's", path).
		WithHint("move it to %s, where hooks of this repository belong, then do this again", at.folder)
}

// leadNoMore takes the chain out of the repository's configuration.
func (at *hookPlace) leadNoMore(ctx context.Context) error {
	done := map[string]bool{}
	for _, s := range readConfig(configOf(at.common)) {
		if s.section != "includeif" || s.key != "path" || s.value != chainName+"/"+chainFile || done[s.sub] {
			continue
		}
		done[s.sub] = true
		if err := at.config(ctx, "--unset-all", "includeIf."+s.sub+".path", "^"+chainName+"/"+chainFile+"$"); err != nil {
			return err
		}
	}
	return nil
}

// config changes the repository's configuration.
func (at *hookPlace) config(ctx context.Context, args ...string) error {
	_, err := run(ctx, at.common, Environ(os.Environ()), nil, append([]string{"config", "--file", configOf(at.common)}, args...)...)
	if err != nil {
		return fault.New(fault.Unavailable, "cannot change %s: %w", configOf(at.common), err)
	}
	return nil
}
