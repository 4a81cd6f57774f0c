package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bureau/internal/fault"
	"bureau/internal/office"
)

// Where the caller is. A model that changes its folder in a shell means paths
// from there on as that shell does, and the server does not see it: its own
// folder is that of the session's start. The client's hooks report it, with each
// call and when it changes.

// settle finds what relative paths begin at: the folder that the client's hook
// announced with the call, else the one that its hooks reported last, else the
// server's own. A subagent may work in another work tree than its session.
func (c *call) settle(ctx context.Context, announced string) {
	if c.start = c.s.folder(c.client); c.s.remote != nil {
		c.start = c.caller.Agent.Folder
	}
	if c.folder = c.start; c.s.remote != nil {
		return // nobody's folder is known over HTTP
	}
	if announced == "" && c.client == clientClaude {
		announced, _ = c.o.FolderNow(ctx, c.caller)
	}
	switch real, err := filepath.EvalSymlinks(announced); {
	case !filepath.IsAbs(announced):
	case err != nil:
		c.gone = announced
	default:
		c.folder = real
	}
}

// base is the folder that a model takes relative paths to begin at unless it is
// told otherwise: the root of its project.
func (c *call) base() string { return cmp.Or(c.caller.Project.Root, c.start) }

// readFrom says where relative paths of a call were taken to begin, if that is
// not the root of the caller's project; else "".
func (c *call) readFrom(paths []string) string {
	relative := slices.ContainsFunc(paths, func(p string) bool { return strings.TrimSpace(p) != "" && !filepath.IsAbs(p) })
	switch {
	case !relative:
		return ""
	case c.gone != "":
		return "the folder where you are, " + line(c.gone) + ", is not there; relative paths were read from " + line(c.folder)
	case c.folder == c.base():
		return ""
	}
	return "relative paths were read from " + line(c.folder) + ", your folder"
}

// ofProject says which project a call was about that named no path, if that is
// not the caller's own; else "".
func (c *call) ofProject(p office.Project) string {
	if p.ID == c.caller.Project.ID || p.Root == "" {
		return ""
	}
	return "this is the project " + line(p.Name) + ", where your folder is: " + line(c.folder)
}

// hints joins what a result says beside itself.
func hints(list ...string) string {
	return strings.Join(slices.DeleteFunc(list, func(s string) bool { return s == "" }), "; ")
}

// alsoHint adds a note to the hint of an error; "" adds nothing.
func alsoHint(err error, note string) error {
	var f *fault.Error
	if note == "" || !errors.As(err, &f) {
		return err
	}
	more := *f
	more.Hint = hints(f.Hint, note)
	return &more
}

// isThere reports whether a path, meant from where the caller is, is there.
func (c *call) isThere(path string) bool {
	_, err := os.Lstat(c.absolute(path))
	return err == nil
}

// absolute gives a path as the caller means it.
func (c *call) absolute(path string) string {
	if path = filepath.FromSlash(path); filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.folder, path)
}
