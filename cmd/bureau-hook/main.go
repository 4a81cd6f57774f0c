// A run is over before the number of processors can change; to watch for it the
// runtime would start a goroutine, 3 % of an idle run.
//go:debug updatemaxprocs=0

// Bureau-hook is what coding-agent clients run at the events of a session. It
// is a program of its own because it starts on every tool call: what it links
// is what every tool call pays for.
package main

import (
	"fmt"
	"os"

	"bureau/internal/hook"
	"bureau/internal/version"
)

func main() {
	if len(os.Args) == 2 && (os.Args[1] == "--version" || os.Args[1] == "version") {
		fmt.Println("bureau-hook " + version.String())
		return
	}
	os.Exit(hook.Run(hook.System(), os.Args[1:]))
}
