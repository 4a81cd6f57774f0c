package mcpserver

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"bureau/internal/fault"
)

// Arguments of multiagent-mcp that take more than one type, with null for what
// is not given. What fits none of the types is refused by the schema, and once
// more here: a whisper that is understood otherwise would be public.

// privacy says whether a message is private, and for whom.
type privacy struct {
	given bool // not null
	on    bool
	to    []string // nil: those whom the text mentions
}

// UnmarshalJSON takes null, a truth value or a list of handles. An empty list
// is no privacy, as in multiagent-mcp.
func (p *privacy) UnmarshalJSON(raw []byte) error {
	*p = privacy{}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	switch v := v.(type) {
	case nil:
		return nil
	case bool:
		p.given, p.on = true, v
		return nil
	case []any:
		list, ok := texts(v)
		if ok {
			p.given, p.on, p.to = true, len(list) > 0, list
			return nil
		}
	}
	return fault.New(fault.Invalid, "private is true, false or a list of handles").WithHint("nothing was sent")
}

// choose gives what two parameters for one thing mean together: is_private is
// the one that counts, but never against a list of recipients.
func choose(private, isPrivate privacy) (privacy, error) {
	switch {
	case !isPrivate.given:
		return private, nil
	case isPrivate.on && isPrivate.to == nil && private.to != nil && private.on:
		return private, nil
	case !isPrivate.on && private.on:
		return privacy{}, fault.New(fault.Invalid, "private and is_private contradict each other").
			WithHint("give one of them; nothing was sent")
	}
	return isPrivate, nil
}

// handles is one handle or a list of them.
type handles []string

// UnmarshalJSON takes a string or a list of strings.
func (h *handles) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*h = handles{one}
		return nil
	}
	var list []string
	if err := json.Unmarshal(raw, &list); err != nil {
		return fault.New(fault.Invalid, "it takes a handle or a list of handles").WithHint("nothing was sent")
	}
	*h = list
	return nil
}

// aliases are further names of handles.
type aliases struct {
	of    map[string][]string
	order []string
}

// UnmarshalJSON takes an object from handles to names, the same as a string of
// JSON, or a list of "handle:name,name".
func (a *aliases) UnmarshalJSON(raw []byte) error {
	*a = aliases{}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if strings.TrimSpace(text) == "" {
			return nil
		}
		raw = []byte(text)
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return aliasFault()
	}
	switch v := v.(type) {
	case nil:
		return nil
	case map[string]any:
		for _, handle := range sortedKeys(v) {
			names, ok := v[handle].([]any)
			if one, single := v[handle].(string); single {
				names, ok = []any{one}, true
			}
			list, fit := texts(names)
			if !ok || !fit {
				return aliasFault()
			}
			a.add(handle, list)
		}
		return nil
	case []any:
		list, ok := texts(v)
		if !ok {
			return aliasFault()
		}
		for _, pair := range list {
			at := strings.IndexByte(pair, ':')
			if at < 0 {
				at = strings.IndexByte(pair, '=')
			}
			if at < 0 {
				return aliasFault()
			}
			a.add(pair[:at], strings.Split(pair[at+1:], ","))
		}
		return nil
	}
	return aliasFault()
}

func aliasFault() error {
	return fault.New(fault.Invalid, "aliases are an object from handles to lists of names, or a list of handle:name,name").
		WithHint(`for example {"@ana": ["reviewer"]}; nothing was done`)
}

func (a *aliases) add(handle string, names []string) {
	handle = bare(handle)
	if a.of == nil {
		a.of = map[string][]string{}
	}
	if a.of[handle] == nil {
		a.order = append(a.order, handle)
	}
	for _, n := range names {
		if n = bare(n); n != "" {
			a.of[handle] = append(a.of[handle], n)
		}
	}
}

// bare is a handle without the sign that marks a mention.
func bare(s string) string { return strings.TrimPrefix(strings.TrimSpace(s), "@") }

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// texts gives a list of strings; false if it holds anything else.
func texts(list []any) ([]string, bool) {
	out := make([]string, len(list))
	for i, v := range list {
		s, ok := v.(string)
		if !ok {
			return nil, false
		}
		out[i] = s
	}
	return out, true
}

// seconds is a time to wait that need not be given.
type seconds struct {
	given bool
	d     time.Duration
}

// UnmarshalJSON takes null or a number of seconds that is not negative.
func (s *seconds) UnmarshalJSON(raw []byte) error {
	*s = seconds{}
	var n *float64
	if err := json.Unmarshal(raw, &n); err != nil || n != nil && (*n < 0 || math.IsNaN(*n)) {
		return fault.New(fault.Invalid, "a time to wait is a number of seconds, not %.40q", raw).WithHint("leave it away for the default; nothing was done")
	}
	if n != nil {
		s.given, s.d = true, time.Duration(min(*n, maxWait.Seconds())*float64(time.Second))
	}
	return nil
}

// optional is a text that may be null.
type optional string

// looseSchemas are the schemas of the types above.
var looseSchemas = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[privacy]():  {AnyOf: []*jsonschema.Schema{{Type: "array", Items: &jsonschema.Schema{Type: "string"}}, {Type: "boolean"}, {Type: "null"}}},
	reflect.TypeFor[handles]():  {AnyOf: []*jsonschema.Schema{{Type: "string"}, {Type: "array", Items: &jsonschema.Schema{Type: "string"}}}},
	reflect.TypeFor[seconds]():  {AnyOf: []*jsonschema.Schema{{Type: "number", Minimum: jsonschema.Ptr(0.0)}, {Type: "null"}}},
	reflect.TypeFor[optional](): {AnyOf: []*jsonschema.Schema{{Type: "string"}, {Type: "null"}}},
	reflect.TypeFor[aliases](): {AnyOf: []*jsonschema.Schema{
		{Type: "object", AdditionalProperties: &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "string"}}},
		{Type: "array", Items: &jsonschema.Schema{Type: "string"}}, {Type: "string"}, {Type: "null"},
	}},
}
