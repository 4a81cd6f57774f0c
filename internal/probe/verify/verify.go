// Package verify looks at what claims cover with the probes of package probe,
// so that an office can tell whether a claim whose holder is gone may go to
// somebody else. [Options] is all that a face needs.
//
// What is on the holder's machine is looked at only there. A holder of another
// host domain (another machine, another container, or this one before it was
// started anew) says nothing about this machine's ports, GPUs, processes and
// lock files: they are unknown. Its work tree is looked at where the same path
// is here, since the folder may be shared or have outlived a restart; changes
// found there count, but that there are none does not mean that it is free.
package verify

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"bureau/internal/claim"
	"bureau/internal/db"
	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/office"
	"bureau/internal/probe"
	"bureau/internal/proc"
)

// Options lets an office look at what is claimed, and say where claims hold on
// one machine only. Home must be set before, if it is not the default one.
func Options(opts *office.Options) {
	home := opts.Home
	if home == "" {
		home, _ = office.DefaultHome() // opening the office says what is wrong with it
	}
	opts.Probe, opts.ClaimNote = Prober(home), Note
}

// atOnce is how many claims are looked at side by side; each may have several
// looks of its own.
const atOnce = 4

// Prober looks at claims for the office in the folder home, where the trust in
// projects' own commands is kept. It returns within [probe.Whole], or soon
// after ctx ends; claims that were not reached are left out.
func Prober(home string) office.Prober {
	return func(ctx context.Context, p office.Project, list []office.HeldClaim) map[event.ID]claim.Probe {
		ctx, cancel := context.WithTimeout(ctx, probe.Whole-time.Second)
		defer cancel()
		out := make(map[event.ID]claim.Probe, len(list))
		var mu sync.Mutex
		var all sync.WaitGroup
		turn := make(chan struct{}, atOnce)
		for i := range list {
			select {
			case turn <- struct{}{}:
			case <-ctx.Done():
			}
			if ctx.Err() != nil {
				break
			}
			all.Go(func() {
				defer func() { <-turn }()
				saw := look(ctx, home, p.Root, &list[i])
				mu.Lock()
				defer mu.Unlock()
				out[list[i].ID] = saw
			})
		}
		all.Wait()
		return out
	}
}

// look looks at all that one claim covers.
func look(ctx context.Context, home, root string, c *office.HeldClaim) claim.Probe {
	strange := c.Process.Host != proc.Host()
	req := probe.Request{Root: root, Home: home, Domain: c.Process.Host}
	if req.Root == "" {
		req.Root = c.Tree
	}
	var results []probe.Result
	unknown := func(resource, format string, args ...any) {
		results = append(results, probe.Result{
			Resource: resource, Verdict: probe.Unknown, Saw: resource + ": " + fmt.Sprintf(format, args...), At: time.Now().UTC().Truncate(time.Millisecond),
		})
	}
	if len(c.Paths) > 0 {
		patterns := make([]string, len(c.Paths))
		for i, p := range c.Paths {
			patterns[i] = string(p)
		}
		s := probe.Paths(patterns...)
		s.Fold = c.Fold
		if st, err := os.Stat(c.Tree); err != nil || !st.IsDir() {
			unknown(s.String(), "the work tree %s is not there", c.Tree)
		} else {
			req.Trees, req.Inner, req.Below = []string{c.Tree}, c.Within, func(pattern, folder string) (list []string) {
				p := claim.Pattern(pattern)
				if c.Fold {
					p = p.Fold()
				}
				for _, q := range p.Below(folder) {
					list = append(list, string(q))
				}
				return list
			}
			req.Subjects = append(req.Subjects, s)
		}
	}
	for _, r := range c.Resources {
		s, err := probe.Parse(string(r))
		switch {
		case err != nil:
			unknown(string(r), "%s", fault.HintOf(err))
		case strange && local(s):
			unknown(string(r), "%s", elsewhere)
		default:
			s.Before = c.Since // it ran when it was claimed
			req.Subjects = append(req.Subjects, s)
		}
	}
	if len(req.Subjects) > 0 {
		for _, r := range probe.Run(ctx, req) {
			if strange && r.Verdict == probe.Free && strings.HasPrefix(r.Resource, string(probe.KindPath)+":") {
				r.Verdict, r.Saw = probe.Unknown, elsewhere+" (here: "+r.Saw+")"
			}
			results = append(results, r)
		}
	}
	return sum(results)
}

const elsewhere = "its holder worked on another machine, in another container or before a restart"

// local reports whether a thing is on the holder's machine, whichever that is.
// A command of the project's own may know of any machine.
func local(s probe.Subject) bool {
	switch s.Kind {
	case probe.KindPort, probe.KindGPU, probe.KindPID, probe.KindLockfile:
	default:
		return false
	}
	switch strings.ToLower(s.Host) {
	case "", "-", "localhost", "127.0.0.1":
		return true
	}
	return false
}

// sum gives the verdict of all looks together, with the line that decided it
// and what would let it tell more.
func sum(results []probe.Result) claim.Probe {
	out := claim.Probe{Verdict: claim.ProbeVerdict(probe.Sum(results)), Saw: "nothing to look at", At: time.Now().UTC().Truncate(time.Millisecond)}
	for _, r := range results {
		if string(r.Verdict) != string(out.Verdict) {
			continue
		}
		out.Saw, out.At = r.Saw, r.At
		if r.Hint != "" {
			out.Saw += " (" + r.Hint + ")"
		}
		break
	}
	return out
}

// Note says that claims in a project hold on this machine only, where others
// reach its files too; "" elsewhere.
func Note(p office.Project) string {
	if p.Root == "" {
		return ""
	}
	return note(db.RemoteFileSystem(p.Root))
}

func note(kind string, remote bool) string {
	if !remote {
		return ""
	}
	return fmt.Sprintf("the project is on a network or shared file system (%s): claims hold on this machine only, sessions of other machines do not see them", kind)
}
