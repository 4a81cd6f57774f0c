package main

import "os"

// peak is not measured on this system.
func peak(*os.ProcessState) int64 { return 0 }
