package claim

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"bureau/internal/fault"
	"bureau/internal/name"
)

// Resource is a named thing that is not a file, in canonical form: KIND:NAME
// or KIND:HOST/NAME, as in gpu:host-a/2, deploy:staging, port:8080. Two
// spellings of one resource are equal strings.
type Resource string

// Bounds of a resource, in bytes.
const (
	MaxResource = 255 // the whole
	MaxKind     = 32
)

// ParseResource reads a resource. Kind and host ignore case, text is composed
// (NFC), and the number of a port or GPU loses its leading zeros: port:08080
// is port:8080. What is the machine's own loses a host that is any machine for
// itself (localhost, 127.0.0.1, a dash): gpu:localhost/0 is gpu:0; for its own
// name see [Resource.On]. It refuses (invalid) white space, control and
// invisible characters, empty parts, a port beyond 1–65535, any other host that
// begins with a dash, which a command would take for an option, and what is
// beyond a bound.
func ParseResource(text string) (Resource, error) {
	if text == "" {
		return "", badResource(text, "is empty")
	}
	if len(text) > MaxResource {
		return "", badResource(text[:32]+"…", "is longer than %d bytes", MaxResource)
	}
	if !utf8.ValidString(text) {
		return "", badResource(text, "is not UTF-8")
	}
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			return "", badResource(text, "holds white space (%U)", r).WithHint("put a dash for it")
		case unicode.IsControl(r), name.Invisible(r):
			return "", badResource(text, "holds a character that shows nothing (%U)", r).WithHint("leave it out")
		}
	}
	text = norm.NFC.String(text)
	kind, thing, ok := strings.Cut(text, ":")
	if !ok {
		return "", badResource(text, "has no kind")
	}
	kind = foldText(kind)
	if kind == "" || !kindStarts(kind) || strings.ContainsFunc(kind, func(r rune) bool { return !name.Continues(r) }) {
		return "", badResource(text, "has %q for a kind, which is not letters, digits and . _ -", kind)
	}
	if len(kind) > MaxKind {
		return "", badResource(text, "has a kind longer than %d bytes", MaxKind)
	}
	parts := strings.Split(thing, "/")
	for _, part := range parts {
		if part == "" {
			return "", badResource(text, "has an empty part in its name")
		}
	}
	if len(parts) > 1 && Resource(kind+":").Machine() && slices.Contains([]string{"-", "localhost", "127.0.0.1"}, foldText(parts[0])) {
		parts = parts[1:]
	}
	last := len(parts) - 1
	if last > 0 {
		if parts[0][0] == '-' {
			return "", badResource(text, "has a host that begins with a dash (%q)", parts[0])
		}
		if user, host, at := strings.Cut(parts[0], "@"); at && Resource(kind+":").Machine() {
			return "", badResource(text, "names a user (%s); the thing is the same for every user of %s", user, host).
				WithHint("leave %s@ away, and let ssh's own configuration say as whom a look at it is made", user)
		}
		parts[0] = foldText(parts[0])
	}
	if kind == "port" || kind == "gpu" {
		parts[last] = number(parts[last])
	}
	if n, err := strconv.Atoi(parts[last]); kind == "port" && (err != nil || n < 1 || n > 65535 || parts[last] != strconv.Itoa(n)) {
		return "", badResource(text, "has no port number from 1 to 65535").WithHint("write port:8080 or port:HOST/8080")
	}
	r := kind + ":" + strings.Join(parts, "/")
	if len(r) > MaxResource {
		return "", badResource(text, "is longer than %d bytes", MaxResource)
	}
	return Resource(r), nil
}

func kindStarts(kind string) bool {
	r, _ := utf8.DecodeRuneInString(kind)
	return name.Starts(r)
}

// number takes the leading zeros from digits.
func number(s string) string {
	if strings.Trim(s, "0123456789") != "" {
		return s
	}
	if s = strings.TrimLeft(s, "0"); s == "" {
		return "0"
	}
	return s
}

func badResource(text, format string, args ...any) *fault.Error {
	return fault.New(fault.Invalid, "the resource %q "+format, append([]any{text}, args...)...).
		WithHint("write KIND:NAME, as in gpu:host-a/2, deploy:staging, port:8080")
}

// Kind gives what stands before the colon.
func (r Resource) Kind() string {
	kind, _, _ := strings.Cut(string(r), ":")
	return kind
}

// Host gives the part of the name before its first slash, "" if there is none.
// Whether that is a machine depends on the kind. It never begins with a dash.
func (r Resource) Host() string {
	_, thing, _ := strings.Cut(string(r), ":")
	host, _, ok := strings.Cut(thing, "/")
	if !ok || strings.HasPrefix(host, "-") {
		return ""
	}
	return host
}

// On gives the resource as it is called on the machine with that name: there
// gpu:host-a/2 is gpu:2. Host names ignore case.
func (r Resource) On(machine string) Resource {
	if machine == "" || !r.Machine() || r.Host() != foldText(machine) {
		return r
	}
	return Resource(r.Kind() + ":" + r.Name())
}

// Name gives what stands behind the host: 2 for gpu:host-a/2.
func (r Resource) Name() string {
	_, thing, _ := strings.Cut(string(r), ":")
	if _, rest, ok := strings.Cut(thing, "/"); ok {
		return rest
	}
	return thing
}

// Machine reports whether a thing is the machine's own and so the same in every
// project: a GPU, a port, a process, a device, a virtual machine. Others, such
// as deploy:staging, are each project's.
func (r Resource) Machine() bool {
	switch r.Kind() {
	case "gpu", "port", "pid", "device", "vm":
		return true
	}
	return false
}
