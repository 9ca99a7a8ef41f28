// Mlpimage fits a small neural network to an image and draws what it learned.
//
//	mlpimage photo.jpg
//	mlpimage train photo.png -o learned.png --model photo.npz
//	mlpimage render photo.npz -o large.png --size 1024x1024
//	mlpimage doctor
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// The exit codes.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the program without the process around it.
func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program
	root := newRoot()
	root.SetOut(stdout)
	root.SetErr(stderr)
	args, err := asTrain(root, args)
	if err == nil {
		root.SetArgs(args)
		err = root.ExecuteContext(ctx)
	}
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(stderr, "mlpimage: %s\n", sentence(err))
	var usage *usageError
	if errors.As(err, &usage) {
		fmt.Fprintf(stderr, "Run 'mlpimage --help' for usage.\n")
		return exitUsage
	}
	return exitFailure
}

// usageError is a command line that cannot be carried out as written.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "mlpimage",
		Short: "Fit a small neural network to an image",
		Long: `mlpimage trains a small neural network to map positions to the colours of one image, on a GPU, on an
OpenCL CPU or in plain Go, and writes what the network learned.

  mlpimage photo.jpg

trains with good settings until the gain flattens and writes photo.mlp.png: it is short for
mlpimage train photo.jpg, and takes its flags.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(flagError)
	groupFlags(root)
	root.AddCommand(newTrain(), newBatch(), newRender(), newInfo(), newDoctor(), newDevices(), newBench(), newTune(), newMan(), newVersion(), newProbe())
	return root
}

// asTrain returns the arguments of train for a command line that names an image in place of a command. A first word that
// is neither is an error.
func asTrain(root *cobra.Command, args []string) ([]string, error) {
	if cmd, _, err := root.Find(args); err == nil && cmd != root {
		return args, nil
	}
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") && (!imageName(args[0]) || isFolder(args[0])) {
		return args, notACommand(root, args[0])
	}
	if slices.ContainsFunc(args, imageName) {
		return append([]string{"train"}, args...), nil
	}
	return args, nil
}

// imageName reports whether an argument may be an image: a word with a dot is the name of a file, there or mistyped.
func imageName(arg string) bool {
	return !strings.HasPrefix(arg, "-") && strings.Contains(arg, ".") || isFile(arg)
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

// exactly returns a check that a command has one argument, which what describes.
func exactly(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch len(args) {
		case 1:
			return nil
		case 0:
			return &usageError{fmt.Errorf("%s needs %s: %s", cmd.Name(), what, cmd.UseLine())}
		}
		return &usageError{fmt.Errorf("%s takes one thing, %s, and got %d: %s", cmd.Name(), what, len(args), strings.Join(args, " "))}
	}
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) != 0 {
		return &usageError{fmt.Errorf("%s takes no arguments, and got %s", cmd.Name(), strings.Join(args, " "))}
	}
	return nil
}
