package mention

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"bureau/internal/name"
)

var people = []Candidate{
	{Name: "B", Aliases: []string{"lead", "qa"}},
	{Name: "C", Aliases: []string{"qa"}},
	{Name: "Bob"},
	{Name: "Carol"},
	{Name: "build"},
	{Name: "build-bot"},
	{Name: "build.v2"},
	{Name: "build_2"},
	{Name: "Builder"},
	{Name: "björn"},
	{Name: "王"},
	{Name: "李"},
	{Name: "Ștefan"},
	{Name: "Éric"},
	{Name: "Иван"},
	{Name: "ana@web"},
	{Name: "web"},
	{Name: "a1"},
	{Name: "नमस्ते"},
	{Name: "小王"},
	{Name: "민수"},
	{Name: "สม"},
	{Name: "สมชาย"},
}

// short writes mentions as in "B C all ?dave".
func short(found []Mention) string {
	var words []string
	for _, m := range found {
		switch m.Kind {
		case Member:
			words = append(words, people[m.Member].Name)
		case All:
			words = append(words, "all")
		case Unknown:
			words = append(words, "?"+m.Text)
		}
	}
	return strings.Join(words, " ")
}

func TestFind(t *testing.T) {
	roster := NewRoster(people)
	for _, tc := range []struct{ text, want string }{
		{"", ""},
		{"nobody", ""},
		{"ask @bob.", "Bob"},
		{"@B @B @B and @C", "B C"},
		{"@C and @B", "C B"},
		{"@B", "B"},
		{"@dave and @Dave, @B", "?dave B"},

		// Punctuation around it.
		{"_@B_", "B"}, {"@B-", "B"}, {"@B's", "B"}, {"@B’s", "B"}, {"@B:", "B"}, {"@B。", "B"}, {"**@B**", "B"}, {"(@B)", "B"},
		{"*@B*", "B"}, {"@B, @C; @Bob!", "B C Bob"}, {"\"@B\"", "B"}, {"@B...", "B"}, {"@B?", "B"}, {"~~@B~~", "B"}, {"hm-@B", "B"},
		{"done.@B", "B"}, {"@B/", "B"}, {"@B👍", "B"}, {"#@B", "B"}, {"@B\u200b", "B"}, {"@B`", "B"}, {"@B\xff", "B"}, {"@B@", "B"},
		{"@王。", "王"}, {"请@李，看", "李"}, {"（@李）", "李"}, {"@李．", "李"},

		// Words that only begin like somebody.
		{"@build-bot", "build-bot"}, {"@build-bots", "?build-bots"}, {"@build-", "build"}, {"@build.v2.", "build.v2"}, {"@build.v3", "?build.v3"},
		{"@build_2_", "build_2"}, {"@builder", "Builder"}, {"@build", "build"}, {"@Bob.Smith", "?Bob.Smith"}, {"@Bobby", "?Bobby"},
		{"@build\u200b-bot", "build-bot"}, {"@build‑bot", "build-bot"}, {"@build‐x", "?build‐x"}, {"@build－bot", "build-bot"}, {"@build–then", "build"},
		{"@B\u0301", "?B\u0301"},

		// Before text of scripts without spaces: the longest that the roster has.
		{"@Bob看", "Bob"}, {"@build请看", "build"}, {"@build-bot请看", "build-bot"}, {"@build-请看", "build"}, {"@builds请看", "?builds请看"}, {"@王さん", "王"},
		{"@王请看", "王"}, {"@李四", "李"}, {"@小王", "小王"}, {"@小王请", "小王"}, {"@小李", "?小李"}, {"@Bob에게", "Bob"}, {"@Bob\u110b\u1166", "Bob"}, {"@민수가", "민수"},
		{"@Bobครับ", "Bob"}, {"@สมชายครับ", "สมชาย"}, {"@สมา", "?สมา"}, {"@王ー", "?王ー"}, {"@王々", "?王々"}, {"@all请看", "all"}, {"请@王看@李", "王 李"}, {"@王看@Bob看", "王 Bob"},
		{"@ana@web请", "ana@web"}, {"@Bob看x.md", "Bob"}, {"x@Bob看", ""}, {"看src/@Bob看", ""}, {"@Bob看/x", ""}, {"`@Bob看`", ""}, {"@ＢＯＢ看", "Bob"}, {"@ნინო看", "?ნინო看"},

		// Scripts, case, width, normal form.
		{"@ȘTEFAN", "Ștefan"}, {"@E\u0301RIC", "Éric"}, {"@éric", "Éric"}, {"@bjo\u0308rn", "björn"}, {"@BJÖRN", "björn"}, {"@иван", "Иван"},
		{"＠Ｂｏｂ", "Bob"}, {"@ｂｏｂ＠Carol", "Bob Carol"}, {"@नमस्ते!", "नमस्ते"}, {"@A1", "a1"},

		// All.
		{"@all", "all"}, {"@ALL!", "all"}, {"@everyone", "all"}, {"@all @everyone @B", "all B"}, {"@all but @B first", "all B"}, {"@ａｌｌ", "all"},
		{"@all-hands", "?all-hands"}, {"@alle", "?alle"}, {"@all's", "all"}, {"@all@B", "all B"},

		// Aliases and groups.
		{"@lead", "B"}, {"@QA", "B C"}, {"@C @qa", "C B"},

		// Chains and names with an @.
		{"@Bob@Carol", "Bob Carol"}, {"@Bob,@Carol", "Bob Carol"}, {"@Bob-@Carol_", "Bob Carol"}, {"@Bob/@Carol", "Bob Carol"},
		{"@ana@web", "ana@web"}, {"@ANA@web@Bob", "ana@web Bob"}, {"@Bob@ana@web", "Bob ana@web"}, {"@eva@web", "?eva@web"}, {"@Bob@dave", "?Bob@dave"},
		{"@Bob@@Carol", "?Bob@@Carol"}, {"@@Bob", ""}, {"@@@Bob", ""}, {"@ Bob", ""}, {"@", ""}, {"@-Bob", ""}, {"@\u200bBob", ""},

		// Mail addresses, escapes, paths.
		{"x@B.com", ""}, {"git@B", ""}, {"x@B", ""}, {"first.last@B.com", ""}, {"a_@B.com", ""}, {"a+@B.com", ""}, {"é@B", ""}, {"用户@B.com", ""},
		{"git@github.com:B/x", ""}, {"x@y@B", ""}, {`\@B`, ""}, {`\\@B`, "B"}, {`\\\@B`, ""}, {`\＠B`, ""}, {"@types/node", ""}, {"@B/x and @C", "C"},
		{"node_modules/@B/x", ""}, {"src/@B", ""}, {"/@B", ""}, {"@all/x", ""}, {"pkg@1.2.3", ""}, {"HEAD@{1}", ""},

		// Links, URLs, HTML.
		{"https://h/@B", ""}, {"see https://h/@B/p, @C", "C"}, {"(https://h/x)@B", "B"}, {"https://h/(x)@B", ""}, {"www.h.com/@B", ""},
		{"https://B@h/", ""}, {"https://h/x。@B", "B"}, {"ssh://git@B/x", ""}, {"h.com/@B", ""},
		{"[t](https://h/@B)", ""}, {"[t](@B)", ""}, {"[@B](https://h/@C)", "B"}, {"[t](<@B x>)", ""}, {"[t](/x \"@B\")", ""}, {"[t]( /x (@B) ) @C", "C"},
		{"[t] (@B)", "B"}, {"t](@B)", "B"}, {"[t](a b @B)", "B"}, {"![@B](x.png)", "B"}, {"[a](b(@B)c) @C", "C"},
		{"<https://h/@B>", ""}, {"<a@B>", ""}, {"<mailto:x@B>", ""}, {"<@B>", "B"}, {"<b @B>", "B"}, {"a < @B > c", "B"},
		{"<a title=\"@B\">@C</a>", "C"}, {"<a title='@B' x>", ""}, {"<a title=\"@B", "B"}, {"<img src=@B/>", ""},
		{"<!-- @B --> @C", "C"}, {"x <!-- @B --> @C", "C"}, {"x <!-- @B", "B"}, {"<!-- @B\n\n@B --> @C", "C"}, {"<!-- @B", ""}, {"x <!--> @B", "B"}, {"<!--> @B", "B"},

		// Code spans.
		{"`@B`", ""}, {"`@B` @C", "C"}, {"``@B ` @B``", ""}, {"`` @B `", "B"}, {"it`s @B", "B"}, {"`a``@B`", ""}, {"`` ` @B `` @C", "C"},
		{"don`t\n\n@B can`t", "B"}, {"don`t\n@B can`t", ""}, {"\\`@B`", "B"}, {"`\\` @B", "B"}, {"`[x`](@B)", "B"}, {"[x`](@B)`", ""},
		{"# it`s\n@B can`t", "B"}, {"a`\n- @B `", "B"}, {"a`\n---\n@B `", "B"}, {"| a` |\n| @B ` |", "B"},

		// Fences.
		{"```\n@B\n```\n@C", "C"}, {"~~~\n@B\n~~~\n@C", "C"}, {"````\n```\n@B\n```\n@B\n````\n@C", "C"}, {"```\n@B", ""}, {"```\n@B\n\n@C", ""},
		{"   ```\n@B\n   ```\n@C", "C"}, {"``` go @B\n@B\n```\n@C", "C"}, {"```\n@B\n~~~\n@B\n```\n@C", "C"}, {"```\n@B\n``` x\n@B\n```   \n@C", "C"},
		{"```\n@B\n    ```\n@B", ""}, {"    ```\n@B", "B"}, {"```a`b\n@B", "B"}, {"~~~a`b\n@B", ""}, {"a\n```\n@B\n```\n@C", "C"}, {"```\r\n@B\r\n```\r\n@C", "C"},
		{"```\r@B\r```\r@C", "C"}, {"``\n@B\n``", ""},
		{"- ```\n  @B\n  ```\n  @C", "C"}, {"1. ```\n   @B\n   ```\n   @C", "C"}, {"- a\n\n  ```\n  @B\n  ```\n- @C", "C"}, {"1. a\n   - b\n\n     ```\n     @B\n     ```\n\n@C", "C"},
		{"- ```\n  @B\n@C", "C"}, {"-\t```\n\t@B\n\t```\n@C", "C"}, {"- - ```\n    @B\n    ```\n@C", "C"}, {"-\n  ```\n  @B\n  ```\n@C", "C"},
		{"10) ~~~\n    @B\n    ~~~\n@C", "C"}, {"* a\n    ~~~\n    @B\n    ~~~\n@C", "C"},

		// Quotes.
		{"> @B", ""}, {">@B", ""}, {"   > @B\n@C", "C"}, {"> @B\nlazy @C", "C"}, {"> ```\n> @B\n\n@C", "C"}, {"> ```\n@C", "C"}, {"- > @B\n- @C", "C"}, {"1. a\n   > @B", ""},
		{"> > @B", ""}, {"a\n> @B\nb @C", "C"}, {"```\n> ```\n@B\n```\n@C", "C"}, {"a > @B", "B"}, {"x `a\n> @B\n@C `b", "C"},

		// Indented text is the writer's own.
		{"    @B", "B"}, {"\t@B", "B"}, {"- a\n\n      @B", "B"},
		{"@B\n@C", "B C"}, {"- @B\n- @C", "B C"}, {"# @B", "B"}, {"@B\n===\n@C", "B C"},
	} {
		found := roster.Find(tc.text)
		if got := short(found); got != tc.want {
			t.Errorf("%q: got %q, want %q", tc.text, got, tc.want)
		}
		checkFound(t, roster, tc.text, found)
	}
}

// Each name of the roster is hit whatever ordinary text follows it, and nobody
// else is.
func TestLongestName(t *testing.T) {
	roster := NewRoster(people)
	for i, c := range people {
		for _, tail := range []string{"", " ", ".", ",", ":", ";", "!", "?", ")", "'s", "/", "**", "`", "。", "\n", "\t", "-", "_", "…", "’s", "—x", ">", "]"} {
			for _, text := range []string{"@" + c.Name + tail, "hey @" + c.Name + tail + " look", "(@" + strings.ToUpper(c.Name) + tail} {
				found := roster.Find(text)
				if len(found) != 1 || found[0].Kind != Member || found[0].Member != i {
					t.Errorf("%q: %q", text, short(found))
				}
			}
		}
	}
}

func TestOffsets(t *testing.T) {
	roster := NewRoster(people)
	text := "é @bob’s, ＠李 and @Bob@carol. @dave-"
	var got []string
	for _, m := range roster.Find(text) {
		got = append(got, fmt.Sprintf("%s=%s", m.Text, text[m.Start:m.End]))
	}
	want := []string{"bob=@bob", "李=＠李", "carol=@carol", "dave=@dave"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRoster(t *testing.T) {
	roster := NewRoster([]Candidate{
		{Name: "Alice", Aliases: []string{"bob", "@boss", "boss", "all", ""}},
		{Name: "@bob", Aliases: []string{"boss"}},
		{Name: "ALICE"},
		{Name: "", Aliases: []string{"ghost"}},
		{Name: "two words"},
	})
	for text, want := range map[string][]int{
		"@alice":     {0},
		"@bob":       {1},
		"@boss":      {0, 1},
		"@ghost":     {3},
		"@two words": {-1},
		"@all":       {-1},
	} {
		var got []int
		for _, m := range roster.Find(text) {
			got = append(got, m.Member)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	if found := NewRoster(nil).Find("@a"); len(found) != 1 || found[0].Kind != Unknown {
		t.Errorf("an empty roster: %v", found)
	}
}

// checkFound states what holds for every text.
func checkFound(t interface{ Fatalf(string, ...any) }, roster *Roster, text string, found []Mention) {
	members, unknown, all := map[int]bool{}, map[name.Key]bool{}, 0
	last := 0
	for _, m := range found {
		if m.Start < last || m.End <= m.Start || m.End > len(text) {
			t.Fatalf("%q: offsets %d to %d after %d", text, m.Start, m.End, last)
		}
		last = m.Start
		word := text[m.Start:m.End]
		if word != "@"+m.Text && word != "＠"+m.Text || m.Text == "" {
			t.Fatalf("%q: the text at the offsets is %q, not @%q", text, word, m.Text)
		}
		key := name.Fold(m.Text)
		first, _ := utf8.DecodeRuneInString(m.Text)
		if !name.Starts(first) {
			t.Fatalf("%q: %q is no name", text, m.Text)
		}
		switch m.Kind {
		case Member:
			if members[m.Member] || !slices.Contains(roster.members[key], m.Member) {
				t.Fatalf("%q: %q is not member %d, or twice", text, m.Text, m.Member)
			}
			members[m.Member] = true
		case All:
			if all++; all > 1 || key != "all" && key != "everyone" {
				t.Fatalf("%q: all is %q, %d times", text, m.Text, all)
			}
		case Unknown:
			if unknown[key] || roster.members[key] != nil {
				t.Fatalf("%q: unknown %q is known or twice", text, m.Text)
			}
			unknown[key] = true
		default:
			t.Fatalf("%q: kind %d", text, m.Kind)
		}
	}
}

// A text put together from parts that stand alone has the mentions of its
// visible parts, in order, and none from the hidden ones.
func TestFindProperties(t *testing.T) {
	roster := NewRoster(people)
	visible := rapid.SampledFrom([]string{"@B", "Hi @Bob,", "(@Carol)", "_@build_", "**@build-bot**", "- @李\n- x", "1. a\n2. @web", "# @björn", "@C's turn", "it`s @a1", "@王。", "a\n\n@Иван"})
	hidden := rapid.SampledFrom([]string{
		"`@B`", "``@B` @C``", "```\n@B\n```", "~~~~ go\n@B\n~~~\n@C\n~~~~", "> @B\n> ```\n> @C", "- > @B", "x@B.com", "https://h/@B", "[t](/@B)", `\@B`,
		"<!-- @B -->", "<https://h/@B>", "- ```\n  @B\n  ```", "1. x\n\n   ~~~\n   @B\n   ~~~", "@types/node", "@@B", "plain", "it`s", "a\n- b",
	})
	rapid.Check(t, func(t *rapid.T) {
		var parts []string
		seen := map[string]bool{}
		var want []string
		for range rapid.IntRange(0, 8).Draw(t, "parts") {
			if rapid.Bool().Draw(t, "visible") {
				part := visible.Draw(t, "part")
				parts = append(parts, part)
				for _, m := range roster.Find(part) {
					if who := people[m.Member].Name; !seen[who] {
						seen[who] = true
						want = append(want, who)
					}
				}
			} else {
				parts = append(parts, hidden.Draw(t, "part"))
			}
		}
		// An empty line and a line that ends any list keep the parts apart.
		text := strings.Join(parts, rapid.SampledFrom([]string{"\n\n---\n\n", "\r\n\r\n***\r\n\r\n", "\n\n\n___\n"}).Draw(t, "between"))
		found := roster.Find(text)
		checkFound(t, roster, text, found)
		if got := short(found); got != strings.Join(want, " ") {
			t.Fatalf("%q: got %q, want %q", text, got, want)
		}
		for _, open := range []string{"```\n", "~~~~~\n", "<!-- "} {
			if open != "<!-- " && (strings.Contains(text, "```") || strings.Contains(text, "~~~")) || open == "<!-- " && strings.Contains(text, "-->") {
				continue
			}
			if found := roster.Find(open + text); len(found) > 0 {
				t.Fatalf("%q: found %q", open+text, short(found))
			}
		}
		quoted := "> " + strings.NewReplacer("\r\n", "\n> ", "\n", "\n> ").Replace(text)
		if found := roster.Find(quoted); len(found) > 0 {
			t.Fatalf("%q: found %q", quoted, short(found))
		}
		all := rapid.StringOf(rapid.SampledFrom([]rune("@＠B.-_`~>\\/[](<!-->)\n\r\t 1a李:\"'#|=\u200b\u0301"))).Draw(t, "soup")
		checkFound(t, roster, all, roster.Find(all))
	})
}

func FuzzFind(f *testing.F) {
	for _, s := range []string{"@B", "```\n@B\n```", "- > @B `x` [t](u \"@C\")", "@Bob@Carol/@x", "<a b=\"@c\"> <!-- @B", "x@B.com https://h/@B", "＠李。\xff@B", "1. ~~~\n   @B"} {
		f.Add(s)
	}
	roster := NewRoster(people)
	f.Fuzz(func(t *testing.T, text string) {
		checkFound(t, roster, text, roster.Find(text))
		if found := roster.Find("> " + strings.NewReplacer("\r", " ", "\n", " ").Replace(text)); len(found) > 0 {
			t.Fatalf("%q in a quote: %q", text, short(found))
		}
	})
}

// No input makes the time grow faster than the text.
func TestLinear(t *testing.T) {
	const size = 1 << 19
	roster := NewRoster(people)
	for _, unit := range []string{
		"`", "@", "＠", ">", "\\", "<", "[", "](", "[](", "[](a \"", "[](a '", "[](<", "<!--", "<a ", "<a b=\"", "<a b='", "<a:", "` `` ", "`a ``b ",
		"@a", "@a ", "@B@", "@B", "a@", "a@B", ".@", "-@B", "@B-", "@a.", "/@B", "@B/", "- ", "+ ", "* ", "- + ", "1. ", "-\n", "- a\nb\n", "> @B\n", "```\n", "~~~@B\n", "# @B\n",
		"https://", "www.", "://", "\u0301", "@\u0301", "@a\u0301", "@a\u200b", "请@李", "@王看", "@B看", "@王看李", "看@小李", "\xff@", "@B\xff", "\t", "    @B\n", "|@B\n", "(", "[](((", "=\n", "@Bob@Carol",
	} {
		for _, text := range []string{
			strings.Repeat(unit, size/4/len(unit)) + " @B",
			"@" + strings.Repeat(unit, size/8/len(unit)) + "\n" + strings.Repeat("x\n", size/8),
		} {
			began := time.Now()
			roster.Find(text)
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("%q repeated takes %v", unit, took)
			}
		}
	}
}

func BenchmarkFind(b *testing.B) {
	roster := NewRoster(people)
	text := strings.Repeat("A line for @Bob with `code`, [a link](https://h/@B) and x@B.com.\n\n", 50)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		roster.Find(text)
	}
}
