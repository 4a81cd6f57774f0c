package office

import (
	"testing"

	"bureau/internal/projection"
)

// TestCompareStamps: one file system numbers its folders; between two only the
// birth counts.
func TestCompareStamps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		was, now string
		want     likeness
	}{
		{"", "1:2:3", unknown},
		{"1:2:3", "", unknown},
		{"what a newer one writes", "1:2:3", unknown},
		{"1:2:3", "1:2:3", same},
		{"1:2:3", "9:2:3", same},      // the system numbers the disk anew
		{"1:2:3", "9:8:3", same},      // moved to another disk
		{"1:2:3", "1:8:3", different}, // a copy beside it
		{"1:2:3", "1:2:4", different}, // the number was given away again
		{"1:2:3", "9:8:4", different},
		{"1:2:", "1:2:", same},
		{"1:2:", "1:2:3", same}, // became a repository
		{"1:2:", "1:8:", different},
		{"1:2:", "9:2:", different},
		{"1:2:", "9:8:3", different},
	} {
		if got := compareStamps(c.was, c.now); got != c.want {
			t.Errorf("%q and %q: %d, want %d", c.was, c.now, got, c.want)
		}
	}
}

// TestMarksAndStamps: what was noted before there were stamps reads as a mark.
func TestMarksAndStamps(t *testing.T) {
	t.Parallel()
	for _, mark := range []string{"", "abc"} {
		for _, stamp := range []string{"", "1:2:3", "1:2:"} {
			k := projection.Project{Mark: joinMark(mark, stamp)}
			if markOf(&k) != mark || stampOf(&k) != stamp {
				t.Errorf("%q and %q are %q and %q", mark, stamp, markOf(&k), stampOf(&k))
			}
			if born(stamp) != (stamp == "1:2:3") {
				t.Errorf("%q is born: %v", stamp, born(stamp))
			}
		}
	}
}
