package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/clgrad/clgrad/internal/cli"
	"github.com/clgrad/clgrad/onnx"
	_ "github.com/clgrad/clgrad/onnx/imagedecoder"
	"github.com/clgrad/clgrad/tensor"
	"github.com/spf13/cobra"
)

func newONNX() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "onnx",
		Short: "Look at ONNX models, run, measure and check them",
		Long: `onnx looks at a model in a file of the format ONNX, runs it, measures it, compares what it computes with what
another program has, and writes its weights to a file. docs/onnx.md says which operators there are.`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newONNXInfo(), newONNXRun(), newONNXBench(), newONNXCheck(), newONNXWeights())
	return cmd
}

// leavable returns what a command does so that a signal ends it at once, whatever a model has begun, until it calls
// begun: then there is something to write.
func leavable(run func(cmd *cobra.Command, args []string, begun func()) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return cli.OrLeave(cmd.Context(), func(begun func()) error { return run(cmd, args, begun) })
	}
}

func newONNXInfo() *cobra.Command {
	var flags onnxFlags
	var run, values, nodes bool
	cmd := &cobra.Command{
		Use:   "info MODEL.onnx [INPUTS.npz | NAME=FILE]...",
		Short: "Print what a model takes, gives and is made of",
		Long: `info prints the inputs and outputs of a model with their types and shapes, the sets of operators that it
imports, how often it uses each operator, its parameters, and what of it is not there. Shapes follow from the file:
dimensions are numbers, names of sizes that the file leaves open, or expressions of them, such as (width+1)/2, where /
rounds down; ? is what the numbers in tensors decide. With --nodes it prints those of all nodes. Where --dim gives the
open sizes it prints arithmetic operations and memory, of the nodes as the file has them. That needs no device.

With --run it runs the model on the processor: shapes, with --values of all values, operations and memory are those of
one run, of the nodes that rewrites leave, and memory is what a recorded run plans. Inputs that are not given are made
up, with the dimensions of --dim.`,
		Example: `  clgrad onnx info model.onnx
  clgrad onnx info model.onnx --nodes --dim batch=8
  clgrad onnx info model.onnx --run --dim batch=8
  clgrad onnx info model.onnx --values picture=photo.png`,
		Args: aModel,
		RunE: leavable(func(cmd *cobra.Command, args []string, _ func()) error {
			run = run || values
			if !run && len(args) > 1 {
				return cli.Usage(fmt.Errorf("inputs are for a run: add --run"))
			}
			m, err := onnx.Open(args[0])
			if err != nil {
				return err
			}
			if err := flags.checkDims(m); err != nil {
				return err
			}
			if err := printInfo(cmd.OutOrStdout(), m, flags.dims, nodes); err != nil || !run {
				return err
			}
			d, err := tensor.Open("cpu")
			if err != nil {
				return err
			}
			defer d.Close()
			return printRun(cmd.OutOrStdout(), d, m, func() (map[string]*onnx.Value, error) { return flags.inputs(d, m, args[1:]) }, values)
		}),
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.BoolVar(&nodes, "nodes", false, "print the nodes with the shapes of what they make")
	fs.BoolVar(&run, "run", false, "run the model once")
	fs.BoolVar(&values, "values", false, "print every value that a run makes, too")
	flags.register(fs)
	return cmd
}

func printInfo(w io.Writer, m *onnx.Model, sizes map[string]int, nodes bool) error {
	shapes := m.Shapes(sizes)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name string, values ...string) {
		for _, v := range values {
			fmt.Fprintf(t, "%s\t%s\n", name, v)
			name = ""
		}
	}
	infos := func(list []onnx.Info) []string {
		var s []string
		for _, i := range list {
			s = append(s, i.String())
		}
		return s
	}
	if p := m.Producer(); p != "" {
		row("producer", p)
	}
	var opsets []string
	for _, o := range m.Opsets() {
		opsets = append(opsets, fmt.Sprintf("%s %d", cmp.Or(o.Domain, "ai.onnx"), o.Version))
	}
	row("opsets", strings.Join(opsets, ", "))
	row("inputs", infos(m.Inputs())...)
	row("outputs", infos(outputsOf(m, shapes))...)
	row("parameters", fmt.Sprint(m.Parameters()))
	count := m.Operators()
	names := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(count[b]-count[a], strings.Compare(a, b))
	})
	ops := make([]string, len(names))
	for i, name := range names {
		ops[i] = fmt.Sprintf("%5d  %s", count[name], name)
	}
	row("operators", ops...)
	props := m.Metadata()
	for _, key := range slices.Sorted(maps.Keys(props)) {
		row("property "+key, cli.OneLine(props[key]))
	}
	if missing := m.Missing(); len(missing) > 0 {
		row("missing", missing...)
	} else {
		row("missing", "nothing")
	}
	printTotals(row, m, shapes)
	if err := t.Flush(); err != nil || !nodes {
		return err
	}
	return printNodes(w, shapes)
}

func newONNXWeights() *cobra.Command {
	return &cobra.Command{
		Use:   "export-weights MODEL.onnx OUT.safetensors",
		Short: "Write the weights of a model as safetensors",
		Long: `export-weights writes the initializers of a model by their names and in their types to a file of the format
safetensors. Constants of several floats are initializers, too. The file is complete or not there.`,
		Example: "  clgrad onnx export-weights model.onnx model.safetensors",
		Args:    cli.Exactly("the file of a model", "the file to write"),
		RunE: leavable(func(cmd *cobra.Command, args []string, begun func()) error {
			m, err := onnx.Open(args[0])
			if err != nil {
				return err
			}
			d, err := tensor.Open("cpu")
			if err != nil {
				return err
			}
			defer d.Close()
			weights, err := m.Weights(d)
			if err != nil {
				return err
			}
			begun()
			return tensor.SaveSafetensors(args[1], weights)
		}),
	}
}
