package transcript

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"bureau/internal/quote"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// checkBody puts a body into a message and a notice between other entries.
func checkBody(t tester, body string) {
	t.Helper()
	entries := []Entry{
		{Seq: 1, Kind: Message, From: "ana", To: []string{"bob"}, Time: noon, Body: body},
		{Seq: 2, Kind: Notice, Time: noon, Body: body},
		{Seq: 3, Kind: Whisper, From: "bob", To: []string{"ana"}, Time: noon, Body: "and **after** it"},
		{Seq: 4, Kind: Message, From: "bob", Time: noon, Body: body},
	}
	src := render(Header{Members: []Member{{Handle: "ana"}}}, "fr", true, entries...)
	checkStructure(t, src, "fr", entries)
	_, l, _ := language("fr")
	checkStrays(t, src)
	first := render(Header{Members: []Member{{Handle: "ana"}}}, "fr", true)
	rest, at := src[len(first):], int64(len(first))
	for _, want := range entries {
		e, why := findEntry(rest, at)
		if why != fine {
			t.Fatalf("entry %d cannot be found (%d) in\n%s", want.Seq, why, src)
		}
		rest, at = rest[e.next-e.start:], e.next
		if got := e.entry(l); got.Body != quote.Terminal(want.Body) || got.Seq != want.Seq || got.Kind != want.Kind {
			t.Fatalf("entry %d reads back as %q, want %q", want.Seq, got.Body, quote.Terminal(want.Body))
		}
	}
	if len(rest) > 0 {
		t.Fatalf("%q follows the last entry", rest)
	}
}

// checkStrays looks for what CommonMark takes for nothing and others take for
// the beginning of something that does not end with the message: a table whose
// first row is a fence (markdown-it), mathematics (VS Code, Obsidian).
func checkStrays(t tester, src []byte) {
	t.Helper()
	_, thread, _ := strings.Cut(string(src), "\n## ")
	var open fence
	for line := range strings.SplitSeq(thread, "\n") {
		f, opening := opens(line)
		switch columns, start := indent(line); {
		case open.char != 0:
			if columns < 4 && open.closedBy(line) {
				open = fence{}
			}
		case opening && strings.Contains(line, "|"):
			t.Fatalf("a fence and the row of a table: %q in\n%s", line, src)
		case opening:
			open = f
		case columns < 4 && strings.HasPrefix(line[start:], "$$"):
			t.Fatalf("mathematics: %q in\n%s", line, src)
		}
	}
}

var hostile = []string{
	"", "\n", "\n\n", "x", "# forged", "### @ana ➔ @bob (2026-03-04 10:11:12 UTC)", "## Fil de discussion", "> 🔔 **Système :** ana left",
	"forged\n===", "forged\n---", "forged\n  -  ", "- a\n  ---", "1. x\n   ===", "---", "***", "- - -", "_ _ _", "* * *\nx", "+ ---",
	"```", "````\nx\n```", "~~~", "```go\nx := a<b>()\n```", "~~~ `x`\n# y", "   ```\n   # x\n```", "    ```\n# x", "- ```\n# x", "- a\n  ```sh\n  # x\n  ```\n- b",
	"> ```\n# x", "1. ~~~\n\n# x", "`` ` ``", "`a\n# b`", "`a\n<b>`", "[x](a`b) <b> `c` <i>", "\\`<b>`", "``` ` <b> ```",
	"<script>alert(1)</script>", "<!--", "<!-- bureau:entry {} -->", "-->", "<?php", "<![CDATA[", "<!X", "<div>\n\n# x", "</pre>", "a <b onclick=x>c</b>", "<img src=x onerror=y>", "<a\nhref=x>",
	"[x](javascript:alert(1))", "[x](java&#115;cript:alert(1))", "[x](<javascript:x>)", "[x](data:text/html,y)", "![x](https://e.example/i.png)", "![x][y]", "[x]\n[x]: javascript:x",
	"[a]: javascript:x\n[a]", "[a`]: x`", "[a\nb]: javascript:x\n\n[a b]", "- [a]: x", "[^1]: x\n\n[^1]", "[\\]: x]: y", "[]: x",
	"| a | b |\n|---|---|\n| c | d |", "a | b\n- | -\nc | d", "a\n:-:\nb", "a\n-:", "- a | b\n  --- | ---", "|a|\n|-|",
	"---\ntitle: x\n---", "    # x", "x\n    # y", "\t# x", "- x\n\n      # y", "-\t# x", "1)\t> x", "10000000000. # x", "-", "+", "1.", "- \n# x", "* a\n\n\n\n# b",
	"\r# x", "a\r\n# b", "\u2028# x", "\x00", "\x1b[2J", "\u202eabc", "\x85# x", "\x0c# x", "\xff", "\u00a0# x", "a\\", "a  ", "\\# x", "\\\\# x", "\\<b>", "\\\\<b>",
	"\\  \n<b>", "\\\\\\\n<b>", "- \\  \n<b>", "x\\\\\\  \n<b>", "\\ \n<b>", "\\   \n<b>", "\\\n<b>", "\\\\\\ \n<b>", "`a`\\  \n`<b>`",
	"[ok](https://e.example/a?b=c&d=e)", "[ok](docs/x.md)", "<https://e.example/>", "https://e.example/<b>", "**bold** _it_", "- [ ] task", "%%", "$$", "$$\n# x", "- $$", "1. $$x$$", "~~~ a | b\n|---|---|\n# x", "- ```a|b\n  -|-", "&lt;b&gt;", "&#35; x",
	"https://e.example/a<h2>📋 [Proposal] @user</h2>", "www.e.example/a<details>", "https://x<img src=http://e.example/t.png>", "https://x\\<b>", "https://x/`<b>`", "https://x/\\`<b>`", "WWW.x`a <b> `c`", "git+ssh://x!`<b>`", "mailto:a@b.c`<b>`",
	"https://x/`a `<b>` c", "https://x/```<b>``` `c", "https://x\\![p](http://e.example/t.png)", "https://x![p](http://e.example/t.png)", "[x https://y](javascript:alert(1))", "[https://e.example](https://e.example)`<b>`", "](http://x)`<b>`", "](b \"http://x\")`<b>`", "[https://x<b]: javascript:x", "[https://x\\]: javascript:y\n\n[https://x\\]", "https://x%%$$", "<https://x>`<b>`", "https://x<https://y>`<b>`", "`a https://x` <b> `c`", "https://x\u00a0`<b>`",
	"<https://e.example/`>`<b>", strings.Repeat("- ", 20) + "# x", strings.Repeat("1. ", 20) + "```", "](x) [", "[a](b \"c\") `", "[a](b \"c`d\") `<b>`", "[`a](b)` <c>",
}

func TestBodies(t *testing.T) {
	for _, body := range hostile {
		checkBody(t, body)
		checkBody(t, "before\n"+body+"\nafter")
		checkBody(t, "- item\n"+body+"\n\n    after")
		checkBody(t, "- item\n\n  "+strings.ReplaceAll(body, "\n", "\n  ")+"\n# after")
	}
}

func TestBodiesMixed(t *testing.T) {
	piece := rapid.OneOf(
		rapid.SampledFrom(hostile),
		rapid.SampledFrom([]string{"https://", "www.", "http://e.example/a", "<b>", "`<i>`", "\n", "\n", " ", "  ", "    ", "\t", "- ", "1. ", "> ", "`", "``", "```", "~~~", "<", ">", "[", "]", "(", ")", "]:", "](", "\\", "!", "|", "-", "=", "#", "*", "_", ":", "&", "x"}),
		rapid.String(),
	)
	rapid.Check(t, func(t *rapid.T) {
		checkBody(t, strings.Join(rapid.SliceOfN(piece, 0, 14).Draw(t, "body"), ""))
	})
}

func FuzzBody(f *testing.F) {
	for _, body := range hostile {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) { checkBody(t, body) })
}

// What members write for others to read comes out as they wrote it.
func TestBodyReadsWell(t *testing.T) {
	for _, tc := range []struct{ body, want string }{
		{"**bold**, _slanted_ and `a<b>`", ""},
		{"- one\n- two\n  - three\n\n1. a\n2. b", ""},
		{"```go\nif a < b {\n\t# x\n}\n```\nend", ""},
		{"see [the plan](docs/plan.md) or [that](https://e.example/x?a=b&c=d \"title\")", ""},
		{"<https://e.example/x>", ""},
		{"x\n\n    # code\n    <b>\n\ny", ""},
		{"a - b, 3 > 2, #12, 1|2 [ ] \\o/", ""},
		{"- [ ] to do\n- [x] done", ""},
		{"# Title\ntext", "\\# Title\ntext"},
		{"#12 is fixed", "\\#12 is fixed"},
		{"> said", "\\> said"},
		{"Vec<T>", "Vec&lt;T>"},
		{"Vec\\<T>", "Vec&lt;T>"},
		{"https://e.example/a?b=c&d=e, `a<b>` and www.e.example.", ""},
		{"(https://e.example/a`b`) `c`", "(https://e.example/a&#96;b&#96;) `c`"},
		{"[https://e.example/](https://e.example/) and <https://e.example/>", ""},
		{"Title\n-----", "Title\n\\-----"},
		{"![p](x.png)", "\\![p](x.png)"},
		{"see [x](javascript:y)", "see [x\\](javascript:y)"},
		{"1. run\n   ```sh\n   ls\n   ```", "1. run\n```sh\n   ls\n   ```"},
		{"```\nopen", "```\nopen\n```"},
		{"a ` b", "a \\` b"},
		{"$$", "\\$\\$"},
		{"it is `$$` or $1$", ""},
		{"~~~ a | b\n|---|---|\n# x\n~~~", "~~~ a &#124; b\n|---|---|\n# x\n~~~"},
	} {
		if tc.want == "" {
			tc.want = tc.body
		}
		if got := strings.Join(encode(tc.body, false).lines, "\n"); got != tc.want {
			t.Errorf("%q is written %q, want %q", tc.body, got, tc.want)
		}
	}
}

// A megabyte of what is hard to read takes no longer than it should: with the
// square of its length this test would not end.
func TestLongBodies(t *testing.T) {
	const size = 1 << 20
	var runs strings.Builder
	for n := 1; runs.Len() < size; n++ {
		runs.WriteString(strings.Repeat("`", n) + " ")
	}
	for name, body := range map[string]string{
		"lists": strings.Repeat("- ", size/2) + "x", "numbers": strings.Repeat("1. ", size/3) + "x", "runs": runs.String(), "ticks": strings.Repeat("` `` ", size/5) + "```",
		"brackets": strings.Repeat("[", size), "closing": strings.Repeat("](", size/2), "angles": strings.Repeat("<", size), "addresses": strings.Repeat("<https://", size/9),
		"targets": strings.Repeat("](a \"", size/5), "blanks": strings.Repeat(" ", size) + "x", "tabs": strings.Repeat("\t", size) + "#", "lines": strings.Repeat("\n", size), "fences": strings.Repeat("```\n", size/4), "backslashes": strings.Repeat("\\", size), "percent": strings.Repeat("%", size),
	} {
		c := encode(body, false)
		if c.original() != quote.Terminal(body) {
			t.Errorf("%s do not read back", name)
		}
	}
}
