package hook

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// JSON is taken apart here without decoding it, for what runs on every tool call.

// valueEnd gives the index behind the value that begins at i.
func valueEnd(obj []byte, i int) int {
	if i < len(obj) && obj[i] == '"' {
		return stringEnd(obj, i)
	}
	for depth := 0; i < len(obj); i++ {
		switch obj[i] {
		case '"':
			i = stringEnd(obj, i) - 1
		case '{', '[':
			depth++
		case '}', ']', ',':
			if depth == 0 {
				return i // of the object around a number or a word
			}
			if obj[i] != ',' {
				depth--
			}
			if depth == 0 {
				return i + 1
			}
		}
	}
	return len(obj)
}

// stringEnd gives the index behind the string that begins at i.
func stringEnd(obj []byte, i int) int {
	begin := i + 1
	for i = begin; ; {
		quote := bytes.IndexByte(obj[i:], '"')
		if quote < 0 {
			return len(obj)
		}
		if i += quote; !escaped(obj[begin:i]) {
			return i + 1
		}
		i++
	}
}

// escaped reports whether what follows a part of a string is escaped: it ends
// in an odd number of backslashes.
func escaped(part []byte) bool {
	n := len(part) - len(bytes.TrimRight(part, `\`))
	return n%2 == 1
}

// members gives the fields of an object as they stand, nil for what is none.
// Of fields of one name the last one counts.
func members(obj []byte) map[string]json.RawMessage {
	i := skipSpace(obj, 0)
	if i >= len(obj) || obj[i] != '{' {
		return nil
	}
	out := map[string]json.RawMessage{}
	for i++; ; {
		if i = skipSpace(obj, i); i >= len(obj) || obj[i] != '"' {
			return out
		}
		end := stringEnd(obj, i)
		key := unquote(obj[i:end])
		if i = skipSpace(obj, end); i >= len(obj) || obj[i] != ':' {
			return out
		}
		begin := skipSpace(obj, i+1)
		i = valueEnd(obj, begin)
		out[key] = bytes.TrimRight(obj[begin:i], " \t\r\n")
		if i = skipSpace(obj, i); i >= len(obj) || obj[i] != ',' {
			return out
		}
		i++
	}
}

// elements gives what a list holds, as it stands.
func elements(list []byte) (out [][]byte) {
	i := skipSpace(list, 0)
	if i >= len(list) || list[i] != '[' {
		return nil
	}
	for i++; ; i++ {
		begin := skipSpace(list, i)
		i = valueEnd(list, begin)
		if one := bytes.TrimRight(list[begin:i], " \t\r\n"); len(one) > 0 {
			out = append(out, one)
		}
		if i = skipSpace(list, i); i >= len(list) || list[i] != ',' {
			return out
		}
	}
}

func skipSpace(obj []byte, i int) int {
	for i < len(obj) && (obj[i] == ' ' || obj[i] == '\t' || obj[i] == '\r' || obj[i] == '\n') {
		i++
	}
	return i
}

// unquote gives what a string means, "" for what is none.
func unquote(quoted []byte) string {
	s, _ := text(quoted)
	return s
}

// text gives what a string means; ok is false for what is none. It is what
// json.Unmarshal makes of it, which a short run does not load for plain ones.
func text(quoted []byte) (s string, ok bool) {
	last := len(quoted) - 1
	if last < 1 || quoted[0] != '"' || quoted[last] != '"' {
		return "", false
	}
	inner := quoted[1:last]
	if !slices.ContainsFunc(inner, func(c byte) bool { return c == '\\' || c == '"' || c < ' ' }) && utf8.Valid(inner) {
		return string(inner), true
	}
	err := json.Unmarshal(quoted, &s)
	return s, err == nil
}
