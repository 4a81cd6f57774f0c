package db

// F_OFD_SETLK and F_OFD_SETLKW in xnu's bsd/sys/fcntl.h.
const (
	ofdSetlk  = 90
	ofdSetlkw = 91
)
