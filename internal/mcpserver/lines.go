package mcpserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxRequest bounds one line of the client: a body of 1 MiB and attachments'
// paths in any escaping, with room to spare.
const maxRequest = 32 << 20

// parseError answers a line that is no JSON, as JSON-RPC 2.0 says: the id is
// null because it could not be read.
const parseError = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"this line is no JSON object; the server goes on with the next one"}}` + "\n"

// requestError answers a line that is JSON and no message of JSON-RPC 2.0.
const requestError = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"this line is no JSON-RPC 2.0 message; the server goes on with the next one"}}` + "\n"

// withoutBatches is the first version of the protocol in which a line is one
// message and never a list of them.
const withoutBatches = "2025-06-18"

// lines gives the SDK only lines that are messages. One that is not would end
// its connection, and with it every tool of the session; here it is answered
// with an error and skipped. A list of messages passes where the client began
// with a version of the protocol that has them.
func lines(in io.Reader, out io.Writer) (io.ReadCloser, io.WriteCloser) {
	w := &wholeWriter{w: out}
	r, feed := io.Pipe()
	go func() {
		src := bufio.NewReaderSize(in, 64<<10)
		var check checker
		for {
			line, err := readLine(src)
			trimmed := bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")))
			answer := ""
			if errors.Is(err, errLongLine) {
				answer = parseError
			} else if len(trimmed) > 0 {
				answer = check.line(trimmed)
			}
			switch {
			case answer != "":
				if _, werr := w.Write([]byte(answer)); werr != nil {
					feed.CloseWithError(werr)
					return
				}
			case len(trimmed) > 0:
				if _, werr := feed.Write(append(trimmed, '\n')); werr != nil {
					return // the server is gone
				}
			}
			if err != nil && !errors.Is(err, errLongLine) {
				feed.CloseWithError(err) // io.EOF ends the server
				return
			}
		}
	}()
	return r, w
}

// checker tells messages from what is none.
type checker struct {
	batches bool // the client began with a version that has them
}

// line gives the answer to a line that is no message, and "" to one that is.
func (c *checker) line(line []byte) string {
	if !json.Valid(line) {
		return parseError
	}
	if line[0] == '[' {
		var list []json.RawMessage
		if !c.batches || json.Unmarshal(line, &list) != nil || len(list) == 0 {
			return requestError
		}
		for _, one := range list {
			if _, err := jsonrpc.DecodeMessage(one); err != nil {
				return requestError
			}
		}
		return ""
	}
	m, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		return requestError
	}
	if r, ok := m.(*jsonrpc.Request); ok && r.Method == "initialize" {
		var begin struct {
			Version string `json:"protocolVersion"`
		}
		c.batches = json.Unmarshal(r.Params, &begin) == nil && begin.Version != "" && begin.Version < withoutBatches
	}
	return ""
}

var errLongLine = errors.New("the line is longer than 32 MiB")

// readLine reads up to a line's end. Of a line that is too long nothing is
// kept, and its rest is read away.
func readLine(src *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := src.ReadSlice('\n')
		if !long && len(line)+len(part) > maxRequest {
			long, line = true, nil
		}
		if !long {
			line = append(line, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == nil && long:
			return nil, errLongLine
		}
		return line, err
	}
}

// wholeWriter keeps what two sides write from mixing. The SDK writes each
// message in one call.
type wholeWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (w *wholeWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.w.Write(p)
}

// Close leaves the process's output open.
func (w *wholeWriter) Close() error { return nil }
