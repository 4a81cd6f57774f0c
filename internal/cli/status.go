package cli

import (
	"context"
	"strings"

	"bureau/internal/office"
	"bureau/internal/quote"
)

func init() { overview = status }

// status is what bureau without arguments shows a person: the office at a
// glance and what waits for them.
func status(ctx context.Context, a *app) error {
	o, caller, err := a.enter(ctx)
	if err != nil {
		return err
	}
	box, err := o.Inbox(ctx, caller, false, office.Page{Limit: 5})
	if err != nil {
		return err
	}
	mine, err := o.OpenQuestions(ctx, caller)
	if err != nil {
		return err
	}
	standing, err := o.Standing(ctx, caller)
	if err != nil {
		return err
	}
	claims, err := o.ClaimList(ctx, caller, office.ClaimQuery{Every: true, Page: office.Page{Limit: claimsShown}})
	if err != nil {
		return err
	}
	if a.json {
		rooms, err := openRooms(ctx, o, caller)
		if err != nil {
			return err
		}
		asks, err := roomAsks(ctx, o, caller)
		if err != nil {
			return err
		}
		return a.printJSON(struct {
			Home      string                `json:"home"`
			As        string                `json:"as"`
			Unread    int                   `json:"unread"`
			Questions []office.QuestionView `json:"questions"` // that wait for you
			Standing  office.Standing       `json:"standing"`
			Claims    office.Claims         `json:"claims"`     // the oldest few
			Rooms     office.Rooms          `json:"rooms"`      // the newest few that are open
			Calls     []roomAsk             `json:"room_calls"` // what rooms want of you
		}{o.Home(), string(caller.Agent.Name), box.Unread, mine, standing, claims, rooms, asks})
	}
	where, who := "office "+safeLine(o.Home(), 0), "you are "+safeLine(string(caller.Agent.Name), 64)
	if quote.Width(where)+len(", ")+quote.Width(who) <= a.width() {
		a.printf("%s\n", where+", "+who)
	} else {
		a.printf("%s\n%s\n", where, who)
	}
	if err := a.standing(ctx, o, caller); err != nil {
		return err
	}
	asked, err := a.askRooms(ctx, o, caller)
	if err != nil {
		return err
	}
	for _, q := range mine {
		a.printf("%s\n", a.line("", "answer "+q.Short, q.Asker+" asks: "+q.Text))
	}
	for _, m := range box.Messages {
		a.printf("%s\n", a.line("", "unread "+m.Short, m.From+": "+m.Subject+" "+m.Body))
	}
	switch {
	case box.Unread == 0 && len(mine) == 0 && asked > 0:
	case box.Unread == 0 && len(mine) == 0:
		a.printf("nothing waits for you; bureau --help lists the commands\n")
	default:
		a.printf("%d unread, %d to answer; %s\n", box.Unread, len(mine), todo(a.bureau(), box.Unread, len(mine)))
	}
	return nil
}

// todo names the commands for what waits.
func todo(bureau string, unread, questions int) string {
	var words []string
	if unread > 0 {
		words = append(words, bureau+" read shows mail")
	}
	if questions > 0 {
		words = append(words, bureau+" answer ID TEXT answers")
	}
	return strings.Join(words, ", ")
}
