// Package devices is what programs do with devices: they look which OpenCL drivers work, in a
// process of their own, choose a device by a flag, list them and test them. The library does none
// of this.
package devices

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/clrt"
	"github.com/clgrad/clgrad/internal/cli"
	"github.com/clgrad/clgrad/internal/environment"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
	"github.com/spf13/pflag"
)

// FlagGroup is the group of the flags of a device in a command's help.
const FlagGroup = "Device"

// Flags says which device to use, and how.
type Flags struct {
	Check, Profile bool
	Double         bool // the device's default type is Float64

	program      string // whose flags these are
	selection    string
	rebuild      bool
	precision    tensor.Precision
	skipSelfTest bool // the command tests kernels itself: none is replaced
}

// Register adds the flags of a command of that program.
func (f *Flags) Register(fs *pflag.FlagSet, program string) {
	f.program = program
	fs.StringVar(&f.selection, "device", "", fmt.Sprintf(`auto, cpu, opencl, PLATFORM:DEVICE as "%s devices" lists them, or part of a
name (default $CLGRAD_DEVICE, else auto)`, program))
	fs.TextVar(&f.precision, "precision", tensor.PrecisionFloat32, cli.OneOf(kernels.Precisions)+": to what a GPU may round factors of products")
	fs.BoolVar(&f.rebuild, "rebuild", false, "rebuild the OpenCL kernels, past the driver's cache")
	cli.Group(fs, FlagGroup)
}

// Prepare has the drivers start up while the caller does something else before it calls Open. Only
// those do that this process is known to survive.
func (f *Flags) Prepare() {
	if !OpenCLBuilt || strings.EqualFold(f.selected(), "cpu") {
		return
	}
	go func() {
		if newProbeMemory(registeredDrivers()).works() {
			startDrivers()
		}
	}()
}

var startDrivers = func() { _, _ = clrt.List() } // Open asks again, and hears what is wrong

// selected returns what the flag says, or the environment.
func (f *Flags) selected() string {
	if f.selection == "" {
		return os.Getenv(tensor.DeviceEnv)
	}
	return f.selection
}

// Open opens the device and says which it is, and what would be faster.
func (f *Flags) Open(stderr io.Writer) (tensor.Device, error) {
	wait := cli.NewWait(stderr, "starting the device; drivers that are new here are tried first")
	d, err := f.open(wait)
	wait.Done()
	wrong := (*environment.Selection)(nil)
	if named := os.Getenv(tensor.DeviceEnv); errors.As(err, &wrong) && f.selection == "" && named != "" {
		err = fmt.Errorf("%s is %q: %w", tensor.DeviceEnv, named, err)
	}
	return d, err
}

func (f *Flags) open(stderr io.Writer) (tensor.Device, error) {
	if err := environment.Check(); err != nil {
		return nil, err
	}
	selection, err := f.choose(stderr)
	if err != nil {
		return nil, err
	}
	typ := tensor.Float32
	if f.Double {
		typ = tensor.Float64
	}
	d, err := tensor.Open(selection, tensor.Options{DefaultType: typ, Rebuild: f.rebuild, Check: f.Check, Profile: f.Profile, SkipSelfTest: f.skipSelfTest, Precision: f.precision,
		Builds: cli.NewBuildLine(stderr)})
	if err != nil {
		return nil, err
	}
	if why := clrt.CacheProblem(); why != "" && strings.Contains(d.Name(), pocl) {
		fmt.Fprintln(stderr, why)
	}
	fmt.Fprintf(stderr, "device: %s\n", d.Name())
	return d, nil
}

// pocl is part of the name of PoCL's devices.
const pocl = "Portable Computing Language"

// What would be faster where OpenCL is not there.
const (
	adviceRuntime = "computing in plain Go: install an OpenCL runtime (Debian: pocl-opencl-icd, or the GPU's) and %s runs faster, on a GPU by far"
	adviceBuild   = "computing in plain Go: this build has no OpenCL; one that make builds where there is a C compiler runs faster, on a GPU by far"
)

// choose returns the selection that names the device for tensor.Open. No driver is loaded that was
// not probed.
func (f *Flags) choose(stderr io.Writer) (string, error) {
	selection := f.selected()
	auto := selection == "" || strings.EqualFold(selection, "auto")
	switch {
	case strings.EqualFold(selection, "cpu"):
		return "cpu", nil
	case !OpenCLBuilt:
		if auto && !f.Check {
			fmt.Fprintln(stderr, adviceBuild)
		}
		return selection, nil
	}
	c := checkedOpenCL()
	if c.err != nil {
		return "", c.err
	}
	if !auto {
		id, err := c.named(selection)
		if err != nil {
			err = &environment.Selection{Err: err}
		}
		return id, err
	}
	for _, b := range c.broken {
		fmt.Fprintf(stderr, "left out %s: %s doctor says more\n", b, f.program)
	}
	infos, err := c.devices()
	if errors.Is(err, errBroken) && f.Check {
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
	if f.Check {
		return "opencl", nil // which says what is missing
	}
	if c.usable && os.Getenv(clrt.OpenCLEnv) != "" {
		if _, err := clrt.RuntimePath(); err != nil {
			return "", err
		}
	}
	switch why := clrt.CacheProblem(); {
	case len(c.broken) > 0 || len(infos) > 0:
	case why != "":
		fmt.Fprintf(stderr, "computing in plain Go: there is no OpenCL device: %s\n", why)
	default:
		fmt.Fprintf(stderr, adviceRuntime+"\n", f.program)
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
	return clrt.List()
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

// named returns the selection of a device that was asked for by name. That it cannot be used is an
// error.
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
		if why := clrt.CacheProblem(); why != "" {
			return "there is only cpu: " + why
		}
		return "there is only cpu"
	}
	s := "there are "
	for _, i := range infos {
		s += fmt.Sprintf("%s %s, ", i.ID(), i)
	}
	return s + "and cpu"
}
