package git

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Stamp gives what a work tree, or a bare repository, is known by that a move
// does not change and a clone or a copy does not have: "DEVICE:FILE:BIRTH", the
// numbers of the folder in its file system and the moment that git made its part
// of the repository in (the modification time of description, which git writes
// once and a move keeps; of a linked work tree that of commondir), in
// hexadecimal. BIRTH is empty outside of git. "" where the system numbers no
// files, or the folder cannot be looked at. It costs up to four stats and reads
// one line in a work tree whose repository lies elsewhere.
func Stamp(root string) string {
	st, err := os.Stat(root)
	if err != nil {
		return ""
	}
	device, file, ok := numbers(st)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%x:%x:%s", device, file, birth(root))
}

// birth is the last part of a stamp.
func birth(root string) string {
	dir := filepath.Join(root, ".git")
	names := []string{"description"}
	switch st, err := os.Lstat(dir); {
	case err != nil: // a bare repository has it all in its own folder
		if dir = root; !exists(filepath.Join(root, "HEAD")) {
			return ""
		}
	case st.Mode().IsRegular():
		linked, ok := strings.CutPrefix(firstLine(dir), "gitdir:")
		if !ok {
			return ""
		}
		dir = relativeTo(root, strings.TrimSpace(linked))
		names = []string{"commondir", "description"}
	}
	for _, name := range names {
		if st, err := os.Stat(filepath.Join(dir, name)); err == nil && st.Mode().IsRegular() {
			return fmt.Sprintf("%x", st.ModTime().UnixNano())
		}
	}
	return ""
}
