package mcpserver

import (
	"regexp"
	"slices"
	"strings"
)

// hintWord turns what a hint of the office says for the command line into a tool,
// where that is offered; elsewhere the command stays as it is.
type hintWord struct{ command, words, tool string }

// hintWords are those of the toolsets mail, claims, board and mclaude. The longer
// ones come first.
var hintWords = []hintWord{
	{"bureau agents lists everyone", "roster lists everyone", "roster"},
	{"bureau agents lists who is there", "roster lists who is there", "roster"},
	{"bureau send NAME TEXT; bureau agents lists everyone", "to=NAME; roster lists everyone", "send"},
	{"bureau send NAME TEXT", "send with to=NAME", "send"},
	{"bureau send --thread ", "send with thread=", "send"},
	{"bureau ask --question ", "ask with question=", "ask"},
	{"bureau answer QUESTION TEXT; or --kind note", "send with answers=QUESTION; or kind=note", "send"},
	{"bureau answer ", "send with answers=", "send"},
	{"bureau inbox --all", "inbox with show=all", "inbox"},
	{"bureau inbox --wait 5m", "inbox with wait_seconds", "inbox"},
	{"bureau inbox", "inbox", "inbox"},
	{"bureau thread list", "thread with action=list", "thread"},
	{"bureau thread show ", "thread with thread=", "thread"},
	{"bureau thread open --with NAME SUBJECT", "thread with action=open, with=NAME and a subject", "thread"},
	{"bureau board list", "board without a key", "board"},
	{"bureau board get", "board with the key", "board"},
	{"bureau lock list", "mclaude_lock_list", "mclaude_lock_list"},
	{"bureau lock force-release ", "mclaude_lock_force_release with slug=", "mclaude_lock_force_release"},
	{"bureau claims --history", "claim with action=history", "claim"},
	{"give both: bureau claims give ", "give both in one call, by ids and then agent: ", "claim"},
	{"bureau claims", "claim with action=list", "claim"},
	{"bureau takeover --help", "claim with action=takeover", "claim"},
	{"bureau takeover ", "claim with action=takeover and ids=", "claim"},
	{"bureau release ", "claim with action=release and ids=", "claim"},
	{"bureau claim src/parser, bureau claim --resource port:8080", "paths=[src/parser], resources=[port:8080]", "claim"},
	{"bureau claim … --wait 10m", "claim with wait_seconds", "claim"},
	{"bureau claim ", "claim with paths=", "claim"},
	{"bureau who ", "claim with action=who and paths=", "claim"},
	{"bureau ask ", "ask with to=", "ask"},
	{"bureau send ", "send with to=", "send"},
	{"; go to the other project's folder, or say --project DIR", "; give absolute paths for another", "claim"},
	{"--reason TEXT", "and a reason in text", "claim"},
	{"--intent TEXT", "and an intent", "claim"},
	{"--intent", "intent", "claim"}, {"--wait 10m", "wait_seconds", "claim"}, {"--keep", "keep", "claim"},
	{"give a text, - for standard input, or --file", "give a text", "send"},
	{" TEXT", " and a text", "send"},
	{"--thread", "thread", "send"}, {"--kind note", "kind=note", "send"}, {"--kind", "kind", "send"},
	{"--if-live", "if_live", "ask"}, {"--attach", "a file", "send"},
}

// oldHintWords are those of the toolset escritorio. What none of its tools does
// (thread rights, lists of claims, taking over) stays a command.
var oldHintWords = []hintWord{
	{"bureau agents lists everyone", "roster lists everyone", "roster"},
	{"bureau agents lists who is there", "roster lists who is there", "roster"},
	{"bureau send NAME TEXT; bureau agents lists everyone", "para=NAME; roster lists everyone", "dm"},
	{"bureau send NAME TEXT", "dm with para=NAME", "dm"},
	{"bureau send --thread ", "dm with thread=", "dm"},
	{"bureau ask --question ", "ask with the same pergunta; its id is ", "ask"},
	{"bureau answer QUESTION TEXT; or --kind note", "dm with responde_a=QUESTION", "dm"},
	{"bureau answer ", "dm with responde_a=", "dm"},
	{"bureau inbox --all", "inbox", "inbox"}, {"bureau inbox --wait 5m", "inbox", "inbox"}, {"bureau inbox", "inbox", "inbox"},
	{"bureau thread list", "inbox", "inbox"},
	{"bureau board list", "board with chave=*", "board"},
	{"bureau board get", "board with the chave", "board"},
	{"bureau release ", "claim with claim_id=", "claim"},
	{"bureau claim src/parser, bureau claim --resource port:8080", "recurso=src/parser, recurso=port:8080", "claim"},
	{"bureau claim … --wait 10m", "", ""},
	{"bureau claims", "", ""},
	{"bureau claim ", "claim with recurso=", "claim"},
	{"--intent TEXT", "and an intencao", "claim"},
	{"--intent", "intencao", "claim"},
	{"bureau takeover ", "", ""}, {"--reason TEXT", "", ""},
	{"bureau ask ", "ask with para=", "ask"},
	{"bureau send ", "dm with para=", "dm"},
	{"give a text, - for standard input, or --file", "give a text", "dm"},
	{"attach it as a file (--attach), or put it", "put it", "dm"},
	{" TEXT", " and a text", "dm"},
}

// grantWords and addWords are commands whose words change places.
var (
	grantWords = regexp.MustCompile(`bureau thread grant (\S+) (\d+)`)
	addWords   = regexp.MustCompile(`bureau thread add (\S+) (\S+)`)
)

// toolHint gives a hint of the office in the words of the tools that the server
// offers. What only the person does in a terminal, or a tool has no word for, stays
// a command.
func (s *server) toolHint(hint string) string {
	if hint == "" || strings.Contains(hint, "--break") || strings.Contains(hint, "--only") {
		return hint
	}
	words := hintWords
	if slices.Contains(s.sets, setEscritorio) {
		words = oldHintWords
	}
	offers := func(tool string) bool { return s.takes[tool] != nil }
	if offers("thread") {
		hint = grantWords.ReplaceAllString(hint, "thread with thread=$1, action=grant and hops=$2")
		hint = addWords.ReplaceAllString(hint, "thread with thread=$1, action=add and with=$2")
	}
	pairs := make([]string, 0, 2*len(words))
	for _, w := range words {
		if !offers(w.tool) {
			w.words = w.command // and so nothing in it is taken for another
		}
		pairs = append(pairs, w.command, w.words)
	}
	return strings.NewReplacer(pairs...).Replace(hint)
}
