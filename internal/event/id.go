package event

import (
	"crypto/sha256"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"
)

// An id is a ULID (https://github.com/ulid/spec): 48 bits of milliseconds since
// 1970 and 80 random ones, written in Crockford's base 32.
//
// Ids are what repeated events are known by, so two processes must not mint the
// same one, however many begin within a millisecond. The random bits are those
// of Go's generator, which the operating system seeds with 256 bits for each
// process; a generator that is seeded by the clock, or with 31 bits, would not do.
const (
	idLen    = 26
	alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	maxMilli = 1<<48 - 1
)

// minted is what the newest id of this process was made of.
var minted struct {
	sync.Mutex
	milli uint64
	hi    uint16 // the first 16 random bits
	lo    uint64 // the other 64
}

// NewID mints an id for the moment now, of which it keeps the milliseconds from
// 1970 to 10889. Ids that one process mints within a millisecond still differ
// and still sort in order of minting.
func NewID(now time.Time) ID {
	milli := uint64(min(max(now.UnixMilli(), 0), maxMilli))
	minted.Lock()
	defer minted.Unlock()
	if milli == minted.milli && minted.hi < 1<<16-1 {
		lo := minted.lo + 1 + uint64(rand.Uint32())
		if lo < minted.lo {
			minted.hi++
		}
		minted.lo = lo
	} else {
		minted.milli, minted.hi, minted.lo = milli, uint16(rand.Uint32()), rand.Uint64()
	}
	return encodeID(minted.milli<<16|uint64(minted.hi), minted.lo)
}

// Derive makes an id from other values. The same parts always give the same
// id, so an effect that is carried out twice is stored once.
func Derive(parts ...string) ID {
	h := sha256.New()
	for _, p := range parts {
		io.WriteString(h, strconv.Itoa(len(p)))
		io.WriteString(h, ":")
		io.WriteString(h, p)
	}
	sum := h.Sum(nil)
	return encodeID(binary.BigEndian.Uint64(sum), binary.BigEndian.Uint64(sum[8:]))
}

// encodeID writes 128 bits, the first 64 of which are hi: 26 characters of 5
// bits each, the first of which holds the 3 that are left over.
func encodeID(hi, lo uint64) ID {
	var text [idLen]byte
	for i := idLen - 1; i >= 0; i-- {
		text[i] = alphabet[lo&31]
		lo = lo>>5 | hi<<59
		hi >>= 5
	}
	return ID(text[:])
}

// ValidID reports whether s has the form of an id, in capitals or not.
func ValidID(s string) bool {
	if len(s) != idLen || s[0] < '0' || s[0] > '7' {
		return false
	}
	for i := range s {
		switch c := s[i] &^ 0x20; { // a digit loses a bit too
		case s[i] >= '0' && s[i] <= '9':
		case c < 'A' || c > 'Z' || c == 'I' || c == 'L' || c == 'O' || c == 'U':
			return false
		}
	}
	return true
}
