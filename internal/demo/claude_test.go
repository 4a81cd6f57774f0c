package demo

import (
	"slices"
	"strings"
	"testing"

	"bureau/internal/agent/claude"
)

// Whoever runs the play inside of a session does not hand that session on.
func TestOutside(t *testing.T) {
	got := outside([]string{
		"HOME=/home/ana", claude.EnvConfigDir + "=/c", "ANTHROPIC_BASE_URL=http://x", "CLAUDE_CODE_USE_BEDROCK=1",
		"BUREAU_HOME=/o", "BUREAU_NAME=ana", "ESCRITORIO_ID=ana", claude.EnvChild + "=1", claude.EnvSession + "=s", claude.EnvToken + "=t", claude.EnvSocket + "=/s",
	})
	if want := []string{"HOME=/home/ana", claude.EnvConfigDir + "=/c", "ANTHROPIC_BASE_URL=http://x", "CLAUDE_CODE_USE_BEDROCK=1"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAnnounce(t *testing.T) {
	for _, tt := range []struct {
		c    Client
		want []string
	}{
		{Client{Path: "/bin/claude"}, []string{"/bin/claude, of an unknown version", "with your default model", "removed at the end", "never more than 16", "$0.50", "never more than 4 minutes"}},
		{Client{Path: "/bin/claude", Version: "2.1.332", Model: "haiku", Options: Options{Keep: true}}, []string{"version 2.1.332", "with the model haiku", "stays there (--keep)"}},
	} {
		var b strings.Builder
		tt.c.Announce(&b)
		for _, w := range tt.want {
			if !strings.Contains(b.String(), w) {
				t.Errorf("it does not say %q:\n%s", w, &b)
			}
		}
	}
}

// What the client says of a run is told apart from what went wrong with it.
func TestEnd(t *testing.T) {
	for _, tt := range []struct{ out, want string }{
		{`{"type":"result","subtype":"success","result":"8471","num_turns":2,"total_cost_usd":0.01}`, ""},
		{`{"subtype":"error_max_turns","is_error":true}`, "not done after 8 turns"},
		{`{"subtype":"success","is_error":true,"result":"Not logged in · Please run /login"}`, "Please run /login"},
		{"error: unknown option '--max-turns'", "did not say what came of it"},
		{"", "did not say what came of it"},
	} {
		s := &session{name: "ana", done: make(chan struct{})}
		s.out.WriteString(tt.out)
		close(s.done)
		err := s.end()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.out, err, tt.want)
		}
	}
}
