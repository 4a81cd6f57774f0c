package arch

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The hook runs on every tool call of every session: what it links is what
// every tool call pays for, before main begins. The network also brings name
// resolution, and os/user the C library, on many machines.
func TestTheHookLinksLittle(t *testing.T) {
	banned := map[string]bool{"net": true, "net/http": true, "os/user": true, "regexp": true, "text/template": true, "html/template": true, "log/slog": true, "testing": true}
	foreign := []string{"github.com/spf13/", "github.com/modelcontextprotocol/", "github.com/nats-io/", "github.com/goccy/go-yaml", "bureau/internal/cli", "bureau/internal/mcpserver"}
	for _, system := range []string{"linux", "darwin", "windows"} {
		cmd := exec.Command("go", "list", "-deps", "bureau/cmd/bureau-hook")
		cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", system, err)
		}
		deps := strings.Fields(string(out))
		if len(deps) < 50 {
			t.Fatalf("%s: only %d packages are listed", system, len(deps))
		}
		for _, p := range deps {
			// On Windows the system's own package brings the network along.
			bad := banned[p] && !(system == "windows" && p == "net")
			for _, prefix := range foreign {
				bad = bad || strings.HasPrefix(p, prefix)
			}
			if bad {
				t.Errorf("on %s the hook links %s; go mod why or go list -deps shows through whom", system, p)
			}
		}
	}
}
