package cli

import (
	"github.com/spf13/cobra"

	"bureau/internal/fault"
	"bureau/internal/office"
)

func newInit(a *app) *cobra.Command {
	var fresh bool
	cmd := &cobra.Command{
		Use:     "init",
		GroupID: groupOffice,
		Short:   "Begin an office",
		Long: `Begin an office: in ~/.bureau, or in the folder that BUREAU_HOME names. Every
other command begins it too when it is first used, so init is only needed to see
that it works, and for --new: where an office was before on a volume that is not
mounted now, nothing is begun by itself, because a second office would hide the
mail of the first.`,
		Example: `  bureau init
  BUREAU_HOME=/srv/team/bureau bureau init`,
		Args: between(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			opts := office.Options{Home: a.Env(office.HomeVariable), Now: a.Now, Progress: a.progress}
			if opts.Home == "" {
				var err error
				if opts.Home, err = office.DefaultHome(); err != nil {
					return err
				}
			}
			o, err := office.Open(cmd.Context(), opts)
			begun := fault.Is(err, fault.NotFound)
			if begun {
				if fresh {
					if err := office.ForgetPlace(opts.Home); err != nil {
						return err
					}
				}
				opts.Create = true
				o, err = office.Open(cmd.Context(), opts)
			}
			if err != nil {
				return err
			}
			a.office = o
			if a.json {
				return a.printJSON(begunOffice{Home: o.Home(), Store: o.StorePath(), New: begun})
			}
			if begun {
				a.printf("began an office at %s\n", safeLine(o.Home(), 0))
				a.printf("next: bureau register NAME, then bureau send NAME TEXT\n")
			} else {
				a.printf("the office is at %s\n", safeLine(o.Home(), 0))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&fresh, "new", false, "begin a new one although there was one on another volume")
	return cmd
}

// begunOffice is what init prints.
type begunOffice struct {
	Home  string `json:"office"`
	Store string `json:"store"`
	New   bool   `json:"new"`
}
