package hook

import (
	"path/filepath"
	"testing"

	"bureau/internal/claim"
	"bureau/internal/office"
)

// TestSharedClaims: two who share a folder both change what is in it, also in a
// repository below, and each is told once of the other.
func TestSharedClaims(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.repo("libs/l")
	foo := d.inner("libs/foo")
	bob, carla, dora := d.started("B"), d.started("C"), d.started("D")
	share := func(c *client) {
		t.Helper()
		w := claim.Want{Mode: claim.Shared, Tree: p.Root, Paths: []claim.Pattern{"libs"}}
		_, err := d.o.Claim(d.ctx, c.caller(), p, office.Claiming{Want: w, Intent: "together"})
		d.must(err)
	}
	allowed := func(s said, words ...string) {
		t.Helper()
		if s.has(words...); s.Denied != "" {
			t.Errorf("denied: %s", s.Denied)
		}
	}
	files := []string{filepath.Join(d.dir, "libs", "l"), filepath.Join(foo.Root, "x", "f")}
	share(bob)
	for _, file := range files {
		bob.edit(file).silent() // there is nobody else
	}
	share(carla)
	for _, file := range files {
		allowed(bob.edit(file), "your claim is shared", "- libs: "+carla.name()+" since", "together")
		allowed(carla.edit(file), "your claim is shared", "- libs: "+bob.name()+" since")
		bob.edit(file).silent() // no claim has changed
		dora.edit(file).denied(bob.name(), carla.name())
	}
	if got := d.held(foo); got != "" {
		t.Errorf("held within: %s", got)
	}
}
