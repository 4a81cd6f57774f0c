//go:build !unix || bell_udp

package bell

import (
	"net"
	"os"
	"testing"
	"time"

	"bureau/internal/proc"
)

func TestStrangersCannotRing(t *testing.T) {
	dir := bellDir(t)
	b := listen(t, dir, anna)
	a, v := readAddress(b.ears[0].path)
	if v != rung || a.owner != proc.Self() {
		t.Fatalf("the bell's file says %+v %v", a, v)
	}
	conn, err := net.DialUDP("udp4", nil, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(a.port)})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, packet := range []string{"", "ring", string(a.nonce[:15]), string(a.nonce) + "x", string(make([]byte, 1000))} {
		conn.Write([]byte(packet))
	}
	if rung, err := b.Wait(t.Context(), 50*time.Millisecond); rung || err != nil {
		t.Errorf("a stranger's packet: Wait = %v %v", rung, err)
	}
	conn.Write(a.nonce)
	if rung, err := b.Wait(t.Context(), patience); !rung || err != nil {
		t.Errorf("after strangers' packets: Wait = %v %v", rung, err)
	}
}

func TestFilesOfTheDead(t *testing.T) {
	dir := bellDir(t)
	b := listen(t, dir, anna)
	data, err := os.ReadFile(b.ears[0].path)
	if err != nil {
		t.Fatal(err)
	}
	folder := dir + "/" + anna + "/"
	os.WriteFile(folder+"dead", []byte("bureau-bell 1 9 00112233445566778899aabbccddeeff 1073741824 1\n"), 0o600)
	os.WriteFile(folder+"cut", data[:20], 0o600)
	os.WriteFile(folder+"short", []byte("bureau-bell 1 9 0011 1 1\n"), 0o600)
	ring(t, 1, dir, anna)
	if left := files(t, dir, anna); len(left) != 3 {
		t.Errorf("left: %q", left)
	}
}
