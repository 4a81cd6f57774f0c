//go:build unix

package probe

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bureau/internal/fault"
	"bureau/internal/proc"
	"bureau/internal/quote"
)

// project makes one with an own file, trusted in an office of its own.
func project(t *testing.T, yaml string) Request {
	t.Helper()
	need(t, "sh")
	req := Request{Root: t.TempDir(), Home: t.TempDir()}
	write(t, filepath.Join(req.Root, OwnFile), yaml, 0o644)
	if _, err := Trust(req.Home, filepath.Join(req.Root, OwnFile)); err != nil {
		t.Fatal(err)
	}
	return req
}

func TestOwnCommands(t *testing.T) {
	req := project(t, `
# first that matches decides
- match: "deploy:free"
  command: [sh, -c, "echo nothing runs; exit 0"]
- match: "deploy:busy"
  command: [sh, -c, "printf 'job \\033[31m7\\nmore'; exit 1"]
- match: "deploy:quiet*"
  command: [sh, -c, "exit \"$1\"", sh, "{host}"]
- match: "deploy:loud"
  command: [sh, -c, "echo it broke >&2; exit 3"]
- match: "deploy:said"
  command: [sh, -c, "echo half; exit 3"]
- match: "deploy:killed"
  command: [sh, -c, "kill -9 $$"]
- match: "deploy:missing"
  command: [no-such-program-anywhere]
- match: "deploy:nowhere"
  command: [./no/such/program]
- match: "deploy:plain"
  command: [./plain]
- match: "deploy:foreign"
  command: [./foreign]
- match: "deploy:homeless"
  command: [echo, x]
  cwd: not/there
- match: "deploy:wide"
  command: [sh, -c, "printf '%0900d' 7"]
- match: "deploy:*"
  command: [sh, -c, "pwd; exit 1"]
  cwd: sub
- match: "thing"
  command: [echo, thing]
- match: "echo:*"
  command: [printf, "%s|", "{resource}", "{name}", "{host}", "x{path}x", "{resource}{name}", "{other}"]
- match: "port:1"
  command: [echo, mine]
- match: "path:made/*"
  command: [sh, -c, "echo \"$1\"; exit 1", sh, "{path}"]
- match: "option:*"
  command: [echo, "{name}"]
`)
	root, err := filepath.EvalSymlinks(req.Root)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "plain"), "exit 0\n", 0o644)
	write(t, filepath.Join(root, "foreign"), "#!/no/such/interpreter\n", 0o755)
	for _, c := range []struct {
		resource string
		want     Verdict
		says     string
	}{
		{"deploy:free", Free, "nothing runs"},
		{"deploy:busy", Busy, "job ␛[31m7"},
		{"deploy:quiet", Unknown, ""},
		{"deploy:quiet/x", Unknown, "quiet"}, // {host} is no exit status
		{"deploy:loud", Unknown, "sh: it broke"},
		{"deploy:said", Unknown, "half (sh ended with status 3)"},
		{"deploy:killed", Unknown, "killed"},
		{"deploy:missing", Unknown, "is not installed"},
		{"deploy:nowhere", Unknown, "program: it is not there"},
		{"deploy:plain", Unknown, "plain: it may not be run"},
		{"deploy:foreign", Unknown, "foreign: the interpreter that it names is not there"},
		{"deploy:homeless", Unknown, "not/there is not there"},
		{"deploy:wide", Free, "0000"},
		{"deploy:else/where", Busy, filepath.Join(root, "sub")},
		{"thing", Free, "thing"},
		{"echo:h/$(x) 'y'", Free, "echo:h/$(x) 'y'|$(x) 'y'|h|xx|echo:h/$(x) 'y'$(x) 'y'|{other}|"},
		{"echo:{resource}", Free, "echo:{resource}|{resource}||xx|"},
		{"port:1", Free, "mine"},
		{"path:made/x.go", Busy, filepath.Join(root, "made/x.go")},
		{"option:-rf", Unknown, "would be an option"},
		{"nothing:x", Unknown, "no probe for nothing:x"},
	} {
		r := one(t, req, parse(t, c.resource))
		want(t, r, c.want, c.says)
		if strings.ContainsAny(r.Saw, "\x1b\n") || quote.Width(r.Saw) > MaxSaw {
			t.Errorf("%s shows %q", c.resource, r.Saw)
		}
	}
	// Patterns without a command of their own are still looked at: no repository.
	want(t, one(t, req, Paths("src")), Unknown, "git")
	want(t, one(t, req, Paths("src", "made/x.go")), Busy, "made/x.go")
	want(t, one(t, req, Paths("made/../../x")), Unknown, "leads out")
}

func TestTrustIsOfContentAndFile(t *testing.T) {
	const yaml = "- match: \"x:*\"\n  command: [echo, ran]\n- match: \"port:*\"\n  command: [echo, ran]\n"
	req := project(t, yaml)
	file := filepath.Join(req.Root, OwnFile)
	x := parse(t, "x:1")
	want(t, one(t, req, x), Free, "ran")
	trusts := func(want bool) {
		t.Helper()
		if got, err := Trusted(req.Home, file); err != nil || got != want {
			t.Errorf("trusted: %v, %v; want %v", got, err, want)
		}
	}
	trusts(true)

	write(t, file, yaml+"# more\n", 0o644)
	trusts(false)
	r := one(t, req, x)
	want(t, r, Unknown, "changed since it was trusted")
	if !strings.Contains(r.Hint, "bureau trust ") || !strings.Contains(r.Hint, OwnFile) {
		t.Errorf("hint %q", r.Hint)
	}
	// What is built in does not say free in its place, but it does say busy.
	nothing, own := parse(t, "lockfile:none"), Subject{Kind: KindPID, PID: os.Getpid()}
	req.Domain = proc.Host()
	write(t, file, "- match: lockfile:*\n  command: [echo]\n- match: pid:*\n  command: [echo]\n- match: path:src*\n  command: [echo]\n", 0o644)
	for _, s := range []Subject{nothing, Paths("doc", "src")} {
		r := one(t, req, s)
		want(t, r, Unknown, "changed since it was trusted")
		if !strings.Contains(r.Hint, "bureau trust ") {
			t.Errorf("%+v", r)
		}
	}
	want(t, one(t, req, own), Busy)
	if r := one(t, req, parse(t, "port:1")); r.Probe != "port" { // no command fits it
		t.Errorf("%+v", r)
	}
	write(t, file, yaml, 0o644)
	trusts(true)

	// The same content elsewhere names other programs by the same names.
	other := Request{Root: t.TempDir(), Home: req.Home}
	write(t, filepath.Join(other.Root, OwnFile), yaml, 0o644)
	want(t, one(t, other, x), Unknown, "not trusted yet")
	want(t, one(t, Request{Root: req.Root}, x), Unknown, "not trusted yet")

	rec, err := Trust(req.Home, file)
	if err != nil || rec.SHA256 != sum([]byte(yaml)) || !filepath.IsAbs(rec.File) {
		t.Errorf("%+v, %v", rec, err)
	}
	if ok, err := Untrust(req.Home, file); !ok || err != nil {
		t.Errorf("untrust: %v, %v", ok, err)
	}
	trusts(false)
	if ok, err := Untrust(req.Home, file); ok || err != nil {
		t.Errorf("untrust again: %v, %v", ok, err)
	}
	want(t, one(t, req, x), Unknown, "not trusted yet")

	// Trust can be taken back from what is gone.
	if _, err := Trust(req.Home, file); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if ok, err := Untrust(req.Home, file); !ok || err != nil {
		t.Errorf("untrust of a file that is gone: %v, %v", ok, err)
	}
	if _, err := Trust(req.Home, file); !fault.Is(err, fault.NotFound) {
		t.Errorf("trust in nothing: %v", err)
	}
	if _, err := Trust(req.Home, req.Root); !fault.Is(err, fault.Invalid) {
		t.Errorf("trust in a folder: %v", err)
	}
	write(t, file, strings.Repeat("#", MaxTrusted+1), 0o644)
	if _, err := Trust(req.Home, file); !fault.Is(err, fault.Invalid) {
		t.Errorf("trust in a large file: %v", err)
	}
	if _, err := Trust("", file); !fault.Is(err, fault.Invalid) {
		t.Errorf("trust without an office: %v", err)
	}
}

func TestTrustRecordsThatAreBroken(t *testing.T) {
	req := project(t, "- match: x\n  command: [echo, ran]\n")
	file, err := canonical(filepath.Join(req.Root, OwnFile))
	if err != nil {
		t.Fatal(err)
	}
	write(t, recordPath(req.Home, file), "{", 0o600)
	want(t, one(t, req, Subject{Name: "x"}), Unknown, "cannot read the trust")
	write(t, recordPath(req.Home, file), `{"file":"/other","sha256":"`+sum([]byte(read(t, file)))+`"}`, 0o600)
	want(t, one(t, req, Subject{Name: "x"}), Unknown, "not trusted")
}

func TestOwnFilesThatAreWrong(t *testing.T) {
	good := "- match: \"ok:*\"\n  command: [x]\n"
	for name, c := range map[string]struct{ yaml, says string }{
		"no list":          {"match: x\n", "line 1: a list of entries"},
		"no command":       {good + "- match: x\n", "line 3: command is a list"},
		"no match":         {good + "\n- command: [x]\n", "line 4: match is missing"},
		"unknown key":      {good + "- match: x\n  command: [x]\n  shell: true\n", "line 5: "},
		"key twice":        {good + "- match: x\n  match: y\n  command: [x]\n", "line 4: "},
		"a string":         {good + "- match: x\n  command: rm -rf x\n", "line 4: "},
		"no mapping":       {good + "- x\n", "line 3: "},
		"bad YAML":         {good + "- match: [\n", "line 3: "},
		"a tab":            {good + "\t- x\n", "line "},
		"timeout":          {good + "- match: x\n  command: [x]\n  timeout: 1h\n", "line 3: timeout \"1h\""},
		"timeout's unit":   {good + "- match: x\n  command: [x]\n  timeout: 10\n", "line 3: timeout \"10\""},
		"cwd":              {good + "- match: x\n  command: [x]\n  cwd: ../y\n", "line 3: cwd \"../y\""},
		"absolute cwd":     {good + "- match: x\n  command: [x]\n  cwd: /\n", "line 3: cwd \"/\""},
		"chosen program":   {good + "- match: x\n  command: [\"{name}\"]\n", "line 3: the program"},
		"too many":         {strings.Repeat(good, 101), "line 201: more than 100"},
		"many arguments":   {"- match: x\n  command: [" + strings.Repeat("x,", 65) + "]\n", "line 1: command is a list"},
		"long argument":    {"- match: x\n  command: [" + strings.Repeat("x", 5000) + "]\n", "line 1: an argument"},
		"alias":            {"- match: &a x\n  command: [*a]\n", "line 1: anchors"},
		"merge":            {"- &a\n  match: x\n  command: [x]\n- <<: *a\n", "anchors"},
		"deep":             {strings.Repeat("[", 30000), "nested too deep"},
		"deep with dashes": {strings.Repeat("- ", 15000), "nested too deep"},
		"large":            {strings.Repeat("#", 1<<17), "larger than 32 KiB"},
		"binary":           {"\x00\xff\x01- x", ""},
	} {
		t.Run(name, func(t *testing.T) {
			req := project(t, c.yaml)
			begin := time.Now()
			r := one(t, req, parse(t, "deploy:x"))
			want(t, r, Unknown)
			if own := loadOwn(req.Root, req.Home); own.err == nil || !strings.Contains(own.err.Error(), c.says) || !strings.Contains(own.err.Error(), OwnFile) {
				t.Errorf("%v, want %q", own.err, c.says)
			}
			// Nobody knows what it would have told of anything else, either.
			if r := one(t, req, parse(t, "lockfile:none")); r.Verdict != Unknown || r.Hint == "" || r.Saw == "" {
				t.Errorf("%+v", r)
			}
			if took := time.Since(begin); took > Whole {
				t.Errorf("took %v", took)
			}
		})
	}
	for name, yaml := range map[string]string{"empty": "", "comments": "# nothing\n", "null": "~\n", "no entries": "[]\n"} {
		req := project(t, yaml)
		if own := loadOwn(req.Root, req.Home); own.err != nil || len(own.commands) != 0 {
			t.Errorf("%s: %+v", name, own)
		}
	}
	// A link may stay inside the project, and may not lead out of it.
	req := project(t, "- match: x\n  command: [echo, ran]\n")
	outside := filepath.Join(t.TempDir(), "probes.yaml")
	file := filepath.Join(req.Root, OwnFile)
	if err := os.Rename(file, outside); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, file); err != nil {
		t.Fatal(err)
	}
	if _, err := Trust(req.Home, file); err != nil {
		t.Fatal(err)
	}
	want(t, one(t, req, Subject{Name: "x"}), Unknown, "leads out of the project")
}

func TestWild(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"deploy:*", "deploy:a/b", true}, {"deploy:*", "deploy:", true}, {"deploy:*", "xdeploy:a", false}, {"*", "", true}, {"", "", true},
		{"?", "é", true}, {"?", "", false}, {"a*b*c", "aXbYbZc", true}, {"a*b*c", "aXbY", false}, {"[a]", "a", false}, {"[a]", "[a]", true},
		{strings.Repeat("*a", 50), strings.Repeat("a", 2000) + "b", false},
	} {
		if got := wild(c.pattern, c.text); got != c.want {
			t.Errorf("%s matches %s: %v", c.pattern, c.text, got)
		}
	}
}

func FuzzOwnFile(f *testing.F) {
	f.Add([]byte("- match: \"deploy:*\"\n  command: [./x, \"{name}\"]\n  timeout: 5s\n  cwd: scripts\n"))
	f.Add([]byte("- match: &a x\n  command: [*a]\n"))
	f.Add([]byte("- - - ["))
	f.Fuzz(func(t *testing.T, content []byte) {
		if len(content) > maxOwnFile {
			return
		}
		commands, err := parseOwn(content)
		if err != nil && fault.CodeOf(err) != fault.Invalid {
			t.Fatal(err)
		}
		for _, c := range commands {
			argv, err := c.fill(Subject{Kind: "x", Name: "-n", Host: "h"}, t.TempDir())
			if err == nil && (len(argv) != len(c.Argv) || argv[0] != c.Argv[0]) {
				t.Fatalf("%q became %q", c.Argv, argv)
			}
		}
	})
}

// The examples of the documentation are these files, and they work.
func TestExamples(t *testing.T) {
	doc := read(t, "../../docs/probes.md")
	for _, file := range []string{"probes.yaml", "deploy-queue.sh", "vm.sh"} {
		if !strings.Contains(doc, read(t, filepath.Join("testdata", file))) {
			t.Errorf("docs/probes.md does not hold %s as it is", file)
		}
	}
	for _, tool := range tools {
		if !strings.Contains(doc, tool.file) {
			t.Errorf("docs/probes.md does not name %s of %s", tool.file, tool.name)
		}
	}
	req := project(t, read(t, "testdata/probes.yaml"))
	for _, file := range []string{"deploy-queue.sh", "vm.sh"} {
		write(t, filepath.Join(req.Root, "scripts", file), read(t, filepath.Join("testdata", file)), 0o755)
	}
	asked := program(t, "gh", `case "$*" in
*deploy-staging.yml*queued*) echo https://example.com/runs/7 ;;
*deploy-broken.yml*) echo no network >&2; exit 4 ;;
esac`)
	program(t, "virsh", `case "$3" in
build-1) echo running ;;
build-2) echo 'shut off' ;;
*) echo "error: no domain $3" >&2; exit 1 ;;
esac`)
	for resource, c := range map[string]struct {
		want Verdict
		says string
	}{
		"deploy:staging": {Busy, "a deployment to staging is queued: https://example.com/runs/7"},
		"deploy:prod":    {Free, "no deployment to prod"},
		"deploy:broken":  {Unknown, "no network"},
		"vm:build-1":     {Busy, "build-1 is running"},
		"vm:build-2":     {Free, "build-2 is shut off"},
		"vm:build-3":     {Unknown, "no domain build-3"},
	} {
		want(t, one(t, req, parse(t, resource)), c.want, c.says)
	}
	if got := read(t, asked); !strings.Contains(got, "run\nlist\n--workflow\ndeploy-staging.yml\n--status\nin_progress\n") {
		t.Errorf("gh was asked\n%s", got)
	}
}
