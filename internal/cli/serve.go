package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"io/fs"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"bureau/internal/fault"
)

// Served is what a server over HTTP is run with. Home is the office's folder,
// "" for the environment's; Tools are toolsets, none for the default.
type Served struct {
	Env   func(string) string
	Now   func() time.Time
	Home  string
	Tools []string
	Idle  time.Duration
	Hosts []string
}

// ServeHTTP makes the server over HTTP and gives the function that serves on a
// listener until the context ends. The main program sets it: it is a face of
// its own, and faces do not import each other.
var ServeHTTP func(Served) (serve func(context.Context, net.Listener) error, path string, err error)

// defaultListen is where bureau serve listens.
const defaultListen = "127.0.0.1:7777"

func newServe(a *app) *cobra.Command {
	var listen, cert, key, idle string
	var tools, hosts []string
	cmd := &cobra.Command{
		Use:     "serve",
		GroupID: groupOffice,
		Short:   "Serve the office's tools over HTTP",
		Long: `Serve the tools of bureau mcp over HTTP, for clients that cannot start a
program, or that are elsewhere on this machine (a container, an editor's host).
It serves until it is interrupted. Streamable HTTP is at /mcp, both eras of the
protocol; the older HTTP+SSE is at /sse.

Every request shows a token (bureau token new NAME), and that says who calls: a
token is one session of the office, the same one after a restart of the server.
Nobody can wake such a session: it hears of its mail when it calls.

Only this machine is served, unless --tls-cert and --tls-key are given. Calls
under another host name than localhost or the server's address, and calls of web
pages of others, are refused; --host adds names.`,
		Example: `  bureau serve
  bureau serve --listen 127.0.0.1:0 --tools mail,claims,room
  bureau token new ana    # prints the token, once`,
		Args: between(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("host") && len(hosts) == 0 {
				hosts = []string{""}
			}
			for _, h := range hosts {
				if err := hostName(h); err != nil {
					return err
				}
			}
			s := Served{Env: a.Env, Now: a.Now, Tools: tools, Hosts: hosts}
			if idle != "" {
				var err error
				if s.Idle, err = parseDuration(idle); err != nil {
					return err
				}
				if s.Idle < time.Second {
					return fault.New(fault.Invalid, "--idle %s is too short", idle).WithHint("a second at least; without it, 30m")
				}
			}
			l, scheme, err := listenAt(cmd.Context(), listen, cert, key)
			if err != nil {
				return err
			}
			defer l.Close()
			if ServeHTTP == nil {
				return fault.New(fault.Unavailable, "this program has no HTTP server")
			}
			serve, path, err := ServeHTTP(s)
			if err != nil {
				return err
			}
			url := scheme + "://" + calledAt(l.Addr(), hosts) + path
			if a.json {
				err = a.printJSON(struct {
					URL string `json:"url"`
				}{url})
			} else {
				a.printf("serving %s\n", url)
			}
			if err == nil {
				err = a.flush()
			}
			if err != nil {
				return err
			}
			a.note("every request shows a token: bureau token new NAME makes one")
			return serve(cmd.Context(), l)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&listen, "listen", "", "listen at `HOST:PORT`, port 0 is a free one ("+defaultListen+")")
	flags.StringSliceVar(&tools, "tools", nil, "toolsets `SET[,SET…]` of bureau mcp")
	flags.StringVar(&idle, "idle", "", "connections end after `D` without a call (30m)")
	flags.StringSliceVar(&hosts, "host", nil, "further host `NAMES` that the server is called by")
	flags.StringVar(&cert, "tls-cert", "", "the certificate, a PEM `FILE`")
	flags.StringVar(&key, "tls-key", "", "its key, a PEM `FILE`")
	return cmd
}

// hostName refuses what no request can have as its host's name.
func hostName(h string) error {
	h = strings.TrimSpace(h)
	if net.ParseIP(strings.Trim(h, "[]")) == nil && (h == "" || strings.ContainsAny(h, ":/@[] *")) {
		return fault.New(fault.Invalid, "--host %q is no host name", h).WithHint("such as box.example, or an address, without scheme and port")
	}
	return nil
}

// calledAt gives a host and port that the server can be called by: where it
// listens at all addresses that is the first name it was given.
func calledAt(at net.Addr, hosts []string) string {
	if a, ok := at.(*net.TCPAddr); ok && a.IP.IsUnspecified() && len(hosts) > 0 {
		return net.JoinHostPort(strings.Trim(strings.TrimSpace(hosts[0]), "[]"), strconv.Itoa(a.Port))
	}
	return at.String()
}

// listenAt opens the listener. An address that others can reach needs TLS: a
// token would be there for anybody on the way to read.
func listenAt(ctx context.Context, addr, cert, key string) (net.Listener, string, error) {
	if addr == "" {
		addr = defaultListen
	}
	host, port, err := net.SplitHostPort(addr)
	if err == nil {
		_, err = net.DefaultResolver.LookupPort(ctx, "tcp", port)
	}
	if err != nil {
		return nil, "", fault.New(fault.Invalid, "--listen %q is no address: %w", addr, err).WithHint("such as %s", defaultListen)
	}
	if (cert == "") != (key == "") {
		return nil, "", fault.New(fault.Invalid, "--tls-cert and --tls-key belong together").WithHint("give both, or none")
	}
	if cert == "" && !loopback(host) {
		return nil, "", fault.New(fault.Denied, "%s can be reached by other machines, and the tokens would be sent there in the clear", addr).
			WithHint("listen at 127.0.0.1, or give --tls-cert and --tls-key")
	}
	var pair tls.Certificate
	if cert != "" {
		if pair, err = tls.LoadX509KeyPair(cert, key); err != nil {
			return nil, "", fault.New(fault.Invalid, "the certificate cannot be used: %w", err).WithHint("--tls-cert and --tls-key are PEM files that belong together")
		}
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", addr)
	if err != nil {
		hint := "give an address of this machine with --listen"
		if errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, fs.ErrPermission) {
			hint = "another program may have the port, or it takes rights; --listen 127.0.0.1:0 takes a free one"
		}
		return nil, "", fault.New(fault.Unavailable, "cannot listen at %s: %w", addr, err).WithHint("%s", hint)
	}
	if cert != "" {
		return tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}), "https", nil
	}
	return l, "http", nil
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
