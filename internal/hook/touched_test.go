package hook

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestTouchedFiles: the path fields of all clients that are known, and shapes
// that none of them has.
func TestTouchedFiles(t *testing.T) {
	t.Parallel()
	patch := "*** Begin Patch\n*** Update File: src/a.go\n*** Move to: src/b.go\n@@\n-*** Add File: no\n+*** Delete File: no\n *** Update File: no\n*** Add File:  new é.go \r\n+x\n*** Delete File: old.go\n*** End of File\n*** Update File:\n*** End Patch"
	files := []string{"new é.go", "old.go", "src/a.go", "src/b.go"}
	quoted := func(v any) string {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	many := strings.TrimSuffix(strings.Repeat(`{"file_path":"x"},`, 100000), ",")
	for in, want := range map[string][]string{
		`{"file_path":"/a","old_string":"x","new_string":"y"}`:                        {"/a"}, // Claude Code: Edit
		`{"notebook_path":"/n.ipynb","new_source":"path"}`:                            {"/n.ipynb"},
		`{"file_path":"/a","edits":[{"old_string":"x"}]}`:                             {"/a"},
		`{"edits":[{"file_path":"/a"},{"file_path":"b"},{"c":"d"}]}`:                  {"/a", "b"},
		`{"path":"a","command":"str_replace","old_str":"x"}`:                          {"a"}, // an editor of several verbs
		`{"path":"a","command":"view"}`:                                               {},
		`{"target_file":"a","code_edit":"x"}`:                                         {"a"},
		`{"filename":"a"}`:                                                            {"a"},
		`{"filePath":"a","content":"{\"file_path\":\"no\"}"}`:                         {"a"}, // opencode
		`{"absolute_path":"/a"}`:                                                      {"/a"},
		`{"source":"a","destination":"b"}`:                                            {"a", "b"}, // the file server of MCP
		`{"paths":["a","b","a",5,null,["c"],{"path":"d"}]}`:                           {"a", "b", "d"},
		`{"files":[{"path":"a"},{"path":"b","x":1}]}`:                                 {"a", "b"},
		`{"command":` + quoted(patch) + `}`:                                           files, // Codex: apply_patch
		`{"command":["apply_patch",` + quoted(patch) + `]}`:                           files,
		`{"input":` + quoted(patch) + `}`:                                             files,
		`{"patchText":` + quoted(patch) + `}`:                                         files,
		quoted(patch):                                                                 files, // Copilot gives the patch alone
		`{"file_path":"a","file_path":"b"}`:                                           {"b"},
		`{"FILE_PATH":"a"}`:                                                           {"a"},
		`{"file_path":5}`:                                                             {},
		`{"file_path":null,"path":{},"edits":"x","paths":[]}`:                         {},
		`{"file_path":"","path":" "}`:                                                 {" "},
		`{"file_path":{"file_path":{"file_path":{"path":{"path":{"path":"deep"}}}}}}`: {},
		`{}`: {}, `[]`: {}, `null`: {}, `5`: {}, ``: {}, `{`: {}, `"`: {}, `"plain"`: {}, `[{"file_path":"a"}]`: {"a"},
		`{"edits":[` + many + `]}`: {"x"},
	} {
		if got := touched([]byte(in)); !slices.Equal(got, want) {
			t.Errorf("%.100s names %q, not %q", in, got, want)
		}
	}
}

// TestGitStash: what begins with the words, and nothing else.
func TestGitStash(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]bool{
		"git stash": true, "  git stash": true, "\n\tgit  \t stash -u": true, "git stash pop": true, "git stash drop stash@{0}": true,
		"git stash;ls": true, "git stash && git pull": true, "git stash>x": true, "git stash push -m 'list'": true, "git stash clear": true,
		"git stash list": false, "git stash show -p": false, "git stash  list; git stash drop": false,
		"git stashes": false, "git stash-x": false, "git -C x stash": false, "cd x && git stash": false, "echo git stash": false, "gitstash": false,
		"git\nstash": false, "GIT STASH": false, "": false, "git": false, "git ": false, "git status # stash": false, "git log --grep stash": false,
	} {
		raw, _ := json.Marshal(map[string]any{"command": command, "description": "git stash"})
		if got := stashes(raw); got != want {
			t.Errorf("%q: %v", command, got)
		}
	}
	for _, odd := range []string{``, `{"command":["git stash"]}`, `{"command":5,"x":"git stash"}`, `"git stash"`, `[`, `{"command":null,"a":"stash"}`} {
		if stashes([]byte(odd)) {
			t.Errorf("%s", odd)
		}
	}
}

// FuzzTexts: a string, and the strings of a list, are what a reader of JSON
// makes of them.
func FuzzTexts(f *testing.F) {
	for _, s := range []string{`"a"`, `"\u00e9\n"`, `"\ud800"`, "\"\xff\"", `["a", "b\\" ,["c"],{"d":"e"},null,5,"f\"]"]`, `[ ]`, `[[],"x"]`, `null`, `"`, `["`, `["a",`, `{"a":"b"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		got := texts(in)
		if !json.Valid(in) {
			return // no panic
		}
		in = bytes.TrimSpace(in)
		list := []any{}
		if in[0] == '"' {
			list = append(list, nil)
			_ = json.Unmarshal(in, &list[0])
		} else {
			_ = json.Unmarshal(in, &list)
		}
		var want []string
		for _, v := range list {
			if s, ok := v.(string); ok {
				want = append(want, s)
			}
		}
		if !slices.Equal(texts(in), want) || len(got) > 0 && !slices.Equal(got, want) {
			t.Fatalf("%q holds %q, want %q", in, got, want)
		}
	})
}

// FuzzTouched: whatever a tool is called with, nothing panics, and a path that
// is found stands in the input.
func FuzzTouched(f *testing.F) {
	for _, s := range []string{`{"file_path":"/a"}`, `{"edits":[{"path":"b"}]}`, `"*** Add File: x\n"`, `{"command":["*** Move to: y"]}`, `{"paths":[null,"c"]}`, `{`, `[[]]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, p := range touched(in) {
			if p == "" {
				t.Errorf("%q names nothing", in)
			}
		}
		stashes(in)
	})
}
