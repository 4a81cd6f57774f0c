//go:build !unix

package git

import "io/fs"

func numbers(fs.FileInfo) (device, file uint64, ok bool) { return 0, 0, false }
