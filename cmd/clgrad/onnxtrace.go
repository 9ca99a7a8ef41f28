package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/clgrad/clgrad/onnx"
	"github.com/clgrad/clgrad/tensor"
)

// nodeRow is what a node of a model did, the best of several runs.
type nodeRow struct {
	Name    string  `json:"name"`
	Op      string  `json:"op"`
	Outputs string  `json:"outputs"` // "y: float32 [1 10]"
	Time    float64 `json:"ms"`
	FLOPs   float64 `json:"flops"`
}

// traced runs a model so often, and returns its nodes in their order, each with its shortest time. It returns the
// outputs of the last run, too.
func traced(s *onnx.Session, inputs map[string]*onnx.Value, runs int) (rows []nodeRow, outputs map[string]*onnx.Value, err error) {
	defer s.SetTrace(nil)
	for range runs {
		at := 0
		s.SetTrace(func(t onnx.NodeTrace) {
			row := nodeRow{Name: t.Name, Op: t.Op, Time: ms(t.Took), FLOPs: t.FLOPs}
			var list []string
			for i, v := range t.Outputs {
				if v != nil && i < len(t.OutputNames) && t.OutputNames[i] != "" {
					list = append(list, fmt.Sprintf("%s: %v", t.OutputNames[i], v))
				}
			}
			row.Outputs = strings.Join(list, ", ")
			if at >= len(rows) { // of the first run, or a loop goes further
				rows = append(rows, row)
			}
			rows[at].Time = min(rows[at].Time, row.Time)
			at++
		})
		freeValues(outputs)
		if outputs, err = s.RunNamed(inputs); err != nil {
			return nil, nil, err
		}
	}
	return rows, outputs, nil
}

func freeValues(values map[string]*onnx.Value) {
	for _, v := range values {
		v.Free()
	}
}

// operatorRow is the nodes of an operator together.
type operatorRow struct {
	op          string
	count       int
	time, flops float64
}

func byOperator(rows []nodeRow) []operatorRow {
	all := map[string]*operatorRow{}
	for _, r := range rows {
		o := all[r.Op]
		if o == nil {
			o = &operatorRow{op: r.Op}
			all[r.Op] = o
		}
		o.count++
		o.time += r.Time
		o.flops += r.FLOPs
	}
	list := make([]operatorRow, 0, len(all))
	for _, o := range all {
		list = append(list, *o)
	}
	slices.SortFunc(list, func(a, b operatorRow) int { return strings.Compare(a.op, b.op) })
	return list
}

// mostNodes is how many nodes of a profile are printed.
const mostNodes = 20

// printProfile prints the operators and the nodes that take longest.
func printProfile(w io.Writer, rows []nodeRow) error {
	total := 0.0
	for _, r := range rows {
		total += r.Time
	}
	share := func(t float64) string { return fmt.Sprintf("%.1f %%", 100*t/max(total, 1e-9)) }
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "\n%d nodes, run apart, %.4g ms\n", len(rows), total)
	fmt.Fprintf(t, "ms\tshare\tFLOP/s\tnodes\t  operator\n")
	ops := byOperator(rows)
	slices.SortStableFunc(ops, func(a, b operatorRow) int { return cmp.Compare(b.time, a.time) })
	for _, o := range ops {
		fmt.Fprintf(t, "%.4g\t%s\t%s\t%d\t  %s\n", o.time, share(o.time), prefixed(o.flops/max(o.time, 1e-9)*1e3, ""), o.count, o.op)
	}
	fmt.Fprintf(t, "\nms\tshare\tFLOP/s\t\t  node\n")
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b nodeRow) int { return cmp.Compare(b.Time, a.Time) })
	for _, r := range rows[:min(len(rows), mostNodes)] {
		fmt.Fprintf(t, "%.4g\t%s\t%s\t\t  %s %s → %s\n", r.Time, share(r.Time), prefixed(r.FLOPs/max(r.Time, 1e-9)*1e3, ""), r.Op, r.Name, r.Outputs)
	}
	return t.Flush()
}

// prefixed returns a number of a unit with three digits: "4.12 GB".
func prefixed(x float64, unit string) string {
	units := []string{"", "k", "M", "G", "T", "P"}
	i := 0
	for ; x >= 999.5 && i < len(units)-1; i++ {
		x /= 1000
	}
	return strings.TrimSpace(fmt.Sprintf("%.3g %s%s", x, units[i], unit))
}

// printRun runs a model on the Go device and prints what only a run tells: shapes, operations and memory.
func printRun(w io.Writer, d tensor.Device, m *onnx.Model, inputs func() (map[string]*onnx.Value, error), all bool) error {
	s, err := m.Load(d)
	if err != nil {
		return err
	}
	defer s.Close()
	weights := d.Stats().LiveBytes
	in, err := inputs()
	if err != nil {
		return err
	}
	start := time.Now()
	rows, out, err := traced(s, in, 1)
	if err != nil {
		return fmt.Errorf("it does not run on these inputs, of which those that no file gives are made up, with the sizes of --dim: %w", err)
	}
	took := time.Since(start)
	defer freeValues(out)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\nrun once on %s in %.3g s\n", d.Name(), took.Seconds())
	list := func(name string, values map[string]*onnx.Value) {
		for _, key := range slices.Sorted(maps.Keys(values)) {
			fmt.Fprintf(t, "%s\t%s: %v\n", name, key, values[key])
			name = ""
		}
	}
	list("inputs", in)
	list("outputs", out)
	if all {
		name := "values"
		for _, r := range rows {
			fmt.Fprintf(t, "%s\t%s  of %s, %s\n", name, r.Outputs, r.Op, prefixed(r.FLOPs, "FLOPs"))
			name = ""
		}
	}
	total := 0.0
	ops := byOperator(rows)
	slices.SortStableFunc(ops, func(a, b operatorRow) int { return cmp.Compare(b.flops, a.flops) })
	for _, o := range ops {
		total += o.flops
	}
	fmt.Fprintf(t, "FLOPs\t%s by the shapes, of the %d nodes that passes leave\n", prefixed(total, ""), len(rows))
	for _, o := range ops {
		if o.flops > 0 {
			fmt.Fprintf(t, "\t%5.1f %%  %5d  %s\n", 100*o.flops/max(total, 1), o.count, o.op)
		}
	}
	fmt.Fprintf(t, "memory\t%s of weights on the device; small ones are on the host\n", prefixed(float64(weights), "B"))
	for range 3 { // the second is recorded
		again, err := s.RunNamed(in)
		if err != nil {
			return err
		}
		freeValues(again)
	}
	if reports := s.Reports(); len(reports) > 0 {
		r := reports[0]
		fmt.Fprintf(t, "\t%s planned for what a recorded run makes, %s of constants; at most %s where it is not recorded\n",
			prefixed(float64(r.PlannedBytes), "B"), prefixed(float64(r.ConstantBytes), "B"), prefixed(float64(r.EagerBytes), "B"))
	} else {
		fmt.Fprintf(t, "\t%s at most in a run, which is not recorded: the host reads what the device computes\n",
			prefixed(float64(d.Stats().PeakBytes-weights), "B"))
	}
	return t.Flush()
}
