package transcript

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"bureau/internal/name"
)

// Folder is where transcripts lie whose place nobody chose, below the root. When
// it is made it comes with a .gitignore that hides all that is in it: a meeting
// is no change of the project. One that is there stays as it is.
const Folder = ".bureau/rooms"

// DefaultName is the file name for a room, made of its name.
func DefaultName(room string) string { return name.FileName(room) + ".md" }

// DefaultPath is the place of a room's transcript, below the root, when nobody
// chose another.
func DefaultPath(room string) string {
	return filepath.Join(filepath.FromSlash(Folder), DefaultName(room))
}

// PathIn is the file that somebody means who named path, as it was typed, which
// stands for real: in a folder, one that is there or that a separator at the end
// announces, it is called after the room.
func PathIn(typed, real, room string) string {
	st, err := os.Stat(real)
	if err == nil && st.IsDir() || typed != "" && os.IsPathSeparator(typed[len(typed)-1]) {
		return filepath.Join(real, DefaultName(room))
	}
	return real
}

// ignoreAll is the text of a .gitignore that hides everything beside it, and
// itself.
const ignoreAll = "*\n"

// makeFolder makes a folder below the root, and [Folder] with what belongs to
// it.
func makeFolder(root *os.Root, dir string) error {
	own := filepath.FromSlash(Folder)
	if rel, err := filepath.Rel(own, dir); err == nil && filepath.IsLocal(rel) {
		if err := makeHidden(root, own); err != nil {
			return err
		}
	}
	if dir == "." {
		return nil
	}
	return root.MkdirAll(dir, 0o755)
}

// makeHidden makes a folder that git does not see. It comes into being with its
// .gitignore, so that nobody finds it without.
func makeHidden(root *os.Root, dir string) error {
	if _, err := root.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	above := filepath.Dir(dir)
	if err := root.MkdirAll(above, 0o755); err != nil {
		return err
	}
	temp := filepath.Join(above, ".new-"+strconv.FormatUint(rand.Uint64(), 36))
	if err := root.Mkdir(temp, 0o755); err != nil {
		return err
	}
	err := root.WriteFile(filepath.Join(temp, ".gitignore"), []byte(ignoreAll), 0o644)
	if err == nil {
		err = root.Rename(temp, dir)
	}
	if err == nil {
		return nil
	}
	err = errors.Join(err, root.RemoveAll(temp))
	if _, there := root.Lstat(dir); there == nil {
		return nil // another process was first
	}
	return err
}

// Aside gives where a room's transcript lies that [SetAside] has given another
// name, "" if it lies in its own place, or nowhere.
func Aside(s Spec) string {
	f, err := resolve(s)
	if err != nil {
		return ""
	}
	root, err := f.place.folder()
	if err != nil {
		return ""
	}
	defer root.Close()
	if f.adopt(root) == nil {
		return ""
	}
	dir, file := filepath.Split(f.place.path())
	ext := filepath.Ext(file)
	list, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	for i := len(list) - 1; i >= 0; i-- { // the newest first
		n := list[i].Name()
		if !strings.HasPrefix(n, strings.TrimSuffix(file, ext)+".") || filepath.Ext(n) != ext || n == file {
			continue
		}
		kept := File{place{f.place.dir, filepath.Join(filepath.Dir(f.place.rel), n)}, f.spec}
		if kept.adopt(root) == nil {
			return kept.Path()
		}
	}
	return ""
}
