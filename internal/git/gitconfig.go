package git

import (
	"io"
	"os"
	"path/filepath"
	"strings"
)

// setting is one line of a configuration file of git.
type setting struct {
	section, key string // in small letters
	sub          string // the subsection, as it is written
	value        string
}

// maxConfig bounds what is read of a configuration file, in bytes.
const maxConfig = 1 << 20

// configOf is the configuration that all work trees of a repository share.
func configOf(common string) string { return filepath.Join(common, "config") }

// readConfig reads a configuration file of git (git-config(1)) without running
// git; includes are not followed. It gives what it can read: nothing of a file
// that is not there, and all before a line that is none.
func readConfig(path string) []setting {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return nil
	}
	content, _ := io.ReadAll(io.LimitReader(f, maxConfig))
	return parseConfig(string(content))
}

func parseConfig(text string) (list []setting) {
	r := configReader{rest: strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "\ufeff")}
	var at setting
	for r.space(" \t\n"); r.rest != ""; r.space(" \t\n") {
		ok := true
		switch c := r.rest[0]; {
		case c == '#' || c == ';':
			r.comment()
		case c == '[':
			at.section, at.sub, ok = r.header()
		default:
			at.key, at.value, ok = r.line()
			if ok = ok && at.section != ""; ok {
				list = append(list, at)
			}
		}
		if !ok {
			return list
		}
	}
	return list
}

// lastOf gives the value that counts of a setting without a subsection, and
// where it stands; -1 if it does not.
func lastOf(list []setting, section, key string) (value string, at int) {
	at = -1
	for i, s := range list {
		if s.section == section && s.sub == "" && s.key == key {
			value, at = s.value, i
		}
	}
	return value, at
}

type configReader struct{ rest string }

func (r *configReader) space(cut string) { r.rest = strings.TrimLeft(r.rest, cut) }

func (r *configReader) comment() {
	_, r.rest, _ = strings.Cut(r.rest, "\n")
}

// word takes a name of letters, digits and what else is in more.
func (r *configReader) word(more string) string {
	n := 0
	for n < len(r.rest) {
		c := r.rest[n] | 0x20
		if (c < 'a' || c > 'z') && (r.rest[n] < '0' || r.rest[n] > '9') && strings.IndexByte(more, r.rest[n]) < 0 {
			break
		}
		n++
	}
	word := r.rest[:n]
	r.rest = r.rest[n:]
	return strings.ToLower(word)
}

// header reads [section "subsection"], or [section.subsection].
func (r *configReader) header() (section, sub string, ok bool) {
	r.rest = r.rest[1:]
	section, sub, _ = strings.Cut(r.word("-."), ".")
	r.space(" \t")
	if strings.HasPrefix(r.rest, `"`) {
		var b strings.Builder
		at := 1
		for ; at < len(r.rest) && r.rest[at] != '"'; at++ {
			if r.rest[at] == '\\' {
				at++
			}
			if at == len(r.rest) || r.rest[at] == '\n' {
				return "", "", false
			}
			b.WriteByte(r.rest[at])
		}
		if at == len(r.rest) {
			return "", "", false
		}
		sub, r.rest = b.String(), r.rest[at+1:]
	}
	if !strings.HasPrefix(r.rest, "]") || section == "" {
		return "", "", false
	}
	r.rest = r.rest[1:]
	return section, sub, true
}

// line reads "key = value", or a key alone, which stands for true.
func (r *configReader) line() (key, value string, ok bool) {
	key = r.word("-")
	r.space(" \t")
	switch {
	case key == "":
		return "", "", false
	case r.rest == "" || strings.IndexByte("\n#;", r.rest[0]) >= 0:
		r.comment()
		return key, "true", true
	case r.rest[0] != '=':
		return "", "", false
	}
	r.rest = r.rest[1:]
	r.space(" \t")
	var b strings.Builder
	quoted, end := false, 0 // end: what is before it is no space at the end
	for at := 0; at < len(r.rest); at++ {
		c := r.rest[at]
		switch {
		case c == '\n' && quoted:
			return "", "", false
		case c == '\n', !quoted && (c == '#' || c == ';'):
			r.rest = r.rest[at:]
			r.comment()
			return key, b.String()[:end], true
		case c == '"':
			quoted = !quoted
			end = b.Len()
			continue
		case !quoted && (c == ' ' || c == '\t') && b.Len() == 0:
			continue
		case c == '\\':
			end = b.Len() // what stands before it is part of the value
			if at++; at == len(r.rest) {
				continue // as before the end of a line
			}
			switch c = r.rest[at]; c {
			case '\n':
				continue
			case 'n':
				c = '\n'
			case 't':
				c = '\t'
			case 'b':
				c = '\b'
			case '"', '\\':
			default:
				return "", "", false
			}
			b.WriteByte(c)
			end = b.Len()
			continue
		}
		b.WriteByte(c)
		if quoted || c != ' ' && c != '\t' {
			end = b.Len()
		}
	}
	r.rest = ""
	return key, b.String()[:end], !quoted
}
