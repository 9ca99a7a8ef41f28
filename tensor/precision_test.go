package tensor_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// precisions are the precisions with the devices' options and how far a product of two factors may
// be off.
var precisions = []struct {
	p      tensor.Precision
	factor float64
}{{tensor.PrecisionFloat32, 0}, {tensor.PrecisionTF32, 0x1p-10 + 0x1p-22}, {tensor.PrecisionFloat16, 0x1p-10 + 0x1p-22}}

// draws are ways to draw factors that float16 holds as normal numbers.
var draws = map[string]func(r *rand.Rand) float64{
	"of one size":   func(r *rand.Rand) float64 { return 2*r.Float64() - 1 },
	"positive":      func(r *rand.Rand) float64 { return 0.5 + r.Float64() },
	"of many sizes": func(r *rand.Rand) float64 { return math.Copysign(math.Exp2(20*r.Float64()-10), r.Float64()-0.5) },
}

// matrix draws one of float32, laid out as the transposed of [cols, rows] if asked for.
func matrix(r *rand.Rand, rows, cols int, draw func(*rand.Rand) float64) []float32 {
	x := make([]float32, rows*cols)
	for i := range x {
		if x[i] = float32(draw(r)); math.Abs(float64(x[i])) < 0x1p-14 { // too small for float16
			x[i] = 0
		}
	}
	return x
}

// eachPrecise runs f on every device under test in every precision: on the device as it is, and as
// one that computes what matrix units would. Building the kernels of that takes OpenCL long: they
// are those of float16, and all in a sweep.
func eachPrecise(t *testing.T, f func(t *testing.T, d tensor.Device, factor float64, units bool)) {
	t.Helper()
	for _, sel := range devtest.Selected() {
		for _, c := range precisions {
			t.Run(fmt.Sprintf("%s/%v", sel, c.p), func(t *testing.T) {
				f(t, devtest.Open(t, sel, tensor.Options{Precision: c.p}), c.factor, false)
			})
			if sel != "cpu" && c.p != tensor.PrecisionFloat16 && os.Getenv("CLGRAD_SWEEP") == "" {
				continue
			}
			t.Run(fmt.Sprintf("%s/%v/as matrix units", sel, c.p), func(t *testing.T) {
				d := devtest.Open(t, sel, devtest.GPUKernels(tensor.Options{Precision: c.p, SkipSelfTest: true}))
				tensorapi.Impl.AsMatrixUnits(d, false)
				f(t, d, c.factor, true)
			})
		}
	}
}

// TestPrecision holds products in every precision on every device to the stated bound against sums
// in float64: all forms, sizes around those of tiles, batches, layers and their gradients. A second
// product has the same bits.
func TestPrecision(t *testing.T) {
	eachPrecise(t, func(t *testing.T, d tensor.Device, factor float64, units bool) {
		r := rand.New(rand.NewPCG(1, uint64(d.Precision())))
		for i, s := range [][4]int{{1, 128, 130, 100}, {1, 65, 131, 257}, {3, 100, 70, 80}, {1, 300, 300, 20}, {1, 16, 500, 300}, {1, 3, 5, 7}} {
			if testing.Short() && s[1]*s[2]*s[3] > 1<<21 || units && !d.Target().CPU && s[1]*s[2]*s[3] != 128*130*100 && s[0] == 1 { // a kernel takes long to build
				continue
			}
			for form := range 4 { // each form with each draw, at some size
				name := []string{"of one size", "positive", "of many sizes"}[(i+form)%3]
				checkPrecise(t, d, fmt.Sprintf("%v %s form %d", s, name, form), s, form, factor, func(rows, cols int) []float32 { return matrix(r, rows, cols, draws[name]) })
			}
		}
	})
}

// checkPrecise computes a batch of products of shape [batch, m, k]·[batch, k, n], of transposed
// views by the bits of form.
func checkPrecise(t *testing.T, d tensor.Device, name string, s [4]int, form int, factor float64, draw func(rows, cols int) []float32) {
	t.Helper()
	batch, m, n, k := s[0], s[1], s[2], s[3]
	ha, hb := draw(batch*m, k), draw(batch*k, n)
	a, b := devtest.New(d, ha, batch, m, k), devtest.New(d, hb, batch, k, n)
	rowA, stepA, rowB, stepB := k, 1, n, 1
	if form&1 != 0 {
		a = devtest.New(d, ha, batch, k, m).Transpose(0, 2, 1)
		rowA, stepA = 1, m
	}
	if form&2 != 0 {
		b = devtest.New(d, hb, batch, n, k).Transpose(0, 2, 1)
		rowB, stepB = 1, k
	}
	if batch == 1 {
		a, b = a.Reshape(m, k), b.Reshape(k, n)
		if form&1 != 0 {
			a = devtest.New(d, ha, k, m).T()
		}
		if form&2 != 0 {
			b = devtest.New(d, hb, n, k).T()
		}
	}
	first, err := a.MatMul(b).Float32s()
	if err != nil {
		t.Fatal(err)
	}
	again, _ := a.MatMul(b).Float32s()
	if !slices.Equal(first, again) {
		t.Errorf("%s: a second product has other bits", name)
	}
	within(t, name, first, factor, k, m*n, n, func(at, q int) (x, y float64) {
		z, i, j := at/(m*n), at/n%m, at%n
		return float64(ha[z*m*k+i*rowA+q*stepA]), float64(hb[z*n*k+q*rowB+j*stepB])
	})
}

// within reports a sum of k products that is further from that in float64 than the bound of
// tensor.Precision.
func within(t *testing.T, name string, got []float32, factor float64, k, _, _ int, factors func(at, q int) (x, y float64)) {
	t.Helper()
	for at, v := range got {
		sum, size := 0.0, 0.0
		for q := range k {
			x, y := factors(at, q)
			sum += x * y
			size += math.Abs(x * y)
		}
		if off, most := math.Abs(float64(v)-sum), (factor+float64(k+8)*0x1p-23)*size; !(off <= most) {
			t.Errorf("%s: element %d is %v, %v off: at most %v", name, at, v, off, most)
			return
		}
	}
}

// TestPrecisionOfLayers: what a layer adds to its product, and how it is stored, is the same in
// each precision.
func TestPrecisionOfLayers(t *testing.T) {
	eachPrecise(t, func(t *testing.T, d tensor.Device, factor float64, units bool) {
		if units && !d.Target().CPU {
			t.Skip("the tests of kernels have an epilogue, too, and a kernel takes long to build")
		}
		r := rand.New(rand.NewPCG(2, 3))
		const m, n, k = 130, 96, 100
		hx, hw, hb := matrix(r, m, k, draws["of one size"]), matrix(r, k, n, draws["of one size"]), matrix(r, 1, n, draws["of one size"])
		got, err := tensor.Linear(devtest.New(d, hx, m, k), devtest.New(d, hw, k, n), devtest.New(d, hb, n), fn.ReLU).Float32s()
		if err != nil {
			t.Fatal(err)
		}
		for at, v := range got {
			sum, size := float64(hb[at%n]), math.Abs(float64(hb[at%n]))
			for q := range k {
				p := float64(hx[at/n*k+q]) * float64(hw[q*n+at%n])
				sum += p
				size += math.Abs(p)
			}
			if off := math.Abs(float64(v) - max(sum, 0)); !(off <= (factor+(k+8)*0x1p-23)*size) {
				t.Fatalf("element %d is %v, want %v", at, v, max(sum, 0))
			}
		}
	})
}

// TestRoundedFactors: factors are rounded as kernels.Precision says, and no others: infinities,
// NaN, denormals, ends of ranges and ties, in every form, as wholes and as non-contiguous views, of
// a batch, and where a product is added to what is there.
func TestRoundedFactors(t *testing.T) {
	eachPrecise(t, func(t *testing.T, d tensor.Device, _ float64, units bool) {
		const m, n, k = 130, 70, 140
		p := tensor.PrecisionFloat32
		if _, has := tensorapi.Impl.MatrixUnits(d); units || has(d.Precision(), false) || has(d.Precision(), true) { // the units of tests, or a device's own
			p = d.Precision()
		}
		inf, nan := float32(math.Inf(1)), float32(math.NaN())
		r := rand.New(rand.NewPCG(9, 10))
		for i, c := range []struct {
			name string
			a, b []float32 // elements to put into each factor
		}{
			{"ties", []float32{1 + 0x1p-11, 1 + 3*0x1p-11, -1 - 0x1p-11}, []float32{1 + 0x1p-12, 1 - 0x1p-12}},
			{"the ends of float16", []float32{65504, 65519, -65504}, []float32{1, 0x1p-14, 0x1p-24}},
			{"more than float16 holds", []float32{65520, -1e5, 1e30}, []float32{0.5, 2}},
			{"less than it holds", []float32{0x1p-25, 0x1.8p-25, 1e-7, 1e-9, 1e-30}, []float32{1e-8, 1}},
			{"infinities", []float32{inf, -inf}, []float32{1, 0}}, {"NaN", []float32{nan}, []float32{nan}},
			{"the ends of float32", []float32{math.MaxFloat32, -math.MaxFloat32}, []float32{0.5, 1e-30}},
			{"denormals", []float32{1e-45, 1e-40, -1e-39}, []float32{1e30, 1e38}},
			{"zeros of both signs", []float32{0, float32(math.Copysign(0, -1))}, []float32{-1}},
		} {
			// The elements stand in columns and rows of their own, so that some sums have two of
			// them.
			ha, hb := matrix(r, m, k, draws["of one size"]), matrix(r, k, n, draws["of one size"])
			for i, v := range c.a {
				ha[(17+20*i)*k+5+21*i] = v
			}
			for i, v := range c.b {
				hb[(5+21*i)*n+3+30*i] = v
			}
			x, z := make([]float64, m*k), make([]float64, k*n)
			for i, v := range ha {
				x[i] = p.Round(float64(v))
			}
			for i, v := range hb {
				z[i] = p.Round(float64(v))
			}
			want, most := make([]float64, m*n), make([]float64, m*n)
			for at := range want {
				sum, size, f := 0.0, 0.25, float32(0)
				for q := range k {
					x, z := x[at/n*k+q], z[q*n+at%n]
					sum += x * z
					size += math.Abs(x * z)
					f = float32(math.FMA(x, z, float64(f)))
				}
				want[at], most[at] = sum, (k+16)*0x1p-23*size
				if f-f != 0 { // by the rules for infinities and NaN, and where float32 overflows
					want[at], most[at] = float64(f), 0
				}
			}
			lay := func(h []float32, rows, cols int, transposed bool) *tensor.Tensor { // with gaps
				x := devtest.New(d, h, rows, cols)
				if !transposed {
					return tensor.Concat(1, x, tensor.Full(d, math.NaN(), rows, 3)).Slice(1, 0, cols)
				}
				return tensor.Concat(1, x.T(), tensor.Full(d, math.NaN(), cols, 5)).Slice(1, 0, rows).T()
			}
			for form := range 4 {
				if units && i%4 != form && !devtest.More() { // the kernels are slow, or computed in plain loops
					continue
				}
				a, b := lay(ha, m, k, form&1 != 0), lay(hb, k, n, form&2 != 0)
				add := tensor.Full(d, 0.25, m, n)
				tensorapi.Impl.MatMulInto(add, a, b, true)
				batch := tensor.Stack(0, a, a).MatMul(b.Reshape(1, k, n).Expand(2, k, n))
				for name, y := range map[string]*tensor.Tensor{"": a.MatMul(b), " of a batch": batch.Select(0, 1), " added": add.AddScalar(-0.25)} {
					got, err := y.Float32s()
					if err != nil {
						t.Fatal(err)
					}
					for at, v := range got {
						v, want := float64(v), want[at]
						if !(v == want || v != v && want != want || math.Abs(v-want) <= most[at]) {
							t.Fatalf("%s, form %d%s: element %d is %v, want %v", c.name, form, name, at, v, want)
						}
					}
				}
			}
		}
	})
}

// TestPrecisionOfAttention: attention in blocks does not round its factors, and that by products of
// whole matrices does, within what errors of the scores make of the weights, and roundings of these
// and of the values. Convolutions give the same bits in every precision.
func TestPrecisionOfAttention(t *testing.T) {
	const batch, l, s, e, w = 2, 96, 128, 64, 48
	r := rand.New(rand.NewPCG(11, 12))
	hq, hk, hv := matrix(r, batch*l, e, draws["of one size"]), matrix(r, batch*s, e, draws["of one size"]), matrix(r, batch*s, w, draws["of one size"])
	hx, hf := matrix(r, 4*3*20, 20, draws["of one size"]), matrix(r, 16*3*3, 3, draws["of one size"])
	const scale = 1. / 8
	want, sizes, most := make([]float64, batch*l*w), make([]float64, batch*l*w), make([]float64, batch*l) // most: Σ |q·k| of a row
	for row := range batch * l {
		p, sum := make([]float64, s), 0.0
		for j := range s {
			score, size := 0.0, 0.0
			for q := range e {
				x := float64(hq[row*e+q]) * float64(hk[(row/l*s+j)*e+q])
				score += x
				size += math.Abs(x)
			}
			p[j] = math.Exp(scale * score)
			sum += p[j]
			most[row] = max(most[row], size)
		}
		for c := range w {
			for j := range s {
				v := p[j] / sum * float64(hv[(row/l*s+j)*w+c])
				want[row*w+c] += v
				sizes[row*w+c] += math.Abs(v)
			}
		}
	}
	var convolved []float32
	last := ""
	eachPrecise(t, func(t *testing.T, d tensor.Device, factor float64, _ bool) {
		q, k, v := devtest.New(d, hq, batch, l, e), devtest.New(d, hk, batch, s, e), devtest.New(d, hv, batch, s, w)
		for _, whole := range []bool{false, true} {
			y, _ := tensorapi.Impl.Attention(q, k, v, nil, nil, false, whole)
			got, err := y.Float32s()
			if err != nil {
				t.Fatal(err)
			}
			rounded := 0.0
			if whole || ops.AttentionByProducts(batch, l, s, d.Target()) {
				rounded = factor
			}
			for at, v := range got {
				scores := scale * (rounded + (e+8)*0x1p-23) * most[at/w]
				if off, bound := math.Abs(float64(v)-want[at]), (math.Expm1(2*scores)+rounded+(s+32)*0x1p-23)*sizes[at]; !(off <= bound) {
					t.Fatalf("whole %v: element %d is %v, want %v within %v", whole, at, v, want[at], bound)
				}
			}
		}
		y := devtest.New(d, hx, 4, 3, 20, 20).Conv(devtest.New(d, hf, 16, 3, 3, 3), nil)
		got, err := y.Float32s()
		if err != nil {
			t.Fatal(err)
		}
		if name := fmt.Sprint(d.Target()); name == last && !slices.Equal(got, convolved) {
			t.Error("a convolution has other bits")
		} else {
			last, convolved = name, got
		}
	})
}

// TestStrangeProducts: infinities, NaN, denormals and the ends of the range of float32 give what
// float32 gives, wherever in a large product they stand, and change no element that they are no
// factor of.
func TestStrangeProducts(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		const m, n, k = 150, 140, 130
		r := rand.New(rand.NewPCG(5, 6))
		for _, c := range []struct {
			name string
			a, b []float32 // elements to put into each factor
		}{
			{"infinities", []float32{inf, -inf}, nil}, {"NaN", []float32{nan}, []float32{nan}}, {"infinities times zeros", []float32{inf}, []float32{0}},
			{"overflow", []float32{3e38, -3e38}, []float32{3e38, 2}}, {"denormals", []float32{1e-45, 1e-40, -1e-39}, []float32{1e30, 1e38}},
			{"products that are denormal", []float32{1e-20, 1e-25}, []float32{1e-20}}, {"less than parts hold", []float32{1.2345678e-33, 1.2345678e-36}, []float32{1e20, 1e33}},
			{"zeros of both signs", []float32{0, float32(math.Copysign(0, -1))}, []float32{-1}},
		} {
			ha, hb := matrix(r, m, k, draws["of one size"]), matrix(r, k, n, draws["of one size"])
			for i, v := range c.a {
				ha[(17+40*i)*k+5+31*i] = v
			}
			for i, v := range c.b {
				hb[(5+31*i)*n+3+70*i] = v
			}
			got, err := devtest.New(d, ha, m, k).MatMul(devtest.New(d, hb, k, n)).Float32s()
			if err != nil {
				t.Fatal(err)
			}
			for at, v := range got {
				sum, size, f := 0.0, 0.0, float32(0)
				for q := range k {
					x, y := float64(ha[at/n*k+q]), float64(hb[q*n+at%n])
					sum += x * y
					size += math.Abs(x * y)
					f = float32(math.FMA(x, y, float64(f)))
				}
				switch off := math.Abs(float64(v) - sum); {
				case f != f || math.IsInf(float64(f), 0):
					if !(f != f && v != v || f == v) {
						t.Fatalf("%s: element %d is %v, by sums of float32 %v", c.name, at, v, f)
					}
				case !(off <= (k+8)*(0x1p-23*size+0x1p-149)):
					t.Fatalf("%s: element %d is %v, want %v", c.name, at, v, sum)
				}
			}
		}
	})
}

// TestLargeProducts: products that GPUs compute in ways of their own, of operands that are packed
// before, of many rows, and of a long sum, with sizes of no whole tiles, are within the bound at
// random elements; a layer's epilogue is computed; strange elements stay in their rows and columns.
func TestLargeProducts(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, sel := range devtest.Selected() {
		for _, c := range precisions {
			d := devtest.Open(t, sel, tensor.Options{Precision: c.p})
			if d.Target().CPU {
				continue // no product is too large for it
			}
			for _, s := range []struct {
				m, n, k int
				forms   []ops.GemmForm
			}{
				{1601, 1550, 1543, []ops.GemmForm{ops.NN, ops.TN, ops.NT}}, {70001, 61, 63, []ops.GemmForm{ops.NN, ops.NT}}, {65536, 64, 64, []ops.GemmForm{ops.NN, ops.NT}},
				{64, 64, 20003, []ops.GemmForm{ops.TN}}, {64, 64, 262144, []ops.GemmForm{ops.TN}}, {51, 64, 20003, []ops.GemmForm{ops.TN}},
			} {
				for _, form := range s.forms {
					largeProduct(t, d, c.factor, form, s.m, s.n, s.k)
				}
			}
		}
	}
}

// largeProduct is a product of TestLargeProducts.
func largeProduct(t *testing.T, d tensor.Device, factor float64, form ops.GemmForm, m, n, k int) {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 8))
	ha, hb, bias := matrix(r, m, k, draws["of many sizes"]), matrix(r, k, n, draws["of one size"]), matrix(r, 1, n, draws["of one size"])
	row, tiny := m/2, m/3
	ha[row*k+k/3], ha[tiny*k+k/4] = float32(math.Inf(1)), 1e-44
	a, b := devtest.New(d, ha, m, k), devtest.New(d, hb, k, n)
	if form.TransposesA() {
		a = a.T().Copy().T()
	}
	if form.TransposesB() {
		b = b.T().Copy().T()
	}
	what := fmt.Sprintf("%s %s of %dx%dx%d", d.Name(), form, m, n, k)
	got, err := tensor.Linear(a, b, devtest.New(d, bias, n), fn.ReLU).Float32s()
	if err != nil {
		t.Fatal(err)
	}
	again, _ := tensor.Linear(a, b, devtest.New(d, bias, n), fn.ReLU).Float32s()
	for at := range got {
		if math.Float32bits(got[at]) != math.Float32bits(again[at]) {
			t.Fatalf("%s: element %d is %v and then %v", what, at, got[at], again[at])
		}
	}
	for range min(2000, 1<<24/k) {
		i, j := r.IntN(m), r.IntN(n)
		switch r.IntN(8) {
		case 0:
			i = tiny
		case 1:
			i = row
		}
		sum, size := float64(bias[j]), math.Abs(float64(bias[j]))
		for q := range k {
			p := float64(ha[i*k+q]) * float64(hb[q*n+j])
			sum += p
			size += math.Abs(p)
		}
		v := float64(got[i*n+j])
		if i == row {
			if want := max(sum, 0); v != want && !(v != v && want != want) {
				t.Fatalf("%s: (%d, %d) is %v, want %v", what, i, j, v, want)
			}
			continue
		}
		if off := math.Abs(v - max(sum, 0)); !(off <= (factor+float64(k+8)*0x1p-23)*size) {
			t.Fatalf("%s: (%d, %d) is %v, want %v", what, i, j, v, max(sum, 0))
		}
	}
}
