package devices

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/clgrad/clgrad/clrt"
	"github.com/clgrad/clgrad/internal/cli"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/cl"
	"github.com/clgrad/clgrad/tensor"
	"github.com/spf13/cobra"
)

// An OpenCL driver can end the process that it is loaded into: PoCL does where there is no /sys,
// and where it finds no linker. So the program first uses the drivers in a process of its own,
// which runs the hidden command below. It says what it is about to do before it does it, a JSON
// object per line: where the lines end is where the driver failed.

const probeCommand = "probe-opencl"

// probeLine is a line of what a probe prints.
type probeLine struct {
	Doing   string     `json:"doing,omitempty"`   // what comes next, as in "it crashed while it ..."
	Runtime string     `json:"runtime,omitempty"` // the path of the OpenCL library
	Missing string     `json:"missing,omitempty"` // why there is nothing to probe
	Device  *clrt.Info `json:"device,omitempty"`
	Error   string     `json:"error,omitempty"` // why the device cannot be used
	Files   []string   `json:"files,omitempty"` // libraries that are loaded now
	Done    bool       `json:"done,omitempty"`  // the last line
}

// NewProbe returns the hidden command that every program has whose devices this package opens.
func NewProbe() *cobra.Command {
	return &cobra.Command{
		Use:    probeCommand,
		Short:  "Use the OpenCL drivers and say how far it went",
		Hidden: true,
		Args:   cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			signal.Ignore(os.Interrupt) // it is for the program that waits for this one
			noCoreFile()
			limit, err := probeLimit()
			if err != nil {
				return err
			}
			time.AfterFunc(limit+5*time.Second, func() { os.Exit(cli.ExitFailure) }) // nobody may be left to end it
			// A table or a kernel of the user's that cannot be read is no fault of a driver.
			os.Setenv(ops.TuningEnv, filepath.Join(os.TempDir(), "clgrad-no-table"))
			os.Unsetenv(cl.PathEnv)
			e := json.NewEncoder(cmd.OutOrStdout())
			return useOpenCL(func(l probeLine) { _ = e.Encode(l) }) // nobody reads it: nobody needs it
		},
	}
}

// useOpenCL does once with each device what training does all the time.
func useOpenCL(emit func(probeLine)) error {
	began := time.Now()
	emit(probeLine{Doing: "loaded the OpenCL library"})
	runtime, err := clrt.RuntimePath()
	if err != nil {
		emit(probeLine{Missing: cli.Sentence(err), Done: true})
		return nil
	}
	emit(probeLine{Runtime: runtime, Doing: "looked for devices"})
	infos, err := clrt.List()
	if err != nil {
		emit(probeLine{Missing: cli.Sentence(err), Done: true})
		return nil
	}
	for _, info := range infos {
		line := probeLine{Device: &info}
		if info.Compiler {
			emit(probeLine{Doing: "built and ran a kernel on " + info.String()})
			if err := useDevice(info); err != nil {
				line.Error = cli.Sentence(err)
			}
		}
		emit(line)
	}
	emit(probeLine{Files: loadedLibraries(began), Done: true})
	return nil
}

// probeKernel is a program of one kernel: a driver takes longer to build one of ours, which have
// several.
var probeKernel = &kernels.Kernel{Name: "k_probe", Text: `// @depends: common
kernel void k_probe(OUT(Y), int n) {
    const int i = get_global_id(0);
    if (i < n) Y[Y_off + i] = 3 * i;
}`, Params: []kernels.Param{{Name: "Y", Mode: kernels.Out}, {Name: "n", Mode: kernels.IntParam}}, Grid: kernels.GridFromArg(1)}

// useDevice builds a kernel, past the driver's cache, runs it and looks at what it computed.
func useDevice(info clrt.Info) error {
	d, err := tensor.Open(info.ID(), tensor.Options{Rebuild: true, SkipSelfTest: true})
	if err != nil {
		return err
	}
	defer d.Close()
	const n = 100
	y := tensor.Empty(d, n)
	tensor.Launch(d, probeKernel, y.Arg(), kernels.IntArg(n))
	got, err := y.Float64s()
	if err != nil {
		return err
	}
	for i, v := range got {
		if v != float64(3*i) {
			return fmt.Errorf("element %d of the result of a kernel is %v, not %d", i, v, 3*i)
		}
	}
	return nil
}

// loadedLibraries returns the shared libraries that this process has loaded, the driver's among
// them; nil where the system does not say. Files that were written since it began are none of the
// driver's: PoCL compiles a kernel to one, in a cache that may be emptied.
func loadedLibraries(began time.Time) []string {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil
	}
	var list []string
	seen := map[string]bool{}
	for line := range strings.Lines(string(maps)) {
		_, path, ok := strings.Cut(strings.TrimSpace(line), "/")
		path = "/" + path
		if ok && !seen[path] && (strings.HasSuffix(path, ".so") || strings.Contains(path, ".so.")) {
			seen[path] = true
			if stateOf(path).Time.Before(began) {
				list = append(list, path)
			}
		}
	}
	return list
}

// readProbe reads what a probe printed. A driver may print lines of its own.
func readProbe(r io.Reader) []probeLine {
	text, _ := io.ReadAll(r) // of memory
	var list []probeLine
	for line := range strings.Lines(string(text)) {
		var l probeLine
		if json.Unmarshal([]byte(line), &l) == nil {
			list = append(list, l)
		}
	}
	return list
}
