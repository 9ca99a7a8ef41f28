package replay_test

import (
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestHalfRows: a recorded step of operations of rows in 16 bits leaves the bits that it leaves eagerly, and
// no launch converts. Rows are joined with each other and with what is between them.
func TestHalfRows(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		launches := map[tensor.Type]int{}
		types := []tensor.Type{tensor.Float32, tensor.BFloat16, tensor.Float16}
		if tensorapi.Impl.TuningName(d) != "" { // an OpenCL device builds kernels for each
			types = types[:2]
		}
		for _, typ := range types {
			rng := tensor.NewRNG(3)
			x := autograd.Param(rng.Normal(d, 0, 1, 37, 50).To(typ), "x")
			w, b := autograd.Param(rng.Normal(d, 1, 0.1, 50).To(typ), "w"), autograd.Param(rng.Normal(d, 0, 1, 50).To(typ), "b")
			labels := rng.Ints(d, 50, 37).Retain()
			params := []*autograd.Node{x, w, b}
			step := func() ([]*tensor.Tensor, error) {
				h := x.Tanh().LayerNorm(-1, w, b, 1e-5)
				h = h.Mul(h.GELU().Softmax(-1)).Add(x)
				loss := autograd.CrossEntropy(h.RMSNorm(-1, w, 1e-5).MulScalar(3), labels).Add(h.LogSoftmax(0).Mean())
				grads, err := autograd.Grad(loss, params)
				results := []*tensor.Tensor{loss.Value().Retain()}
				for _, g := range grads {
					results = append(results, g.Value().Retain())
				}
				return results, err
			}
			eager, err := step()
			if err != nil {
				t.Fatal(err)
			}
			rec, err := replay.Record(d, step)
			if err != nil {
				t.Fatal(err)
			}
			if err := rec.Run(); err != nil {
				t.Fatal(err)
			}
			for i, y := range rec.Outputs() {
				if got, want := devtest.Float64s(t, y), devtest.Float64s(t, eager[i]); y.Type() != typ || !slices.Equal(got, want) {
					t.Errorf("%v: result %d, of %v, is %v, eagerly %v", typ, i, y.Type(), got[0], want[0])
				}
			}
			launches[typ] = len(rec.Launches())
			for _, l := range rec.Launches() {
				if typ != tensor.Float32 && slices.Contains(l.Does, "k_copy") {
					t.Errorf("%v: a conversion is left: %v", typ, l)
				}
			}
			rec.Free()
		}
		for typ, n := range launches { // sums of 16 bits are launches of their own
			if most := launches[tensor.Float32] + 3; n > most {
				t.Errorf("%d launches in %v, at most %d", n, typ, most)
			}
		}
	})
}

// TestHalfProducts: a recorded step of products in 16 bits, also of sums that a launch adds up in several runs, leaves
// the bits that it leaves eagerly, on a CPU in no more launches than in float32.
func TestHalfProducts(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		launches := map[tensor.Type]int{}
		for _, typ := range []tensor.Type{tensor.Float32, tensor.BFloat16} {
			rng := tensor.NewRNG(3)
			draw := func(shape ...int) *tensor.Tensor { return rng.Normal(d, 0, 0.1, shape...).To(typ) }
			x, w, b := autograd.Param(draw(37, 300), "x"), autograd.Param(draw(300, 50), "w"), autograd.Param(draw(50), "b")
			v := autograd.Param(draw(2, 50, 24), "v")
			step := func() ([]*tensor.Tensor, error) {
				h := x.MatMul(w).Add(b).Tanh()
				loss := h.MatMul(v).Square().Mean()
				grads, err := autograd.Grad(loss, []*autograd.Node{x, w, b, v})
				results := []*tensor.Tensor{loss.Value().Retain()}
				for _, g := range grads {
					results = append(results, g.Value().Retain())
				}
				return results, err
			}
			eager, err := step()
			if err != nil {
				t.Fatal(err)
			}
			rec, err := replay.Record(d, step)
			if err != nil {
				t.Fatal(err)
			}
			if err := rec.Run(); err != nil {
				t.Fatal(err)
			}
			for i, y := range rec.Outputs() {
				if !slices.Equal(devtest.Float64s(t, y), devtest.Float64s(t, eager[i])) || y.Type() != typ {
					t.Errorf("%v: result %d, of %v, differs from the eager one", typ, i, y.Type())
				}
			}
			launches[typ] = len(rec.Launches())
			rec.Free()
		}
		if n, most := launches[tensor.BFloat16], launches[tensor.Float32]; d.Target().CPU && n > most {
			t.Errorf("%d launches in bfloat16, %d in float32", n, most)
		}
	})
}

// TestHalfSumsBatched: sums of tensors of 16 bits over an axis are batched as those of float32 are, and have the bits of
// the eager ones.
func TestHalfSumsBatched(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		launches := map[tensor.Type]int{}
		for _, typ := range []tensor.Type{tensor.Float32, tensor.BFloat16} {
			rng := tensor.NewRNG(3)
			var inputs []*tensor.Tensor
			for i := range 3 {
				inputs = append(inputs, rng.Normal(d, 0, 1, 37, 50+i).To(typ))
			}
			step := func() (sums []*tensor.Tensor, err error) {
				for _, x := range inputs {
					sums = append(sums, x.Sum(0))
				}
				return sums, nil
			}
			eager, err := step()
			if err != nil {
				t.Fatal(err)
			}
			rec, err := replay.Record(d, step)
			if err != nil {
				t.Fatal(err)
			}
			if err := rec.Run(); err != nil {
				t.Fatal(err)
			}
			for i, y := range rec.Outputs() {
				if !slices.Equal(devtest.Float64s(t, y), devtest.Float64s(t, eager[i])) || y.Type() != typ {
					t.Errorf("%v: sum %d differs from the eager one", typ, i)
				}
			}
			launches[typ] = len(rec.Launches())
			rec.Free()
		}
		if n, want := launches[tensor.BFloat16], launches[tensor.Float32]; n != want {
			t.Errorf("%d launches in bfloat16, %d in float32", n, want)
		}
	})
}

// TestHalfExtremes: a step with the gradient of running maxima in 16 bits, whose sums lie in a temporary of the launch,
// is recorded, and leaves the bits that it leaves eagerly.
func TestHalfExtremes(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := autograd.Param(tensor.NewRNG(3).Normal(d, 0, 1, 3, 6, 4).To(tensor.BFloat16), "x")
		step := func() ([]*tensor.Tensor, error) {
			y, _ := x.CumMax(1)
			grads, err := autograd.Grad(y.Square().Sum(), []*autograd.Node{x})
			if err != nil {
				return nil, err
			}
			return []*tensor.Tensor{grads[0].Value().Retain()}, nil
		}
		eager, err := step()
		if err != nil {
			t.Fatal(err)
		}
		rec, err := replay.Record(d, step)
		if err != nil {
			t.Fatal(err)
		}
		if err := rec.Run(); err != nil {
			t.Fatal(err)
		}
		if got, want := devtest.Float64s(t, rec.Outputs()[0]), devtest.Float64s(t, eager[0]); !slices.Equal(got, want) {
			t.Errorf("the gradient is %v, eagerly %v", got, want)
		}
	})
}
