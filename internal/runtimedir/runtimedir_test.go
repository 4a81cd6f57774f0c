package runtimedir

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"bureau/internal/fault"
)

func TestOpenCreatesAPrivateFolder(t *testing.T) {
	base := filepath.Join(t.TempDir(), "bureau-0")
	office := filepath.Join(t.TempDir(), "not", "yet")
	if _, err := open(base, office, false); !fault.Is(err, fault.NotFound) {
		t.Fatalf("looking before it exists: %v", err)
	}
	if _, err := os.Lstat(base); err == nil {
		t.Fatal("looking created something")
	}
	d, err := open(base, office, true)
	if err != nil {
		t.Fatal(err)
	}
	if rel, _ := filepath.Rel(base, d.Path()); len(rel) != 16 {
		t.Errorf("folder %s is not base/16 digits", d.Path())
	}
	if again, err := open(base, office, false); err != nil || again != d {
		t.Errorf("looking gives %v %v, opening gave %v", again, err, d)
	}
	for _, p := range []string{d.LiveDB(), d.BellDir(), d.FlagDir()} {
		if filepath.Dir(p) != d.Path() {
			t.Errorf("%s is not in the folder", p)
		}
	}
	for _, p := range []string{base, d.Path()} {
		if st, err := os.Lstat(p); err != nil || checkOwner(p, st) != nil {
			t.Errorf("%s: %v %v", p, st.Mode(), err)
		}
	}
}

func TestOneOfficeHasOneFolder(t *testing.T) {
	base := filepath.Join(t.TempDir(), "b")
	home := t.TempDir()
	office := filepath.Join(home, "real", "office")
	link := filepath.Join(home, "link")
	if err := os.Mkdir(filepath.Join(home, "real"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	before, err := open(base, filepath.Join(link, "office"), true)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(office, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(home)
	for _, spelling := range []string{office, filepath.Join(link, "office"), office + "/", "real/office", "link/../real/./office"} {
		if d, err := open(base, spelling, true); err != nil || d != before {
			t.Errorf("%s: %v %v, want %v", spelling, d, err, before)
		}
	}
	if d, err := open(base, home, true); err != nil || d == before {
		t.Errorf("another office has the same folder %v (%v)", d, err)
	}
}

func TestWhatIsNotOursIsRefused(t *testing.T) {
	office := t.TempDir()
	tests := map[string]struct {
		spoil func(t *testing.T, folder string)
		want  string
	}{
		"a symbolic link": {func(t *testing.T, f string) {
			if err := os.Symlink(t.TempDir(), f); err != nil {
				t.Skip("no symbolic links here:", err)
			}
		}, "symbolic link"},
		"a file": {func(t *testing.T, f string) { os.WriteFile(f, nil, 0o600) }, "not a folder"},
		"open to others": {func(t *testing.T, f string) {
			if runtime.GOOS == "windows" {
				t.Skip("no mode bits here")
			}
			os.Mkdir(f, 0o700)
			os.Chmod(f, 0o750)
		}, "mode 0750"},
		"someone else's": {func(t *testing.T, f string) {
			os.Mkdir(f, 0o700)
			if err := os.Chown(f, os.Getuid()+1, -1); err != nil {
				t.Skip("only root can give a folder away:", err)
			}
		}, "belongs to user id"},
	}
	for name, tt := range tests {
		for _, inner := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				base := filepath.Join(t.TempDir(), "b")
				folder := base
				if inner {
					d, err := open(base, office, true)
					if err != nil {
						t.Fatal(err)
					}
					folder = d.Path()
					os.Remove(folder)
				}
				tt.spoil(t, folder)
				for _, create := range []bool{true, false} {
					_, err := open(base, office, create)
					if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), folder) {
						t.Errorf("create %v: %v", create, err)
					}
					if fault.HintOf(err) == "" {
						t.Errorf("no way out of: %v", err)
					}
				}
			})
		}
	}
}

func TestManyOpenAtOnce(t *testing.T) {
	base := filepath.Join(t.TempDir(), "b")
	office := t.TempDir()
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if _, err := open(base, office, true); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func TestTheEnvironmentDoesNotMoveIt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the user's temporary folder comes from the environment here")
	}
	before := base()
	for _, name := range []string{"TMPDIR", "XDG_RUNTIME_DIR", "HOME", "BUREAU_HOME", "USER"} {
		t.Setenv(name, t.TempDir())
	}
	if base() != before {
		t.Errorf("%s became %s", before, base())
	}
	if len(base()) > len("/tmp/bureau-4294967295") {
		t.Errorf("%s is too long for sockets below it", base())
	}
}

func TestEmptyOffice(t *testing.T) {
	if _, err := Look(""); !fault.Is(err, fault.Invalid) {
		t.Errorf("an empty path: %v", err)
	}
}

func TestSafeName(t *testing.T) {
	for s, want := range map[string]bool{
		"01ARZ3NDEKTSV4RRFFQ69G5FAV": true, "all": true, "a-b_c": true, strings.Repeat("x", 32): true,
		"": false, ".": false, "..": false, "a/b": false, "a.b": false, "ä": false, "a\x00": false,
		strings.Repeat("x", 33): false,
	} {
		if SafeName(s) != want {
			t.Errorf("SafeName(%q) = %v", s, !want)
		}
	}
}

func BenchmarkLook(b *testing.B) {
	base := filepath.Join(b.TempDir(), "b")
	office := b.TempDir()
	if _, err := open(base, office, true); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := open(base, office, false); err != nil {
			b.Fatal(err)
		}
	}
}
