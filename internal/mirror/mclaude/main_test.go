package mclaude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Some things need a process of their own. The test binary runs itself with
// childEnv set to the name of a function in children.
const childEnv = "BUREAU_MCLAUDE_TEST_CHILD"

var children = map[string]func(args []string) error{}

func TestMain(m *testing.M) {
	time.Local = time.FixedZone("", 3*60*60) // what the recorded files were written in
	if name := os.Getenv(childEnv); name != "" {
		if err := children[name](os.Args[1:]); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func child(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), exe, args...)
	cmd.Env = append(os.Environ(), childEnv+"="+name)
	return cmd
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// locks makes a project with a lock folder.
func locks(t testing.TB) Locks {
	t.Helper()
	l, err := Create(t.TempDir())
	must(t, err)
	return l
}

const session = "anna-01J0SESSION"

// anna is a lock that can be written.
func anna(slug string) Lock {
	return Lock{Slug: slug, Session: session, Description: "work", Files: []string{"a.go"}, Claim: Claim{ID: "01J0CLAIM", Identity: "anna"}}
}

func ben(slug string) Lock {
	return Lock{Slug: slug, Session: "ben-01J0SESSION", Description: "other work", Claim: Claim{ID: "01J0OTHER", Identity: "ben"}}
}

func write(t testing.TB, l Locks, lock Lock) Entry {
	t.Helper()
	e, err := l.Write(lock)
	must(t, err)
	return e
}

func list(t testing.TB, l Locks) []Entry {
	t.Helper()
	es, err := l.List()
	must(t, err)
	return es
}

func get(t testing.TB, l Locks, slug string) Entry {
	t.Helper()
	e, there, err := l.Get(slug)
	must(t, err)
	if !there {
		t.Fatalf("there is no lock %q", slug)
	}
	return e
}

func wantExit(t testing.TB, err error, want int) {
	t.Helper()
	if got := ExitCode(err); got != want {
		t.Fatalf("exit code %d, want %d: %v", got, want, err)
	}
}

// put writes a file into the lock folder as another program would.
func put(t testing.TB, l Locks, name, content string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(l.Dir(), name), []byte(content), 0o666))
}

// age sets the modification time of a file in the lock folder.
func age(t testing.TB, l Locks, name string, by time.Duration) {
	t.Helper()
	at := time.Now().Add(-by)
	must(t, os.Chtimes(filepath.Join(l.Dir(), name), at, at))
}

// foreign makes a lock as the real mclaude does.
func foreign(t testing.TB, l Locks, slug, session string, files ...string) {
	t.Helper()
	meta, err := json.Marshal(map[string]any{"slug": slug, "session_id": session, "working_directory": l.root, "description": "foreign", "files": files})
	must(t, err)
	put(t, l, slug+".lock", session)
	put(t, l, slug+".metadata.json", string(meta))
	put(t, l, slug+".heartbeat", "")
}

// tree gives the content and the modification time of all files of a folder.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		st, serr := d.Info()
		if err != nil || serr != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		out[filepath.ToSlash(rel)] = fmt.Sprint(st.ModTime().UnixNano()) + " " + string(data)
		return nil
	}))
	return out
}

func folderNames(t testing.TB, l Locks) string {
	t.Helper()
	es, err := os.ReadDir(l.Dir())
	must(t, err)
	var names []string
	for _, e := range es {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func golden(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", filepath.FromSlash(name)))
	must(t, err)
	return data
}

func wantSame(t testing.TB, what string, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant:\n%s", what, got, want)
	}
}
