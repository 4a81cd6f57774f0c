package office

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"bureau/internal/fault"
	"bureau/internal/quote"
	"bureau/internal/runtimedir"
)

// HomeVariable is the environment variable that names another office.
const HomeVariable = "BUREAU_HOME"

// DefaultHome gives the office's folder: $BUREAU_HOME, or ~/.bureau, whatever
// other variables say.
func DefaultHome() (string, error) { return HomeOf(os.Getenv(HomeVariable)) }

// HomeOf gives the office's folder that a word names, the usual one for a blank
// word. A relative path is refused: it would be another office in every folder
// that somebody works in.
func HomeOf(word string) (string, error) {
	if strings.TrimSpace(word) != "" {
		if !filepath.IsAbs(word) {
			abs, _ := filepath.Abs(word)
			return "", fault.New(fault.Invalid, "the office %q is no absolute path, so it would be another one in every folder", word).
				WithHint("name it whole: export %s=%s", HomeVariable, quote.Shell(abs))
		}
		return filepath.Clean(word), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fault.New(fault.Unavailable, "no home folder for the office: %w", err).
			WithHint("set %s to a folder of your own", HomeVariable)
	}
	return filepath.Join(home, ".bureau"), nil
}

// The files of an office.
const (
	storeFile = "office.db"
	blobDir   = "blobs"
)

// placeFile, in the runtime folder, remembers which file system an office was
// last seen on. An office that is missing while its path now lies on another
// one is not a first start: its volume is not mounted, and an office made on
// the mount point would hide the real one's mail from everybody.
const placeFile = "place"

// checkPlace refuses to begin a new office where one was before, on a volume
// that is not there now.
func checkPlace(home string, run runtimedir.Dir) error {
	if _, err := os.Stat(filepath.Join(home, storeFile)); err == nil {
		return nil
	}
	parent := filepath.Dir(home)
	if _, err := os.Stat(parent); errors.Is(err, fs.ErrNotExist) {
		return unmounted(home, "the folder "+parent+" is not there")
	}
	if at := declaredMount(home); at != "" {
		return unmounted(home, "nothing is mounted on "+at)
	}
	was, err := os.ReadFile(filepath.Join(run.Path(), placeFile))
	if err != nil {
		return nil
	}
	if now := volumeOf(parent); now != "" && now != strings.TrimSpace(string(was)) {
		return unmounted(home, "the office was on another volume when it was last used")
	}
	return nil
}

func unmounted(home, why string) error {
	return fault.New(fault.Unavailable, "the office %s is not there: %s", home, why).
		WithHint("mount its volume; nothing was created. For a new office there: bureau init --new")
}

// rememberPlace notes the volume that the office is on.
func rememberPlace(home string, run runtimedir.Dir) {
	path := filepath.Join(run.Path(), placeFile)
	now := volumeOf(home)
	if was, err := os.ReadFile(path); err == nil && string(was) == now || now == "" {
		return
	}
	// A hint for later: not being able to keep it is no reason to stop.
	_ = os.WriteFile(path, []byte(now), 0o600)
}

// ForgetPlace lets a new office begin where one was before.
func ForgetPlace(home string) error {
	run, err := runtimedir.Open(home)
	if err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(run.Path(), placeFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
