#!/bin/sh
# Runs the official MCP inspector against `bureau mcp`: in both eras of the
# protocol it lists the tools of each toolset with its strict check of their
# schemas, and it calls every tool; then against `bureau serve`, over both HTTP
# transports. A finding, or a refusal where none is meant, fails.
#
#   internal/mcpserver/inspector.sh [BUREAU]
#
# BUREAU is the program; without it, it is built. The inspector needs Node 22,
# which npm brings along; everything lives in a temporary folder.
set -eu
cd "$(dirname "$0")/../.."

fail() {
	echo "inspector: $*" >&2
	exit 1
}
command -v npm >/dev/null 2>&1 || fail "npm is missing; the inspector and its Node come from there"

work=$(cd "$(mktemp -d)" && pwd -P)
office="$work/office"
live="/tmp/bureau-$(id -u)/$(printf %s "$office" | sha256sum | cut -c1-16)" # where package runtimedir puts it
trap 'rm -rf "$work" "$live"' EXIT

bureau=${1:-}
if [ -z "$bureau" ]; then
	bureau="$work/bureau"
	go build -o "$bureau" ./cmd/bureau
fi

mkdir "$work/home" "$work/npm"
echo '{"private":true}' >"$work/npm/package.json"
npm install --prefix "$work/npm" --no-fund --no-audit --loglevel=error node@22 @modelcontextprotocol/inspector@2.12.0 >&2 ||
	fail "npm could not install node@22 and the inspector"
PATH="$work/npm/node_modules/node/bin:$PATH"
case "$(node --version)" in
v22.*) ;;
*) fail "npm brought Node $(node --version), not 22" ;;
esac

# inspect NAME TOOLSET ARGUMENTS… is one run as the agent NAME.
# Each run is a process of its own; the metadata of a call says that it goes on
# with the same conversation, whose claims it holds.
inspect() {
	name=$1 tools=$2
	shift 2
	HOME="$work/home" timeout 60 "$work/npm/node_modules/.bin/mcp-inspector" --cli --quiet \
		-e "BUREAU_NAME=$name" -e "BUREAU_HOME=$office" "$@" "$bureau" mcp --tools "$tools"
}

list() {
	inspect lister "$2" --protocol-era "$1" --strict --method tools/list >"$work/list.json" 2>"$work/findings" || {
		cat "$work/list.json" "$work/findings"
		fail "tools/list of $2 ($1) has findings"
	}
	if grep -q 'Warning: tool\|Error: tool' "$work/list.json" "$work/findings"; then
		cat "$work/list.json" "$work/findings"
		fail "tools/list of $2 ($1) has findings"
	fi
	tr -d ' \n' <"$work/list.json" | grep -q '"name":"roster"\|"name":"claim"\|"name":"mclaude_lock_list"\|"name":"room"\|"name":"send_message"' || fail "tools/list of $2 ($1) lists nothing"
}

# call ERA NAME TOOLSET TOOL JSON calls a tool and leaves its result in result.json.
call() {
	echo "$1: $4 $5"
	inspect "$2" "$3" --protocol-era "$1" --format json --tool-metadata "agent-session-id=$2" --method tools/call --tool-name "$4" --tool-args-json "$5" >"$work/result.json" || {
		cat "$work/result.json"
		fail "$4 ($1) failed"
	}
	if grep -q '"isError": *true' "$work/result.json" || ! grep -q '"structuredContent"' "$work/result.json"; then
		cat "$work/result.json"
		fail "$4 ($1) refused"
	fi
}

# field NAME gives a field of the last result's structured content.
field() {
	node -e '
		const r = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"));
		const s = (r.result ?? r).structuredContent;
		console.log(process.argv[2].split(".").reduce((v, k) => v[k], s));
	' "$work/result.json" "$1"
}

want() {
	[ "$(field "$1")" = "$2" ] || fail "$1 is $(field "$1"), not $2"
}

for era in legacy modern; do
	for tools in all escritorio mclaude room multiagent; do
		list "$era" "$tools"
	done

	call "$era" bob all roster '{}'
	want you.name bob
	call "$era" ana all send "{\"to\":\"bob\",\"text\":\"hello in $era\"}"
	want state stored
	id=$(field id)
	call "$era" bob all inbox '{"wait_seconds":5}'
	want messages.0.id "$id"
	call "$era" bob all read_message "{\"ids\":[\"$id\"]}"
	want messages.0.body "hello in $era"
	call "$era" bob all inbox "{\"receipt\":\"$(field receipt)\"}"
	want unread 0
	call "$era" bob all thread "{\"thread\":\"$id\"}"
	want threads.0.owner ana
	call "$era" ana all board "{\"key\":\"era\",\"value\":\"$era\",\"office\":true}"
	call "$era" bob all board '{"key":"era","office":true}'
	want entries.0.value "$era"
	call "$era" ana all ask "{\"to\":\"bob\",\"text\":\"ready in $era?\",\"timeout_seconds\":1}"
	want status "nothing yet"
	question=$(field question)
	call "$era" bob all send "{\"answers\":\"$question\",\"text\":\"yes\"}"
	call "$era" ana all ask "{\"question\":\"$question\"}"
	want answer yes
	call "$era" ana all inbox "{\"receipt\":\"$(field receipt)\",\"show\":\"sent\"}"
	call "$era" ana all claim "{\"paths\":[\"src/$era\"],\"resources\":[\"deploy:$era\"],\"intent\":\"try it\",\"keep\":true}"
	want status claimed
	id=$(field claims.0.id)
	call "$era" bob all claim "{\"action\":\"who\",\"paths\":[\"src\"]}"
	want claims.0.holder ana
	call "$era" bob all claim "{\"resources\":[\"deploy:$era\"],\"intent\":\"try too\",\"wait_seconds\":1}"
	want status "nothing yet"
	want blocks.0.claim "$id"
	call "$era" bob all claim '{}'
	want claims.0.id "$id"
	call "$era" ana all claim "{\"action\":\"release\",\"ids\":[\"$id\"],\"text\":\"tried\"}"
	want status released
	lock="lock-$era"
	call "$era" ana mclaude mclaude_lock_claim "{\"slug\":\"$lock\",\"description\":\"try it\",\"files\":[\"src/$era\"],\"session\":\"s\"}"
	want success true
	call "$era" bob mclaude mclaude_lock_claim "{\"slug\":\"$lock\",\"description\":\"try too\"}"
	want holder ana
	call "$era" bob mclaude mclaude_lock_status "{\"slug\":\"$lock\"}"
	want status STALE # the process of its run has ended
	call "$era" bob mclaude mclaude_lock_list '{}'
	want count 1
	call "$era" ana mclaude mclaude_lock_heartbeat "{\"slug\":\"$lock\",\"session\":\"s\"}"
	want success true
	call "$era" ana mclaude mclaude_lock_release "{\"slug\":\"$lock\",\"summary\":\"tried\",\"session\":\"s\"}"
	want success true
	call "$era" ana mclaude mclaude_lock_claim "{\"slug\":\"$lock\",\"description\":\"left behind\"}"
	call "$era" bob mclaude mclaude_lock_force_release "{\"slug\":\"$lock\",\"reason\":\"its process is gone\"}"
	want success true

	# Each run is a process of its own, so the others are gone in between; the
	# person is always there.
	room="room-$era"
	call "$era" ana room room_open "{\"name\":\"$room\",\"topic\":\"try it\",\"barrier\":\"1\",\"floor\":\"open\",\"admission\":\"anyone\"}"
	want room.you ana
	call "$era" bob room room_join "{\"room\":\"$room\"}"
	want status joined
	call "$era" bob room room_say "{\"room\":\"$room\",\"text\":\"@user hello in $era\"}"
	want sent.to.0 user
	call "$era" bob room room_whisper "{\"room\":\"$room\",\"to\":[\"user\"],\"text\":\"psst\"}"
	want sent.private true
	call "$era" ana room room_wait "{\"room\":\"$room\",\"wait_seconds\":0}"
	call "$era" ana room room_vote "{\"room\":\"$room\",\"propose\":\"go on?\"}"
	want sent.proposal 1
	call "$era" ana room room "{\"room\":\"$room\",\"last\":3}"
	call "$era" ana room room_do "{\"room\":\"$room\",\"action\":\"close\",\"text\":\"tried\"}"
	want status closed

	talk=conversation # one without a file
	call "$era" ana multiagent init_conversation "{\"filepath\":\"\",\"participants\":[\"@Ana\",\"@user\"],\"column\":\"description\"}"
	want conversation "$talk"
	call "$era" ana multiagent join_conversation '{"handle":"@Ana","timeout_seconds":1}'
	want status timeout
	call "$era" ana multiagent send_message '{"sender":"@Ana","content":"@user hello","block":false,"private":null}'
	want status sent
	call "$era" ana multiagent broadcast_message '{"sender":"@Ana","content":"hello","block":false}'
	want sent.recipients.0 @user
	call "$era" ana multiagent whisper_message '{"sender":"@Ana","target":"@user","content":"psst","block":false}'
	want sent.is_private true
	call "$era" ana multiagent list_participants '{}'
	want participants.0.handle @Ana
	call "$era" ana multiagent wait_for_turn '{"handle":"@Ana","timeout_seconds":0}'
	call "$era" ana multiagent wait_for_message '{"handle":"@Ana","timeout_seconds":0}'
	HOME="$work/home" BUREAU_HOME="$office" "$bureau" room close "$talk" >/dev/null
done

call legacy bob escritorio roster '{}'
call legacy ana escritorio dm '{"para":"bob","mensagem":"olá"}'
thread=$(field threadId)
call legacy bob escritorio inbox '{}'
want mensagens.0.conteudo olá
call legacy ana escritorio board '{"chave":"k","valor":"v"}'
call legacy bob escritorio board '{"chave":"k"}'
want entradas.0.autor ana
call legacy ana escritorio claim '{"recurso":"banco de dados","intencao":"migrar"}'
want ok true
id=$(field claimId)
call legacy bob escritorio claim '{"recurso":"banco de dados","intencao":"ler"}'
want conflito.dono ana
call legacy ana escritorio claim "{\"claim_id\":\"$id\"}"
call legacy ana escritorio fechar_thread "{\"thread\":\"$thread\"}"
# The same over HTTP, with a token.
token=$(HOME="$work/home" BUREAU_HOME="$office" "$bureau" token new web 2>/dev/null)
HOME="$work/home" BUREAU_HOME="$office" "$bureau" serve --listen 127.0.0.1:0 --tools all,room,multiagent,mclaude >"$work/serving" 2>/dev/null &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$work" "$live"' EXIT
while ! grep -q '^serving' "$work/serving"; do
	kill -0 $server || fail "bureau serve has ended"
	sleep 0.1
done
url=$(sed -n 's/^serving //p' "$work/serving")
web() {
	HOME="$work/home" timeout 60 "$work/npm/node_modules/.bin/mcp-inspector" --cli --quiet "$@" >"$work/result.json" || {
		cat "$work/result.json"
		fail "over HTTP: $*"
	}
}
for era in legacy modern; do
	web --transport http --server-url "$url" --header "Authorization: Bearer $token" --protocol-era "$era" --strict --method tools/list
	web --transport http --server-url "$url" --header "Authorization: Bearer $token" --protocol-era "$era" --format json --method tools/call --tool-name roster --tool-args-json '{}'
	want you.name web
done
web --transport sse --server-url "${url%/mcp}/sse" --header "Authorization: Bearer $token" --protocol-era legacy --format json --method tools/call --tool-name roster --tool-args-json '{}'
want you.name web
echo "inspector: no findings"
