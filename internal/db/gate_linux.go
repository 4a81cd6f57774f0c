package db

import "golang.org/x/sys/unix"

const (
	ofdSetlk  = unix.F_OFD_SETLK
	ofdSetlkw = unix.F_OFD_SETLKW
)
