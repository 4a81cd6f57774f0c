package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"bureau/internal/office"
	"bureau/internal/paper/transcript"
	"bureau/internal/room"
)

// What multiagent-mcp 0.1 costs, as its own code was measured on a machine of
// this size: it writes transcript and state anew for every message.
const (
	olderPost       = "multiagent-mcp: 6 ms at none, 313 ms at 10,000"
	olderWake       = "multiagent-mcp: 176 ms by its poll of 0.3 s; in one process 11 ms at none, 955 ms at 10,000"
	olderTranscript = "multiagent-mcp: 5.5 MB read and 5.5 MB written for each message at 10,000"
)

// few is how many messages a young meeting has.
const few = 10

// rooms measures what a meeting costs when it is young and when it is old.
func (b *bench) rooms() error {
	env, err := b.office("rooms")
	if err != nil {
		return err
	}
	if err := b.register(env, "ana", "bob"); err != nil {
		return err
	}
	ctx, cancel := bounded()
	defer cancel()
	o, err := office.Open(ctx, office.Options{Home: filepath.Join(b.dir, "rooms", "office")})
	if err != nil {
		return err
	}
	defer o.Close()
	ana, in, err := debate(ctx, o)
	if err != nil {
		return err
	}
	many, n := b.scale(10_000, 300), b.scale(200, 20)
	say := func(count int) (list []time.Duration, err error) {
		for range count {
			begin := time.Now()
			if _, err := o.RoomSay(ctx, ana, in, office.Saying{Text: []byte("@bob a message of some length, as people write them")}); err != nil {
				return nil, err
			}
			list = append(list, time.Since(begin))
		}
		return list, nil
	}
	if _, err := say(few); err != nil {
		return err
	}
	young, err := say(n)
	if err != nil {
		return err
	}
	youngWake, err := b.roomWake(env, b.scale(200, 20))
	if err != nil {
		return err
	}
	if _, err := say(many - few - 2*n); err != nil {
		return err
	}
	old, err := say(n)
	if err != nil {
		return err
	}
	oldWake, err := b.roomWake(env, b.scale(200, 20))
	if err != nil {
		return err
	}
	b.add(fmt.Sprintf("room post at %d messages, stored and synced", few), ms(quantile(young, 0.5)), "", olderPost)
	b.compared(fmt.Sprintf("the same at %d", many), old, young)
	b.add(fmt.Sprintf("room post → waiting member awake, other process, p50 at %d", few+n), ms(quantile(youngWake, 0.5)), "≤ 5 ms", olderWake)
	b.add(fmt.Sprintf("the same at %d", many), ms(quantile(oldWake, 0.5)), "≤ 5 ms", "p99 "+ms(quantile(oldWake, 0.99)))
	return b.transcripts(ctx, many, n)
}

// compared adds a figure that must be what another one is.
func (b *bench) compared(what string, list, before []time.Duration) {
	ratio := float64(quantile(list, 0.5)) / float64(quantile(before, 0.5))
	b.add(what, ms(quantile(list, 0.5)), "the same ± 20 %", fmt.Sprintf("%.2f × of that, p99 %s", ratio, ms(quantile(list, 0.99))))
}

// debate opens a room of ana and bob, in which both are and anybody speaks.
func debate(ctx context.Context, o *office.Office) (ana office.Caller, in office.Sitting, err error) {
	in = office.Sitting{Room: "debate"}
	if ana, err = o.Identify(ctx, office.Claim{As: "ana"}); err != nil {
		return ana, in, err
	}
	bob, err := o.Identify(ctx, office.Claim{As: "bob"})
	if err != nil {
		return ana, in, err
	}
	_, err = o.RoomOpen(ctx, ana, office.Opening{
		Name: in.Room, Settings: room.Settings{Floor: room.OpenTalk}, Members: []office.Invitation{{Handle: "ana"}, {Handle: "bob"}},
	})
	if err != nil {
		return ana, in, err
	}
	for _, c := range []office.Caller{ana, bob} {
		if _, err := o.RoomJoin(ctx, c, in, office.Joining{}); err != nil {
			return ana, in, err
		}
	}
	return ana, in, nil
}

// roomWake measures from before a post to the member that waits for it, in
// another process than the one that posts.
func (b *bench) roomWake(env []string, n int) ([]time.Duration, error) {
	w, err := b.worker(env, "listener", "bob", strconv.Itoa(n))
	if err != nil {
		return nil, err
	}
	s, err := b.worker(env, "speaker", "ana", strconv.Itoa(n))
	if err != nil {
		return nil, err
	}
	list, _, err := together([]*process{w, s})
	return list, err
}

// clockWord stands before the clock in a speaker's message.
const clockWord = "@bob at "

// listener reads all that there is, then waits in the room as bob and prints,
// for each message, the microseconds from the clock reading in its text to now.
func listener(ctx context.Context, o *office.Office, args []string) error {
	in := office.Sitting{Room: "debate", Hooked: true}
	me, err := o.Identify(ctx, office.Claim{As: args[0]})
	if err != nil {
		return err
	}
	for {
		s, err := o.RoomSlice(ctx, me, in, office.Taking{Limit: office.MaxPage, Bytes: 1 << 20})
		if err != nil {
			return err
		}
		if len(s.Entries) == 0 {
			break
		}
		if err := o.RoomProve(ctx, me, s.Receipt); err != nil {
			return err
		}
	}
	_, n, err := begin(ctx, o, args)
	if err != nil {
		return err
	}
	for got := 0; got < n; {
		w, err := o.RoomWait(ctx, me, in, office.Waiting{For: office.ForMessage, Timeout: time.Minute})
		if err != nil {
			return err
		}
		now := time.Now()
		if w.Status != office.RoomReceived {
			return fmt.Errorf("the wait ended with %s after %d messages", w.Status, got)
		}
		for i := range w.Entries {
			word, found := strings.CutPrefix(w.Entries[i].Text, clockWord)
			if !found {
				continue
			}
			at, err := strconv.ParseInt(word, 10, 64)
			if err != nil {
				return err
			}
			fmt.Println(now.Sub(time.Unix(0, at)).Microseconds())
			got++
		}
		in.Receipt = w.Receipt // proved by the next call
	}
	return nil
}

// speaker says N things in the room, each with the clock in it, as it stands
// before the message is stored.
func speaker(ctx context.Context, o *office.Office, args []string) error {
	me, n, err := begin(ctx, o, args)
	if err != nil {
		return err
	}
	for range n {
		time.Sleep(20 * time.Millisecond)
		text := clockWord + strconv.FormatInt(time.Now().UnixNano(), 10)
		if _, err := o.RoomSay(ctx, me, office.Sitting{Room: "debate"}, office.Saying{Text: []byte(text)}); err != nil {
			return err
		}
	}
	return nil
}

// transcripts measures the live file alone.
func (b *bench) transcripts(ctx context.Context, many, n int) error {
	begun := time.Now().UTC().Truncate(time.Second)
	head := transcript.Header{Topic: "a topic", Opened: begun, File: "debate.md", Turn: "bob"}
	for _, h := range []string{"ana", "bob"} {
		head.Members = append(head.Members, transcript.Member{Handle: h, Status: transcript.Present, Joined: begun})
	}
	f, err := transcript.Create(transcript.Spec{Root: b.dir, Path: "debate.md", Room: "bench"}, head)
	if err != nil {
		return err
	}
	write := func(count int) (list []time.Duration, err error) {
		for range count {
			head.Seq++
			e := transcript.Entry{Seq: head.Seq, Kind: transcript.Message, From: "ana", To: []string{"bob"}, Time: begun, Body: "a message of some length, as *people* write them"}
			begin := time.Now()
			if err := f.Append(ctx, head, e); err != nil {
				return nil, err
			}
			list = append(list, time.Since(begin))
		}
		return list, nil
	}
	if _, err := write(few); err != nil {
		return err
	}
	young, err := write(n)
	if err != nil {
		return err
	}
	if _, err := write(many - few - 2*n); err != nil {
		return err
	}
	old, err := write(n)
	if err != nil {
		return err
	}
	st, err := os.Stat(f.Path())
	if err != nil {
		return err
	}
	b.add(fmt.Sprintf("transcript append at %d messages", few), ms(quantile(young, 0.5)), "", olderTranscript)
	b.compared(fmt.Sprintf("the same at %d, %d KB", many, st.Size()/1024), old, young)
	return nil
}
