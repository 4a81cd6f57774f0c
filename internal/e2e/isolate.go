package e2e

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
)

// insideVariable marks the process inside of the namespaces.
const insideVariable = "BUREAU_E2E_INSIDE"

// Isolate runs this program again inside of new namespaces, if it may, and
// gives its exit status. Inside, and where it may not, it gives false.
func Isolate() (status int, moved bool) {
	if os.Getenv(insideVariable) != "" || os.Geteuid() != 0 {
		return 0, false
	}
	unshare, err := exec.LookPath("unshare")
	if err != nil {
		return 0, false
	}
	self, err := os.Executable()
	if err != nil {
		return 0, false
	}
	uid := strconv.Itoa(os.Geteuid())
	// Places that all of a user's clients and offices share.
	script := `ip link set lo up || exit 9
for d in /tmp/cc-socks /tmp/claude-` + uid + ` /tmp/cc-daemon-` + uid + ` /tmp/bureau-` + uid + `; do
	mkdir -p -m 700 "$d" && mount -t tmpfs -o mode=700 none "$d" || exit 9
done
exec "$@"`
	args := []string{"--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child", "--propagation", "private", "sh", "-c", script, "sh", self}
	cmd := exec.Command(unshare, append(args, os.Args[1:]...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), insideVariable+"=1")
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, true
	case errors.As(err, &exit) && exit.ExitCode() != 9:
		return exit.ExitCode(), true
	}
	return 0, false // no namespaces to be had here
}
