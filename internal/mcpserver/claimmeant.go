package mcpserver

import (
	"context"
	"errors"
	"slices"
	"strings"

	"bureau/internal/claim"
	"bureau/internal/fault"
	"bureau/internal/git/place"
	"bureau/internal/office"
)

// meant is what a question names of one work tree.
type meant struct {
	want    claim.Want
	project office.Project
}

// meant sorts what the arguments of a question name by work trees: a claim is of
// one of them, a question may be about several. in.misread is set as by want.
func (c *call) meant(ctx context.Context, in *claimIn) ([]meant, error) {
	key := func(at place.Place) string { return at.Project.ID + " " + at.Project.Root + " " + at.Tree }
	var parts []claimIn
	var trees []string
	for _, path := range in.Paths {
		at, err := place.For(c.folder, []string{path})
		if err != nil {
			return nil, err
		}
		i := slices.Index(trees, key(at))
		if i < 0 {
			i = len(trees)
			trees, parts = append(trees, key(at)), append(parts, claimIn{Shared: in.Shared})
		}
		parts[i].Paths = append(parts[i].Paths, path)
	}
	if len(in.Resources) > 0 { // they are the working folder's
		i := 0
		if len(parts) != 1 {
			here, err := place.For(c.folder, nil)
			if err != nil {
				return nil, err
			}
			if i = slices.Index(trees, key(here)); i < 0 {
				i, parts = len(parts), append(parts, claimIn{Shared: in.Shared})
			}
		}
		parts[i].Resources = in.Resources
	}
	var out []meant
	for i := range parts {
		w, p, err := c.want(ctx, &parts[i])
		if err != nil {
			return nil, err
		}
		out = append(out, meant{w, p})
		if in.misread == "" {
			in.misread = parts[i].misread
		}
	}
	return out, nil
}

func whoHolds(ctx context.Context, c *call, in *claimIn) (out claimOut, err error) {
	list, err := c.meant(ctx, in)
	switch {
	case err != nil:
		return out, err
	case len(list) == 0:
		return out, fault.New(fault.Invalid, "who holds what?").WithHint("give paths or resources")
	}
	var found office.Claims
	for i := range list {
		one, werr := c.o.WhoHolds(ctx, c.caller, list[i].project, list[i].want)
		found.Add(&one)
		err = errors.Join(err, werr)
	}
	out.Claims, out.Total, out.Line = c.heldList(found.Claims), found.Total, lineOf(found.Waiting)
	out.Claims = out.Claims[:fit(out.Claims, maxList)]
	out.Hint = in.misread
	return out, err
}

// ids gives the claims that are named: by their ids, or the caller's own that
// lie within the paths and resources.
func (c *call) ids(ctx context.Context, in *claimIn) ([]string, error) {
	if len(in.Paths)+len(in.Resources) == 0 {
		return in.IDs, nil
	}
	list, err := c.meant(ctx, in)
	if err != nil {
		return nil, err
	}
	ids := in.IDs
	var part []office.ClaimView
	for i := range list {
		whole, more, err := c.o.ClaimsWithin(ctx, c.caller, list[i].project, list[i].want)
		if err != nil {
			return nil, err
		}
		for j := range whole {
			if id := string(whole[j].ID); !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		part = append(part, more...)
	}
	switch {
	case len(part) > 0:
		return nil, fault.New(fault.Conflict, "your claim %s covers more than that: %s", part[0].ID, strings.Join(few(part[0].Covered()), ", ")).
			WithHint("action=change with ids=[%s] and the paths to keep, or %s it by its id", part[0].ID, in.Action)
	case len(ids) == 0:
		return nil, fault.New(fault.NotFound, "you hold no claim of that").WithHint("action=list with agent=me shows yours; action=who says who holds it")
	}
	return ids, nil
}
