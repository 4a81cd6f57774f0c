package proc

import "slices"

// shells start a program for somebody else: what a client runs through one of
// them is the client's all the same.
var shells = []string{"sh", "bash", "dash", "zsh", "fish", "ksh", "busybox", "env"}

// Starter finds the process that this one works for among its ancestors, as
// [Ancestors] lists them: the nearest that is no shell, or the parent where all
// are shells. above is what stands over it.
func Starter(ancestors []ID) (starter ID, above []ID, ok bool) {
	for i, id := range ancestors {
		if !slices.Contains(shells, Name(id.PID)) {
			return id, ancestors[i+1:], true
		}
	}
	if len(ancestors) == 0 {
		return ID{}, nil, false
	}
	return ancestors[0], ancestors[1:], true
}
