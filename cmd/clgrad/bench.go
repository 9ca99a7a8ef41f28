package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/clgrad/clgrad/internal/bench"
	"github.com/clgrad/clgrad/internal/cli"
	"github.com/clgrad/clgrad/internal/devices"
	"github.com/clgrad/clgrad/tensor"
	"github.com/spf13/cobra"
)

func newBench() *cobra.Command {
	var device devices.Flags
	var asJSON bool
	var only, typ string
	var seconds float64
	var launches int
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure a device",
		Long: `bench measures what a launch costs, element-wise functions, matrix products, steps of small networks,
structured operations forward and backward (on a GPU recorded, so that it is the device's time),
training steps of three convolutional nets, a perceptron and two transformers, those of mlpimage, the same
recorded, and rendering: the median of several runs, the fastest and the slowest, and, where the
program can measure the device's peak, the share of it. Of matrix products it also measures the errors, against
float64. Calls are launched one after the other, and
waited for at the end of a run. What a launch costs the host is measured until the call returns,
on an idle device; cpu computes meanwhile.`,
		Example: `  clgrad bench
  clgrad bench --device cpu --only launch,step
  clgrad bench --type bfloat16
  clgrad bench --only nets --launches 10
  clgrad bench --json > here.jsonl`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			groups := bench.Groups
			if typ != "" {
				groups = bench.Typed
			}
			if only != "" {
				groups = strings.Split(only, ",")
			}
			operands, err := operandType(typ, groups)
			if err != nil {
				return cli.Usage(fmt.Errorf("--type %s: %w", typ, err))
			}
			if !(seconds > 0 && seconds <= 3600) {
				return cli.Usage(fmt.Errorf("--seconds is %v: it must be above 0, at most 3600", seconds))
			}
			if launches < 0 {
				return cli.Usage(fmt.Errorf("--launches is %d: it must be 0 or more", launches))
			}
			if err := bench.Check(groups); err != nil {
				return cli.Usage(fmt.Errorf("--only: %w", err))
			}
			d, err := device.Open(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			defer d.Close()
			w := cmd.OutOrStdout()
			if !asJSON {
				fmt.Fprintf(w, "%-36s %12s  %-8s %12s %12s %5s %6s\n", "", "median", "", "low", "high", "runs", "peak")
			}
			if typ == "" {
				operands = d.DefaultType()
			}
			if !d.Supports(operands) {
				return fmt.Errorf("%s has no %v", d.Name(), operands)
			}
			s := &bench.Suite{Device: d, Type: operands, Launches: launches, Budget: time.Duration(seconds * float64(time.Second)), Report: func(r bench.Result) {
				if asJSON {
					line, _ := json.Marshal(r) // a struct of strings and finite numbers
					fmt.Fprintf(w, "%s\n", line)
					return
				}
				share := ""
				if r.Share > 0 {
					share = fmt.Sprintf("%.0f%%", 100*r.Share)
				}
				fmt.Fprintf(w, "%-36s %12.4g  %-8s %12.4g %12.4g %5d %6s\n", r.Name, r.Median, r.Unit, r.Low, r.High, r.Runs, share)
			}}
			return s.Run(cmd.Context(), groups)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&only, "only", "", "measure only these, separated by commas: "+strings.Join(bench.Groups, ", "))
	fs.StringVar(&typ, "type", "",
		"float32, float64, float16 or bfloat16: what "+strings.Join(bench.Typed, ", ")+" compute in, of 16 bits in mixed precision")
	fs.Float64Var(&seconds, "seconds", 1, "time for each measurement; long ones still run three times")
	fs.IntVar(&launches, "launches", 0, "of each net, list so many of the slowest launches of the recorded step, by layer and operation")
	fs.BoolVar(&asJSON, "json", false, "print a JSON object per line")
	device.Register(fs, program)
	return cmd
}

// operandType returns the type of a name, the zero one of "". The error says that there is none, or
// that a group does not measure it.
func operandType(name string, groups []string) (tensor.Type, error) {
	if name == "" {
		return 0, nil
	}
	for _, typ := range []tensor.Type{tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16} {
		if typ.String() != name {
			continue
		}
		for _, g := range groups {
			if !slices.Contains(bench.Typed, g) {
				return 0, fmt.Errorf("%s is not measured by type: %s are", g, strings.Join(bench.Typed, ", "))
			}
		}
		return typ, nil
	}
	return 0, errors.New("it must be float32, float64, float16 or bfloat16")
}
