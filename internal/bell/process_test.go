package bell

import (
	"slices"
	"testing"
	"time"
)

// Everybody hears a ring, also those of many topics and more of them than one
// sending socket can reach.
func TestManyProcesses(t *testing.T) {
	dir := bellDir(t)
	const many = 150
	others := make([]*other, many)
	for i := range others {
		others[i] = startOther(t, dir, "all")
	}
	for _, o := range others {
		o.ready(t)
	}
	for range 3 {
		before := time.Now()
		ring(t, many, dir, "all")
		took := time.Since(before)
		var delays []time.Duration
		for _, o := range others {
			delays = append(delays, o.woke(t).Sub(before))
		}
		slices.Sort(delays)
		t.Logf("%d rung in %v, awake after: median %v, last %v", many, took, delays[many/2], delays[many-1])
	}
}

func TestAKilledProcessIsForgotten(t *testing.T) {
	dir := bellDir(t)
	killed := startOther(t, dir, anna, "all")
	killed.ready(t)
	alive := listen(t, dir, "all")
	ring(t, 1, dir, anna)
	killed.cmd.Process.Kill()
	killed.cmd.Wait()
	if n := len(files(t, dir, "all")); n != 2 {
		t.Fatalf("before the ring there are %d sockets", n)
	}
	ring(t, 1, dir, "all")
	if n := len(files(t, dir, "all")); n != 1 {
		t.Errorf("the dead one is still there: %d sockets", n)
	}
	if n, err := Sweep(dir); n != 1 || err != nil {
		t.Errorf("Sweep = %d %v, want 1: the dead one's other topic", n, err)
	}
	if left := files(t, dir, anna); left != nil {
		t.Errorf("its folder holds %q", left)
	}
	if rung, _ := alive.Wait(t.Context(), patience); !rung {
		t.Error("the live one was not rung")
	}
	if rung, _ := alive.Wait(t.Context(), 20*time.Millisecond); rung {
		t.Error("the sweep rang")
	}
}

// BenchmarkRing is the time from just before the ring to the waiter running in
// another process.
func BenchmarkRing(b *testing.B) {
	dir := bellDir(b)
	o := startOther(b, dir, anna)
	o.ready(b)
	var wake, send []time.Duration
	for b.Loop() {
		// A pause lets the waiter fall asleep, as a real one is.
		time.Sleep(2 * time.Millisecond)
		before := time.Now()
		ring(b, 1, dir, anna)
		send = append(send, time.Since(before))
		wake = append(wake, o.woke(b).Sub(before))
	}
	report(b, "send", send)
	report(b, "wake", wake)
	b.ReportMetric(0, "ns/op") // it measures the pause
}

func report(b *testing.B, what string, all []time.Duration) {
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2].Microseconds()), what+"-p50-us")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), what+"-p99-us")
}

// BenchmarkRingNobody is the cost for a sender when nobody waits.
func BenchmarkRingNobody(b *testing.B) {
	dir := bellDir(b)
	for b.Loop() {
		ring(b, 0, dir, anna, "all")
	}
}
