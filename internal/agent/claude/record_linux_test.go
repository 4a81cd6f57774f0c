package claude

import (
	"testing"

	"bureau/internal/proc"
)

func TestOwnDomain(t *testing.T) {
	if ownDomain() == "" {
		t.Skip("the machine has no id")
	}
	h := Home{Dir: t.TempDir()}
	self := proc.Self()
	write(t, h, self, map[string]any{"pidDomain": ownDomain()})
	if got, err := Records([]Home{h}); err != nil || len(got) != 1 {
		t.Errorf("our own domain: %+v %v", got, err)
	}
}
