package name

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxFileName is the longest result of [FileName], in bytes. File systems
// allow 255; the rest is for an extension and for the prefix and digits of a
// temporary name.
const MaxFileName = 224

// FileName encodes any string as one path component: the only way from a name
// (or any other text) to a file name. The result is never empty, at most
// [MaxFileName] bytes, and safe on every file system in use: no separator, no
// control character, no leading dot or dash, no trailing dot or space, no
// device name of Windows (CON, NUL, COM1, also before an extension).
//
// Different strings give names that stay different on file systems that
// ignore case or normalise Unicode, because the result is its own [Fold].
// Small letters, digits, . _ - @ and letters of other scripts stand for
// themselves, +x is a capital X, %hh any other byte, % alone the empty string.
//
// [FromFileName] gives the string back, except for strings whose encoding
// would be longer than [MaxFileName]: those keep a readable head and end in
// %- and 32 hexadecimal digits of their SHA-256, so that they still differ
// from each other and from everything else.
func FileName(n string) string {
	if n == "" {
		return "%"
	}
	enc := encode(n, true)
	if string(Fold(enc)) != enc {
		// Characters that were stable one by one and are not together.
		enc = encode(n, false)
	}
	if len(enc) <= MaxFileName {
		return enc
	}
	sum := sha256.Sum256([]byte(n))
	tail := "%-" + hex.EncodeToString(sum[:16])
	return headOf(enc, MaxFileName-len(tail)) + tail
}

// FromFileName decodes what [FileName] made. It reports false for anything
// that FileName never returns, shortened names among them. A form that a file
// system has decomposed (NFD) is understood.
func FromFileName(f string) (string, bool) {
	if len(f) > 3*MaxFileName {
		return "", false
	}
	f = norm.NFC.String(f)
	n, ok := decode(f)
	if !ok || FileName(n) != f {
		return "", false
	}
	return n, true
}

// encode does the work of FileName, without a bound. Without wide, everything
// beyond ASCII becomes %hh.
func encode(n string, wide bool) string {
	var b strings.Builder
	b.Grow(len(n) + 16)
	letter := false // the last character stands for itself and can bear a mark
	for i := 0; i < len(n); {
		size := 1
		// A mark behind an ASCII letter belongs to it: é in two characters.
		if n[i] >= utf8.RuneSelf || i+1 < len(n) && n[i+1] >= utf8.RuneSelf {
			size = segment(n[i:])
		}
		if size == 1 && n[i] < utf8.RuneSelf {
			letter = encodeASCII(&b, n[i], i == 0, i == len(n)-1)
		} else {
			letter = encodeSegment(&b, n[i:i+size], wide, letter)
		}
		i += size
	}
	enc := b.String()
	if device(enc) {
		return "%" + hex.EncodeToString([]byte{enc[0]}) + enc[1:]
	}
	return enc
}

func encodeASCII(b *strings.Builder, c byte, first, last bool) (letter bool) {
	switch {
	case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		b.WriteByte(c)
		return true
	case c == '_', c == '@', c == '-' && !first, c == '.' && !first && !last:
		b.WriteByte(c)
	case 'A' <= c && c <= 'Z':
		b.WriteByte('+')
		b.WriteByte(c - 'A' + 'a')
		return true
	default:
		percent(b, string([]byte{c}))
	}
	return false
}

// encodeSegment encodes characters that normalisation treats as one unit.
func encodeSegment(b *strings.Builder, seg string, wide, letter bool) bool {
	if wide && literal(seg, letter) {
		b.WriteString(seg)
		return true
	}
	if r, size := utf8.DecodeRuneInString(seg); wide && size == len(seg) {
		lower := unicode.ToLower(r)
		if lower != r && unicode.ToUpper(lower) == r && literal(string(lower), false) {
			b.WriteByte('+')
			b.WriteRune(lower)
			return true
		}
	}
	percent(b, seg)
	return false
}

// literal reports whether seg can stand for itself: letters and digits with
// their marks, in the one form that every file system keeps. A seg that begins
// with a mark needs a letter before it.
func literal(seg string, letter bool) bool {
	if !utf8.ValidString(seg) || string(Fold(seg)) != seg {
		return false
	}
	for _, r := range seg {
		if !Starts(r) && (!letter || kindOf(r) != kindMark) {
			return false
		}
		letter = true
	}
	return true
}

// segment gives the length of the first normalisation unit of s, at least one.
func segment(s string) int {
	_, size := utf8.DecodeRuneInString(s)
	return max(size, norm.NFKC.NextBoundaryInString(s, true))
}

func percent(b *strings.Builder, raw string) {
	const digits = "0123456789abcdef"
	for i := 0; i < len(raw); i++ {
		b.WriteByte('%')
		b.WriteByte(digits[raw[i]>>4])
		b.WriteByte(digits[raw[i]&15])
	}
}

func decode(f string) (string, bool) {
	if f == "%" {
		return "", true
	}
	var b strings.Builder
	for i := 0; i < len(f); {
		switch c := f[i]; c {
		case '%':
			if i+3 > len(f) {
				return "", false
			}
			raw, err := hex.DecodeString(f[i+1 : i+3])
			if err != nil {
				return "", false
			}
			b.Write(raw)
			i += 3
		case '+':
			r, size := utf8.DecodeRuneInString(f[i+1:])
			b.WriteRune(unicode.ToUpper(r))
			i += 1 + size
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String(), true
}

// device reports whether Windows takes the encoded name for a device, with or
// without an extension. CONIN$ and COM¹ cannot arise, for $ and ¹ are encoded,
// nor can CON: it is +c+o+n.
func device(enc string) bool {
	base, _, _ := strings.Cut(enc, ".")
	switch base {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(base) == 4 && (base[:3] == "com" || base[:3] == "lpt") && '0' <= base[3] && base[3] <= '9'
}

// headOf cuts an encoded name to most bytes without splitting an escape or a
// character.
func headOf(enc string, most int) string {
	head := enc[:most]
	for i := 1; i <= 2; i++ {
		if head[len(head)-i] == '%' {
			head = head[:len(head)-i]
			break
		}
	}
	for len(head) > 0 && !utf8.RuneStart(enc[len(head)]) {
		head = head[:len(head)-1]
	}
	return strings.TrimRight(head, "+")
}
