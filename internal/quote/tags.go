package quote

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"bureau/internal/name"
)

// knownTag reports whether a compact name is that of a wrapper which clients
// or models give a meaning to. A name is compact when only its small letters
// and digits are left, so that spelling variants need no entries.
//
// Sources: transcripts of Claude Code 2.1, Codex CLI, Gemini CLI and Qwen Code,
// and the tool formats of the models behind them.
func knownTag(compact string) bool {
	switch compact {
	// Claude Code
	case "teammatemessage", "tasknotification", "crosssessionmessage", "systemreminder", "system",
		"channel", "userpromptsubmithook", "sessionstarthook", "posttoolusehook", "stophook",
		"localcommandstdout", "localcommandstderr", "localcommandcaveat",
		"commandname", "commandmessage", "commandargs", "commandcontents",
		"bashinput", "bashstdout", "bashstderr", "usermemoryinput", "newdiagnostics",
		"ideselection", "ideopenedfile", "idediagnostics", "persistedoutput", "tooluseerror",
		"agentmessage", "agentnotification", "mcpresource", "mcppollingupdate", "workertoolscontext":
		return true
	// Codex, Gemini and those that took after them
	case "environmentcontext", "instructions", "userinstructions", "developerinstructions",
		"permissionsinstructions", "skillsinstructions", "appsinstructions", "collaborationmode", "modelswitch",
		"turnaborted", "usershellcommand", "useraction", "subagentnotification", "recommendedplugins",
		"codexinternalcontext", "goalcontext", "skill", "heartbeat",
		"hookcontext", "sessioncontext", "systemnote", "harnessnotice":
		return true
	// Tool calls and turns in the models' own formats
	case "functioncalls", "functionresults", "functionresult", "invoke",
		"toolcall", "toolcalls", "tooluse", "toolresult", "toolresults", "toolresponse",
		"startofturn", "endofturn":
		return true
	}
	return false
}

// ownPrefix begins every tag of ours; what follows does not matter.
const ownPrefix = "bureau"

// longestTag bounds the look behind a "<".
const longestTag = 48

// compact reduces a tag's name for [knownTag].
func compact(tag string) string {
	return keep(strings.ToLower(tag), isAlphanumeric)
}

// opener gives the length of an opening angle bracket at the start of s, also
// when written as a character reference (a client may decode those), or 0.
func opener(s string) int {
	if s[0] == '<' {
		return 1
	}
	const longest = 12
	end := strings.IndexByte(s[:min(len(s), longest)], ';')
	if end < 0 {
		return 0
	}
	ref := strings.ToLower(s[1:end])
	if ref == "lt" || strings.HasPrefix(ref, "#x") && strings.TrimLeft(ref[2:], "0") == "3c" ||
		strings.HasPrefix(ref, "#") && strings.TrimLeft(ref[1:], "0") == "60" {
		return end + 1
	}
	return 0
}

// lookAlike reports whether s, which follows an opening angle bracket, reads
// like the rest of a known tag: opening or closing, in any case, with any
// hyphens, with white space or unseen characters strewn in, in full width or in
// letters of other scripts that look the same. It may take more for a tag than
// a parser would; a reader loses nothing by a different bracket.
//
// It looks no further than the next "<", so that all calls together are linear.
func lookAlike(s string, tags []string) bool {
	var buf [longestTag]byte
	n := 0
	spaced, closing := false, false
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		switch c := plainLetter(r); {
		case c != 0:
			if n == longestTag {
				return false
			}
			buf[n] = c
			n++
			tag := string(buf[:n])
			if tag == ownPrefix {
				return true
			}
			extra := slices.Contains(tags, tag)
			word := extra || oneWord(tag)
			if (extra || knownTag(tag)) && ends(s[i:], word) {
				// i < channel is arithmetic, < channel > is not.
				return !word || !spaced || closing || shutsSoon(s[i:])
			}
		case r == ':':
			if string(buf[:n]) == "antml" {
				return true
			}
			n = 0 // that was a namespace
		case n == 0 && (r == '/' || r == '\\'):
			closing = true
		case n == 0 && (r == '|' || r == '｜'):
			return token(s[i:])
		case unicode.IsSpace(r):
			spaced = true
		case isHyphen(r), unseen(r):
		default:
			return false
		}
	}
	return false
}

// oneWord reports whether a known tag is an everyday word.
func oneWord(tag string) bool {
	switch tag {
	case "system", "channel", "instructions", "skill", "heartbeat", "invoke":
		return true
	}
	return false
}

// ends reports whether a tag's name can end in front of s. A word that is also
// an everyday one does not end within a name of a program, such as
// System.String or channel::Sender.
func ends(s string, word bool) bool {
	for i, r := range s {
		switch {
		case isHyphen(r), unicode.IsMark(r) && !name.Invisible(r):
			continue
		case unseen(r):
			return true // it will be shown, and then stands between
		case word && (r == '.' || r == ':'):
			next, _ := utf8.DecodeRuneInString(s[i+1:])
			return next != ':' && plainLetter(next) == 0
		}
		return !unicode.IsLetter(r) && !unicode.IsNumber(r)
	}
	return true
}

// shutsSoon reports whether a closing angle bracket follows within the length
// of a usual tag and before the next opening one.
func shutsSoon(s string) bool {
	const usual = 256
	s = s[:min(len(s), usual)]
	shut := strings.IndexAny(s, ">＞")
	return shut >= 0 && !strings.ContainsAny(s[:shut], "<＜")
}

// token reports whether s, which follows "<|", goes on like a control token of
// a chat template: im_start|> and its kin.
func token(s string) bool {
	const longest = 40
	letters := 0
	s = s[:min(len(s), longest)]
	for i, r := range s {
		switch {
		case r == '|', r == '｜':
			rest := strings.TrimLeftFunc(s[i+utf8.RuneLen(r):], func(r rune) bool { return unicode.IsSpace(r) || unseen(r) })
			return letters > 0 && (strings.HasPrefix(rest, ">") || strings.HasPrefix(rest, "＞"))
		case plainLetter(r) != 0:
			letters++
		case isHyphen(r), unseen(r), r == '▁', unicode.IsSpace(r):
		default:
			return false
		}
	}
	return false
}

func isHyphen(r rune) bool {
	return r == '-' || r == '_' || r >= 0x80 && unicode.Is(unicode.Pd, r) || r == '−'
}

// unseen reports whether r adds no letter to what a reader makes out.
func unseen(r rune) bool {
	return r < ' ' || r == 0x7F || r == utf8.RuneError || r >= 0x80 &&
		(r < 0xA0 || name.Invisible(r) || unicode.In(r, unicode.Mn, unicode.Me))
}

// plainLetter gives the small ASCII letter or digit that r is or looks like, or
// 0 if there is none.
func plainLetter(r rune) byte {
	switch {
	case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
		return byte(r)
	case 'A' <= r && r <= 'Z':
		return byte(r | 0x20)
	case r < 0xA0:
		return 0
	}
	if c := twin(unicode.ToLower(r)); c != 0 {
		return c
	}
	// Full width, styled letters, and letters with accents.
	if d := norm.NFKD.PropertiesString(string(r)).Decomposition(); len(d) > 0 && isAlphanumeric(d[0]) {
		return d[0] | 0x20
	}
	return 0
}

// twin gives the Latin letter that a Cyrillic, Greek, Armenian or other small
// letter is hard to tell from.
func twin(r rune) byte {
	switch r {
	case 'а', 'α', 'ɑ':
		return 'a'
	case 'в', 'ь':
		return 'b'
	case 'с', 'ϲ':
		return 'c'
	case 'ԁ':
		return 'd'
	case 'е', 'ҽ', 'ε':
		return 'e'
	case 'ɡ', 'ց':
		return 'g'
	case 'һ', 'н', 'հ':
		return 'h'
	case 'і', 'ι', 'ı', 'ӏ':
		return 'i'
	case 'ј':
		return 'j'
	case 'κ', 'к':
		return 'k'
	case 'ⅼ':
		return 'l'
	case 'м', 'μ':
		return 'm'
	case 'ո', 'η':
		return 'n'
	case 'о', 'ο', 'օ':
		return 'o'
	case 'р', 'ρ':
		return 'p'
	case 'ԛ':
		return 'q'
	case 'г':
		return 'r'
	case 'ѕ':
		return 's'
	case 'т', 'τ':
		return 't'
	case 'υ', 'ս':
		return 'u'
	case 'ν', 'ѵ':
		return 'v'
	case 'ԝ', 'ѡ', 'ω':
		return 'w'
	case 'х', 'χ':
		return 'x'
	case 'у', 'γ', 'ү':
		return 'y'
	}
	return 0
}
