package office

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/presence"
	"bureau/internal/proc"
	"bureau/internal/roster"
)

// clock is a time that a test sets.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// openDesk opens an office in a temporary folder with a clock of its own.
func openDesk(t *testing.T, opts Options) *desk {
	t.Helper()
	if opts.Home == "" {
		opts.Home, opts.Create = filepath.Join(t.TempDir(), "office"), true
	}
	o, err := Open(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.Close(); err != nil {
			t.Error(err)
		}
		if opts.Create {
			os.RemoveAll(o.RuntimeDir().Path())
		}
	})
	return &desk{t, o}
}

// beside opens the same office once more, as another process would.
func (d *desk) beside(opts Options) *desk {
	d.t.Helper()
	opts.Home = d.Home()
	if opts.Now == nil {
		opts.Now = d.now
	}
	return openDesk(d.t, opts)
}

// deadProcess names a process that is gone.
func deadProcess(n int) roster.Process {
	return roster.Process{PID: 1<<22 - 1 - n, Start: 1, Host: proc.Host()}
}

// session starts a session of a client in a process.
func (d *desk) session(id string, p roster.Process, project Project) Caller {
	d.t.Helper()
	return d.begin(Session{Client: "claude", ID: id, Process: p, Folder: project.Root, Project: project})
}

func (d *desk) begin(s Session) Caller {
	d.t.Helper()
	done, err := d.StartSession(context.Background(), s)
	if err != nil {
		d.t.Fatal(err)
	}
	return Caller{Agent: done.Agent, Process: s.Process, Session: s.ID, Project: s.Project}
}

// project makes a project in a temporary folder.
func (d *desk) project(name string) Project {
	root := filepath.Join(filepath.Dir(d.Home()), "work", name)
	return Project{ID: ProjectID(root), Name: name, Root: root}
}

// sound fails the test if the tables are not what a full fold gives.
func (d *desk) sound() {
	d.t.Helper()
	list, err := d.CompareTables(context.Background(), 20)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, x := range list {
		d.t.Error(x)
	}
	if len(list) > 0 {
		d.t.FailNow()
	}
}

// want fails the test unless err carries the code.
func (d *desk) want(code fault.Code, err error) {
	d.t.Helper()
	if !fault.Is(err, code) {
		d.t.Fatalf("%v, want %s", err, code)
	}
}

// unread lists all of an agent's unread mail, page by page, and checks that the
// counts say as much.
func (d *desk) unread(c Caller, pageSize int) []MessageView {
	d.t.Helper()
	return d.walk(c, false, pageSize)
}

func (d *desk) walk(c Caller, all bool, pageSize int) (list []MessageView) {
	d.t.Helper()
	page := Page{Limit: pageSize}
	for {
		box, err := d.Inbox(context.Background(), c, all, page)
		if err != nil {
			d.t.Fatal(err)
		}
		list = append(list, box.Messages...)
		if box.Next == "" {
			if box.Total != len(list) {
				d.t.Fatalf("%s: %d listed, the total is %d", c.Agent.Name, len(list), box.Total)
			}
			return list
		}
		page.From = box.Next
	}
}

// sentState gives the state of a message as its sender sees it.
func (d *desk) sentState(c Caller, id event.ID) MessageView {
	d.t.Helper()
	page := Page{Limit: 100}
	for {
		list, err := d.SentMail(context.Background(), c, page)
		if err != nil {
			d.t.Fatal(err)
		}
		for _, m := range list.Messages {
			if m.ID == id {
				return m
			}
		}
		if list.Next == "" {
			d.t.Fatalf("%s did not send %s", c.Agent.Name, id)
		}
		page.From = list.Next
	}
}

// self is the process of the test, which lives.
func self() roster.Process { return presence.Self() }
