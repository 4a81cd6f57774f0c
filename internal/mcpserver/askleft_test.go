package mcpserver

import (
	"context"
	"testing"
	"time"

	"bureau/internal/office"
)

// TestAskOfOneWhoLeaves: the wait ends at once, with what is so by then; so does
// one that runs out after somebody came.
func TestAskOfOneWhoLeaves(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ana, velho, bob := b.client(seat{name: "ana"}), b.client(seat{name: "velho", tools: []string{"escritorio"}}), b.client(seat{name: "bob"})
	here := b.hook(bob, office.Session{ID: "B", Declared: "bob"})
	// Their own look, now and then, has no part in it.
	got, alt := make(chan askOut, 1), make(chan velhoAskOut, 1)
	go func() { got <- do[askOut](ana, "ask", args{"to": "bob", "text": "ready?", "timeout_seconds": 40}) }()
	go func() { alt <- do[velhoAskOut](velho, "ask", args{"para": "bob", "pergunta": "pronto?"}) }()
	bobs := office.Caller{Agent: here.Agent, Process: processOf(bob.process), Session: "B"}
	deadline := time.Now().Add(patience)
	for n := 0; n < 2 && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		open, err := b.OpenQuestions(context.Background(), bobs)
		if err != nil {
			t.Fatal(err)
		}
		n = 0
		for _, q := range open {
			if q.Waiting {
				n++
			}
		}
	}
	if err := b.EndSession(context.Background(), here.Agent.ID, bobs.Process, "closed"); err != nil {
		t.Fatal(err)
	}
	out := <-got
	if out.Status != statusNothing || !has(out.Hint, "bob is not here, no way to wake", "question="+out.Question) {
		t.Errorf("%+v", out)
	}
	if old := <-alt; !old.Timeout || !has(old.Resposta, "bob, que não está mais aqui") {
		t.Errorf("%+v", old)
	}
	// Who was away when the wait began and is there at its end.
	b.hook(bob, office.Session{ID: "B2", Declared: "bob"})
	if out := do[askOut](ana, "ask", args{"question": out.Question, "timeout_seconds": 1}); out.Status != statusNothing || has(out.Hint, "not here") {
		t.Errorf("%+v", out)
	}
}
