package hook

import (
	"fmt"
	"strings"

	"bureau/internal/git"
	"bureau/internal/git/place"
)

// guardStash denies a git stash where it could take away what another session
// works on: another live session of the project is there, or another work tree
// of the repository, and there are changes. It is the one command that a guard
// of commands knows, at the very beginning of a line, and best effort: a stash
// in a script or behind another command passes. A person's own commands never
// come here.
func (h *visit) guardStash() error {
	if err := h.enter(); err != nil && err != errNobody {
		return err
	}
	at, err := place.Of(h.folderNow())
	if err != nil {
		return err
	}
	if _, _, inside := git.Root(at.Dir); !inside {
		return nil
	}
	changed, err := git.HasChanges(h.ctx, at.Dir, true)
	if len(changed) == 0 {
		return err
	}
	if at.Project, err = h.o.SettleProject(h.ctx, at.Project); err != nil {
		return err
	}
	others, err := h.o.OthersBusy(h.ctx, h.caller, at.Project)
	if err != nil {
		return err
	}
	var elsewhere []string
	for _, tree := range changed {
		if tree.Path != at.Tree {
			elsewhere = append(elsewhere, line(tree.Path, pathColumns))
		}
	}
	var why string
	switch {
	case len(others) > 0:
		why = fmt.Sprintf("%s work in this repository too (%s), and what is not committed there may be theirs", count(len(others), "other session"), some(others))
		if len(others) == 1 {
			why = others[0] + " works in this repository too, and what is not committed there may be theirs"
		}
	case len(elsewhere) > 0:
		why = fmt.Sprintf("another work tree of this repository has changes (%s), and all of them share one stash", some(elsewhere))
	default:
		return nil
	}
	return h.deny(cut("git stash was not run: " + why +
		".\nCommit what is yours on a branch instead, or ask those concerned. Your user can run git stash themselves, or start the client with " + guardVariable + "=" + guardOff + "."))
}

// some names a few of many.
func some(names []string) string {
	if len(names) > blocksShown {
		return strings.Join(names[:blocksShown], ", ") + fmt.Sprintf(" and %d more", len(names)-blocksShown)
	}
	return strings.Join(names, ", ")
}

// folderNow is where the tool runs.
func (h *visit) folderNow() string {
	if h.fields.cwd != "" {
		return h.fields.cwd
	}
	return h.folder()
}
