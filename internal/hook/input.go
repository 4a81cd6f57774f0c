package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"bureau/internal/agent/claude"
)

// maxInput bounds what is read: clients put whole tool results into it.
const maxInput = 64 << 20

var (
	errEmpty    = errors.New("the input is empty")
	errNoObject = errors.New("the input is no JSON object")
	errTorn     = errors.New("the input ends inside a JSON object")
	errTooLong  = errors.New("the input is longer than 64 MiB")
)

// read gives one JSON object from r as soon as it is complete, without
// waiting for the end of the input: some clients leave it open. A byte order
// mark, blank lines and line ends of any kind around it do not matter.
func read(r io.Reader) ([]byte, error) {
	buf := make([]byte, 0, 64<<10)
	var s scanner
	for {
		if len(buf) == cap(buf) {
			if len(buf) >= maxInput {
				return nil, errTooLong
			}
			buf = append(buf, make([]byte, len(buf))...)[:len(buf)]
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if done, bad := s.feed(buf); bad != nil {
			return nil, bad
		} else if done {
			return buf[s.start:s.at], nil
		}
		if err != nil {
			switch {
			case err != io.EOF:
				return nil, err
			case !s.begun:
				return nil, errEmpty
			}
			return nil, errTorn
		}
	}
}

// scanner finds the end of a JSON object without understanding what is in it.
type scanner struct {
	start, at int
	begun     bool
	depth     int
	inString  bool
	from      int // where the string began that it is in
}

var bom = []byte("\xef\xbb\xbf")

// feed goes on with what has come since the last call.
func (s *scanner) feed(buf []byte) (done bool, err error) {
	if !s.begun && s.at == 0 {
		if len(buf) < len(bom) && bytes.HasPrefix(bom, buf) {
			return false, nil
		}
		if bytes.HasPrefix(buf, bom) {
			s.at = len(bom)
		}
	}
	for ; s.at < len(buf); s.at++ {
		c := buf[s.at]
		switch {
		case !s.begun:
			switch c {
			case ' ', '\t', '\r', '\n':
			case '{':
				s.begun, s.start, s.depth = true, s.at, 1
			default:
				return false, errNoObject
			}
		case s.inString:
			quote := bytes.IndexByte(buf[s.at:], '"')
			if quote < 0 {
				s.at = len(buf) - 1
				break
			}
			if s.at += quote; !escaped(buf[s.from:s.at]) {
				s.inString = false
			}
		case c == '"':
			s.inString, s.from = true, s.at+1
		case c == '{' || c == '[':
			s.depth++
		case c == '}' || c == ']':
			if s.depth--; s.depth == 0 {
				s.at++
				return true, nil
			}
		}
	}
	return false, nil
}

// fields are what the idle path needs to know, found without decoding the rest.
type fields struct {
	event, session, agent, tool, cwd string
	// input is what the tool is called with, as it stands in the event.
	input []byte
	// calls begins with the list of the round's calls.
	calls []byte
	// edits says that a tool of the round changes files.
	edits bool
}

// peek finds the fields of the outermost object. Later ones win, as in any
// JSON reader here, and one that is no string counts as missing.
func peek(obj []byte) fields {
	var f fields
	depth, i := 0, 0
	calls := false // inside the list of the round's calls
	for i < len(obj) {
		switch obj[i] {
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case '"':
			end := stringEnd(obj, i)
			key := ""
			if depth == 1 || depth == 3 && calls {
				key = keyName(obj[i:end])
			}
			i = end
			at := skipSpace(obj, i)
			if key == "" || at >= len(obj) || obj[at] != ':' {
				continue // of no interest, or a value
			}
			i = skipSpace(obj, at+1)
			value := i
			switch {
			case depth == 1 && key == "tool_input":
				i = valueEnd(obj, i)
			case i < len(obj) && obj[i] == '"':
				// Skipped as a whole, so that its words are never taken for a key.
				i = stringEnd(obj, i)
			}
			if depth == 1 {
				if calls = key == "tool_calls"; calls {
					f.calls = obj[value:]
				}
				f.set(key, obj[value:i])
			} else if key == "tool_name" {
				f.edits = f.edits || claude.KindOf(unquote(obj[value:i])) == claude.EditTool
			}
		default:
			i++
		}
	}
	f.edits = f.edits || claude.KindOf(f.tool) == claude.EditTool
	return f
}

// set takes up a field of the outermost object, if it is one of interest. value
// is empty for what is no string.
func (f *fields) set(key string, value []byte) {
	switch key {
	case "hook_event_name":
		f.event = unquote(value)
	case "session_id":
		f.session = unquote(value)
	case "agent_id":
		f.agent = unquote(value)
	case "tool_name":
		f.tool = unquote(value)
	case "cwd":
		f.cwd = unquote(value)
	case "tool_input":
		f.input = value
	}
}

// keyName gives the name that a key, with its quotes, means. Letters of a key
// may be escaped, each as six; what is longer is none of interest.
func keyName(key []byte) string {
	const longest = 6 * len("hook_event_name")
	switch {
	case len(key) > longest+2, len(key) < 2: // the latter is torn
		return "?"
	case bytes.IndexByte(key, '\\') >= 0:
		return unquote(key)
	}
	return string(key[1 : len(key)-1])
}

// payload is an input in full. A field of another type than expected counts
// as missing: a client's next version must not stop its sessions. It is taken
// apart when a field is first asked for: tool results can be long, and most
// events need nothing more than what peek has found.
type payload struct {
	obj []byte
	raw map[string]json.RawMessage
}

// check says what is wrong with an input that is no JSON.
func (p *payload) check() error {
	if json.Valid(p.obj) {
		return nil
	}
	return json.Unmarshal(p.obj, &p.raw)
}

func (p *payload) field(key string) json.RawMessage {
	if p.raw == nil {
		_ = json.Unmarshal(p.obj, &p.raw) // what is no JSON has no fields
	}
	return p.raw[key]
}

func (p *payload) text(key string) string {
	var s string
	if json.Unmarshal(p.field(key), &s) != nil {
		return ""
	}
	return s
}

// results gives what the tools of a round returned, as the client reports it.
// What failed is left out: an error may name a message, but does not show it.
func (p *payload) results() []byte {
	var out []byte
	if one := p.field("tool_response"); !failed(one) {
		out = append(out, one...)
	}
	var calls []struct {
		Response json.RawMessage `json:"tool_response"`
		Error    any             `json:"error"`
		IsError  any             `json:"is_error"`
	}
	if json.Unmarshal(p.field("tool_calls"), &calls) != nil {
		return out
	}
	for _, c := range calls {
		if c.Error == nil && c.IsError != true && !failed(c.Response) {
			out = append(append(out, '\n'), c.Response...)
		}
	}
	return out
}

// failed recognises the result of a call that failed. The client marks none;
// what its model is given begins in one of these ways, ours among them.
func failed(response json.RawMessage) bool {
	if len(response) == 0 {
		return false
	}
	text := ""
	switch response[0] {
	case '{':
		var marked struct {
			Snake any `json:"is_error"`
			Camel any `json:"isError"`
		}
		return json.Unmarshal(response, &marked) == nil && (marked.Snake == true || marked.Camel == true)
	case '[':
		var blocks []struct {
			Text string `json:"text"`
		}
		if json.Unmarshal(response, &blocks) == nil && len(blocks) > 0 {
			text = blocks[0].Text
		}
	case '"':
		_ = json.Unmarshal(response, &text)
	}
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "<tool_use_error>") || strings.HasPrefix(text, "Error:") || strings.HasPrefix(text, `{"error":`)
}
