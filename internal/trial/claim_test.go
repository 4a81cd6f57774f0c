package trial

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"bureau/internal/claim"
	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/office"
	"bureau/internal/presence"
)

// project is where the trials' claims are made.
func project() office.Project {
	return office.Project{ID: office.ProjectID("/trial"), Name: "trial", Root: "/trial"}
}

func wanted(paths ...string) claim.Want {
	w := claim.Want{Mode: claim.Exclusive, Tree: "/trial"}
	for _, p := range paths {
		pat, err := claim.ParsePattern(p)
		if err != nil {
			panic(err)
		}
		w.Paths = append(w.Paths, pat)
	}
	return w
}

// claim FORM N: claims N things, each spelled in this worker's form; prints
// "won I TOKEN" for every one that it gets.
func (w *worker) claim() error {
	forms := []string{"race/%d", "race/%d/a.go", "race/%d/**/*.go", "race/%d/sub/../a.go", "./race//%d/", "race/%d/[a-c].go", "race/%d/?.go", "**/%d/a.go"}
	form := forms[w.int(0)]
	for i := range w.int(1) {
		v, err := w.o.Claim(w.ctx, w.me, project(), office.Claiming{Want: wanted(fmt.Sprintf(form, i)), Intent: "race"})
		if err == nil {
			fmt.Printf("won %d %d\n", i, v.Token)
		} else if !fault.Is(err, fault.Conflict) {
			return err
		}
	}
	return nil
}

// TestClaimsHaveOneWinner: 8 processes race for overlapping claims, each with
// another spelling; every one has exactly one winner, and tokens only grow.
func TestClaimsHaveOneWinner(t *testing.T) {
	for range long(20, 1) {
		names := make([]string, 8)
		for i := range names {
			names[i] = "racer" + strconv.Itoa(i)
		}
		p := newPlace(t, names...)
		n := long(300, 60)
		var list []*child
		for i, name := range names {
			list = append(list, p.child(fmt.Sprintf("claim %s %d %d", name, i, n)))
		}
		for _, c := range list {
			c.begin()
		}
		winner, token := map[string]int{}, map[string]bool{}
		for i, c := range list {
			c.end(t)
			for _, l := range c.said("won") {
				if other, won := winner[l[0]]; won {
					t.Errorf("claim %s has two winners, %d and %d", l[0], other, i)
				}
				winner[l[0]] = i
				if token[l[1]] {
					t.Errorf("token %s was given twice", l[1])
				}
				token[l[1]] = true
			}
		}
		if len(winner) != n {
			t.Errorf("%d claims have a winner, want %d", len(winner), n)
		}
		p.sound()
	}
}

// holdClaim is the life of a session that claims a path, is stopped, and tries
// to write once it goes on.
func holdClaim(ctx context.Context, o *office.Office, session string) error {
	s := office.Session{Client: "claude", ID: session, Process: presence.Self(), Folder: "/trial", Project: project()}
	if _, err := o.StartSession(ctx, s); err != nil {
		return err
	}
	me, err := o.SessionCaller(ctx, s.Client, s.ID, "", s.Process)
	if err != nil {
		return err
	}
	v, err := o.Claim(ctx, me, project(), office.Claiming{Want: wanted("src"), Intent: "work"})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	in := bufio.NewReader(os.Stdin)
	for {
		if _, err := in.ReadString('\n'); err != nil {
			return nil
		}
		edit := office.Editing{Paths: []string{"src/a.go"}, Tree: "/trial"}
		_, err := o.MayEdit(ctx, me, project(), edit)
		fmt.Printf("edit %v\n", err == nil)
		_, err = o.MayCommit(ctx, me, project(), edit)
		fmt.Printf("commit %v\n", err == nil)
		_, err = o.CheckToken(ctx, me, string(v.ID), v.Token)
		fmt.Printf("token %v\n", err == nil)
	}
}

// overtake takes the one claim of an office over, five hours later.
func overtake(t *testing.T, p *place, by string) office.ClaimView {
	t.Helper()
	ctx := context.Background()
	later, err := office.Open(ctx, office.Options{
		Home: p.Home(), Now: func() time.Time { return time.Now().Add(5 * time.Hour) },
		Probe: func(_ context.Context, _ office.Project, list []office.HeldClaim) map[event.ID]claim.Probe {
			return map[event.ID]claim.Probe{list[0].ID: {Verdict: claim.ProbeFree, Saw: "nothing changed there"}}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer later.Close()
	list, err := p.ClaimList(ctx, p.user(), office.ClaimQuery{Project: project()})
	if err != nil || len(list.Claims) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	v, err := later.TakeOver(ctx, p.as(by), office.Takeover{Claim: string(list.Claims[0].ID)})
	if err != nil {
		t.Fatal(err)
	}
	return v
}
