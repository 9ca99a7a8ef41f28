//go:build linux

// Benchops times every operation of docs/operations.md, and those on integers of 8 bits, beside PyTorch: forward, and
// forward and backward, at several sizes, on one core and on two. `make bench-ops` runs it.
//
// One table of rows (rows_*.go) drives both sides: a row has the operands, the call in Go and the
// same call in Python. A worker process for each device, and scripts/peers/torch_worker.py, draw
// the operands and time batches of calls when the program asks them to, in turns. Both sides wait
// for the work of a batch. On one core the ratio is of processor time, which another program on
// that core does not lengthen; on several it is of time.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	var o options
	flag.StringVar(&o.ops, "ops", "", "only these operations, separated by commas: of a name like \"TopK\", or of a row like \"TopK line\"")
	flag.StringVar(&o.devices, "devices", "cpu,pocl", "devices of clgrad, separated by commas")
	flag.StringVar(&o.sizes, "sizes", "1e4,1e6,1e7", "about as many elements, separated by commas")
	flag.StringVar(&o.cores, "cores", "1,2", "numbers of cores, separated by commas")
	flag.IntVar(&o.first, "first-core", 0, "the first core to use")
	flag.StringVar(&o.python, "python", "python3", "a Python that has PyTorch")
	flag.DurationVar(&o.batch, "batch", 20*time.Millisecond, "least time of a batch of calls")
	flag.IntVar(&o.rounds, "rounds", 5, "batches of each side; the median counts")
	out := flag.String("o", "", "append a line of JSON for each row to this file")
	show := flag.String("show", "", "measure nothing: print the table of such a file")
	device := flag.String("worker", "", "serve requests on this device (what the program starts itself with)")
	flag.Parse()
	var err error
	switch {
	case *device != "":
		err = work(*device, os.Stdin, os.Stdout)
	case *show != "":
		err = printFile(os.Stdout, *show)
	default:
		err = run(o, *out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchops:", err)
		os.Exit(1)
	}
}

// options are what is measured, and how.
type options struct {
	ops, devices, sizes, cores, python string
	first, rounds                      int
	batch                              time.Duration
}

// table returns all rows.
func table() []row {
	return slices.Concat(elements(), reductions(), shapes(), indices(), products(), bytes(), convolutions(), norms(), losses(), composed(), factorised(), transforms())
}

// chosen returns the rows of the operations that o names.
func (o options) chosen() (rows []row, err error) {
	if o.ops == "" {
		return table(), nil
	}
	for _, name := range strings.Split(o.ops, ",") {
		found := len(rows)
		for _, r := range table() {
			if r.op == name || r.name() == name || strings.HasSuffix(r.op, "."+name) {
				rows = append(rows, r)
			}
		}
		if len(rows) == found {
			return nil, fmt.Errorf("there is no row called %q", name)
		}
	}
	return rows, nil
}

// run measures, notes the results in a file, if it has a name, and prints the table.
func run(o options, file string) error {
	rows, err := o.chosen()
	if err != nil {
		return err
	}
	var sizes []int
	for _, s := range strings.Split(o.sizes, ",") {
		n, err := strconv.ParseFloat(s, 64)
		if err != nil || !(n >= 1000 && n <= 1e8) {
			return fmt.Errorf("-sizes: %q is no number from 1000 to 1e8", s)
		}
		sizes = append(sizes, int(n))
	}
	report := func(result) error { return nil }
	if file != "" {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		defer f.Close()
		report = func(r result) error { return json.NewEncoder(f).Encode(r) }
	}
	var all []result
	for _, s := range strings.Split(o.cores, ",") {
		cores, err := strconv.Atoi(s)
		if err != nil || cores < 1 || cores > 1024 {
			return fmt.Errorf("-cores: %q is no number from 1 to 1024", s)
		}
		err = o.onCores(cores, rows, sizes, func(r result) error {
			all = append(all, r)
			return report(r)
		})
		if err != nil {
			return err
		}
	}
	printTable(os.Stdout, all)
	return nil
}

// onCores measures rows on a number of cores.
func (o options) onCores(cores int, rows []row, sizes []int, report func(result) error) error {
	var list []string
	for i := range cores {
		list = append(list, fmt.Sprint(o.first+i))
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	torch, err := start("PyTorch", list, o.python, "-B", "scripts/peers/torch_worker.py")
	if err != nil {
		return err
	}
	defer torch.end()
	sides := []*process{torch}
	for _, device := range strings.Split(o.devices, ",") {
		p, err := start(device, list, self, "-worker", device)
		if err != nil {
			return err
		}
		defer p.end()
		sides = append(sides, p)
	}
	for _, n := range sizes {
		for _, r := range rows {
			results, err := o.measure(sides, cores, r, n)
			if err != nil {
				return fmt.Errorf("%s: %w", r.name(), err)
			}
			for _, result := range results {
				fmt.Fprintf(os.Stderr, "%s\n", result)
				if err := report(result); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
