// Package claude knows the surfaces of Claude Code that are not its tools: the
// records of its sessions, the inbox socket that wakes a session, its hooks'
// environment, and what a prompt's frame says about who wrote it.
//
// Most of this is private to the client and may change. Everything here was run
// against version 2.1.332; what is read is read leniently, and what is written
// is gated on [PeerProtocol]. The package holds no rules of the office and no
// opinion on what to do with what it finds.
package claude

// The environment that Claude Code gives to hooks, MCP servers and the
// commands of its Bash tool, as seen with 2.1.332. A server keeps the values of
// its start: after /clear and /resume they are stale.
const (
	// EnvSession is the session's id, a UUID, when the process was started.
	EnvSession = "CLAUDE_CODE_SESSION_ID"
	// EnvSocket is the path of the session's inbox socket. Not set in --bare.
	EnvSocket = "CLAUDE_CODE_MESSAGING_SOCKET"
	// EnvToken proves to the inbox that the writer is the session's child.
	// It is a secret: it belongs in no argument, log or event.
	EnvToken = "CLAUDE_CODE_MESSAGING_TOKEN"
	// EnvPID is the client's process id, in hooks.
	EnvPID = "CLAUDE_PID"
	// EnvAttended is "0" in print mode, where nobody sits at the session.
	EnvAttended = "CLAUDE_CODE_SESSION_ATTENDED"
	// EnvEntrypoint says how the client was started: cli, sdk-cli, ….
	EnvEntrypoint = "CLAUDE_CODE_ENTRYPOINT"
	// EnvProject is the folder that the session was started in.
	EnvProject = "CLAUDE_PROJECT_DIR"
	// EnvConfigDir moves the client's home from ~/.claude, and its global
	// file from ~/.claude.json into it.
	EnvConfigDir = "CLAUDE_CONFIG_DIR"
	// EnvChild is "1" in what the client starts.
	EnvChild = "CLAUDECODE"
	// EnvEnvFile is, in SessionStart and CwdChanged hooks, a file whose
	// export lines become the environment of the session's commands.
	EnvEnvFile = "CLAUDE_ENV_FILE"
	// EnvPluginRoot is, in what a plugin registers, the plugin's folder.
	EnvPluginRoot = "CLAUDE_PLUGIN_ROOT"
)

// Entry points, the values of [EnvEntrypoint] and [Record.Entrypoint].
const (
	EntryTerminal = "cli"
	EntryPrint    = "sdk-cli"
)

// Attended reports whether a person may be sitting at the session that env
// belongs to. What does not say is taken for a terminal.
func Attended(env func(string) string) bool {
	return env(EnvAttended) != "0" && env(EnvEntrypoint) != EntryPrint
}

// PeerProtocol is the version of the inbox and of the session records that
// this package speaks.
const PeerProtocol = 1

// The names under which the client offers the tools of our MCP server: ours
// when it was registered by name, and when it came with our plugin.
const (
	ToolPrefix       = "mcp__bureau__"
	PluginToolPrefix = "mcp__plugin_bureau_bureau__"
)
