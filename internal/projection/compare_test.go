package projection

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bureau/internal/board"
	"bureau/internal/claim"
	"bureau/internal/db"
	"bureau/internal/event"
	"bureau/internal/journal"
	journalsqlite "bureau/internal/journal/sqlite"
	"bureau/internal/mail"
	"bureau/internal/name"
	"bureau/internal/room"
	"bureau/internal/roster"
)

// store is a journal and one generation of tables, for tests.
type store struct {
	t   *testing.T
	d   *db.DB
	j   *journalsqlite.Engine
	p   *Projection
	now time.Time
}

func newStore(t *testing.T) *store {
	t.Helper()
	ctx := context.Background()
	d, err := db.Open(ctx, filepath.Join(t.TempDir(), "test.db"), db.Options{Create: true, Sync: db.Off, AppID: journalsqlite.AppID})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	j, err := journalsqlite.Open(ctx, d)
	if err != nil {
		t.Fatal(err)
	}
	return &store{t, d, j, New(1), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
}

// append stores events without folding them.
func (s *store) append(subject event.Subject, events ...event.Event) {
	s.t.Helper()
	s.now = s.now.Add(time.Second)
	_, _, err := s.j.Append(context.Background(), journal.Entry{ID: event.NewID(s.now), Subject: subject, Time: s.now, Actor: event.Actor{Agent: "ana"}, Events: events})
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *store) update(fn func(tx *db.Tx) error) {
	s.t.Helper()
	if err := s.d.Update(context.Background(), fn); err != nil {
		s.t.Fatal(err)
	}
}

func (s *store) view(fn func(tx *db.Tx) error) {
	s.t.Helper()
	if err := s.d.View(context.Background(), fn); err != nil {
		s.t.Fatal(err)
	}
}

// advance folds what is new, in transactions of at most limit records.
func (s *store) advance(limit int) (transactions int) {
	s.t.Helper()
	for done := false; !done; transactions++ {
		s.update(func(tx *db.Tx) (err error) {
			done, err = s.p.Advance(tx, s.j.In(tx).Read, limit)
			return err
		})
	}
	return transactions
}

func (s *store) compare() (list []Difference) {
	s.t.Helper()
	s.view(func(tx *db.Tx) (err error) {
		list, err = s.p.Compare(tx, s.j.In(tx).Read, s.t.TempDir(), 10)
		return err
	})
	return list
}

// history writes a little of everything.
func (s *store) history() {
	for _, a := range []event.ID{"ana", "bob", "carla"} {
		s.append(event.Names,
			event.New(roster.KindRegistered, roster.Registered{Agent: a, Name: "n-x", Kind: roster.Session, Seat: "x"}),
			event.New(roster.KindRenamed, roster.Renamed{Agent: a, From: "n-x", To: name.Name("n-" + a)}),
			event.New(roster.KindAttached, roster.Attached{Agent: a, Life: roster.Incarnation{ID: "L" + a, Conversation: "claude:" + string(a), Process: roster.Process{PID: 7, Start: 1}}}))
	}
	s.append(event.Names, event.New(KindProject, Project{ID: "P", Name: "p", Root: "/p"}), event.New("agent.promoted", 1))
	s.append(event.Tokens, event.New(roster.KindTokenIssued, roster.Token{ID: "K1", Name: "ana", Hash: "h"}), event.New(roster.KindTokenIssued, roster.Token{ID: "K2", Name: "bob"}),
		event.New(roster.KindTokenRevoked, roster.TokenRevoked{Token: "K2", At: s.now}), event.New("token.lent", 1))
	thread := func(id event.ID, events ...event.Event) { s.append(event.ThreadSubject(id), events...) }
	thread("T", event.New(mail.KindOpened, mail.Opened{Thread: "T", Subject: "s", Owner: "ana", Members: []event.ID{"ana", "bob", "carla"}, Hops: 3}))
	thread("T", event.New(mail.KindSent, mail.Message{ID: "M1", From: "ana", To: []event.ID{"bob", "carla"}, Kind: mail.Question, Body: "a\x00b'c\"", AckWanted: true}))
	thread("T", event.New(mail.KindSent, mail.Message{ID: "M2", From: "bob", To: []event.ID{"ana"}, Kind: mail.Answer, Answers: "M1", Body: "yes"}))
	thread("T", event.New(mail.KindEnded, mail.EndedQuestion{ID: "M1", Asked: "carla", Reason: "expired"}), event.New(mail.KindExpired, mail.ExpiredMessage{ID: "M1"}))
	thread("T", event.New(mail.KindSent, mail.Message{ID: "M3", From: "carla", To: []event.ID{"bob"}, Kind: mail.Note, Body: "bye"}), event.New(mail.KindExhausted, mail.ExhaustedNotice{Notice: "N", Owner: "ana"}))
	s.append(event.AgentSubject("bob"), event.New(mail.KindSeen, mail.Marked{Messages: []event.ID{"M1", "M3", "unknown"}}))
	s.append(event.BroadcastSubject("B"), event.New(mail.KindBroadcasted, mail.Posted{Message: mail.Message{ID: "B", From: "ana", Expires: s.now.Add(time.Hour)}, Audience: "project:P"}))
	s.append(event.BoardSubject("office"), event.New(board.KindSet, board.Set{Key: "k", Value: "v"}))
	s.append(event.BoardSubject("office"), event.New(board.KindSet, board.Set{Key: "l", Value: "w"}), event.New(board.KindDeleted, board.Deleted{Key: "k"}))
	s.append(event.Names, event.New(roster.KindRetired, roster.RetiredAgent{Agent: "carla", Name: "n-carla"}))
	want := claim.Want{Paths: []claim.Pattern{"src/a.go"}, Resources: []claim.Resource{"port:8080"}, Mode: claim.Exclusive, Tree: "/p"}
	s.append(event.ClaimsSubject("project-P"),
		event.New(claim.KindGranted, claim.GrantedClaim{Claim: claim.Claim{ID: "C1", Holder: "ana", Want: want, Intent: "x", TTL: time.Hour}}),
		event.New(claim.KindGranted, claim.GrantedClaim{Claim: claim.Claim{ID: "C2", Holder: "bob", Want: claim.Want{Paths: []claim.Pattern{"doc"}}, Intent: "y", TTL: time.Hour}}),
		event.New(claim.KindParked, claim.ParkedClaims{Claims: []event.ID{"C1"}, Until: s.now.Add(time.Hour)}),
		event.New(claim.KindWaiting, claim.WaitingFor{Wait: claim.Wait{ID: "W1", Agent: "carla", Want: want}}),
		event.New(claim.KindEnded, claim.EndedClaim{Claim: "C2", Holder: "bob", How: claim.Taken, By: "ana"}),
		event.New(claim.KindRules, claim.RulesSet{Rules: claim.DefaultRules()}))
	s.append(event.RoomSubject("R"),
		event.New(room.KindOpened, room.Opened{Room: "R", Name: "r", Moderator: "a", Members: []room.Invitee{{Handle: "a", Agent: "ana"}, {Handle: "b", Agent: "bob"}}}),
		event.New(room.KindJoined, room.Arrival{Seq: 1, Handle: "a", Agent: "ana"}))
	s.append(event.RoomSubject("R"),
		event.New(room.KindSaid, room.Message{Seq: 2, ID: "S1", From: "a", To: []name.Name{"b", room.User}, Named: 2, Body: "@b @user"}),
		event.New(room.KindWhispered, room.Message{Seq: 3, ID: "S2", From: "b", To: []name.Name{"a"}, Named: 1, Body: "psst"}),
		event.New(room.KindInvited, room.InvitedOne{Seq: 4, Invitee: room.Invitee{Handle: "b", Agent: "carla"}}),
		event.New(room.KindSaid, 7), event.New("room.unheard", 1),
		event.New(room.KindClosed, room.ClosedBy{Seq: 5, By: "a"}))
	s.append(event.AgentSubject("ana"), event.New(KindRoomRead, RoomRead{Room: "R", Handle: "a", Upto: 3}))
}

// TestCompareFindsEveryKindOfDamage changes the tables behind the journal's
// back, one table at a time, and the comparison says which row is wrong.
func TestCompareFindsEveryKindOfDamage(t *testing.T) {
	s := newStore(t)
	s.history()
	s.advance(1000)
	if list := s.compare(); len(list) != 0 {
		t.Fatal(list)
	}
	for n, table := range tables() {
		var rows int
		s.view(func(tx *db.Tx) error {
			_, err := tx.One(`SELECT count(*) FROM g1_`+table, nil, &rows)
			return err
		})
		if rows == 0 {
			t.Errorf("the history leaves %s empty", table)
			continue
		}
		for i, damage := range []string{
			`DELETE FROM g1_%[1]s WHERE rowid_of = 1`,
			`UPDATE g1_%[1]s SET %[2]s = 'other' WHERE rowid_of = 1`,
			`INSERT INTO g1_%[1]s SELECT * FROM copy`,
		} {
			if testing.Short() && (i+n)%3 > 0 {
				continue
			}
			what := []string{"a row is missing", "a row is changed", "a row too many"}[i]
			text, key := s.columns(table)
			s.update(func(tx *db.Tx) error {
				where := fmt.Sprintf("(%[2]s) = (SELECT %[2]s FROM g1_%[1]s LIMIT 1)", table, key)
				damage = strings.ReplaceAll(damage, "rowid_of = 1", where)
				if err := tx.Exec(`DROP TABLE IF EXISTS temp.copy`); err != nil {
					return err
				}
				if err := tx.Exec(fmt.Sprintf(`CREATE TEMP TABLE copy AS SELECT * FROM g1_%s LIMIT 1`, table)); err != nil {
					return err
				}
				for _, c := range strings.Split(key, ", ") {
					if err := tx.Exec(`UPDATE temp.copy SET ` + c + ` = CASE typeof(` + c + `) WHEN 'integer' THEN 99 ELSE 'zz' END`); err != nil {
						return err
					}
				}
				if table == "message" {
					if err := tx.Exec(`UPDATE temp.copy SET id = 'zz', seq = 999`); err != nil {
						return err
					}
				}
				if err := tx.Exec(fmt.Sprintf(damage, table, text)); err != nil {
					return fmt.Errorf("%s: %w", damage, err)
				}
				return tx.Exec(`DROP TABLE temp.copy`)
			})
			list := s.compare()
			found := false
			for _, x := range list {
				found = found || x.Table == "g1_"+table && x.Key != "" && (x.Have != x.Want)
			}
			if !found {
				t.Errorf("%s: %s is not found: %v", table, what, list)
			}
			s.update(s.p.Drop)
			s.advance(1000)
		}
	}
	if list := s.compare(); len(list) != 0 {
		t.Fatalf("not mended: %v", list)
	}
	for _, thing := range []string{"INDEX g1_message_thread", "TRIGGER g1_receipt_insert", "TABLE g1_board_log"} {
		s.update(func(tx *db.Tx) error { return tx.Exec("DROP " + thing) })
		list := s.compare()
		if len(list) != 1 || list[0].Want != "" && list[0].Have != "" {
			// Without its tables the generation is not there at all.
			t.Errorf("%s is gone: %v", thing, list)
		}
		s.advance(1000)
		if list := s.compare(); len(list) != 0 {
			t.Fatalf("%s is not mended: %v", thing, list)
		}
	}
}

// columns gives a column of text that is no key, and the key.
func (s *store) columns(table string) (text, key string) {
	s.t.Helper()
	var keys []string
	s.view(func(tx *db.Tx) error {
		return tx.Each(`SELECT name, pk FROM pragma_table_info(?) ORDER BY cid`, []any{"g1_" + table}, func(r db.Row) error {
			var column string
			var pk int
			err := r.Scan(&column, &pk)
			if pk > 0 {
				keys = append(keys, column)
			} else {
				text = column // SQLite stores text in a column for numbers as well
			}
			return err
		})
	})
	if text == "" {
		text = keys[0]
	}
	return text, strings.Join(keys, ", ")
}

// TestBatches: the fold does not depend on where its transactions end.
func TestBatches(t *testing.T) {
	s := newStore(t)
	s.history()
	if n := s.advance(1); n < 10 {
		t.Fatalf("%d transactions", n)
	}
	if list := s.compare(); len(list) != 0 {
		t.Fatal(list)
	}
	for range 5 {
		s.append(event.BoardSubject("office"), event.New(board.KindSet, board.Set{Key: "k", Value: "v"}))
	}
	s.update(func(tx *db.Tx) error {
		done, err := s.p.Advance(tx, s.j.In(tx).Read, 3)
		if done {
			t.Error("five records in a batch of three")
		}
		return err
	})
	if list := s.compare(); len(list) != 0 {
		t.Fatalf("behind the journal: %v", list)
	}
	if n := s.advance(1000); n != 1 {
		t.Fatalf("%d transactions", n)
	}
}

// TestShortIds: the short form of any id means that one alone, also among ids
// of one moment, and grows only as far as it has to.
func TestShortIds(t *testing.T) {
	s := newStore(t)
	rng := rand.New(rand.NewPCG(1, 2))
	const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	var ids []event.ID
	s.update(func(tx *db.Tx) error {
		if err := s.p.Create(tx); err != nil {
			return err
		}
		for i := range 500 {
			id := event.NewID(s.now)
			if i%3 == 0 { // ends that are nearly alike
				end := []byte("0000000")
				for j := range end {
					end[j] = digits[rng.IntN(2)]
				}
				id = id[:19] + event.ID(end)
			}
			ids = append(ids, id)
			if err := s.p.addIdent(tx, id, "message"); err != nil {
				return err
			}
		}
		return nil
	})
	s.view(func(tx *db.Tx) error {
		for _, id := range ids {
			short, err := s.p.Short(tx, id)
			if err != nil {
				return err
			}
			found, err := s.p.Find(tx, strings.ToLower(short), "", 5)
			if err != nil || len(found) != 1 || found[0].ID != id {
				t.Fatalf("%s is short for %v, not only for %s; %v", short, found, id, err)
			}
			if len(short) > ShortLen {
				if found, err := s.p.Find(tx, short[1:], "", 5); err != nil || len(found) < 2 {
					t.Fatalf("%s could be shorter: %v", short, found)
				}
			}
		}
		for _, nothing := range []string{"", "*", "'", "%", "~", "é", strings.Repeat("0", 30), "ZZZZZZZZ"} {
			if found, err := s.p.Find(tx, nothing, "", 5); err != nil || len(found) != 0 {
				t.Errorf("%q finds %v, %v", nothing, found, err)
			}
		}
		if found, err := s.p.Find(tx, string(ids[0][:10]), "message", 1000); err != nil || len(found) < 400 {
			t.Errorf("a beginning finds %d, %v", len(found), err)
		}
		return nil
	})
}

func TestHead(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"", 3, ""}, {"ab", 3, "ab"}, {"abc", 3, "abc"}, {"abcd", 3, "abc"}, {"ééé", 3, "ééé"}, {"éééé", 3, "ééé"},
		{"a\xff\xffb", 9, "a\uFFFD\uFFFDb"}, {"a\xff\xffb", 2, "a\uFFFD"}, {"\xc3", 1, "\uFFFD"}, {"x", 0, ""},
	} {
		if got := Head(c.in, c.n); got != c.want {
			t.Errorf("Head(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}
