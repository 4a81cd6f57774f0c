#!/bin/sh
# Runs the official MCP conformance suite against `bureau serve`: what it has
# about the transport and the life of a session, in both eras of the protocol.
# Its other scenarios call tools, prompts and resources of its own, which a
# product has not.
#
#   internal/mcpserver/conformance.sh [BUREAU]
#
# BUREAU is the program; without it, it is built. The suite needs Node 22, which
# npm brings along; everything lives in a temporary folder. The suite shows no
# token, so a small proxy adds one and changes nothing else.
set -eu
cd "$(dirname "$0")/../.."

fail() {
	echo "conformance: $*" >&2
	exit 1
}
command -v npm >/dev/null 2>&1 || fail "npm is missing; the suite and its Node come from there"

work=$(cd "$(mktemp -d)" && pwd -P)
live="/tmp/bureau-$(id -u)/$(printf %s "$work/office" | sha256sum | cut -c1-16)" # where package runtimedir puts it
server= proxy=
trap 'kill $server $proxy 2>/dev/null; rm -rf "$work" "$live"' EXIT

bureau=${1:-}
if [ -z "$bureau" ]; then
	bureau="$work/bureau"
	go build -o "$bureau" ./cmd/bureau
fi

mkdir "$work/home" "$work/npm"
echo '{"private":true}' >"$work/npm/package.json"
npm install --prefix "$work/npm" --no-fund --no-audit --loglevel=error node@22 @modelcontextprotocol/conformance@0.2.0-alpha.12 >&2 ||
	fail "npm could not install node@22 and the suite"
PATH="$work/npm/node_modules/node/bin:$PATH"
export HOME="$work/home" BUREAU_HOME="$work/office"

# begun FILE PID waits for the first line that a server prints.
begun() {
	while ! [ -s "$1" ]; do
		kill -0 "$2" 2>/dev/null || fail "$1: the server has ended"
		sleep 0.1
	done
}

token=$("$bureau" token new suite 2>/dev/null)
"$bureau" serve --listen 127.0.0.1:0 >"$work/serving" 2>/dev/null &
server=$!
begun "$work/serving" "$server"
cat >"$work/proxy.mjs" <<'EOF'
import http from "node:http";
const target = new URL(process.argv[2]);
http.createServer((req, res) => {
	const headers = { ...req.headers, authorization: `Bearer ${process.env.TOKEN}` };
	const out = http.request({ host: target.hostname, port: target.port, path: target.pathname, method: req.method, headers }, (r) => {
		res.writeHead(r.statusCode, r.headers);
		r.pipe(res);
	});
	out.on("error", () => res.destroy());
	res.on("close", () => out.destroy());
	req.pipe(out);
}).listen(0, "127.0.0.1", function () { console.log(`http://127.0.0.1:${this.address().port}${target.pathname}`); });
EOF
TOKEN="$token" node "$work/proxy.mjs" "$(sed -n 's/^serving //p' "$work/serving")" >"$work/proxy" &
proxy=$!
begun "$work/proxy" "$proxy"

# check REVISION SCENARIO…
check() {
	revision=$1
	shift
	for scenario; do
		timeout 60 "$work/npm/node_modules/.bin/conformance" server --url "$(cat "$work/proxy")" --spec-version "$revision" --scenario "$scenario" \
			-o "$work/out" >"$work/log" 2>&1 </dev/null || {
			cat "$work/log"
			fail "$scenario ($revision)"
		}
		grep -q 'Passed: [1-9]\|[1-9][0-9]* passed\|Passed.*[1-9]' "$work/log" || {
			cat "$work/log"
			fail "$scenario ($revision) checked nothing"
		}
		echo "$revision $scenario"
	done
}

check 2025-11-25 server-initialize server-session-lifecycle ping logging-set-level tools-list server-sse-multiple-streams \
	resources-list prompts-list dns-rebinding-protection
check 2026-07-28 tools-list server-sse-multiple-streams resources-list sep-2164-resource-not-found prompts-list \
	dns-rebinding-protection caching http-header-validation \
	input-required-result-missing-input-response input-required-result-unsupported-methods \
	input-required-result-ignore-extra-params input-required-result-validate-input
echo "conformance: all passed"
