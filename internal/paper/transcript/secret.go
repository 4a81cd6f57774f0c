package transcript

import (
	"bytes"
	"encoding/json"
	"os"

	"bureau/internal/runtimedir"
)

// ShowsWhispers reports whether a file is a transcript that shows whispers,
// which is for the person alone. It reads no more than the beginning of the
// file, so that a guard can ask about every file that a session reads. What is
// no file, or cannot be read, shows nothing.
func ShowsWhispers(path string) bool {
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
		return false // opening a pipe would wait
	}
	head := make([]byte, leastMark)
	n, err := runtimedir.Head(path, head)
	rest, ours := bytes.CutPrefix(head[:n], []byte(mark))
	if err != nil || !ours {
		return false
	}
	// What a file says of itself for good comes first, so a post that goes on
	// at this moment changes nothing about it.
	var id identity
	return json.NewDecoder(bytes.NewReader(rest)).Decode(&id) == nil && id.Private
}
