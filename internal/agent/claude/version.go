package claude

import (
	"strconv"
	"strings"
)

// Version is a version of the client, three numbers. The zero value is an
// unknown one.
type Version struct{ Major, Minor, Patch int }

// ParseVersion reads "2.1.332", or what `claude --version` prints.
func ParseVersion(s string) (Version, bool) {
	s, _, _ = strings.Cut(strings.TrimSpace(s), " ")
	s, _, _ = strings.Cut(strings.TrimPrefix(s, "v"), "-")
	parts := strings.Split(s, ".")
	if len(parts) != 3 {
		return Version{}, false
	}
	var n [3]int
	for i, p := range parts {
		var err error
		if n[i], err = strconv.Atoi(p); err != nil || n[i] < 0 {
			return Version{}, false
		}
	}
	return Version{n[0], n[1], n[2]}, true
}

// Known reports whether the version is known.
func (v Version) Known() bool { return v != Version{} }

func (v Version) String() string {
	if !v.Known() {
		return "unknown"
	}
	return strconv.Itoa(v.Major) + "." + strconv.Itoa(v.Minor) + "." + strconv.Itoa(v.Patch)
}

// AtLeast reports whether v is w or newer. An unknown version is taken for a
// new one.
func (v Version) AtLeast(w Version) bool {
	switch {
	case !v.Known():
		return true
	case v.Major != w.Major:
		return v.Major > w.Major
	case v.Minor != w.Minor:
		return v.Minor > w.Minor
	}
	return v.Patch >= w.Patch
}

// Tested is the version that everything here was run against.
var Tested = Version{2, 1, 332}

// Since when the client has what we use. The client's public changelog and
// its documentation's history give PostToolBatch for April and the exec form
// for May 2026; each line here is a version from which on both are certain,
// and what is older gets the way that works everywhere.
var (
	// sincePostToolBatch: the hook after a whole round of tools.
	sincePostToolBatch = Version{2, 1, 150}
	// sinceExecForm: "args" in a hook, run without a shell.
	sinceExecForm = Version{2, 1, 150}
	// sinceStopFailure: the hook after a turn that an error of the model's API
	// ended. The changelog gives it for March 2026.
	sinceStopFailure = Version{2, 1, 150}
	// sinceInbox: session records with peerProtocol and an inbox socket.
	sinceInbox = Version{2, 1, 224}
)

// Features are what a version of the client can do for us.
type Features struct {
	PostToolBatch bool `json:"post_tool_batch"` // else mail during a turn comes with PostToolUse
	ExecForm      bool `json:"exec_form"`       // else hooks run through a shell
	StopFailure   bool `json:"stop_failure"`    // else a session counts as busy after such an end until its client is looked at
	Inbox         bool `json:"inbox"`           // else an idle session cannot be woken
}

// Features gives what the version can do. A session's own record (its
// peerProtocol and socket) overrides Inbox.
func (v Version) Features() Features {
	return Features{
		PostToolBatch: v.AtLeast(sincePostToolBatch),
		ExecForm:      v.AtLeast(sinceExecForm),
		StopFailure:   v.AtLeast(sinceStopFailure),
		Inbox:         v.AtLeast(sinceInbox),
	}
}
