package claim

import (
	"slices"
	"strings"
	"testing"

	"bureau/internal/fault"
)

func TestExpand(t *testing.T) {
	for _, tc := range []struct {
		text string
		want []string
	}{
		{"src", []string{"src"}},
		{"", []string{""}},
		{"app/{a,b}/*.go", []string{"app/a/*.go", "app/b/*.go"}},
		{"{a,b}{c,d}", []string{"ac", "ad", "bc", "bd"}},
		{"{a,{b,c}x}", []string{"a", "bx", "cx"}},
		{"x{,y}", []string{"x", "xy"}},
		{"{a,a}", []string{"a"}},
		{"{id}", []string{`\{id\}`}},
		{"{}", []string{`\{\}`}},
		{"{{a,b}}", []string{`\{a\}`, `\{b\}`}},
		{"a,b", []string{"a,b"}},
		{`\{a,b\}`, []string{`\{a,b\}`}},
		{"[{,}]{a,[b,c]}", []string{"[{,}]a", "[{,}][b,c]"}},
		{"{..}", nil},
		{"{1..3}", nil},
		{"{a,b", nil},
		{"a}", nil},
		{`{a,b\}`, nil},
		{strings.Repeat("{a,b}", 7), nil},
		{"{" + strings.Repeat("a,", 4000) + "}", nil},
		{strings.Repeat("{", 4096), nil},
		{strings.Repeat("{a,", 1000) + strings.Repeat("}", 1000), nil},
		{strings.Repeat("a", 4097), nil},
	} {
		got, err := Expand(tc.text)
		if tc.want == nil {
			if got != nil || !fault.Is(err, fault.Invalid) || fault.HintOf(err) == "" {
				t.Errorf("Expand(%.30q) = %q, %v", tc.text, got, err)
			}
		} else if !slices.Equal(got, tc.want) {
			t.Errorf("Expand(%q) = %q, %v; want %q", tc.text, got, err, tc.want)
		}
	}
	if got, err := Expand(strings.Repeat("{a,b}", 6)); len(got) != MaxAlternatives {
		t.Errorf("%d alternatives, %v", len(got), err)
	}
}
