package probe

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"bureau/internal/fault"
	"bureau/internal/quote"
)

// OwnFile is where a project keeps its own commands, below its root.
const OwnFile = ".bureau/probes.yaml"

// command is one entry of OwnFile.
type command struct {
	Match   string        // of the resource's text: * is any text, ? any character
	Argv    []string      // run without a shell
	Limit   time.Duration // at most Each
	Dir     string        // below the root
	Line    int
	program string
}

// ownProbes is what OwnFile says, and whether it may be followed.
type ownProbes struct {
	file     string // canonical; "" where there is none
	commands []command
	trust    trustState
	err      error
}

// loadOwn reads OwnFile once, so that what is trusted is what is run. Links in
// it are followed only inside the project.
func loadOwn(root, home string) ownProbes {
	if root == "" {
		return ownProbes{}
	}
	at, err := canonical(root)
	if err != nil {
		return ownProbes{}
	}
	file, err := canonical(filepath.Join(at, filepath.FromSlash(OwnFile)))
	if errors.Is(err, fs.ErrNotExist) {
		return ownProbes{}
	}
	if err == nil && !below(at, file) {
		err = fault.New(fault.Invalid, "%s leads out of the project", filepath.Join(at, OwnFile))
	}
	own := ownProbes{file: file, err: err}
	if err != nil {
		return own
	}
	content, err := readBounded(file, maxOwnFile)
	if err == nil {
		own.commands, err = parseOwn(content)
	}
	if err == nil {
		own.trust, err = trustOf(home, file, content)
	}
	if err != nil {
		own.err = fmt.Errorf("%s: %w", file, err)
	}
	return own
}

// CheckFile reports what is wrong with a file of commands: invalid, with the
// line, if none of them would be run. It is not asked whether it is trusted.
func CheckFile(file string) error {
	content, err := readBounded(file, maxOwnFile)
	if err == nil {
		_, err = parseOwn(content)
	}
	return err
}

// ask lets the project's own command tell. It reports false where there is none
// for this subject, or none that may be run; what that would have decided is
// then unknown, and the finding says so and what to do about it: see [withOwn].
func (l *looker) ask(ctx context.Context, s Subject) (finding, bool) {
	own := l.own()
	text := s.String()
	if own.err != nil {
		f := unknown("none", "%v", own.err)
		f.hint = fault.HintOf(own.err)
		if f.hint == "" {
			f.hint = "correct " + own.file + ", then: bureau trust " + own.file
		}
		return f, false
	}
	for _, c := range own.commands {
		if !wild(c.Match, text) {
			continue
		}
		if own.trust == trusted {
			return l.runOwn(ctx, c, s), true
		}
		f := unknown("none", "the command for %s in %s is not trusted yet", text, own.file)
		if own.trust == changed {
			f.saw = fmt.Sprintf("%s has changed since it was trusted, so its command for %s was not run", own.file, text)
		}
		f.hint = "read it, then: bureau trust " + own.file
		return f, false
	}
	return finding{}, false
}

// withOwn gives what decides where the project's own command was not run: that
// nobody can tell, unless the built-in look saw that it is in use.
func withOwn(own, built finding) finding {
	if own.verdict == "" || built.verdict == Busy {
		return built
	}
	return own
}

// runOwn runs a trusted command: 0 is free, 1 is busy, all else decides
// nothing. Its first line is what it saw.
func (l *looker) runOwn(ctx context.Context, c command, s Subject) finding {
	probe := "command:" + quote.Line(c.Match, 80)
	root, err := canonical(l.Root)
	if err != nil {
		return unknown(probe, "%v", err)
	}
	argv, err := c.fill(s, root)
	if err != nil {
		return unknown(probe, "%v", err)
	}
	o := run(ctx, child{argv: argv, dir: filepath.Join(root, filepath.FromSlash(c.Dir)), max: c.Limit})
	said := firstLine(o.out)
	switch {
	case o.err != nil:
		return unknown(probe, "%s", o.why(c.program))
	case o.code == 0 && said == "":
		return free(probe, "%s says free", c.program)
	case o.code == 0:
		return free(probe, "%s", said)
	case o.code == 1 && said == "":
		return busy(probe, "%s says busy", c.program)
	case o.code == 1:
		return busy(probe, "%s", said)
	case said != "":
		return unknown(probe, "%s (%s ended with status %d)", said, c.program, o.code)
	}
	return unknown(probe, "%s", o.why(c.program))
}

// fill puts the subject into the arguments, each placeholder inside its own
// argument. What would turn an argument into an option is refused: the text of
// a claim must not choose what a program does.
func (c command) fill(s Subject, root string) ([]string, error) {
	name, path := s.Name, ""
	switch s.Kind {
	case KindPath:
		name = s.Paths[0]
		at, ok := locate(root, name)
		if !ok {
			return nil, fmt.Errorf("%s leads out of the project", name)
		}
		path = at.dir
		if at.rest != "" && !isGlob(at.rest) {
			path = filepath.Join(at.dir, filepath.FromSlash(unescape(at.rest)))
		}
	case KindLockfile:
		path = s.Name
		if !filepath.IsAbs(path) {
			path = filepath.Join(root, path)
		}
	case KindPID:
		name = strconv.Itoa(s.PID)
	}
	put := strings.NewReplacer("{resource}", s.String(), "{name}", name, "{host}", s.Host, "{path}", path)
	argv := make([]string, len(c.Argv))
	for i, arg := range c.Argv {
		argv[i] = put.Replace(arg)
		if strings.HasPrefix(argv[i], "-") && !strings.HasPrefix(arg, "-") {
			return nil, fmt.Errorf("%q would be an option of %s", argv[i], c.program)
		}
	}
	return argv, nil
}

// wild matches a text: * stands for any text, ? for one character.
func wild(pattern, text string) bool {
	p, t := []rune(pattern), []rune(text)
	i, j, star, back := 0, 0, -1, 0
	for j < len(t) {
		switch {
		case i < len(p) && p[i] == '*':
			star, back = i, j
			i++
		case i < len(p) && (p[i] == '?' || p[i] == t[j]):
			i++
			j++
		case star >= 0:
			back++
			i, j = star+1, back
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}
