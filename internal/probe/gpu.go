package probe

import (
	"context"
	"fmt"
	"strings"
)

// What nvidia-smi is asked: which GPUs there are, and which processes compute
// on them. A process's name comes last, since it may hold commas.
const (
	askGPUs  = "--query-gpu=index,uuid,memory.used,utilization.gpu"
	askApps  = "--query-compute-apps=gpu_uuid,pid,used_memory,process_name"
	askedFor = "--format=csv,noheader,nounits"
	divider  = "bureau-apps"
)

// askRemote asks both in one go, in words that every shell reads the same.
const askRemote = "nvidia-smi " + askGPUs + " " + askedFor + " && echo " + divider + " && nvidia-smi " + askApps + " " + askedFor

// A GPU without a process that nvidia-smi shows may be in use all the same, by
// another container. From these values on it is not called free. What the
// driver and a desktop take stays below them.
const (
	idleMemory = 1024 // MiB
	idleLoad   = 10   // percent
)

// gpu tells whether anybody computes on a GPU of NVIDIA's.
func gpu(ctx context.Context, s Subject) finding {
	var gpus, apps string
	at := ""
	if here(s.Host) {
		for _, q := range []struct {
			ask string
			out *string
		}{{askGPUs, &gpus}, {askApps, &apps}} {
			o := run(ctx, child{argv: []string{"nvidia-smi", q.ask, askedFor}, max: Each})
			if o.err != nil || o.code != 0 {
				return unknown("gpu", "%s", smi(o))
			}
			*q.out = string(o.out)
		}
	} else {
		at = " of " + s.Host
		o, f := ssh(ctx, "gpu", s.Host, askRemote)
		if f.verdict == Unknown {
			return f
		}
		var both bool
		if gpus, apps, both = strings.Cut(string(o.out), "\n"+divider+"\n"); o.code != 0 || !both {
			return unknown("gpu", "%s tells nothing about its GPUs: %s", s.Host, smi(o))
		}
	}
	return readGPU(s.Name, at, gpus, apps)
}

// smi says why nvidia-smi failed; it writes its reasons to standard output.
func smi(o outcome) string {
	if said := firstLine(o.out); o.err == nil && o.errs == "" && said != "" {
		return "nvidia-smi: " + said
	}
	return o.why("nvidia-smi")
}

// readGPU reads the two tables.
func readGPU(name, at, gpus, apps string) finding {
	uuid, memory, load, known := "", int64(0), int64(0), []string{}
	for line := range strings.Lines(gpus) {
		f := columns(line, 4)
		if f == nil || !strings.HasPrefix(f[1], "GPU-") {
			continue
		}
		known = append(known, f[0])
		if f[0] == name || f[1] == name {
			uuid = f[1]
			memory, _ = digits(f[2], 9) // "[N/A]" where a card does not tell
			load, _ = digits(f[3], 3)
		}
	}
	if uuid == "" {
		return unknown("gpu", "there is no GPU %s%s (there are: %s)", name, at, strings.Join(known, ", "))
	}
	var users []string
	for line := range strings.Lines(apps) {
		if f := columns(line, 4); f != nil && f[0] == uuid {
			users = append(users, fmt.Sprintf("pid %s (%s), %s MiB", f[1], f[3], f[2]))
		}
	}
	switch n := len(users); {
	case n == 1:
		return busy("gpu", "GPU %s%s is used by %s", name, at, users[0])
	case n > 1:
		return busy("gpu", "GPU %s%s is used by %s and %d more", name, at, users[0], n-1)
	case memory >= idleMemory || load >= idleLoad:
		return unknown("gpu", "GPU %s%s shows no process, but %d MiB in use and %d %% load: perhaps another container", name, at, memory, load)
	}
	return free("gpu", "nobody computes on GPU %s%s (%d MiB in use, %d %% load)", name, at, memory, load)
}

// columns cuts a line of csv as nvidia-smi writes it: without quotes.
func columns(line string, n int) []string {
	f := strings.SplitN(line, ",", n)
	if len(f) != n {
		return nil
	}
	for i := range f {
		f[i] = strings.TrimSpace(f[i])
	}
	return f
}
