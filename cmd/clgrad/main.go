// Clgrad is for who programs with the library: it looks at devices, tests and measures them, and runs ONNX models.
//
//	clgrad devices
//	clgrad doctor
//	clgrad bench --device cpu --only launch,step
//	clgrad tune
//	clgrad onnx info model.onnx
//	clgrad cflags
package main

import (
	"os"
	"slices"

	"github.com/clgrad/clgrad/fft"
	"github.com/clgrad/clgrad/fusedmlp"
	"github.com/clgrad/clgrad/internal/cli"
	"github.com/clgrad/clgrad/internal/devices"
	"github.com/clgrad/clgrad/internal/recurrent"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/linalg"
	"github.com/clgrad/clgrad/tensor"
	"github.com/spf13/cobra"
)

// program is the name of this one.
const program = "clgrad"

func main() { os.Exit(cli.Run(newRoot(), os.Args[1:], os.Stdout, os.Stderr, cli.CommandFirst)) }

// ownKernels returns the kernels that are not the library's own, for the doctor.
func ownKernels(d tensor.Device) []*kernels.Kernel {
	return slices.Concat(fusedmlp.Kernels(d.DefaultType(), d.Target()), linalg.Kernels(), fft.Kernels(), recurrent.Kernels())
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   program,
		Short: "Look at the devices that clgrad computes on, test and measure them",
		Long: `clgrad lists the devices that programs which use the library clgrad can compute on, says what is missing for
others, tests every kernel on a device, measures it, and finds the fastest matrix products for it. It looks at
ONNX models, runs and checks them.

Exit codes: 0, what was asked for is done; 1, it failed; 2, the command line is wrong (an unknown flag, an
argument too many, a value outside its range), and nothing was done; 3, a signal came before the end (Ctrl-C, SIGTERM or SIGHUP).

To fit a network to an image there is another program, mlpimage.`,
	}
	cli.SetHelp(root, os.Stdout, devices.FlagGroup)
	root.AddCommand(devices.NewDoctor(program, ownKernels), devices.NewList(), newBench(), newTune(), newONNX(), newCFlags(), cli.NewMan(program, "doctor"),
		cli.NewVersion(devices.Built()), devices.NewProbe())
	return root
}
