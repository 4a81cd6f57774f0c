package hook

import (
	"os"
	"path/filepath"
	"strings"

	"bureau/internal/agent/claude"
	"bureau/internal/paper/transcript"
)

// The guard of transcripts. One that shows whispers is the person's own copy:
// a member's session that read it would know what others said in confidence.
// The file itself says what it is, so no database is opened for the many other
// files that sessions read. A command of a shell is denied when it names the
// file; searches in whole folders, patterns and scripts are not seen through:
// the file's mode keeps other users out, and for the rest this is an agreement
// among sessions, no wall.

// secret gives the first transcript with whispers among the files that a tool
// would show or change, "" for none.
func secret(f fields, env func(string) string) string {
	if env(guardVariable) == guardOff {
		return ""
	}
	var paths []string
	switch claude.KindOf(f.tool) {
	case claude.ReadTool, claude.EditTool:
		paths = looked(f.input, env("HOME"))
	case claude.ShellTool:
		paths = spoken(f.input, env("HOME"))
	}
	for _, p := range paths[:min(len(paths), maxTouched)] {
		p = filepath.FromSlash(p)
		if !filepath.IsAbs(p) {
			if f.cwd == "" {
				f.cwd, _ = os.Getwd() // the client runs hooks in its own folder
			}
			p = filepath.Join(f.cwd, p)
		}
		if transcript.ShowsWhispers(p) {
			return p
		}
	}
	return ""
}

// looked lists the files that the input of a tool names, as touched does, those
// that are only looked at among them. A search in a folder names a file by its
// filter.
func looked(input []byte, home string) []string {
	paths := named(input, true)
	in := members(input) // what is no object names nothing
	for _, filter := range append(texts(in["glob"]), texts(in["include"])...) {
		for _, folder := range append(texts(in["path"]), texts(in["dir_path"])...) {
			paths = append(paths, filepath.Join(folder, filter))
		}
		paths = append(paths, filter)
	}
	return atHome(paths, home)
}

func atHome(paths []string, home string) []string {
	for i, p := range paths {
		if rest, ok := strings.CutPrefix(p, "~/"); ok && home != "" {
			paths[i] = filepath.Join(home, rest)
		}
	}
	return paths
}

// Limits of what is read of a command.
const (
	maxCommand = 4 << 10 // bytes
	maxWords   = 64
)

// spoken lists the words of a shell command that can be names of files, without
// their quotes. Nothing else is made of the command.
func spoken(input []byte, home string) []string {
	in := members(input)
	var words []string
	for _, command := range append(texts(in["command"]), texts(in["cmd"])...) {
		var word strings.Builder
		var quote rune
		escaped := false
		end := func() {
			if w := word.String(); strings.ContainsAny(w, "./") && len(words) < maxWords {
				words = append(words, w)
			}
			word.Reset()
		}
		for _, r := range command[:min(len(command), maxCommand)] {
			switch {
			case escaped:
				word.WriteRune(r)
				escaped = false
			case r == '\\' && quote != '\'':
				escaped = true
			case r == quote:
				quote = 0
			case quote != 0:
				word.WriteRune(r)
			case r == '\'' || r == '"':
				quote = r
			case strings.ContainsRune(" \t\r\n<>|&;(){}=,:`", r):
				end()
			default:
				word.WriteRune(r)
			}
		}
		end()
	}
	return atHome(words, home)
}

// guardSecret denies a session to look into a transcript with whispers. Its
// path is known to whoever asks for it.
func (h *visit) guardSecret(path string) error {
	return h.deny(line(path, pathColumns) + " was not opened: it is the transcript of a room with the whispers in it, which are for the person who runs this office alone.\n" +
		"What was said to you in the room: " + h.how().way("the room tool with last=20", "bureau room history NAME") + ".")
}
