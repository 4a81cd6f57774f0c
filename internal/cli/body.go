package cli

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"bureau/internal/fault"
	"bureau/internal/mail"
	"bureau/internal/office"
)

// body is where a message's text comes from: the arguments, standard input
// ("-" as the only argument) or a file. Its bytes are sent as they are.
type body struct{ file string }

func (b *body) flags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&b.file, "file", "f", "", "take the text from `FILE` (- for standard input)")
}

// body gives the text. limit is its most bytes.
func (a *app) body(ctx context.Context, cmd *cobra.Command, b body, words []string, limit int) ([]byte, error) {
	content, err := a.bodyBytes(ctx, cmd, b, words, limit)
	var f *fault.Error
	if errors.As(err, &f) && f.Hint == adviceAttach && cmd.Flags().Lookup("attach") == nil {
		f.Hint = "nothing was sent; put it where the others can read it and send the path"
	}
	return content, err
}

func (a *app) bodyBytes(ctx context.Context, cmd *cobra.Command, b body, words []string, limit int) ([]byte, error) {
	stdin := len(words) == 1 && words[0] == "-"
	switch {
	case b.file != "" && len(words) > 0:
		return nil, usage(cmd, "the text comes from --file or from the arguments, not from both")
	case b.file == "-" || stdin:
		return a.stdin(ctx, limit)
	case b.file != "":
		content, err := a.readFile(b.file, limit)
		if err == nil && len(content) == 0 {
			err = fault.New(fault.Invalid, "the file %s is empty; nothing was sent", b.file)
		}
		return content, err
	}
	return []byte(strings.Join(words, " ")), nil
}

// stdin reads all of standard input. It gives up when the context ends: a
// terminal's input may never come.
func (a *app) stdin(ctx context.Context, limit int) ([]byte, error) {
	if a.InTTY {
		a.note("reading the text from the terminal; end it with Ctrl-D on a line of its own")
	}
	type result struct {
		content []byte
		err     error
	}
	done := make(chan result, 1)
	go func() {
		content, err := io.ReadAll(io.LimitReader(a.In, int64(limit)+1))
		done <- result{content, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case r := <-done:
		switch {
		case r.err != nil:
			return nil, fault.New(fault.Unavailable, "cannot read standard input: %w", r.err).WithHint("nothing was sent")
		case len(r.content) == 0:
			return nil, fault.New(fault.Invalid, "standard input is empty; nothing was sent")
		case len(r.content) > limit:
			return nil, tooLong("standard input", limit)
		}
		return r.content, nil
	}
}

// adviceAttach is for commands that can attach files.
const adviceAttach = "nothing was sent; attach up to 16 MiB with --attach, or put it where others can read it and send the path"

func tooLong(what string, limit int) error {
	return fault.New(fault.Invalid, "%s has more than the limit of %d bytes (%s)", what, limit, size(int64(limit))).
		WithHint(adviceAttach)
}

// readFile reads a whole file of at most limit bytes.
func (a *app) readFile(path string, limit int) ([]byte, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(a.Dir, path)
	}
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.New(fault.NotFound, "no file %s", path)
	case err != nil:
		return nil, fault.New(fault.Unavailable, "cannot read the file: %w", err)
	case st.IsDir():
		return nil, fault.New(fault.Invalid, "%s is a folder", path).WithHint("name a file")
	case st.Size() > int64(limit):
		return nil, tooLong(path, limit)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "cannot read the file: %w", err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	switch {
	case err != nil:
		return nil, fault.New(fault.Unavailable, "cannot read the file: %w", err)
	case len(content) > limit:
		return nil, tooLong(path, limit)
	}
	return content, nil
}

// attachments reads the files of --attach.
func (a *app) attachments(paths []string) ([]office.File, error) {
	var files []office.File
	for _, p := range paths {
		content, err := a.readFile(p, mail.MaxAttachment)
		if err != nil {
			return nil, err
		}
		files = append(files, office.File{Name: filepath.Base(p), Content: content})
	}
	return files, nil
}
