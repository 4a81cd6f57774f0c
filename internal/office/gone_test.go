package office

import (
	"os"
	"path/filepath"
	"testing"
)

// TestGone: a place is empty for good where its parent is there and it is not;
// where a volume may only not be mounted, it is not.
func TestGone(t *testing.T) {
	base := t.TempDir()
	was := volumes
	volumes = []string{filepath.Join(base, "mnt")}
	t.Cleanup(func() { volumes = was })
	for _, dir := range []string{"here/p", "here/up", "mnt/unmounted", "mnt/used/other"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]bool{
		"here/p": false, "here/gone": true, "here/gone/below": true, "mnt/unmounted/p": false, "mnt/unmounted/a/p": false,
		"mnt/absent/p": false, "mnt/used/p": true, "mnt/used/a/p": false,
	} {
		if got := Gone(filepath.Join(base, path)); got != want {
			t.Errorf("%s is gone: %v", path, got)
		}
	}
}

// TestScopeID: what belongs to no project is of none.
func TestScopeID(t *testing.T) {
	if got := scopeID(ClaimScope(Project{})); got != "" {
		t.Errorf("%q", got)
	}
	if got := scopeID(ClaimScope(Project{ID: "x"})); got != "x" {
		t.Errorf("%q", got)
	}
}
