package mcpserver

import "strings"

// hintWords turn the commands that the office's hints name into tools. The
// longer ones come first.
var hintWords = strings.NewReplacer(
	"bureau agents lists everyone", "roster lists everyone",
	"bureau agents lists who is there", "roster lists who is there",
	"bureau send NAME TEXT; bureau agents lists everyone", "to=NAME; roster lists everyone",
	"bureau send NAME TEXT", "send with to=NAME",
	"bureau send --thread ", "send with thread=",
	"bureau ask --question ", "ask with question=",
	"bureau answer QUESTION TEXT; or --kind note", "send with answers=QUESTION; or kind=note",
	"bureau answer ", "send with answers=",
	"bureau inbox --all", "inbox with show=all",
	"bureau inbox --wait 5m", "inbox with wait_seconds",
	"bureau inbox", "inbox",
	"bureau thread list", "thread with action=list",
	"bureau thread show ", "thread with thread=",
	"bureau thread open --with NAME SUBJECT", "thread with action=open, with=NAME and a subject",
	"bureau thread grant THREAD ", "thread with action=grant and hops=",
	"bureau thread add ", "thread with action=add: ",
	"bureau board list", "board without a key",
	"bureau board get", "board with the key",
	"bureau lock list", "mclaude_lock_list",
	"bureau lock force-release ", "mclaude_lock_force_release with slug=",
	"bureau claims --history", "claim with action=history",
	"give both: bureau claims give ", "give both in one call, by ids and then agent: ",
	"bureau claims", "claim with action=list",
	"bureau takeover --help", "claim with action=takeover",
	"bureau takeover ", "claim with action=takeover and ids=",
	"bureau release ", "claim with action=release and ids=",
	"bureau claim src/parser, bureau claim --resource port:8080", "paths=[src/parser], resources=[port:8080]",
	"bureau claim … --wait 10m", "claim with wait_seconds",
	"bureau claim ", "claim with paths=",
	"bureau who ", "claim with action=who and paths=",
	"bureau ask ", "ask with to=",
	"bureau send ", "send with to=",
	"; go to the other project's folder, or say --project DIR", "; give absolute paths for another",
	"--reason TEXT", "and a reason in text",
	"--intent TEXT", "and an intent",
	"--intent", "intent", "--wait 10m", "wait_seconds", "--keep", "keep",
	" TEXT", " and a text",
	"--thread", "thread", "--kind", "kind", "--if-live", "if_live", "--attach", "a file",
)

// toolHint gives a hint of the office in the words of the tools. What only the
// person does in a terminal, or a tool has no word for, stays a command.
func toolHint(s string) string {
	if strings.Contains(s, "--break") || strings.Contains(s, "--only") {
		return s
	}
	return hintWords.Replace(s)
}
