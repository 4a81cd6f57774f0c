package claude

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"bureau/internal/fault"
	"bureau/internal/proc"
)

func TestParseRecord(t *testing.T) {
	text, err := os.ReadFile("testdata/record.json")
	if err != nil {
		t.Fatal(err)
	}
	r, err := parseRecord(text)
	if err != nil {
		t.Fatal(err)
	}
	if r.Process.PID != 22821 || r.SessionID != "UUID" || r.CWD != "/srv/project" || r.Version != "2.1.332" || r.PeerProtocol != 1 ||
		r.Kind != "interactive" || r.Entrypoint != EntryTerminal || r.SocketPath != "/tmp/cc-socks/22821.sock" ||
		r.Name != "proj-90" || r.NameSource != "derived" || r.Status != Waiting || r.WaitingFor != "permission prompt" ||
		len(r.PeerFeatures) != 3 {
		t.Errorf("%+v", r)
	}
	if want := time.UnixMilli(1796041125947); !r.StatusUpdatedAt.Equal(want) {
		t.Errorf("status updated at %v, want %v", r.StatusUpdatedAt, want)
	}
	if comparableStart && r.Process.Start != 117887 {
		t.Errorf("start %d", r.Process.Start)
	}
}

func TestOddRecords(t *testing.T) {
	bad := []string{"", "{", "null", "[]", `"x"`, `{"pid":1}`, `{"pid":"1","sessionId":"s"}`, `{"pid":0,"sessionId":"s"}`, `{"pid":1,"sessionId":""}`}
	for _, text := range bad {
		if r, err := parseRecord([]byte(text)); err == nil {
			t.Errorf("%q gave %+v", text, r)
		}
	}
	// One field of a new form does not cost the others.
	r, err := parseRecord([]byte("\ufeff" + `{"pid":7,"sessionId":"s","status":{"now":"busy"},"statusUpdatedAt":"noon","peerProtocol":1.5,"startedAt":1e300,"name":"ana","new":[1]}`))
	if err != nil || r.Process.PID != 7 || r.Status != "" || !r.StatusUpdatedAt.IsZero() || !r.StartedAt.IsZero() || r.PeerProtocol != 0 || r.Name != "ana" {
		t.Errorf("%+v %v", r, err)
	}
}

func TestRecordNames(t *testing.T) {
	for name, want := range map[string]int{"12.json": 12, "0.json": 0, "-1.json": 0, "012.json": 0, "x.json": 0, "12.ab.key": 0, "12.json.tmp": 0, "12": 0} {
		if pid, ok := recordPID(name); ok != (want > 0) || ok && pid != want {
			t.Errorf("%s: %d %v", name, pid, ok)
		}
	}
}

// write puts a record for a process into a home.
func write(t *testing.T, h Home, id proc.ID, fields map[string]any) {
	t.Helper()
	r := map[string]any{"pid": id.PID, "sessionId": "s-" + strconv.Itoa(id.PID), "procStart": strconv.FormatInt(id.Start, 10), "peerProtocol": 1}
	for k, v := range fields {
		r[k] = v
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	put(t, h, id.PID, string(text))
}

func put(t *testing.T, h Home, pid int, text string) {
	t.Helper()
	if err := os.MkdirAll(h.Sessions(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.Sessions(), strconv.Itoa(pid)+".json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestRecordsOfTheLiving(t *testing.T) {
	one, two, none := Home{Dir: t.TempDir()}, Home{Dir: t.TempDir()}, Home{Dir: filepath.Join(t.TempDir(), "no")}
	self := proc.Self()
	parent, ok := proc.Of(os.Getppid())
	if !ok {
		t.Skip("the parent process cannot be seen")
	}
	write(t, one, self, map[string]any{"startedAt": 2000})
	write(t, two, parent, map[string]any{"startedAt": 1000})
	put(t, one, 1<<30, `{"pid":1073741824,"sessionId":"gone"}`)
	put(t, one, 1, `{"pid":1,"sessi`)
	put(t, two, 3, `{"pid":4,"sessionId":"another's"}`)
	got, err := Records([]Home{one, two, none})
	if err != nil || len(got) != 2 || got[0].Process.PID != parent.PID || got[1].Process.PID != self.PID || got[1].Home != one {
		t.Fatalf("%+v %v", got, err)
	}
	if r, err := RecordOf([]Home{none, one}, self.PID); err != nil || r.SessionID != got[1].SessionID {
		t.Errorf("%+v %v", r, err)
	}
	if _, err := RecordOf([]Home{one, two, none}, 99999999); !fault.Is(err, fault.NotFound) {
		t.Errorf("no record: %v", err)
	}
	if _, err := RecordOf([]Home{one}, 1<<30); !fault.Is(err, fault.NotFound) {
		t.Errorf("a dead process: %v", err)
	}
	if _, err := RecordOf([]Home{one}, 1); !fault.Is(err, fault.Unavailable) {
		t.Errorf("half a record: %v", err)
	}
}

// A process id that another process has now is not the session.
func TestReusedProcessID(t *testing.T) {
	if !comparableStart {
		t.Skip("start times do not compare here")
	}
	h := Home{Dir: t.TempDir()}
	self := proc.Self()
	write(t, h, proc.ID{PID: self.PID, Start: self.Start - 1}, nil)
	if got, err := Records([]Home{h}); err != nil || len(got) != 0 {
		t.Errorf("%+v %v", got, err)
	}
	// It does not hide the session that has the number now, in another home.
	now := Home{Dir: t.TempDir()}
	write(t, now, self, map[string]any{"sessionId": "now"})
	if r, err := RecordOf([]Home{h, now}, self.PID); err != nil || r.SessionID != "now" {
		t.Errorf("%+v %v", r, err)
	}
	write(t, h, self, map[string]any{"pidDomain": "linux:another-machine:pid:[1]"})
	if got, err := Records([]Home{h}); err != nil || len(got) != 0 {
		t.Errorf("a process of another machine: %+v %v", got, err)
	}
}

// The client writes in place: what is half there a moment is read again.
func TestHalfWrittenRecord(t *testing.T) {
	h := Home{Dir: t.TempDir()}
	self := proc.Self()
	put(t, h, self.PID, `{"pid":`)
	defer func() { sleep = time.Sleep }()
	waited := time.Duration(0)
	sleep = func(d time.Duration) {
		waited += d
		write(t, h, self, nil)
	}
	if _, err := RecordOf([]Home{h}, self.PID); err != nil || waited != halfWritten {
		t.Errorf("%v after %v", err, waited)
	}
	// One that stays half there is not waited for again and again.
	put(t, h, self.PID, `{"pid":`)
	waited, sleep = 0, func(d time.Duration) { waited += d }
	if r, err := RecordOf([]Home{h}, self.PID); err == nil || waited != halfWritten {
		t.Errorf("%+v, %v after %v", r, err, waited)
	}
}

func TestHomes(t *testing.T) {
	user := t.TempDir()
	other := t.TempDir()
	link := filepath.Join(user, "link")
	if err := os.Symlink(other, link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	env := func(m map[string]string) func(string) string { return func(k string) string { return m[k] } }
	plain := env(map[string]string{"HOME": user})
	moved := env(map[string]string{"HOME": user, EnvConfigDir: other})

	h, err := Homes(plain)
	if err != nil || len(h) != 1 || h[0].Settings() != filepath.Join(user, ".claude", "settings.json") || h[0].Global() != filepath.Join(user, ".claude.json") {
		t.Errorf("%+v %v", h, err)
	}
	h, err = Homes(moved)
	if err != nil || len(h) != 1 || h[0].Dir != other || h[0].Global() != filepath.Join(other, ".claude.json") {
		t.Errorf("%+v %v", h, err)
	}
	h, err = Homes(plain, filepath.Join(user, ".claude"), other, link, other)
	if err != nil || len(h) != 2 || !h[0].Default || h[1].Default || h[1].Dir != other {
		t.Errorf("%+v %v", h, err)
	}
	h, err = Homes(env(map[string]string{"HOME": user, EnvConfigDir: filepath.Join(user, ".claude")}))
	if err != nil || len(h) != 1 || h[0].Default {
		t.Errorf("the usual folder, named by the variable: %+v %v", h, err)
	}
	if _, err := Homes(plain, ""); !fault.Is(err, fault.Invalid) {
		t.Errorf("an empty folder: %v", err)
	}
}

func TestAttended(t *testing.T) {
	for _, tt := range []struct {
		attended, entry string
		want            bool
	}{{"", "", true}, {"1", EntryTerminal, true}, {"0", EntryTerminal, false}, {"", EntryPrint, false}} {
		got := Attended(func(k string) string {
			return map[string]string{EnvAttended: tt.attended, EnvEntrypoint: tt.entry}[k]
		})
		if got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

func TestVersions(t *testing.T) {
	for s, want := range map[string]Version{
		"2.1.332 (Claude Code)\n": {2, 1, 332}, "v2.0.1": {2, 0, 1}, "2.1.7-beta.1": {2, 1, 7},
		"": {}, "2.1": {}, "a.b.c": {}, "2.1.x": {}, "2.-1.0": {},
	} {
		if got, ok := ParseVersion(s); got != want || ok != want.Known() {
			t.Errorf("%q: %v %v", s, got, ok)
		}
	}
	if !Tested.Features().Inbox || !(Version{}).Features().ExecForm {
		t.Error("the tested and the unknown version can do all")
	}
	if f := (Version{2, 1, 50}).Features(); f.PostToolBatch || f.ExecForm || f.Inbox {
		t.Errorf("an old version: %+v", f)
	}
	if !(Version{3, 0, 0}).AtLeast(Tested) || (Version{2, 0, 999}).AtLeast(Tested) || !Tested.AtLeast(Tested) {
		t.Error("order of versions")
	}
}

func TestReadFileBounds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readFile(path, 4); err == nil {
		t.Error("read more than the limit")
	}
	if got, err := readFile(path, 5); err != nil || string(got) != "12345" {
		t.Errorf("%q %v", got, err)
	}
	if _, err := readFile(path+"x", 5); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// A zombie is gone.
func TestDeadSession(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	id, _ := proc.Of(cmd.Process.Pid)
	h := Home{Dir: t.TempDir()}
	write(t, h, proc.ID{PID: cmd.Process.Pid, Start: id.Start}, nil)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if got, err := Records([]Home{h}); err != nil || len(got) != 0 {
		t.Errorf("%+v %v", got, err)
	}
}
