package runtimedir

import (
	"errors"
	"io"
	"os"
)

// Head reads the beginning of a small local file into buf and gives how much
// there was.
func Head(path string, buf []byte) (n int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	n, err = io.ReadFull(f, buf)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return n, errors.Join(err, f.Close())
}
