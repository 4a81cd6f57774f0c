package setup

import (
	"fmt"

	"bureau/internal/fault"
	"bureau/internal/setup/jsonc"
)

// was remembers, by a dotted path, what stood where we made an object or an
// array: "" for nothing, "null" for a null.
type was map[string]string

// ensure makes sure that an object or array ('{' or '[') is at path, inside
// the object that the path without its last name leads to.
func ensure(d *jsonc.Doc, w was, kind byte, path ...any) error {
	key := path[len(path)-1].(string)
	at := d.Root().Get(path...)
	switch at.Kind() {
	case kind:
		return nil
	case 0, 'n':
	default:
		return odd(path, kind, at)
	}
	if d.Root().Valid() && d.Root().Get(path[:len(path)-1]...).Kind() != '{' {
		return odd(path[:len(path)-1], '{', d.Root().Get(path[:len(path)-1]...))
	}
	w[dotted(path)] = string(at.Raw())
	var empty any = []any{}
	if kind == '{' {
		empty = map[string]any{}
	}
	return d.Set(path[:len(path)-1], key, empty)
}

// odd refuses a value of a shape that the client itself would not take.
func odd(path []any, kind byte, at jsonc.Node) error {
	want := "an object"
	if kind == '[' {
		want = "a list"
	}
	what := "the file"
	if len(path) > 0 {
		what = fmt.Sprintf("%q", dotted(path))
	}
	return fault.New(fault.Conflict, "%s is %s, not %s", what, describe(at.Kind()), want).
		WithHint("mend it by hand first; nothing was changed")
}

func describe(kind byte) string {
	switch kind {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 'n':
		return "null"
	case 't', 'f':
		return "true or false"
	}
	return "a number"
}

func dotted(path []any) string {
	out := ""
	for i, step := range path {
		if i > 0 {
			out += "."
		}
		out += fmt.Sprint(step)
	}
	return out
}

// rootObject refuses a file whose value is no object.
func rootObject(d *jsonc.Doc) error {
	if r := d.Root(); r.Valid() && r.Kind() != '{' {
		return odd(nil, '{', r)
	}
	return nil
}

// installHooks brings the hooks of a settings file to what they should be.
func (o *Options) installHooks(d *jsonc.Doc, w was) error {
	if err := rootObject(d); err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, e := range Events(o.Client.Version.Features()) {
		wanted[e.Name] = true
		kept, err := dropHandlers(d, w, e.Name, func(matcher string, h jsonc.Node) bool {
			return matcher == e.Matcher && sameHandler(h, o.handlerFor(e))
		})
		if err != nil || kept {
			if err != nil {
				return err
			}
			continue
		}
		if err := ensure(d, w, '{', "hooks"); err != nil {
			return err
		}
		if err := ensure(d, w, '[', "hooks", e.Name); err != nil {
			return err
		}
		if err := d.Append([]any{"hooks", e.Name}, group{Matcher: e.Matcher, Hooks: []handler{o.handlerFor(e)}}); err != nil {
			return err
		}
	}
	// What an earlier version registered and this one does not.
	for _, event := range eventNames(d) {
		if !wanted[event] {
			if err := removeEvent(d, w, event); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeHooks takes our hooks out of a settings file, and the lists that are
// empty by that, unless they were there before us.
func removeHooks(d *jsonc.Doc, w was) error {
	if err := rootObject(d); err != nil {
		return err
	}
	had := hasHandlers(d)
	for _, event := range eventNames(d) {
		if err := removeEvent(d, w, event); err != nil {
			return err
		}
	}
	if !had {
		return nil
	}
	return dropEmpty(d, w, "hooks")
}

func removeEvent(d *jsonc.Doc, w was, event string) error {
	before := d.Root().Get("hooks", event)
	if before.Kind() != '[' || !anyHandler(before) {
		return nil
	}
	if _, err := dropHandlers(d, w, event, nil); err != nil {
		return err
	}
	return dropEmpty(d, w, "hooks", event)
}

// eventNames lists the events of a settings file, each once.
func eventNames(d *jsonc.Doc) []string {
	hooks := d.Root().Get("hooks")
	if hooks.Kind() != '{' {
		return nil
	}
	var names []string
	seen := map[string]bool{}
	for i := range hooks.Len() {
		if k := hooks.Key(i); !seen[k] {
			seen[k] = true
			names = append(names, k)
		}
	}
	return names
}

// hasHandlers reports whether any of the hooks is ours.
func hasHandlers(d *jsonc.Doc) bool {
	for _, event := range eventNames(d) {
		if anyHandler(d.Root().Get("hooks", event)) {
			return true
		}
	}
	return false
}

func anyHandler(groups jsonc.Node) bool {
	for g := range groups.Len() {
		if groups.Kind() != '[' {
			return false
		}
		hooks := groups.At(g).Get("hooks")
		for h := range hooks.Len() {
			if hooks.Kind() == '[' && ourHandler(hooks.At(h)) {
				return true
			}
		}
	}
	return false
}

// dropHandlers removes our entries from an event, all but the first one that
// keep accepts, and the groups that held nothing else. Groups of a shape that
// we do not know are left alone.
func dropHandlers(d *jsonc.Doc, w was, event string, keep func(matcher string, h jsonc.Node) bool) (kept bool, err error) {
	groups := func() jsonc.Node { return d.Root().Get("hooks", event) }
	if groups().Kind() != '[' {
		return false, nil
	}
	type spot struct{ g, h int }
	var drop []spot
	for g := range groups().Len() {
		hooks := groups().At(g).Get("hooks")
		if hooks.Kind() != '[' {
			continue
		}
		for h := range hooks.Len() {
			switch n := hooks.At(h); {
			case !ourHandler(n):
			case !kept && keep != nil && keep(groups().At(g).Get("matcher").Text(), n):
				kept = true
			default:
				drop = append(drop, spot{g, h})
			}
		}
	}
	for i := len(drop) - 1; i >= 0; i-- {
		s := drop[i]
		path := []any{"hooks", event, s.g}
		if groups().At(s.g).Get("hooks").Len() > 1 || foreignKeys(groups().At(s.g)) {
			path = append(path, "hooks", s.h)
		}
		if err := d.Delete(path...); err != nil {
			return kept, err
		}
	}
	return kept, nil
}

// foreignKeys reports whether a group says more than we do.
func foreignKeys(g jsonc.Node) bool {
	for i := range g.Len() {
		if k := g.Key(i); k != "matcher" && k != "hooks" {
			return true
		}
	}
	return false
}

// dropEmpty removes an object or array that is empty, unless it was there
// before us. w says so; without it (nil) it was not.
func dropEmpty(d *jsonc.Doc, w was, path ...any) error {
	at := d.Root().Get(path...)
	if at.Len() > 0 || at.Kind() != '{' && at.Kind() != '[' {
		return nil
	}
	before, made := w[dotted(path)]
	switch {
	case before == "null":
		return d.Replace(path, nil)
	case made || w == nil:
		return d.Delete(path...)
	}
	return nil
}

// ruleAt gives the place of our rule in permissions.allow, or -1.
func ruleAt(d *jsonc.Doc) int {
	allow := d.Root().Get("permissions", "allow")
	for i := range allow.Len() {
		if allow.Kind() == '[' && allow.At(i).Text() == toolRule {
			return i
		}
	}
	return -1
}

// ruleKey marks in was that we added the rule.
const ruleKey = "permissions.allow." + toolRule

func installRule(d *jsonc.Doc, w was) error {
	if err := rootObject(d); err != nil {
		return err
	}
	if ruleAt(d) >= 0 {
		return nil
	}
	if err := ensure(d, w, '{', "permissions"); err != nil {
		return err
	}
	if err := ensure(d, w, '[', "permissions", "allow"); err != nil {
		return err
	}
	w[ruleKey] = ""
	return d.Append([]any{"permissions", "allow"}, toolRule)
}

// removeRule takes our rule out, unless the person had set it before us.
func removeRule(d *jsonc.Doc, w was) error {
	i := ruleAt(d)
	if _, ours := w[ruleKey]; i < 0 || !ours && w != nil {
		return nil
	}
	if err := d.Delete("permissions", "allow", i); err != nil {
		return err
	}
	if err := dropEmpty(d, w, "permissions", "allow"); err != nil {
		return err
	}
	return dropEmpty(d, w, "permissions")
}
