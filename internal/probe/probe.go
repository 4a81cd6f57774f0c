// Package probe finds out whether a thing that somebody claimed is still in
// use: a port, a GPU, files of a working tree, a process, a lock file, or what
// a project names itself in [OwnFile]. It knows nothing of offices and claims.
//
// [Run] only looks. It stops nothing, removes nothing, and takes no lock for
// longer than the look itself. It always comes back: each look has a limit of
// its own, all together have another, and a program that was started is killed
// with everything in its process group.
//
// Where it cannot tell, the verdict is [Unknown] with the reason, never [Free]:
// a wrong "free" takes a GPU away from a training run.
package probe

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"bureau/internal/proc"
	"bureau/internal/quote"
)

// Verdict says whether a thing is in use. Its text is part of every JSON shape.
type Verdict string

// The verdicts.
const (
	Free    Verdict = "free"    // looked at, and nobody uses it
	Busy    Verdict = "busy"    // in use
	Unknown Verdict = "unknown" // it could not be looked at, or what was seen decides nothing
)

// Result is what one look saw.
type Result struct {
	Resource string  `json:"resource"`
	Verdict  Verdict `json:"verdict"`
	// Saw is one line, free of control characters, at most MaxSaw columns.
	Saw string `json:"saw"`
	// Probe names what looked: git, port, gpu, process, lockfile, an own
	// command as "command:" with its pattern; "none" where nothing could.
	Probe string    `json:"probe"`
	At    time.Time `json:"at"`             // UTC, whole milliseconds
	Hint  string    `json:"hint,omitempty"` // what would let it tell more
}

// Limits. What one look may take is less than what all may take, so that one
// host without an answer does not hide what the others saw.
const (
	MaxSaw   = 200              // columns of Result.Saw
	Each     = 10 * time.Second // one look
	Whole    = 15 * time.Second // all looks of one Run, clearing away included
	parallel = 8                // looks at the same time
	clearing = time.Second      // of Whole, for ending what did not end itself
)

// Request says what to look at.
type Request struct {
	// Root is the project's root folder: [OwnFile] is below it, and relative
	// lock files are.
	Root string
	// Trees are the working trees in which patterns of paths are looked at,
	// each as a folder that the patterns are relative to. Empty: Root.
	Trees []string
	// Inner are folders in the working trees that may be repositories of their
	// own, absolute. What of them the patterns mean is looked at there, and so
	// are those that git names as not tracked. Below gives the part of a pattern
	// that lies in a folder, as patterns relative to it; nil: no such repository
	// is looked into.
	Inner []string
	Below func(pattern, folder string) []string
	// Home is the office's folder, where trust is kept; see [Trust]. Empty:
	// nothing is trusted.
	Home string
	// Domain is the host domain ([proc.Host]) that the process ids of the
	// subjects belong to, unless a subject has its own. Empty: unknown.
	Domain string
	// Subjects are the things to look at.
	Subjects []Subject
}

// Run looks at all subjects at the same time, up to eight at once, and gives
// one result for each, in their order. It returns within [Whole], or soon after
// ctx ends; what could not be looked at until then is [Unknown].
func Run(ctx context.Context, req Request) []Result {
	ctx, cancel := context.WithTimeout(ctx, Whole-clearing)
	defer cancel()
	l := newLooker(req)
	type answer struct {
		at int
		Result
	}
	// With room for all, so that a look that is stuck in the system (a dead
	// network file system) ends by itself one day and blocks nobody.
	answers := make(chan answer, len(req.Subjects))
	turn := make(chan struct{}, parallel)
	for i, s := range req.Subjects {
		go func() {
			select {
			case turn <- struct{}{}:
				defer func() { <-turn }()
			case <-ctx.Done():
				return
			}
			one, cancel := context.WithTimeout(ctx, Each)
			defer cancel()
			answers <- answer{i, l.look(one, s)}
		}()
	}
	out := make([]Result, len(req.Subjects))
	var late <-chan time.Time
	done := ctx.Done()
	for missing := len(out); missing > 0; {
		select {
		case a := <-answers:
			out[a.at] = a.Result
			missing--
			continue
		case <-done:
			done, late = nil, time.After(clearing)
			continue
		case <-late:
		}
		break
	}
	for i, s := range req.Subjects {
		if out[i].Verdict == "" {
			out[i] = finding{Unknown, "none", "the look did not end in time", ""}.result(s)
		}
	}
	return out
}

// Sum gives the verdict of all results together: [Busy] if one is, else
// [Unknown] if one is, else [Free]. No results at all are [Unknown]: nothing
// was looked at.
func Sum(results []Result) Verdict {
	if len(results) == 0 {
		return Unknown
	}
	sum := Free
	for _, r := range results {
		if graver(r.Verdict, sum) {
			sum = r.Verdict
		}
	}
	return sum
}

func graver(a, b Verdict) bool { return weight(a) > weight(b) }

func weight(v Verdict) int {
	switch v {
	case Free:
		return 0
	case Busy:
		return 2
	default:
		return 1
	}
}

// finding is a result on its way: what one probe can say by itself.
type finding struct {
	verdict Verdict
	probe   string
	saw     string
	hint    string
}

func free(probe, format string, args ...any) finding {
	return finding{Free, probe, fmt.Sprintf(format, args...), ""}
}

func busy(probe, format string, args ...any) finding {
	return finding{Busy, probe, fmt.Sprintf(format, args...), ""}
}

func unknown(probe, format string, args ...any) finding {
	return finding{Unknown, probe, fmt.Sprintf(format, args...), ""}
}

func (f finding) result(s Subject) Result {
	return Result{
		Resource: quote.Line(s.String(), MaxSaw), Verdict: f.verdict, Saw: quote.Line(f.saw, MaxSaw), Probe: f.probe,
		At: time.Now().UTC().Truncate(time.Millisecond), Hint: f.hint,
	}
}

// gravest gives the finding that decides: the first of the gravest verdict.
func gravest(all []finding) finding {
	out := all[0]
	for _, f := range all[1:] {
		if graver(f.verdict, out.verdict) {
			out = f
		}
	}
	return out
}

// looker is one Run: the request, and what all its looks share.
type looker struct {
	Request
	own func() ownProbes
}

func newLooker(req Request) *looker {
	l := &looker{Request: req}
	if len(l.Trees) == 0 {
		l.Trees = []string{req.Root}
	}
	l.own = sync.OnceValue(func() ownProbes { return loadOwn(req.Root, req.Home) })
	return l
}

func (l *looker) look(ctx context.Context, s Subject) Result {
	if err := s.check(); err != nil {
		return unknown("none", "%v", err).result(s)
	}
	if s.Kind == KindPath {
		return l.paths(ctx, s).result(s)
	}
	f, ok := l.ask(ctx, s)
	if !ok {
		f = withOwn(f, l.builtIn(ctx, s))
	}
	return f.result(s)
}

// builtIn looks without the project's own commands.
func (l *looker) builtIn(ctx context.Context, s Subject) finding {
	switch s.Kind {
	case KindPort:
		return port(ctx, s)
	case KindGPU:
		return gpu(ctx, s)
	case KindPID:
		return l.process(s)
	case KindLockfile:
		return l.lockFile(s)
	}
	f := unknown("none", "there is no probe for %s", s)
	f.hint = "a command in " + OwnFile + " can tell (docs/probes.md)"
	return f
}

// process tells about a process by id and start. The verdict of another host
// domain's numbers would be about a stranger.
func (l *looker) process(s Subject) finding {
	domain := s.Domain
	if domain == "" {
		domain = l.Domain
	}
	id := proc.ID{PID: s.PID, Start: s.Start}
	switch now, ok := proc.Of(s.PID); {
	case !here(s.Host), domain != "" && domain != proc.Host():
		return unknown("process", "process %d belongs to another machine, container or boot", s.PID)
	case domain == "" && s.Host == "":
		return unknown("process", "it is not known on which machine process %d was meant", s.PID)
	case !ok:
		return free("process", "process %d is gone", s.PID)
	case !id.Alive():
		return free("process", "process %d is gone, another one has its number (started at %d, not %d)", s.PID, now.Start, s.Start)
	case s.Start == 0 && later(now, s.Before):
		// By the clock alone, which may have been set since: not sure enough for free.
		return unknown("process", "%s has started since, and process %d was meant, which ran before", who(s.PID), s.PID)
	case s.Start == 0 || now.Start == 0:
		return busy("process", "%s runs (when it started was not compared)", who(s.PID))
	}
	return busy("process", "%s runs", who(s.PID))
}

// later reports whether a process started after a moment, beyond what clocks
// may be apart.
func later(id proc.ID, moment time.Time) bool {
	started, ok := startOf(id)
	return ok && !moment.IsZero() && started.After(moment.Add(time.Minute))
}

// who names a process for a reader.
func who(pid int) string {
	if name := proc.Name(pid); name != "" {
		return fmt.Sprintf("pid %d (%s)", pid, name)
	}
	return fmt.Sprintf("pid %d", pid)
}

// here reports whether a resource's host part means this machine.
func here(host string) bool {
	switch strings.ToLower(host) {
	case "", "-", "localhost", "127.0.0.1":
		return true
	}
	own, err := os.Hostname()
	if err != nil || own == "" {
		return false
	}
	short, _, _ := strings.Cut(own, ".")
	return strings.EqualFold(host, own) || strings.EqualFold(host, short)
}

// absolute gives a path of the project as the system wants it.
func (l *looker) absolute(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(l.Root, path)
}
