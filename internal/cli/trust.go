package cli

import (
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"bureau/internal/fault"
	"bureau/internal/office"
	"bureau/internal/probe"
)

// trustedFile is a file that may name programs to run.
type trustedFile struct {
	File    string    `json:"file"`
	SHA256  string    `json:"sha256"` // of the content that was trusted
	At      time.Time `json:"at"`
	Current bool      `json:"current"` // the file still has that content
}

func newTrust(a *app) *cobra.Command {
	var list, remove bool
	cmd := &cobra.Command{
		Use:     "trust FILE…",
		GroupID: groupClaims,
		Short:   "Let the programs be run that a project's file names",
		Long: `Let bureau run the programs that a file of a project names: those of
.bureau/probes.yaml, which look whether something claimed is still in use
(docs/probes.md). Read the file first. Trust is for the file as it is now; after
any change it has to be given again. Only the person gives it, in a plain
terminal.`,
		Example: `  bureau trust .bureau/probes.yaml
  bureau trust --list
  bureau trust --remove .bureau/probes.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case list && (remove || len(args) > 0):
				return usage(cmd, "--list takes nothing else")
			case !list && len(args) == 0:
				return usage(cmd, "trust which file? Name it")
			}
			o, caller, err := a.enter(cmd.Context())
			if err != nil {
				return err
			}
			if list {
				return a.listTrusted(o)
			}
			if !caller.Human || caller.InSession() {
				return fault.New(fault.Denied, "%s cannot say which programs may be run", caller.Agent.Name).
					WithHint("the person does, in a plain terminal and without --as: bureau trust FILE")
			}
			return a.trust(o, args, remove)
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "list what is trusted")
	cmd.Flags().BoolVar(&remove, "remove", false, "take trust back")
	return cmd
}

func (a *app) trust(o *office.Office, files []string, remove bool) error {
	done := struct {
		Files []trustedFile `json:"files"`
	}{[]trustedFile{}}
	for _, file := range files {
		path := file
		if !filepath.IsAbs(path) {
			path = filepath.Join(a.Dir, path)
		}
		if remove {
			was, err := probe.Untrust(o.Home(), path)
			if err == nil && !was {
				err = fault.New(fault.NotFound, "%s is not trusted", path).WithHint("bureau trust --list lists what is")
			}
			if err != nil {
				return err
			}
			done.Files = append(done.Files, trustedFile{File: path})
			if !a.json {
				a.printf("%s is not trusted any more\n", safeLine(path, 0))
			}
			continue
		}
		rec, err := probe.Trust(o.Home(), path)
		if err != nil {
			return err
		}
		done.Files = append(done.Files, trustedFile{File: rec.File, SHA256: rec.SHA256, At: rec.At, Current: true})
		if !a.json {
			a.printf("%s is trusted as it is now\n", safeLine(rec.File, 0))
		}
		if filepath.Base(rec.File) == filepath.Base(probe.OwnFile) {
			if err := probe.CheckFile(rec.File); err != nil {
				a.note("nothing in it will be run: %s", safeText(err.Error()))
			}
		}
	}
	if a.json {
		return a.printJSON(done)
	}
	return nil
}

func (a *app) listTrusted(o *office.Office) error {
	recs, err := probe.TrustedFiles(o.Home())
	if err != nil {
		return err
	}
	out := struct {
		Files []trustedFile `json:"files"`
		Total int           `json:"total"`
		Next  string        `json:"next"`
	}{Files: []trustedFile{}, Total: len(recs)}
	rows := make([][]string, len(recs))
	for i, rec := range recs {
		current, err := probe.Trusted(o.Home(), rec.File)
		f := trustedFile{File: rec.File, SHA256: rec.SHA256, At: rec.At, Current: current && err == nil}
		out.Files = append(out.Files, f)
		state := "trusted"
		switch {
		case err != nil:
			state = "gone"
		case !current:
			state = "changed since"
		}
		rows[i] = []string{state, a.ago(rec.At), safeLine(rec.File, 0)}
	}
	if a.json {
		return a.printJSON(out)
	}
	if len(rows) > 0 {
		a.table([]string{"STATE", "AGE", "FILE"}, rows)
	}
	a.tail(plural(len(rows), "file"), "")
	return nil
}
