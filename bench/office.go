package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// paced measures fifty processes that each write now and then, as sessions do.
func (b *bench) paced() error {
	list, _, err := b.senders("paced", b.scale(50, 8), b.scale(200, 5), 100*time.Millisecond)
	if err != nil {
		return err
	}
	b.add(fmt.Sprintf("send, %d processes, one each 100 ms for 20 s: p99", b.scale(50, 8)), ms(quantile(list, 0.99)), "≤ 25 ms", "median "+ms(quantile(list, 0.5))+", max "+ms(quantile(list, 1)))
	return nil
}

// sustained measures eight processes that write as fast as they can.
func (b *bench) sustained() error {
	n := b.scale(500, 20)
	list, took, err := b.senders("sustained", 8, n, 0)
	if err != nil {
		return err
	}
	b.add("sustained sends, 8 processes, synced", fmt.Sprintf("%.0f/s", float64(len(list))/took.Seconds()), "≥ 500/s", "p99 "+ms(quantile(list, 0.99)))
	return nil
}

func (b *bench) senders(name string, processes, n int, every time.Duration) ([]time.Duration, time.Duration, error) {
	env, err := b.office(name)
	if err != nil {
		return nil, 0, err
	}
	if err := b.register(env, "bob", "ana"); err != nil {
		return nil, 0, err
	}
	var ps []*process
	for range processes {
		p, err := b.worker(env, "sender", "ana", strconv.Itoa(n), every.String())
		if err != nil {
			return nil, 0, err
		}
		ps = append(ps, p)
	}
	return together(ps)
}

// wake measures from before a send to the receiver awake with the message.
func (b *bench) wake() error {
	env, err := b.office("wake")
	if err != nil {
		return err
	}
	if err := b.register(env, "ana", "bob"); err != nil {
		return err
	}
	n := strconv.Itoa(b.scale(300, 20))
	w, err := b.worker(env, "waiter", "bob", n)
	if err != nil {
		return err
	}
	r, err := b.worker(env, "ringer", "ana", n)
	if err != nil {
		return err
	}
	list, _, err := together([]*process{w, r})
	if err != nil {
		return err
	}
	b.add("send → blocked receiver awake, p50", ms(quantile(list, 0.5)), "≤ 5 ms", "storing and syncing included")
	b.add("the same, p99", ms(quantile(list, 0.99)), "≤ 25 ms", "")
	return nil
}

// idle measures what waiting costs: many `bureau inbox --wait` at once.
func (b *bench) idle() error {
	env, err := b.office("idle")
	if err != nil {
		return err
	}
	if err := b.register(env, "ana", "bob"); err != nil {
		return err
	}
	n := b.scale(500, 20)
	seconds := b.scale(20, 3)
	var cmds []*exec.Cmd
	defer func() {
		for _, c := range cmds {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	}()
	for range n {
		c := exec.Command(b.bureau, "inbox", "--as", "bob", "--wait", "5m")
		c.Env = env
		if err := c.Start(); err != nil {
			return err
		}
		cmds = append(cmds, c)
	}
	time.Sleep(time.Duration(b.scale(10, 2)) * time.Second)
	before, ok := cpu(cmds)
	if !ok {
		b.add("idle waiters", "not measured here", "≤ 0.1 % of a core", "needs /proc")
		return nil
	}
	time.Sleep(time.Duration(seconds) * time.Second)
	after, _ := cpu(cmds)
	share := 100 * (after - before).Seconds() / float64(seconds) / float64(n)
	b.add(fmt.Sprintf("idle waiter, one of %d", n), fmt.Sprintf("%.3f %% of a core", share), "≤ 0.1 % of a core", fmt.Sprintf("%.1f %% for all", share*float64(n)))
	begin := time.Now()
	if _, err := call(env, b.bureau, "send", "--as", "ana", "bob", "wake up"); err != nil {
		return err
	}
	sent := time.Since(begin)
	for _, c := range cmds {
		_ = c.Wait()
	}
	b.add(fmt.Sprintf("one send that wakes %d", n), ms(sent), "", "they want the processors at once; all of them have ended after "+ms(time.Since(begin)))
	return nil
}

// cpu adds up the processor time of processes.
func cpu(cmds []*exec.Cmd) (time.Duration, bool) {
	var ticks int64
	for _, c := range cmds {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(c.Process.Pid) + "/stat")
		if err != nil {
			return 0, false
		}
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		for _, f := range fields[11:13] {
			n, _ := strconv.ParseInt(f, 10, 64)
			ticks += n
		}
	}
	return time.Duration(ticks) * 10 * time.Millisecond, true // USER_HZ is 100 on Linux
}

// large measures the same things in an office with a long history.
func (b *bench) large() error {
	env, err := b.office("large")
	if err != nil {
		return err
	}
	messages, unread := b.scale(100_000, 2_000), b.scale(10_000, 200)
	took, err := b.fill(env, messages, unread)
	if err != nil {
		return err
	}
	b.add(fmt.Sprintf("tables filled from %d messages", messages), took.Round(time.Millisecond).String(), "", "done once, after an import or an upgrade")
	n := b.scale(50, 5)
	list, err := times(n, env, b.bureau, "send", "--as", "ana", "bob", "one more")
	if err != nil {
		return err
	}
	b.add(fmt.Sprintf("bureau send with %d messages, %d unread", messages, unread), ms(quantile(list, 0.5)), "≤ 15 ms", b.timesEmpty(quantile(list, 0.5)))
	if list, err = times(n, env, b.bureau, "inbox", "--as", "bob", "--json"); err != nil {
		return err
	}
	b.add("bureau inbox there", ms(quantile(list, 0.5)), "", b.timesEmpty(quantile(list, 0.5)))
	first, err := call(env, b.bureau, "search", "length")
	if err != nil {
		return err
	}
	if list, err = times(n, env, b.bureau, "search", "needle"); err != nil {
		return err
	}
	b.add("bureau search there", ms(quantile(list, 0.5)), "", "the first one, which builds the index: "+first.Round(time.Millisecond).String())
	if err := b.hookIn(env, fmt.Sprintf(", with %d messages, %d unread of others", messages, unread), b.scale(100, 5), b.scale(30, 3)); err != nil {
		return err
	}
	b.add("store", size(filepath.Join(b.dir, "large", "office", "office.db")), "", "")
	return nil
}
