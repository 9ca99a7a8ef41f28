// Mlpimage fits a small neural network to an image and draws what it learned.
//
//	mlpimage photo.jpg
//	mlpimage train photo.png -o learned.png --model photo.npz
//	mlpimage render photo.npz -o large.png --size 1024x1024
//	mlpimage doctor
package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/fusedmlp"
	"github.com/clgrad/clgrad/hashgrid"
	"github.com/clgrad/clgrad/imagefit"
	"github.com/clgrad/clgrad/internal/cli"
	"github.com/clgrad/clgrad/internal/devices"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
	"github.com/spf13/cobra"
)

// program is the name of this one.
const program = "mlpimage"

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// ownKernels returns the kernels that are not the library's own, for the doctor.
func ownKernels(d tensor.Device) []*kernels.Kernel {
	return slices.Concat(hashgrid.Kernels(2), imagefit.Kernels(), fusedmlp.Kernels(d.DefaultType(), d.Target()))
}

// run is the program without the process around it.
func run(args []string, stdout, stderr io.Writer) int {
	return cli.Run(newRoot(stdout), args, stdout, stderr, asTrain)
}

func newRoot(stdout io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:   program + " IMAGE",
		Short: "Fit a small neural network to an image",
		Long: `mlpimage trains a small neural network to map positions to the colours of one image, on a GPU, on an
OpenCL CPU or in plain Go, and writes what the network learned.

  mlpimage photo.jpg

trains with good settings and writes photo.mlp.png: it is short for
mlpimage train photo.jpg, and takes its flags.

Exit codes: 0, what was asked for is done; 1, it failed; 2, the command line is wrong (an unknown flag, an
argument too many, a value outside its range, settings that are not a checkpoint's), and nothing was done; 3, a signal came before the end (Ctrl-C, SIGTERM or SIGHUP): train and batch have written what there is, and continue
when they are asked to.

Files are written whole or not at all. No output may be a file that is read, under whatever name. A symbolic link is
followed: the file that it leads to is replaced. New files have the permissions that the umask leaves, replaced ones
keep theirs. Devices and pipes are written to as they stand.`,
	}
	cli.SetHelp(root, stdout, groupLearn, groupStop, groupWrite, devices.FlagGroup)
	root.AddCommand(newTrain(), newBatch(), newRender(), newInfo(), devices.NewDoctor(program, ownKernels), devices.NewList(),
		cli.NewMan(program, "train"), cli.NewVersion(devices.Built()), devices.NewProbe())
	return root
}

// asTrain returns the arguments of train for a command line that begins with an image or a flag in
// place of a command, or with an image whose name is empty. A first word that is none of these is
// an error.
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

// imageName reports whether an argument may be an image: a word with a dot is the name of a file,
// there or mistyped.
func imageName(arg string) bool {
	return arg == stream || !strings.HasPrefix(arg, "-") && strings.Contains(arg, ".") || isFile(arg)
}

// notACommand returns the error for a first word that is neither a command nor an image, or nil if
// cobra knows it.
func notACommand(root *cobra.Command, word string) error {
	if cli.IsCommand(root, word) {
		return nil
	}
	if isFolder(word) {
		return cli.Usage(fmt.Errorf("%s is a folder: mlpimage batch %s -o DIR fits every image in it", word, word))
	}
	return cli.NoCommand(root, word, ", and no file of that name")
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}
