package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/clgrad/clgrad/internal/cli"
	"github.com/clgrad/clgrad/onnx"
)

// openSizes returns the names of the sizes that the inputs of a model leave open, those of --dim too.
func openSizes(m *onnx.Model) []string {
	var names []string
	shapes := m.Shapes(nil)
	for _, i := range m.Inputs() {
		k, _ := shapes.Value(i.Name)
		for _, d := range k.Dims {
			if _, number := d.Number(); !number && !slices.Contains(names, d.String()) {
				names = append(names, d.String())
			}
		}
	}
	return names
}

// checkDims returns an error for a size of --dim that is none, or that is no name of the model.
func (f *onnxFlags) checkDims(m *onnx.Model) error {
	known := openSizes(m)
	for _, i := range m.Inputs() {
		known = append(known, i.Dims...) // "?", which is several
	}
	for _, name := range slices.Sorted(maps.Keys(f.dims)) {
		switch {
		case f.dims[name] < 0:
			return cli.Usage(fmt.Errorf("--dim %s=%d is no size", name, f.dims[name]))
		case !slices.Contains(known, name):
			return cli.Usage(fmt.Errorf("--dim %s: the model leaves no such size open: it has %s", name,
				strings.Join(openSizes(m), ", ")))
		}
	}
	return nil
}

// outputsOf returns the outputs with what shapes say of them, and else what the file does.
func outputsOf(m *onnx.Model, shapes *onnx.Shapes) []onnx.Info {
	list := m.Outputs()
	for i, o := range list {
		if k, ok := shapes.Value(o.Name); ok && k.Dims != nil && k.Type != "" {
			list[i] = k.Info(o.Name)
		}
	}
	return list
}

// printTotals prints operations and memory where sizes are known.
func printTotals(row func(name string, values ...string), m *onnx.Model, shapes *onnx.Shapes) {
	flops, unknown := shapes.FLOPs()
	if unknown == len(shapes.Nodes) && unknown > 0 || flops == 0 && unknown > 0 {
		if names := openSizes(m); len(names) > 0 {
			row("FLOPs", fmt.Sprintf("by the sizes that are open: --dim %s=N", strings.Join(names, "=N --dim ")))
		}
		return
	}
	line := fmt.Sprintf("%s by the shapes, of the nodes as the file has them", prefixed(flops, ""))
	if unknown > 0 {
		line += fmt.Sprintf("; of %d nodes they are not known", unknown)
	}
	row("FLOPs", line)
	weights, values, unknown := shapes.Memory()
	line = fmt.Sprintf("%s of weights, at most %s of values between nodes at once", prefixed(float64(weights), "B"),
		prefixed(float64(values), "B"))
	if unknown > 0 {
		line += fmt.Sprintf("; %d values are left out, whose sizes are not known", unknown)
	}
	row("memory", line)
}

// printNodes prints a table of nodes.
func printNodes(w io.Writer, shapes *onnx.Shapes) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\nFLOPs\toperator\tnode\toutputs\n")
	for _, n := range shapes.Nodes {
		flops := "?"
		if !math.IsNaN(n.FLOPs) {
			flops = prefixed(n.FLOPs, "")
		}
		var outputs []string
		for _, name := range n.Outputs {
			if k, ok := shapes.Value(name); ok {
				outputs = append(outputs, k.Info(name).String())
			}
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", flops, n.Operator, n.Name, strings.Join(outputs, "  "))
	}
	return t.Flush()
}
