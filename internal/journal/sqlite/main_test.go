package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"bureau/internal/db"
	"bureau/internal/event"
	"bureau/internal/journal"
)

// The test binary is also the program of the tests with many processes: with
// childEnv set it runs a function of children.
const childEnv = "BUREAU_JOURNAL_TEST_CHILD"

var children = map[string]func(args []string) error{
	"hello": func([]string) error { return nil },
	"once":  onceChild,
	"write": writeChild,
}

func TestMain(m *testing.M) {
	if name := os.Getenv(childEnv); name != "" {
		if err := children[name](os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// child prepares a run of a function of children.
func child(t testing.TB, name string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), childEnv+"="+name)
	cmd.Stderr = os.Stderr
	return cmd
}

var options = db.Options{Create: true, AppID: AppID}

// with opens the journal in a file, runs fn and closes it, as a short process
// does.
func with(path string, fn func(*Engine) error) (err error) {
	d, err := db.Open(context.Background(), path, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	e, err := Open(context.Background(), d)
	if err != nil {
		return err
	}
	return fn(e)
}

// mail is an entry of a usual size.
func mail(id event.ID, subject string) journal.Entry {
	return journal.Entry{
		ID: id, Subject: event.Subject(subject), Project: "01JZ0000000000000000000000",
		Actor:  event.Actor{Agent: "01JZ0000000000000000000000", Name: "x@y", PID: os.Getpid(), Host: "0123456789ab"},
		Events: []event.Event{event.New("mail.sent", map[string]string{"body": fmt.Sprintf("%0300d", 1)})},
	}
}

// onceChild appends one record: path, id.
func onceChild(args []string) error {
	return with(args[0], func(e *Engine) error {
		_, _, err := e.Append(context.Background(), mail(event.ID(args[1]), "thread.once"))
		return err
	})
}

// writeChild appends records and says so after each: path, name, first number,
// count (0: for ever), pause between two. Every 20th record it opens the journal
// anew, unless it pauses: then it is a session that stays.
func writeChild(args []string) error {
	path, name := args[0], args[1]
	first, err1 := strconv.Atoi(args[2])
	count, err2 := strconv.Atoi(args[3])
	pause, err3 := time.ParseDuration(args[4])
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	stay := 20
	if pause > 0 {
		stay = count
		time.Sleep(rand.N(pause))
	}
	out := bufio.NewWriter(os.Stdout)
	for n := first; count == 0 || n < first+count; {
		err := with(path, func(e *Engine) error {
			for range stay {
				if count > 0 && n >= first+count {
					return nil
				}
				start := time.Now()
				if err := write(e, name, n); err != nil {
					return err
				}
				took := time.Since(start)
				fmt.Fprintln(out, n, took.Nanoseconds())
				if err := out.Flush(); err != nil {
					return err
				}
				n++
				if pause > 0 {
					time.Sleep(pause - time.Since(start))
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("%s %d: %w", name, n, err)
		}
	}
	return nil
}

// writeID is the id of a writer's n-th record.
func writeID(name string, n int) event.ID { return event.Derive("write", name, strconv.Itoa(n)) }

// write appends a writer's n-th record in one of three ways: without an
// expectation; with one, in one transaction, as the office does; or with one
// that was read before and may be out of date.
func write(e *Engine, name string, n int) error {
	entry := mail(writeID(name, n), "thread."+strconv.Itoa(n%4))
	ctx := context.Background()
	switch {
	case n%4 < 2:
		_, _, err := e.Append(ctx, entry)
		return err
	case n%8 < 7:
		return e.d.Update(ctx, func(tx *db.Tx) error {
			v, err := e.In(tx).Version(entry.Subject)
			if err != nil {
				return err
			}
			entry.Expect = &v
			_, _, err = e.In(tx).Append(entry)
			return err
		})
	}
	for {
		v, err := e.Version(ctx, entry.Subject)
		if err != nil {
			return err
		}
		entry.Expect = &v
		_, _, err = e.Append(ctx, entry)
		var conflict *journal.ErrConflict
		if !errors.As(err, &conflict) {
			return err
		}
	}
}
