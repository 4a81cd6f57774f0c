//go:build unix

package db

import "syscall"

var (
	fullErrnos   = []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}
	deniedErrnos = []syscall.Errno{syscall.EROFS, syscall.EACCES, syscall.EPERM}
)
