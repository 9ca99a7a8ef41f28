package autograd_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestLongAttention: where kernels go over blocks of keys, and make the probabilities again, the
// gradients are those of the operations on Nodes; with what is shared by the batch, with masks,
// causal, and with queries that attend to nothing.
func TestLongAttention(t *testing.T) {
	check := func(t *testing.T, d tensor.Device) {
		const l, s = 130, 133
		rng := tensor.NewRNG(2)
		bits, adds := make([]uint8, l*s), make([]float64, 2*l*s)
		for i := range bits {
			bits[i] = uint8(i * 7 % 3)
			if i/s%5 == 3 {
				bits[i] = 0
			}
		}
		for i := range adds {
			if adds[i] = float64(i*11%7) / 7; i%13 == 0 {
				adds[i] = math.Inf(-1)
			}
		}
		for name, mask := range map[string]*tensor.Tensor{"no mask": nil, "mask": devtest.New(d, bits, l, s).To(tensor.Bool), "added": devtest.New(d, adds, 2, 1, l, s)} {
			for _, causal := range []bool{false, true} {
				in := []*node{autograd.Param(rng.Uniform(d, -1, 1, 2, 1, l, 9), "q"), autograd.Param(rng.Uniform(d, -1, 1, s, 9), "k"), autograd.Param(rng.Uniform(d, -1, 1, 2, s, 10), "v")}
				var m *node
				if mask != nil {
					m = autograd.Const(mask)
				}
				y := in[0].ScaledDotProductAttention(in[1], in[2], m, tensor.AttentionOptions{Causal: causal})
				seed := autograd.Const(rng.Uniform(d, -1, 1, y.Shape()...))
				plain := grad(t, y, in, autograd.GradOptions{Seed: seed})
				y = in[0].ScaledDotProductAttention(in[1], in[2], m, tensor.AttentionOptions{Causal: causal})
				recorded := grad(t, y, in, autograd.GradOptions{Seed: seed, CreateGraph: true})
				for i, g := range plain {
					compareGradients(t, fmt.Sprintf("%s, causal %v, gradient %d", name, causal, i), g.Value(), recorded[i].Value(), 1e-10)
				}
			}
		}
	}
	for _, sel := range devtest.Selected() {
		for _, gpu := range []bool{false, true} {
			if !gpu || sel != "cpu" {
				t.Run(fmt.Sprintf("%s, kernels for GPUs %v", sel, gpu), func(t *testing.T) {
					opt := tensor.Options{DefaultType: tensor.Float64}
					if gpu {
						opt = devtest.GPUKernels(opt)
					}
					check(t, devtest.Open(t, sel, opt))
				})
			}
		}
	}
}

// TestWideAttention: where a GPU keeps the softmax for the gradients, they are those of the
// operations on Nodes, and what is computed under NoGrad is the same.
func TestWideAttention(t *testing.T) {
	for _, sel := range devtest.Selected() {
		d := devtest.Open(t, sel, devtest.GPUKernels(tensor.Options{DefaultType: tensor.Float64}))
		rng := tensor.NewRNG(2)
		in := []*node{autograd.Param(rng.Uniform(d, -1, 1, 2, 70, 33), "q"), autograd.Param(rng.Uniform(d, -1, 1, 66, 33), "k"), autograd.Param(rng.Uniform(d, -1, 1, 2, 66, 5), "v")}
		var passes [2][]*node
		for i := range passes {
			y := in[0].ScaledDotProductAttention(in[1], in[2], nil)
			autograd.NoGrad(d, func() {
				compareGradients(t, sel+", without gradients", in[0].ScaledDotProductAttention(in[1], in[2], nil).Value(), y.Value(), 1e-12)
			})
			passes[i] = grad(t, y, in, autograd.GradOptions{Seed: autograd.Const(tensor.Full(d, 1, y.Shape()...).Mul(y.Value())), CreateGraph: i > 0})
		}
		for i, g := range passes[0] {
			compareGradients(t, fmt.Sprintf("%s, gradient %d", sel, i), g.Value(), passes[1][i].Value(), 1e-10)
		}
	}
}

// TestAttentionOfInts: queries and keys that are integers are taken for floats, in recorded
// gradients, too.
func TestAttentionOfInts(t *testing.T) {
	d := devtest.CPU(t)
	ints := devtest.New(d, []int32{1, 0, 2, 1, 3, 1}, 3, 2)
	floats := autograd.Const(ints.To(d.DefaultType()))
	v := autograd.Param(devtest.New(d, []float64{1, -2, 3}, 3, 1), "v")
	want := grad(t, floats.ScaledDotProductAttention(floats, v, nil).Square().Sum(), []*node{v}, autograd.GradOptions{})
	for _, recorded := range []bool{false, true} {
		x := autograd.Const(ints)
		got := grad(t, x.ScaledDotProductAttention(x, v, nil).Square().Sum(), []*node{v}, autograd.GradOptions{CreateGraph: recorded})
		compareGradients(t, fmt.Sprint("recorded ", recorded), got[0].Value(), want[0].Value(), 1e-12)
	}
}

// TestAttentionOfConstants: what wants no gradient costs no launch, in short and long attentions,
// and the others have the same.
func TestAttentionOfConstants(t *testing.T) {
	d := devtest.CPU(t)
	for _, n := range []int{5, 140} {
		rng := tensor.NewRNG(6)
		shapes := [][]int{{2, n, 3}, {2, n, 3}, {2, n, 4}, {2, n, n}} // none broadcasts: there is nothing to sum
		var values []*tensor.Tensor
		for _, s := range shapes {
			values = append(values, rng.Uniform(d, -1, 1, s...))
		}
		for _, masked := range []bool{false, true} {
			pass := func(wants uint) (all map[int]*tensor.Tensor, launches int64) {
				var in, asked []*node
				var at []int
				for i, v := range values {
					if wants>>i&1 == 0 {
						in = append(in, autograd.Const(v))
						continue
					}
					in, at = append(in, autograd.Param(v, "x")), append(at, i)
					asked = append(asked, in[i])
				}
				if !masked {
					in[3] = nil
				}
				y := in[0].ScaledDotProductAttention(in[1], in[2], in[3])
				before := d.Stats().Launches
				gradients := grad(t, y, asked, autograd.GradOptions{Seed: autograd.Const(tensor.Full(d, 1, y.Shape()...))})
				launches = d.Stats().Launches - before
				all = map[int]*tensor.Tensor{}
				for i, g := range gradients {
					all[at[i]] = g.Value()
				}
				return all, launches
			}
			whole := uint(0b0111)
			if masked {
				whole = 0b1111
			}
			want, most := pass(whole)
			for wants := uint(1); wants < whole; wants++ {
				got, launches := pass(wants)
				for i, g := range got {
					compareGradients(t, fmt.Sprintf("%d, masked %v, wants %b, gradient %d", n, masked, wants, i), g, want[i], 1e-12)
				}
				if launches > most || launches == most && wants&0b0110 == 0 { // neither keys nor values
					t.Errorf("%d, masked %v, wants %b: %d launches, of all %d", n, masked, wants, launches, most)
				}
			}
		}
	}
}

// TestAttentionOfOneQuery: a query that is repeated without copies gives keys and values the gradients of its
// copies. The last block has one key.
func TestAttentionOfOneQuery(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		const n, features = 129, 16
		rng := tensor.NewRNG(1)
		q, g := rng.Normal(d, 0, 1, 1, features), autograd.Const(rng.Normal(d, 0, 1, n, features))
		k := autograd.Param(rng.Normal(d, 0, 1, n, features), "k")
		v := autograd.Param(rng.Normal(d, 0, 1, n, features), "v")
		gradients := func(q *tensor.Tensor) (byKey, byValue *tensor.Tensor) {
			k.ZeroGrad()
			v.ZeroGrad()
			if err := autograd.Const(q).ScaledDotProductAttention(k, v, nil).Mul(g).Sum().Backward(); err != nil {
				t.Fatal(err)
			}
			return k.Grad().Copy(), v.Grad().Copy()
		}
		wantKey, wantValue := gradients(q.Expand(n, features).Copy())
		byKey, byValue := gradients(q.Expand(n, features))
		compareGradients(t, "keys", byKey, wantKey, 1e-6)
		compareGradients(t, "values", byValue, wantValue, 1e-6)
	})
}
