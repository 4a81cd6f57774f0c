package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"bureau/internal/event"
	"bureau/internal/journal"
	"bureau/internal/journal/memory"
	"bureau/internal/mail"
	"bureau/internal/name"
	"bureau/internal/office"
	"bureau/internal/roster"
)

// fill makes an office with a history, in another process: what this one holds
// in memory would count as its children's. It gives the time that filling the
// tables took.
func (b *bench) fill(env []string, messages, unread int) (time.Duration, error) {
	cmd := exec.Command(b.self, "worker", "fill", strconv.Itoa(messages), strconv.Itoa(unread))
	cmd.Env, cmd.Stderr = env, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, err
	}
	return time.ParseDuration(strings.TrimSpace(string(out)))
}

// fillHere writes a journal in memory, imports it as a whole, and prints the
// time that filling the tables took. fill MESSAGES UNREAD
func fillHere(args []string) error {
	messages, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	unread, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	took, err := history(messages, unread)
	if err == nil {
		fmt.Println(took)
	}
	return err
}

func history(messages, unread int) (time.Duration, error) {
	ctx, cancel := bounded()
	defer cancel()
	j := memory.New()
	at := time.Now().Add(-30 * 24 * time.Hour).UTC().Truncate(time.Millisecond)
	write := func(s event.Subject, events ...event.Event) error {
		at = at.Add(20 * time.Millisecond)
		v, err := j.Version(ctx, s)
		if err != nil {
			return err
		}
		_, _, err = j.Append(ctx, journal.Entry{ID: event.NewID(at), Subject: s, Expect: &v, Time: at, Events: events})
		return err
	}
	ids := map[string]event.ID{}
	for who, kind := range map[string]roster.Kind{"user": roster.Human, "ana": roster.Terminal, "bob": roster.Terminal} {
		ids[who] = event.NewID(at)
		if err := write(event.Names, event.New(roster.KindRegistered, roster.Registered{
			Agent: ids[who], Name: name.Name(who), Kind: kind, Seat: name.Name(who).Key(),
		})); err != nil {
			return 0, err
		}
	}
	body := strings.Repeat("a message of some length, as people write them. ", 8)
	var seen []event.ID
	for i := range messages {
		thread, id := event.NewID(at), event.NewID(at)
		err := write(event.ThreadSubject(thread),
			event.New(mail.KindOpened, mail.Opened{Thread: thread, Subject: "s", Owner: ids["ana"], Members: []event.ID{ids["ana"], ids["bob"]}, Hops: 8}),
			event.New(mail.KindSent, mail.Message{ID: id, From: ids["ana"], To: []event.ID{ids["bob"]}, Kind: mail.Note, Body: fmt.Sprintf("%s %d", body, i)}))
		if err != nil {
			return 0, err
		}
		if i < messages-unread {
			seen = append(seen, id)
		}
		if len(seen) == 50 {
			if err := write(event.AgentSubject(ids["bob"]), event.New(mail.KindSeen, mail.Marked{Messages: seen, Via: "bench"})); err != nil {
				return 0, err
			}
			seen = nil
		}
	}
	var file bytes.Buffer
	if _, err := journal.Export(ctx, j, &file, 0); err != nil {
		return 0, err
	}
	return load(ctx, &file)
}

func load(ctx context.Context, file *bytes.Buffer) (time.Duration, error) {
	o, err := office.Open(ctx, office.Options{Create: true, Bare: true})
	if err != nil {
		return 0, err
	}
	defer o.Close()
	if _, err := o.Import(ctx, office.Caller{Human: true}, file, nil); err != nil {
		return 0, err
	}
	begin := time.Now()
	if err := o.Rebuild(ctx); err != nil {
		return 0, err
	}
	return time.Since(begin), nil
}
