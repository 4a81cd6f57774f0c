// Command bench measures what bureau promises about speed and prints one
// table: the figure, the budget, and beside it what an empty program costs on
// this machine in the same run. It never fails because of a figure: machines
// differ, and a slow one is not a defect.
//
//	go run ./bench            everything, about three minutes
//	go run ./bench -quick     small counts, as a smoke test
//	go run ./bench -only send figures whose name contains "send"
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"time"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		if err := work(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	quick := flag.Bool("quick", false, "small counts, as a smoke test")
	only := flag.String("only", "", "measure only figures whose name contains this")
	flag.Parse()
	if err := run(*quick, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench is one run: its programs and its folder.
type bench struct {
	dir    string // temporary
	bureau string // the programs, built for this run
	hook   string
	empty  string
	self   string
	quick  bool
	rows   []row
	base   time.Duration // an empty Go program, median

	hookRSS int64 // KiB
}

// row is one line of the table.
type row struct {
	what, figure, budget, beside string
}

// scale gives the count for a full run or a quick one.
func (b *bench) scale(full, quick int) int {
	if b.quick {
		return quick
	}
	return full
}

func run(quick bool, only string) error {
	dir, err := os.MkdirTemp("", "bureau-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{dir: dir, quick: quick}
	if err := b.build(); err != nil {
		return err
	}
	fmt.Printf("%s/%s, %d processors, %s\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	for _, f := range figures {
		if !strings.Contains(f.name, only) && f.name != "floor" {
			continue
		}
		fmt.Fprintf(os.Stderr, "measuring %s …\n", f.name)
		if err := f.measure(b); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	b.print()
	return nil
}

// figures are all measurements, in the order of the table.
var figures = []struct {
	name    string
	measure func(*bench) error
}{
	{"floor", (*bench).floor},
	{"send", (*bench).send},
	{"paced", (*bench).paced},
	{"sustained", (*bench).sustained},
	{"wake", (*bench).wake},
	{"idle", (*bench).idle},
	{"hook", (*bench).hooks},
	{"large", (*bench).large},
	{"claims", (*bench).claims},
	{"room", (*bench).rooms},
}

// build makes the programs that are measured, all of them copies of what the
// linker wrote: its own file starts up to a tenth slower than a copy of it, more or
// less so from build to build, and an empty program's less than a large one's.
func (b *bench) build() error {
	b.bureau, b.hook = filepath.Join(b.dir, "bureau"), filepath.Join(b.dir, "bureau-hook")
	b.empty, b.self = filepath.Join(b.dir, "empty"), filepath.Join(b.dir, "bench")
	src := filepath.Join(b.dir, "empty.go")
	if err := os.WriteFile(src, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		return err
	}
	for out, pkg := range map[string]string{b.bureau: "bureau/cmd/bureau", b.hook: "bureau/cmd/bureau-hook", b.self: "bureau/bench", b.empty: src} {
		linked := out + ".linked"
		cmd := exec.Command("go", "build", "-o", linked, pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if text, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go build %s: %w\n%s", pkg, err, text)
		}
		if err := errors.Join(install(linked, out), os.Remove(linked)); err != nil {
			return err
		}
	}
	return nil
}

// install copies a program in large pieces. It keeps no more of it in memory: what
// this process has, the system counts as a started one's peak, too.
func install(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o700)
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(struct{ io.Writer }{out}, struct{ io.Reader }{in}, make([]byte, 1<<20))
	return errors.Join(err, out.Close())
}

// office gives the environment of a fresh office.
func (b *bench) office(name string) (env []string, err error) {
	home := filepath.Join(b.dir, name)
	if err := os.Mkdir(home, 0o700); err != nil {
		return nil, err
	}
	env = append(clean(), "HOME="+home, "BUREAU_HOME="+filepath.Join(home, "office"))
	return env, nil
}

// clean is the environment without what names another office or session.
func clean() []string {
	var out []string
	for _, v := range os.Environ() {
		if strings.HasPrefix(v, "BUREAU_") || strings.HasPrefix(v, "CLAUDE") || strings.HasPrefix(v, "HOME=") {
			continue
		}
		out = append(out, v)
	}
	return out
}

// call runs a program once and gives the time of the whole process.
func call(env []string, name string, args ...string) (time.Duration, error) {
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Dir = env, os.TempDir()
	start := time.Now()
	text, err := cmd.CombinedOutput()
	took := time.Since(start)
	if err != nil {
		return took, fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), strings.Join(args, " "), err, text)
	}
	return took, nil
}

// times runs a program n times after a warm-up.
func times(n int, env []string, name string, args ...string) ([]time.Duration, error) {
	list := make([]time.Duration, 0, n)
	for i := -2; i < n; i++ {
		took, err := call(env, name, args...)
		if err != nil {
			return nil, err
		}
		if i >= 0 {
			list = append(list, took)
		}
	}
	return list, nil
}

// quantile gives the value below which a share of the list lies.
func quantile(list []time.Duration, share float64) time.Duration {
	if len(list) == 0 {
		return 0
	}
	s := append([]time.Duration(nil), list...)
	sort.Slice(s, func(i, j int) bool { return s[i] < s[j] })
	return s[min(int(share*float64(len(s))), len(s)-1)]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond)) }

func (b *bench) add(what, figure, budget, beside string) {
	b.rows = append(b.rows, row{what, figure, budget, beside})
}

// timesEmpty renders a time as a multiple of an empty Go program.
func (b *bench) timesEmpty(d time.Duration) string {
	if b.base == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f × an empty program", float64(d)/float64(b.base))
}

func (b *bench) print() {
	head := row{"what", "figure", "budget", "beside it"}
	rows := append([]row{head}, b.rows...)
	var w [3]int
	for _, r := range rows {
		for i, s := range []string{r.what, r.figure, r.budget} {
			w[i] = max(w[i], len([]rune(s)))
		}
	}
	for _, r := range rows {
		fmt.Printf("%s  %s  %s  %s\n", pad(r.what, w[0]), pad(r.figure, w[1]), pad(r.budget, w[2]), r.beside)
	}
}

func pad(s string, w int) string { return s + strings.Repeat(" ", max(w-len([]rune(s)), 0)) }

// floor measures what a process costs here at all.
func (b *bench) floor() error {
	list, err := times(b.scale(100, 10), clean(), b.empty)
	if err != nil {
		return err
	}
	b.base = quantile(list, 0.5)
	b.add("an empty Go program", ms(b.base), "", fmt.Sprintf("p99 %s", ms(quantile(list, 0.99))))
	if node, err := exec.LookPath("node"); err == nil {
		list, err := times(b.scale(20, 3), clean(), node, "-e", "0")
		if err != nil {
			return err
		}
		b.add("node -e 0", ms(quantile(list, 0.5)), "", b.timesEmpty(quantile(list, 0.5)))
	}
	return nil
}

// send measures a whole `bureau send`, synced to the disk.
func (b *bench) send() error {
	env, err := b.office("send")
	if err != nil {
		return err
	}
	if err := b.register(env, "ana", "bob"); err != nil {
		return err
	}
	n := b.scale(200, 10)
	list, err := times(n, env, b.bureau, "send", "--as", "ana", "bob", "a message of some length, as people write them")
	if err != nil {
		return err
	}
	b.add("bureau send, whole process, alone", ms(quantile(list, 0.5)), "≤ 15 ms", b.timesEmpty(quantile(list, 0.5))+", p99 "+ms(quantile(list, 0.99)))
	more, err := times(b.scale(800, 10), env, b.bureau, "send", "--as", "ana", "bob", "a message of some length, as people write them")
	if err != nil {
		return err
	}
	tenth := max(len(more)/10, 1)
	b.add(fmt.Sprintf("the same after %d sends", n+len(more)), ms(quantile(more[len(more)-tenth:], 0.5)), "flat", "log "+size(filepath.Join(b.dir, "send", "office", "office.db-wal")))
	return nil
}

func size(path string) string {
	st, err := os.Stat(path)
	if err != nil {
		return "0 KB"
	}
	return fmt.Sprintf("%d KB", st.Size()/1024)
}

func (b *bench) register(env []string, names ...string) error {
	for _, n := range names {
		if _, err := call(env, b.bureau, "register", n); err != nil {
			return err
		}
	}
	return nil
}

// context that no measurement outlives.
func bounded() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 5*time.Minute)
}
