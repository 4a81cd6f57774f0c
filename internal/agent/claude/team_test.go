package claude

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestTeammateName(t *testing.T) {
	for id, want := range map[string]string{
		"aworker1-a6803a4d675f854a":  "worker1",
		"aa-b-a6803a4d675f854a":      "a-b",
		"aprüfer-a6803a4d675f854a":   "prüfer",
		"ae96a787bd4008640":          "",
		"a-a6803a4d675f854a":         "",
		"aworker1-a6803a4d675f854":   "",
		"aworker1-A6803A4D675F854A":  "",
		"worker1@session-34a16368":   "",
		"":                           "",
		"bworker1-a6803a4d675f854a":  "",
		"aworker1-a6803a4d675f854ag": "",
	} {
		if got, ok := TeammateName(id); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", id, got, ok)
		}
	}
}

// The file is one that 2.1.332 wrote, shortened.
func TestTeammates(t *testing.T) {
	h := Home{Dir: t.TempDir()}
	homes := []Home{{Dir: filepath.Join(h.Dir, "none")}, h}
	if _, found := Teammates(homes, "S", 7); found {
		t.Error("a team without a file")
	}
	for name, text := range map[string]string{
		"broken": `{"leadSessionId":"S","members":[`,
		"other":  `{"leadSessionId":"T","leadProcess":{"pid":8},"members":[{"name":"x","backendType":"in-process"}]}`,
		"session-34a16368": `{"name":"session-34a16368","leadSessionId":"S","leadProcess":{"pid":7,"procStart":"2694402"},"members":[
			{"agentId":"team-lead@session-34a16368","name":"team-lead","tmuxPaneId":"leader","backendType":"in-process"},
			{"agentId":"worker1@session-34a16368","name":"worker1","tmuxPaneId":"in-process","backendType":"in-process"},
			{"agentId":"w2@session-34a16368","name":"w2","tmuxPaneId":"%3","backendType":"tmux"}]}`,
	} {
		dir := filepath.Join(h.Teams(), name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, by := range []struct {
		session string
		pid     int
	}{{"S", 0}, {"after a clear", 7}} {
		names, found := Teammates(homes, by.session, by.pid)
		if !found || !slices.Equal(names, []string{"team-lead", "worker1"}) {
			t.Errorf("%v: %v, %v", by, names, found)
		}
	}
	if names, found := Teammates(homes, "U", 9); found {
		t.Errorf("a stranger's: %v", names)
	}
}
