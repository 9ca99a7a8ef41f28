package hashgrid_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/hashgrid"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestRecorded: a recorded step of a network on a grid is four launches on GPUs, and leaves the
// bits of a recording without those rewrites that let the kernels of this package be one with
// others.
func TestRecorded(t *testing.T) {
	levels := []hashgrid.Level{{Across: 4, Down: 4, Entries: 36}, {Across: 30, Down: 20, Entries: 64}}
	train := func(t *testing.T, d tensor.Device, without ...string) (state string, launches int) {
		rng := tensor.NewRNG(5)
		image := rng.Uniform(d, 0, 1, 9*7, 3)
		g := hashgrid.New(d, levels, 4)
		defer g.Free()
		table := autograd.Param(rng.Uniform(d, -1, 1, g.Entries, 4), "table")
		net := nn.NewMLP(d, rng, nn.MLPConfig{Sizes: []int{8, 16, 16, 3}, Activations: []nn.Activation{nn.LeakyReLU(0.1)}, NoOutputBias: true})
		rate := optim.Constant(0.01)
		opts := []*optim.AdamW{optim.NewAdamW(nn.Params(net), optim.AdamWDefaults(rate)), optim.NewAdamW([]*autograd.Node{table}, optim.AdamWDefaults(rate))}
		draws := tensor.NewRNG(6)
		rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
			features, _, colours := g.EncodeDrawn(table, image, draws, 100, 9, 7)
			loss := net.Forward(features).SquaredError(autograd.Const(colours))
			if err := loss.Backward(); err != nil {
				return nil, err
			}
			for _, o := range opts {
				if err := o.Step(); err != nil {
					return nil, err
				}
				o.ZeroGrad()
			}
			return []*tensor.Tensor{loss.Value()}, nil
		}, replay.Options{Without: without})
		if err != nil {
			t.Fatal(err)
		}
		defer rec.Free()
		for range 4 {
			if err := rec.Run(); err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range append(nn.Params(net), table) {
			v, err := p.Value().Float64s()
			if err != nil {
				t.Fatal(err)
			}
			state += fmt.Sprint(v)
		}
		return state, rec.Report().Launches
	}
	check := func(t *testing.T, d tensor.Device) {
		want, apart := train(t, d, "horizontal-fusion", "epilogue")
		got, launches := train(t, d)
		if got != want {
			t.Errorf("replays leave\n%.300s\nwant\n%.300s", got, want)
		}
		if most := 4; !d.Target().CPU && (launches != most || apart != most+2) {
			t.Errorf("%d launches, and %d apart: there are to be %d and %d", launches, apart, most, most+2)
		}
	}
	devtest.Each(t, false, check)
	for _, sel := range devtest.Selected() {
		if sel != "cpu" {
			t.Run(sel+"/gpu kernels", func(t *testing.T) { check(t, devtest.Open(t, sel, devtest.GPUKernels())) })
			t.Run(sel+"/checked", func(t *testing.T) { check(t, devtest.Open(t, sel, devtest.GPUKernels(tensor.Options{Check: true}))) })
		}
	}
}

// TestTwoGrids: the scatters of two grids are one launch, with the bits of each.
func TestTwoGrids(t *testing.T) {
	train := func(t *testing.T, d tensor.Device, without ...string) string {
		rng := tensor.NewRNG(5)
		at := autograd.Const(rng.Uniform(d, 0, 1, 90, 2))
		var tables []*autograd.Node
		var grids []*hashgrid.Grid
		for range 2 {
			g := hashgrid.New(d, []hashgrid.Level{{Across: 4, Down: 4, Entries: 36}, {Across: 30, Down: 20, Entries: 64}}, 2)
			defer g.Free()
			grids = append(grids, g)
			tables = append(tables, autograd.Param(rng.Uniform(d, -1, 1, g.Entries, 2), fmt.Sprint("table", len(grids))))
		}
		opt := optim.NewAdamW(tables, optim.AdamWDefaults(optim.Constant(0.01)))
		rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
			loss := grids[0].Encode(tables[0], at).Mul(grids[1].Encode(tables[1], at)).Sum()
			if err := loss.Backward(); err != nil {
				return nil, err
			}
			err := opt.Step()
			opt.ZeroGrad()
			return nil, err
		}, replay.Options{Without: without})
		if err != nil {
			t.Fatal(err)
		}
		defer rec.Free()
		for range 3 {
			if err := rec.Run(); err != nil {
				t.Fatal(err)
			}
		}
		if without == nil && !d.Target().CPU {
			found := false
			for _, l := range rec.Launches() {
				found = found || strings.Count(strings.Join(l.Does, " "), "k_hash_scatter") == 2
			}
			if !found {
				t.Errorf("no launch scatters for both: %+v", rec.Launches())
			}
		}
		var state string
		for _, table := range tables {
			v, err := table.Value().Float64s()
			if err != nil {
				t.Fatal(err)
			}
			state += fmt.Sprint(v)
		}
		return state
	}
	for _, sel := range devtest.Selected() {
		if sel != "cpu" {
			d := devtest.Open(t, sel, devtest.GPUKernels())
			if got, want := train(t, d), train(t, d, "none"); got != want {
				t.Errorf("%s: replays leave\n%.300s\nwant\n%.300s", sel, got, want)
			}
		}
	}
}
