package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/clgrad/clgrad/tensor"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// deviceFlags says which device to use, and how.
type deviceFlags struct {
	selection               string
	rebuild, check, profile bool
}

func (f *deviceFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.selection, "device", "", `auto, cpu, opencl, PLATFORM:DEVICE as "mlpimage devices" lists them, or part of a
name (default $CLGRAD_DEVICE, else auto)`)
	fs.BoolVar(&f.rebuild, "rebuild", false, "build the OpenCL kernels anew, past the driver's cache")
	group(fs, groupDevice)
}

// open opens the device and says which it is.
func (f *deviceFlags) open(stderr io.Writer) (tensor.Device, error) {
	d, err := tensor.Open(f.selection, tensor.Options{Rebuild: f.rebuild, Check: f.check, Profile: f.profile})
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(stderr, "device: %s\n", d.Name())
	return d, nil
}

func newDevices() *cobra.Command {
	return &cobra.Command{
		Use:   "devices",
		Short: "List the devices that --device can name",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w := cmd.OutOrStdout()
			fmt.Fprintf(w, "cpu   Go, %d threads\n", runtime.GOMAXPROCS(0))
			infos, err := tensor.DeviceInfos()
			for _, i := range infos {
				double := ""
				if i.FP64 {
					double = ", float64"
				}
				fmt.Fprintf(w, "%-5s %s: %s, %d units, %.1f GiB%s\n      %s, driver %s\n", i.ID(), i, i.Type, i.ComputeUnits,
					float64(i.GlobalMem)/(1<<30), double, i.Version, i.Driver)
			}
			if err != nil {
				fmt.Fprintf(w, "no OpenCL devices: %v\n", err)
			}
			return nil
		},
	}
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			version := "(unknown)"
			opencl := "without OpenCL"
			if info, ok := debug.ReadBuildInfo(); ok {
				version = info.Main.Version
				for _, s := range info.Settings {
					if s.Key == "-tags" && s.Value == "opencl" {
						opencl = "with OpenCL"
					}
				}
			}
			fmt.Fprintf(cmd.OutOrStdout(), "mlpimage %s, %s, %s\n", version, opencl, runtime.Version())
			return nil
		},
	}
}
