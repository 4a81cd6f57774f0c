package setup

import (
	"bytes"
	_ "embed"
	"path/filepath"

	"bureau/internal/setup/jsonc"
)

// The skills that teach the model when to use the office, and how to lead a
// room and to take part in one. The plugin's copies are the same, byte for
// byte.
var (
	//go:embed skill/SKILL.md
	skillText []byte
	//go:embed skill/bureau-room-moderator/SKILL.md
	moderatorText []byte
	//go:embed skill/bureau-room-member/SKILL.md
	memberText []byte
)

// skill is one of ours: the name of its folder, and its text.
type skill struct {
	name string
	text []byte
}

var skills = []skill{
	{serverName, skillText},
	{serverName + "-room-moderator", moderatorText},
	{serverName + "-room-member", memberText},
}

// skillAt gives the text of the skill whose file has that path.
func skillAt(path string) []byte {
	for _, s := range skills {
		if s.name == filepath.Base(filepath.Dir(path)) {
			return s.text
		}
	}
	return nil
}

// planSkill plans the skill's file. A file of that name that is neither ours
// nor what we would write is left alone.
func (p *Plan) planSkill(path string) error {
	s, err := look(path)
	if err != nil {
		return err
	}
	text, r := skillAt(path), p.done.Files[path]
	ours := s.exists && (bytes.Equal(s.text, text) || r != nil && r.After == hashOf(s.text))
	c := Change{Path: path, What: "skill", before: s, was: was{}, had: ours}
	if !s.exists {
		c.before.mode = 0o644
	}
	switch {
	case p.removal && !ours:
		if s.exists {
			p.note("%s is not as bureau wrote it and stays", path)
		}
		return nil
	case p.removal:
		c.Remove = true
	case s.exists && !ours:
		p.note("%s is somebody else's or was edited, and stays as it is", path)
		return nil
	case bytes.Equal(s.text, text):
		return nil
	default:
		c.after = text
		c.splices = []jsonc.Splice{{Removed: "", Inserted: string(text)}}
	}
	if err := c.before.writable(); err != nil {
		return err
	}
	p.Changes = append(p.Changes, c)
	return nil
}
