// Package e2e drives the real Claude Code against a scripted model, with an
// office, a home and a network of its own, and nothing of the person who runs
// it. It is for tests; they need the build tag e2e, the client (install.sh)
// and tmux:
//
//	BUREAU_E2E_CLAUDE=$(sh internal/e2e/install.sh) go test -tags e2e ./internal/e2e
//
// As root the whole test program moves into new network, process and mount
// namespaces first: loopback is all there is, every process dies with it, and
// the places under /tmp that clients share are empty. Otherwise the tests run
// in the open, and only the environment keeps them apart.
package e2e
