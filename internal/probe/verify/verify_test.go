package verify

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"bureau/internal/claim"
	"bureau/internal/event"
	"bureau/internal/office"
	"bureau/internal/probe"
	"bureau/internal/proc"
	"bureau/internal/roster"
)

// repository makes one with a committed file src/a.go.
func repository(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "src", "a.go"), "package a\n")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-q", "-m", "x"}} {
		git(t, root, args...)
	}
	return root
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// held makes a claim of somebody on this machine.
func held(tree string, paths []claim.Pattern, resources ...claim.Resource) office.HeldClaim {
	return office.HeldClaim{
		Claim:   claim.Claim{ID: "01", Want: claim.Want{Tree: tree, Paths: paths, Resources: resources}},
		Process: roster.Process{PID: 1, Host: proc.Host()},
	}
}

func ask(t *testing.T, home, root string, c office.HeldClaim) claim.Probe {
	t.Helper()
	got := Prober(home)(context.Background(), office.Project{ID: "p", Root: root}, []office.HeldClaim{c})
	p, ok := got[c.ID]
	if !ok || len(got) != 1 {
		t.Fatalf("%+v", got)
	}
	if p.Saw == "" || p.At.IsZero() || strings.ContainsAny(p.Saw, "\n\x1b") {
		t.Errorf("%+v", p)
	}
	return p
}

func verdict(t *testing.T, p claim.Probe, want claim.ProbeVerdict, words ...string) {
	t.Helper()
	if p.Verdict != want {
		t.Errorf("%+v, want %s", p, want)
	}
	for _, w := range words {
		if !strings.Contains(p.Saw, w) {
			t.Errorf("%q does not say %q", p.Saw, w)
		}
	}
}

// TestPathsAreLookedAtInTheHoldersTree: a change counts in the work tree that
// the claim is of, and in no other.
func TestPathsAreLookedAtInTheHoldersTree(t *testing.T) {
	root := repository(t)
	other := filepath.Join(t.TempDir(), "other")
	git(t, root, "worktree", "add", "-q", other, "-b", "other")
	c := held(root, []claim.Pattern{"src"})
	verdict(t, ask(t, "", root, c), claim.ProbeFree, "src")
	write(t, filepath.Join(other, "src", "a.go"), "package b\n")
	verdict(t, ask(t, "", root, c), claim.ProbeFree)
	verdict(t, ask(t, "", root, held(other, []claim.Pattern{"src"})), claim.ProbeBusy, "src/a.go")
	write(t, filepath.Join(root, "src", "new.go"), "package a\n")
	verdict(t, ask(t, "", root, c), claim.ProbeBusy, "src/new.go")
	verdict(t, ask(t, "", root, held(root, []claim.Pattern{"doc"})), claim.ProbeFree)
	if runtime.GOOS == "linux" {
		folded := held(root, []claim.Pattern{"SRC/NEW.go"})
		folded.Fold = true
		verdict(t, ask(t, "", root, folded), claim.ProbeBusy, "src/new.go")
	}
	verdict(t, ask(t, "", root, held(filepath.Join(root, "gone"), []claim.Pattern{"src"})), claim.ProbeUnknown, "not there")
	verdict(t, ask(t, "", root, held(t.TempDir(), []claim.Pattern{"src"})), claim.ProbeUnknown)
}

// TestTheGravestLookDecides: one thing in use makes the whole claim busy.
func TestTheGravestLookDecides(t *testing.T) {
	root := repository(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := claim.Resource("port:" + strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	verdict(t, ask(t, "", root, held(root, []claim.Pattern{"src"}, port)), claim.ProbeBusy, string(port[5:]))
	verdict(t, ask(t, "", root, held(root, []claim.Pattern{"src"}, "deploy:staging")), claim.ProbeUnknown, "deploy:staging", "probes.yaml")
	verdict(t, ask(t, "", root, held(root, nil, "deploy:staging", port)), claim.ProbeBusy)
	verdict(t, ask(t, "", root, held(root, nil, "gpu:nonsense")), claim.ProbeUnknown)
	verdict(t, ask(t, "", root, held(root, nil)), claim.ProbeUnknown)
}

// TestAnotherMachinesHolder: what is here says nothing about what is there.
func TestAnotherMachinesHolder(t *testing.T) {
	root := repository(t)
	for _, host := range []string{"", "0123456789abcdef"} {
		away := held(root, nil, "port:1", claim.Resource("pid:"+strconv.Itoa(os.Getpid())))
		away.Process.Host = host
		verdict(t, ask(t, "", root, away), claim.ProbeUnknown, "another machine")
		away = held(root, []claim.Pattern{"src"})
		away.Process.Host = host
		verdict(t, ask(t, "", root, away), claim.ProbeUnknown, "another machine", "no uncommitted changes")
	}
	// Control: port 1 is free here, and the process lives.
	verdict(t, ask(t, "", root, held(root, nil, "port:1")), claim.ProbeFree)
	verdict(t, ask(t, "", root, held(root, nil, claim.Resource("pid:"+strconv.Itoa(os.Getpid())))), claim.ProbeBusy)
	// Changes in a tree that outlived a restart, or is shared, are seen.
	write(t, filepath.Join(root, "src", "a.go"), "package b\n")
	away := held(root, []claim.Pattern{"src"})
	away.Process.Host = "0123456789abcdef"
	verdict(t, ask(t, "", root, away), claim.ProbeBusy, "src/a.go")
}

// TestOwnCommandsOnceTrusted: the answer says how to let them be run.
func TestOwnCommandsOnceTrusted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a shell is needed")
	}
	root, home := repository(t), t.TempDir()
	file := filepath.Join(root, filepath.FromSlash(probe.OwnFile))
	write(t, file, "- match: \"deploy:*\"\n  command: [sh, -c, \"echo queue is empty\"]\n")
	c := held(root, nil, "deploy:staging")
	verdict(t, ask(t, home, root, c), claim.ProbeUnknown, "bureau trust "+file)
	if _, err := probe.Trust(home, file); err != nil {
		t.Fatal(err)
	}
	verdict(t, ask(t, home, root, c), claim.ProbeFree, "queue is empty")
	c.Process.Host = "0123456789abcdef" // its command may know of any machine
	verdict(t, ask(t, home, root, c), claim.ProbeFree, "queue is empty")
}

func TestManyClaimsAndAnEndedContext(t *testing.T) {
	root := repository(t)
	var list []office.HeldClaim
	for i := range 20 {
		c := held(root, []claim.Pattern{"src"})
		c.ID = event.ID(strconv.Itoa(i))
		list = append(list, c)
	}
	if got := Prober("")(context.Background(), office.Project{Root: root}, list); len(got) != len(list) {
		t.Errorf("%d of %d", len(got), len(list))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for id, p := range Prober("")(ctx, office.Project{Root: root}, list) {
		if p.Verdict != claim.ProbeUnknown {
			t.Errorf("%s: %+v", id, p)
		}
	}
}

func TestNote(t *testing.T) {
	if got := note("nfs4", true); !strings.Contains(got, "nfs4") || !strings.Contains(got, "this machine only") {
		t.Error(got)
	}
	if got := note("ext4", false); got != "" {
		t.Error(got)
	}
	if got := Note(office.Project{}); got != "" {
		t.Error(got)
	}
	if got := Note(office.Project{Root: t.TempDir()}); got != "" {
		t.Log("the folder for temporary files is remote here:", got)
	}
	opts := office.Options{Home: t.TempDir()}
	if Options(&opts); opts.Probe == nil || opts.ClaimNote == nil {
		t.Error("not set")
	}
}
