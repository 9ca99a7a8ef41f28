package tensor_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// attentionOf is the definition, for queries [b, l, d], keys [b, s, d], values [b, s, e], and what
// is added [l, s].
func attentionOf(q, k, v array, scale float64, added func(i, j int) float64) array {
	b, l, d, s, e := q.shape[0], q.shape[1], q.shape[2], k.shape[1], v.shape[2]
	y := array{[]int{b, l, e}, make([]float64, b*l*e)}
	for n := range b {
		for i := range l {
			p, most, sum := make([]float64, s), math.Inf(-1), 0.0
			for j := range s {
				for c := range d {
					p[j] += scale * q.data[(n*l+i)*d+c] * k.data[(n*s+j)*d+c]
				}
				p[j] += added(i, j)
				most = math.Max(most, p[j])
			}
			for j := range s {
				if p[j] = math.Exp(p[j] - most); math.IsInf(most, -1) {
					p[j] = 0
				}
				sum += p[j]
			}
			for j := range s {
				for c := range e {
					y.data[(n*l+i)*e+c] += p[j] / math.Max(sum, 1) * v.data[(n*s+j)*e+c]
				}
			}
		}
	}
	return y
}

// TestAttention holds it to its definition in shapes below, at and above the blocks of kernels,
// with masks of both kinds and without, causal or not; queries that attend to nothing are 0; views
// are read as they are.
func TestAttention(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	onEveryVariant(t, func(t *testing.T, d tensor.Device) {
		for _, c := range []struct{ b, l, s, d, e int }{
			{1, 1, 1, 1, 1}, {2, 3, 5, 4, 2}, {1, 16, 16, 64, 64}, {2, 33, 17, 64, 64}, {2, 120, 150, 11, 9}, {1, 150, 120, 8, 8}, {1, 130, 130, 130, 2}, {0, 130, 130, 4, 4}, {3, 20, 0, 4, 4}, {1, 0, 3, 4, 4}, {0, 3, 3, 4, 4}, {1, 9, 9, 300, 7},
		} {
			q, k, v := random(r, c.b, c.l, c.d), random(r, c.b, c.s, c.d), random(r, c.b, c.s, c.e)
			tq, tk, tv := on(d, q), on(d, k), on(d, v)
			bits, adds := make([]uint8, c.l*c.s), random(r, c.l, c.s)
			for i := range bits {
				if bits[i] = uint8(r.IntN(3)); i/max(c.s, 1)%4 == 2 {
					bits[i] = 0 // whole rows
				}
				if r.IntN(5) == 0 {
					adds.data[i] = math.Inf(-1)
				}
			}
			for name, mask := range map[string]*tensor.Tensor{"": nil, ", mask": devtest.New(d, bits, c.l, c.s).To(tensor.Bool), ", added": on(d, adds)} {
				for _, causal := range []bool{false, true} {
					got := tq.ScaledDotProductAttention(tk, tv, mask, tensor.AttentionOptions{Causal: causal})
					want := attentionOf(q, k, v, 1/math.Sqrt(float64(c.d)), func(i, j int) float64 {
						switch {
						case causal && j > i, name == ", mask" && bits[i*c.s+j] == 0:
							return math.Inf(-1)
						case name == ", added":
							return adds.data[i*c.s+j]
						}
						return 0
					})
					expect(t, fmt.Sprintf("%+v%s, causal %v", c, name, causal), got, want, 2e-5)
				}
			}
		}
		q, k, v := random(r, 1, 5, 6), random(r, 1, 7, 6), random(r, 1, 7, 3)
		of := func(a array) *tensor.Tensor { // as columns of columns
			return on(d, array{a.shape[1:], a.data}).T().Copy().T()
		}
		expect(t, "views", of(q).ScaledDotProductAttention(of(k), of(v), nil, tensor.AttentionOptions{Scale: 2}).Reshape(1, 5, 3),
			attentionOf(q, k, v, 2, func(i, j int) float64 { return 0 }), 2e-5)
		for _, n := range []int{3, 150} { // by products, and by the kernels of long ones
			for _, typ := range []tensor.Type{tensor.Uint8, tensor.Int32, tensor.Float16} {
				x := tensor.NewRNG(1).Ints(d, 4, n, 8).To(typ) // of the kernel that another case built
				a := array{[]int{1, n, 8}, devtest.Float64s(t, x)}
				expect(t, fmt.Sprint(n, " of ", typ), x.ScaledDotProductAttention(x, x, nil).Reshape(1, n, 8),
					attentionOf(a, a, a, 1/math.Sqrt(8), func(i, j int) float64 { return 0 }), 2e-5)
			}
		}
	})
}

// TestAttentionPlaces: operands are read where they lie, heads side by side, between others, or
// shared by all, without a copy, and those that cannot be are copied; the bits are those of
// contiguous operands. The heads of the result lie as the queries' do.
func TestAttentionPlaces(t *testing.T) {
	onEveryVariant(t, func(t *testing.T, d tensor.Device) {
		const b, n, heads, size = 2, 140, 3, 8 // which TestAttention has, too
		rng := tensor.NewRNG(3)
		all := rng.Uniform(d, -1, 1, b, n, 3, heads, size)
		part := func(i int) *tensor.Tensor { return all.Select(2, i).Transpose(0, 2, 1, 3) }
		plain := rng.Uniform(d, -1, 1, b, heads, n, size)
		shared := rng.Uniform(d, -1, 1, b, 1, n, size)
		columns := rng.Uniform(d, -1, 1, b, heads, size, n).Transpose(0, 1, 3, 2)
		deep := rng.Uniform(d, -1, 1, 2, 2, b, n, heads, size).Transpose(1, 2, 0, 4, 3, 5) // whose first axes are not as one
		for _, c := range []struct {
			name       string
			q, k, v    *tensor.Tensor
			launches   int64
			sideBySide bool // the heads of the result lie side by side
		}{
			{"without gaps", plain, plain, plain, 1, false},
			{"parts of one tensor", part(0), part(1), part(2), 1, true},
			{"other queries", plain, part(1), part(0), 1, false},
			{"shared keys and values", part(0), shared, shared.Slice(3, 1, 4), 1, true},
			{"columns", plain, columns, plain, 2, false},
			{"several axes", deep, plain, part(2), 4, false},
			{"columns shared by all", plain, plain, columns.Select(0, 1).Select(0, 1), 2, false},
			{"no batch", plain.Select(0, 1).Select(0, 2), part(1).Select(0, 1).Select(0, 0), columns.Select(0, 0).Select(0, 0), 2, false},
		} {
			before := d.Stats().Launches
			y := c.q.ScaledDotProductAttention(c.k, c.v, nil)
			if launches := d.Stats().Launches - before; launches != c.launches {
				t.Errorf("%s: %d launches, want %d", c.name, launches, c.launches)
			}
			want := c.q.Copy().ScaledDotProductAttention(c.k.Copy(), c.v.Copy(), nil)
			expect(t, c.name, y, array{want.Shape(), devtest.Float64s(t, want)}, 0)
			if r := y.Rank(); r > 2 {
				axes := []int{0, 1, 2, 3, 4, 5}[:r]
				axes[r-2], axes[r-3] = r-3, r-2
				if sideBySide := y.Transpose(axes...); sideBySide.IsContiguous() != c.sideBySide || y.IsContiguous() == c.sideBySide {
					t.Errorf("%s: the heads of the result lie side by side: %v", c.name, sideBySide.IsContiguous())
				}
			}
		}
	})
}

// TestAttentionMisuse: what is no attention's panics.
func TestAttentionMisuse(t *testing.T) {
	d := devtest.CPU(t)
	z := func(shape ...int) *tensor.Tensor { return tensor.Zeros(d, shape...) }
	q, k, v := z(2, 3, 4), z(2, 5, 4), z(2, 5, 6)
	for _, f := range []func(){
		func() { q.ScaledDotProductAttention(z(2, 5, 3), v, nil) }, func() { q.ScaledDotProductAttention(k, z(2, 4, 6), nil) },
		func() { q.ScaledDotProductAttention(z(3, 5, 4), v, nil) }, func() { q.ScaledDotProductAttention(k, z(3, 5, 6), nil) },
		func() { z(4).ScaledDotProductAttention(k, v, nil) }, func() { q.ScaledDotProductAttention(k, v, z(3, 4)) },
		func() { q.ScaledDotProductAttention(k, v, z(1, 2, 3, 5)) },
	} {
		fails(t, f, tensor.ErrShape)
	}
	fails(t, func() { q.ScaledDotProductAttention(k, v, tensor.ZerosOf(d, tensor.Int32, 3, 5)) }, tensor.ErrType)
	fails(t, func() {
		q, k, v := q.To(tensor.Float32), k.To(tensor.Float32), v.To(tensor.Float32)
		q.ScaledDotProductAttention(k, v, tensor.ZerosOf(d, tensor.Float64, 3, 5))
	}, tensor.ErrType)
	fails(t, func() { q.ScaledDotProductAttention(k, v, nil, tensor.AttentionOptions{Scale: math.NaN()}) }, tensor.ErrValue)
	fails(t, func() { q.ScaledDotProductAttention(k, v, nil, tensor.AttentionOptions{}, tensor.AttentionOptions{}) }, tensor.ErrValue)
}

// TestCausalLaunches: a short attention that is causal has as many launches as one that is not.
func TestCausalLaunches(t *testing.T) {
	d := devtest.CPU(t)
	x := tensor.Full(d, 1, 2, 3, 4)
	var launches [2]int64
	for i, causal := range []bool{false, true} {
		before := d.Stats().Launches
		x.ScaledDotProductAttention(x, x, nil, tensor.AttentionOptions{Causal: causal})
		launches[i] = d.Stats().Launches - before
	}
	if launches[0] != 4 || launches[1] != 4 {
		t.Errorf("%d launches, and %d causal: want 4", launches[0], launches[1])
	}
}
