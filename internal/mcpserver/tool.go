package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"bureau/internal/claim"
	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/office"
	"bureau/internal/presence"
	"bureau/internal/quote"
)

// spec describes a tool.
type spec struct {
	name, title, about string
	readOnly           bool
	// always puts the tool into a session's first request; clients that have
	// many tools hide the others behind a search.
	always bool
}

// call is one call of a tool.
type call struct {
	s      *server
	o      *office.Office
	caller office.Caller
	req    *mcp.CallToolRequest
	client string
	token  event.ID // over HTTP: the one that was shown
	// hooked: the client's hook announced the call, so hooks will prove what
	// it hands out.
	hooked  bool
	handing []*delivery     // what its answer hands out; see delivery.go
	start   string          // where the session began
	folder  string          // where the caller is: what relative paths begin at
	gone    string          // where the caller is, if that folder is not there
	root    *string         // see tree
	looked  *office.Project // that the call was about, once it was asked for; see where
	// retry is what a call has in common with itself when a client that lost its
	// answer makes it again, and with no call of one that has read it; "" if
	// nothing tells them apart.
	retry string
}

// texter is an output that is shown as another text than its JSON.
type texter interface{ text() string }

// add offers a tool. Its schemas come from the types.
func add[In, Out any](s *server, t spec, do func(context.Context, *call, In) (Out, error)) {
	no := false
	tool := &mcp.Tool{
		Name: t.name, Title: t.title, Description: t.about, InputSchema: schemaOf[In](true), OutputSchema: schemaOf[Out](false),
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: t.readOnly, OpenWorldHint: &no},
	}
	if !t.readOnly {
		tool.Annotations.DestructiveHint = &no
	}
	if t.always {
		tool.Meta = mcp.Meta{"anthropic/alwaysLoad": true}
	}
	if s.takes == nil {
		s.takes = map[string]*jsonschema.Schema{}
	}
	s.takes[t.name] = tool.InputSchema.(*jsonschema.Schema)
	mcp.AddTool(s.mcp, tool, func(ctx context.Context, req *mcp.CallToolRequest, in In) (res *mcp.CallToolResult, out Out, err error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(s.ctx, cancel)()
		defer func() {
			// A defect in one call must not take the session's office away.
			if r := recover(); r != nil {
				err = s.refusal(fault.New(fault.Unavailable, "a defect in %s: %v", t.name, r).WithDetail(string(debug.Stack())))
			}
		}()
		o, giveBack, err := s.desk.use(ctx)
		if err != nil {
			return nil, out, s.refusal(err)
		}
		defer giveBack()
		c := &call{s: s, o: o, req: req}
		said := s.claimOf(ctx, req)
		if s.remote != nil {
			defer context.AfterFunc(s.remote.until(said.token, req.Session), cancel)()
		}
		c.client = said.client
		if said.token != nil {
			c.token = said.token.ID
		}
		if c.caller, err = s.identify(ctx, o, said); err != nil {
			return nil, out, s.refusal(err)
		}
		if said.call == "" {
			s.sighted(ctx, o, c.caller)
		}
		var announced presence.Call
		if said.call != "" {
			announced, c.hooked, _ = o.Announced(ctx, said.call)
		}
		c.settle(ctx, announced.Folder)
		out, err = do(ctx, c, in)
		if ended := s.still(ctx, o, said); ended != nil {
			var nothing Out
			return nil, nothing, s.refusal(ended)
		}
		if err != nil {
			return nil, out, s.refusal(err)
		}
		c.answered(ctx)
		if x, ok := any(&out).(texter); ok {
			res = &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: x.text()}}}
		}
		return res, out, nil
	})
}

// schemaOf derives the JSON schema of a type. Lists and what may be left out
// are never null here, which not every client's reader of schemas could take.
// Outputs may gain fields, and of theirs only names and types are given: the
// list of tools is in every context, and results speak for themselves.
func schemaOf[T any](input bool) *jsonschema.Schema {
	schema, err := jsonschema.ForType(reflect.TypeFor[T](), &jsonschema.ForOptions{TypeSchemas: looseSchemas})
	if err != nil {
		panic(fmt.Sprintf("schema of %s: %v", reflect.TypeFor[T](), err)) // a defect of the type
	}
	simplify(schema, false)
	if !input {
		schema.AdditionalProperties, schema.Required = nil, nil
		for _, p := range schema.Properties {
			shallow(p)
		}
	}
	return schema
}

func simplify(s *jsonschema.Schema, optional bool) {
	if s == nil {
		return
	}
	if len(s.Types) == 2 && s.Types[0] == "null" && (optional || s.Types[1] == "array") {
		s.Type, s.Types = s.Types[1], nil
	}
	if len(s.Types) == 2 && s.Types[0] == "null" && s.Types[1] == "string" {
		// Not every client's reader of schemas takes a list of types.
		s.AnyOf, s.Types = []*jsonschema.Schema{{Type: "null"}, {Type: "string"}}, nil
	}
	simplify(s.Items, false)
	for name, p := range s.Properties {
		simplify(p, !slices.Contains(s.Required, name))
	}
}

func shallow(s *jsonschema.Schema) {
	s.Description = ""
	switch s.Type {
	case "object":
		s.Properties, s.Required, s.AdditionalProperties = nil, nil, nil
	case "array":
		s.Items = nil
	}
}

// toolError is a refusal in the words of a tool's result.
type toolError struct{ json string }

func (e *toolError) Error() string { return e.json }

// errorView is the shape of an error, as the command line prints it too.
type errorView struct {
	Error struct {
		Code    fault.Code `json:"code"`
		Message string     `json:"message"`
		Hint    string     `json:"hint"`
		Detail  any        `json:"detail,omitempty"`
	} `json:"error"`
}

// refusal makes the error that a tool returns. It goes as text alone:
// structured content would have to fit the tool's output schema.
func (s *server) refusal(err error) *toolError {
	var v errorView
	v.Error.Code, v.Error.Message, v.Error.Hint = fault.CodeOf(err), quote.Text(err.Error()), s.toolHint(quote.Text(fault.HintOf(err)))
	if errors.Is(err, context.Canceled) {
		v.Error.Message, v.Error.Hint = "cancelled", "nothing was taken from the inbox, and a place in a queue is given up"
		if in := (*stopped)(nil); errors.As(err, &in) {
			v.Error.Hint = "only the waiting ended: nothing new was taken, what was said stays said, and whose turn it is stays as it is"
		}
	}
	var f *fault.Error
	if errors.As(err, &f) {
		v.Error.Detail = f.Detail
		if blocks, ok := f.Detail.([]claim.Block); ok {
			list := blocksOf(blocks)
			v.Error.Detail = list[:fit(list, maxDetail-2<<10)]
		}
	}
	raw, encodeErr := json.Marshal(v)
	if encodeErr != nil || len(raw) > maxDetail {
		v.Error.Detail = nil
		raw, _ = json.Marshal(v)
	}
	return &toolError{string(raw)}
}

// maxDetail bounds a refusal, in bytes.
const maxDetail = 8 << 10
