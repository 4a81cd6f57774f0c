package setup

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"bureau/internal/quote"
)

// answerWithin is how long a server may take to say what it offers: a client
// waits 30 s for one to start.
const answerWithin = 10 * time.Second

// handshake is what a client says first (Model Context Protocol 2025-11-25).
const handshake = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bureau-doctor","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`

// serves starts an MCP server, asks what it offers and lets it end. Without an
// error it offers something.
func serves(ctx context.Context, words []string) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.WaitDelay = time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return err
	}
	_, _ = io.WriteString(in, handshake) // a server that is gone gives no answer
	answer := offers(out)
	_ = in.Close()
	_, _ = io.Copy(io.Discard, out)
	ended := cmd.Wait()
	switch {
	case answer == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("not within %s", answerWithin)
	case strings.TrimSpace(said.String()) != "":
		return errors.New(quote.Line(strings.TrimSpace(said.String()), 200))
	case ended != nil:
		return ended
	}
	return answer
}

// offers reads a server's answers up to the list of its tools.
func offers(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var answer struct {
			ID     any
			Error  *struct{ Message string }
			Result struct{ Tools []any }
		}
		switch err := json.Unmarshal(lines.Bytes(), &answer); {
		case err != nil:
			return fmt.Errorf("it says %q", quote.Line(lines.Text(), 80))
		case answer.Error != nil:
			return fmt.Errorf("it says %q", quote.Line(answer.Error.Message, 200))
		case answer.ID == 2.0 && len(answer.Result.Tools) == 0:
			return errors.New("it offers no tools")
		case answer.ID == 2.0:
			return nil
		}
	}
	return errors.New("it ended without an answer")
}
