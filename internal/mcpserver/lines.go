package mcpserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"
)

// maxRequest bounds one line of the client: a body of 1 MiB and attachments'
// paths in any escaping, with room to spare.
const maxRequest = 32 << 20

// parseError answers a line that is no JSON, as JSON-RPC 2.0 says: the id is
// null because it could not be read.
const parseError = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"this line is no JSON object; the server goes on with the next one"}}` + "\n"

// lines gives the SDK only lines that are JSON. One that is not would end its
// connection, and with it every tool of the session; here it is answered with
// an error and skipped.
func lines(in io.Reader, out io.Writer) (io.ReadCloser, io.WriteCloser) {
	w := &wholeWriter{w: out}
	r, feed := io.Pipe()
	go func() {
		src := bufio.NewReaderSize(in, 64<<10)
		for {
			line, err := readLine(src)
			switch trimmed := bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))); {
			case errors.Is(err, errLongLine) || len(trimmed) > 0 && !json.Valid(trimmed):
				if _, werr := w.Write([]byte(parseError)); werr != nil {
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
