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
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the program without the process around it.
func run(args []string, stdout, stderr io.Writer) int {
	ctx := interruptible(context.Background())
	out := &output{w: stdout}
	root := newRoot()
	root.SetOut(out)
	root.SetErr(stderr)
	args, err := asTrain(root, args)
	if err == nil {
		root.SetArgs(args)
		err = root.ExecuteContext(ctx)
		atomicfile.Abandon() // what a signal left unfinished
	}
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
	if slices.ContainsFunc(args, imageName) || len(args) > 0 && trainHas(root, args[0]) {
		return append([]string{"train"}, args...), nil
	}
	return args, nil
}

// trainHas reports whether a word is a flag of train: what is wrong after it is for train to say.
func trainHas(root *cobra.Command, word string) bool {
	cmd, _, err := root.Find([]string{"train"})
	name, isFlag := strings.CutPrefix(word, "--")
	name, _, _ = strings.Cut(name, "=")
	return err == nil && isFlag && cmd.Flags().Lookup(name) != nil
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

// exactly returns a check that a command has one argument, which what describes.
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

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) != 0 {
		return &usageError{fmt.Errorf("%s takes no arguments, and got %s", cmd.Name(), strings.Join(args, " "))}
	}
	return nil
}
