package tensor_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// productOf is the reference: NumPy's matmul of two arrays.
func productOf(a, b array) array {
	sa, sb := slices.Clone(a.shape), slices.Clone(b.shape)
	if len(sa) == 1 {
		sa = []int{1, sa[0]}
	}
	if len(sb) == 1 {
		sb = append(sb, 1)
	}
	batch, ok := tensor.Broadcast(sa[:len(sa)-2], sb[:len(sb)-2])
	if !ok {
		panic("the shapes do not broadcast")
	}
	m, k, n := sa[len(sa)-2], sa[len(sa)-1], sb[len(sb)-1]
	out := array{shape: append(slices.Clone(batch), m, n)}
	ma, mb := array{sa, a.data}, array{sb, b.data}
	each(out.shape, func(index []int) {
		lead := slices.Clone(index[:len(batch)])
		i, j := index[len(batch)], index[len(batch)+1]
		sum := 0.0
		for x := range k {
			sum += ma.at(append(slices.Clip(lead[len(lead)-len(sa)+2:]), i, x)) * mb.at(append(slices.Clip(lead[len(lead)-len(sb)+2:]), x, j))
		}
		out.data = append(out.data, sum)
	})
	if len(b.shape) == 1 {
		out.shape = out.shape[:len(out.shape)-1]
	}
	if len(a.shape) == 1 {
		at := len(batch)
		out.shape = slices.Delete(slices.Clone(out.shape), at, at+1)
	}
	return out
}

// download returns a tensor as an array.
func download(t *testing.T, x *tensor.Tensor) array {
	t.Helper()
	data, err := x.Float64s()
	if err != nil {
		t.Fatal(err)
	}
	return array{x.Shape(), data}
}

// agrees fails unless got is want, to within the rounding of sums of k products below one.
func agrees(t *testing.T, what string, got, want array, k int) {
	t.Helper()
	if !slices.Equal(got.shape, want.shape) {
		t.Errorf("%s: shape %v, want %v", what, got.shape, want.shape)
		return
	}
	for i, v := range got.data {
		if math.Abs(v-want.data[i]) > 1e-6*float64(k+1) {
			t.Errorf("%s: element %d is %v, want %v", what, i, v, want.data[i])
			return
		}
	}
}

// productShapes are operands of MatMul: of every rank, broadcast on either side, empty, vectors,
// and long sums.
var productShapes = [][2][]int{
	{{2, 3, 4}, {2, 4, 5}}, {{2, 3, 4}, {4, 5}}, {{3, 4}, {2, 4, 5}}, {{2, 1, 3, 4}, {1, 5, 4, 2}}, {{2, 5, 3, 4}, {2, 1, 4, 2}},
	{{7, 8, 8}, {7, 8, 8}}, {{3, 17, 20}, {3, 20, 18}}, {{2, 1, 2, 1, 2, 1, 3, 4}, {1, 2, 1, 2, 1, 2, 4, 2}}, {{2, 33, 65}, {2, 65, 30}},
	{{4}, {4}}, {{0}, {0}}, {{4}, {4, 5}}, {{3, 4}, {4}}, {{4}, {2, 4, 5}}, {{2, 3, 4}, {4}}, {{2, 3, 3, 4}, {4}}, {{1}, {1, 1}},
	{{0, 3, 4}, {0, 4, 5}}, {{2, 0, 4}, {2, 4, 5}}, {{2, 3, 0}, {2, 0, 5}}, {{2, 3, 4}, {2, 4, 0}}, {{0, 3, 4}, {1, 4, 5}}, {{3, 0}, {0}},
	{{6, 1, 4}, {4, 3}}, {{2, 2, 1, 4}, {2, 1, 4, 3}}, {{2, 3, 9000}, {2, 9000, 2}},
}

// TestMatMulBatch: products of any rank are NumPy's, whatever views the operands are, with the
// kernels of CPUs and GPUs.
func TestMatMulBatch(t *testing.T) {
	check := func(t *testing.T, d tensor.Device) {
		rng := rand.New(rand.NewPCG(1, 2))
		draw := func(shape []int) *tensor.Tensor {
			t := tensor.NewRNG(rng.Uint64())
			return t.Uniform(d, -1, 1, shape...)
		}
		for _, s := range productShapes {
			for kind := range 5 {
				x, y := view(draw, s[0], kind), view(draw, s[1], (kind+kind/2)%5)
				agrees(t, fmt.Sprintf("%v as %d, %v as %d", s[0], kind, s[1], (kind+kind/2)%5), download(t, x.MatMul(y)),
					productOf(download(t, x), download(t, y)), s[0][len(s[0])-1])
			}
			if t.Failed() {
				return
			}
		}
	}
	devtest.Each(t, false, check)
	for _, sel := range devtest.Selected() {
		if sel != "cpu" && !testing.Short() {
			t.Run(sel+"/gpu kernels", func(t *testing.T) { check(t, devtest.Open(t, sel, devtest.GPUKernels())) })
		}
	}
}

// view returns a tensor of a shape that is a view of some kind: as it is drawn, with the last two
// axes or all of them transposed, with gaps along every axis, or repeated along the first.
func view(draw func(shape []int) *tensor.Tensor, shape []int, kind int) *tensor.Tensor {
	n := len(shape)
	axes := make([]int, n)
	for i := range axes {
		axes[i] = i
	}
	permuted := func(axes []int) *tensor.Tensor {
		stored := make([]int, n)
		for i, a := range axes {
			stored[a] = shape[i]
		}
		return draw(stored).Transpose(axes...)
	}
	switch {
	case kind == 1 && n > 1:
		axes[n-1], axes[n-2] = n-2, n-1
		return permuted(axes)
	case kind == 2 && n > 0:
		slices.Reverse(axes)
		return permuted(axes)
	case kind == 3:
		larger := slices.Clone(shape)
		for i := range larger {
			larger[i] = 2*larger[i] + 1
		}
		x := draw(larger)
		for i, m := range shape {
			x = x.Slice(i, 1, 2*m+1).Step(i, 2)
		}
		return x
	case kind == 4 && n > 0:
		one := slices.Clone(shape)
		one[0] = min(one[0], 1)
		return draw(one).Expand(shape...)
	}
	return draw(shape)
}

// TestMatMulNaN: what is not a number stays in its own products.
func TestMatMulNaN(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		a, b := make([]float64, 3*2*2), make([]float64, 3*2*2)
		for i := range a {
			a[i], b[i] = float64(i%5), float64(i%3)
		}
		a[0], a[4], b[6] = math.Inf(1), math.NaN(), 0
		got := download(t, devtest.New(d, a, 3, 2, 2).MatMul(devtest.New(d, b, 3, 2, 2))).data
		for i, v := range got {
			if bad := math.IsNaN(v) || math.IsInf(v, 0); bad != (i < 2 || i == 4 || i == 5) {
				t.Errorf("element %d is %v", i, v)
			}
		}
	})
}

// TestMatMulBits: a product of many rows has the bits of its rows one by one, and a batch those of
// its matrices.
func TestMatMulBits(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		rng := tensor.NewRNG(3)
		a, b := rng.Normal(d, 0, 1, 5, 20, 30), rng.Normal(d, 0, 1, 5, 30, 70)
		whole := download(t, a.MatMul(b)).data
		for i := range 5 {
			one := download(t, a.Select(0, i).MatMul(b.Select(0, i))).data
			if !slices.Equal(one, whole[i*20*70:(i+1)*20*70]) {
				t.Errorf("matrix %d has other bits in the batch", i)
			}
		}
	})
}

// TestMatMulLaunches: a batch is one launch, whether heads are transposed or repeated, and copies
// nothing.
func TestMatMulLaunches(t *testing.T) {
	d := devtest.CPU(t)
	heads := tensor.Zeros(d, 2, 9, 3, 8).Transpose(0, 2, 1, 3) // [2, 3, 9, 8] of tokens with heads
	keys := tensor.Zeros(d, 2, 9, 1, 8).Transpose(0, 2, 3, 1)  // [2, 1, 8, 9]
	for name, f := range map[string]func() *tensor.Tensor{
		"heads":     func() *tensor.Tensor { return heads.MatMul(heads.Transpose(0, 1, 3, 2)) },
		"repeated":  func() *tensor.Tensor { return heads.MatMul(keys) },
		"expanded":  func() *tensor.Tensor { return heads.MatMul(keys.Expand(2, 3, 8, 9)) },
		"shared":    func() *tensor.Tensor { return heads.MatMul(tensor.Zeros(d, 4, 8).T()) },
		"a product": func() *tensor.Tensor { return tensor.Zeros(d, 2, 3, 4).MatMul(tensor.Zeros(d, 4, 5)) },
		"a vector":  func() *tensor.Tensor { return heads.MatMul(tensor.Zeros(d, 8)) },
	} {
		f() // builds what it builds
		before := d.Stats().Launches
		f()
		want := 1
		switch name {
		case "a product":
			want = 3 // with two fills
		case "shared", "a vector":
			want = 2
		}
		if got := d.Stats().Launches - before; int(got) != want {
			t.Errorf("%s: %d launches, want %d", name, got, want)
		}
	}
}

// TestMatMulIntoBatch: a batch is added to what is there.
func TestMatMulIntoBatch(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		rng := tensor.NewRNG(3)
		for _, k := range []int{4, 9000} {
			a, b, c := rng.Uniform(d, -1, 1, 2, 3, k), rng.Uniform(d, -1, 1, 2, k, 5), rng.Uniform(d, -1, 1, 2, 3, 5)
			want := c.Add(a.MatMul(b))
			tensorapi.Impl.MatMulInto(c, a, b, true)
			agrees(t, "accumulated", download(t, c), download(t, want), k)
			tensorapi.Impl.MatMulInto(c, a, b, false)
			agrees(t, "written", download(t, c), download(t, a.MatMul(b)), k)
		}
		a, c := tensor.Zeros(d, 2, 3, 0), tensor.Full(d, 1, 2, 3, 5)
		tensorapi.Impl.MatMulInto(c, a, tensor.Zeros(d, 2, 0, 5), true)
		agrees(t, "nothing is added", download(t, c), download(t, tensor.Full(d, 1, 2, 3, 5)), 0)
		err := tensor.Try(func() { tensorapi.Impl.MatMulInto(c, tensor.Zeros(d, 3, 4), tensor.Zeros(d, 3, 4, 5), false) })
		if !errors.Is(err, tensor.ErrShape) {
			t.Errorf("into another shape: err = %v", err)
		}
	})
}

// TestMatMulMisuse: operands that have no product are named with both shapes.
func TestMatMulMisuse(t *testing.T) {
	d := devtest.CPU(t)
	zeros := func(shape ...int) *tensor.Tensor { return tensor.Zeros(d, shape...) }
	for _, c := range []struct {
		a, b *tensor.Tensor
		kind error
	}{
		{zeros(2, 3, 4), zeros(2, 5, 4), tensor.ErrShape}, {zeros(2, 3, 4), zeros(3, 4, 5), tensor.ErrShape}, {zeros(), zeros(2, 2), tensor.ErrShape},
		{zeros(2), zeros(), tensor.ErrShape}, {zeros(3), zeros(4), tensor.ErrShape}, {zeros(3), zeros(4, 3), tensor.ErrShape},
		{tensor.ZerosOf(d, tensor.Int32, 2, 3, 4), tensor.ZerosOf(d, tensor.Uint8, 4, 5), tensor.ErrType},
		{tensor.ZerosOf(d, tensor.Int32, 3), tensor.ZerosOf(d, tensor.Int32, 3), tensor.ErrType},
	} {
		err := tensor.Try(func() { c.a.MatMul(c.b) })
		if !errors.Is(err, c.kind) {
			t.Errorf("%v by %v: err = %v, want %v", c.a, c.b, err, c.kind)
		}
	}
	half := tensor.Full(d, 0.5, 2, 3, 4).To(tensor.Float16)
	agrees(t, "float16 by int32", download(t, half.MatMul(tensor.FullOf(d, tensor.Int32, 3, 2, 4, 1))), download(t, tensor.Full(d, 6, 2, 3, 1)), 0)
	agrees(t, "float16", download(t, half.Select(0, 0).Select(0, 0).Dot(half.Select(0, 1).Select(0, 0))), array{[]int{}, []float64{1}}, 0)
}
