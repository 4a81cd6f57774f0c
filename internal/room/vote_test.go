package room

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"bureau/internal/fault"
	"bureau/internal/name"
)

// result gives the result that the last command brought, or "".
func (m *meeting) result() string {
	for _, e := range m.last {
		if e.Kind == KindDecided {
			var d Decided
			if err := e.Decode(&d); err != nil {
				m.t.Fatal(err)
			}
			return fmt.Sprintf("%s %d:%d:%d %s %v", d.Outcome, d.Yes, d.No, d.Abstain, d.Why, d.Missing)
		}
	}
	return ""
}

func TestVotes(t *testing.T) {
	for _, tc := range []struct {
		name, votes string // votes of A, B, C, D in order: y n a, - for none
		quorum      int
		want        string // "" while it goes on
		deadline    string
	}{
		{"all yes, settled by the third", "yyy", 0, "accepted 3:0:0 votes [D]", ""},
		{"two of four settle nothing", "yy", 0, "", "no_quorum 2:0:0 deadline [C D]"},
		{"two no of four, quorum met: a tie would reject", "nn", 2, "rejected 0:2:0 votes [C D]", ""},
		{"a tie is no majority", "ynyn", 0, "rejected 2:2:0 votes []", ""},
		{"abstentions make the quorum", "yaa", 0, "", "accepted 1:0:2 deadline [D]"},
		{"all abstain", "aaaa", 0, "rejected 0:0:4 votes []", ""},
		{"nobody votes", "", 0, "", "no_quorum 0:0:0 deadline [A B C D]"},
		{"quorum of all", "yyy-", 4, "", "no_quorum 3:0:0 deadline [D]"},
		{"quorum of one", "--y", 1, "", "accepted 1:0:0 deadline [A B D]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			all := []string{"A", "B", "C", "D"}
			m := meet(t, Settings{}, all...).do(Propose{By: agent("A"), Text: "ship it", Quorum: tc.quorum, Time: time.Minute}).happened("proposed").floor("A []")
			got := ""
			for i, v := range tc.votes {
				if v == '-' {
					continue
				}
				choice := map[rune]Choice{'y': Yes, 'n': No, 'a': Abstain}[v]
				if got = m.do(Vote{By: agent(all[i]), Choice: choice}).result(); got != "" && i < len(tc.votes)-1 {
					t.Fatalf("%s after %d votes", got, i+1)
				}
			}
			if got != tc.want {
				t.Errorf("%q, not %q", got, tc.want)
			}
			if tc.deadline == "" {
				m.refuse(Vote{By: agent("D"), Number: 1, Choice: No}, fault.Conflict, "is over")
				return
			}
			if at, ok := Deadline(&m.r); !ok || !at.Equal(noon.Add(time.Minute)) {
				t.Errorf("the deadline is %s", at)
			}
			if m.after(59 * time.Second).do(Sweep{}).happened(""); len(m.r.Proposals) != 1 {
				t.Error("over before its time")
			}
			if got := m.after(time.Second).do(Sweep{}).result(); got != tc.deadline {
				t.Errorf("at the deadline %q, not %q", got, tc.deadline)
			}
		})
	}
}

func TestVotingRules(t *testing.T) {
	m := setup(t, Settings{Barrier: Barrier{N: 2}}, "A", "B", "C", "user").join("A", "B")
	m.refuse(Vote{By: agent("A"), Choice: Yes}, fault.NotFound)
	m.refuse(Propose{By: agent("B"), Text: "x"}, fault.Conflict, "has the floor")
	m.refuse(Propose{By: agent("A"), Text: " "}, fault.Invalid)
	m.refuse(Propose{By: agent("A"), Text: strings.Repeat("x", MaxProposal+1)}, fault.Invalid)
	m.refuse(Propose{By: agent("A"), Text: "x", Quorum: 4}, fault.Invalid, "3")
	m.refuse(Propose{By: agent("A"), Text: "x", Time: time.Millisecond}, fault.Invalid)
	m.do(Propose{By: agent("A"), Text: "x"})
	// The voters are those there and the human; what others do later is theirs.
	if b, _ := m.r.ballot(1); !slices.Equal(b.Voters, []name.Name{"A", "B", "user"}) || b.Quorum != 2 || !b.Until.Equal(noon.Add(DefaultVoteTime)) {
		t.Errorf("%+v", b)
	}
	if !Addressed(m.last[0], "B") || !Addressed(m.last[0], User) || Addressed(m.last[0], "C") || Addressed(m.last[0], "A") {
		t.Error("a proposal is for its voters")
	}
	m.join("C").refuse(Vote{By: agent("C"), Choice: Yes}, fault.Denied, "@A, @B, @user")
	m.refuse(Vote{By: agent("B"), Choice: "perhaps"}, fault.Invalid, "yes or no or abstain")
	m.refuse(Vote{By: Caller{Agent: "id-B", As: "A"}, Choice: Yes}, fault.Denied)
	m.do(Vote{By: agent("B"), Choice: Yes}).do(Vote{By: agent("B"), Choice: Yes}).happened("")
	m.do(Vote{By: agent("B"), Choice: No}).happened("voted") // a change of mind
	if got := Undecided(&m.r, "A"); !slices.Equal(got, []int{1}) || Undecided(&m.r, "B") != nil {
		t.Error(got)
	}
	m.do(Propose{By: agent("user"), Text: "y"}).refuse(Vote{By: agent("A"), Choice: Yes}, fault.Conflict, "2 proposals")
	m.do(Vote{By: agent("A"), Number: 1, Choice: No})
	if got := m.result(); got != "rejected 0:2:0 votes [user]" {
		t.Error(got)
	}
	m.do(Close{By: agent("user"), Summary: "nothing decided"}).happened("decided closed")
	if got := m.result(); got != "dropped 0:0:0 closed [A B C user]" {
		t.Error(got)
	}
	m = meet(t, Settings{}, "A", "B")
	for range MaxProposals {
		m.do(Propose{By: agent("A"), Text: "x"})
	}
	m.refuse(Propose{By: agent("A"), Text: "x"}, fault.Conflict, "16")
}
