package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"bureau/internal/git"
	"bureau/internal/office"
	"bureau/internal/presence"
	"bureau/internal/runtimedir"
)

// TestMain makes this test binary the programs of the scripts too: bureau is
// the real command line in a process of its own.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"bureau":  func() { ServeMCP = offerOne; os.Exit(Main()) },
		"session": func() { os.Exit(session(os.Args[1:])) },
	})
}

// offerOne stands for the MCP server, which is a face of its own: it says that
// it has one tool, and goes when its client does.
func offerOne(_ context.Context, m MCP) error {
	for lines := bufio.NewScanner(m.In); lines.Scan(); {
		var call struct{ ID int }
		if err := json.Unmarshal(lines.Bytes(), &call); err != nil {
			return err
		}
		if call.ID > 0 {
			fmt.Fprintf(m.Out, `{"jsonrpc":"2.0","id":%d,"result":{"tools":[{}]}}`+"\n", call.ID)
		}
	}
	return nil
}

// raceless lets a program that was built with the race detector end at once,
// and not a second after it is done.
const raceless = "atexit_sleep_ms=0"

// TestScripts runs what a user types; see testdata.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("USERPROFILE", home)
			env.Setenv("BUREAU_HOME", filepath.Join(env.WorkDir, "office"))
			env.Setenv("BUREAU_AS", "")
			env.Setenv("BUREAU_TOKEN", "")
			env.Setenv("NO_COLOR", "")
			env.Setenv("GORACE", raceless)
			env.Defer(func() {
				for _, office := range []string{"office", "home/.bureau", "other", "broken", "garbage/office", "volume/office"} {
					forget(t, filepath.Join(env.WorkDir, office))
				}
			})
			return os.Mkdir(home, 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"json":    scriptJSON,
			"jsonenv": scriptJSONEnv,
			"status":  scriptStatus,
			"bytes":   scriptBytes,
		},
	})
}

// forget removes the runtime folder that an office had in /tmp.
func forget(t testing.TB, home string) {
	if run, err := runtimedir.Look(home); err == nil {
		if err := os.RemoveAll(run.Path()); err != nil {
			t.Error(err)
		}
	}
}

// session CLIENT:ID NAME COMMAND… is a coding agent's process: it registers
// itself as a session, as a client's hook does, and runs a command below it.
// Like a client that was killed it does not say that it ends.
func session(args []string) int {
	if err := startSession(args[0], args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "session:", err)
		return 99
	}
	cmd := exec.Command(args[2], args[3:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		fmt.Fprintln(os.Stderr, "session:", err)
		return 99
	}
	return cmd.ProcessState.ExitCode()
}

func startSession(conversation, name string) error {
	ctx := context.Background()
	o, err := office.Open(ctx, office.Options{Create: true})
	if err != nil {
		return err
	}
	defer o.Close()
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	found, err := git.Project(dir)
	if err != nil {
		return err
	}
	p, err := o.SettleProject(ctx, office.Project{ID: found.ID, Name: found.Name, Root: found.Root})
	if err != nil {
		return err
	}
	client, id, _ := strings.Cut(conversation, ":")
	_, err = o.StartSession(ctx, office.Session{
		Client: client, ID: id, Declared: strings.Trim(name, "-"), Process: presence.Self(), Folder: found.Root, Project: p,
	})
	return err
}

// json FILE PATH WANT checks a value in the JSON of a file, stdout or stderr:
// error.code, messages.0.body, messages.len for a length. ! means that it is not
// so; without WANT that it is there.
func scriptJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 && len(args) != 3 {
		ts.Fatalf("usage: json FILE PATH [WANT]")
	}
	got, found := lookUp(ts, args[0], args[1])
	switch {
	case len(args) == 2 && found == neg:
		ts.Fatalf("%s in %s is there: %v (%s)", args[1], args[0], found, got)
	case len(args) == 3 && (found && got == args[2]) == neg:
		ts.Fatalf("%s in %s is %q, there: %v; not wanted or wanted: %q", args[1], args[0], got, found, args[2])
	}
}

// jsonenv NAME FILE PATH sets a variable to a value.
func scriptJSONEnv(ts *testscript.TestScript, _ bool, args []string) {
	got, found := lookUp(ts, args[1], args[2])
	if !found {
		ts.Fatalf("no %s in %s", args[2], args[1])
	}
	ts.Setenv(args[0], got)
}

func lookUp(ts *testscript.TestScript, file, path string) (string, bool) {
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile(file)))
	dec.UseNumber()
	var v any
	ts.Check(dec.Decode(&v))
	if dec.More() {
		ts.Fatalf("%s holds more than one JSON value", file)
	}
	for _, key := range strings.Split(path, ".") {
		switch at := v.(type) {
		case map[string]any:
			next, ok := at[key]
			if !ok {
				return "", false
			}
			v = next
		case []any:
			if key == "len" {
				return strconv.Itoa(len(at)), true
			}
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(at) {
				return "", false
			}
			v = at[i]
		default:
			return "", false
		}
	}
	if s, ok := v.(string); ok {
		return s, true
	}
	raw, err := encodeJSON(v, false)
	ts.Check(err)
	return strings.TrimSpace(string(raw)), true
}

// status CODE COMMAND… runs a command and checks its exit status.
func scriptStatus(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if exit := (*exec.ExitError)(nil); err != nil {
		var ok bool
		if exit, ok = err.(*exec.ExitError); !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit status %d, not %s", got, args[0])
	}
}

// bytes FILE TEXT… writes exact bytes, given as Go strings.
func scriptBytes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: bytes FILE TEXT…")
	}
	var content []byte
	for _, arg := range args[1:] {
		s, err := strconv.Unquote(`"` + arg + `"`)
		ts.Check(err)
		content = append(content, s...)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), content, 0o600))
}
