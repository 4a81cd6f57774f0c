package room

import (
	"slices"
	"strings"
	"unicode/utf8"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/mention"
	"bureau/internal/name"
)

// Say posts a public message. Who it is for is read from its text.
type Say struct {
	By     Caller
	ID     event.ID
	Text   string
	Blob   *Blob // where the text is kept, if not in the event
	Client string
	// Relay posts the human's words: only the moderator, where the opener
	// allowed it. The message is the human's and needs his turn.
	Relay bool
}

func (c Say) by() Caller   { return c.By }
func (c Say) speaks() bool { return true }

// Print is the fingerprint by which a message that is sent again with its
// client id is known to be the same; see [SameRequest].
func (c Say) Print() string {
	kind := "say"
	if c.Relay {
		kind = "relay"
	}
	return string(event.Derive(kind, c.Text))
}

func (c Say) decide(d *decision) error {
	body, err := checkText(c.Text, c.Blob, c.Client)
	if err != nil {
		return err
	}
	m, relayed, err := d.author(c)
	if err != nil {
		return err
	}
	if err := d.mayHold(m); err != nil {
		return err
	}
	a, err := d.publicTo(m, c.Text)
	if err != nil {
		return err
	}
	from := m.Handle
	if relayed != "" && d.r.human() == nil {
		d.invite(Invitee{Handle: User}, string(relayed))
	}
	if slices.Contains(a.To, User) && d.r.human() == nil {
		d.invite(Invitee{Handle: User}, string(from))
	}
	d.emit(KindSaid, Message{
		Seq: d.seq(), ID: c.ID, From: from, To: a.To, Named: a.Named, All: a.All,
		Body: body, Blob: c.Blob, Relayed: relayed, Client: c.Client, Print: c.Print(),
	})
	return nil
}

// author finds whose words these are, and who relays them.
func (d *decision) author(c Say) (m *Member, relayed name.Name, err error) {
	if !c.Relay {
		m, err = d.here(c.By)
		return m, "", err
	}
	own, err := d.here(c.By)
	if err != nil {
		return nil, "", err
	}
	by := own.Handle
	switch mod := d.r.Moderator; {
	case !d.r.Settings.RelayUser:
		return nil, "", fault.New(fault.Denied, "%s may not speak for @user in room %s", At(by), d.r.Name).
			WithHint("the human says it himself: bureau room say %s --as user; or the room is opened with --relay-user", d.r.Name)
	case mod == "" || mod == User:
		return nil, "", fault.New(fault.Denied, "only an agent that moderates room %s may speak for @user there, and none does", d.r.Name).
			WithHint("the human says it himself: bureau room say %s --as user", d.r.Name)
	case by != mod:
		return nil, "", fault.New(fault.Denied, "only %s, the moderator, may speak for @user in room %s", At(mod), d.r.Name).
			WithHint("give the words to %s; or the human says it himself: bureau room say %s --as user", At(mod), d.r.Name)
	}
	if m := d.r.human(); m != nil {
		return m, by, nil
	}
	return &Member{Handle: User, Human: true, Presence: Invited}, by, nil
}

// Whisper posts a message to some members only.
type Whisper struct {
	By   Caller
	ID   event.ID
	To   []string // handles, aliases or roles
	Text string
	Blob *Blob
	// FromText takes the recipients from the mentions in the text, if To is
	// empty. Without either the whisper is refused, never public.
	FromText bool
	Client   string
}

func (c Whisper) by() Caller   { return c.By }
func (c Whisper) speaks() bool { return true }

// Print is as in [Say].
func (c Whisper) Print() string {
	keys := []string{"whisper"}
	for _, w := range c.To {
		keys = append(keys, string(name.Fold(strings.TrimPrefix(strings.TrimSpace(w), "@"))))
	}
	slices.Sort(keys[1:])
	return string(event.Derive(append(keys, c.Text)...))
}

func (c Whisper) decide(d *decision) error {
	body, err := checkText(c.Text, c.Blob, c.Client)
	if err != nil {
		return err
	}
	m, err := d.here(c.By)
	if err != nil {
		return err
	}
	if err := d.mayHold(m); err != nil {
		return err
	}
	from := m.Handle
	to, err := d.privateTo(m, c)
	if err != nil {
		return err
	}
	d.emit(KindWhispered, Message{
		Seq: d.seq(), ID: c.ID, From: from, To: to, Named: len(to),
		Body: body, Blob: c.Blob, Client: c.Client, Print: c.Print(),
	})
	return nil
}

// checkText refuses what no room takes, and gives the body for the event.
func checkText(text string, blob *Blob, client string) (string, error) {
	size := int64(len(text))
	if blob != nil {
		size = max(size, blob.Size)
	}
	switch {
	case size > MaxBody:
		return "", fault.New(fault.Invalid, "the message has %d bytes; the limit is %d (1 MiB)", size, MaxBody).
			WithHint("put it where the others can read it and say the path")
	case strings.TrimSpace(text) == "":
		return "", fault.New(fault.Invalid, "the message is empty").WithHint("give a text")
	case blob == nil && !utf8.ValidString(text):
		return "", fault.New(fault.Invalid, "the message is not valid UTF-8").WithHint("send it as UTF-8")
	case len(client) > MaxClientID:
		return "", fault.New(fault.Invalid, "the client message id has %d bytes; the limit is %d", len(client), MaxClientID).WithHint("use a shorter one")
	}
	if blob != nil {
		return "", nil
	}
	return text, nil
}

// RecordID is the id of the record that a message with a client id becomes, so
// that it is stored once however often it is sent: a caller looks for it before
// it decides, because by then the floor may be somebody else's. gone is as for
// [Room.ByHandle]: who is known by a handle alone sends again as that.
func RecordID(r *Room, by Caller, client string, gone []name.Name) event.ID {
	if h, alone := r.ByHandle(by, gone); alone {
		return event.Derive("room message", string(r.ID), "handle", string(h.Key()), "", client)
	}
	kind := "agent"
	if by.Human {
		kind = "human"
	}
	return event.Derive("room message", string(r.ID), kind, string(by.Agent), by.Seat, client)
}

// SameRequest refuses a message that carries the client id of a stored one and
// says something else. print is the new message's.
func SameRequest(stored Message, print string) error {
	if stored.Print == print {
		return nil
	}
	return fault.New(fault.Conflict, "client message id %.48q was used for another message (%d)", stored.Client, stored.Seq).
		WithHint("use a new id for a new message")
}

// roster is the room's members as the mention parser wants them; the human is
// always the last, member or not.
func (r *Room) roster(names Names) (*mention.Roster, []name.Name) {
	candidates := make([]mention.Candidate, 0, len(r.Members)+1)
	handles := make([]name.Name, 0, len(r.Members)+1)
	further := r.further(names)
	for i := range r.Members {
		m := &r.Members[i]
		words := slices.Concat(m.Aliases, m.Roles)
		if further[i] != "" {
			words = append(words, further[i])
		}
		candidates = append(candidates, mention.Candidate{Name: string(m.Handle), Aliases: words})
		handles = append(handles, m.Handle)
	}
	if r.human() == nil {
		candidates = append(candidates, mention.Candidate{Name: string(User)})
		handles = append(handles, User)
	}
	return mention.NewRoster(candidates), handles
}

// Address is whom a text is for.
type Address struct {
	To      []name.Name // in the order of the queue, without the author
	Named   int         // how many of To were named
	All     AllRule     // what @all beside names meant; "" without both
	Every   bool        // @all stands in the text
	Absent  []name.Name // those of To who are not there
	Unknown []string    // words that look like a mention of nobody, at most 10
}

// Addressees reads a text of a member as a public message.
func Addressees(r *Room, from name.Name, text string, names Names) Address {
	var a Address
	roster, handles := r.roster(names)
	for _, m := range roster.Find(text) {
		switch m.Kind {
		case mention.Member:
			if handles[m.Member] != from {
				a.To = append(a.To, handles[m.Member])
			}
		case mention.All:
			a.Every = true
		case mention.Unknown:
			if len(a.Unknown) < 10 {
				a.Unknown = append(a.Unknown, clip(m.Text))
			}
		}
	}
	a.Named = len(a.To)
	if a.Every && a.Named > 0 {
		a.All = r.Settings.All
	}
	if a.Every && a.All != NamesOnly {
		for i := range r.Members {
			if m := &r.Members[i]; m.Expected() && m.Handle != from && !slices.Contains(a.To, m.Handle) {
				a.To = append(a.To, m.Handle)
			}
		}
	}
	for _, h := range a.To {
		if m := r.member(h); m != nil && !m.Expected() {
			a.Absent = append(a.Absent, h)
		}
	}
	return a
}

// clip bounds a word of a text for a notice.
func clip(s string) string {
	if utf8.RuneCountInString(s) <= name.MaxRunes {
		return s
	}
	return string([]rune(s)[:name.MaxRunes]) + "…"
}

// Nobody is the detail of a refusal because a message is for nobody who could
// hear it.
type Nobody struct {
	Status  string      `json:"status"` // no_recipient
	Others  []name.Name `json:"others"`
	Present []name.Name `json:"present"`
	Unknown []string    `json:"unknown,omitempty"`
}

func (d *decision) nobody(from name.Name, unknown []string) Nobody {
	n := Nobody{Status: "no_recipient", Unknown: unknown, Others: []name.Name{}, Present: []name.Name{}}
	for i := range d.r.Members {
		m := &d.r.Members[i]
		if m.Handle == from {
			continue
		}
		n.Others = append(n.Others, m.Handle)
		if m.Expected() {
			n.Present = append(n.Present, m.Handle)
		}
	}
	return n
}

// publicTo finds whom a public message is for, or refuses it.
func (d *decision) publicTo(m *Member, text string) (Address, error) {
	a := Addressees(d.r, m.Handle, text, d.known.Names)
	detail := d.nobody(m.Handle, a.Unknown)
	switch {
	case len(a.To) == 0 && a.Every:
		return a, fault.New(fault.Conflict, "nobody else is in room %s", d.r.Name).
			WithHint("wait for the others: bureau room wait %s", d.r.Name).WithDetail(detail)
	case len(a.To) == 0:
		err := fault.New(fault.Invalid, "the message is for nobody").WithDetail(detail)
		if len(a.Unknown) > 0 {
			err = fault.New(fault.Invalid, "the message is for nobody: room %s has no %s", d.r.Name, atWords(a.Unknown)).WithDetail(detail)
		}
		if len(detail.Others) == 0 {
			return a, err.WithHint("nobody else is a member; invite somebody: bureau room invite %s NAME", d.r.Name)
		}
		return a, err.WithHint("mention one of %s, or @all", ats(detail.Others))
	case !slices.ContainsFunc(a.To, d.r.hears):
		return a, d.onlyAbsent(a.To, detail)
	}
	return a, nil
}

// hears reports whether somebody is told of a message that is for him alone.
func (r *Room) hears(h name.Name) bool {
	m := r.member(h)
	return h == User || m != nil && m.Reachable()
}

func (d *decision) onlyAbsent(to []name.Name, detail Nobody) error {
	err := fault.New(fault.Conflict, "not in room %s: %s", d.r.Name, ats(to)).WithDetail(detail)
	if len(detail.Present) == 0 {
		return err.WithHint("nobody else is there; wait with: bureau room wait %s", d.r.Name)
	}
	return err.WithHint("there are %s", ats(detail.Present))
}

func atWords(words []string) string { return "@" + strings.Join(words, ", @") }

// privateTo finds whom a whisper is for, or refuses it. A whisper reaches those
// it names and nobody else, so its text must not call anybody else.
func (d *decision) privateTo(m *Member, c Whisper) ([]name.Name, error) {
	a := Addressees(d.r, m.Handle, c.Text, d.known.Names)
	if a.Every {
		return nil, wholeRoom()
	}
	var to []name.Name
	for _, w := range c.To {
		switch name.Fold(strings.TrimPrefix(strings.TrimSpace(w), "@")) {
		case "":
			continue
		case "all", "everyone", "*":
			return nil, wholeRoom()
		}
		found := d.called(w)
		if h, err := Handle(w); err == nil && h == User {
			found = []name.Name{User}
		}
		if len(found) == 0 {
			return nil, d.noMember(w)
		}
		for _, h := range found {
			if h != m.Handle && !slices.Contains(to, h) {
				to = append(to, h)
			}
		}
	}
	if len(c.To) == 0 && c.FromText {
		if len(a.Unknown) > 0 {
			return nil, d.noMember(a.Unknown[0])
		}
		to = a.To
	}
	detail := d.nobody(m.Handle, nil)
	if len(to) == 0 {
		return nil, fault.New(fault.Invalid, "the whisper is for nobody").WithHint("name one of %s", ats(detail.Others)).WithDetail(detail)
	}
	for _, h := range a.To {
		if !slices.Contains(to, h) {
			return nil, fault.New(fault.Invalid, "the whisper mentions %s, who would not get it", At(h)).
				WithHint("name %s among those it is for, or leave the @ away", At(h))
		}
	}
	if !slices.ContainsFunc(to, d.r.hears) {
		return nil, d.onlyAbsent(to, detail)
	}
	return to, nil
}

func wholeRoom() error {
	return fault.New(fault.Invalid, "a whisper cannot go to everybody").WithHint("name those it is for, or say it to the room")
}
