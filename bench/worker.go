package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"bureau/internal/event"
	"bureau/internal/office"
)

// A worker is this program in another process. It prints "ready", starts when
// its standard input says so, and prints what it measured, one value a line.

// work is the worker's side: the name of a job and its arguments.
func work(args []string) error {
	switch args[0] {
	case "hold":
		return hold()
	case "fill":
		return fillHere(args[1:])
	}
	ctx, cancel := bounded()
	defer cancel()
	jobs := map[string]func(context.Context, *office.Office, []string) error{"sender": sender, "waiter": waiter, "ringer": ringer, "listener": listener, "speaker": speaker}
	job, ok := jobs[args[0]]
	if !ok {
		return fmt.Errorf("no job %q", args[0])
	}
	o, err := office.Open(ctx, office.Options{Create: true})
	if err != nil {
		return err
	}
	defer o.Close()
	return job(ctx, o, args[1:])
}

// begin reads who a worker is and how often it does its job, and waits for the
// word to start.
func begin(ctx context.Context, o *office.Office, args []string) (me office.Caller, n int, err error) {
	if me, err = o.Identify(ctx, office.Claim{As: args[0]}); err != nil {
		return me, 0, err
	}
	if n, err = strconv.Atoi(args[1]); err != nil {
		return me, 0, err
	}
	fmt.Println("ready")
	_, err = bufio.NewReader(os.Stdin).ReadString('\n')
	return me, n, err
}

// sender sends N messages to bob, one every D, and prints each one's
// microseconds. sender NAME N D
func sender(ctx context.Context, o *office.Office, args []string) error {
	every, err := time.ParseDuration(args[2])
	if err != nil {
		return err
	}
	me, n, err := begin(ctx, o, args)
	if err != nil {
		return err
	}
	// Sessions do not write in step: each begins somewhere in its interval.
	next := time.Now()
	if every > 0 {
		next = next.Add(rand.N(every))
	}
	for range n {
		if every > 0 {
			time.Sleep(time.Until(next))
			next = next.Add(every)
		}
		before := time.Now()
		if _, err := o.Send(ctx, me, office.Letter{To: []string{"bob"}, Body: []byte("a message of some length, as people write them")}); err != nil {
			return err
		}
		fmt.Println(time.Since(before).Microseconds())
	}
	return nil
}

// waiter waits for mail as bob and prints, for each message, the microseconds
// from the clock reading in its text to now.
func waiter(ctx context.Context, o *office.Office, args []string) error {
	me, n, err := begin(ctx, o, args)
	if err != nil {
		return err
	}
	for got := 0; got < n; {
		if _, err := o.WaitMail(ctx, me); err != nil {
			return err
		}
		now := time.Now()
		list, _, err := o.Take(ctx, me, 100, office.DefaultLease)
		if err != nil {
			return err
		}
		ids := make([]event.ID, 0, len(list))
		for _, m := range list {
			sent, err := strconv.ParseInt(m.Body, 10, 64)
			if err != nil {
				return err
			}
			fmt.Println(now.Sub(time.Unix(0, sent)).Microseconds())
			ids = append(ids, m.ID)
			got++
		}
		if err := o.Seen(ctx, me, ids, "bench"); err != nil {
			return err
		}
	}
	return nil
}

// ringer sends N messages with the clock in their text. The clock is read
// before the message is stored, so what the waiter prints is all of it: store,
// sync, ring, wake, look.
func ringer(ctx context.Context, o *office.Office, args []string) error {
	me, n, err := begin(ctx, o, args)
	if err != nil {
		return err
	}
	for range n {
		time.Sleep(20 * time.Millisecond)
		text := strconv.FormatInt(time.Now().UnixNano(), 10)
		if _, err := o.Send(ctx, me, office.Letter{To: []string{"bob"}, Body: []byte(text)}); err != nil {
			return err
		}
	}
	return nil
}

// process is the other side: a running worker.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func (b *bench) worker(env []string, args ...string) (*process, error) {
	cmd := exec.Command(b.self, append([]string{"worker"}, args...)...)
	cmd.Env, cmd.Stderr = env, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, in: in, out: bufio.NewScanner(out)}
	if !p.out.Scan() || p.out.Text() != "ready" {
		return nil, fmt.Errorf("worker %s did not get ready", strings.Join(args, " "))
	}
	return p, nil
}

func (p *process) begin() error {
	_, err := io.WriteString(p.in, "go\n")
	return err
}

// values reads what the worker measured, to its end.
func (p *process) values() ([]time.Duration, error) {
	var list []time.Duration
	for p.out.Scan() {
		n, err := strconv.ParseInt(p.out.Text(), 10, 64)
		if err != nil {
			return nil, err
		}
		list = append(list, time.Duration(n)*time.Microsecond)
	}
	return list, p.cmd.Wait()
}

// together starts all workers at once and gives all their values.
func together(ps []*process) (list []time.Duration, took time.Duration, err error) {
	begin := time.Now()
	for _, p := range ps {
		if err := p.begin(); err != nil {
			return nil, 0, err
		}
	}
	type result struct {
		list []time.Duration
		err  error
	}
	done := make(chan result)
	for _, p := range ps {
		go func() {
			v, err := p.values()
			done <- result{v, err}
		}()
	}
	for range ps {
		r := <-done
		list = append(list, r.list...)
		if r.err != nil {
			err = r.err
		}
	}
	return list, time.Since(begin), err
}
