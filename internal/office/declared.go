package office

import (
	"context"
	"strings"

	"bureau/internal/proc"
)

// nameVariables name a session at its start: ours, and those of the systems
// that prompts and settings may have been written for.
var nameVariables = []string{"BUREAU_NAME", "ESCRITORIO_ID", "MCLAUDE_IDENTITY"}

// DeclaredName gives the name that a session has from its client's environment:
// that of its token ([TokenVariable]), or the first variable that is set; "" for
// none. Below another session's process it was inherited from there and names
// that one. above gives the processes above the client; it is only called where
// a name is declared.
func (o *Office) DeclaredName(ctx context.Context, env func(string) string, above func() []proc.ID) string {
	n := ""
	if text := strings.TrimSpace(env(TokenVariable)); text != "" {
		n = o.tokenName(ctx, text)
	}
	for _, v := range nameVariables {
		if n == "" {
			n = strings.TrimSpace(env(v))
		}
	}
	if n != "" && o.insideClient(ctx, above()) {
		return ""
	}
	return n
}

// insideClient reports whether one of the processes is a registered client.
func (o *Office) insideClient(ctx context.Context, processes []proc.ID) bool {
	if len(processes) == 0 {
		return false
	}
	lives, err := o.clientAbove(ctx, processes)
	return err == nil && len(lives) > 0
}
