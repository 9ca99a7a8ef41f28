// Package cli is what the programs have in common at their edges: how arguments are read and
// standard output is written, what is said of errors, and the exit codes.
package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/internal/atomicfile"
	"github.com/clgrad/clgrad/internal/environment"
	"github.com/spf13/cobra"
)

// Run runs a program and returns its exit code. Before the arguments are parsed, prepare may
// replace them, or find what is wrong with them.
func Run(root *cobra.Command, args []string, stdout, stderr io.Writer, prepare func(*cobra.Command, []string) ([]string, error)) int {
	ctx := interruptible(context.Background())
	out := &Output{w: stdout}
	root.SilenceErrors, root.SilenceUsage = true, true
	root.Args = NoArgs
	root.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	root.SetFlagErrorFunc(FlagError)
	root.SetOut(out)
	root.SetErr(stderr)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := NoneEmpty(cmd.Flags()); err != nil || !computes(root, cmd) {
			return err
		}
		return environment.Check()
	}
	cmd := root
	args, err := prepare(root, args)
	if err == nil {
		err = checkShell(args)
	}
	if err == nil {
		root.SetArgs(args)
		cmd, err = root.ExecuteContextC(ctx)
		if err != nil && out.err == nil && ofCompletion(cmd) { // which are cobra's own words
			err = Usage(err)
		}
		atomicfile.Abandon() // what a signal left unfinished
	}
	if err == nil {
		err = out.err
	}
	return exit(root.Name(), err, cmd.CommandPath(), stderr)
}

// shells are those that cobra completes for.
var shells = []string{"bash", "fish", "powershell", "zsh"}

// checkShell refuses completions for another shell, for which cobra prints a help text.
func checkShell(args []string) error {
	if len(args) < 2 || args[0] != "completion" || strings.HasPrefix(args[1], "-") || slices.Contains(shells, args[1]) {
		return nil
	}
	return Usage(fmt.Errorf("there are no completions for %s: there are for %s", args[1], OneOf(shells)))
}

// ofCompletion reports whether a command is cobra's for completions, or one of the shells below it.
func ofCompletion(cmd *cobra.Command) bool {
	for ; cmd != nil; cmd = cmd.Parent() {
		if cmd.Name() == "completion" {
			return true
		}
	}
	return false
}

// CommandFirst is a prepare of Run for a program whose first word must be a command.
func CommandFirst(root *cobra.Command, args []string) ([]string, error) {
	switch {
	case len(args) == 0:
		return args, nil
	case args[0] == "--version":
		return []string{"version"}, nil
	case args[0] == "help" && len(args) > 1:
		args = args[1:]
		if IsCommand(root, args[0]) {
			return append([]string{"help"}, args...), nil
		}
	}
	if !strings.HasPrefix(args[0], "-") && !IsCommand(root, args[0]) {
		return args, NoCommand(root, args[0], "")
	}
	return args, nil
}

// IsCommand reports whether a program has a command of that name.
func IsCommand(root *cobra.Command, word string) bool {
	return slices.Contains(commands(root, true), word) || strings.HasPrefix(word, "__") // which completions call
}

// ofProgram lists the commands that only one of the programs has.
var ofProgram = map[string][]string{
	"clgrad":   {"bench", "tune"},
	"mlpimage": {"train", "batch", "render", "info"},
}

// computes reports whether a command does what variables of the environment say something about:
// those that only one of the programs has, and the list of devices. The doctor says itself what is
// wrong with them.
func computes(root, cmd *cobra.Command) bool {
	return cmd.Name() == "devices" || slices.Contains(ofProgram[root.Name()], cmd.Name())
}

// NoCommand returns the error for a word that is no command. Where there is nothing to guess, its
// sentence ends with otherwise.
func NoCommand(root *cobra.Command, word, otherwise string) error {
	for program, names := range ofProgram {
		if slices.Contains(names, word) {
			return Usage(fmt.Errorf("%s is a command of another program: %s %s", word, program, word))
		}
	}
	if guess := DidYouMean("", word, commands(root, false)); guess != "" {
		otherwise = guess
	}
	return Usage(fmt.Errorf("there is no command %q%s", word, otherwise))
}

func commands(root *cobra.Command, hidden bool) []string {
	names := []string{"help", "completion"} // which cobra adds later
	for _, c := range root.Commands() {
		if hidden || !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return names
}
