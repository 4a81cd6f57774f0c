//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"bureau/internal/e2e/mockapi"
)

// serving is `bureau serve`, which a test may kill and start again.
type serving struct {
	d   *Desk
	at  string
	cmd *exec.Cmd
}

func (d *Desk) serve() *serving {
	d.T.Helper()
	s := &serving{d: d, at: "127.0.0.1:0"}
	s.start()
	d.T.Cleanup(s.kill)
	return s
}

func (s *serving) start() {
	t := s.d.T
	t.Helper()
	s.cmd = exec.Command(filepath.Join(s.d.Bin, "bureau"), "serve", "--listen", s.at)
	s.cmd.Dir, s.cmd.Env = s.d.Project, s.d.Env()
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("bureau serve: %v", err)
	}
	s.at = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "serving http://"), "/mcp")
}

func (s *serving) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// The client over HTTP, with a token and no hooks; the server is killed and
// started again between two of its calls. It begins anew by itself, is the same
// agent, and what it sends again is one message.
func TestOverHTTP(t *testing.T) {
	d := NewDesk(t)
	d.Run("bureau", "register", "bob")
	var issued struct{ Token string }
	if text := d.Run("bureau", "token", "new", "ana", "--json"); json.Unmarshal([]byte(text), &issued) != nil || issued.Token == "" {
		t.Fatalf("the token: %s", text)
	}
	s := d.serve()
	// As docs/http.md says it: the text of the token is in the environment alone.
	d.Run(d.Claude, "mcp", "add", "--transport", "http", "bureau", "http://"+s.at+"/mcp", "--header", "Authorization: Bearer ${ANA_TOKEN}")
	d.Extra = append(d.Extra, "ANA_TOKEN="+issued.Token)
	letter := mockapi.Call("mcp__bureau__send", map[string]any{"to": "bob", "text": "once only", "client_id": "m-1"})
	d.API.Add(
		mockapi.Rule{Name: "ana sends", When: mockapi.When{Last: "HTTP-WORK"}, Turn: letter},
		mockapi.Rule{Name: "ana sends again", When: mockapi.When{Last: `"state":"stored"`}, Turn: mockapi.Turn{From: func(*mockapi.Request) []mockapi.Block {
			s.kill()
			s.start()
			return letter.Reply
		}}},
		mockapi.Rule{Name: "ana tries once more", When: mockapi.When{Last: "tool_result error"}, Turn: letter},
		mockapi.Rule{Name: "ana looks who she is", When: mockapi.When{Last: `"repeated":true`}, Turn: mockapi.Call("mcp__bureau__roster", map[string]any{})},
		mockapi.Rule{Name: "ana is done", When: mockapi.When{Last: `"you":{"name":"ana"`}, Turn: mockapi.Say("sent once")},
	)
	if got := d.Print("HTTP-WORK", "--allowedTools", "mcp__bureau"); got != "sent once" {
		t.Errorf("ana said %q", got)
		d.Dump()
	}
	var box struct {
		Total    int
		Messages []struct{ From, Body string }
	}
	if text := d.Run("bureau", "inbox", "--as", "bob", "--json"); json.Unmarshal([]byte(text), &box) != nil || box.Total != 1 || box.Messages[0].From != "ana" {
		t.Errorf("bob has %s", text)
	}
	var people struct{ Agents []struct{ Name string } }
	if text := d.Run("bureau", "agents", "--json"); json.Unmarshal([]byte(text), &people) != nil || len(people.Agents) != 3 {
		t.Errorf("agents: %s", text)
	}
}
