package proc

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"sync"
)

var host struct {
	once sync.Once
	id   string
}

// Host names the host domain in 16 hexadecimal digits: what a process id and
// a start time are relative to. It is made of the machine's id, the boot's id
// and the pid namespace, hashed, since a machine's id is not for publishing.
// It is the same in all processes of the domain for as long as the machine
// stays up. A part that the system does not give is left out; there is always
// an answer.
func Host() string {
	host.once.Do(func() { host.id = hashParts(hostParts()) })
	return host.id
}

// hashParts shortens parts to one name. Lengths go in, so that a part that is
// missing is not made up for by its neighbour.
func hashParts(parts []string) string {
	text := "bureau host domain"
	for _, p := range parts {
		text += "\n" + strconv.Itoa(len(p)) + ":" + p
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
