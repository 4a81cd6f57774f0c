package room

import (
	"time"

	"bureau/internal/fault"
)

// Floor says who may speak.
type Floor string

// The floors.
const (
	Strict   Floor = "strict" // only the holder
	OpenTalk Floor = "open"   // everybody; the floor is then a hint whose turn it is
)

// Order says who is next.
type Order string

// The orders of the queue. Under Score whoever was passed over as many times as
// there are members goes first, so that nobody starves.
const (
	FIFO  Order = "fifo"  // who waits longest
	Score Order = "score" // most points; of equals who waits longest
)

// Gate says when the barrier opens. The human never counts.
type Gate string

// The gates.
const (
	GateCount    Gate = "count"     // N members are there
	GateDeclared Gate = "declared"  // everybody who was named is there
	GateWord     Gate = "moderator" // the moderator, the opener or the human says so
)

// Barrier is what a meeting waits for before it begins.
type Barrier struct {
	Gate Gate `json:"gate"`
	N    int  `json:"n,omitempty"` // for GateCount; never more than the members named
	// Limit, in nanoseconds, is how long the first who comes waits for the
	// others; then it opens with whoever is there. Negative: for ever.
	Limit time.Duration `json:"limit_ns"`
}

// Empty says who has the floor when nobody is in the queue.
type Empty string

// What an empty queue does.
const (
	ToModerator Empty = "moderator" // who has it; free if the moderator is not there
	ToAnyone    Empty = "open"      // it is free
)

// Wake says whose waiting a public message ends.
type Wake string

// The wakes.
const (
	WakeAddressed Wake = "addressed"
	WakeAll       Wake = "all"
)

// Admission says who may join.
type Admission string

// The admissions.
const (
	Listed Admission = "listed" // who was named or invited, and the human
	Anyone Admission = "anyone"
)

// AllRule says what @all beside names means.
type AllRule string

// The rules for @all beside names.
const (
	NamesFirst AllRule = "names_first" // the names come first in the queue, then the rest
	NamesOnly  AllRule = "names_only"  // @all counts for nothing
)

// Column names a set of settings of the older system: what its description
// promises and what its code does. Faces look at it for what is theirs (ids,
// cursors, labels).
type Column string

// The columns.
const (
	ColumnOurs        Column = ""
	ColumnDescription Column = "description"
	ColumnCode        Column = "code"
)

// Defaults.
const (
	DefaultTurnLimit    = 10 * time.Minute
	DefaultBarrierLimit = 10 * time.Minute
	DefaultBarrier      = 2
	DefaultVoteTime     = 10 * time.Minute
	maxDuration         = 30 * 24 * time.Hour
)

// Settings of a room, fixed on opening. Empty fields take the column's value.
type Settings struct {
	Column    Column        `json:"column,omitempty"`
	Floor     Floor         `json:"floor"`
	Queue     Order         `json:"queue"`
	Barrier   Barrier       `json:"barrier"`
	TurnLimit time.Duration `json:"turn_limit_ns"` // nanoseconds; negative: none
	// HumanLimit, in nanoseconds, is the human's turn limit; 0: none but the room's
	// where he is not there and nobody who is can hand on his turn.
	HumanLimit time.Duration `json:"human_limit_ns,omitempty"`
	Empty      Empty         `json:"empty"`
	Wake       Wake          `json:"wake"`
	Admission  Admission     `json:"admission"` // "": Listed if members were named
	All        AllRule       `json:"all"`
	RelayUser  bool          `json:"relay_user,omitempty"` // the moderator may post the human's words
}

// Preset gives the settings of a column.
func Preset(c Column) (Settings, error) {
	s := Settings{
		Column: c, Floor: Strict, Queue: FIFO,
		Barrier:   Barrier{Gate: GateCount, N: DefaultBarrier, Limit: DefaultBarrierLimit},
		TurnLimit: DefaultTurnLimit, Empty: ToModerator, Wake: WakeAddressed, All: NamesFirst,
	}
	switch c {
	case ColumnOurs:
	case ColumnDescription:
		s.Floor, s.Wake, s.Admission = OpenTalk, WakeAll, Anyone
	case ColumnCode:
		s.Queue, s.Barrier.Gate, s.Barrier.N, s.All, s.Admission = Score, GateDeclared, 0, NamesOnly, Anyone
	default:
		return Settings{}, oneOf("column", string(c), "description", "code")
	}
	return s, nil
}

// complete fills in what was left away and refuses what no room can have.
// named is the number of members named, the human not among them.
func (s Settings) complete(named int) (Settings, error) {
	p, err := Preset(s.Column)
	if err != nil {
		return s, err
	}
	if err := first(
		choose(&s.Floor, p.Floor, "floor", Strict, OpenTalk),
		choose(&s.Queue, p.Queue, "queue", FIFO, Score),
		choose(&s.Empty, p.Empty, "empty queue", ToModerator, ToAnyone),
		choose(&s.Wake, p.Wake, "wake", WakeAddressed, WakeAll),
		choose(&s.All, p.All, "rule for @all", NamesFirst, NamesOnly),
	); err != nil {
		return s, err
	}
	if s.Barrier.Gate == "" && s.Barrier.N == 0 {
		s.Barrier.Gate, s.Barrier.N = p.Barrier.Gate, p.Barrier.N
	}
	if err := choose(&s.Barrier.Gate, GateCount, "barrier", GateCount, GateDeclared, GateWord); err != nil {
		return s, err
	}
	if s.Barrier.Gate == GateDeclared && named == 0 {
		s.Barrier.Gate = GateCount // nobody was named: the first one must not begin alone
	}
	switch {
	case s.Barrier.Gate != GateCount:
		s.Barrier.N = 0
	case s.Barrier.N == 0:
		s.Barrier.N = DefaultBarrier
	case s.Barrier.N < 0 || s.Barrier.N > MaxMembers:
		return s, fault.New(fault.Invalid, "a barrier of %d members cannot be", s.Barrier.N).WithHint("choose between 1 and %d", MaxMembers)
	}
	for _, d := range []struct {
		what  string
		value *time.Duration
		pre   time.Duration
	}{
		{"turn limit", &s.TurnLimit, p.TurnLimit},
		{"barrier limit", &s.Barrier.Limit, p.Barrier.Limit},
		{"human's turn limit", &s.HumanLimit, 0},
	} {
		if *d.value == 0 {
			*d.value = d.pre
		}
		if *d.value > maxDuration || *d.value > 0 && *d.value < time.Second {
			return s, fault.New(fault.Invalid, "a %s of %s cannot be", d.what, *d.value).WithHint("choose between 1s and %s, or a negative value for none", maxDuration)
		}
		*d.value = max(*d.value, -1)
	}
	admission := p.Admission
	if admission == "" {
		if admission = Listed; named == 0 {
			admission = Anyone
		}
	}
	return s, choose(&s.Admission, admission, "admission", Listed, Anyone)
}

// choose gives value its default and refuses what is none of the words.
func choose[T ~string](value *T, preset T, what string, words ...T) error {
	if *value == "" {
		*value = preset
		return nil
	}
	names := make([]string, len(words))
	for i, w := range words {
		if *value == w {
			return nil
		}
		names[i] = string(w)
	}
	return oneOf(what, string(*value), names...)
}

func oneOf(what, got string, words ...string) error {
	hint := words[0]
	for _, w := range words[1:] {
		hint += " or " + w
	}
	return fault.New(fault.Invalid, "no %s %q", what, got).WithHint("it is %s", hint)
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
