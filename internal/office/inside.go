package office

import (
	"context"

	"bureau/internal/proc"
)

// InsideClient reports whether one of the processes is a registered client.
func (o *Office) InsideClient(ctx context.Context, processes []proc.ID) (bool, error) {
	if len(processes) == 0 {
		return false, nil
	}
	lives, err := o.clientAbove(ctx, processes)
	return len(lives) > 0, err
}
