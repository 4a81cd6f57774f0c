package git

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// hookMode is what a hook's file gets: git runs only what is executable.
const hookMode = 0o755

const (
	hookMark = "# bureau guard, format 1 "
	sumMark  = "# sum "
	madeMark = "# Folders that bureau made for it: "
	progMark = "bureau_guard_program="
)

// The states of a script.
type scriptState int

const (
	foreignScript scriptState = iota
	ownScript                 // as we wrote it
	editedScript              // ours, changed since
)

// hookScript is what can be read back from a script of ours.
type hookScript struct {
	state   scriptState
	program string
	// foldersMade is how many folders of the hook's path were not there
	// before us.
	foldersMade int
}

// renderHook gives the script, for any POSIX sh (dash, bash, BusyBox, the one
// that comes with Git for Windows). Its last line is the sum of all before it,
// by which a changed script is told from our own.
func renderHook(o HookOptions, kept keptHook, foldersMade int) []byte {
	act := "commit"
	if o.Name == PrePush {
		act = "push"
	}
	var b strings.Builder
	line := func(words ...string) { b.WriteString(strings.Join(words, "") + "\n") }
	line("#!/bin/sh")
	line(hookMark, `(`, o.Name, `)`)
	line(`# "bureau guard install" wrote this; "bureau guard remove" takes it out. Changes belong`)
	line("# into ", o.Name, keptSuffix, ", the hook that was here before: it is run after the")
	line("# guard, as git would have run it.")
	line("#")
	line("# The guard says no with status 1, and that stops the ", act, ". When it cannot be asked (the")
	line("# program is gone) or cannot answer (any other status) the ", act, " goes on with one line of")
	line("# warning: it guards against mistakes, and its own must not keep you from working.")
	line("# With BUREAU_GUARD=off a person goes on whatever the guard would say; it still is asked,")
	line("# since it alone knows a person from an agent. The hook from before is run all the same.")
	if foldersMade > 0 {
		line(madeMark, strconv.Itoa(foldersMade))
	}
	line()
	line("case $0 in")
	line("*/*) bureau_guard_kept=${0%/*}/", o.Name, keptSuffix, " ;;")
	line("*) bureau_guard_kept=./", o.Name, keptSuffix, " ;;")
	line("esac")
	if o.Name == PrePush {
		line("# Both read what git says about the refs.")
		line("bureau_guard_input=$(cat)")
		line(`bureau_guard_feed() {`)
		line(`	[ -z "$bureau_guard_input" ] || printf '%s\n' "$bureau_guard_input" 2>/dev/null`)
		line(`}`)
	}
	line(progMark, shellQuote(filepath.ToSlash(o.Program)))
	line(`if ! [ -f "$bureau_guard_program" ] || ! [ -x "$bureau_guard_program" ]; then`)
	line(`	bureau_guard_gone=$bureau_guard_program`)
	line(`	bureau_guard_program=$(command -v bureau) || bureau_guard_program=`)
	line(`fi`)
	line(`if [ -z "$bureau_guard_program" ]; then`)
	line(`	[ "${BUREAU_GUARD:-on}" = off ] || printf '%s\n' "bureau: the `, act, ` goes on unguarded: $bureau_guard_gone is gone; run 'bureau guard install' again (or 'bureau guard remove')" >&2`)
	line(`else`)
	var args strings.Builder
	for _, word := range o.Args {
		args.WriteString(" " + shellQuote(word))
	}
	call := `"$bureau_guard_program"` + args.String() + " guard run " + o.Name + ` -- "$@"`
	if o.Name == PrePush {
		line(`	bureau_guard_feed | `, call)
	} else {
		line(`	`, call, ` </dev/null`)
	}
	line(`	bureau_guard_status=$?`)
	line(`	case $bureau_guard_status in`)
	line(`	0) ;;`)
	line(`	1) exit 1 ;;`)
	line(`	*) [ "${BUREAU_GUARD:-on}" = off ] || printf '%s\n' "bureau: the `, act, ` goes on unguarded: the guard could not decide (status $bureau_guard_status); see 'bureau guard run `, o.Name, `'" >&2 ;;`)
	line(`	esac`)
	line(`fi`)
	if kept.manager == "pre-commit" {
		line("# Called by another name we were moved aside by the pre-commit framework, which is")
		line("# what is kept, too: it runs already.")
		line(`[ "${0##*/}" = `, o.Name, ` ] || exit 0`)
	}
	line(`[ -x "$bureau_guard_kept" ] || exit 0`)
	run := `"$bureau_guard_kept" "$@"`
	if kept.shell != "" {
		line("# It looks at the name that it is called by, so it is read in under that name.")
		run = kept.shell + ` -c '. "${0%/*}/` + o.Name + keptSuffix + `"' "$0" "$@"`
	}
	if o.Name == PrePush {
		line("bureau_guard_feed | ", run)
	} else {
		line("exec ", run)
	}
	return append([]byte(b.String()), sumMark+sum([]byte(b.String()))+"\n"...)
}

func sum(content []byte) string {
	h := sha256.Sum256(content)
	return hex.EncodeToString(h[:16])
}

// parseHook recognises our script.
func parseHook(content []byte) hookScript {
	if !bytes.Contains(content, []byte(hookMark)) {
		return hookScript{}
	}
	s := hookScript{state: editedScript}
	if at := bytes.LastIndex(content, []byte(sumMark)); at >= 0 && string(content[at:]) == sumMark+sum(content[:at])+"\n" {
		s.state = ownScript
	}
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSpace(line)
		if n, ok := strings.CutPrefix(line, madeMark); ok {
			s.foldersMade, _ = strconv.Atoi(n)
		}
		if word, ok := strings.CutPrefix(line, progMark); ok && s.program == "" {
			s.program = filepath.FromSlash(shellUnquote(word))
		}
	}
	return s
}

// shellQuote makes one word of sh that stands for s.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// shellUnquote undoes shellQuote.
func shellUnquote(s string) string {
	s = strings.TrimSuffix(strings.TrimPrefix(s, "'"), "'")
	return strings.ReplaceAll(s, `'\''`, "'")
}

// executable reports whether git (and sh) would run what is at path.
func executable(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular() && (runtime.GOOS == "windows" || st.Mode().Perm()&0o111 != 0)
}
