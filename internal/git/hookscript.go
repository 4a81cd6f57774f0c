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

// The words by which our scripts are known. In format 1 the hook from before
// was kept beside ours, under another name.
const (
	hookMark1  = "# bureau guard, format 1 "
	hookMark   = "# bureau guard, format 2 "
	passedMark = "passed on"
	sumMark    = "# sum "
	madeMark   = "# Folders that bureau made for it: "
	progMark   = "bureau_guard_program="
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
	passed  bool // it asks no guard, it only goes on to the hook from before
	program string
	// foldersMade is how many folders of the hook's path were not there
	// before us.
	foldersMade int
}

// script writes a script for any POSIX sh (dash, bash, BusyBox, the one that
// comes with Git for Windows).
type script struct{ strings.Builder }

func (s *script) line(words ...string) { s.WriteString(strings.Join(words, "") + "\n") }

// summed ends a script: its last line is the sum of all before it, by which a
// changed script is told from our own.
func (s *script) summed() []byte {
	return append([]byte(s.String()), sumMark+sum([]byte(s.String()))+"\n"...)
}

// renderHook gives the script that asks the guard. find are the lines that set
// bureau_guard_kept to the hook from before ours; what says where that is.
func renderHook(o HookOptions, what string, find []string, manager string, foldersMade int) []byte {
	act := "commit"
	if o.Name == PrePush {
		act = "push"
	}
	var b script
	b.line("#!/bin/sh")
	b.line(hookMark, `(`, o.Name, `)`)
	b.line(`# "bureau guard install" wrote this; "bureau guard remove" takes it out. Changes belong`)
	b.line("# into ", what, ", the hook that was")
	b.line("# here before: it is run after the guard, as git would have run it.")
	b.line("#")
	b.line("# The guard says no with status 1, and that stops the ", act, ". When it cannot be asked (the")
	b.line("# program is gone) or cannot answer (any other status) the ", act, " goes on with one line of")
	b.line("# warning: it guards against mistakes, and its own must not keep you from working.")
	b.line("# With BUREAU_GUARD=off a person goes on whatever the guard would say; it still is asked,")
	b.line("# since it alone knows a person from an agent. The hook from before is run all the same.")
	if foldersMade > 0 {
		b.line(madeMark, strconv.Itoa(foldersMade))
	}
	b.line()
	for _, s := range find {
		b.line(s)
	}
	if o.Name == PrePush {
		b.line("# Both read what git says about the refs.")
		b.line("bureau_guard_input=$(cat)")
		b.line(`bureau_guard_feed() {`)
		b.line(`	[ -z "$bureau_guard_input" ] || printf '%s\n' "$bureau_guard_input" 2>/dev/null`)
		b.line(`}`)
	}
	b.line(progMark, shellQuote(filepath.ToSlash(o.Program)))
	b.line(`if ! [ -f "$bureau_guard_program" ] || ! [ -x "$bureau_guard_program" ]; then`)
	b.line(`	bureau_guard_gone=$bureau_guard_program`)
	b.line(`	bureau_guard_program=$(command -v bureau) || bureau_guard_program=`)
	b.line(`fi`)
	b.line(`if [ -z "$bureau_guard_program" ]; then`)
	b.line(`	[ "${BUREAU_GUARD:-on}" = off ] || printf '%s\n' "bureau: the `, act, ` goes on unguarded: $bureau_guard_gone is gone; run 'bureau guard install' again (or 'bureau guard remove')" >&2`)
	b.line(`else`)
	var args strings.Builder
	for _, word := range o.Args {
		args.WriteString(" " + shellQuote(word))
	}
	call := `"$bureau_guard_program"` + args.String() + " guard run " + o.Name + ` -- "$@"`
	if o.Name == PrePush {
		b.line(`	bureau_guard_feed | `, call)
	} else {
		b.line(`	`, call, ` </dev/null`)
	}
	b.line(`	bureau_guard_status=$?`)
	b.line(`	case $bureau_guard_status in`)
	b.line(`	0) ;;`)
	b.line(`	1) exit 1 ;;`)
	b.line(`	*) [ "${BUREAU_GUARD:-on}" = off ] || printf '%s\n' "bureau: the `, act, ` goes on unguarded: the guard could not decide (status $bureau_guard_status); see 'bureau guard run `, o.Name, `'" >&2 ;;`)
	b.line(`	esac`)
	b.line(`fi`)
	if manager == framework {
		b.line("# Called by another name we were moved aside by the pre-commit framework, which is")
		b.line("# what is kept, too: it runs already.")
		b.line(`[ "${0##*/}" = `, o.Name, ` ] || exit 0`)
	}
	b.line(`[ -x "$bureau_guard_kept" ] || exit 0`)
	if o.Name == PrePush {
		b.line(`bureau_guard_feed | "$bureau_guard_kept" "$@"`)
	} else {
		b.line(`exec "$bureau_guard_kept" "$@"`)
	}
	return b.summed()
}

func sum(content []byte) string {
	h := sha256.Sum256(content)
	return hex.EncodeToString(h[:16])
}

// parseHook recognises our script, also one of the older format.
func parseHook(content []byte) hookScript {
	if !bytes.Contains(content, []byte(hookMark)) && !bytes.Contains(content, []byte(hookMark1)) {
		return hookScript{}
	}
	s := hookScript{state: editedScript}
	if at := bytes.LastIndex(content, []byte(sumMark)); at >= 0 && string(content[at:]) == sumMark+sum(content[:at])+"\n" {
		s.state = ownScript
	}
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, hookMark) {
			s.passed = s.passed || strings.Contains(line, passedMark)
		}
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
