package mcpserver

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/git"
	"bureau/internal/name"
	"bureau/internal/office"
	"bureau/internal/room"
)

// In multiagent-mcp there is one conversation at a time, and no tool names it.
// Here there are many rooms. A call means the one that it names, else the one
// that this session opened or joined last, else the newest one that it takes
// part in, else the newest one in which a member of that handle is gone that it
// may come back as, else the newest one that lets the handle in, each time first
// of all one whose transcript lies where the session works.

// talks remembers the conversation that each session of this server is in. It is
// only a short cut: a new server finds it in the office.
type talks = latest[event.ID]

// conversation finds the room of a call.
func (c *call) conversation(ctx context.Context, word string, handle name.Name) (event.ID, error) {
	if word = strings.TrimSpace(word); word != "" {
		return c.named(ctx, word)
	}
	last, known := c.s.talks.get(c.caller.Key())
	if known {
		v, err := c.o.RoomShow(ctx, c.caller, office.Sitting{Room: string(last), Hooked: true})
		if err == nil && v.Status == room.Open {
			return last, nil
		}
	}
	mine, err := c.o.RoomList(ctx, c.caller, office.RoomFilter{Mine: true, Page: office.Page{Limit: office.MaxPage}})
	if err != nil {
		return "", err
	}
	if handle != "" {
		// Who is known by a handle alone takes part as that one, not as whoever
		// had its seat before.
		mine.Rooms = slices.DeleteFunc(mine.Rooms, func(v office.RoomView) bool { return v.You == "" })
	}
	if v := newest(mine.Rooms); v != nil {
		return v.ID, nil
	}
	all, err := c.o.RoomList(ctx, c.caller, office.RoomFilter{Page: office.Page{Limit: office.MaxPage}})
	if err != nil {
		return "", err
	}
	mayJoin := slices.DeleteFunc(slices.Clone(all.Rooms), func(v office.RoomView) bool { return handle != "" && !lets(&v, handle) })
	back := slices.DeleteFunc(slices.Clone(mayJoin), func(v office.RoomView) bool { return !free(&v, handle) })
	for _, list := range [][]office.RoomView{back, mayJoin, all.Rooms} {
		near := slices.DeleteFunc(slices.Clone(list), func(v office.RoomView) bool { return !c.near(&v) })
		if v := newest(near); v != nil {
			return v.ID, nil
		}
		if v := newest(list); v != nil {
			return v.ID, nil
		}
	}
	if known {
		return last, nil // closed, and the caller is told so
	}
	return "", fault.New(fault.NotFound, "no conversation is open").WithHint("init_conversation opens one")
}

// ended gives the conversation that this session was in last, if it was closed
// and the handle has not read how: who waits in it learns that before another
// one is meant. "" for none.
func (c *call) ended(ctx context.Context, handle string) string {
	h, err := room.Handle(handle)
	last, known := c.s.talks.get(c.caller.Key())
	if err != nil || !known {
		return ""
	}
	for _, seat := range []string{"", seatOf(h)} {
		v, err := c.o.RoomShow(ctx, c.caller, office.Sitting{Room: string(last), Seat: seat, Hooked: true})
		if err == nil && v.Status == room.Closed && v.You.Key() == h.Key() && v.Unread > 0 {
			return string(last)
		}
	}
	return ""
}

// named finds a conversation by its name, its id or its file.
func (c *call) named(ctx context.Context, word string) (event.ID, error) {
	v, err := c.o.RoomShow(ctx, c.caller, office.Sitting{Room: word, Hooked: true})
	if err == nil {
		return v.ID, nil
	}
	if !fault.Is(err, fault.NotFound) {
		return "", err
	}
	// Where the caller is now, or was when it began: the file that it opened one
	// with keeps its meaning.
	paths := []string{c.transcript(word, "").full(), placeIn(c.start, c.caller.Project, word, "").full()}
	all, listErr := c.o.RoomList(ctx, c.caller, office.RoomFilter{Page: office.Page{Limit: office.MaxPage}})
	if listErr != nil {
		return "", listErr
	}
	for i := range all.Rooms {
		if slices.Contains(paths, all.Rooms[i].Transcript) {
			return all.Rooms[i].ID, nil
		}
	}
	return "", err
}

func newest(list []office.RoomView) *office.RoomView {
	var found *office.RoomView
	for i := range list {
		if v := &list[i]; v.Status == room.Open && (found == nil || v.Opened.After(found.Opened)) {
			found = v
		}
	}
	return found
}

// lets reports whether a handle that is nobody's yet may come into a room.
func lets(v *office.RoomView, handle name.Name) bool {
	for i := range v.Members {
		if v.Members[i].Handle.Key() == handle.Key() {
			return v.Members[i].Agent == "" || v.Members[i].Free
		}
	}
	return v.Settings.Admission == room.Anyone
}

// free reports whether a handle is that of a member who is gone, as whom the
// caller may come back.
func free(v *office.RoomView, handle name.Name) bool {
	return slices.ContainsFunc(v.Members, func(m office.RoomMember) bool { return m.Free && m.Handle.Key() == handle.Key() })
}

// near reports whether a room's transcript lies where the session works.
func (c *call) near(v *office.RoomView) bool {
	if v.Transcript == "" {
		return false
	}
	return slices.ContainsFunc([]string{c.folder, c.start}, func(folder string) bool {
		rel, err := filepath.Rel(transcriptRoot(folder, c.caller.Project), v.Transcript)
		return err == nil && filepath.IsLocal(rel)
	})
}

// transcriptRoot is the folder that transcripts of a session lie in that works
// in a folder: its work tree, else the session's project, else the folder.
func transcriptRoot(folder string, p office.Project) string {
	if tree, _, ok := git.Root(folder); ok {
		return tree
	}
	if rel, err := filepath.Rel(p.Root, folder); p.Root != "" && err == nil && filepath.IsLocal(rel) {
		return p.Root
	}
	return folder
}

// placed is where a transcript shall be.
type placed office.TranscriptOptions

// transcript gives the place that a path means to the session.
func (c *call) transcript(path, lang string) *placed {
	return placeIn(c.folder, c.caller.Project, path, lang)
}

func placeIn(folder string, p office.Project, path, lang string) *placed {
	root := transcriptRoot(folder, p)
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
		path = rel
	}
	return &placed{Root: root, Path: path, Lang: lang}
}

func (p *placed) full() string {
	if filepath.IsAbs(p.Path) {
		return filepath.Clean(p.Path)
	}
	return filepath.Join(p.Root, p.Path)
}
