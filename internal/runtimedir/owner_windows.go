package runtimedir

import (
	"io/fs"
	"os"
	"path/filepath"
)

// base lies in the user's own temporary folder, which other users cannot
// write to by default.
func base() string { return filepath.Join(os.TempDir(), "bureau") }

// checkOwner refuses junctions, which Lstat reports as irregular. Access
// follows from the parent folder's access list.
func checkOwner(folder string, st fs.FileInfo) error {
	if st.Mode()&fs.ModeIrregular != 0 {
		return refuse(folder, "is a junction")
	}
	return nil
}
