// Package arch holds the plan of the house: which package stands on which
// floor. Its test reads the imports of the whole module and fails when one
// climbs.
package arch

// Floors lists the packages of the module from the ground up. A package
// imports only from lower floors; a package inside another one's folder may
// also import that one, and the packages of the ground, which are words and
// small tools, may use each other (the compiler forbids circles).
var Floors = [][]string{
	{ // 0 ground: words, and what a process, a file or a database is
		"internal/event", "internal/name", "internal/fault", "internal/quote", "internal/mention",
		"internal/proc", "internal/version", "internal/runtimedir", "internal/db", "internal/db/fts",
	},
	{ // 1 rules: pure
		"internal/mail", "internal/board", "internal/roster", "internal/claim", "internal/room",
	},
	{ // 2 storage
		"internal/journal", "internal/journal/sqlite", "internal/journal/memory", "internal/journal/journaltest",
		"internal/projection", "internal/presence", "internal/bell", "internal/mailflag", "internal/editflag", "internal/paper", "internal/paper/transcript", "internal/paper/colleagues",
	},
	{ // 3 service: the one writer of the journal
		"internal/office",
	},
	{ // 4 adapters to the world
		"internal/git", "internal/git/place", "internal/probe", "internal/setup/jsonc", "internal/agent/claude", "internal/agent/claude/inbox",
		"internal/mirror/mclaude",
	},
	{ // 5 running things
		"internal/demo", "internal/setup", "internal/wake", "internal/mirror/locks", "internal/probe/verify",
	},
	{ // 6 faces
		"internal/cli", "internal/hook", "internal/mcpserver", "internal/arch", "internal/e2e/mockapi",
	},
	{ // 7 mains
		"cmd/bureau", "cmd/bureau-hook", "bench", "internal/trial", "internal/e2e",
	},
}

// Pure are the packages that touch no disk, clock, network or goroutine.
var Pure = []string{
	"internal/event", "internal/name", "internal/fault", "internal/quote", "internal/mention",
	"internal/mail", "internal/board", "internal/roster", "internal/claim", "internal/room",
}
