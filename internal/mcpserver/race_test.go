//go:build race

package mcpserver

// slow says that the program was built to find races, which costs memory and
// time; budgets are for the others.
const slow = true
