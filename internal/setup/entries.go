package setup

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"bureau/internal/agent/claude"
	"bureau/internal/setup/jsonc"
)

const (
	// serverName is the name under which the MCP server is registered; the
	// client's names of our tools are made from it.
	serverName = "bureau"
	// toolRule allows all tools of the server (permissions.allow).
	toolRule = "mcp__" + serverName
	hookName = "bureau-hook"
	// clientWord is the hook's first argument.
	clientWord = "claude"
)

// Event is a hook that we register.
type Event struct {
	Name    string
	Matcher string // of tool names; "" for all
	Timeout int    // seconds after which the client gives up
}

// Events gives the hooks that a version of the client is to run. The program
// itself stops after 2 s (SessionEnd: 1 s); the client's limit is only for the
// case that it cannot even start. Of the client's 34 events these are the ones
// that carry mail, prove its arrival, say who and where a session is, or come
// before an edit of what somebody may hold. No event has two of our entries, so
// nothing that the client does starts two processes.
func Events(f claude.Features) []Event {
	batch := Event{Name: "PostToolBatch", Timeout: 5}
	if !f.PostToolBatch {
		batch.Name = "PostToolUse"
	}
	events := []Event{
		{Name: "SessionStart", Timeout: 10},
		{Name: "UserPromptSubmit", Timeout: 10},
		{Name: "PreToolUse", Matcher: claude.ToolMatcher, Timeout: 5},
		batch,
		{Name: "Stop", Timeout: 10},
		{Name: "SubagentStop", Timeout: 10},
		// All SessionEnd hooks share 1.5 s unless one of them asks for more.
		{Name: "SessionEnd", Timeout: 3},
		{Name: "Notification", Timeout: 5},
		{Name: "CwdChanged", Timeout: 5},
	}
	if f.StopFailure {
		events = append(events, Event{Name: "StopFailure", Timeout: 5})
	}
	return events
}

// handler is a command hook. With Args the client runs the program itself
// (exec form); without, it gives Command to a shell.
type handler struct {
	Type    string   `json:"type"`
	Command string   `json:"command"`
	Args    []string `json:"args,omitempty"`
	Timeout int      `json:"timeout,omitempty"`
}

type group struct {
	Matcher string    `json:"matcher,omitempty"`
	Hooks   []handler `json:"hooks"`
}

// server is an entry of mcpServers, in the client's own order of keys.
type server struct {
	Type    string            `json:"type"`
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
}

// handlerFor makes the hook's entry for an event.
func (o *Options) handlerFor(e Event) handler {
	h := handler{Type: "command", Command: o.Hook, Args: []string{clientWord, "--home", o.Home}, Timeout: e.Timeout}
	if !o.Client.Version.Features().ExecForm {
		h.Command = strings.Join([]string{shellQuote(o.Hook), clientWord, "--home", shellQuote(o.Home)}, " ")
		h.Args = nil
	}
	return h
}

func (o *Options) server() server {
	return server{Type: "stdio", Command: o.Bureau, Args: []string{"mcp", "--home", o.Home}, Env: map[string]string{}}
}

// ourHandler reports whether a hook's entry is one that we made, of whatever
// version and office. An entry that only contains ours in a longer command is
// somebody's own.
func ourHandler(n jsonc.Node) bool {
	_, ours := handlerWords(n)
	return ours
}

// handlerWords gives program and arguments of a hook's entry, and whether it is
// one that we made.
func handlerWords(n jsonc.Node) (words []string, ours bool) {
	var h struct {
		Type, Command string
		Args          *[]string
	}
	if n.Kind() != '{' || n.Decode(&h) != nil || h.Type != "command" {
		return nil, false
	}
	words = []string{h.Command}
	if h.Args != nil {
		words = append(words, *h.Args...)
	} else {
		var ok bool
		if words, ok = shellWords(h.Command); !ok {
			return nil, false
		}
	}
	return words, len(words) >= 2 && program(words[0]) == hookName && words[1] == clientWord &&
		(len(words) == 2 || len(words) == 4 && words[2] == "--home")
}

// sameHandler reports whether an entry runs what want runs. Its timeout is the
// person's business.
func sameHandler(n jsonc.Node, want handler) bool {
	var h handler
	return n.Decode(&h) == nil && h.Type == want.Type && h.Command == want.Command && slices.Equal(h.Args, want.Args)
}

// ourServer reports whether an entry of mcpServers is one that we made.
func ourServer(n jsonc.Node) bool {
	var s server
	return n.Kind() == '{' && n.Decode(&s) == nil && program(s.Command) == serverName && len(s.Args) > 0 && s.Args[0] == "mcp"
}

func sameServer(n jsonc.Node, want server) bool {
	var s server
	return n.Decode(&s) == nil && s.Command == want.Command && slices.Equal(s.Args, want.Args)
}

// program is the name of a program, whatever its folder and system.
func program(path string) string {
	return strings.TrimSuffix(filepath.Base(strings.ReplaceAll(path, `\`, "/")), ".exe")
}

// shellQuote writes a word for a POSIX shell.
func shellQuote(word string) string {
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// plain reports whether a shell takes a character as it is.
func plain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@,=%", r)
}

// shellWords splits a command that consists of words as [shellQuote] writes
// them. It reports false for any other command.
func shellWords(command string) ([]string, bool) {
	var words []string
	for command = strings.TrimSpace(command); command != ""; command = strings.TrimLeft(command, " ") {
		var word strings.Builder
		for command != "" && command[0] != ' ' {
			switch {
			case command[0] == '\'':
				inner, rest, closed := strings.Cut(command[1:], "'")
				if !closed {
					return nil, false
				}
				word.WriteString(inner)
				command = rest
			case strings.HasPrefix(command, `\'`):
				word.WriteByte('\'')
				command = command[2:]
			case plain(rune(command[0])):
				word.WriteByte(command[0])
				command = command[1:]
			default:
				return nil, false
			}
		}
		words = append(words, word.String())
	}
	return words, true
}

// jsonText marshals for messages.
func jsonText(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}
