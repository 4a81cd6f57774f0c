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
// files that sessions read. Searches in whole folders and commands of a shell
// are not seen through: the file's mode keeps other users out, and for the
// rest this is an agreement among sessions, no wall.

// secret gives the first transcript with whispers among the files that a tool
// would show or change, "" for none.
func secret(f fields, env func(string) string) string {
	kind := claude.KindOf(f.tool)
	if kind != claude.ReadTool && kind != claude.EditTool || env(guardVariable) == guardOff {
		return ""
	}
	paths := looked(f.input, env("HOME"))
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
	for i, p := range paths {
		if rest, ok := strings.CutPrefix(p, "~/"); ok && home != "" {
			paths[i] = filepath.Join(home, rest)
		}
	}
	return paths
}

// guardSecret denies a session to look into a transcript with whispers. Its
// path is known to whoever asks for it.
func (h *visit) guardSecret(path string) error {
	return h.deny(line(path, pathColumns) + " was not opened: it is the transcript of a room with the whispers in it, which are for the person who runs this office alone.\n" +
		"What was said to you in the room: the room tool with last=20, or bureau room history NAME.")
}
