package cli

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// What README.md and docs show of the command line is there: every command, and
// every flag behind one.
func TestPapersShowWhatIsThere(t *testing.T) {
	root := newRoot(newApp(IO{Out: io.Discard, Err: io.Discard, Env: func(string) string { return "" }, Now: time.Now}))
	papers, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, paper := range append(papers, "../../README.md") {
		text, err := os.ReadFile(paper)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range shown.FindAllStringSubmatch(string(text), -1) {
			seen++
			if trouble := misses(root, unquoted(m[1])); trouble != "" {
				t.Errorf("%s shows %q: %s", filepath.Base(paper), m[1], trouble)
			}
		}
	}
	if seen < 50 {
		t.Errorf("only %d commands were found", seen)
	}
	for line, want := range map[string]string{
		"send bob TEXT --subject S": "", "--as ana room say debate": "", "agents": "", "TEXT": "",
		"sned bob": "no command sned", "room opne x": "no command opne in bureau room", "send --sbject S bob": "no flag --sbject in bureau send",
	} {
		if got := misses(root, line); got != want {
			t.Errorf("%q: %q, not %q", line, got, want)
		}
	}
}

// shown finds commands, in running text and in what is typed at a prompt.
var shown = regexp.MustCompile("(?:`|\\$ |&& |\\(|\\| )bureau ([^`\n|]+)")

// unquoted leaves out quoted text and comments.
func unquoted(line string) string {
	line = regexp.MustCompile(`"[^"]*"|'[^']*'`).ReplaceAllString(line, "TEXT")
	line, _, _ = strings.Cut(line, " #")
	line, _, _ = strings.Cut(line, "&&")
	line, _, _ = strings.Cut(line, ")")
	return line
}

// misses says which word of a command is none.
func misses(root *cobra.Command, line string) string {
	cmd, named := root, false
	words := strings.Fields(line)
	for i := 0; i < len(words); i++ {
		word := strings.TrimRight(words[i], ".,;:…")
		if flag, isFlag := strings.CutPrefix(word, "--"); isFlag {
			flag, _, _ = strings.Cut(flag, "=")
			if flag == "" {
				break
			}
			if cmd.InitDefaultHelpFlag(); flag == "version" && cmd == root {
				continue
			}
			f := cmd.Flags().Lookup(flag)
			if f == nil {
				f = cmd.InheritedFlags().Lookup(flag)
			}
			if f == nil {
				f = root.PersistentFlags().Lookup(flag)
			}
			if f == nil {
				return "no flag --" + flag + " in " + cmd.CommandPath()
			}
			if !named && f.NoOptDefVal == "" {
				i++ // its value
			}
			continue
		}
		if named || !cmd.HasAvailableSubCommands() || word == "" || strings.ToLower(word) != word {
			named = true
			continue
		}
		next, _, err := cmd.Find([]string{word})
		switch {
		case err == nil && next != cmd:
			cmd = next
		case cmd == root:
			return "no command " + word
		case !strings.ContainsAny(word, "/.:@"):
			return "no command " + word + " in " + cmd.CommandPath()
		}
	}
	return ""
}
