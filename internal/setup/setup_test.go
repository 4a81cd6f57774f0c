package setup

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"bureau/internal/agent/claude"
	"bureau/internal/setup/jsonc"
)

func TestFromNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	before := d.files()
	d.o.Allow = true
	p, err := Prepare(d.o)
	if err != nil {
		t.Fatal(err)
	}
	diff := p.Diff()
	sameFiles(t, d.files(), before) // planning writes nothing
	for _, want := range []string{"--- /dev/null", "+++ " + d.settings(), `"PostToolBatch"`, `"mcp__bureau"`, `"mcpServers"`, "# The office"} {
		if !strings.Contains(diff, want) {
			t.Errorf("the diff lacks %q:\n%s", want, diff)
		}
	}
	if err := p.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(p.Changes) != 2+len(skills) {
		t.Errorf("%d changes", len(p.Changes))
	}
	if got := ourHooks(t, d.read(d.settings())); !slices.Equal(got, wantedHooks(claude.Tested.Features())) {
		t.Errorf("hooks %v", got)
	}
	var s struct {
		Hooks map[string][]group
	}
	if err := json.Unmarshal([]byte(d.read(d.settings())), &s); err != nil {
		t.Fatal(err)
	}
	if h := s.Hooks["PreToolUse"][0]; h.Matcher != claude.ToolMatcher || h.Hooks[0].Command != d.o.Hook ||
		!slices.Equal(h.Hooks[0].Args, []string{"claude", "--home", d.o.Home}) || h.Hooks[0].Timeout != 5 {
		t.Errorf("%+v", h)
	}
	var g struct{ MCPServers map[string]server }
	if err := json.Unmarshal([]byte(d.read(d.global())), &g); err != nil {
		t.Fatal(err)
	}
	if s := g.MCPServers["bureau"]; s.Command != d.o.Bureau || !slices.Equal(s.Args, []string{"mcp", "--home", d.o.Home}) {
		t.Errorf("%+v", s)
	}
	for path, mode := range map[string]fs.FileMode{d.settings(): 0o600, d.global(): 0o600, d.o.Homes[0].Skill("bureau"): 0o644} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode && runtime.GOOS != "windows" {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
	}
	// Twice is once.
	after := d.files()
	if p := d.apply(Prepare); len(p.Changes) != 0 || p.Diff() != "" {
		t.Errorf("again: %+v", p.Changes)
	}
	sameFiles(t, d.files(), after)
	d.apply(PrepareRemoval)
	sameFiles(t, d.files(), before)
	if p := d.apply(PrepareRemoval); len(p.Changes) != 0 {
		t.Errorf("removed again: %+v", p.Changes)
	}
	if _, err := os.Stat(receiptFile(d.o.Home)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("receipts are left: %v", err)
	}
}

// Case C5: settings as they are found, with everything that breaks a merge.
func TestOthersSettings(t *testing.T) {
	t.Parallel()
	samples, err := filepath.Glob("testdata/*.json*")
	if err != nil || len(samples) < 8 {
		t.Fatal(samples, err)
	}
	texts := map[string]string{
		"empty file": "", "blank": " \r\n", "empty object": "{}", "empty hooks": `{"hooks":{}}`, "null hooks": `{"hooks":null}`,
		"null event": `{"hooks":{"Stop":null}}`, "empty event": `{"hooks":{"Stop":[]}}`, "spaced": "{ \"a\" : 1 , \"hooks\" : { } }",
		"no newline": "{\n  \"a\": 1\n}", "big numbers": `{"n":9007199254740993,"m":1.0,"e":1E400}`, "escapes": `{"a":"\u003c\u00e9<&>\/"}`,
		"two of a key": `{"hooks":{"Stop":[1]},"hooks":{}}`, "null permissions": `{"permissions":null}`, "null allow": `{"permissions":{"allow":null}}`,
		"allowed before": `{"permissions":{"allow":["mcp__bureau"]}}`, "open braces": "{\n}\n",
	}
	for _, path := range samples {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(path)] = string(text)
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.o.Allow = true
			d.write(d.settings(), text)
			d.write(d.global(), text)
			before := d.files()
			for range 3 {
				d.apply(Prepare)
			}
			if got := ourHooks(t, d.read(d.settings())); !slices.Equal(got, wantedHooks(claude.Tested.Features())) {
				t.Errorf("hooks %v", got)
			}
			for _, path := range []string{d.settings(), d.global()} {
				if kept := d.read(path + backupSuffix); kept != text {
					t.Errorf("%s: the copy is %q", path, kept)
				}
				if info, _ := os.Stat(path); info.Mode().Perm() != 0o640 && runtime.GOOS != "windows" {
					t.Errorf("%s has mode %v", path, info.Mode())
				}
			}
			foreignKept(t, text, d.read(d.settings()))
			d.apply(PrepareRemoval)
			sameFiles(t, d.files(), before)

			// Somebody edits the file after us: only ours goes.
			d.apply(Prepare)
			edited := appendKey(t, d.read(d.settings()), "theirs", "kept")
			d.write(d.settings(), edited)
			d.apply(PrepareRemoval)
			got := d.read(d.settings())
			foreignKept(t, text, got)
			if hooks := ourHooks(t, got); len(hooks) > 0 || !strings.Contains(got, `"kept"`) {
				t.Errorf("%v are left in %s", hooks, got)
			}
			if want := appendKey(t, text, "theirs", "kept"); !sameMeaning(t, got, want) {
				t.Errorf("got %s\nwant the meaning of %s", got, want)
			}
		})
	}
}

func TestScopes(t *testing.T) {
	t.Parallel()
	for scope, want := range map[Scope][]string{
		Project: {"my project/.claude/settings.json", "my project/.mcp.json", "my project/.claude/skills/bureau/SKILL.md", "my project/.claude/skills/bureau-room-moderator/SKILL.md"},
		Local:   {"my project/.claude/settings.local.json", "home/.claude.json", "my project/.claude/skills/bureau/SKILL.md", "my project/.claude/skills/bureau-room-moderator/SKILL.md"},
	} {
		t.Run(string(scope), func(t *testing.T) {
			d := newDesk(t)
			d.o.Scope = scope
			before := d.files()
			p := d.apply(Prepare)
			after := d.files()
			for _, path := range want {
				if _, ok := after[filepath.FromSlash(path)]; !ok {
					t.Errorf("no %s", path)
				}
			}
			if _, ok := after[filepath.FromSlash("home/.claude/settings.json")]; ok {
				t.Error("the user's settings were written")
			}
			if scope == Local {
				g, err := jsonc.Parse([]byte(d.read(d.global())))
				if err != nil || !ourServer(g.Root().Get("projects", d.o.Project, "mcpServers", "bureau")) {
					t.Errorf("%s", d.read(d.global()))
				}
			} else if notes := strings.Join(p.Notes, "\n"); !strings.Contains(notes, "asks each person") || !strings.Contains(notes, "--scope local") {
				t.Errorf("nothing is said about the client's question, or about paths of other machines: %q", notes)
			}
			if got := Registrations(d.o.Home); len(got) != 1 || got[0].Scope != scope || got[0].Project != d.o.Project {
				t.Errorf("registered %+v", got)
			}
			d.o.Scope = User
			if p := d.apply(PrepareRemoval); len(p.Changes) > 0 || len(p.Notes) != 1 ||
				!strings.HasSuffix(p.Notes[0], "in "+d.o.Project+": bureau setup claude --remove --scope "+string(scope)) {
				t.Errorf("what stays: %q", p.Notes)
			}
			d.o.Scope = scope
			if p := d.apply(PrepareRemoval); len(p.Notes) > 0 {
				t.Errorf("what stays: %q", p.Notes)
			}
			sameFiles(t, d.files(), before)
			if got := Registrations(d.o.Home); len(got) > 0 {
				t.Errorf("registered %+v", got)
			}
		})
	}
}

// The person's registration and one for a project share the client's global
// file; each is taken out without the other.
func TestTwoScopesInOneFile(t *testing.T) {
	t.Parallel()
	for _, order := range [][2]Scope{{User, Local}, {Local, User}} {
		for _, first := range order {
			d := newDesk(t)
			before := d.files()
			for _, scope := range order {
				d.o.Scope = scope
				d.apply(Prepare)
			}
			has := func(scope Scope) bool {
				g, err := jsonc.Parse([]byte(d.read(d.global())))
				if err != nil {
					t.Fatal(err)
				}
				keys := []any{"mcpServers", serverName}
				if scope == Local {
					keys = append([]any{"projects", d.o.Project}, keys...)
				}
				return ourServer(g.Root().Get(keys...))
			}
			second := order[0]
			if second == first {
				second = order[1]
			}
			d.o.Scope = first
			d.apply(PrepareRemoval)
			if has(first) || !has(second) {
				t.Errorf("%v: after the removal of %s:\n%s", order, first, d.read(d.global()))
			}
			d.o.Scope = second
			d.apply(PrepareRemoval)
			sameFiles(t, d.files(), before)
		}
	}
}

func TestSeveralHomes(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.o.Homes = append(d.o.Homes, claude.Home{Dir: filepath.Join(d.root, "work account")})
	before := d.files()
	d.apply(Prepare)
	for _, path := range []string{"work account/settings.json", "work account/.claude.json", "work account/skills/bureau/SKILL.md", "work account/skills/bureau-room-member/SKILL.md", "home/.claude/settings.json"} {
		if _, err := os.Stat(filepath.Join(d.root, path)); err != nil {
			t.Error(err)
		}
	}
	work := claude.Home{Dir: filepath.Join(d.root, "work account")}
	if got := claude.SetUp(d.o.Home); !slices.Equal(got, []claude.Home{work}) {
		t.Errorf("homes %v", got)
	}
	if got := Registrations(d.o.Home); len(got) != 1 || got[0].Scope != User || !slices.Equal(got[0].Homes, d.o.Homes) {
		t.Errorf("registered %+v", got)
	}
	// One is taken out, the other stays.
	all := d.o.Homes
	d.o.Homes = all[:1]
	if p := d.apply(PrepareRemoval); len(p.Notes) != 1 || !strings.HasSuffix(p.Notes[0], "take that out: bureau setup claude --remove --config-dir "+shellQuote(work.Dir)) {
		t.Errorf("what stays: %q", p.Notes)
	}
	if got := Registrations(d.o.Home); len(got) != 1 || !slices.Equal(got[0].Homes, []claude.Home{work}) {
		t.Errorf("registered %+v", got)
	}
	d.o.Homes = all
	d.apply(PrepareRemoval)
	sameFiles(t, d.files(), before)
	if got := claude.SetUp(d.o.Home); len(got) > 0 {
		t.Errorf("homes %v", got)
	}
	if got := Registrations(d.o.Home); len(got) > 0 {
		t.Errorf("registered %+v", got)
	}
}

func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write(d.settings(), d.read("testdata/busy.json"))
	before := d.files()
	both := func(prepare func(Options) (*Plan, error)) {
		var all sync.WaitGroup
		plans := make([]*Plan, 4)
		for i := range plans {
			p, err := prepare(d.o) // all look before one writes
			if err != nil {
				t.Fatal(err)
			}
			plans[i] = p
		}
		for _, p := range plans {
			all.Go(func() {
				if err := p.Apply(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	both(Prepare)
	if got := ourHooks(t, d.read(d.settings())); !slices.Equal(got, wantedHooks(claude.Tested.Features())) {
		t.Errorf("hooks %v", got)
	}
	both(PrepareRemoval)
	sameFiles(t, d.files(), before)
}

// Another place of the programs, another office, an older client: our entries
// follow, everything else stays.
func TestChangesOfOurs(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write(d.settings(), d.read("testdata/busy.json"))
	before := d.files()
	d.o.Client.Version = claude.Version{Major: 2, Minor: 0, Patch: 1}
	d.apply(Prepare)
	text := d.read(d.settings())
	if got := ourHooks(t, text); !slices.Equal(got, wantedHooks(d.o.Client.Version.Features())) || !slices.Contains(got, "PostToolUse") || slices.Contains(got, "PostToolBatch") {
		t.Errorf("hooks of an old client: %v", got)
	}
	if strings.Contains(text, `"args"`) {
		t.Errorf("an old client would ignore the arguments: %s", text)
	}
	d.o.Client.Version = claude.Tested
	d.o.Bureau, d.o.Hook = filepath.Join(d.root, "new", "bureau"), filepath.Join(d.root, "new", "bureau-hook")
	d.apply(Prepare)
	text = d.read(d.settings())
	if got := ourHooks(t, text); !slices.Equal(got, wantedHooks(claude.Tested.Features())) {
		t.Errorf("hooks %v", got)
	}
	if strings.Contains(text, filepath.Join(d.root, "bin")) || strings.Contains(d.read(d.global()), filepath.Join(d.root, "bin")) {
		t.Error("the old path is left")
	}
	if kept := d.read(d.settings() + backupSuffix); kept != d.read("testdata/busy.json") {
		t.Error("the first copy was overwritten")
	}
	d.apply(PrepareRemoval)
	sameFiles(t, d.files(), before)
}

// What an older version registered is replaced where it stands among others'
// hooks: one entry for each event, with the matcher of now.
func TestUpgradeOfAnOlderRegistration(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write(d.settings(), d.read("testdata/busy.json"))
	before := d.files()
	d.apply(Prepare)
	now := d.read(d.settings())
	old := strings.Replace(now, jsonText(claude.ToolMatcher), `"mcp__(plugin_bureau_)?bureau__.*"`, 1)
	if old == now {
		t.Fatal("there is no matcher to be replaced")
	}
	d.write(d.settings(), old)
	if p := d.apply(Prepare); len(p.Changes) != 1 {
		t.Errorf("%d changes", len(p.Changes))
	}
	text := d.read(d.settings())
	if got := ourHooks(t, text); !slices.Equal(got, wantedHooks(claude.Tested.Features())) {
		t.Errorf("hooks %v", got)
	}
	if strings.Count(text, "bureau__.*") != 1 || !strings.Contains(text, jsonText(claude.ToolMatcher)) {
		t.Errorf("%s", text)
	}
	foreignKept(t, d.read("testdata/busy.json"), text)
	if p := d.apply(Prepare); len(p.Changes) != 0 {
		t.Errorf("again: %+v", p.Changes)
	}
	d.apply(PrepareRemoval)
	sameFiles(t, d.files(), before)
}

// Without receipts removal goes by what entries look like.
func TestRemovalWithoutReceipts(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write(d.settings(), d.read("testdata/busy.json"))
	d.apply(Prepare)
	if err := os.RemoveAll(d.o.Home); err != nil {
		t.Fatal(err)
	}
	d.apply(PrepareRemoval)
	if got := d.read(d.settings()); got != d.read("testdata/busy.json") {
		t.Errorf("%s", got)
	}
	for _, s := range skills {
		if _, err := os.Stat(d.o.Homes[0].Skill(s.name)); err == nil {
			t.Errorf("the skill %s is left", s.name)
		}
	}
}

func TestSkillOfSomebodyElse(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	path := d.o.Homes[0].Skill("bureau")
	d.write(path, "mine")
	p := d.apply(Prepare)
	if d.read(path) != "mine" || len(p.Notes) == 0 {
		t.Errorf("%q %v", d.read(path), p.Notes)
	}
	d.apply(PrepareRemoval)
	if d.read(path) != "mine" {
		t.Error("somebody else's skill was removed")
	}
}

func TestLooseFilesAreWarnedOf(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write(d.settings(), d.read("testdata/comments.jsonc"))
	p, err := Prepare(d.o)
	if err != nil || len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "comments") {
		t.Errorf("%v %v", p, err)
	}
}

func TestShellWords(t *testing.T) {
	t.Parallel()
	for _, words := range [][]string{{"a"}, {"/opt/my tools/x", "claude", "--home", "/h'h/é $HOME `x`"}, {"''"}, {"a\nb", "\\"}} {
		quoted := make([]string, len(words))
		for i, w := range words {
			quoted[i] = shellQuote(w)
		}
		got, ok := shellWords(strings.Join(quoted, " "))
		if !ok || !slices.Equal(got, words) {
			t.Errorf("%q became %q %v", words, got, ok)
		}
	}
	for _, command := range []string{"a && b", "a; b", "a | b", "a > b", "$(a)", "`a`", "a \"b\"", "a 'b", "a # b", "a &", "~/a", "a*"} {
		if words, ok := shellWords(command); ok {
			t.Errorf("%q is taken for the words %q", command, words)
		}
	}
}
