package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Exactly returns a check that a command has one argument for each of what. One that is empty, as a variable of a
// script that is not set, is none.
func Exactly(what ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		for i, w := range what {
			switch {
			case i >= len(args):
				return Usage(fmt.Errorf("%s needs %s: %s", cmd.Name(), w, cmd.UseLine()))
			case args[i] == "":
				return Usage(fmt.Errorf("%s needs %s, and the name that it got is empty", cmd.Name(), w))
			}
		}
		if len(args) > len(what) {
			return Usage(fmt.Errorf("%s takes %s, and got %d: %s", cmd.Name(), counted(what), len(args), strings.Join(args, " ")))
		}
		return nil
	}
}

// counted lists what a command takes.
func counted(what []string) string {
	if len(what) == 1 {
		return "one thing, " + what[0]
	}
	return fmt.Sprintf("%d things, %s", len(what), strings.Join(what, ", "))
}

// NoneEmpty finds a flag that was given an empty value, as by a variable of a script that is not
// set: to continue as if the flag were not there would leave out what was asked for.
func NoneEmpty(fs *pflag.FlagSet) error {
	var err error
	fs.Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && f.Value.String() == "" {
			err = Usage(fmt.Errorf("--%s is empty: give it a value or leave it out", f.Name))
		}
	})
	return err
}

// NoArgs checks that a command has no arguments.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) != 0 {
		return Usage(fmt.Errorf("%s takes no arguments, and got %s", cmd.Name(), strings.Join(args, " ")))
	}
	return nil
}

// OneOf joins names for a help text.
func OneOf(names []string) string { return strings.Join(names, ", ") }
