package mcpserver

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"bureau/internal/agent/claude"
	"bureau/internal/git"
	"bureau/internal/office"
	"bureau/internal/proc"
	"bureau/internal/roster"
)

// Clients whose conversations need to be known by one word, as the hooks of
// these clients call them too.
const (
	clientClaude = "claude"
	clientOther  = "mcp"
)

// clientWords map a part of the name that a client gives itself to ours.
var clientWords = []struct{ part, client string }{
	{"claude-code", clientClaude}, {"codex", "codex"}, {"gemini", "gemini"}, {"opencode", "opencode"},
	{"copilot", "copilot"}, {"qwen", "qwen"}, {"cline", "cline"}, {"cursor", "cursor"},
}

// sessionVariables hold the session's id in the environment of a client's
// children. Only the client's own counts: below another client's session its
// variables are inherited.
var sessionVariables = map[string]string{
	clientClaude: claude.EnvSession, "copilot": "COPILOT_AGENT_SESSION_ID", "qwen": "QWEN_CODE_SESSION_ID",
}

// Metadata of calls that says which conversation they belong to.
const (
	metaToolUse = "claudecode/toolUseId"
	metaThread  = "threadId"         // Codex
	metaSession = "agent-session-id" // the agents' common convention
)

// maxSessionID bounds what is believed to be a session's id.
const maxSessionID = 200

// claimed is what a call says about its caller.
type claimed struct {
	client  string
	call    string        // the client's id of the call
	session string        // from the call's metadata
	token   *roster.Token // over HTTP: the one that was shown
}

func (s *server) claimOf(ctx context.Context, req *mcp.CallToolRequest) claimed {
	c := claimed{client: clientOf(req)}
	if s.remote != nil {
		// The token says who it is; what a client's hooks or its conversation
		// say is about another one.
		c.token = shown(ctx, req)
		return c
	}
	meta := req.Params.GetMeta()
	c.call = metaText(meta, metaToolUse)
	if c.session = metaText(meta, metaThread); c.session == "" {
		c.session = metaText(meta, metaSession)
	}
	return c
}

// shown gives the token that a request over HTTP came with. Over the older
// transport that is the one that opened the connection.
func shown(ctx context.Context, req mcp.Request) *roster.Token {
	extra := req.GetExtra()
	if extra == nil || extra.TokenInfo == nil {
		return tokenOf(ctx)
	}
	t, _ := extra.TokenInfo.Extra[extraToken].(*roster.Token)
	return t
}

// still denies a call whose token has ended since it began: what it waited for
// is not told.
func (s *server) still(ctx context.Context, o *office.Office, c claimed) error {
	if s.remote == nil {
		return nil
	}
	return o.TokenGood(context.WithoutCancel(ctx), c.token.ID)
}

func metaText(meta map[string]any, key string) string {
	s, _ := meta[key].(string)
	if len(s) > maxSessionID {
		return ""
	}
	return s
}

// clientOf gives our word for the client that sent a request.
func clientOf(req mcp.Request) string {
	r, ok := req.(interface{ ClientInfo() *mcp.Implementation })
	if !ok {
		return clientOther
	}
	info := r.ClientInfo()
	if info == nil {
		return clientOther
	}
	name := strings.ToLower(info.Name)
	for _, w := range clientWords {
		if strings.Contains(name, w.part) {
			return w.client
		}
	}
	return clientOther
}

// identify says who calls.
func (s *server) identify(ctx context.Context, o *office.Office, c claimed) (office.Caller, error) {
	if s.remote != nil {
		return s.remote.identify(ctx, o, c.token)
	}
	process, above := s.process(c.client)
	claim := office.ServerClaim{Call: c.call, Client: c.client, Session: c.session, Process: process}
	if claim.Session == "" {
		if v := sessionVariables[c.client]; v != "" {
			claim.Session, claim.Env = s.opts.Env(v), true
		}
	}
	claim.Declared = o.DeclaredName(ctx, s.opts.Env, func() []proc.ID { return above })
	claim.Folder = s.folder(c.client)
	if found, err := git.Project(claim.Folder); err == nil {
		p := office.Project{ID: found.ID, Name: found.Name, Root: found.Root, Repository: found.Repository}
		if claim.Project, err = o.SettleProject(ctx, p); err != nil {
			return office.Caller{}, err
		}
	}
	return o.IdentifyServer(ctx, claim)
}

// sightEach is how often a session's calls are noted as signs of life.
const sightEach = 10 * time.Second

// sighted takes a call that no hook announced for a sign of life.
func (s *server) sighted(ctx context.Context, o *office.Office, c office.Caller) {
	now := s.opts.Now()
	if last, ok := s.sights.get(c.Key()); ok && now.Sub(last) < sightEach && !now.Before(last) || c.Stale {
		return
	}
	if o.Sighted(ctx, c) == nil {
		s.sights.in(c.Key(), now)
	}
}

// folder is where the session works, as far as a server can tell.
func (s *server) folder(client string) string {
	dir := s.opts.Dir
	if p := s.opts.Env(claude.EnvProject); client == clientClaude && filepath.IsAbs(p) {
		dir = p
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}
