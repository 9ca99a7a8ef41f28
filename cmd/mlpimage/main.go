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

	"github.com/clgrad/clgrad/imagefit"
	"github.com/spf13/cobra"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the program without the process around it.
func run(args []string, stdout, stderr io.Writer) int {
	ctx := interruptible(context.Background())
	out := &output{w: stdout}
	root := newRoot()
	root.SetArgs(asTrain(root, args))
	root.SetOut(out)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = out.err
	}
	return exit(err, stderr)
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "mlpimage",
		Short: "Fit a small neural network to an image",
		Long: `mlpimage trains a small neural network to map positions to the colours of one image, on a GPU, on an
OpenCL CPU or in plain Go, and writes what the network learned.

  mlpimage photo.jpg

trains with good settings until the gain flattens and writes photo.mlp.png: it is short for
mlpimage train photo.jpg --preset good, and takes the flags of train.

Exit codes: 0, what was asked for is done; 1, it failed; 2, the command line cannot be carried out, and nothing was
done; 3, a signal came before the end (Ctrl-C, SIGTERM or SIGHUP): train and batch have written what there is, and go on
when they are asked to.

Files are written whole or not at all. No output may be a file that is read, under whatever name. A symbolic link is
followed: the file that it leads to is replaced. New files have the permissions that the umask leaves, replaced ones
keep theirs. Devices and pipes are written to as they stand.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          unknownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err} })
	root.AddCommand(newTrain(), newBatch(), newRender(), newInfo(), newDoctor(), newDevices(), newBench(), newTune(), newMan(), newVersion())
	return root
}

// asTrain returns the arguments of train for a command line that names an image in place of a command.
func asTrain(root *cobra.Command, args []string) []string {
	if cmd, _, err := root.Find(args); err != nil || cmd != root {
		return args
	}
	for _, arg := range args {
		// A word with a dot is the name of a file, there or mistyped: not a command.
		if !strings.HasPrefix(arg, "-") && strings.Contains(arg, ".") || isFile(arg) {
			train := []string{"train"}
			if !slices.ContainsFunc(args, ownSettings) {
				train = append(train, "--preset", imagefit.Good)
			}
			return append(train, args...)
		}
	}
	return args
}

// ownSettings reports whether a flag says what the preset would.
func ownSettings(arg string) bool {
	name, _, _ := strings.Cut(arg, "=")
	return name == "--preset" || name == "--encoding" || name == "--resume"
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

func unknownCommand(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return &usageError{fmt.Errorf("unknown command %q", args[0])}
	}
	return nil
}

// exactly returns a check that a command has one argument, which what describes.
func exactly(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return &usageError{fmt.Errorf("%s takes %s, and got %d arguments", cmd.Name(), what, len(args))}
		}
		return nil
	}
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) != 0 {
		return &usageError{fmt.Errorf("%s takes no arguments, and got %q", cmd.Name(), args)}
	}
	return nil
}
