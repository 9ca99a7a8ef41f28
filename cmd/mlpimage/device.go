package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/clrt"
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

// open opens the device and says which it is, and what would be faster.
func (f *deviceFlags) open(stderr io.Writer) (tensor.Device, error) {
	selection, err := f.choose(stderr)
	if err != nil {
		return nil, err
	}
	d, err := tensor.Open(selection, tensor.Options{Rebuild: f.rebuild, Check: f.check, Profile: f.profile})
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(stderr, "device: %s\n", d.Name())
	return d, nil
}

// What would be faster where OpenCL is not there.
const (
	adviceRuntime = "computing in plain Go: install an OpenCL runtime (Debian: pocl-opencl-icd, or the GPU's) and mlpimage runs about seven times as fast"
	adviceBuild   = "computing in plain Go: this build has no OpenCL; one that make builds where there is a C compiler runs about seven times as fast"
)

// choose returns the selection that names the device for tensor.Open. No driver is loaded that was not probed.
func (f *deviceFlags) choose(stderr io.Writer) (string, error) {
	selection := f.selection
	if selection == "" {
		selection = os.Getenv(tensor.DeviceEnv)
	}
	auto := selection == "" || strings.EqualFold(selection, "auto")
	switch {
	case strings.EqualFold(selection, "cpu"):
		return "cpu", nil
	case !openCLBuilt:
		if auto && !f.check {
			fmt.Fprintln(stderr, adviceBuild)
		}
		return selection, nil
	}
	c := checkedOpenCL()
	if c.err != nil {
		return "", c.err
	}
	if !auto {
		return c.named(selection)
	}
	for _, b := range c.broken {
		fmt.Fprintf(stderr, "left out %s: mlpimage doctor says more\n", b)
	}
	infos, err := c.devices()
	if errors.Is(err, errBroken) && f.check {
		return "", err
	}
	fit := slices.DeleteFunc(slices.Clone(infos), func(i clrt.Info) bool {
		why, unfit := c.unfit[deviceKey(i)]
		if unfit {
			fmt.Fprintf(stderr, "left out the device %s: %s\n", i, why)
		}
		return unfit
	})
	if best, err := clrt.Select(fit, "opencl"); err == nil {
		return best.ID(), nil
	}
	if f.check {
		return "opencl", nil // which says what is missing
	}
	if len(c.broken) == 0 && len(infos) == 0 {
		fmt.Fprintln(stderr, adviceRuntime)
	}
	return "cpu", nil
}

// errBroken is the error of drivers of which none works.
var errBroken = errors.New("no OpenCL driver works")

// devices returns the devices of the drivers that work.
func (c *openCL) devices() ([]clrt.Info, error) {
	if !c.usable {
		return nil, c.explain(errBroken)
	}
	return tensor.DeviceInfos()
}

// explain adds to an error which drivers were left out, and why.
func (c *openCL) explain(err error) error {
	for _, b := range c.broken {
		err = fmt.Errorf("%w; left out %v", err, b)
		if advice := b.advice(); advice != "" {
			err = fmt.Errorf("%w: %s", err, advice)
		}
	}
	return err
}

// named returns the selection of a device that was asked for by name. That it cannot be used is an error.
func (c *openCL) named(selection string) (string, error) {
	infos, err := c.devices()
	if errors.Is(err, errBroken) {
		return "", err
	}
	if err != nil {
		return "", c.explain(err)
	}
	info, err := clrt.Select(infos, selection)
	if err != nil {
		return "", c.explain(fmt.Errorf("there is no OpenCL device %q: %s", selection, listed(infos)))
	}
	if why, unfit := c.unfit[deviceKey(info)]; unfit {
		return "", fmt.Errorf("the device %s cannot be used: %s", info, why)
	}
	return info.ID(), nil
}

// listed names the devices that there are.
func listed(infos []clrt.Info) string {
	if len(infos) == 0 {
		return "there is only cpu"
	}
	s := "there are "
	for _, i := range infos {
		s += fmt.Sprintf("%s %s, ", i.ID(), i)
	}
	return s + "and cpu"
}

// listOpenCL returns what is known of OpenCL; the error says that this build has none.
func listOpenCL() (*openCL, error) {
	if !openCLBuilt {
		_, err := tensor.DeviceInfos()
		return nil, err
	}
	c := checkedOpenCL()
	return c, c.err
}

func newDevices() *cobra.Command {
	return &cobra.Command{
		Use:   "devices",
		Short: "List the devices that --device can name",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w := cmd.OutOrStdout()
			fmt.Fprintf(w, "cpu   Go, %d threads\n", runtime.GOMAXPROCS(0))
			var infos []clrt.Info
			c, err := listOpenCL()
			if err == nil {
				infos, err = c.devices()
			}
			for _, i := range infos {
				double := ""
				if i.FP64 {
					double = ", float64"
				}
				fmt.Fprintf(w, "%-5s %s: %s, %d units, %.1f GiB%s\n      %s, driver %s\n", i.ID(), i, i.Type, i.ComputeUnits,
					float64(i.GlobalMem)/(1<<30), double, i.Version, i.Driver)
				if why, unfit := c.unfit[deviceKey(i)]; unfit {
					fmt.Fprintf(w, "      cannot be used: %s\n", why)
				}
			}
			switch {
			case err != nil:
				fmt.Fprintf(w, "no OpenCL devices: %s\n", sentence(err))
			default:
				for _, b := range c.broken {
					fmt.Fprintf(w, "left out %s\n", b)
				}
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
			if openCLBuilt {
				opencl = "with OpenCL"
			}
			if info, ok := debug.ReadBuildInfo(); ok {
				version = info.Main.Version
			}
			fmt.Fprintf(cmd.OutOrStdout(), "mlpimage %s, %s, %s\n", version, opencl, runtime.Version())
			return nil
		},
	}
}
