package office

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"bureau/internal/fault"
	"bureau/internal/room"

	"pgregory.net/rapid"
)

// TestNothingIsSkippedOrRepeated: whatever is said and whispered, and whenever
// results are lost on their way or arrive, what a member proves to have read is
// all that it may see of the others, once, in order.
func TestNothingIsSkippedOrRepeated(t *testing.T) {
	ctx := context.Background()
	d := openDesk(t, Options{})
	names := []string{"ana", "bob", "carla"}
	var people []Caller
	for _, n := range names {
		people = append(people, d.agent(n))
	}
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		s := Sitting{Room: fmt.Sprint("room", n), Hooked: true}
		op := Opening{Name: s.Room, Settings: room.Settings{Floor: room.OpenTalk}}
		for _, m := range names {
			op.Members = append(op.Members, Invitation{Handle: m})
		}
		if _, err := d.RoomOpen(ctx, people[0], op); err != nil {
			t.Fatal(err)
		}
		for _, p := range people {
			if _, err := d.RoomJoin(ctx, p, s, Joining{}); err != nil {
				t.Fatal(err)
			}
		}
		read, want := make([][]string, 3), make([][]string, 3)
		said := 0
		who := rapid.IntRange(0, 2)
		say := func(t *rapid.T, private bool) {
			i, said2 := who.Draw(t, "who"), said+1
			to := (i + 1 + rapid.IntRange(0, 1).Draw(t, "to")) % 3
			text := fmt.Sprintf("@%s %d", names[to], said2)
			var err error
			if private {
				_, err = d.RoomWhisper(ctx, people[i], s, Saying{Text: []byte(text), To: []string{names[to]}})
			} else {
				_, err = d.RoomSay(ctx, people[i], s, Saying{Text: []byte(text)})
			}
			if err != nil {
				t.Fatal(err)
			}
			said = said2
			for k := range want {
				if k != i && (!private || k == to) {
					want[k] = append(want[k], text)
				}
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"say":     func(t *rapid.T) { say(t, false) },
			"whisper": func(t *rapid.T) { say(t, true) },
			"read": func(t *rapid.T) {
				i := who.Draw(t, "who")
				got, err := d.RoomSlice(ctx, people[i], s, Taking{Limit: rapid.IntRange(1, 4).Draw(t, "limit")})
				if err != nil {
					t.Fatal(err)
				}
				if !rapid.Bool().Draw(t, "arrives") {
					return
				}
				read[i] = append(read[i], texts(got.Entries)...)
				if err := d.RoomProve(ctx, people[i], got.Receipt); err != nil {
					t.Fatal(err)
				}
			},
			"": func(t *rapid.T) {
				for i := range people {
					if len(read[i]) > len(want[i]) || !slices.Equal(read[i], want[i][:len(read[i])]) {
						t.Fatalf("%s has read %q of %q", names[i], read[i], want[i])
					}
					v, err := d.RoomShow(ctx, people[i], s)
					if err != nil {
						t.Fatal(err)
					}
					left := int64(len(want[i]) - len(read[i]))
					if v.Unread < left || v.Addressed && v.Unread == 0 {
						t.Fatalf("%s: %d unread messages, %+v", names[i], left, v)
					}
				}
			},
		})
		for i, p := range people {
			for more := true; more; {
				got, err := d.RoomSlice(ctx, p, s, Taking{Limit: 5})
				if err != nil {
					t.Fatal(err)
				}
				read[i], more = append(read[i], texts(got.Entries)...), got.More
				if err := d.RoomProve(ctx, p, got.Receipt); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(read[i], want[i]) {
				t.Fatalf("%s has read %q of %q", names[i], read[i], want[i])
			}
			if v, err := d.RoomShow(ctx, p, s); err != nil || v.Unread != 0 || v.Addressed {
				t.Fatalf("%+v, %v", v, err)
			}
		}
		if _, err := d.RoomClose(ctx, people[0], s, ""); err != nil && !fault.Is(err, fault.Conflict) {
			t.Fatal(err)
		}
	})
	d.sound()
}
