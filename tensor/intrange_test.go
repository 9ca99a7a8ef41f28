package tensor_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestComputedIndices: a step that computes indices is recorded where their range follows from the
// operations that made them, and refused where that reaches outside of the axis or is not known.
func TestComputedIndices(t *testing.T) {
	const n = 10
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		rng := tensor.NewRNG(7)
		x := tensor.Arange(d, 0, n, 1)
		input := devtest.New(d, []int64{1, 2, 3})
		ints := func(bound int) *tensor.Tensor { return rng.Ints(d, bound, 3) }
		full := func(v float64) *tensor.Tensor { return tensor.FullOf(d, tensor.Int64, v, 3) }
		mask := func() *tensor.Tensor { return rng.Uniform(d, 0, 1, 3).GtScalar(0.5) }
		for name, c := range map[string]struct {
			index func() *tensor.Tensor
			ok    bool
		}{
			"sum":                  {func() *tensor.Tensor { return ints(6).Add(ints(5)) }, true},
			"sum past the end":     {func() *tensor.Tensor { return ints(6).Add(ints(6)) }, false},
			"sum of types":         {func() *tensor.Tensor { return ints(6).Add(tensor.ArangeOf(d, tensor.Int64, 0, 3, 1)) }, true},
			"difference":           {func() *tensor.Tensor { return full(9).Sub(ints(10)) }, true},
			"difference below":     {func() *tensor.Tensor { return full(9).Sub(ints(11)) }, false},
			"product":              {func() *tensor.Tensor { return ints(4).Mul(full(3)) }, true},
			"product past":         {func() *tensor.Tensor { return ints(5).Mul(full(3)) }, false},
			"negative product":     {func() *tensor.Tensor { return ints(4).Neg().Mul(full(-3)) }, true},
			"scalars":              {func() *tensor.Tensor { return ints(4).MulScalar(3).AddScalar(2).SubScalar(2) }, true},
			"scalars past":         {func() *tensor.Tensor { return ints(4).MulScalar(3).AddScalar(1) }, false},
			"mirrored":             {func() *tensor.Tensor { return ints(10).RSubScalar(9) }, true},
			"mirrored past":        {func() *tensor.Tensor { return ints(10).RSubScalar(10) }, false},
			"clamped":              {func() *tensor.Tensor { return rng.Normal(d, 0, 9, 3).To(tensor.Int64).Clamp(0, 9) }, true},
			"clamped past":         {func() *tensor.Tensor { return rng.Normal(d, 0, 9, 3).To(tensor.Int64).Clamp(0, 10) }, false},
			"clamped wrong way":    {func() *tensor.Tensor { return ints(99).Clamp(12, 3) }, true},
			"limits":               {func() *tensor.Tensor { return ints(99).SubScalar(50).MaxScalar(0).MinScalar(9) }, true},
			"one limit":            {func() *tensor.Tensor { return ints(99).SubScalar(50).MinScalar(9) }, false},
			"limits in tensors":    {func() *tensor.Tensor { return ints(99).Maximum(full(2)).Minimum(full(9)) }, true},
			"clamped by tensors":   {func() *tensor.Tensor { return ints(99).ClampTensor(full(0), ints(10).To(tensor.Int64)) }, true},
			"remainder":            {func() *tensor.Tensor { return ints(99).SubScalar(50).Remainder(full(10)) }, true},
			"remainder past":       {func() *tensor.Tensor { return ints(99).Remainder(full(11)) }, false},
			"remainder of 0 or so": {func() *tensor.Tensor { return ints(99).Remainder(ints(2)) }, true},
			"negative remainder":   {func() *tensor.Tensor { return ints(99).Remainder(full(-3)) }, false},
			"quotient":             {func() *tensor.Tensor { return ints(100).FloorDivide(full(10)) }, true},
			"quotient past":        {func() *tensor.Tensor { return ints(101).FloorDivide(full(10)) }, false},
			"quotient below":       {func() *tensor.Tensor { return ints(100).SubScalar(1).FloorDivide(full(10)) }, false},
			"quotient by 0 or so":  {func() *tensor.Tensor { return ints(100).FloorDivide(ints(10)) }, false},
			"choice":               {func() *tensor.Tensor { return ints(10).Where(mask(), ints(5)) }, true},
			"choice past":          {func() *tensor.Tensor { return ints(10).Where(mask(), ints(11)) }, false},
			"filled":               {func() *tensor.Tensor { return ints(5).MaskedFill(mask(), 9) }, true},
			"filled past":          {func() *tensor.Tensor { return ints(5).MaskedFill(mask(), 10) }, false},
			"input clamped":        {func() *tensor.Tensor { return input.AddScalar(1).Clamp(0, 9) }, true},
			"input":                {func() *tensor.Tensor { return input.AddScalar(1) }, false},
			"copied input":         {func() *tensor.Tensor { return input.Copy().AddScalar(1) }, false},
			"joined":               {func() *tensor.Tensor { return tensor.Concat(0, ints(10), ints(3)) }, true},
			"joined past":          {func() *tensor.Tensor { return tensor.Concat(0, ints(3), ints(11)) }, false},
			"stacked":              {func() *tensor.Tensor { return tensor.Stack(0, ints(10), ints(3)).Reshape(-1) }, true},
			"taken":                {func() *tensor.Tensor { return tensor.ArangeOf(d, tensor.Int64, 2, 9, 1).IndexSelect(0, ints(7)) }, true},
			"taken past":           {func() *tensor.Tensor { return tensor.ArangeOf(d, tensor.Int64, 2, 11, 1).IndexSelect(0, ints(7)) }, false},
			"gathered":             {func() *tensor.Tensor { return tensor.ArangeOf(d, tensor.Int64, 2, 10, 1).Gather(0, ints(7)) }, true},
			"taken of an input":    {func() *tensor.Tensor { return input.IndexSelect(0, ints(3)) }, false},
			"views":                {func() *tensor.Tensor { return ints(5).Add(ints(5)).Step(0, 2).Expand(4, 2).Reshape(-1) }, true},
			"written":              {func() *tensor.Tensor { return ints(5).IndexFill(0, ints(1), 10) }, false},
			"overflow": {func() *tensor.Tensor {
				return full(math.MaxInt32).To(tensor.Int32).Add(full(math.MaxInt32).To(tensor.Int32)).AddScalar(2)
			}, false},
			"overflow of 64 bits":         {func() *tensor.Tensor { return full(1<<62).MulScalar(4).Clamp(0, 9) }, true},
			"sum of 64 bits overflows":    {func() *tensor.Tensor { return full(1 << 62).Add(full(1 << 62)) }, false},
			"product of 64 bits overflow": {func() *tensor.Tensor { return full(1 << 33).Mul(full(1 << 33)) }, false},
		} {
			t.Run(name, func(t *testing.T) {
				step := func() ([]*tensor.Tensor, error) { return []*tensor.Tensor{x.IndexSelect(0, c.index())}, nil }
				before := rng.Calls
				var rec *replay.Recording
				var err error
				if misuse := tensor.Try(func() { rec, err = replay.Record(d, step) }); misuse != nil {
					err = misuse
				}
				if !c.ok {
					if !errors.Is(err, replay.ErrHostRead) && !errors.Is(err, tensor.ErrIndex) {
						t.Fatalf("err = %v", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				defer rec.Free()
				var got [][]float64
				start := rng.Calls
				for range 4 {
					if err := rec.Run(); err != nil {
						t.Fatal(err)
					}
					got = append(got, devtest.Float64s(t, rec.Outputs()[0]))
				}
				drawn := rng.Calls
				rng.Calls = start
				for i := range got {
					y, _ := step()
					if want := devtest.Float64s(t, y[0]); !slices.Equal(got[i], want) || len(want) == 0 {
						t.Errorf("run %d: %v, the step gives %v", i, got[i], want)
					}
				}
				if drawn != rng.Calls || start == before && drawn != before {
					t.Errorf("the runs drew %d times, the steps %d", drawn-start, rng.Calls-start)
				}
			})
		}
	})
}

// TestScatteredRange: what is scattered into indices of a known range is looked at.
func TestScatteredRange(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x, first := tensor.Arange(d, 0, 3, 1), devtest.New(d, []int64{0})
		for _, typ := range []tensor.Type{tensor.Int32, tensor.Int64} {
			known := tensor.ArangeOf(d, typ, 0, 3, 1)
			for name, index := range map[string]*tensor.Tensor{
				"IndexFill": known.IndexFill(0, first, 100),
				"Scatter":   known.Scatter(0, first, tensor.FullOf(d, typ, 3, 1)),
				"IndexAdd":  known.IndexAdd(0, first, tensor.FullOf(d, typ, -1, 1)),
				"IndexPut":  tensor.ZerosOf(d, typ, 3).IndexPut([]*tensor.Tensor{first}, tensor.FullOf(d, typ, 7, 1)),
			} {
				if err := tensor.Try(func() { x.Gather(0, index) }); !errors.Is(err, tensor.ErrIndex) {
					t.Errorf("%s of %v: err = %v", name, typ, err)
				}
			}
		}
	})
}

// TestChangedIndices: a step that changes its indices in place is recorded where it uses them before, and is
// refused where it uses them after that.
func TestChangedIndices(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := tensor.Arange(d, 0, 4, 1)
		add := func(index *tensor.Tensor, v float64) { index.MapInPlace(fn.AddScalar, []float64{v}) }
		for name, c := range map[string]struct {
			step    func(index *tensor.Tensor) *tensor.Tensor
			refused error
		}{
			"changed": {func(index *tensor.Tensor) *tensor.Tensor {
				add(index, 1)
				return x.Gather(0, index)
			}, replay.ErrHostRead},
			"changed after a copy that is used": {func(index *tensor.Tensor) *tensor.Tensor {
				before := index.Copy()
				add(index, 1)
				return x.Gather(0, before).Add(x.Gather(0, index))
			}, replay.ErrHostRead},
			"copied after the change": {func(index *tensor.Tensor) *tensor.Tensor {
				add(index, 1)
				return x.Gather(0, index.Copy())
			}, replay.ErrHostRead},
			"a copy that reaches outside, of what changed": {func(index *tensor.Tensor) *tensor.Tensor {
				before := index.Copy()
				add(index, -1)
				return x.Slice(0, 0, 1).Gather(0, before)
			}, tensor.ErrIndex},
			"a copy that was found to reach outside": {func(index *tensor.Tensor) *tensor.Tensor {
				before := index.Copy()
				add(index, 1)
				if err := tensor.Try(func() { x.Slice(0, 0, 1).Gather(0, before) }); !errors.Is(err, tensor.ErrIndex) {
					t.Errorf("err = %v", err)
				}
				return x.Gather(0, before.AddScalar(1))
			}, replay.ErrHostRead},
			"changed after its use": {func(index *tensor.Tensor) *tensor.Tensor {
				y := x.Gather(0, index)
				add(index, 1)
				return y
			}, nil},
		} {
			t.Run(name, func(t *testing.T) {
				index := devtest.New(d, []int64{0, 1})
				var rec *replay.Recording
				var err error
				if misuse := tensor.Try(func() {
					rec, err = replay.Record(d, func() ([]*tensor.Tensor, error) { return []*tensor.Tensor{c.step(index)}, nil })
				}); misuse != nil {
					err = misuse
				}
				if !errors.Is(err, c.refused) {
					t.Fatalf("err = %v", err)
				}
				if err != nil {
					return
				}
				defer rec.Free()
				if err := rec.Run(); err != nil { // Record did the step twice, and each time adds 1
					t.Fatal(err)
				}
				if got := devtest.Float64s(t, rec.Outputs()[0]); !slices.Equal(got, []float64{2, 3}) {
					t.Errorf("the first run gives %v", got)
				}
				if err := rec.Run(); !errors.Is(err, tensor.ErrIndex) {
					t.Errorf("the second run: err = %v", err)
				}
			})
		}
	})
}
