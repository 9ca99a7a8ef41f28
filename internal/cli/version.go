package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/clgrad/clgrad"
	"github.com/spf13/cobra"
)

// NewVersion returns the command that prints the version of a program, and how it was built: with
// OpenCL or without, of which commit, by which Go.
func NewVersion(built string) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			fmt.Fprintf(cmd.OutOrStdout(), "%s %s%s, %s, %s\n", cmd.Root().Name(), clgrad.Version, commit(), built, runtime.Version())
			return nil
		},
	}
}

// commit returns " (1a2b3c4d)" for a build in a repository, with "modified" for a changed one; else
// "".
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	hash := settings["vcs.revision"]
	if len(hash) < 8 {
		return ""
	}
	if settings["vcs.modified"] == "true" {
		return " (" + hash[:8] + ", modified)"
	}
	return " (" + hash[:8] + ")"
}
