package claude

import (
	"encoding/json"
	"os"
	"path/filepath"

	"bureau/internal/fault"
)

// Home is a home of the client: where it keeps settings, sessions and
// transcripts. A person with several subscriptions has several.
type Home struct {
	// Dir is the folder, absolute: ~/.claude, or a CLAUDE_CONFIG_DIR.
	Dir string `json:"dir"`
	// Default marks ~/.claude used without CLAUDE_CONFIG_DIR. Its global file
	// lies beside it, all others' inside.
	Default bool `json:"default,omitempty"`
}

// Homes gives the homes that dirs name, or, without dirs, the one that the
// environment means: $CLAUDE_CONFIG_DIR or ~/.claude. Each is given once.
func Homes(env func(string) string, dirs ...string) ([]Home, error) {
	standard := ""
	if user := env("HOME"); user != "" {
		standard = filepath.Join(user, ".claude")
	} else if user, err := os.UserHomeDir(); err == nil {
		standard = filepath.Join(user, ".claude")
	}
	configured := env(EnvConfigDir)
	if len(dirs) == 0 && configured != "" {
		dirs = []string{configured}
	}
	if len(dirs) == 0 {
		if standard == "" {
			return nil, fault.New(fault.Unavailable, "no home folder, so no ~/.claude").WithHint("name the client's folder with --config-dir")
		}
		return []Home{{Dir: standard, Default: true}}, nil
	}
	var homes []Home
	seen := map[string]bool{}
	for _, dir := range dirs {
		abs, err := filepath.Abs(dir)
		if dir == "" || err != nil {
			return nil, fault.New(fault.Invalid, "%q is no folder of Claude Code", dir)
		}
		real := canonical(abs)
		if seen[real] {
			continue
		}
		seen[real] = true
		h := Home{Dir: abs}
		if standard != "" && real == canonical(standard) {
			// Whoever names ~/.claude means the usual home, unless the
			// client itself is told of it by the variable.
			h.Default = configured == "" || canonical(configured) != real
		}
		homes = append(homes, h)
	}
	return homes, nil
}

// SetUpFile is where an office keeps, below its folder, what was registered with
// the client. Only package setup writes it.
const SetUpFile = "setup/claude.json"

// SetUp gives the homes that were set up for the office at a folder, beside the
// usual one: sessions of any of them are in the office. Nothing set up, and a
// file that cannot be read, give none.
func SetUp(office string) (homes []Home) {
	if office == "" {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(office, filepath.FromSlash(SetUpFile)))
	if err != nil {
		return nil
	}
	var done struct {
		Homes []string `json:"homes"`
	}
	_ = json.Unmarshal(text, &done)
	for _, dir := range done.Homes {
		if filepath.IsAbs(dir) {
			homes = append(homes, Home{Dir: dir})
		}
	}
	return homes
}

// canonical resolves links where the path exists, to compare paths.
func canonical(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// Settings is the user's settings file: hooks, permissions.
func (h Home) Settings() string { return filepath.Join(h.Dir, "settings.json") }

// Global is the client's global file, which holds the user's MCP servers and
// what belongs to single projects.
func (h Home) Global() string {
	if h.Default {
		return h.Dir + ".json"
	}
	return filepath.Join(h.Dir, ".claude.json")
}

// Skill is the file of a skill of the user.
func (h Home) Skill(name string) string { return filepath.Join(h.Dir, "skills", name, "SKILL.md") }

// Sessions is the folder of the session records.
func (h Home) Sessions() string { return filepath.Join(h.Dir, "sessions") }
