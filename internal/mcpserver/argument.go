package mcpserver

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"bureau/internal/fault"
)

// withoutNulls leaves away the arguments of a call that are null and may be left
// away: many clients write null for what is not given, whatever the schema says.
func (s *server) withoutNulls(req mcp.Request) {
	call, is := req.(*mcp.CallToolRequest)
	if !is || call.Params == nil || !bytes.Contains(call.Params.Arguments, []byte("null")) {
		return
	}
	schema := s.takes[call.Params.Name]
	var given map[string]json.RawMessage
	if schema == nil || json.Unmarshal(call.Params.Arguments, &given) != nil {
		return // for the library to refuse
	}
	before := len(given)
	for name, raw := range given {
		if string(raw) == "null" && schema.Properties[name] != nil && !slices.Contains(schema.Required, name) {
			delete(given, name)
		}
	}
	if len(given) == before {
		return
	}
	if raw, err := json.Marshal(given); err == nil {
		params := *call.Params
		params.Arguments = raw
		call.Params = &params
	}
}

// argumentFault makes a refusal of what the library says about arguments that do
// not fit the tool's schema. For an argument of the wrong type it says what fits,
// in place of how each part of the schema failed.
func (s *server) argumentFault(err error, req mcp.Request) error {
	text := strings.TrimPrefix(err.Error(), `validating "arguments": `)
	text = strings.TrimPrefix(text, "validating root: ")
	text, _, _ = strings.Cut(text, "\n")
	if rest, ok := strings.CutPrefix(text, "validating /properties/"); ok {
		name, _, _ := strings.Cut(rest, ":")
		name, _, _ = strings.Cut(name, "/") // somewhere in it
		if call, is := req.(*mcp.CallToolRequest); is && call.Params != nil {
			if schema := s.takes[call.Params.Name]; schema != nil && schema.Properties[name] != nil {
				text = name + " is " + typeWords(schema.Properties[name])
			}
		}
	}
	return fault.New(fault.Invalid, "the arguments do not fit: %s", text).WithHint("the tool's input schema lists what it takes; nothing was done")
}

// typeWords says what fits a schema.
func typeWords(s *jsonschema.Schema) string {
	if len(s.AnyOf) > 0 {
		words := make([]string, len(s.AnyOf))
		for i, one := range s.AnyOf {
			words[i] = typeWords(one)
		}
		last := len(words) - 1
		return strings.Join(words[:last], ", ") + " or " + words[last]
	}
	switch s.Type {
	case "string":
		return "a text"
	case "array":
		if s.Items != nil && s.Items.Type == "string" {
			return "a list of texts"
		}
		return "a list"
	case "boolean":
		return "true or false"
	case "number", "integer":
		words := "a number"
		if s.Type == "integer" {
			words = "a whole number"
		}
		if s.Minimum != nil && *s.Minimum == 0 {
			words += " that is not negative"
		}
		return words
	case "null":
		return "null"
	}
	return "an object"
}
