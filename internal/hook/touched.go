package hook

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

// maxTouched is how many files of one call are asked about.
const maxTouched = 500

// touched lists the files that the input of an editing tool names, as written,
// each once. It knows the fields of all clients whose tools are known
// (package claude, EditTool): a path, a list of them, a list of edits that each
// name one, and patches in the format of apply_patch. Whatever is of another
// shape names nothing.
func touched(input []byte) []string { return named(input, false) }

// named is touched; with looks also where a tool that can do more is only asked
// to show something.
func named(input []byte, looks bool) []string {
	t := map[string]bool{}
	collect(t, bytes.TrimSpace(input), 0, looks)
	paths := make([]string, 0, len(t))
	for p := range t {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	return paths
}

// collect adds what an input names: an object's fields, or a patch alone.
func collect(t map[string]bool, input []byte, depth int, looks bool) {
	if depth > 4 || len(input) == 0 {
		return
	}
	switch input[0] {
	case '"':
		var patch string
		if depth == 0 && json.Unmarshal(input, &patch) == nil {
			patched(t, patch)
		}
	case '[':
		for _, one := range elements(input) {
			if one[0] == '{' {
				collect(t, one, depth+1, looks)
			}
		}
	case '{':
		fields := members(input)
		if !looks && onlyLooks(fields) {
			return
		}
		for key, value := range fields {
			switch strings.ToLower(strings.ReplaceAll(key, "_", "")) {
			case "filepath", "path", "notebookpath", "filename", "targetfile", "absolutepath", "relativepath",
				"filepaths", "paths", "file", "files", "source", "destination", "oldpath", "newpath":
				for _, p := range texts(value) {
					t[p] = true
				}
				collect(t, value, depth+1, looks)
			case "edits", "changes", "operations", "replacements":
				collect(t, value, depth+1, looks)
			case "command", "input", "patch", "patchtext", "diff":
				for _, p := range texts(value) {
					patched(t, p)
				}
			}
		}
		delete(t, "")
	}
}

// onlyLooks reports whether a tool that can do more is asked to show something.
func onlyLooks(fields map[string]json.RawMessage) bool {
	return string(fields["command"]) == `"view"`
}

// texts gives a string, or the strings of a list.
func texts(value json.RawMessage) []string {
	list := [][]byte{value}
	if len(value) > 0 && value[0] == '[' {
		list = elements(value)
	}
	var out []string
	for _, v := range list {
		if one, ok := text(v); ok {
			out = append(out, one)
		}
	}
	return out
}

// patched adds the files of a patch in the format of apply_patch.
func patched(t map[string]bool, patch string) {
	for line := range strings.SplitSeq(patch, "\n") {
		if !strings.HasPrefix(line, "*** ") {
			continue
		}
		for _, head := range []string{"*** Update File:", "*** Add File:", "*** Delete File:", "*** Move to:"} {
			if path, ok := strings.CutPrefix(line, head); ok {
				if path = strings.TrimSpace(path); path != "" {
					t[path] = true
				}
			}
		}
	}
}

// stashes reports whether the command of a shell tool begins with git stash,
// other than to look at what is stashed. No more of a command is understood:
// guessing at what a line of shell does gives false alarms and false safety.
func stashes(input []byte) bool {
	const blanks = " \t"
	var in struct {
		Command string `json:"command"`
	}
	if !bytes.Contains(input, []byte("stash")) || json.Unmarshal(input, &in) != nil {
		return false
	}
	rest, ok := strings.CutPrefix(strings.TrimLeft(in.Command, blanks+"\r\n"), "git")
	verb := strings.TrimLeft(rest, blanks)
	if !ok || verb == rest {
		return false
	}
	if rest, ok = strings.CutPrefix(verb, "stash"); !ok || wordLen(rest) > 0 {
		return false
	}
	sub := strings.TrimLeft(rest, blanks)
	sub = sub[:wordLen(sub)]
	return sub != "list" && sub != "show"
}

// wordLen gives the length of the word that a text begins with.
func wordLen(s string) int {
	if n := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_' }); n >= 0 {
		return n
	}
	return len(s)
}
