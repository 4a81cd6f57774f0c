package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"bureau/internal/claim"
	"bureau/internal/event"
	"bureau/internal/fault"
	"bureau/internal/git/place"
	letters "bureau/internal/name"
	"bureau/internal/office"
	"bureau/internal/quote"
)

type velhoClaimIn struct {
	Recurso  string `json:"recurso,omitempty" jsonschema:"caminho, ou o nome de uma coisa"`
	Intencao string `json:"intencao,omitempty"`
	ClaimID  string `json:"claim_id,omitempty" jsonschema:"libera este claim"`
}

type velhoClaimOut struct {
	OK       bool      `json:"ok"`
	ClaimID  string    `json:"claimId,omitempty"`
	Conflito *conflito `json:"conflito,omitempty"`
	Liberado string    `json:"liberado,omitempty"` // the confirmation line
	Caminho  string    `json:"caminho,omitempty"`  // added: the file that is meant, where that does not go without saying
}

type conflito struct {
	Dono     string    `json:"dono"`
	Intencao string    `json:"intencao"`
	Desde    time.Time `json:"desde"`
}

// text is the line that Escritório gives for a release, else the object.
func (out *velhoClaimOut) text() string {
	if out.Liberado != "" {
		return out.Liberado
	}
	return asJSON(struct {
		OK       bool      `json:"ok"`
		ClaimID  string    `json:"claimId,omitempty"`
		Conflito *conflito `json:"conflito,omitempty"`
		Caminho  string    `json:"caminho,omitempty"`
	}{out.OK, out.ClaimID, out.Conflito, out.Caminho})
}

func velhoClaim(ctx context.Context, c *call, in velhoClaimIn) (out velhoClaimOut, err error) {
	if err := c.moved(ctx); err != nil {
		return out, err
	}
	switch {
	case in.ClaimID != "":
		return c.velhoLibera(ctx, in.ClaimID)
	case strings.TrimSpace(in.Recurso) == "" || strings.TrimSpace(in.Intencao) == "":
		return out, fault.New(fault.Invalid, "informe recurso e intencao, ou claim_id para liberar")
	}
	w, p, err := c.recurso(ctx, in.Recurso)
	if err != nil {
		return out, err
	}
	meant := ""
	if len(w.Paths) > 0 && c.readFrom([]string{c.tilde(in.Recurso)}) != "" {
		meant = line(c.absolute(strings.TrimSpace(in.Recurso)))
	}
	v, err := c.o.Claim(ctx, c.caller, p, office.Claiming{Want: w, Intent: short(in.Intencao, claim.MaxIntent)})
	if err == nil {
		return velhoClaimOut{OK: true, ClaimID: string(v.ID), Caminho: meant}, nil
	}
	var f *fault.Error
	if fault.Is(err, fault.Conflict) && errors.As(err, &f) {
		if blocks, ok := f.Detail.([]claim.Block); ok && len(blocks) > 0 {
			b := blocksOf(blocks[:1])[0]
			return velhoClaimOut{Conflito: &conflito{Dono: b.Holder, Intencao: b.Intent, Desde: b.Since}, Caminho: meant}, nil
		}
	}
	return out, err
}

// velhoLibera releases a claim. One that the caller released before is
// confirmed again; one that it lost meanwhile is not.
func (c *call) velhoLibera(ctx context.Context, id string) (out velhoClaimOut, err error) {
	list, err := c.o.Release(ctx, c.caller, office.Project{}, []string{id}, "")
	switch {
	case err == nil:
		return velhoClaimOut{OK: true, ClaimID: string(list[0].ID), Liberado: "liberado: " + string(list[0].ID)}, nil
	case fault.Is(err, fault.Denied):
		return out, fault.New(fault.Denied, "CLAIM_DE_OUTRO: %s", err).WithHint("%s", fault.HintOf(err))
	case !fault.Is(err, fault.NotFound):
		return out, err
	}
	v, serr := c.o.ClaimShow(ctx, id)
	switch {
	case serr != nil || v.EndedAt == nil:
		return out, fault.New(fault.NotFound, "CLAIM_INEXISTENTE: %s", err)
	case v.HolderID() != c.caller.Agent.ID:
		return out, fault.New(fault.Denied, "CLAIM_DE_OUTRO: o claim %s era de %s", v.ID, quote.Line(v.Holder, 64))
	case v.How == claim.Released || v.How == claim.SessionEnded:
		return velhoClaimOut{OK: true, ClaimID: string(v.ID), Liberado: fmt.Sprintf("já estava liberado: %s", v.ID)}, nil
	}
	return out, fault.New(fault.Conflict, "CLAIM_INEXISTENTE: o claim %s acabou sem você (%s, por %s)", v.ID, v.How, quote.Line(cmp.Or(v.By, v.NoticedBy), 64)).
		WithHint("leia de novo o que mudou antes de continuar")
}

// recursoKind is the kind of resources that were named freely.
const recursoKind = "recurso"

// recurso says what somebody means who names a resource freely, as Escritório
// lets them:
//
//   - What is there by that path is that file or folder.
//   - KIND:NAME is that thing, as port:8080 and deploy:staging are.
//   - What looks like a path (a slash, a glob, a file's ending, a dot or tilde
//     in front) is one, though nothing is there yet.
//   - Everything else is a thing of that name, without regard to case, spaces
//     and dashes being the same.
//
// Paths are claimed in their project, where they meet the claims of all other
// faces. Things belong to the whole office, as they do in Escritório: two
// sessions of different folders mean the same.
func (c *call) recurso(ctx context.Context, text string) (w claim.Want, p office.Project, err error) {
	text = strings.TrimSpace(text)
	path := c.tilde(text)
	if !filepath.IsAbs(path) && !c.isThere(path) {
		if r, err := place.Thing(text); err == nil {
			return claim.Want{Resources: []claim.Resource{r}, Mode: claim.Exclusive}, p, nil
		}
		if !pathLike(text) {
			r, err := claim.ParseResource(recursoKind + ":" + freeName(text))
			return claim.Want{Resources: []claim.Resource{r}, Mode: claim.Exclusive}, p, err
		}
	}
	here, p, err := c.where(ctx, []string{path})
	if err != nil {
		return w, p, err
	}
	w, err = here.Want([]string{path}, nil, claim.Exclusive)
	return w, p, err
}

// tilde gives a path whose beginning may stand for the home folder.
func (c *call) tilde(path string) string {
	path = strings.TrimSpace(path)
	if rest, ok := strings.CutPrefix(path, "~/"); ok && c.s.opts.Env("HOME") != "" {
		return filepath.Join(c.s.opts.Env("HOME"), rest)
	}
	return path
}

// pathLike reports whether a text looks like a path of something that is not
// there yet.
func pathLike(s string) bool {
	if strings.Contains(s, "://") {
		return false
	}
	if strings.ContainsAny(s, `/\*`) || strings.HasPrefix(s, ".") || strings.HasPrefix(s, "~") {
		return true
	}
	ending := strings.TrimPrefix(filepath.Ext(s), ".")
	return ending != "" && len(ending) <= 8 && !strings.ContainsFunc(s, unicode.IsSpace) && !strings.ContainsFunc(ending, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) && strings.ContainsFunc(ending, unicode.IsLetter)
}

// freeName makes the name of a thing of any text.
func freeName(s string) string {
	s = norm.NFC.String(strings.ToLower(norm.NFC.String(strings.ToValidUTF8(s, "\uFFFD"))))
	words := strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || letters.Invisible(r) || r == '-' || r == '/'
	})
	made := strings.Join(words, "-")
	if most := claim.MaxResource - len(recursoKind) - 1; len(made) > most {
		// The same long text is the same thing, another one is not.
		tail := "-" + string(event.Derive("recurso", made))
		made = strings.ToValidUTF8(made[:most-len(tail)], "") + tail
	}
	return made
}

// short cuts a text to a number of characters.
func short(s string, most int) string {
	s = strings.Join(strings.Fields(s), " ")
	if cut, was := head(s, most-1); was {
		return cut + "…"
	}
	return s
}
