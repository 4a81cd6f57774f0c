package claude

import (
	"regexp"
	"testing"
)

// TestToolKinds: the hook is started for the tools that it has to do with, and
// for no others.
func TestToolKinds(t *testing.T) {
	t.Parallel()
	matcher := regexp.MustCompile(ToolMatcher)
	for tool, want := range map[string]ToolKind{
		"Edit": EditTool, "Write": EditTool, "MultiEdit": EditTool, "NotebookEdit": EditTool, "apply_patch": EditTool, "write_file": EditTool,
		"replace": EditTool, "edit": EditTool, "str_replace": EditTool, "create": EditTool, "mcp__filesystem__edit_file": EditTool,
		"mcp__my__files__write_file": EditTool, "Bash": ShellTool, "run_shell_command": ShellTool,
		"mcp__bureau__inbox": OwnTool, "mcp__plugin_bureau_bureau__ask": OwnTool,
		"Read": ReadTool, "Grep": ReadTool, "NotebookRead": ReadTool, "view": ReadTool, "read_file": ReadTool, "mcp__filesystem__read_text_file": ReadTool,
		"": OtherTool, "Glob": OtherTool, "mcp__x__Read": OtherTool, "mcp__read_file": OtherTool, "BashOutput": OtherTool, "TodoWrite": OtherTool, "Edit|Write": OtherTool, "mcp__": OtherTool, "mcp__write_file": OtherTool, "mcp____write_file": OtherTool,
		"mcp__jira__create": OtherTool, "mcp__bureaus__inbox": OtherTool, "mcp__x__bureau__inbox": OtherTool, "mcp__x__write_file_list": OtherTool, "|": OtherTool,
	} {
		if got := KindOf(tool); got != want {
			t.Errorf("%q is of kind %d, not %d", tool, got, want)
		}
		if matcher.MatchString(tool) != (want != OtherTool) {
			t.Errorf("the matcher is wrong about %q", tool)
		}
	}
}
