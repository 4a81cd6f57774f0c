package office

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"bureau/internal/event"
	"bureau/internal/name"
	"bureau/internal/room"
)

// TestARoomCostsTheSameWhenItIsLong counts the statements of what members do
// and the steps that the store takes for them: after ten thousand messages they
// are what they were after ten.
func TestARoomCostsTheSameWhenItIsLong(t *testing.T) {
	ctx := t.Context()
	d := openDesk(t, Options{})
	ana, bob := d.agent("ana"), d.agent("bob")
	dir := t.TempDir()
	v := d.opened(ana, Opening{Name: "r", Settings: room.Settings{Floor: room.OpenTalk}, Transcript: &TranscriptOptions{Root: dir, Path: filepath.Join(dir, "r.md")}}, "ana", "bob", "carla")
	d.joined(in("r"), ana, bob)
	read := func() {
		t.Helper()
		for more := true; more; {
			got, err := d.RoomSlice(ctx, bob, in("r"), Taking{Limit: MaxPage, Bytes: 1 << 20})
			if err != nil {
				t.Fatal(err)
			}
			if err := d.RoomShown(ctx, bob, got.Receipt); err != nil {
				t.Fatal(err)
			}
			more = got.More
		}
	}
	var statements, steps int
	err := d.store.Extend("trace", func(c *sqlite3.Conn) error {
		return c.Trace(sqlite3.TRACE_PROFILE, func(_ sqlite3.TraceEvent, statement, _ any) error {
			if s, ok := statement.(*sqlite3.Stmt); ok {
				statements++
				steps += s.Status(sqlite3.STMTSTATUS_VM_STEP, true)
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	type cost struct{ statements, steps int }
	measure := func() map[string]cost {
		out := map[string]cost{}
		for what, do := range map[string]func() error{
			"post": func() error {
				return ignore(d.RoomSay(ctx, ana, in("r"), Saying{Text: []byte("@bob hello")}))
			},
			"whisper": func() error {
				return ignore(d.RoomWhisper(ctx, ana, in("r"), Saying{Text: []byte("hello"), To: []string{"bob"}}))
			},
			"wait": func() error { return ignore(d.RoomWait(ctx, bob, in("r"), Waiting{For: ForMessage, Timeout: -1})) },
			"show": func() error { return ignore(d.RoomShow(ctx, bob, in("r"))) },
			"last": func() error { return ignore(d.RoomHistory(ctx, bob, in("r"), HistoryPage{Last: 5})) },
			"list": func() error { return ignore(d.RoomList(ctx, bob, RoomFilter{})) },
		} {
			read()
			if what == "wait" || what == "show" {
				d.said(ana, in("r"), "@bob look")
			}
			statements, steps = 0, 0
			if err := do(); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			out[what] = cost{statements, steps}
		}
		return out
	}
	for i := range 10 {
		d.said(ana, in("r"), fmt.Sprint("@bob ", i))
	}
	measure() // what is compiled and cached once
	short := measure()
	d.lengthen(v.ID, 10_000)
	if _, err := d.RoomTranscriptSync(ctx, ana, in("r")); err != nil {
		t.Fatal(err)
	}
	long := measure()
	for what, was := range short {
		is := long[what]
		if is.statements > was.statements || is.steps > was.steps+was.steps/5+50 {
			t.Errorf("%s: %d statements and %d steps, after 10 messages %d and %d", what, is.statements, is.steps, was.statements, was.steps)
		}
	}
	t.Logf("after 10: %v", short)
	t.Logf("after 10,000: %v", long)
	d.sound()
}

// lengthen makes a room long, with many messages in each record; every tenth is a
// whisper.
func (d *desk) lengthen(id event.ID, messages int) {
	d.t.Helper()
	for messages > 0 {
		err := d.change(d.t.Context(), event.Actor{}, func(tx *Tx) error {
			row, _, err := d.tables.Room(tx.t, id)
			if err != nil {
				return err
			}
			var events []event.Event
			for i := range 500 {
				m := room.Message{Seq: row.Seq + 1 + int64(i), ID: event.NewID(time.Now()), From: "ana", To: []name.Name{"bob"}, Named: 1, Body: "@bob more"}
				kind := room.KindSaid
				if i%10 == 0 {
					kind = room.KindWhispered
				}
				events = append(events, event.New(kind, m))
			}
			messages -= len(events)
			_, err = tx.append("", event.RoomSubject(id), &row.Version, events)
			return err
		})
		if err != nil {
			d.t.Fatal(err)
		}
	}
}
