package cli

import (
	"github.com/spf13/cobra"

	"bureau/internal/fault"
	"bureau/internal/office"
)

// pages are the flags of every listing.
type pages struct {
	limit  int
	cursor string
}

func (p *pages) flags(cmd *cobra.Command) {
	cmd.Flags().IntVar(&p.limit, "limit", office.DefaultPage, "at most `N` entries")
	cmd.Flags().StringVar(&p.cursor, "cursor", "", "go on where the page before ended, at its `CURSOR`")
}

func (p *pages) page() (office.Page, error) {
	if p.limit < 1 || p.limit > office.MaxPage {
		return office.Page{}, fault.New(fault.Invalid, "a page cannot have %d entries", p.limit).
			WithHint("choose between 1 and %d", office.MaxPage)
	}
	return office.Page{Limit: p.limit, From: p.cursor}, nil
}
