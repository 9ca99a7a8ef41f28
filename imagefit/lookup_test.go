package imagefit

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/replay/fusion"
	"github.com/clgrad/clgrad/tensor"
)

// TestFeaturesLookedUp: a fused step on matrix units looks the features of drawn pixels up, with
// the bits of those that are computed.
func TestFeaturesLookedUp(t *testing.T) {
	for _, sel := range devtest.Selected() {
		for _, grouped := range []bool{false, true} {
			if sel != "cpu" && !grouped && !devtest.Sweep() {
				continue // TestGPUKernels has that kernel
			}
			t.Run(fmt.Sprint(sel, " ", grouped), func(t *testing.T) {
				d := devtest.Open(t, sel, devtest.GPUKernels(tensor.Options{Precision: tensor.PrecisionFloat16}))
				tensorapi.Impl.AsMatrixUnits(d, grouped)
				cfg := Defaults()
				cfg.Batch = 64*d.Target().Units + 33
				launches := 3
				if d.Target().CPU && !grouped { // weights are packed by one of their own
					launches++
				}
				got, bytes := trainedBy(t, d, cfg, launches)
				t.Setenv(replay.Env, "-lookup")
				want, before := trainedBy(t, d, cfg, launches)
				if !slices.Equal(got, want) {
					t.Error("the weights differ from those of features that are computed")
				}
				if bytes >= before {
					t.Errorf("%d bytes are planned, and %d with features that are computed", bytes, before)
				}
			})
		}
	}
}

// TestFeaturesNotLookedUp: features that something else needs, or of a picture that has many columns
// and rows, are computed.
func TestFeaturesNotLookedUp(t *testing.T) {
	for name, c := range map[string]struct {
		width int
		more  func(x *tensor.Tensor) *tensor.Tensor // that the step returns
		want  error
	}{
		"a batch":        {16, nil, nil},
		"a wide picture": {4000, nil, fusion.ErrWorth},
		"an output":      {16, func(x *tensor.Tensor) *tensor.Tensor { return x }, fusion.ErrIntermediate},
		"read by others": {16, func(x *tensor.Tensor) *tensor.Tensor { return x.Sum() }, fusion.ErrIntermediate},
		"read in part": {16, func(x *tensor.Tensor) *tensor.Tensor { return x.Slice(0, 0, 3).Sum() },
			fusion.ErrIntermediate},
	} {
		t.Run(name, func(t *testing.T) {
			d := devtest.Open(t, "cpu", tensor.Options{Precision: tensor.PrecisionFloat16})
			tensorapi.Impl.AsMatrixUnits(d, true)
			cfg := Defaults()
			cfg.Batch, cfg.Eager = 64*d.Target().Units+33, true
			f, err := New(d, smooth(c.width, 8), cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Free()
			rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
				var outputs []*tensor.Tensor
				x, target := f.sample()
				if c.more != nil {
					outputs = append(outputs, c.more(x.Value()))
				}
				err := f.Model.net.Forward(x).SquaredError(target).Backward()
				for _, o := range f.opts {
					err = errors.Join(err, o.Step())
					o.ZeroGrad()
				}
				return outputs, err
			})
			if err != nil {
				t.Fatal(err)
			}
			defer rec.Free()
			r := rec.Report()
			if done := c.want == nil; !errors.Is(r.NotFused, c.want) || (r.FusedSteps == 2) != done || (r.Hoisted == 1) != done {
				t.Errorf("%d are fused, %d launches done once: %v", r.FusedSteps, r.Hoisted, r.NotFused)
			}
			if err := rec.Run(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
