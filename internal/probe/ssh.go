package probe

import "context"

// ssh runs a fixed command line on another host, whose name was validated, as
// the person's own ssh reaches it: no questions (BatchMode), no forwardings, no
// lasting connection of its own (an existing one is used). finding is Unknown
// where the host was not reached; ssh says so with 255.
func ssh(ctx context.Context, probe, host, line string) (outcome, finding) {
	o := run(ctx, child{
		argv: []string{
			"ssh", "-n", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=5", "-o", "ClearAllForwardings=yes",
			"-o", "ControlMaster=no", "-o", "PermitLocalCommand=no", host, line,
		},
		max: Each,
	})
	if o.err != nil || o.code == 255 {
		return o, unknown(probe, "no access to %s: %s", host, o.why("ssh"))
	}
	return o, finding{}
}
