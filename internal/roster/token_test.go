package roster

import (
	"strings"
	"testing"
	"time"

	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/name"
)

const base64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

func TestToken(t *testing.T) {
	now := time.Date(2026, 3, 14, 9, 30, 0, 0, time.UTC)
	id := event.NewID(now)
	text, hash := TokenText(id, Secret{1, 2, 3})
	again, other := TokenText(id, Secret{1, 2, 4})
	if text == again || hash == other {
		t.Fatal("two secrets are alike")
	}
	if got, sum, ok := ParseToken(" " + text + "\n"); !ok || got != id || sum != hash {
		t.Errorf("%q is %q, %q, %v", text, got, sum, ok)
	}
	// Of the texts that decode to the secret's bytes one is the token.
	last := strings.IndexByte(base64URL, text[len(text)-1])
	if near := text[:len(text)-1] + base64URL[last^1:last^1+1]; near == text {
		t.Fatal("no other text")
	} else if _, _, ok := ParseToken(near); ok {
		t.Errorf("%q is taken for %q", near, text)
	}
	if strings.Contains(text, hash) {
		t.Error("the text holds the hash")
	}
	tok, events, err := IssueToken{Token: Token{ID: id, Name: "ana", Hash: hash}, TTL: time.Hour}.Decide(now)
	if err != nil || len(events) != 1 || !tok.Expires.Equal(now.Add(time.Hour)) {
		t.Fatalf("%+v, %v, %v", tok, events, err)
	}
	denied := func(what, part string, err error) {
		t.Helper()
		if !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), part) || fault.HintOf(err) == "" {
			t.Errorf("%s: %v (%s)", what, err, fault.HintOf(err))
		}
	}
	if err := tok.Check(hash, now.Add(59*time.Minute)); err != nil {
		t.Errorf("within its time: %v", err)
	}
	denied("another secret", "none of this office", tok.Check(other, now))
	denied("no hash", "none of this office", tok.Check("", now))
	denied("past its time", "ended", tok.Check(hash, now.Add(time.Hour)))
	if list := tok.Revoke("user", now); len(list) != 1 {
		t.Errorf("%v", list)
	}
	denied("revoked", "revoked", tok.Check(hash, now))
	denied("revoked, another secret", "none of this office", tok.Check(other, now))
	if list := tok.Revoke("user", now); len(list) != 0 {
		t.Errorf("revoked twice: %v", list)
	}
}

func TestTokenThatIsNone(t *testing.T) {
	for _, c := range []struct {
		token Token
		ttl   time.Duration
	}{
		{Token{Name: "user"}, 0}, {Token{Name: "all"}, 0},
		{Token{Name: "ana", Note: strings.Repeat("x", MaxNote+1)}, 0},
		{Token{Name: "ana"}, time.Second}, {Token{Name: "ana"}, -time.Hour}, {Token{Name: "ana"}, MaxTokenTTL + 1},
	} {
		if _, events, err := (IssueToken{Token: c.token, TTL: c.ttl}).Decide(time.Now()); !fault.Is(err, fault.Invalid) || events != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// A process that speaks for several tokens makes none of them another.
func TestTokensOfOneProcess(t *testing.T) {
	w := newWorld()
	p := w.process()
	start := func(token string) Decision {
		t.Helper()
		s := w.session(TokenClient+":"+token, p, "/app")
		s.Client, s.Declared = TokenClient, "ana"
		return w.begin(t, s)
	}
	seat := func(token string) { // as when it is issued
		t.Helper()
		d := start(token)
		if _, err := w.do(End{Agent: d.Agent.ID, Life: d.Agent.Life.ID, Reason: "not used yet"}); err != nil {
			t.Fatal(err)
		}
	}
	seat("one")
	seat("two")
	first, second := start("one").Agent, start("two").Agent
	if first.Name != "ana" || second.Name != "ana-2" {
		t.Fatalf("%s and %s", first.Name, second.Name)
	}
	for range 2 {
		if d := start("one"); d.Agent.ID != first.ID || len(d.Events) != 0 {
			t.Errorf("the first again: %+v", d)
		}
		if d := start("two"); d.Agent.ID != second.ID || len(d.Events) != 0 {
			t.Errorf("the second again: %+v", d)
		}
	}
	_, err := w.do(Retire{Agent: first.ID, By: "user", Alive: w.alive})
	if !fault.Is(err, fault.Conflict) || !strings.Contains(fault.HintOf(err), "bureau token revoke one") {
		t.Errorf("retired while it is connected: %v (%s)", err, fault.HintOf(err))
	}
}

func FuzzParseToken(f *testing.F) {
	text, _ := TokenText("01ARZ3NDEKTSV4RRFFQ69G5FAV", Secret{7})
	for _, s := range []string{text, "", "bureau_", "bureau__", text + "=", text[:40], strings.ToUpper(text)} {
		f.Add(s)
	}
	tok := Token{Name: name.Name("ana"), Hash: "never"}
	f.Fuzz(func(t *testing.T, s string) {
		id, hash, ok := ParseToken(s)
		if !ok && (id != "" || hash != "") {
			t.Errorf("%q: %q, %q", s, id, hash)
		}
		if ok && (len(id) != 26 || len(hash) != 64) {
			t.Errorf("%q: %q, %q", s, id, hash)
		}
		if tok.Check(hash, time.Now()) == nil {
			t.Errorf("%q opens it", s)
		}
	})
}
