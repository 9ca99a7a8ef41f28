package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/clgrad/clgrad/internal/atomicfile"
	"github.com/clgrad/clgrad/internal/bench"
	"github.com/clgrad/clgrad/internal/cli"
	"github.com/clgrad/clgrad/internal/devices"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/internal/regular"
	"github.com/clgrad/clgrad/internal/tensorapi"

	"github.com/spf13/cobra"
)

func newTune() *cobra.Command {
	var device devices.Flags
	var out string
	cmd := &cobra.Command{
		Use:   "tune",
		Short: "Find the fastest matrix products for a device",
		Long: `tune measures every blocking of the matrix products on a device, checks each one's result, and writes
which is the fastest for which size. Programs that use clgrad read that table when they open the device.
Results keep their bits; only the time changes. The table is the file that $` + ops.TuningEnv + ` names, else
clgrad/tuning.json in your configuration folder; delete it to undo this.`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return tune(cmd, out, device) },
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVarP(&out, "output", "o", "", "table to write, keeping what it says of other devices")
	device.Register(fs, program)
	return cmd
}

func tune(cmd *cobra.Command, out string, device devices.Flags) error {
	named := "-o " + out
	switch out {
	case "-":
		return cli.Usage(errors.New("-o -: programs read the table from a file: name one"))
	case "":
		if out = ops.TuningFile(); out == "" {
			return cli.Usage(fmt.Errorf("there is no configuration folder: name the table with -o"))
		}
		named = out
		if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
			return err
		}
	}
	if info, err := os.Stat(out); err == nil && regular.Kind(info.Mode()) != "" {
		return cli.Usage(fmt.Errorf("%s: it is %s: programs read the table from a file: name one", named, regular.Kind(info.Mode())))
	}
	if err := atomicfile.Check(out); err != nil {
		return err
	}
	table, err := ops.ReadTuning(out)
	if err != nil {
		return err
	}
	d, err := device.Open(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	defer d.Close()
	name := tensorapi.Impl.TuningName(d)
	if name == "" {
		return fmt.Errorf("%s is not an OpenCL device: its matrix products have no tiles", d.Name())
	}
	w := cmd.OutOrStdout()
	table[name], err = bench.Tune(cmd.Context(), d, 300*time.Millisecond, func(c ops.GemmChoice) {
		fmt.Fprintf(w, "gemm %s %dx%dx%d: %v, %.1f GFLOP/s (%v: %.1f)\n", c.Form, c.M, c.N, c.K, c.Tile, c.GFLOPS,
			ops.GemmTiles(d.DefaultType(), d.Target())[0], c.Default)
	})
	if err != nil {
		return err
	}
	if err := atomicfile.Write(out, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "\t")
		return e.Encode(table)
	}); err != nil {
		return err
	}
	fmt.Fprintf(w, "wrote %s\n", cli.OneLine(out))
	return nil
}
