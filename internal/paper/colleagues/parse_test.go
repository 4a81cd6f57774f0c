package colleagues

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"bureau/internal/fault"
	"bureau/internal/name"
	"bureau/internal/roster"
)

// env is an environment of the tests.
func env(pairs ...string) func(string) string {
	return func(k string) string {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == k {
				return pairs[i+1]
			}
		}
		return ""
	}
}

var home = env("HOME", "/home/u", "WORK", "/w", "N", "7")

// words gives a staff in short: its names with tiers.
func words(s roster.Staff) string {
	var out []string
	for _, p := range s.Colleagues {
		out = append(out, string(p.Name)+":"+string(p.Tier))
	}
	return strings.Join(out, " ")
}

func problems(s roster.Staff) string {
	var out []string
	for _, err := range s.Problems {
		out = append(out, err.Error()+" ("+fault.HintOf(err)+")")
	}
	return strings.Join(out, "\n")
}

// TestParse: what a file names, and that what is wrong with it is said with
// its line, hides nothing else and says what to do.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		what, text, want string
		problems         []string // parts of them, one each
	}{
		{"empty", "", "", nil},
		{"only comments", "# nobody yet\n\n---\n# still nobody\n...\n", "", nil},
		{"null document", "null\n", "", nil},
		{"tiers", "a:\n  brief: A\nb:\n  brief: B\n  tier: editor\nc: {brief: C, tier: worktree}\n", "a:advisor b:editor c:worktree", nil},
		{"tier of nothing", "a:\n  brief: A\n  tier:\n", "a:advisor", nil},
		{"all on one line", "{a: {brief: A}, b: {brief: B, tier: editor}}", "a:advisor b:editor", nil},
		{"brackets over lines", "{\n  a: {brief: A},\n\n# x\n  b: {brief: B}\n}\n", "a:advisor b:advisor", nil},
		{"indented as a whole", "  a:\n    brief: A\n  b:\n    brief: B\n", "a:advisor b:advisor", nil},
		{"byte order mark and line ends", "\ufeffa:\r\n  brief: A\r\nb:\r  brief: B\r", "a:advisor b:advisor", nil},
		{"quoted", "\"a\":\n  'brief': \"A: with # marks\"\n", "a:advisor", nil},
		{"a number is a name", "1:\n  brief: 2\n", "1:advisor", nil},
		{"inherited words of other languages", "constructor:\n  brief: A\ntoString:\n  brief: B\n", "constructor:advisor toString:advisor", nil},
		{"documents", "a:\n  brief: A\n---\nb:\n  brief: B\n", "a:advisor b:advisor", nil},

		{"no brief", "a:\n  tier: editor\nb:\n  brief: B\n", "b:advisor", []string{`f.yaml line 1: colleague "a": the brief is missing`}},
		{"blank brief", "a:\n  brief: '  '\n", "", []string{"the brief is missing"}},
		{"no fields", "a:\nb:\n  brief: B\n", "b:advisor", []string{`line 1: colleague "a": the brief is missing`}},
		{"a text for an entry", "a: hello\nb:\n  brief: B\n", "b:advisor", []string{`line 1: colleague "a": fields are wanted, not "hello"`}},
		{"a list for an entry", "a: [x]\nb:\n  brief: B\n", "b:advisor", []string{`colleague "a": fields are wanted, not "[x]"`}},
		{"tier", "b:\n  brief: B\na:\n  brief: A\n  tier: root\n", "b:advisor", []string{`line 5: colleague "a": the tier "root" is not known (advisor, editor or worktree)`}},
		{"tier in capitals", "a:\n  brief: A\n  tier: Editor\n", "", []string{`the tier "Editor"`}},
		{"unknown field", "a:\n  brief: A\n  tiers: editor\n  x: 1\n", "a:advisor",
			[]string{`line 3: colleague "a": the field "tiers" is not known and has no effect (did you mean tier?`, `the field "x"`}},
		{"field twice", "a:\n  brief: A\n  brief: B\nb:\n  brief: B\n", "b:advisor", []string{`line 3: colleague "a": brief is given on line 2 already`}},
		{"both words of a field", "a:\n  brief: A\n  caderno: x\n  notebook: y\n", "", []string{"notebook is given on line 3 already"}},
		{"name twice", "a:\n  brief: A\n  tier: editor\nA:\n  brief: again\n", "a:editor", []string{`line 4: colleague "A": it is defined on line 1 already`}},
		{"names", "user:\n  brief: A\nTeam-Lead:\n  brief: A\n__proto__:\n  brief: A\na b:\n  brief: A\n'':\n  brief: A\n? x\n: y\nok:\n  brief: B\n", "ok:advisor",
			[]string{`line 1: the name "user" is reserved`, `line 3: the name "Team-Lead"`, `line 5: the name "__proto__" starts with`, `line 7: the name "a b" contains a space`, `line 9: the name is empty`, `line 11: `, `line 12: `}},
		{"a list", "- a\n- b\n", "", []string{`line 1: the file is a mapping of names, and this is none: "- a"`, "line 2"}},
		{"a text", "hello\n", "", []string{`mapping of names, and this is none: "hello"`}},
		{"bad YAML in one entry", "a:\n  brief: A\n\nbad:\n  brief: \"open\n\n# and so on\nb:\n  brief: B\n", "a:advisor b:advisor", []string{`colleague "bad": it is no YAML: `}},
		{"a tab", "bad:\n\tbrief: A\nb:\n  brief: B\n", "b:advisor", []string{`line 2: colleague "bad": it is no YAML`}},
		{"what stands for something else", "a:\n  brief: &x A\nb:\n  brief: *x\nc:\n  <<: *x\n  brief: C\nd: !!map\n  brief: D\n", "c:advisor",
			[]string{`line 2: colleague "a": brief is no plain text: "&x A"`, `colleague "b"`, `colleague "c": the field "`, `colleague "d"`}},
		{"no text", "a:\n  brief: [A]\n", "", []string{`line 2: colleague "a": brief is no plain text: "[A]"`}},
		{"binary", "a:\n  brief: \x00\n", "", []string{"f.yaml: it is no text in UTF-8"}},
		{"another encoding", "a:\n  brief: \xe9\n", "", []string{"f.yaml: it is no text in UTF-8"}},
		{"long entry", "a:\n  brief: " + strings.Repeat("x", MaxEntry) + "\nb:\n  brief: B\n", "b:advisor", []string{`colleague "a": the entry has 4`}},
		{"marks of YAML", "a:\n  brief: A\n  x: " + strings.Repeat("!a - ", 800) + "\nb:\n  brief: B\n", "b:advisor", []string{`line 1: colleague "a": the entry has more than 64 brackets`}},
		{"long brief", "a:\n  brief: " + strings.Repeat("x", MaxBrief+1) + "\n", "a:advisor", []string{"line 2: colleague \"a\": the brief has 501 characters and is cut to 500"}},
		{"model", "a:\n  brief: A\n  model: --yolo\nb:\n  brief: B\n  modelo: opus 4\nc:\n  brief: C\n  model: opus\n", "c:advisor", []string{`the model "--yolo"`, `the model "opus 4"`}},
		{"unset variable", "a:\n  brief: A\n  cwd: ${NOWHERE}/x\nb:\n  brief: B\n", "b:advisor", []string{`line 3: colleague "a": cwd: the variable "NOWHERE" in the path "${NOWHERE}/x" is not set`}},
	} {
		t.Run(c.what, func(t *testing.T) {
			got := Parse([]byte(c.text), "/etc/f.yaml", home)
			if words(got) != c.want {
				t.Errorf("got %q, want %q", words(got), c.want)
			}
			if len(got.Problems) != len(c.problems) {
				t.Fatalf("%d problems instead of %d:\n%s", len(got.Problems), len(c.problems), problems(got))
			}
			for i, want := range c.problems {
				if p := problems(roster.Staff{Problems: got.Problems[i : i+1]}); !strings.Contains(p, want) || strings.HasSuffix(p, "()") || strings.Contains(p, "\n") {
					t.Errorf("problem %q, want %q", p, want)
				}
			}
		})
	}
}

// TestFields: every field, with both of its words, and where it was found.
func TestFields(t *testing.T) {
	text := `
# first
rev:
  brief: >
    Reads Go
    changes

  tier: worktree
  agent_file: agents/rev.md
  caderno: ~/notes/rev.md
  cwd: $WORK/api-${N}
  modelo: opus
two:
  brief: B
  notebook: /n.md
  model: sonnet
`
	got := Parse([]byte(text), "/etc/office/f.yaml", home)
	want := []roster.Profile{
		{Name: "rev", Brief: "Reads Go changes", Tier: roster.Worktree, AgentFile: "/etc/office/agents/rev.md", Notebook: "/home/u/notes/rev.md",
			Folder: "/w/api-7", Model: "opus", File: "/etc/office/f.yaml", Line: 3},
		{Name: "two", Brief: "B", Tier: roster.Advisor, Notebook: "/n.md", Model: "sonnet", File: "/etc/office/f.yaml", Line: 13},
	}
	if len(got.Problems) > 0 || len(got.Colleagues) != 2 || got.Colleagues[0] != want[0] || got.Colleagues[1] != want[1] {
		t.Errorf("%+v\n%s", got.Colleagues, problems(got))
	}
	if p, found := got.Find(name.Fold("REV")); !found || p.Name != "rev" {
		t.Errorf("%+v", p)
	}
	if _, found := got.Find("three"); found {
		t.Error("three was found")
	}
}

// TestExpand: the paths of a file.
func TestExpand(t *testing.T) {
	for _, c := range []struct{ text, want, problem string }{
		{"a/b", "/base/a/b", ""},
		{"./a/../b", "/base/b", ""},
		{"/a", "/a", ""},
		{"~", "/home/u", ""},
		{"~/a", "/home/u/a", ""},
		{"~other/a", "/base/~other/a", ""},
		{"a/~/b", "/base/a/~/b", ""},
		{"$WORK/a$N", "/w/a7", ""},
		{"${WORK}${N}x", "/w7x", ""},
		{"$TILDE/a", "/base/~/a", ""}, // what a variable holds is not read again
		{"$NONE/a", "", `"NONE" in the path "$NONE/a" is not set`},
		{"${NONE}", "", `"NONE"`},
		{"${NO NE}", "", "names no variable"},
		{"a$", "", "names no variable"},
		{"$/a", "", "names no variable"},
		{"$1", "", "names no variable"},
		{"${WORK", "", "has no }"},
		{"a\x00b", "", "NUL"},
		{strings.Repeat("a", maxPath+1), "", "longer than"},
		{strings.Repeat("$LONG", 5), "", "longer than"},
	} {
		got, err := expand(c.text, "/base", env("HOME", "/home/u", "WORK", "/w", "N", "7", "TILDE", "~", "LONG", strings.Repeat("l", 1000)))
		if got != c.want || (err == nil) != (c.problem == "") || err != nil && (!strings.Contains(err.Error(), c.problem) || fault.HintOf(err) == "") {
			t.Errorf("%q: %q, %v", show(c.text), got, err)
		}
	}
}

// TestBounds: a file of any sort is read soon, and gives no more than it may.
func TestBounds(t *testing.T) {
	var many, broken strings.Builder
	for i := range MaxColleagues + 5 {
		fmt.Fprintf(&many, "c%d: {brief: B}\n", i)
		fmt.Fprintf(&broken, "c%d: {tier: root}\n", i)
	}
	got := Parse([]byte(many.String()), "f", home)
	if len(got.Colleagues) != MaxColleagues || len(got.Problems) != 1 || !strings.Contains(problems(got), `line 1001: colleague "c1000": it is one more`) {
		t.Errorf("%d colleagues, %s", len(got.Colleagues), problems(got))
	}
	got = Parse([]byte(broken.String()), "f", home)
	if len(got.Problems) != MaxProblems || !strings.Contains(got.Problems[MaxProblems-1].Error(), "from here on it is not read") {
		t.Errorf("%d problems", len(got.Problems))
	}
	slow := strings.Repeat("a: \""+strings.Repeat("\"", 2000)+"\n", 200)
	if got = Parse([]byte(slow), "f", home); len(got.Problems) > 40 {
		t.Errorf("%d long entries were looked at", len(got.Problems))
	}
	// The YAML parser takes minutes for some of these as a whole.
	for _, part := range []string{`"`, "'", "a:\n", "a:\r", "[", "{", "- ", "? ", "&a ", "*a ", "%", "x", "\n", " \n", "#\n", "\t", "a: [", "a:\n - b\n", "a: \"\n", " a:\n", "---\n", "a: !{`", "!a - "} {
		whole := strings.Repeat(part, MaxFile/len(part))
		began := time.Now()
		got := Parse([]byte(whole), "f", home)
		// No promise, and far from what it takes otherwise: over a minute.
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("%q again and again took %v", part, took)
		}
		if len(got.Colleagues) > 0 || len(got.Problems) > MaxProblems {
			t.Errorf("%q again and again gave %d colleagues, %d problems", part, len(got.Colleagues), len(got.Problems))
		}
	}
}

// FuzzParse: no text ends the program or gives a colleague that cannot be one.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "a:\n  brief: A\n", "a: {brief: A, tier: editor, cwd: $WORK}\n", "a: &x\n  <<: *x\n", "- a", "{a: {brief: |\n x}}", "? a\n: b\n", "a:\n  brief: \"\\x41\n",
		"---\n%YAML 1.2\na: !!str b", "a:\n\tbrief: A", "  a:\n    brief: A\n b: c\n", "a:\n  brief: ~\n  tier: [", "[[[[", "é:\n  brief: 1e3\n  model: .inf",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got := Parse(text, "/d/f.yaml", home)
		seen := map[name.Key]bool{}
		for _, p := range got.Colleagues {
			n, err := name.Parse(string(p.Name))
			_, tier := roster.ParseTier(string(p.Tier))
			if err != nil || n != p.Name || seen[n.Key()] || p.Brief == "" || p.Tier == "" || !tier || utf8.RuneCountInString(p.Brief) > MaxBrief ||
				strings.ContainsAny(p.Brief, "\r\n") || p.Line < 1 || p.Line > strings.Count(strings.ReplaceAll(string(text), "\r", "\n"), "\n")+1 {
				t.Errorf("%+v", p)
			}
			seen[n.Key()] = true
			for _, path := range []string{p.AgentFile, p.Notebook, p.Folder} {
				if path != "" && path[0] != '/' {
					t.Errorf("the path %q", path)
				}
			}
		}
		for _, err := range got.Problems {
			if !fault.Is(err, fault.Invalid) || fault.HintOf(err) == "" {
				t.Errorf("the problem %v", err)
			}
		}
		if len(got.Problems) > MaxProblems {
			t.Errorf("%d problems", len(got.Problems))
		}
	})
}
