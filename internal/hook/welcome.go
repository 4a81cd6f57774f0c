package hook

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"bureau/internal/git"
	"bureau/internal/office"
	"bureau/internal/roster"
)

// introduction is the welcome of a session that began only with this event, as
// nobody has told it yet who it is; else "".
func (h *visit) introduction() (string, error) {
	if h.begun == nil || h.fields.agent != "" {
		return "", nil
	}
	return h.welcome(*h.begun)
}

// welcome says who the session is and how things stand.
func (h *visit) welcome(done office.Registered) (string, error) {
	me := done.Agent
	var b strings.Builder
	fmt.Fprintf(&b, "You are %s in bureau, the office that all coding-agent sessions of this machine share.", me.Name)
	if h.badName != "" {
		fmt.Fprintf(&b, " The environment asks for a name that cannot be one: %s.", strconv.Quote(head(h.badName, 80)))
	}
	b.WriteString(otherName(done))
	all, err := h.o.Directory(h.ctx, office.DirectoryQuery{Here: true, Page: office.Page{Limit: 12}})
	if err != nil {
		return "", err
	}
	var here []string
	for _, a := range all.Agents {
		if a.ID == me.ID || a.Kind == roster.Human || slices.Contains(h.left, a.ID) {
			continue
		}
		word := string(a.Name)
		if a.Status != "" {
			word += " (" + a.Status + ")"
		}
		here = append(here, word)
	}
	switch {
	case len(here) == 0:
		b.WriteString("\nNobody else is here now; the roster tool lists everybody, and mail waits for them.")
	case all.Next != "":
		fmt.Fprintf(&b, "\nHere now: %s and more (the roster tool lists everybody).", strings.Join(here, ", "))
	default:
		fmt.Fprintf(&b, "\nHere now: %s (the roster tool lists everybody).", strings.Join(here, ", "))
	}
	claims, err := h.claims(h.caller)
	h.late = errors.Join(h.late, err) // another program's broken locks keep no mail back
	b.WriteString(claims)
	if gone, ok := git.Lapsed(h.ctx, h.folderNow()); ok {
		b.WriteString("\nNote: " + line(gone.Warning(), 400) + "; `bureau guard install` puts it back.")
	}
	open, err := h.o.OpenQuestions(h.ctx, h.caller)
	if err != nil {
		return "", err
	}
	if len(open) > 0 {
		words := make([]string, 0, 5)
		for i, q := range open {
			if i == 5 {
				words = append(words, "…")
				break
			}
			words = append(words, q.Short+" from "+q.Asker)
		}
		fmt.Fprintf(&b, "\n%s for your answer: %s.", waits(len(open), "question"), strings.Join(words, ", "))
	}
	if done.Unread > 0 {
		fmt.Fprintf(&b, "\n%s for you.", waits(done.Unread, "unread message"))
	}
	return b.String(), nil
}

// otherName says why the session has not the name that it might expect.
func otherName(done office.Registered) string {
	switch {
	case done.Kept != "":
		return fmt.Sprintf(" The environment asks for the name %s, but a conversation goes on as who it was; mail for %[1]s waits for a new session of that name.", done.Kept)
	case done.Instead == "":
		return ""
	}
	switch done.Why {
	case roster.TakenCopy:
		return fmt.Sprintf(" This conversation is a copy, and a copy is somebody new: the name %s and its mail stay with the original, so you have a number.", done.Instead)
	case roster.TakenFolder:
		return fmt.Sprintf(" The name %s is that of the sessions in another folder, so you have a number.", done.Instead)
	case roster.TakenOther:
		return fmt.Sprintf(" The name %s belongs to somebody else, so you have a number.", done.Instead)
	}
	return fmt.Sprintf(" The name %s is held by another live session, so you have a number.", done.Instead)
}
