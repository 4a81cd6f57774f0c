package setup

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"bureau/internal/agent/claude"
	"bureau/internal/fault"
	"bureau/internal/setup/jsonc"
)

// Plan is what is to be done, and not done yet.
type Plan struct {
	// Changes are empty when everything is as it should be.
	Changes []Change
	// Notes are what the person should know, beside the changes.
	Notes []string

	o       Options
	removal bool
	done    *receipts
}

// Change is one file to be written or removed.
type Change struct {
	Path string `json:"path"`
	// What says what of ours the change is about.
	What string `json:"what"`
	// Command, if set, is the client's own command that makes the change; the
	// file is edited only if that fails.
	Command []string `json:"command,omitempty"`
	// Remove: the file itself goes.
	Remove bool `json:"remove,omitempty"`

	before  snapshot
	after   []byte
	splices []jsonc.Splice
	was     was
	had     bool // it held something of ours before
	private bool // the file may hold secrets: its diff shows changed lines only
	place   *place
}

// where names the place in the file that the change is about.
func (c Change) where() string {
	if c.place == nil {
		return ""
	}
	return dotted(c.place.keys)
}

// Prepare plans the registration. Errors are [fault.Conflict] for a file that
// is broken, has an odd shape or an entry of our name that is not ours, and
// name the file.
func Prepare(o Options) (*Plan, error) {
	p, err := begin(o, false)
	if err != nil {
		return nil, err
	}
	for _, path := range p.o.skillFiles() {
		if err := p.planSkill(path); err != nil {
			return nil, err
		}
	}
	for _, path := range p.o.settingsFiles() {
		if err := p.planSettings(path); err != nil {
			return nil, err
		}
	}
	for _, at := range p.o.serverPlaces() {
		if err := p.planServer(at); err != nil {
			return nil, err
		}
	}
	if p.o.Scope == Project {
		p.note("Claude Code asks each person once before it runs the servers of a project's .mcp.json")
		p.note("the project's files name this machine's paths of the programs and of the office; where people or machines have others, let each use --scope local, or the plugin")
	}
	if p.o.Scope == Local && len(p.Changes) > 0 {
		p.note("Claude Code has no skills of one person in one project, so bureau's lie in %s; git shows them: keep them out of commits",
			filepath.Join(p.o.Project, ".claude", "skills"))
	}
	return p, nil
}

// PrepareRemoval plans to take everything out again that [Prepare] with the
// same scope and homes puts in, whatever the programs' paths and the office
// were. Allow is ignored: a rule that we added goes.
func PrepareRemoval(o Options) (*Plan, error) {
	p, err := begin(o, true)
	if err != nil {
		return nil, err
	}
	for _, at := range p.o.serverPlaces() {
		if err := p.planServer(at); err != nil {
			return nil, err
		}
	}
	for _, path := range p.o.settingsFiles() {
		if err := p.planSettings(path); err != nil {
			return nil, err
		}
	}
	// Backwards: the folders that were made for the first go with the last.
	for _, path := range slices.Backward(p.o.skillFiles()) {
		if err := p.planSkill(path); err != nil {
			return nil, err
		}
	}
	p.noteOthers()
	return p, nil
}

// noteOthers says what stays set up when this is taken out.
func (p *Plan) noteOthers() {
	rest := receipts{Done: slices.Clone(p.done.Done)}
	for i := range rest.Done {
		rest.Done[i].Homes = slices.Clone(rest.Done[i].Homes)
	}
	rest.enter(&p.o, true)
	for _, d := range rest.Done {
		command := "bureau setup claude --remove"
		where := ""
		if d.Scope != User {
			command += " --scope " + string(d.Scope)
			if where = ", in " + d.Project; !exists(d.Project) {
				where = " (the folder is gone)"
				command += " --project " + shellQuote(d.Project)
			}
		}
		if d.Scope != Project && slices.ContainsFunc(d.Homes, func(h claude.Home) bool { return !h.Default }) {
			for _, h := range d.Homes {
				command += " --config-dir " + shellQuote(h.Dir)
			}
		}
		p.note("bureau stays set up elsewhere; to take that out%s: %s", where, command)
	}
}

func begin(o Options, removal bool) (*Plan, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	done, err := loadReceipts(o.Home)
	if err != nil {
		return nil, err
	}
	return &Plan{o: o, removal: removal, done: done}, nil
}

func (p *Plan) note(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); !slices.Contains(p.Notes, n) {
		p.Notes = append(p.Notes, n)
	}
}

// open reads a file that is to be edited.
func open(path string) (snapshot, *jsonc.Doc, error) {
	s, err := look(path)
	if err != nil {
		return s, nil, err
	}
	d, err := jsonc.Parse(s.text)
	if err != nil {
		return s, nil, fault.New(fault.Conflict, "%s is broken: %s", path, err).
			WithHint("mend it by hand first; nothing was changed")
	}
	return s, d, nil
}

// named puts the file's name before a refusal that is about its content.
func named(path string, err error) error {
	if err == nil {
		return nil
	}
	return fault.New(fault.CodeOf(err), "%s: %w", path, err).WithHint("%s", fault.HintOf(err))
}

// add takes up a change, if it is one.
func (p *Plan) add(c Change, d *jsonc.Doc) error {
	if !d.Changed() && !c.Remove {
		return nil
	}
	if err := c.before.writable(); err != nil {
		return err
	}
	c.Path, c.after, c.splices = c.before.path, d.Bytes(), d.Splices()
	p.Changes = append(p.Changes, c)
	return nil
}

// planSettings plans hooks and permissions.
func (p *Plan) planSettings(path string) error {
	s, d, err := open(path)
	if err != nil {
		return err
	}
	c := Change{What: "hooks", before: s, was: was{}, had: hasHandlers(d)}
	if p.removal {
		return p.planTakeBack(c, d, func(w was) error {
			if err := removeHooks(d, w); err != nil {
				return err
			}
			return removeRule(d, w)
		})
	}
	if err := p.o.installHooks(d, c.was); err != nil {
		return named(path, err)
	}
	if p.o.Allow {
		c.What = "hooks and permission"
		if err := installRule(d, c.was); err != nil {
			return named(path, err)
		}
	}
	p.warnLoose(path, d)
	if pluginEnabled(d) {
		p.note("the bureau plugin is enabled in %s too, so every hook would run twice; disable it with: claude plugin disable bureau", path)
	}
	return p.add(c, d)
}

// warnLoose tells of a file that the client does not read. Version 2.1.332
// skips a whole file with a comment or a trailing comma in it.
func (p *Plan) warnLoose(path string, d *jsonc.Doc) {
	if !d.Strict() {
		p.note("%s has comments or trailing commas; bureau keeps them, but Claude Code (seen with %s) skips the whole file because of them", path, claude.Tested)
	}
}

// pluginEnabled reports whether a settings file enables a plugin of our name.
func pluginEnabled(d *jsonc.Doc) bool {
	enabled := d.Root().Get("enabledPlugins")
	for i := range enabled.Len() {
		if enabled.Kind() == '{' && strings.HasPrefix(enabled.Key(i), serverName+"@") && enabled.At(i).Kind() == 't' {
			return true
		}
	}
	return false
}

// planServer plans the entry of mcpServers.
func (p *Plan) planServer(at place) error {
	s, d, err := open(at.path)
	if err != nil {
		return err
	}
	if err := rootObject(d); err != nil {
		return named(at.path, err)
	}
	if !s.exists && at.path == at.home.Global() {
		s.mode = 0o600 // as the client makes it
	} else if !s.exists {
		s.mode = 0o644
	}
	now := d.Root().Get(append(slices.Clone(at.keys), serverName)...)
	c := Change{What: "MCP server", before: s, was: was{}, had: ourServer(now), private: at.path == at.home.Global(), place: &at}
	if p.removal {
		return p.planTakeBack(c, d, func(w was) error { return removeServer(d, w, at.keys) })
	}
	if now.Valid() && !c.had {
		return fault.New(fault.Conflict, "%s has an MCP server %q that is not ours", at.path, serverName).
			WithHint("rename or remove it (claude mcp remove %s), then run setup again", serverName)
	}
	if c.had && sameServer(now, p.o.server()) {
		return nil
	}
	for i := range at.keys {
		if err := ensure(d, c.was, '{', at.keys[:i+1]...); err != nil {
			return named(at.path, err)
		}
	}
	if err := d.Set(at.keys, serverName, p.o.server()); err != nil {
		return named(at.path, err)
	}
	p.warnLoose(at.path, d)
	// The client writes a file anew, in its own layout and with numbers rounded.
	// Its global file it writes so at every start; a project's is the project's.
	if p.o.Client.Path != "" && (p.o.Scope != Project || !s.exists) {
		c.Command = append([]string{p.o.Client.Path, "mcp", "add", "--scope", string(p.o.Scope), serverName, "--", p.o.Bureau}, p.o.server().Args...)
	}
	return p.add(c, d)
}

// removeServer takes our entry out, and the objects that are empty by that.
func removeServer(d *jsonc.Doc, w was, keys []any) error {
	if !ourServer(d.Root().Get(append(slices.Clone(keys), serverName)...)) {
		return nil
	}
	if err := d.Delete(append(slices.Clone(keys), serverName)...); err != nil {
		return err
	}
	for i := len(keys); i > 0; i-- {
		// Objects above mcpServers are the client's: only a receipt says
		// that they are ours.
		if w == nil && i < len(keys) {
			break
		}
		if err := dropEmpty(d, w, keys[:i]...); err != nil {
			return err
		}
	}
	return nil
}

// planTakeBack plans to undo a change of a file: exactly, if the file is as we
// left it, and else by taking out what is ours.
func (p *Plan) planTakeBack(c Change, d *jsonc.Doc, take func(was) error) error {
	r := p.done.Files[c.before.path]
	if !c.before.exists {
		return nil
	}
	if r != nil && r.only(c.where()) && r.After != "" && r.After == hashOf(c.before.text) {
		if text, err := jsonc.Revert(c.before.text, r.Splices); err == nil {
			if err := c.before.writable(); err != nil {
				return err
			}
			c.Path, c.after, c.Remove = c.before.path, text, r.Created
			p.Changes = append(p.Changes, c)
			return nil
		}
	}
	var w was
	if r != nil {
		if w = r.Was; w == nil {
			w = was{}
		}
	}
	if err := take(w); err != nil {
		return named(c.before.path, err)
	}
	c.Remove = r != nil && r.Created && d.Root().Len() == 0 && strings.Trim(string(d.Bytes()), " \t\r\n{}") == ""
	return p.add(c, d)
}

// Diff shows the plan: unified diffs, and commands that will be run. It is ""
// when there is nothing to do.
func (p *Plan) Diff() string {
	var b strings.Builder
	for _, c := range p.Changes {
		if len(c.Command) > 0 {
			fmt.Fprintf(&b, "run: %s\n", commandLine(c.Command))
			if dir := c.configDir(); dir != "" {
				fmt.Fprintf(&b, "  with %s=%s\n", claude.EnvConfigDir, shellQuote(dir))
			}
			fmt.Fprintf(&b, "  which changes %s\n", c.Path)
			continue
		}
		from, to := c.Path, c.Path
		if !c.before.exists {
			from = "/dev/null"
		}
		after := string(c.after)
		if c.Remove {
			to, after = "/dev/null", ""
		}
		lines := udiff.DefaultContextLines
		if c.private {
			lines = 0
		}
		old := string(c.before.text)
		diff, err := udiff.ToUnified(from, to, old, udiff.Lines(old, after), lines)
		if err != nil {
			diff = fmt.Sprintf("%s: %s (%v)\n", c.Path, c.What, err)
		}
		b.WriteString(diff)
	}
	return b.String()
}

func commandLine(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = shellQuote(w)
	}
	return strings.Join(quoted, " ")
}

// configDir is the home that the client's command must be told of.
func (c Change) configDir() string {
	if c.place == nil || c.place.home.Default {
		return ""
	}
	return c.place.home.Dir
}
