package quote

import (
	"os"
	"os/exec"
	"testing"
)

func TestShell(t *testing.T) {
	for word, want := range map[string]string{
		"": "''", "src/a.go": "src/a.go", "a b": "'a b'", "src/**": "'src/**'", "it's": `'it'\''s'`, "é": "'é'", "$(x)": "'$(x)'",
	} {
		if got := Shell(word); got != want {
			t.Errorf("%q: %s", word, got)
		}
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	for _, word := range []string{"it's", `a\b`, "'", "`x`", "$HOME", "a\nb", `"`, "~", "-n"} {
		out, err := exec.Command(sh, "-c", "printf %s. "+Shell(word)).Output()
		if err != nil || string(out) != word+"." {
			t.Errorf("%q came back as %q, %v", word, out, err)
		}
	}
}
