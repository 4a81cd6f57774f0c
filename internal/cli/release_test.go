package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWordsThatMayBeIDs: a short word is a path, whatever ids have it in them by
// chance, and so is what is there.
func TestWordsThatMayBeIDs(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "parser"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	a := newApp(IO{Dir: dir})
	for word, want := range map[string]bool{
		"": false, "src": false, "7XKQ2": false, "7XKQ2M": true, "7xkq2m": true, "parser": false, "parser.go": false, "src/7XKQ2M": false,
		"01KDQ3T7Z4M8N9P0Q1R2S3T4V5": true, "01KDQ3T7Z4M8N9P0Q1R2S3T4V5X": false,
	} {
		if got := a.mayBeID(word); got != want {
			t.Errorf("%q: %v", word, got)
		}
	}
}
