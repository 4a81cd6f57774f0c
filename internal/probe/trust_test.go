package probe

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTrustedFiles(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	if list, err := TrustedFiles(home); err != nil || len(list) != 0 {
		t.Fatalf("%v, %v", list, err)
	}
	for _, name := range []string{"b.yaml", "a.yaml"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Trust(home, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	// What is no record of its own name lets nothing be run.
	first, err := os.ReadDir(filepath.Join(home, "trust"))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(home, "trust", first[0].Name()))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"copied.json": string(raw), "broken.json": "{"} {
		if err := os.WriteFile(filepath.Join(home, "trust", name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := TrustedFiles(home)
	if err != nil || len(list) != 2 || filepath.Base(list[0].File) != "a.yaml" || filepath.Base(list[1].File) != "b.yaml" || list[0].At.IsZero() {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := Untrust(home, filepath.Join(dir, "a.yaml")); err != nil {
		t.Fatal(err)
	}
	if list, err := TrustedFiles(home); err != nil || len(list) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
}
