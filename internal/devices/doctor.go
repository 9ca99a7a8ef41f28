package devices

import (
	"fmt"
	"io"
	"runtime"
	"slices"

	"github.com/clgrad/clgrad/clrt"
	"github.com/clgrad/clgrad/internal/cli"
	"github.com/clgrad/clgrad/internal/environment"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kerneltest"
	"github.com/clgrad/clgrad/tensor"
	"github.com/spf13/cobra"
)

// NewDoctor returns the command that looks for what OpenCL needs, and tests the kernels of a
// device: clgrad's own, and those that the program brings.
func NewDoctor(program string, more func(d tensor.Device) []*kernels.Kernel) *cobra.Command {
	var device Flags
	var noKernels, full bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what was found of OpenCL, what is missing, and test every kernel",
		Long: `doctor looks for what programs need to use a GPU or OpenCL on a CPU (the loader, the drivers registered with
it, their devices and compilers), tries the drivers in a process of their own, says what is missing or does not
work and what to install, and then runs every kernel on the device that --device names and compares what it
computes with the same kernel in Go. It fails if a kernel does.`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w := cmd.OutOrStdout()
			newProbeMemory(registeredDrivers()).forget() // who asks doubts it
			if err := findings(w); err != nil || noKernels {
				return err
			}
			device.skipSelfTest = true
			d, err := device.Open(w)
			if err != nil {
				return err
			}
			defer d.Close()
			if path, tried := tensorapi.Impl.TrialsRemembered(d); path != "" {
				fmt.Fprintf(w, "trials     %d of earlier programs are remembered, all right, in %s\n", tried, path)
			}
			return testKernels(cmd, w, d, more(d), full)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.BoolVar(&noKernels, "no-kernels", false, "leave out the test of the kernels")
	fs.BoolVar(&full, "full", false, "test the kernels at more sizes (slow)")
	device.Register(fs, program)
	return cmd
}

// findings prints what there is of OpenCL on this machine, and what to do about what there is not.
func findings(w io.Writer) error {
	fmt.Fprintf(w, "program    %s, %s/%s, %d threads\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0))
	if err := environment.Check(); err != nil {
		fmt.Fprintf(w, "variables  %s\n", cli.Sentence(err))
	}
	c, err := listOpenCL()
	if c == nil {
		fmt.Fprintf(w, "loader     %s\n", cli.Sentence(err))
		printDrivers(w, registeredDrivers(), nil)
		return nil
	}
	if err != nil {
		return err
	}
	if loader, err := c.loader(); err != nil {
		fmt.Fprintf(w, "loader     %s\n", cli.Sentence(err))
	} else {
		fmt.Fprintf(w, "loader     %s\n", loader)
	}
	printDrivers(w, c.drivers, c.broken)
	infos, err := c.devices()
	if err != nil && c.usable {
		fmt.Fprintf(w, "devices    %s\n", cli.Sentence(err))
	} else if len(infos) == 0 && c.usable {
		fmt.Fprintln(w, "devices    the drivers offer none: for a GPU, may this user open /dev/nvidia* or /dev/dri/render*?")
	}
	for _, i := range infos {
		compiler, double := "a compiler", "float64"
		if !i.Compiler {
			compiler = "NO COMPILER: clgrad cannot use it"
		}
		if !i.FP64 {
			double = "no float64"
		}
		fmt.Fprintf(w, "device     %s %s\n           %s, %d units, %.1f GiB, %s, driver %s, %s, %s\n", i.ID(), i, i.Type, i.ComputeUnits,
			float64(i.GlobalMem)/(1<<30), i.Version, i.Driver, compiler, double)
		if why, unfit := c.unfit[deviceKey(i)]; unfit {
			fmt.Fprintf(w, "           CANNOT BE USED: %s\n", why)
		}
	}
	return nil
}

// loader returns the path of the OpenCL library. It is not loaded if all that is known is that it
// fails.
func (c *openCL) loader() (string, error) {
	switch {
	case c.runtime != "":
		return c.runtime, nil
	case c.usable:
		return clrt.RuntimePath()
	}
	return "", errBroken
}

// printDrivers prints the drivers that are registered, what is wrong with those that do not work,
// and what to install where there is none.
func printDrivers(w io.Writer, drivers []driver, broken []brokenDriver) {
	if len(drivers) == 0 {
		fmt.Fprintf(w, "drivers    none is registered in %s\n", driverFolder())
		fmt.Fprintln(w, "           CPU: apt-get install pocl-opencl-icd (Debian)")
		fmt.Fprintln(w, "           NVIDIA: its driver brings libnvidia-opencl.so.1; a file nvidia.icd must hold that name")
		fmt.Fprintln(w, "           AMD: rocm-opencl-runtime or mesa-opencl-icd; Intel: intel-opencl-icd")
	}
	for _, d := range drivers {
		fmt.Fprintf(w, "driver     %s\n", d)
	}
	for _, b := range broken {
		fmt.Fprintf(w, "BROKEN     %s\n           %s\n", b.name, b.why)
		if advice := b.advice(); advice != "" {
			fmt.Fprintf(w, "           %s\n", advice)
		} else {
			fmt.Fprintln(w, "           install it again, or remove its file from the folder; it is left out")
		}
	}
}

// testKernels runs every kernel beside its host kernel and prints a line for each.
func testKernels(cmd *cobra.Command, w io.Writer, d tensor.Device, more []*kernels.Kernel, full bool) error {
	fmt.Fprintf(w, "\n%-28s %6s %16s  %s\n", "kernel", "cases", "worst error", "")
	failed, total := 0, 0
	seen := map[string]int{}
	for i, k := range slices.Concat(ops.All(d.DefaultType(), d.Target()), more) {
		if seen[k.Name]++; seen[k.Name] > 2 && !full {
			continue // further tiles of a matrix product
		}
		total++
		cases := k.Cases(!full)
		worst, verdict := 0.0, "pass"
		for j, c := range cases {
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			o := kernels.NewOperands(d.DefaultType(), uint64(i), uint64(j))
			c.Build(o)
			off, err := kerneltest.Check(d, k, c.Name, o.Args)
			if worst = max(worst, off); err != nil {
				verdict = "FAIL " + err.Error()
				break
			}
		}
		if verdict != "pass" {
			failed++
		}
		name := k.Name
		if seen[k.Name] > 1 {
			name = fmt.Sprintf("%s (%d)", k.Name, seen[k.Name])
		}
		fmt.Fprintf(w, "%-28s %6d %16s  %s\n", name, len(cases), worstError(worst), verdict)
		if err := d.Err(); err != nil {
			return fmt.Errorf("the device failed: %w", err)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d kernels compute something else on %s than in Go: do not trust this device", failed, total, d.Name())
	}
	fmt.Fprintf(w, "all %d kernels agree with their host kernels in Go\n", total)
	return nil
}

// worstError writes a difference in units of the last place. Where a sum cancels, a small absolute
// error is many.
func worstError(ulp float64) string {
	switch {
	case ulp == 0:
		return "exact"
	case ulp > 1e6:
		return "of a sum near 0"
	}
	return fmt.Sprintf("%.0f ULP", ulp)
}
