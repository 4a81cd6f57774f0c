//go:build unix && !bell_udp

package bell

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bureau/internal/fault"
)

func TestTooLongAPath(t *testing.T) {
	dir := bellDir(t)
	long := filepath.Join(filepath.Dir(dir), strings.Repeat("x", 60))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := Listen(filepath.Join(long, "b"), anna)
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("Listen: %v", err)
	}
}

// The longest path that an office can lead to.
func TestTheLongestPathFits(t *testing.T) {
	folder := "/tmp/bureau-4294967295/0123456789abcdef/b/" + strings.Repeat("x", 32) + "/"
	if n := len(folder + hidden + "4194304-" + strings.Repeat("z", 13)); n > maxPath {
		t.Errorf("%d bytes", n)
	}
}

func TestHiddenSocketsAreNotRungYet(t *testing.T) {
	dir := bellDir(t)
	b := listen(t, dir, anna)
	folder := filepath.Join(dir, anna)
	for _, name := range []string{".new", ".old"} {
		r, err := bind(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		r.close() // as if its process had died
	}
	past := time.Now().Add(-2 * unready)
	if err := os.Chtimes(filepath.Join(folder, ".old"), past, past); err != nil {
		t.Fatal(err)
	}
	ring(t, 1, dir, anna)
	if n, err := Sweep(dir); n != 1 || err != nil {
		t.Errorf("Sweep = %d %v, want 1: the old one", n, err)
	}
	if left := files(t, dir, anna); len(left) != 2 || left[0] != ".new" {
		t.Errorf("left: %q", left)
	}
	if rung, _ := b.Wait(t.Context(), patience); !rung {
		t.Error("not rung")
	}
}

func TestAStreamSocketIsLeftAlone(t *testing.T) {
	dir := bellDir(t)
	listen(t, dir, anna)
	l, err := net.Listen("unix", filepath.Join(dir, anna, "stream"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ring(t, 1, dir, anna)
	Sweep(dir)
	if left := files(t, dir, anna); len(left) != 2 {
		t.Errorf("left: %q", left)
	}
}

// An empty datagram reads as the end of a file, which must not end the ear.
func TestAnEmptyDatagramIsARing(t *testing.T) {
	dir := bellDir(t)
	b := listen(t, dir, anna)
	conn, err := net.Dial("unixgram", b.ears[0].path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for range 3 {
		conn.Write(nil)
		if rung, err := b.Wait(t.Context(), patience); !rung || err != nil {
			t.Fatalf("Wait = %v %v", rung, err)
		}
	}
}

// One sending socket must not run out of its buffer: hundreds of unread rings
// in different queues.
func TestOneSenderManyUnreadRings(t *testing.T) {
	dir := bellDir(t)
	folder := filepath.Join(dir, anna)
	if err := makeFolders(dir, folder); err != nil {
		t.Fatal(err)
	}
	const many = 400
	var all []receiver
	for range many {
		r, err := bind(filepath.Join(folder, uniqueName())) // nobody reads
		if err != nil {
			t.Fatal(err)
		}
		defer r.close()
		all = append(all, r)
	}
	ring(t, many, dir, anna)
	for _, r := range all {
		got := make(chan error, 1)
		go func() { got <- r.receive() }()
		select {
		case err := <-got:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(patience):
			r.close()
			<-got
			t.Fatal("a ring was counted but not sent")
		}
	}
}
