package cli

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/mail"
	"bureau/internal/office"
	"bureau/internal/quote"
	"bureau/internal/room"
)

func newTail(a *app) *cobra.Command {
	var since, kind, agent string
	var stop bool
	cmd := &cobra.Command{
		Use:     "tail",
		GroupID: groupOffice,
		Short:   "Watch what happens, one line for each event",
		Long: `tail shows how things stand (who is here, open threads with the hops they have
left, open questions and how long they wait, what is claimed) and then every
event as one line, as it happens: the time, a sign for what it was, who and to
whom, the short id, the first words.

  ? question   = answer   → note   ! request   ~ update   ✗ error   » broadcast
  + thread opened   & joined   ↑ hops granted   0 hops used up   × closed
  ◦ seen   ✓ acknowledged   ⌛ expired   ø question ended   ⤳ passed on
  # board   - off it
  ■ claimed   □ claim ended   ▣ changed, renewed   ⇄ changed hands
  ⋯ waits in line   ⋅ no longer   ▽ parked   △ back from it
  › said   ‹ whispered   ▷ turn   ⊘ turn given up or lost   ± vote
  ◇ room opened   ⊕ invited, came   ⊖ went   ◆ room closed
  @ registered   ▲ session began   ▼ session ended   ↷ renamed   † retired
  ⊡ token issued   ⊠ token revoked   ⌂ project seen, or its rules changed

It is woken by the office and does not poll. Inside an agent session it shows
what that agent takes part in; in the person's own terminal everything.`,
		Example: `  bureau tail
  bureau tail --since 1h --kind question
  bureau tail --since 0 --stop --json    # everything so far, one object a line
  bureau tail --agent ana --project .`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			o, caller, err := a.enter(ctx)
			if err != nil {
				return err
			}
			f := office.Filter{Kind: kind}
			if k, err := mail.ParseKind(kind); err == nil && k != "" {
				f.Kind = string(k) // a word for a kind of mail, also of older systems
			} else if !knownKind(kind) {
				return fault.New(fault.Invalid, "no event has the kind %.64q", kind).
					WithHint("it is one of %s, or a kind of mail (question)", strings.Join(kindFamilies(), ", "))
			}
			if a.project != "" {
				f.Project = caller.Project.ID
			}
			if agent != "" {
				who, err := o.Who(ctx, agent)
				if err != nil {
					return err
				}
				f.Agent = string(who.Name)
			}
			head, err := o.Head(ctx)
			if err != nil {
				return err
			}
			after := head
			if since != "" {
				if after, err = a.position(ctx, o, since); err != nil {
					return err
				}
			}
			if !a.json {
				if err := a.standing(ctx, o, caller); err != nil {
					return err
				}
				if _, err := a.askRooms(ctx, o, caller); err != nil {
					return err
				}
				if err := a.flush(); err != nil { // the next event may be long in coming
					return err
				}
			}
			show := func(v office.EventView) error {
				if stop && v.Seq > head {
					return errDone
				}
				if err := a.showEvent(v); err != nil {
					return err
				}
				return a.flush()
			}
			if stop {
				return a.replay(ctx, o, caller, f, after, head, show)
			}
			return o.Follow(ctx, caller, f, after, show)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&since, "since", "", "from `WHEN` on: how long ago (10m, 2d), a moment (RFC 3339) or a position (0: from the beginning)")
	flags.StringVar(&kind, "kind", "", "only this `KIND` of event or its beginning (thread, claim, room, agent.renamed), or of mail (question)")
	flags.StringVar(&agent, "agent", "", "only what `NAME` did or got")
	flags.BoolVar(&stop, "stop", false, "end with what there is now")
	return cmd
}

// knownKind reports whether an event can be of a kind, or of one that begins so.
func knownKind(kind string) bool {
	for k := range signs {
		if strings.HasPrefix(string(k), kind) {
			return true
		}
	}
	return strings.HasPrefix(string(mail.KindSent), kind)
}

// kindFamilies lists what kinds of events begin with, by the alphabet.
func kindFamilies() []string {
	list := []string{string(mail.KindSent)}
	for k := range signs {
		list = append(list, string(k))
	}
	for i, k := range list {
		list[i], _, _ = strings.Cut(k, ".")
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// errDone ends a replay.
var errDone = fault.New(fault.Invalid, "done")

// replay shows events up to a position and ends.
func (a *app) replay(ctx context.Context, o *office.Office, caller office.Caller, f office.Filter, after, head event.Seq, show func(office.EventView) error) error {
	for after < head {
		list, next, err := o.Events(ctx, caller, f, after, 500)
		if err != nil {
			return err
		}
		for _, v := range list {
			if err := show(v); err == errDone {
				return nil
			} else if err != nil {
				return err
			}
		}
		if next == after {
			return nil
		}
		after = next
	}
	return nil
}

// position reads a position, a moment or a length of time.
func (a *app) position(ctx context.Context, o *office.Office, word string) (event.Seq, error) {
	if n, err := strconv.ParseInt(word, 10, 64); err == nil {
		head, err := o.Head(ctx)
		if err != nil {
			return 0, err
		}
		if n < 0 || event.Seq(n) > head {
			return 0, fault.New(fault.Invalid, "the journal has positions 0 to %d, not %d", head, n).WithHint("--since 10m begins ten minutes ago")
		}
		return event.Seq(n), nil
	}
	if at, err := time.Parse(time.RFC3339, word); err == nil {
		return o.Since(ctx, at)
	}
	ago, err := parseDuration(word)
	if err != nil {
		return 0, fault.New(fault.Invalid, "--since %q is no time", word).WithHint("give a length of time (10m, 2h, 3d), a moment (2026-01-31T12:00:00Z) or a position")
	}
	return o.Since(ctx, o.Now().Add(-ago))
}

// claimsShown is how many claims stand among how things stand.
const claimsShown = 5

// standing prints how things stand.
func (a *app) standing(ctx context.Context, o *office.Office, caller office.Caller) error {
	s, err := o.Standing(ctx, caller)
	if err != nil {
		return err
	}
	here := "nobody"
	if len(s.Here) > 0 {
		here = strings.Join(s.Here, ", ")
	}
	a.printf("%s\n", safeLine("here: "+here, a.width()))
	if s.Total > 0 {
		a.printf("open threads: %d\n", s.Total)
	}
	for _, t := range s.Threads {
		hops := strconv.Itoa(t.HopsLeft) + " of " + strconv.Itoa(t.Hops) + " hops left"
		a.printf("%s\n", a.line("  ", t.Short, hops, strings.Join(shorten(t.Participants, 3), ", ")+": "+t.Subject))
	}
	if n := s.Total - len(s.Threads); n > 0 {
		a.printf("  … and %d more: bureau thread list\n", n)
	}
	if len(s.Questions) > 0 {
		a.printf("open questions: %d\n", len(s.Questions))
	}
	for i, q := range s.Questions {
		if i == 10 {
			a.printf("  … and %d more\n", len(s.Questions)-i)
			break
		}
		waits := "open for "
		if q.Waiting {
			waits = "waits for "
		}
		a.printf("%s\n", a.line("  ", q.Short, waits+quote.Ago(o.Now().Sub(q.SentAt)), q.Asker+" → "+q.Asked+": "+q.Text))
	}
	claims, err := o.ClaimList(ctx, caller, office.ClaimQuery{Every: true, Page: office.Page{Limit: claimsShown}})
	if err != nil {
		return err
	}
	if claims.Total > 0 {
		a.printf("claims: %d\n", claims.Total)
	}
	for i := range claims.Claims {
		v := &claims.Claims[i]
		state := stateWords(v) + ", claimed " + a.since(v.Since)
		a.printf("%s\n", a.line("  ", v.Short, state, v.Holder+" holds "+coveredWords(v, 2)+": "+v.Intent))
	}
	if n := claims.Total - len(claims.Claims); n > 0 {
		a.printf("  … and %d more: bureau claims --every\n", n)
	}
	if err := a.standingRooms(ctx, o, caller); err != nil {
		return err
	}
	a.printf("%s\n", strings.Repeat("─", min(a.width(), 72)))
	return a.flush()
}

// signs of events; see the help of tail.
var signs = map[event.Kind]string{
	"thread.opened": "+", "thread.joined": "&", "thread.granted": "↑", "thread.exhausted": "0", "thread.closed": "×",
	"message.expired": "⌛", "question.ended": "ø", "thread.passed": "⤳", "mail.seen": "◦", "mail.acked": "✓", "broadcast.posted": "»",
	"claim.granted": "■", "claim.ended": "□", "claim.changed": "▣", "claim.renewed": "▣", "claim.moved": "⇄", "claim.parked": "▽", "claim.resumed": "△",
	"claim.waiting": "⋯", "claim.wait_ended": "⋅", "claim.rules": "⌂",
	room.KindSaid: "›", room.KindWhispered: "‹", room.KindOpened: "◇", room.KindClosed: "◆", room.KindStarted: "▷", room.KindTurn: "▷",
	room.KindInvited: "⊕", room.KindJoined: "⊕", room.KindReturned: "⊕", room.KindLeft: "⊖", room.KindGone: "⊖",
	room.KindLost: "⊘", room.KindPassed: "⊘", room.KindSkipped: "⊘", room.KindProposed: "±", room.KindVoted: "±", room.KindDecided: "±", "room.read": "◦",
	"board.set": "#", "board.deleted": "-",
	"agent.registered": "@", "agent.attached": "▲", "agent.detached": "▼", "agent.renamed": "↷", "agent.retired": "†", "token.issued": "⊡", "token.revoked": "⊠", "project.seen": "⌂",
}

var mailSigns = map[mail.Kind]string{
	mail.Question: "?", mail.Answer: "=", mail.Note: "→", mail.Request: "!", mail.Update: "~", mail.Error: "✗", mail.Broadcast: "»", mail.Ack: "✓",
}

// showEvent prints one event as one line.
func (a *app) showEvent(v office.EventView) error {
	if a.json {
		raw, err := encodeJSON(v, false)
		if err == nil {
			_, err = a.out.Write(raw)
		}
		return err
	}
	sign, ok := signs[v.Kind]
	if v.Mail != "" {
		sign, ok = mailSigns[v.Mail]
	}
	words := []string{v.Time.Local().Format("15:04:05"), sign}
	if !ok {
		words[1] = "·"
	}
	who := v.From
	if len(v.To) > 0 {
		who += " → " + strings.Join(v.To, ", ")
	}
	words = append(words, who)
	switch {
	case v.Room != "":
		words = append(words, string(v.Room))
	case v.Short != "":
		words = append(words, v.Short)
	}
	if v.Mail == "" && v.Kind != room.KindSaid && v.Kind != room.KindWhispered {
		words = append(words, string(v.Kind))
	}
	line := a.line("", append(words, v.Text)...)
	if v.Room != "" && slices.Contains(v.To, string(room.User)) {
		line = a.bold(line) // somebody asks the person
	}
	a.printf("%s\n", line)
	return nil
}
