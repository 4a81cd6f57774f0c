package quote

import "strings"

// Shell quotes a word for a POSIX shell, where it has to be, so that a command
// that is offered to somebody can be run as it stands.
func Shell(word string) string {
	if word != "" && strings.IndexFunc(word, special) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func special(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-/:@+,", r))
}
