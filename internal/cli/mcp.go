package cli

import (
	"context"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"bureau/internal/fault"
)

// MCP is what an MCP server is run with. Home is the office's folder that was
// named, "" for none; Tools are toolsets, none for the default.
type MCP struct {
	In    io.Reader
	Out   io.Writer
	Env   func(string) string
	Now   func() time.Time
	Dir   string
	Home  string
	Tools []string
}

// ServeMCP runs the MCP server. The main program sets it: it is a face of its
// own, and faces do not import each other.
var ServeMCP func(context.Context, MCP) error

func newMCP(a *app) *cobra.Command {
	var home string
	var tools []string
	cmd := &cobra.Command{
		Use:     "mcp",
		GroupID: groupOffice,
		Short:   "Serve the office as tools to a coding agent",
		Long: `Serve the office as tools of the Model Context Protocol on standard input and
output. Clients start this by themselves once it is registered with them
(bureau setup). It answers both eras of the protocol and ends with its input.

The session that it was started by is who its tools act as. In Claude Code it is
also the doorbell: it wakes the session when mail comes while it is idle.

Toolsets: mail (roster, ask, send, inbox, read_message, thread), claims (claim)
and board, which together are the default and all; mclaude has the lock tools of
mclaude (mclaude_lock_claim and so on), beside the others; escritorio has the
tools and parameters of Escritório (roster, ask, dm, inbox, board, claim,
fechar_thread), alone.

For meetings, beside the others: room (room, room_open, room_join, room_say,
room_whisper, room_wait, room_vote, room_do), any number of rooms at once; and
multiagent, the tools and parameters of multiagent-mcp (init_conversation,
join_conversation, list_participants, send_message, broadcast_message,
whisper_message, wait_for_turn, wait_for_message), one conversation at a time.
BUREAU_MULTIAGENT_COLUMN=description or code makes its conversations as that
system is described, or as it works.

--home names the office. One that is named here is never begun: while it is not
there, its volume not mounted for instance, the tools say so, and work again as
soon as it is.`,
		Example: `  bureau mcp
  bureau mcp --tools mail,claims
  bureau mcp --tools all,mclaude
  bureau mcp --tools room,multiagent
  bureau mcp --tools escritorio --home /srv/office`,
		Args: between(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if home != "" && !filepath.IsAbs(home) {
				return usage(cmd, "--home takes an absolute path, not %q: a client may start this anywhere", home)
			}
			if ServeMCP == nil {
				return fault.New(fault.Unavailable, "this program has no MCP server")
			}
			return ServeMCP(cmd.Context(), MCP{
				In: a.In, Out: a.Out, Env: a.Env, Now: a.Now, Dir: a.Dir, Home: home, Tools: tools,
			})
		},
	}
	cmd.Flags().StringVar(&home, "home", "", "the office's folder `DIR` (else $BUREAU_HOME)")
	cmd.Flags().StringSliceVar(&tools, "tools", nil, "toolsets `SET[,SET…]` of those above (default: all)")
	return cmd
}
