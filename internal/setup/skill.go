package setup

import (
	"bytes"
	_ "embed"

	"bureau/internal/setup/jsonc"
)

// skillText is the skill that teaches the model when to use the office. The
// plugin's copy is the same, byte for byte.
//
//go:embed skill/SKILL.md
var skillText []byte

// planSkill plans the skill's file. A file of that name that is neither ours
// nor what we would write is left alone.
func (p *Plan) planSkill(path string) error {
	s, err := look(path)
	if err != nil {
		return err
	}
	r := p.done.Files[path]
	ours := s.exists && (bytes.Equal(s.text, skillText) || r != nil && r.After == hashOf(s.text))
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
	case bytes.Equal(s.text, skillText):
		return nil
	default:
		c.after = skillText
		c.splices = []jsonc.Splice{{Removed: "", Inserted: string(skillText)}}
	}
	if err := c.before.writable(); err != nil {
		return err
	}
	p.Changes = append(p.Changes, c)
	return nil
}
