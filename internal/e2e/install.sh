#!/bin/sh
# Installs what the tests with the real client need, and prints the path of the
# client's program as its last line:
#
#   BUREAU_E2E_CLAUDE=$(sh internal/e2e/install.sh) go test -tags e2e ./internal/e2e
#
# Claude Code comes from npm, in the version that everything here was run
# against, into a folder outside of the repository (BUREAU_E2E_CACHE, or
# bureau-e2e in the user's cache folder). Nothing is run after the install: the
# package for this platform holds the program. tmux comes from the system.
set -eu
version=2.1.332
cache=${BUREAU_E2E_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/bureau-e2e}/claude-$version
find_client() { find "$cache/node_modules/@anthropic-ai" -maxdepth 2 -type f -name claude 2>/dev/null | head -n 1; }

if [ -z "$(find_client)" ]; then
	command -v npm >/dev/null || { echo "npm is needed to install the client" >&2; exit 1; }
	mkdir -p "$cache"
	npm install --prefix "$cache" --no-fund --no-audit --ignore-scripts "@anthropic-ai/claude-code@$version" >&2
fi
if ! command -v tmux >/dev/null; then
	[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || { echo "tmux is needed" >&2; exit 1; }
	{ apt-get install -y tmux || { apt-get update && apt-get install -y tmux; }; } >&2
fi
client=$(find_client)
[ -n "$client" ] || { echo "the client's package has no program for this platform" >&2; exit 1; }
"$client" --version >&2
echo "$client"
