package claude

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strings"
)

// OriginKind says who wrote a prompt.
type OriginKind string

// Who writes prompts. Whatever is not [Human] must not be taken for the
// person's words, also kinds that are not listed here: the client has more
// (coordinator, auto-continuation, plugin, channel, …), and their names are
// passed on as they are.
const (
	Human    OriginKind = "human"
	Doorbell OriginKind = "doorbell" // our own ring
	Peer     OriginKind = "peer"     // another session or program, through the inbox
	Task     OriginKind = "task-notification"
)

// Origin is where a prompt came from.
type Origin struct {
	Kind OriginKind
	From string // the address that a peer gave; a claim
	Name string // the name that a peer gave; a claim
}

// UserPromptOrigin says who wrote the prompt of a UserPromptSubmit. The
// prompt's own frame decides where it has one: the client hands peers' words
// over with their <cross-session-message> and notices as <task-notification>.
// Words without a frame are the person's, unless the transcript, if a path is
// given, has them already with another origin.
//
// Two things cannot be told here. When the hook of a new turn runs, the
// transcript does not hold the prompt yet (it is written after the hooks), so
// a program that posts bare text to the inbox passes for the person, as does
// a scheduled prompt. And a prompt that joins a running turn has that turn's
// prompt_id, which is why the frame comes first.
func UserPromptOrigin(prompt, transcript, promptID string) Origin {
	o := frameOrigin(prompt)
	if o.Kind != Human || transcript == "" || promptID == "" {
		return o
	}
	if told, ok := TranscriptOrigin(transcript, promptID, prompt); ok {
		return told
	}
	return o
}

// DoorbellName is what our rings name as their sender: the terminal shows
// "Message from @bureau: TEXT", and the model sees it as from and from-name.
// It is a label and no address, so that an answer by the client's own
// SendMessage fails at once instead of vanishing.
const DoorbellName = "bureau"

// FrameTag wraps a message between sessions.
const FrameTag = "cross-session-message"

// frameOrigin judges by the frame alone.
func frameOrigin(prompt string) Origin {
	head := strings.TrimSpace(prompt)
	// In the transcript the client's own sentence stands before the frame.
	head = strings.TrimSpace(strings.TrimPrefix(head, "Another Claude session sent a message:"))
	switch {
	case strings.HasPrefix(head, "<"+FrameTag):
		attrs, ok := frameAttrs(head[len("<"+FrameTag):])
		if !ok {
			return Origin{Kind: Human}
		}
		o := Origin{Kind: Peer, From: attrs["from"], Name: attrs["from-name"]}
		if o.From == DoorbellName && o.Name == DoorbellName {
			o.Kind = Doorbell
		}
		return o
	case strings.HasPrefix(head, "<task-notification>"):
		return Origin{Kind: Task}
	case strings.HasPrefix(head, "<teammate-message "):
		return Origin{Kind: Peer}
	}
	return Origin{Kind: Human}
}

// frameAttrs reads the attributes up to the end of the opening tag.
func frameAttrs(s string) (map[string]string, bool) {
	attrs := map[string]string{}
	for {
		s = strings.TrimLeft(s, " ")
		if strings.HasPrefix(s, ">") {
			return attrs, true
		}
		name, rest, ok := strings.Cut(s, `="`)
		if !ok || strings.ContainsAny(name, "<> \n") {
			return nil, false
		}
		value, rest, ok := strings.Cut(rest, `"`)
		if !ok {
			return nil, false
		}
		attrs[name] = unescape.Replace(value)
		s = rest
	}
}

// unescape undoes what the client and we escape in attributes.
var unescape = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&#39;", "'", "&amp;", "&")

// transcriptTail is how much of a transcript's end is looked at. One request
// of a long conversation is recorded in a line of its own.
const transcriptTail = 2 << 20

// TranscriptOrigin looks in the last part of a transcript (one JSON object a
// line) for the newest user line of the prompt and gives its origin.kind. It
// reports false when the prompt is not there (yet), or without an origin.
func TranscriptOrigin(path, promptID, prompt string) (found Origin, ok bool) {
	tail(path, promptID, func(line []byte) bool {
		if bytes.Contains(line, []byte(`"origin"`)) {
			if o, match := lineOrigin(line, promptID, prompt); match {
				found, ok = o, true
			}
		}
		return true
	})
	return found, ok
}

// JoinsTurn reports whether a prompt that UserPromptSubmit is run for belongs
// to a turn that runs already, which is where its prompt_id is in the
// transcript: the first prompt of a turn is written down only after its hooks.
//
// What is typed while a turn runs fires the hook at once, waits, and reaches
// the model with the next round of tools or after the turn, together with the
// hook's context; or never, if the person takes it back (Up). The running
// turn's own tool hooks and Stop come in between and prove nothing about it
// (seen with 2.1.332). So a hook puts nothing into the context of such a
// prompt: the running turn's other hooks bring it.
func JoinsTurn(transcript, promptID string) bool {
	if transcript == "" || promptID == "" {
		return false
	}
	joins := false
	tail(transcript, promptID, func(line []byte) bool {
		var l struct {
			Type     string `json:"type"`
			PromptID string `json:"promptId"`
		}
		joins = json.Unmarshal(line, &l) == nil && l.Type == "user" && l.PromptID == promptID
		return !joins
	})
	return joins
}

// tail calls fn with each line of a transcript's last part that holds a
// prompt's id, until fn has enough. A line that is cut off is given too.
func tail(path, promptID string, fn func(line []byte) (more bool)) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	if size, err := f.Seek(0, io.SeekEnd); err != nil {
		return
	} else if _, err := f.Seek(max(0, size-transcriptTail), io.SeekStart); err != nil {
		return
	}
	lines := bufio.NewReader(io.LimitReader(f, transcriptTail))
	for {
		line, err := lines.ReadBytes('\n')
		if bytes.Contains(line, []byte(promptID)) && !fn(line) || err != nil {
			return
		}
	}
}

// lineOrigin reads a transcript's line of type user.
func lineOrigin(line []byte, promptID, prompt string) (Origin, bool) {
	var l struct {
		Type     string `json:"type"`
		PromptID string `json:"promptId"`
		Message  struct {
			Content json.RawMessage `json:"content"`
		} `json:"message"`
		Origin struct {
			Kind OriginKind `json:"kind"`
			From string     `json:"from"`
			Name string     `json:"name"`
		} `json:"origin"`
	}
	if json.Unmarshal(line, &l) != nil || l.Type != "user" || l.PromptID != promptID || l.Origin.Kind == "" {
		return Origin{}, false
	}
	if !strings.Contains(plainText(l.Message.Content), strings.TrimSpace(prompt)) {
		return Origin{}, false
	}
	o := Origin{Kind: l.Origin.Kind, From: l.Origin.From, Name: l.Origin.Name}
	if o.Kind == Peer && o.From == DoorbellName && o.Name == DoorbellName {
		o.Kind = Doorbell
	}
	return o, true
}

// plainText gives the text of a message's content: a string, or blocks.
func plainText(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var blocks []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(content, &blocks)
	for _, b := range blocks {
		text += b.Text + "\n"
	}
	return text
}
