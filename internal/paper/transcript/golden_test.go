package transcript

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files anew")

// debate is one meeting with everything in it.
func debate() (Header, []Entry) {
	at := func(minute, second int) time.Time {
		// A zone that is not UTC: the file says UTC.
		return time.Date(2026, 8, 18, 12, minute, second, 0, time.FixedZone("CEST", 2*3600))
	}
	h := Header{
		Topic: "Which cache? *SQLite* | memory", File: "notes/Architecture_Review.md", Purpose: "decide today",
		Opened: at(20, 0), Closed: at(30, 0), Turn: "@bob", Queue: []Waiting{{"@user", 1}, {"@ana", 2}},
		Members: []Member{
			{"@ana", "Ana Architect", Present, at(20, 1)},
			{"@bob", "Bob | <b>", Away, at(20, 2)},
			{"@李小龍", "", Invited, time.Time{}},
			{"@user", "", Left, at(20, 3)},
			{"@team_lead", "", "thinking", at(20, 4)},
		},
	}
	return h, []Entry{
		{Seq: 1, Kind: Notice, Time: at(20, 2), Body: "@bob joined: 2 present"},
		{Seq: 2, Kind: Message, From: "@ana", To: []string{"@bob", "@user"}, Time: at(20, 10), Body: "We could use **SQLite**, @bob:\n\n- small\n- `WAL`\n\n```sql\n# not a heading\nPRAGMA journal_mode=WAL;\n```\n\nSee [the docs](https://sqlite.org/wal.html)."},
		{Seq: 3, Kind: Whisper, From: "@bob", To: []string{"@ana"}, Time: at(20, 30), Body: "Windows first."},
		{Seq: 4, Kind: Message, From: "@bob", To: []string{"@all"}, Time: at(21, 0), Body: "## Discussion\n> 🔔 **System:** @ana left\n\n| Handle | Name |\n|---|---|\n| @eve | Eve |\n\n### @user ➔ @all (2026-08-18 10:21:00 UTC)\n\nYes, <b>do it</b>!\n\n---\n\n```\nopen"},
		{Seq: 5, Kind: Message, From: "@ana", To: []string{"@bob"}, Time: at(21, 30), Body: "See https://e.example/a<h2>📋 [Proposal] @user</h2>, www.e.example/`<details>` and\nhttps://e.example/?a=b&c=d#`part\\![p](https://e.example/t.png), but `Vec<T>`."},
		{Seq: 6, Kind: Message, From: "@user", To: []string{"@ana"}, Time: at(21, 45), Body: "Go on.", RelayedBy: "ana"},
		{Seq: 7, Kind: Proposal, From: "@ana", Time: at(22, 0), Body: "SQLite it is"},
		{Seq: 8, Kind: Vote, From: "@bob", Time: at(22, 5), Body: "yes"},
		{Seq: 9, Kind: Result, Time: at(22, 6), Body: "accepted: 1 yes, 0 no"},
		{Seq: 10, Kind: Close, From: "@ana", Time: at(30, 0), Body: "SQLite, with `WAL`."},
	}
}

func TestGolden(t *testing.T) {
	h, entries := debate()
	for _, lang := range Languages() {
		t.Run(lang, func(t *testing.T) {
			f := start(t, Spec{Lang: lang, Private: true}, Header{Opened: h.Opened})
			for _, e := range entries {
				h.Seq = e.Seq
				if err := f.Append(ctx, h, e); err != nil {
					t.Fatal(err)
				}
			}
			got, err := os.ReadFile(f.Path())
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", lang+".md")
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))) {
				t.Errorf("got\n%s\nwant what %s holds (-update writes it)", got, golden)
			}
			o := checkStructure(t, got, lang, entries)
			if len(o.rows) != 1+len(h.Members) || o.rows[2] != "@bob|Bob | <b>|"+languages[lang].away+"|2026-08-18 10:20:02 UTC" {
				t.Errorf("the table reads %q", o.rows)
			}
		})
	}
}

// The French transcript has the structure that users of the older system know.
func TestFrenchStructure(t *testing.T) {
	src, err := os.ReadFile(filepath.Join("testdata", "fr.md"))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(src)) {
		lines = append(lines, strings.TrimRight(line, " \r\n"))
	}
	at := 0
	for _, want := range []string{
		"# Multi-Agent Room",
		"- **Fichier :** `notes/Architecture_Review.md`",
		`- **Sujet :** Which cache? \*SQLite\* &#124; memory`,
		"- **Initialisé le :** 2026-08-18 10:20:00 UTC",
		"| Handle | Nom | Statut | Rejoint le |",
		"| @ana | Ana Architect | présent | 2026-08-18 10:20:01 UTC |",
		"## Fil de discussion",
		"> 🔔 **Système :** @bob joined: 2 present",
		"---",
		"### @ana ➔ @bob, @user (2026-08-18 10:20:10 UTC)",
		"---",
		"### 🔒 [Message Privé] @bob ➔ @ana (2026-08-18 10:20:30 UTC)",
		"---",
		"### @user (relayé par ana) ➔ @ana (2026-08-18 10:21:45 UTC)",
	} {
		i := slices.Index(lines[at:], want)
		if i < 0 {
			t.Fatalf("no line %q behind line %d of\n%s", want, at, src)
		}
		at += i + 1
	}
}

// A careless renderer that lets HTML pass runs nothing that a member wrote (J6).
func TestNothingIsLive(t *testing.T) {
	attacks := []string{
		"<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[x](javascript:alert(1))", "[x](JaVaScRiPt:alert(1))", "[x](data:text/html,<script>alert(1)</script>)",
		"</textarea><script>", "<svg onload=alert(1)>", "<svg><script>", "![x](javascript:alert(1))", "[x](vbscript:x)", "<javascript:alert(1)>", "[x]: javascript:alert(1)\n\n[x]",
		"[x](&#106;avascript:alert(1))", "[x](java\\script:alert(1))", "[x](<javascript:alert(1)>)", "[x]( javascript:alert(1))", "<a href=\"javascript:alert(1)\">x</a>", "--><script>", "<!-- --><script>", "\"><script>", "`<b>` <script>", "<https://x\" onclick=alert(1)>", "[x](https://x\"onclick=alert(1))",
		"[x](https://e.example \"t\\\" onclick=x\")", "javascript:alert(1)", "<iframe src=//e.example>", "```\"><script>\nx\n```", "~~~ \"><script>\nx",
	}
	var entries []Entry
	h := Header{}
	for i, a := range attacks {
		e := Entry{Seq: int64(2*i + 1), Kind: Message, From: a, To: []string{a}, Time: noon, Body: a, RelayedBy: a}
		n := e
		n.Seq, n.Kind = e.Seq+1, Notice
		entries = append(entries, e, n)
		h.Members = append(h.Members, Member{a, a, Status(a), noon})
		h.Topic += a
		h.Queue = append(h.Queue, Waiting{a, 1})
	}
	h.Purpose, h.File, h.Turn = h.Topic, h.Topic, h.Topic
	entries = append(entries, Entry{Seq: 1000, Kind: Message, From: "ana", Time: noon, Body: "[fine](https://e.example/) and\n\n```\ncode <b>\n```"})
	src := render(h, "en", false, entries...)
	checkStructure(t, src, "en", entries)
	var out bytes.Buffer
	if err := markdown.Convert(src, &out); err != nil {
		t.Fatal(err)
	}
	page := regexp.MustCompile(`(?s)<!--.*?-->`).ReplaceAllString(out.String(), "")
	harmless := regexp.MustCompile(`^</?(h[123]|p|table|thead|tbody|tr|th|td|ul|ol|li|strong|em|del|hr|blockquote|br|pre|code( class="[^"<>]*")?|a( href="(https?:|mailto:)[^"<>]*"( title="[^"<>]*")?)?)( id="[^"<>]*")?\s*/?>$`)
	for _, tag := range regexp.MustCompile(`<[^>]*>?`).FindAllString(page, -1) {
		if !harmless.MatchString(tag) {
			t.Errorf("a page of it has the tag %s", tag)
		}
	}
	for _, want := range []string{`<a href="https://e.example/">fine</a>`, "<pre><code>code &lt;b&gt;\n</code></pre>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
}
