package probe

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"bureau/internal/fault"
)

// Kind is the word before the colon of a resource.
type Kind string

// The kinds that have a probe of their own. Any other word is the project's.
const (
	KindPath     Kind = "path"     // files of a working tree: uncommitted changes, lock files of tools
	KindPort     Kind = "port"     // a TCP port: port:8080, port:host-a/8080
	KindGPU      Kind = "gpu"      // a GPU by index or UUID: gpu:0, gpu:host-a/2
	KindPID      Kind = "pid"      // a process: pid:4711, pid:4711@START
	KindLockfile Kind = "lockfile" // a lock file: lockfile:PATH, relative to the project's root
)

// maxResource bounds a resource's text, in bytes.
const maxResource = 1024

// Subject is one thing to look at.
type Subject struct {
	Kind Kind `json:"kind"`
	// Host is the machine that the thing is on, as ssh knows it, perhaps with
	// a user before an @. Empty, "-", localhost and this machine's name are
	// this machine.
	Host string `json:"host,omitempty"`
	// Name is the rest: a port, a GPU, a file's path, or the project's own
	// words. Empty for paths and processes.
	Name string `json:"name,omitempty"`
	// Paths are patterns with / between folders, relative to the working tree:
	// files, folders with all below them, and globs with *, ?, [ ], { } and **.
	// A backslash takes the next character for itself; with three octal digits
	// it is one byte. A name that looks like a glob is also taken literally. A
	// pattern that begins with :(icase) does not tell upper from lower case.
	Paths []string `json:"paths,omitempty"`
	// Fold says so of all Paths.
	Fold bool `json:"fold,omitempty"`
	// PID, Start and Domain are a process as package proc knows it.
	PID int `json:"pid,omitempty"`
	// Before is a moment at which the process ran, where its start is not
	// known: one that started later is likely another with its number.
	Before time.Time `json:"before,omitzero"`
	Start  int64     `json:"start,omitempty"`
	Domain string    `json:"domain,omitempty"`
}

// Paths makes the subject of path patterns.
func Paths(patterns ...string) Subject { return Subject{Kind: KindPath, Paths: patterns} }

// Process makes the subject of one process: its id, its start in the unit of
// package proc (0: unknown), and the host domain that the two belong to.
func Process(pid int, start int64, domain string) Subject {
	return Subject{Kind: KindPID, PID: pid, Start: start, Domain: domain}
}

// Parse reads a claim's resource: KIND:NAME or KIND:HOST/NAME. The kind is a
// word of lower-case letters, digits, - and _ that begins with a letter (upper
// case is folded). A text without a kind is a name that only the project's own
// commands can know. It refuses ([fault.Invalid]) what is longer than 1,024
// bytes, holds control characters, or names a port, GPU, process or host that
// cannot exist.
func Parse(text string) (Subject, error) {
	if text == "" || len(text) > maxResource || !plain(text) {
		return Subject{}, invalid(text, "a resource is 1 to %d bytes of text without control characters", maxResource)
	}
	word, rest, ok := strings.Cut(text, ":")
	kind := Kind(strings.ToLower(word))
	if !ok || !kind.valid() {
		return Subject{Name: text}, nil
	}
	s := Subject{Kind: kind}
	switch kind {
	case KindPath:
		s.Paths = []string{rest}
	case KindLockfile:
		s.Name = rest
	case KindPID:
		s.Host, rest = cutHost(rest)
		number, start, started := strings.Cut(rest, "@")
		pid, err := digits(number, 10)
		if err != nil {
			return Subject{}, invalid(text, "a process is pid:NUMBER or pid:NUMBER@START")
		}
		s.PID = int(pid)
		if started {
			if s.Start, err = digits(start, 19); err != nil {
				return Subject{}, invalid(text, "a process is pid:NUMBER or pid:NUMBER@START")
			}
		}
	default:
		s.Host, s.Name = cutHost(rest)
	}
	if err := s.check(); err != nil {
		return Subject{}, err
	}
	return s, nil
}

// cutHost takes off the part before the first slash.
func cutHost(rest string) (host, name string) {
	if host, name, ok := strings.Cut(rest, "/"); ok {
		return host, name
	}
	return "", rest
}

// check refuses what must not reach a command line or the system. It is asked
// again before each look, since a Subject can be made without Parse.
func (s Subject) check() error {
	text := s.String()
	switch s.Kind {
	case KindPath:
		if len(s.Paths) == 0 {
			return invalid(text, "a path is needed: path:src")
		}
		for _, p := range s.Paths {
			if p == "" || len(p) > maxPath || strings.ContainsRune(p, 0) {
				return invalid(p, "a path is 1 to %d bytes without a NUL", maxPath)
			}
		}
		return nil
	case KindPID:
		if s.PID <= 0 || s.PID > 1<<31-1 || s.Start < 0 {
			return invalid(text, "a process is pid:NUMBER or pid:NUMBER@START")
		}
	case KindPort:
		if n, err := digits(s.Name, 5); err != nil || n < 1 || n > 65535 {
			return invalid(text, "a port is a number from 1 to 65535: port:8080, port:HOST/8080")
		}
	case KindGPU:
		if !validGPU(s.Name) {
			return invalid(text, "a GPU is an index or a UUID: gpu:0, gpu:HOST/2, gpu:GPU-1234abcd-…")
		}
	default:
		if s.Name == "" || len(s.Name) > maxResource || !plain(s.Name) {
			return invalid(text, "a resource is KIND:NAME, as in deploy:staging")
		}
	}
	// A project's own kind may put any word before a slash: it reaches its own
	// command as one argument, and no ssh.
	if s.Host != "" && s.builtIn() && s.Host != "-" && !validHost(s.Host) {
		return invalid(text, "%q is no host name: letters, digits, dots, dashes and underscores, perhaps with USER@ before", s.Host)
	}
	if !plain(s.Host) {
		return invalid(text, "a host holds no control characters")
	}
	return nil
}

func (s Subject) builtIn() bool {
	switch s.Kind {
	case KindPath, KindPort, KindGPU, KindPID, KindLockfile:
		return true
	}
	return false
}

// String gives the resource's text; Parse reads it again. Several paths stand
// with ", " between them.
func (s Subject) String() string {
	text := s.Name
	switch s.Kind {
	case KindPath:
		text = strings.Join(s.Paths, ", ")
	case KindPID:
		text = strconv.Itoa(s.PID)
		if s.Start != 0 {
			text += "@" + strconv.FormatInt(s.Start, 10)
		}
	}
	if s.Host != "" || s.Kind != KindLockfile && s.Kind != KindPath && strings.Contains(text, "/") && s.Kind != "" {
		text = s.Host + "/" + text
	}
	if s.Kind != "" {
		text = string(s.Kind) + ":" + text
	}
	return text
}

func invalid(value, format string, args ...any) error {
	return fault.New(fault.Invalid, "cannot look at %q", value).WithHint("%s", fmt.Sprintf(format, args...))
}

func (k Kind) valid() bool {
	for i, c := range []byte(k) {
		switch {
		case c >= 'a' && c <= 'z':
		case i > 0 && (c >= '0' && c <= '9' || c == '-' || c == '_'):
		default:
			return false
		}
	}
	return k != "" && len(k) <= 32
}

// plain reports whether a text is UTF-8 without control characters.
func plain(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, unicode.IsControl) < 0
}

// digits reads a number of at most so many digits and nothing else: no sign,
// no spaces, no underscores.
func digits(s string, most int) (int64, error) {
	if s == "" || len(s) > most || strings.Trim(s, "0123456789") != "" {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseInt(s, 10, 64)
}

// validGPU accepts an index, or a UUID as nvidia-smi prints it.
func validGPU(name string) bool {
	if _, err := digits(name, 3); err == nil {
		return true
	}
	if !strings.HasPrefix(name, "GPU-") || len(name) > 64 {
		return false
	}
	return strings.IndexFunc(name, func(c rune) bool {
		return c != '-' && !(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z')
	}) < 0
}

// validHost accepts what can stand on ssh's command line: [USER@]NAME, each of
// letters, digits, dots, dashes and underscores, none beginning with a dash
// (which ssh would take for an option) or a dot.
func validHost(host string) bool {
	user, name, ok := strings.Cut(host, "@")
	if !ok {
		user, name = "x", host
	}
	return len(host) <= 253 && validLabel(user) && validLabel(name)
}

func validLabel(s string) bool {
	for i, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_':
		case i > 0 && (c == '.' || c == '-'):
		default:
			return false
		}
	}
	return s != ""
}
