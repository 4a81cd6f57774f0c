//go:build e2e

package e2e

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if status, moved := Isolate(); moved {
		os.Exit(status)
	}
	status := m.Run()
	Cleanup()
	os.Exit(status)
}
