package probe

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"bureau/internal/fault"
)

// Bounds of OwnFile.
const (
	maxOwnFile  = 32 << 10
	maxCommands = 100
	maxArgs     = 64
	maxArg      = 4096
	maxNesting  = 32 // brackets inside brackets; a command needs two
)

// entry is the YAML of one command.
type entry struct {
	Match   string   `yaml:"match"`
	Command []string `yaml:"command"`
	Timeout string   `yaml:"timeout"`
	Dir     string   `yaml:"cwd"`
}

// parseOwn reads OwnFile: a list of entries. Errors name the line.
func parseOwn(content []byte) (out []command, err error) {
	// The file is not trusted yet, and what is wrong with it must not end the
	// program that asks about a claim.
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, at(0, "it cannot be read as YAML")
		}
	}()
	if deep(content) {
		return nil, at(0, "brackets or dashes are nested too deep")
	}
	file, err := parser.ParseBytes(content, 0)
	if err != nil {
		return nil, located(err, 0)
	}
	var list []ast.Node
	for _, doc := range file.Docs {
		switch body := doc.Body.(type) {
		case nil, *ast.NullNode, *ast.CommentGroupNode:
		case *ast.SequenceNode:
			list = append(list, body.Values...)
		default:
			return nil, at(line(body), "a list of entries is wanted, each with match and command")
		}
	}
	if len(list) > maxCommands {
		return nil, at(line(list[maxCommands]), "more than %d entries", maxCommands)
	}
	for _, node := range list {
		if found := indirect(node); found != nil {
			return nil, at(line(found), "anchors, aliases and tags are not read")
		}
		var e entry
		if err := yaml.NodeToValue(node, &e, yaml.Strict()); err != nil {
			return nil, located(err, line(node))
		}
		c, err := e.command(line(node))
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// command checks an entry.
func (e entry) command(n int) (command, error) {
	c := command{Match: e.Match, Argv: e.Command, Dir: e.Dir, Limit: Each, Line: n}
	switch {
	case e.Match == "" || len(e.Match) > maxResource:
		return c, at(n, "match is missing or too long: match: \"deploy:*\"")
	case len(e.Command) == 0 || len(e.Command) > maxArgs:
		return c, at(n, "command is a list of 1 to %d arguments: command: [./scripts/free, \"{name}\"]", maxArgs)
	case e.Command[0] == "" || strings.Contains(e.Command[0], "{"):
		return c, at(n, "the program %q is no fixed name", e.Command[0])
	case e.Dir != "" && !filepath.IsLocal(filepath.FromSlash(e.Dir)):
		return c, at(n, "cwd %q is no folder below the project's root", e.Dir)
	}
	for _, arg := range e.Command {
		if len(arg) > maxArg || strings.ContainsRune(arg, 0) {
			return c, at(n, "an argument is longer than %d bytes or holds a NUL", maxArg)
		}
	}
	if e.Timeout != "" {
		d, err := time.ParseDuration(e.Timeout)
		if err != nil || d < time.Millisecond || d > Each {
			return c, at(n, "timeout %q is no duration up to %v: timeout: 5s", e.Timeout, Each)
		}
		c.Limit = d
	}
	c.program = filepath.Base(e.Command[0])
	return c, nil
}

func at(n int, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if n > 0 {
		text = fmt.Sprintf("line %d: %s", n, text)
	}
	return fault.New(fault.Invalid, "%s", text).WithHint("docs/probes.md shows the form")
}

// located gives an error of the YAML library its line and its one sentence.
func located(err error, n int) error {
	var e yaml.Error
	if !errors.As(err, &e) {
		return at(n, "%v", err)
	}
	if t := e.GetToken(); t != nil && t.Position != nil {
		n = t.Position.Line
	}
	return at(n, "%s", e.GetMessage())
}

func line(n ast.Node) int {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 0
}

// indirect finds what would make a short file mean a long one.
func indirect(node ast.Node) (found ast.Node) {
	ast.Walk(visit(func(n ast.Node) bool {
		switch n.(type) {
		case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode, *ast.TagNode:
			found = n
		}
		return found == nil
	}), node)
	return found
}

type visit func(ast.Node) bool

func (v visit) Visit(n ast.Node) ast.Visitor {
	if v(n) {
		return v
	}
	return nil
}

// deep reports whether brackets, or dashes on one line, nest deeper than any
// such file needs. The parser takes seconds for thousands of them.
func deep(content []byte) bool {
	depth, dashes := 0, 0
	for _, c := range content {
		switch c {
		case ' ':
		case '-', '?':
			if dashes++; dashes > maxNesting {
				return true
			}
		default:
			dashes = 0
		}
		switch c {
		case '[', '{':
			if depth++; depth > maxNesting {
				return true
			}
		case ']', '}':
			depth = max(depth-1, 0)
		}
	}
	return false
}
