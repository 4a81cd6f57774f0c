package runtimedir

import (
	"os"
	"path/filepath"
	"testing"
)

func TestHead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if _, err := Head(path, make([]byte, 4)); !os.IsNotExist(err) {
		t.Errorf("no file: %v", err)
	}
	for text, want := range map[string]string{"": "", "ab": "ab", "abcd": "abcd", "abcdef": "abcd"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 4)
		if n, err := Head(path, buf); err != nil || string(buf[:n]) != want {
			t.Errorf("%q: %q, %v", text, buf[:n], err)
		}
	}
}
