// Mlpimage fits a small neural network to an image and draws what it learned.
//
//	mlpimage photo.jpg
//	mlpimage train photo.png -o learned.png --model photo.npz
//	mlpimage render photo.npz -o large.png --size 1024x1024
//	mlpimage doctor
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/internal/atomicfile"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the program without the process around it.
func run(args []string, stdout, stderr io.Writer) int {
	ctx := interruptible(context.Background())
	out := &output{w: stdout}
	root := newRoot(stdout)
	root.SetOut(out)
	root.SetErr(stderr)
	cmd := root
	args, err := asTrain(root, args)
	if err == nil {
		root.SetArgs(args)
		cmd, err = root.ExecuteContextC(ctx)
		atomicfile.Abandon() // what a signal left unfinished
	}
	if err == nil {
		err = out.err
	}
	return exit(err, cmd.CommandPath(), stderr)
}

func newRoot(stdout io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:   "mlpimage IMAGE",
		Short: "Fit a small neural network to an image",
		Long: `mlpimage trains a small neural network to map positions to the colours of one image, on a GPU, on an
OpenCL CPU or in plain Go, and writes what the network learned.

  mlpimage photo.jpg

trains with good settings and writes photo.mlp.png: it is short for
mlpimage train photo.jpg, and takes its flags.

Exit codes: 0, what was asked for is done; 1, it failed; 2, the command line cannot be carried out, and nothing was
done; 3, a signal came before the end (Ctrl-C, SIGTERM or SIGHUP): train and batch have written what there is, and go on
when they are asked to.

Files are written whole or not at all. No output may be a file that is read, under whatever name. A symbolic link is
followed: the file that it leads to is replaced. New files have the permissions that the umask leaves, replaced ones
keep theirs. Devices and pipes are written to as they stand.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return noneEmpty(cmd.Flags()) },
	}
	root.SetFlagErrorFunc(flagError)
	setHelp(root, stdout)
	root.AddCommand(newTrain(), newBatch(), newRender(), newInfo(), newDoctor(), newDevices(), newBench(), newTune(), newMan(), newVersion(), newProbe())
	return root
}

// asTrain returns the arguments of train for a command line that begins with an image or a flag in place of a command, or
// with an image whose name is empty. A first word that is none of these is an error.
func asTrain(root *cobra.Command, args []string) ([]string, error) {
	if cmd, _, err := root.Find(args); err == nil && cmd != root || len(args) == 0 {
		return args, nil
	}
	switch first := args[0]; {
	case first == "-h" || first == "--help":
		return args, nil
	case first == "--version":
		return []string{"version"}, nil
	case first == "help" && len(args) > 1:
		return args, notACommand(root, args[1])
	case first != "" && !strings.HasPrefix(first, "-") && (!imageName(first) || isFolder(first)):
		return args, notACommand(root, first)
	}
	return append([]string{"train"}, args...), nil
}

// imageName reports whether an argument may be an image: a word with a dot is the name of a file, there or mistyped.
func imageName(arg string) bool {
	return arg == stream || !strings.HasPrefix(arg, "-") && strings.Contains(arg, ".") || isFile(arg)
}

// notACommand returns the error for a first word that is neither a command nor an image, or nil if cobra knows it.
func notACommand(root *cobra.Command, word string) error {
	names := []string{"help", "completion"} // which cobra adds later
	for _, c := range root.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	if slices.Contains(names, word) || strings.HasPrefix(word, "__") {
		return nil
	}
	if isFolder(word) {
		return &usageError{fmt.Errorf("%s is a folder: mlpimage batch %s -o DIR fits every image in it", word, word)}
	}
	guess := didYouMean("", word, names)
	if guess == "" {
		guess = ", and no file of that name"
	}
	return &usageError{fmt.Errorf("there is no command %q%s", word, guess)}
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// exactly returns a check that a command has one argument, which what describes. One that is empty, as a variable of a
// script that is not set, is none.
func exactly(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 1 && args[0] == "":
			return &usageError{fmt.Errorf("%s needs %s, and the name that it got is empty", cmd.Name(), what)}
		case len(args) == 1:
			return nil
		case len(args) == 0:
			return &usageError{fmt.Errorf("%s needs %s: %s", cmd.Name(), what, cmd.UseLine())}
		}
		return &usageError{fmt.Errorf("%s takes one thing, %s, and got %d: %s", cmd.Name(), what, len(args), strings.Join(args, " "))}
	}
}

// noneEmpty finds a flag that was given an empty value, as by a variable of a script that is not set: to go on as if the
// flag were not there would leave out what was asked for.
func noneEmpty(fs *pflag.FlagSet) error {
	var err error
	fs.Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && f.Value.String() == "" {
			err = &usageError{fmt.Errorf("--%s is empty: give it a value or leave it out", f.Name)}
		}
	})
	return err
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) != 0 {
		return &usageError{fmt.Errorf("%s takes no arguments, and got %s", cmd.Name(), strings.Join(args, " "))}
	}
	return nil
}
