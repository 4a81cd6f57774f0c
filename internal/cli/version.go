package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"bureau/internal/version"
)

func versionLine() string {
	return fmt.Sprintf("bureau %s (%s, %s/%s)", version.String(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		GroupID: groupOffice,
		Short:   "Print which bureau this is",
		Long:    `Print which bureau this is. The office is not touched.`,
		Example: `  bureau version --json`,
		Args:    between(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return a.printJSON(map[string]string{
					"version": version.String(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
				})
			}
			a.printf("%s\n", versionLine())
			return nil
		},
	}
}
