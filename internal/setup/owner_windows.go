package setup

import "io/fs"

// keepOwner: a new file inherits its folder's access list here.
func keepOwner(string, fs.FileInfo) {}
