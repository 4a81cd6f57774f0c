package mcpserver

import (
	"context"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// How long a tool waits. The shortest limit of a client for a call without
// progress is 60 s, and for one with progress 300 s, which progress does not
// extend (measured with the clients).
const (
	defaultWait  = 50 * time.Second
	maxSilent    = 50 * time.Second
	maxWait      = 280 * time.Second
	progressEach = 5 * time.Second
)

// patience gives how long a call may wait that asks for a number of seconds.
func (c *call) patience(seconds int) time.Duration {
	most := maxSilent
	if c.req.Params.GetProgressToken() != nil {
		most = maxWait
	}
	d := defaultWait
	if seconds > 0 {
		d = time.Duration(min(seconds, int(maxWait/time.Second))) * time.Second
	}
	return min(d, most)
}

// progress tells the client that a call is waiting, if it wants to know, until
// the function it gives is called.
func (c *call) progress(ctx context.Context, most time.Duration, what string) (stop func()) {
	token := c.req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		begun := time.Now()
		ticker := time.NewTicker(c.s.each)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			gone := time.Since(begun).Round(time.Second)
			_ = c.req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: token, Progress: gone.Seconds(), Total: most.Seconds(), Message: fmt.Sprintf("%s (%s)", what, gone),
			})
		}
	}()
	return func() {
		// The result must not be overtaken by a late word about the wait.
		cancel()
		<-done
	}
}
