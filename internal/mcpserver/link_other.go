//go:build !linux

package mcpserver

// socketState is not asked for here: a reset shows when the connection is read.
func socketState(uintptr) linkState { return linkUnknown }
