package mcpserver

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"bureau/internal/fault"
)

// replies keeps what was sent over streams, so that a client whose stream broke
// can go on with it. The library's store is bounded in all and forgets whole
// connections alone, so each stream is a connection of its own there; here each
// connection's streams are bounded, the oldest first, and one that talks much
// takes nothing from the others.
type replies struct {
	store *mcp.MemoryEventStore

	mu sync.Mutex
	of map[string][]*kept // by MCP session, the oldest stream first
}

type kept struct {
	stream string
	bytes  int
}

// Limits of what is kept. The last stream of a connection is kept whole.
const (
	maxStreams    = 64       // of one connection
	maxReplies    = 1 << 20  // bytes of one connection
	maxAllReplies = 64 << 20 // bytes of all together
)

func newReplies() *replies {
	r := &replies{store: mcp.NewMemoryEventStore(nil), of: map[string][]*kept{}}
	r.store.SetMaxBytes(maxAllReplies)
	return r
}

func storeKey(session, stream string) string { return session + "/" + stream }

// Open makes a stream known.
func (r *replies) Open(ctx context.Context, session, stream string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.find(session, stream) == nil {
		r.of[session] = append(r.of[session], &kept{stream: stream})
	}
	r.shrink(ctx, session)
	return r.store.Open(ctx, storeKey(session, stream), stream)
}

// Append keeps what goes over a stream, unless it was dropped before.
func (r *replies) Append(ctx context.Context, session, stream string, data []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.find(session, stream)
	if k == nil {
		return nil
	}
	k.bytes += len(data)
	r.shrink(ctx, session)
	if r.find(session, stream) == nil {
		return nil
	}
	return r.store.Append(ctx, storeKey(session, stream), stream, data)
}

// After gives what followed an event, or an error if some of it was dropped.
func (r *replies) After(ctx context.Context, session, stream string, index int) iter.Seq2[[]byte, error] {
	r.mu.Lock()
	gone := r.find(session, stream) == nil
	r.mu.Unlock()
	if gone {
		return func(yield func([]byte, error) bool) {
			yield(nil, fault.New(fault.NotFound, "the stream %q is not kept any longer", stream))
		}
	}
	return r.store.After(ctx, storeKey(session, stream), stream, index)
}

// SessionClosed drops all of a connection.
func (r *replies) SessionClosed(ctx context.Context, session string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.of[session] {
		_ = r.store.SessionClosed(ctx, storeKey(session, k.stream)) // never fails
	}
	delete(r.of, session)
	return nil
}

func (r *replies) find(session, stream string) *kept {
	for _, k := range slices.Backward(r.of[session]) {
		if k.stream == stream {
			return k
		}
	}
	return nil
}

// shrink drops a connection's oldest streams until it keeps to its limits. The
// one that belongs to no request ("") carries next to nothing and stays.
func (r *replies) shrink(ctx context.Context, session string) {
	bytes := 0
	for _, k := range r.of[session] {
		bytes += k.bytes
	}
	for i := 0; i < len(r.of[session])-1 && (len(r.of[session]) > maxStreams || bytes > maxReplies); {
		k := r.of[session][i]
		if k.stream == "" {
			i++
			continue
		}
		bytes -= k.bytes
		_ = r.store.SessionClosed(ctx, storeKey(session, k.stream)) // never fails
		r.of[session] = slices.Delete(r.of[session], i, i+1)
	}
}
