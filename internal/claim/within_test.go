package claim

import (
	"slices"
	"testing"

	"bureau/internal/event"
)

func TestWithin(t *testing.T) {
	mk := func(id, tree string, fold bool, paths []Pattern, things ...Resource) Claim {
		c := Claim{Want: Want{Paths: paths, Resources: things, Mode: Exclusive, Tree: tree, Fold: fold}}
		c.ID = event.ID(id)
		return c
	}
	list := []Claim{
		mk("file", "/r", false, []Pattern{"src/a.go"}),
		mk("folder", "/r", false, []Pattern{"src"}),
		mk("two", "/r", false, []Pattern{"src/a.go", "doc"}),
		mk("port", "/r", false, nil, "port:1"),
		mk("both", "/r", false, []Pattern{"src/b.go"}, "port:2"),
		mk("elsewhere", "/other", false, []Pattern{"src/a.go"}),
	}
	names := func(l []Claim) (out []string) {
		for _, c := range l {
			out = append(out, string(c.ID))
		}
		return out
	}
	for _, c := range []struct {
		w           Want
		whole, part []string
	}{
		{Want{Paths: []Pattern{"src"}}, []string{"file", "folder"}, []string{"two", "both"}},
		{Want{Paths: []Pattern{"src/*.go"}}, []string{"file"}, []string{"folder", "two", "both"}},
		{Want{Paths: []Pattern{"src/a.go"}, Mode: Shared}, []string{"file"}, []string{"folder", "two"}},
		{Want{Paths: []Pattern{"."}, Resources: []Resource{"port:2"}}, []string{"file", "folder", "two", "both"}, nil},
		{Want{Resources: []Resource{"port:1"}}, []string{"port"}, nil},
		{Want{Resources: []Resource{"port:2"}}, nil, []string{"both"}},
		{Want{Paths: []Pattern{"lib"}}, nil, nil},
		{Want{Paths: []Pattern{"SRC/A.GO"}}, nil, nil},
	} {
		c.w.Tree = "/r"
		whole, part := Within(&c.w, list)
		if !slices.Equal(names(whole), c.whole) || !slices.Equal(names(part), c.part) {
			t.Errorf("%q %q: %q, part of %q", c.w.Paths, c.w.Resources, names(whole), names(part))
		}
	}
	folding := Want{Paths: []Pattern{"SRC"}, Tree: "/r", Fold: true}
	if whole, _ := Within(&folding, []Claim{mk("x", "/r", true, []Pattern{"src/a.go"})}); len(whole) != 1 {
		t.Error("the file system does not tell SRC from src")
	}
}
