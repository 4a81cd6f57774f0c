package office

import (
	"os"
	"slices"
	"strings"
	"testing"

	"bureau/internal/paper/transcript"
)

// inFile checks that a transcript holds these messages in this order.
func inFile(t *testing.T, path string, want []string) {
	t.Helper()
	doc, err := transcript.Parse(path)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	last := int64(0)
	for _, e := range doc.Entries {
		if e.Seq != last+1 {
			t.Errorf("entry %d after %d", e.Seq, last)
		}
		last = e.Seq
		if e.Kind == transcript.Message || e.Kind == transcript.Whisper {
			got = append(got, e.Body)
		}
	}
	if !slices.Equal(got, want) {
		raw, _ := os.ReadFile(path)
		t.Errorf("the transcript holds %d messages, want %d\n%s", len(got), len(want), strings.ToValidUTF8(string(raw[:min(len(raw), 2000)]), "?"))
	}
}
