package hook

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bureau/internal/mail"
	"bureau/internal/office"
	"bureau/internal/presence"
	"bureau/internal/proc"
	"bureau/internal/quote"
)

// agents lists the sessions of the office, with a star for those who are here.
func (d *desk) agents() string {
	d.t.Helper()
	all, err := d.o.Directory(d.ctx, office.DirectoryQuery{})
	d.must(err)
	var names []string
	for _, a := range all.Agents {
		if a.Kind != "session" {
			continue
		}
		word := string(a.Name)
		if a.Here {
			word += "*"
		}
		names = append(names, word)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func (d *desk) isThere(want string) {
	d.t.Helper()
	if got := d.agents(); got != want {
		d.t.Fatalf("there are %q, not %q", got, want)
	}
}

// TestWhoItIs is cases I2 and I3: conversations that change their id, their
// process or both, and those that are somebody else's.
func TestWhoItIs(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.client("S1")
	c.env["BUREAU_NAME"] = "alice"
	c.event("SessionStart", "source", "startup").has("You are alice in bureau")
	m := d.send("alice", "first")
	n := d.send("alice", "second")
	id := c.caller().Agent.ID

	same := func(c *client, source string) {
		t.Helper()
		c.event("SessionStart", "source", source).has("You are alice in bureau", "first", "second", "2 unread messages wait").lacks("number")
		if got := c.caller().Agent.ID; got != id {
			t.Fatalf("alice is another agent after %s", source)
		}
		d.isThere("alice*")
	}
	// The same process, another id, with and without the end of the old one.
	c.event("SessionEnd", "reason", "resume").silent()
	s2 := c.in("S2")
	same(s2, "resume")
	s3 := s2.in("S3")
	same(s3, "clear")
	same(s3, "compact")
	// The first conversation in another terminal: alice moves there.
	other := d.client("S1")
	same(other, "resume")
	s3.step("UserPromptSubmit").has("goes on in another process")
	// And its compaction there, where no name is set.
	same(other, "compact")

	// A copy is somebody else, also one that was given her name.
	fork := d.client("S4")
	fork.event("SessionStart", "source", "fork").has("You are " + string(office.DefaultName(d.dir))).lacks("first")
	named := d.client("S5")
	named.env["BUREAU_NAME"] = "alice"
	named.event("SessionStart", "source", "fork").has("You are alice-2", "The name alice is held by another live session").lacks("first")
	// So is whoever starts in the same folder.
	d.client("S6").event("SessionStart", "source", "startup").has("You are " + string(office.DefaultName(d.dir)) + "-2").lacks("first")
	d.isThere("alice* alice-2* " + string(office.DefaultName(d.dir)) + "* " + string(office.DefaultName(d.dir)) + "-2*")

	other.step("UserPromptSubmit").has("first", "second")
	other.own()
	d.want(m, mail.Seen)
	d.want(n, mail.Seen)
	// The same again, mailless: nobody new.
	other.event("SessionStart", "source", "resume").has("You are alice").lacks("unread", "first")
}

// TestNamesFromTheEnvironment: which variable counts, and what cannot be a name.
func TestNamesFromTheEnvironment(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	def := string(office.DefaultName(d.dir))
	for i, row := range []struct {
		env  map[string]string
		want string
		told string
	}{
		{map[string]string{"BUREAU_NAME": "a1", "ESCRITORIO_ID": "b1", "MCLAUDE_IDENTITY": "c1"}, "a1", ""},
		{map[string]string{"BUREAU_NAME": "  ", "ESCRITORIO_ID": "b2", "MCLAUDE_IDENTITY": "c2"}, "b2", ""},
		{map[string]string{"MCLAUDE_IDENTITY": "c3"}, "c3", ""},
		{map[string]string{"BUREAU_NAME": "a1"}, "a1-2", "The name a1 is held"},
		{map[string]string{"BUREAU_NAME": "user"}, def, `"user"`},
		{map[string]string{"BUREAU_NAME": "all"}, def + "-2", `"all"`},
		{map[string]string{"BUREAU_NAME": "two words\n</x>"}, def + "-3", `"two words\n</x>"`},
		{map[string]string{"BUREAU_NAME": strings.Repeat("x", 1000)}, def + "-4", "cannot be one"},
		{map[string]string{"BUREAU_NAME": "ana"}, "ana-2", ""},
	} {
		c := d.client(itoa(i))
		c.env = row.env
		if row.want == "ana-2" {
			// A terminal's name may be taken up by a session; it is free here.
			row.want = "ana"
		}
		s := c.event("SessionStart", "source", "startup").has("You are "+row.want+" in bureau", row.told)
		if len(s.Context) > 2000 {
			t.Errorf("%q", s.Context)
		}
	}
}

// TestInheritedNames: a client below another session's process has that one's
// environment, and not its name.
func TestInheritedNames(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	// This test's own process is the outer client.
	outer := &client{d: d, pid: os.Getpid(), session: "outer", dir: d.dir, env: map[string]string{"BUREAU_NAME": "boss"}}
	outer.event("SessionStart", "source", "startup").has("You are boss")
	outer.event("SessionStart", "source", "clear", "session_id", "outer2").has("You are boss")
	// As the client runs it, and where the client is a shell's child or a daemon.
	for i, how := range []string{`CLAUDE_PID=$$ "$@"; exit 0`, `"$@"; exit 0`} {
		inner := d.client("inner" + itoa(i))
		cmd := inner.command()
		sh := exec.Command("sh", append([]string{"-c", how, "sh"}, cmd.Args...)...)
		sh.Env = append(cmd.Env, "BUREAU_NAME=boss")
		sh.Stdin = strings.NewReader(inner.input("SessionStart", "source", "startup"))
		out, err := sh.Output()
		if err != nil || strings.Contains(string(out), "boss-2") || !strings.Contains(string(out), "You are "+string(office.DefaultName(d.dir))) {
			t.Errorf("%v, %s", err, out)
		}
	}
	// Beside it the name is what its user wanted.
	d.must(d.o.EndSession(d.ctx, outer.caller().Agent.ID, outer.caller().Process, "test"))
	beside := d.client("beside")
	beside.env["BUREAU_NAME"] = "boss"
	beside.event("SessionStart", "source", "startup").has("You are boss in")
}

// TestSeats: who starts in the folder of one that was closed takes its seat and
// its mail, also where its model had walked off and where it was killed.
func TestSeats(t *testing.T) {
	t.Parallel()
	def := ""
	for name, end := range map[string]func(c *client){
		"closed": func(c *client) { c.event("SessionEnd", "reason", "prompt_input_exit").silent() },
		"killed": func(c *client) { c.stop() },
		"walked off": func(c *client) {
			sub := filepath.Join(c.dir, "sub")
			c.d.must(os.Mkdir(sub, 0o700))
			c.event("CwdChanged", "cwd", sub, "old_cwd", c.dir, "new_cwd", sub).silent()
			c.event("SessionStart", "source", "compact", "cwd", sub).has("You are " + def)
			c.event("SessionEnd", "reason", "other", "cwd", sub).silent()
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			def = string(office.DefaultName(d.dir))
			c := d.started("S1")
			m := d.letter(office.Letter{To: []string{def}, Kind: mail.Question, Body: []byte("ready?")})
			c.step("UserPromptSubmit").has("ready?")
			d.want(m, mail.Offered)
			end(c)
			d.isThere(def)
			// Elsewhere nobody takes it, even where the folder's name is the same.
			away := d.client("S8")
			away.dir = filepath.Join(t.TempDir(), "app")
			d.must(os.Mkdir(away.dir, 0o700))
			away.event("SessionStart", "source", "startup").lacks("ready?")
			next := d.client("S2")
			next.event("SessionStart", "source", "startup").has("You are "+def+" in", "ready?", "1 question waits for your answer: "+m.Short+" from ana")
			next.own()
			d.want(m, mail.Seen)
			// The old conversation comes back while it lives: somebody else.
			back := d.client("S1")
			back.event("SessionStart", "source", "resume").lacks("ready?", "You are "+def+" in")
		})
	}
}

// TestCopies: a copy of a conversation leaves name and mail to the original,
// also when that is closed, or was left by the very process that copied it.
func TestCopies(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	def := string(office.DefaultName(d.dir))
	first := d.started("S1")
	m := d.send(def, "for the original")
	// In its own terminal: the process goes on as the copy.
	first.event("SessionEnd", "reason", "resume").silent()
	branch := first.in("S2")
	branch.event("SessionStart", "source", "fork").
		has("You are "+def+"-2 in", "a copy is somebody new: the name "+def+" and its mail stay with the original", "Nobody else is here").
		lacks("for the original", "live session")
	branch.event("SessionStart", "source", "fork").has("You are " + def + "-2 in") // registered twice
	// A copy of the copy, elsewhere, and one that was given a name of a closed one.
	d.client("S3").event("SessionStart", "source", "fork").has("You are "+def+"-3 in", "Here now: "+def+"-2 ").lacks("for the original")
	anna := d.client("A1")
	anna.env["BUREAU_NAME"] = "anna"
	anna.event("SessionStart", "source", "startup").has("You are anna in")
	anna.event("SessionEnd", "reason", "other").silent()
	copied := d.client("A2")
	copied.env["BUREAU_NAME"] = "anna"
	copied.event("SessionStart", "source", "fork").has("You are anna-2 in", "a copy is somebody new")
	// The original comes back to its own.
	branch.event("SessionEnd", "reason", "resume").silent()
	back := branch.in("S1")
	back.event("SessionStart", "source", "resume").has("You are "+def+" in", "for the original")
	back.own()
	d.want(m, mail.Seen)
	d.client("A1").event("SessionStart", "source", "resume").has("You are anna in")
	// The seat of a copy that ended is for whoever starts, not for a copy.
	d.client("S4").event("SessionStart", "source", "startup").has("You are " + def + "-2 in")
}

// TestStartedAndLeftAlone: what a start has printed is read by nobody until a
// prompt comes, so the session is rung soon; one that has a prompt is not.
func TestStartedAndLeftAlone(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	def := string(office.DefaultName(d.dir))
	d.started("S1").event("SessionEnd", "reason", "other").silent()
	m := d.send(def, "for the next one")
	c := d.client("S2")
	c.event("SessionStart", "source", "startup").has("for the next one")
	rings := func() bool {
		w, err := d.o.Ringable(d.ctx, c.caller().Agent.ID)
		d.must(err)
		return w.Position > 0
	}
	if rings() {
		t.Error("its prompt may be on the way, and it is rung")
	}
	d.late += office.StartLease
	if !rings() {
		t.Error("it sits idle, and nobody rings")
	}
	d.want(m, mail.Offered)
	c.step("UserPromptSubmit").has("for the next one")
	d.late += time.Hour
	if rings() {
		t.Error("it is in its turn, and it is rung")
	}
	c.own()
	d.want(m, mail.Seen)
}

// TestNotTheNameAskedFor: what is said about it is so.
func TestNotTheNameAskedFor(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	def := string(office.DefaultName(d.dir))
	d.started("S1").event("SessionEnd", "reason", "other").silent()
	away := d.client("S2")
	away.dir = filepath.Join(t.TempDir(), filepath.Base(d.dir))
	d.must(os.Mkdir(away.dir, 0o700))
	away.event("SessionStart", "source", "startup").has("You are "+def+"-2 in", "is that of the sessions in another folder").lacks("live session")

	// A conversation keeps its name, and is told that the environment's is not its.
	again := d.client("S1")
	again.env["BUREAU_NAME"] = "reviewer"
	again.event("SessionStart", "source", "resume").has("You are "+def+" in", "asks for the name reviewer", "goes on as who it was")
	again.event("SessionStart", "source", "compact").has("You are " + def + " in").lacks("reviewer")
	_, err := d.o.Rename(d.ctx, again.caller(), def, "helper")
	d.must(err)
	again.env["BUREAU_NAME"] = def // what it was called before
	again.event("SessionStart", "source", "resume").has("You are helper in").lacks("asks for")

	// A name that the person gives reaches who runs.
	user, err := d.o.Identify(d.ctx, office.Claim{Ancestors: []proc.ID{}})
	d.must(err)
	_, err = d.o.Rename(d.ctx, user, "helper", "aide")
	d.must(err)
	again.step("UserPromptSubmit").has("You are aide now, not helper any more")
}

// TestTheShellsOffice: what the session's model types works in the office that
// the hooks are of.
func TestTheShellsOffice(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.client("S1")
	file := filepath.Join(t.TempDir(), "env file")
	d.must(os.WriteFile(file, []byte("export FOREIGN=1"), 0o600))
	c.env["CLAUDE_ENV_FILE"] = file
	c.event("SessionStart", "source", "startup").has("You are")
	c.event("SessionStart", "source", "compact").has("You are")
	got, err := os.ReadFile(file)
	d.must(err)
	if want := "export FOREIGN=1\nexport BUREAU_HOME=" + quote.Shell(d.o.Home()) + "\n"; string(got) != want {
		t.Errorf("%q, want %q", got, want)
	}
	// A file that cannot be written keeps nobody out.
	c.env["CLAUDE_ENV_FILE"] = t.TempDir()
	s := c.run(strings.NewReader(c.input("SessionStart", "source", "resume")))
	s.event = "SessionStart"
	s.check()
	s.has("You are")
	if !strings.Contains(s.errOut, "is a directory") {
		t.Errorf("said: %q", s.errOut)
	}
}

// TestTheProjectFolder: the seat is the folder where the client was started.
func TestTheProjectFolder(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	sub := filepath.Join(d.dir, "deep", "er")
	d.must(os.MkdirAll(sub, 0o700))
	link := filepath.Join(filepath.Dir(d.dir), "link")
	d.must(os.Symlink(d.dir, link))
	for i, row := range []struct{ cwd, project, want string }{
		{sub, d.dir, "app"}, {sub, link, "app"}, {sub, "", "er"}, {"", d.dir, "app"}, {sub, "/nonexistent", "er"}, {link, "", "app"},
		{filepath.Join(d.dir, "deep"), filepath.Join(d.dir, "dee"), "deep"}, {"/", "/", ""}, {sub, "/", ""},
	} {
		c := d.client(itoa(i))
		c.dir = row.cwd
		c.env["CLAUDE_PROJECT_DIR"] = row.project
		c.event("SessionStart", "source", "startup")
		if a := c.caller().Agent; row.want != "" && filepath.Base(a.Folder) != row.want || row.want == "" && a.Folder != "/" {
			t.Errorf("%+v: %q in %q", row, a.Name, a.Folder)
		}
	}
}

// TestOtherConversations: a process that goes on with somebody else's
// conversation leaves a free seat, and gets it back when it returns. What
// comes late from the conversation it left changes nothing.
func TestOtherConversations(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	bob := d.client("B")
	bob.env["BUREAU_NAME"] = "bob"
	bob.event("SessionStart", "source", "startup")
	bob.event("SessionEnd", "reason", "other")
	alice := d.client("A")
	alice.env["BUREAU_NAME"] = "alice"
	alice.event("SessionStart", "source", "startup")
	d.isThere("alice* bob")

	alice.event("SessionEnd", "reason", "resume").silent()
	asBob := alice.in("B")
	asBob.event("SessionStart", "source", "resume").has("You are bob")
	d.isThere("alice bob*")
	d.send("alice", "for alice")
	alice.step("PostToolBatch", "agent_id", "a1")
	alice.step("Notification")
	d.isThere("alice bob*")
	if who, found, err := d.o.RunningIn(d.ctx, asBob.caller().Process); err != nil || !found || who.Agent.Name != "bob" {
		t.Fatalf("%+v, %v, %v", who.Agent, found, err)
	}
	asBob.event("SessionEnd", "reason", "resume").silent()
	alice.event("SessionStart", "source", "resume").has("You are alice", "for alice")
	d.isThere("alice* bob")
	alice.event("SessionEnd", "reason", "logout").silent()
	d.isThere("alice bob")
}

// TestHooksSetUpMeanwhile: no SessionStart was seen.
func TestHooksSetUpMeanwhile(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"UserPromptSubmit", "PostToolBatch", "PostToolUse", "Stop", "Notification", "CwdChanged", "PreToolUse"} {
		t.Run(first, func(t *testing.T) {
			d := newDesk(t)
			c := d.client("S1")
			c.env["BUREAU_NAME"] = "late"
			s := c.step(first)
			switch first {
			case "UserPromptSubmit", "PostToolBatch", "PostToolUse":
				s.has("You are late in bureau")
			default:
				s.silent()
			}
			d.isThere("late*")
			d.send("late", "hello")
			c.step("PostToolBatch").has("hello").lacks("You are")
			c.step("UserPromptSubmit").has("hello").lacks("You are")
			c.step("Stop").silent()
		})
	}
	d := newDesk(t)
	c := d.client("S1")
	c.event("SessionEnd", "reason", "other").silent()
	d.isThere("")
}

// TestEndsOfSessions: which reasons end somebody.
func TestEndsOfSessions(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for i, row := range []struct {
		reason any
		ends   bool
	}{
		{"clear", false}, {"resume", false}, {"logout", true}, {"prompt_input_exit", true}, {"other", true}, {"something new", true}, {nil, true}, {5, true},
	} {
		c := d.client(itoa(i))
		c.env["BUREAU_NAME"] = "n" + itoa(i)
		c.event("SessionStart", "source", "startup")
		c.event("SessionEnd", "reason", row.reason).silent()
		if ended := c.caller().Agent.Life == nil; ended != row.ends {
			t.Errorf("%v ended it: %v", row.reason, ended)
		}
	}
}

// TestStatus: what a session is said to be at.
func TestStatus(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	for _, row := range []struct {
		event string
		pairs []any
		want  presence.Status
	}{
		{"SessionStart", []any{"source", "resume"}, presence.Idle},
		{"SessionStart", []any{"source", "compact"}, presence.Idle}, // at its user's word
		{"UserPromptSubmit", nil, presence.Busy},
		{"SessionStart", []any{"source", "compact"}, presence.Busy},
		{"PostToolBatch", nil, presence.Busy},
		{"Notification", []any{"notification_type", "permission_prompt"}, presence.Waiting},
		{"PostToolBatch", nil, presence.Busy},
		{"Notification", []any{"notification_type", "elicitation_dialog"}, presence.Waiting},
		{"Notification", []any{"notification_type", "elicitation_response"}, presence.Waiting},
		{"PostToolUse", nil, presence.Busy},
		{"Stop", []any{"agent_id", "a1"}, presence.Busy},
		{"SubagentStop", nil, presence.Busy},
		{"Stop", nil, presence.Idle},
		{"UserPromptSubmit", nil, presence.Busy},
		{"Notification", []any{"notification_type", "idle_prompt", "agent_id", "a1"}, presence.Busy},
		{"Notification", []any{"notification_type", "idle_prompt"}, presence.Idle},
	} {
		c.event(row.event, row.pairs...)
		if got, err := d.o.Status(d.ctx, c.caller()); err != nil || got != row.want {
			t.Errorf("after %s %v it is %s, not %s (%v)", row.event, row.pairs, got, row.want, err)
		}
	}
}

// TestWhoCalls: PreToolUse tells the server who is about to call it.
func TestWhoCalls(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := d.started("S1")
	for id, sub := range map[string]string{"toolu_main": "", "toolu_sub": "a1"} {
		c.event("PreToolUse", "tool_name", "mcp__plugin_bureau_bureau__ask", "tool_use_id", id, "agent_id", sub, "agent_type", "Explore").silent()
		call, found, err := d.o.Announced(d.ctx, id)
		if err != nil || !found || call.Session != "S1" || call.Sub != sub || call.Process.PID != c.pid || call.Process.Host != proc.Host() {
			t.Errorf("%s: %+v, %v, %v", id, call, found, err)
		}
	}
	for _, tool := range []string{"Bash", "mcp__other__bureau", "mcp__bureau", "mcp__bureaucracy__x"} {
		c.event("PreToolUse", "tool_name", tool, "tool_use_id", "toolu_"+tool).silent()
		if _, found, _ := d.o.Announced(d.ctx, "toolu_"+tool); found {
			t.Errorf("%s was taken for a tool of ours", tool)
		}
	}
}
