package claude

import "strings"

// ToolKind says what a guard has to ask about before a tool is used.
type ToolKind int

// The kinds of tools.
const (
	OtherTool ToolKind = iota
	OwnTool            // one of our MCP server's
	EditTool           // changes files that its input names
	ShellTool          // runs a command
	ReadTool           // shows or searches files that its input names
)

// The tools that change or show files or run commands: the client's own, those
// of other clients that take its hooks too (Codex and Copilot run those of a
// plugin, Qwen Code has the same dialect) and those of MCP servers for files.
const (
	edits = "Edit|Write|MultiEdit|NotebookEdit|edit|write|create|insert|replace|patch|multi_edit|notebook_edit|edit_notebook|" +
		"str_replace|search_replace|fs_write"
	serverEdits = "apply_patch|str_replace_editor|str_replace_based_edit_tool|text_editor|write_file|edit_file|create_file|delete_file|move_file|" +
		"write_to_file|replace_in_file|insert_edit_into_file"
	reads       = "Read|NotebookRead|Grep|read|view|view_file|grep|read_notebook"
	serverReads = "read_file|read_files|read_text_file|read_many_files|read_multiple_files|search_file_content|grep_search"
	shells      = "Bash|bash|shell|local_shell|run_shell_command|execute_command|run_terminal_cmd|PowerShell"
)

// ToolMatcher is the matcher of the hook that runs before a tool is used. It is
// one entry, so that no call starts two processes. The client takes a matcher
// with characters such as ^ and ( for a regular expression and looks for it
// anywhere in the tool's name.
const ToolMatcher = "^(" + edits + "|" + reads + "|" + shells + "|mcp__(plugin_bureau_)?bureau__.*|(mcp__.+__)?(" + serverEdits + "|" + serverReads + "))$"

// KindOf says what kind of tool a name is of.
func KindOf(tool string) ToolKind {
	if server, ok := strings.CutPrefix(tool, "mcp__"); ok {
		if strings.HasPrefix(server, "bureau__") || strings.HasPrefix(server, "plugin_bureau_bureau__") {
			return OwnTool
		}
		switch i := strings.LastIndex(server, "__"); {
		case i <= 0:
		case listed(serverEdits, server[i+len("__"):]):
			return EditTool
		case listed(serverReads, server[i+len("__"):]):
			return ReadTool
		}
		return OtherTool
	}
	switch {
	case listed(edits, tool), listed(serverEdits, tool):
		return EditTool
	case listed(shells, tool):
		return ShellTool
	case listed(reads, tool), listed(serverReads, tool):
		return ReadTool
	}
	return OtherTool
}

// listed reports whether a name is one of those in a list with bars between.
func listed(names, name string) bool {
	for names != "" {
		var one string
		if one, names, _ = strings.Cut(names, "|"); one == name {
			return true
		}
	}
	return false
}
