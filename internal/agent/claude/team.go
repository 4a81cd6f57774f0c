package claude

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Teams is the folder of the teams that sessions lead, one each: a terminal
// session makes its own when CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS is set.
func (h Home) Teams() string { return filepath.Join(h.Dir, "teams") }

// subagentHex is how many hex digits end the agent_id of a subagent.
const subagentHex = 16

// TeammateName gives the name in the agent_id of a named subagent: aNAME-HEX,
// where the others are aHEX (2.1.332).
func TeammateName(agentID string) (name string, ok bool) {
	i := len(agentID) - subagentHex - 1
	if i < 2 || agentID[0] != 'a' || agentID[i] != '-' || strings.Trim(agentID[i+1:], "0123456789abcdef") != "" {
		return "", false
	}
	return agentID[1:i], true
}

// teamLimit bounds the file of a team; the client's have some 300 bytes for
// each member.
const teamLimit = 1 << 20

// Teammates lists the names of those who work in the process of a session that
// leads a team, as the client's own file has them. One that has ended is taken
// out of it before its last event. found is false for a session without a team.
func Teammates(homes []Home, session string, pid int) (names []string, found bool) {
	for _, h := range homes {
		entries, err := os.ReadDir(h.Teams())
		if err != nil {
			continue
		}
		for _, e := range entries {
			text, err := readFile(filepath.Join(h.Teams(), e.Name(), "config.json"), teamLimit)
			if err != nil {
				continue
			}
			var team struct {
				Session string `json:"leadSessionId"`
				Lead    struct {
					PID int `json:"pid"`
				} `json:"leadProcess"`
				Members []struct {
					Name    string `json:"name"`
					Backend string `json:"backendType"`
				} `json:"members"`
			}
			if json.Unmarshal(text, &team) != nil || team.Session != session && (pid == 0 || team.Lead.PID != pid) {
				continue
			}
			found = true
			for _, m := range team.Members {
				if m.Backend == "in-process" && !slices.Contains(names, m.Name) {
					names = append(names, m.Name)
				}
			}
		}
	}
	return names, found
}
