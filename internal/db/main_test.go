package db

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

// Some things need a process of their own: another user, a file system of its
// own, a limit. The test binary runs itself with childEnv set to the name of a
// function in children.
const childEnv = "BUREAU_DB_TEST_CHILD"

var children = map[string]func(args []string) error{}

func TestMain(m *testing.M) {
	if name := os.Getenv(childEnv); name != "" {
		if err := children[name](os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// ctx is the context of what runs in a child.
func ctx() context.Context { return context.Background() }

// child prepares a run of a function of children.
func child(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, args...)
	cmd.Env = append(os.Environ(), childEnv+"="+name)
	return cmd
}

// runChild runs it and fails the test with what it says.
func runChild(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

const testApp = 0x74657374

var creating = Options{Create: true, AppID: testApp}

// open opens a database until the test ends.
func open(t testing.TB, path string, o Options) *DB {
	t.Helper()
	d, err := Open(context.Background(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// notes opens a new database with one table.
func notes(t testing.TB) *DB {
	t.Helper()
	d := open(t, filepath.Join(t.TempDir(), "office", "test.db"), creating)
	update(t, d, `CREATE TABLE note(n INTEGER PRIMARY KEY, text TEXT)`)
	return d
}

func update(t testing.TB, d *DB, sql string, args ...any) {
	t.Helper()
	if err := d.Update(context.Background(), func(tx *Tx) error { return tx.Exec(sql, args...) }); err != nil {
		t.Fatal(err)
	}
}

// count gives the number of notes.
func count(t testing.TB, d *DB) (n int) {
	t.Helper()
	if err := d.View(context.Background(), func(tx *Tx) error {
		_, err := tx.One(`SELECT count(*) FROM note`, nil, &n)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return n
}
