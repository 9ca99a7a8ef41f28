package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/clgrad/clgrad/internal/cli"
	"github.com/clgrad/clgrad/internal/devices"
	"github.com/clgrad/clgrad/internal/terminal"
	"github.com/clgrad/clgrad/onnx"
	"github.com/clgrad/clgrad/tensor"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// opened opens a model and the device of the flags, and loads the one on the other.
func opened(path string, device *devices.Flags, stderr io.Writer, options onnx.Options) (tensor.Device, *onnx.Model, *onnx.Session, error) {
	m, err := onnx.Open(path)
	if err != nil {
		return nil, nil, nil, err
	}
	d, err := device.Open(stderr)
	if err != nil {
		return nil, nil, nil, err
	}
	done := waiting(stderr, "loading "+filepath.Base(path))
	s, err := m.Load(d, options)
	done()
	if err != nil {
		d.Close()
		return nil, nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, m, s, nil
}

// registerDouble adds the flag of commands that compute.
func registerDouble(fs *pflag.FlagSet, device *devices.Flags) {
	fs.BoolVar(&device.Double, "double", false, "compute in double what the model has in float")
}

// waitingAfter is how long a person waits before hearing what for.
const waitingAfter = time.Second

// waiting shows on a terminal what takes so long, and how long already, in a line that goes when done is called.
func waiting(w io.Writer, what string) (done func()) {
	if !terminal.Is(w) {
		return func() {}
	}
	return waitingOn(w, what, waitingAfter)
}

func waitingOn(w io.Writer, what string, after time.Duration) (done func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		start, tick := time.Now(), time.NewTicker(after)
		defer tick.Stop()
		for {
			select {
			case <-end:
				if time.Since(start) >= after {
					fmt.Fprint(w, "\r\x1b[K")
				}
				return
			case <-tick.C:
				fmt.Fprintf(w, "\r\x1b[K%s: %.0f s", what, time.Since(start).Seconds())
			}
		}
	}()
	return func() {
		close(end)
		<-ended
	}
}

func newONNXRun() *cobra.Command {
	var device devices.Flags
	var flags onnxFlags
	var out string
	cmd := &cobra.Command{
		Use:   "run MODEL.onnx [INPUTS.npz | NAME=FILE]...",
		Short: "Run a model",
		Long:  "run computes the outputs of a model, prints what each is, and writes them all as an npz file.\n\n" + inputFiles,
		Example: `  clgrad onnx run model.onnx inputs.npz -o outputs.npz
  clgrad onnx run model.onnx x=x.npy mask=mask.raw --type mask=uint8
  clgrad onnx run model.onnx picture=photo.jpg --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225`,
		Args: aModel,
		RunE: leavable(func(cmd *cobra.Command, args []string, begun func()) error {
			d, m, s, err := opened(args[0], &device, cmd.ErrOrStderr(), onnx.Options{Eager: true})
			if err != nil {
				return err
			}
			defer d.Close()
			defer s.Close()
			if err := flags.checkDims(m); err != nil {
				return err
			}
			inputs, err := flags.given(d, m, args[1:])
			if err != nil {
				return err
			}
			outputs, err := s.RunNamed(inputs)
			if err != nil {
				return err
			}
			begun()
			if out != "" {
				dict := tensor.Dict{}
				for name, v := range outputs {
					if v.Tensor() == nil {
						return fmt.Errorf("output %s is %v, which an npz file cannot hold", name, v)
					}
					dict[name] = v.Tensor()
				}
				if err := tensor.SaveNPZ(out, dict); err != nil {
					return err
				}
			}
			return printOutputs(cmd.OutOrStdout(), m, outputs)
		}),
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVarP(&out, "out", "o", "", "write the outputs to this npz file")
	flags.register(fs)
	registerDouble(fs, &device)
	device.Register(fs, program)
	return cmd
}

// mostPrinted is how many elements of an output are printed.
const mostPrinted = 8

func printOutputs(w io.Writer, m *onnx.Model, outputs map[string]*onnx.Value) error {
	for _, info := range m.Outputs() {
		v := outputs[info.Name]
		if v.IsStrings() {
			fmt.Fprintf(w, "%s: %v: %q\n", info.Name, v, v.Strings()[:min(len(v.Strings()), mostPrinted)])
			continue
		}
		if v.Tensor() == nil {
			fmt.Fprintf(w, "%s: %v\n", info.Name, v)
			continue
		}
		x, err := v.Tensor().Float64s()
		if err != nil {
			return err
		}
		some := make([]string, 0, mostPrinted)
		for _, e := range x[:min(len(x), mostPrinted)] {
			some = append(some, fmt.Sprintf("%.6g", e))
		}
		if len(x) > mostPrinted {
			some = append(some, "…")
		}
		fmt.Fprintf(w, "%s: %v: %s\n", info.Name, v, strings.Join(some, " "))
	}
	return nil
}

func newONNXBench() *cobra.Command {
	var device devices.Flags
	var flags onnxFlags
	var asJSON, eager, profile bool
	var seconds float64
	cmd := &cobra.Command{
		Use:   "bench MODEL.onnx [INPUTS.npz | NAME=FILE]...",
		Short: "Measure a model",
		Long: `bench measures how long a model takes to load, to answer first, and to answer again: the median of runs for a
time, the fastest and the slowest. Outputs are waited for. Inputs that are not given are made up.

With --profile it also runs the nodes apart, waiting for each, and prints how long operators and nodes take: the shortest
of five runs. Together they take longer than a run that is recorded, which joins them.

` + inputFiles,
		Example: `  clgrad onnx bench model.onnx --dim batch=8
  clgrad onnx bench model.onnx inputs.npz --json`,
		Args: aModel,
		RunE: leavable(func(cmd *cobra.Command, args []string, _ func()) error {
			if !(seconds > 0 && seconds <= 3600) {
				return cli.Usage(fmt.Errorf("--seconds is %v: it must be above 0, at most 3600", seconds))
			}
			start := time.Now()
			d, m, s, err := opened(args[0], &device, cmd.ErrOrStderr(), onnx.Options{Eager: eager})
			if err != nil {
				return err
			}
			defer d.Close()
			defer s.Close()
			loaded := time.Since(start)
			if err := flags.checkDims(m); err != nil {
				return err
			}
			inputs, err := flags.inputs(d, m, args[1:])
			if err != nil {
				return err
			}
			r, err := measure(d, s, inputs, seconds)
			if err != nil {
				return err
			}
			r.Load = ms(loaded)
			if profile {
				var out map[string]*onnx.Value
				if r.Nodes, out, err = traced(s, inputs, profiled); err != nil {
					return err
				}
				freeValues(out)
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(r)
			}
			if _, err = fmt.Fprintf(cmd.OutOrStdout(), "load %.4g ms, first answer %.4g ms, then %.4g ms (%.4g to %.4g, %d runs)\n",
				r.Load, r.First, r.Median, r.Low, r.High, r.Runs); err != nil || !profile {
				return err
			}
			return printProfile(cmd.OutOrStdout(), r.Nodes)
		}),
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	flags.register(fs)
	fs.Float64Var(&seconds, "seconds", 2, "time to measure")
	fs.BoolVar(&eager, "eager", false, "do not record runs")
	fs.BoolVar(&profile, "profile", false, "print, or add to the JSON object, how long each node takes")
	fs.BoolVar(&asJSON, "json", false, "print a JSON object")
	registerDouble(fs, &device)
	device.Register(fs, program)
	return cmd
}

// benchResult is times in milliseconds.
type benchResult struct {
	Load   float64 `json:"load_ms"`
	First  float64 `json:"first_ms"`
	Median float64 `json:"median_ms"`
	Low    float64 `json:"low_ms"`
	High   float64 `json:"high_ms"`
	Runs   int     `json:"runs"`

	Nodes []nodeRow `json:"nodes,omitempty"` // of a profile
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// profiled is how many runs a profile is the best of.
const profiled = 5

// warm is how many runs come before those that are measured: the second is recorded.
const warm = 3

func measure(d tensor.Device, s *onnx.Session, inputs map[string]*onnx.Value, seconds float64) (benchResult, error) {
	var r benchResult
	var times []float64
	run := func() (float64, error) {
		start := time.Now()
		out, err := s.RunNamed(inputs)
		if err == nil {
			err = d.Sync()
		}
		took := ms(time.Since(start))
		for _, v := range out {
			if t := v.Tensor(); t != nil {
				t.Free()
			}
		}
		return took, err
	}
	var err error
	if r.First, err = run(); err != nil {
		return r, err
	}
	for range warm {
		if _, err := run(); err != nil {
			return r, err
		}
	}
	for end := time.Now().Add(time.Duration(seconds * float64(time.Second))); time.Now().Before(end) || len(times) < 3; {
		took, err := run()
		if err != nil {
			return r, err
		}
		times = append(times, took)
	}
	slices.Sort(times)
	r.Median, r.Low, r.High, r.Runs = times[len(times)/2], times[0], times[len(times)-1], len(times)
	return r, nil
}

func newONNXCheck() *cobra.Command {
	var device devices.Flags
	var rtol, atol float64
	cmd := &cobra.Command{
		Use:   "check MODEL.onnx PAIRS.npz",
		Short: "Compare what a model computes with what it should",
		Long: `check runs a model on the arrays in:NAME of an npz file, and compares its outputs with the arrays out:NAME: a
float may differ by ATOL + RTOL·|expected|, an integer may not. It prints the largest difference of each output, and fails if one is too large.`,
		Example: "  clgrad onnx check model.onnx pairs.npz --rtol 1e-3 --atol 1e-4",
		Args:    cli.Exactly("the file of a model", "an npz file of inputs and outputs"),
		RunE: leavable(func(cmd *cobra.Command, args []string, _ func()) error {
			if !(rtol >= 0 && atol >= 0) {
				return cli.Usage(fmt.Errorf("--rtol is %v and --atol %v: they must be 0 or more", rtol, atol))
			}
			d, m, s, err := opened(args[0], &device, cmd.ErrOrStderr(), onnx.Options{})
			if err != nil {
				return err
			}
			defer d.Close()
			defer s.Close()
			pairs, err := tensor.LoadNPZ(d, args[1])
			if err != nil {
				return err
			}
			inputs, err := new(onnxFlags).given(d, m, args[1:])
			if err != nil {
				return err
			}
			names := slices.DeleteFunc(slices.Sorted(maps.Keys(pairs)), func(name string) bool { return !strings.HasPrefix(name, "out:") })
			if len(names) == 0 {
				return fmt.Errorf("%s has no array out:NAME to compare with", args[1])
			}
			outputs := make([]string, len(names))
			for i, name := range names {
				outputs[i] = strings.TrimPrefix(name, "out:")
			}
			// A model is recorded at its second run: what it gives then is compared, too.
			var lines []string
			for range 2 {
				got, err := s.RunNamed(inputs, outputs...)
				if err != nil {
					return err
				}
				lines = lines[:0]
				differ := 0
				for i, name := range names {
					diff, ok, err := compareOutput(got[outputs[i]], pairs[name], rtol, atol)
					if err != nil {
						return fmt.Errorf("output %s: %w", outputs[i], err)
					}
					word := "agrees"
					if !ok {
						word = "differs"
						differ++
					}
					lines = append(lines, fmt.Sprintf("%s: %v: largest difference %.3g: %s", outputs[i], got[outputs[i]], diff, word))
				}
				if differ > 0 {
					fmt.Fprintln(cmd.OutOrStdout(), strings.Join(lines, "\n"))
					return fmt.Errorf("%d of %d outputs differ", differ, len(names))
				}
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), strings.Join(lines, "\n"))
			return err
		}),
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.Float64Var(&rtol, "rtol", 1e-3, "how far a float may be off, relative to what is expected")
	fs.Float64Var(&atol, "atol", 1e-4, "how far a float may be off in any case")
	registerDouble(fs, &device)
	device.Register(fs, program)
	return cmd
}

// compareOutput returns the largest difference of an output to what is expected, and whether all are within the
// tolerances.
func compareOutput(v *onnx.Value, want *tensor.Tensor, rtol, atol float64) (float64, bool, error) {
	got := v.Tensor()
	if got == nil || !slices.Equal(got.Shape(), want.Shape()) {
		return 0, false, fmt.Errorf("it is %v, and expected is %v %v", v, want.Type(), want.Shape())
	}
	if got.Type().Float() != want.Type().Float() {
		return 0, false, fmt.Errorf("it is of %v, and expected is %v", got.Type(), want.Type())
	}
	if !want.Type().Float() {
		rtol, atol = 0, 0
	}
	x, err := got.Float64s()
	if err != nil {
		return 0, false, err
	}
	y, err := want.Float64s()
	if err != nil {
		return 0, false, err
	}
	largest, ok := 0.0, true
	for i := range x {
		if x[i] == y[i] || math.IsNaN(x[i]) && math.IsNaN(y[i]) {
			continue
		}
		diff := math.Abs(x[i] - y[i])
		if math.IsNaN(diff) {
			diff = math.Inf(1)
		}
		largest = max(largest, diff)
		ok = ok && diff <= atol+rtol*math.Abs(y[i])
	}
	return largest, ok, nil
}
