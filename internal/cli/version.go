package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// NewVersion returns the command that prints the version of a program, and how it was built.
func NewVersion(built string) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			version := "(unknown)"
			if info, ok := debug.ReadBuildInfo(); ok {
				version = info.Main.Version
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s %s, %s, %s\n", cmd.Root().Name(), version, built, runtime.Version())
			return nil
		},
	}
}
