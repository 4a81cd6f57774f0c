package board

import (
	"strings"
	"testing"

	"bureau/internal/event"
	"bureau/internal/fault"
)

func version(v event.Seq) *event.Seq { return &v }

func TestWhoWritesLast(t *testing.T) {
	nothing := Entry{Scope: "office", Key: "build"}
	there := Entry{Scope: "office", Key: "build", Value: "green", Version: 7}
	for _, c := range []struct {
		name string
		now  Entry
		want *event.Seq
		code fault.Code // "" is granted
	}{
		{"new", nothing, nil, ""},
		{"over what stands there", there, nil, ""},
		{"still the version that was read", there, version(7), ""},
		{"somebody wrote meanwhile", there, version(6), fault.Conflict},
		{"only if nothing is there", nothing, version(0), ""},
		{"something is there after all", there, version(0), fault.Conflict},
		{"it was deleted meanwhile", nothing, version(7), fault.Conflict},
		{"no version at all", there, version(-1), fault.Conflict},
	} {
		t.Run(c.name, func(t *testing.T) {
			events, err := Put{Key: "build", Value: "red", IfVersion: c.want}.Decide(c.now)
			if fault.CodeOf(err) != c.code {
				t.Fatal(err)
			}
			if c.code == fault.Conflict {
				if !strings.Contains(err.Error(), "build") || fault.HintOf(err) == "" || err.(*fault.Error).Detail != c.now {
					t.Errorf("a refusal that does not help: %v", err)
				}
				return
			}
			var set Set
			if len(events) != 1 || events[0].Kind != KindSet || events[0].Decode(&set) != nil || set != (Set{Key: "build", Value: "red"}) {
				t.Errorf("%+v", events)
			}
		})
	}
	// Deleting follows the same rule, but nothing cannot be deleted.
	for _, c := range []struct {
		name string
		now  Entry
		want *event.Seq
		code fault.Code
	}{
		{"there", there, nil, ""},
		{"still the version that was read", there, version(7), ""},
		{"somebody wrote meanwhile", there, version(6), fault.Conflict},
		{"not there", nothing, nil, fault.NotFound},
		{"not there any more", nothing, version(7), fault.NotFound},
	} {
		t.Run("delete "+c.name, func(t *testing.T) {
			events, err := Delete{Key: "build", IfVersion: c.want}.Decide(c.now)
			if fault.CodeOf(err) != c.code {
				t.Fatal(err)
			}
			if c.code == "" && (len(events) != 1 || events[0].Kind != KindDeleted) {
				t.Errorf("%+v", events)
			}
		})
	}
}

// TestSaidAgain: the same value is still an event, because somebody said it.
func TestSaidAgain(t *testing.T) {
	events, err := Put{Key: "k", Value: "v"}.Decide(Entry{Key: "k", Value: "v", Version: 3})
	if err != nil || len(events) != 1 {
		t.Fatalf("%v, %v", events, err)
	}
}

func TestKeysAndValues(t *testing.T) {
	for _, c := range []struct {
		key, value string
		ok         bool
	}{
		{"build:status", "", true},
		{"a b", "x", true},
		{"ключ/é/鍵", "x", true},
		{"100%_done", "x", true},
		{strings.Repeat("é", MaxKey), "x", true},
		{strings.Repeat("é", MaxKey+1), "x", false},
		{"", "x", false},
		{" \t", "x", false},
		{"a*", "x", false},
		{"a*b", "x", true},
		{"a\nb", "x", false},
		{"a\x00b", "x", false},
		{"a\x7fb", "x", false},
		{"a\u0085b", "x", false},
		{"a\xffb", "x", false},
		{"k", strings.Repeat("x", MaxValue), true},
		{"k", strings.Repeat("x", MaxValue+1), false},
		{"k", "a\x00\x1b[2J\n", true},
		{"k", "\xff", false},
	} {
		_, err := Put{Key: c.key, Value: c.value}.Decide(Entry{})
		if (err == nil) != c.ok || err != nil && !fault.Is(err, fault.Invalid) {
			t.Errorf("key %.20q, value %.20q (%d bytes): %v", c.key, c.value, len(c.value), err)
		}
	}
}
