//go:build !race

package mcpserver

const slow = false
