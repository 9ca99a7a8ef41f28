package fusedmlp

import (
	"math"
	"testing"

	"github.com/clgrad/clgrad/internal/compare"
	"github.com/clgrad/clgrad/kernels"
	"github.com/x448/float16"
	"gonum.org/v1/gonum/blas"
)

// TestMLPMatrixFor: matrix units take the steps that they have room for, over samples enough to be
// worth a launch that packs.
func TestMLPMatrixFor(t *testing.T) {
	gpu := kernels.Target{Units: 100, LocalMem: 48 << 10, MaxGroup: 1024}
	with := func(f func(s *MLPShape)) MLPShape { s := ExampleMLP; f(&s); return s }
	for _, c := range []struct {
		name  string
		p     kernels.Precision
		s     MLPShape
		n     int
		float kernels.DType
		l     kernels.Target
		want  bool
	}{
		{"enough", kernels.PrecisionFloat32, ExampleMLP, 6000, kernels.Float32, gpu, true},
		{"too few", kernels.PrecisionFloat32, ExampleMLP, 5999, kernels.Float32, gpu, false},
		{"enough in tf32", kernels.PrecisionTF32, ExampleMLP, 3200, kernels.Float32, gpu, true},
		{"enough in float16", kernels.PrecisionFloat16, ExampleMLP, 3200, kernels.Float32, gpu, true},
		{"too few in float16", kernels.PrecisionFloat16, ExampleMLP, 3199, kernels.Float32, gpu, false},
		{"float64", kernels.PrecisionFloat32, ExampleMLP, 1 << 20, kernels.Float64, gpu, false},
		{"a CPU", kernels.PrecisionFloat32, ExampleMLP, 1 << 20, kernels.Float32, kernels.Target{CPU: true, Units: 1, LocalMem: 48 << 10, MaxGroup: 1024}, false},
		{"little local memory", kernels.PrecisionFloat32, ExampleMLP, 1 << 20, kernels.Float32, kernels.Target{Units: 100, LocalMem: 32 << 10, MaxGroup: 1024}, false},
		{"small groups", kernels.PrecisionFloat32, ExampleMLP, 1 << 20, kernels.Float32, kernels.Target{Units: 100, LocalMem: 48 << 10, MaxGroup: 128}, false},
		{"narrow", kernels.PrecisionFloat32, with(func(s *MLPShape) { s.Inputs, s.Width = 32, 32 }), 1 << 20, kernels.Float32, gpu, true},
		{"another width", kernels.PrecisionFloat32, with(func(s *MLPShape) { s.Width = 48 }), 1 << 20, kernels.Float32, gpu, false},
		{"other inputs", kernels.PrecisionFloat32, with(func(s *MLPShape) { s.Inputs = 40 }), 1 << 20, kernels.Float32, gpu, false},
		{"most outputs", kernels.PrecisionFloat32, with(func(s *MLPShape) { s.Outputs = 4 }), 1 << 20, kernels.Float32, gpu, true},
		{"too many outputs", kernels.PrecisionFloat32, with(func(s *MLPShape) { s.Outputs = 5 }), 1 << 20, kernels.Float32, gpu, false},
		{"too many layers", kernels.PrecisionFloat32, with(func(s *MLPShape) { s.Layers = 4 }), 1 << 20, kernels.Float32, gpu, false},
		{"many narrow layers", kernels.PrecisionFloat32, with(func(s *MLPShape) { s.Width, s.Layers = 32, 4 }), 1 << 20, kernels.Float32, gpu, true},
		{"too many narrow layers", kernels.PrecisionFloat32, with(func(s *MLPShape) { s.Inputs, s.Width, s.Layers = 32, 32, 5 }), 1 << 20, kernels.Float32, gpu, false},
	} {
		if _, ok := MLPMatrixFor(c.p, false, c.s, c.n, c.float, c.l); ok != c.want {
			t.Errorf("%s: %v, want %v", c.name, ok, c.want)
		}
	}
	for p, inner := range map[kernels.Precision]Inner{kernels.PrecisionFloat32: Pairs, kernels.PrecisionTF32: Scaled, kernels.PrecisionFloat16: Halves} {
		if _, ok := MLPMatrixFor(p, true, ExampleMLP, 3199, kernels.Float32, gpu); ok {
			t.Errorf("%v: groups of warps take 3199 samples on 100 units", p)
		}
		m, ok := MLPMatrixFor(p, true, ExampleMLP, 3200, kernels.Float32, gpu)
		if !ok || m.Inner != inner|Grouped || m.Block(3200, kernels.Float32, gpu) != mlpMatrixLarge {
			t.Errorf("%v: groups of warps take 3200 samples on 100 units as %v, %v, want %v", p, m.Inner, ok, inner|Grouped)
		}
	}
	for _, c := range []struct {
		inner            Inner
		n, block, groups int
	}{
		{TF32, 1, 64, 1}, {TF32, 6400, 64, 100}, {TF32, 6401, 128, 51}, {TF32, 12799, 128, 100}, {TF32, 12801, 128, 100}, {TF32, 1 << 20, 128, 100},
		{Pairs, 1, 128, 1}, {Pairs, 6000, 128, 47},
	} {
		m := MLPMatrix{ExampleMLP, c.inner}
		if block := m.Block(c.n, kernels.Float32, gpu); block != c.block || m.Groups(c.n, block, gpu) != c.groups {
			t.Errorf("%d samples: %d groups of blocks of %d, want %d of %d", c.n, m.Groups(c.n, block, gpu), block, c.groups, c.block)
		}
	}
}

// TestPackedOrder: the first lane has factors of the rows and columns that its instruction
// multiplies, but for those of inputs, of which it reads four neighbours at once.
func TestPackedOrder(t *testing.T) {
	s := MLPMatrix{MLPShape{Inputs: 32, Width: 32, Layers: 2, Outputs: 1}, Halves}
	n, items := s.lengths()
	for layer, rows := range [][]int{{0, 1, 2, 3}, {0, 1, 8, 9}} {
		weights, _ := s.Offsets(layer)
		words, exponents := make([]int32, n), make([]int32, s.Layers)
		s.pack(words, exponents, func(i int) float32 { return float32(max(i-weights, 0) % 1024) })
		at := func(word, half int) int {
			return int(float16.Frombits(uint16(words[layer*items*4/s.Layers+word] >> (16 * half))).Float32())
		}
		for word := range 4 {
			for half := range 2 {
				row, column := rows[word%2*2+half], word/2*8
				if got := at(word, half); got != row*s.Width+column {
					t.Errorf("layer %d: factor %d of word %d is that of row %d, column %d, want row %d, column %d", layer, half, word, got/s.Width, got%s.Width, row, column)
				}
			}
		}
	}
}

// TestStrangePasses: what the cases of a pass expect does not hang on whether a product is rounded
// before it is added, nor on the order of sums: a device that is right would be refused otherwise.
func TestStrangeSteps(t *testing.T) {
	for layers := 1; layers <= mlpMatrixLayers; layers++ {
		for _, inputs := range []int{32, 64} {
			s := MLPMatrix{MLPShape{Inputs: inputs, Width: 32, Layers: layers, Outputs: 3, Slope: 0.1}, Pairs}
			if layers < 3 {
				s.Width = 64
			}
			k := s.Loss(kernels.Float32, mlpMatrixLarge, true)
			other := *k
			other.Host = kernels.HostKernel{F32: mlpHost(s.MLPShape, Pairs, mlpMatrixLarge, true, backwardsByFMA)}
			for i, c := range k.Cases(false) {
				var of [2]*kernels.Operands
				for j, k := range []*kernels.Kernel{k, &other} {
					of[j] = kernels.NewOperands(kernels.Float32, uint64(layers), uint64(i))
					c.Build(of[j])
					k.Run(kernels.Float32, of[j].Args)
				}
				margin := compare.MarginOf(k, kernels.Float32, of[0].Args)
				for p := range k.Params {
					if !k.Params[p].Mode.Buffer() {
						continue
					}
					want, got := of[0].Args[p].Buf.(*kernels.HostBuffer), of[1].Args[p].Buf.(*kernels.HostBuffer)
					if at := margin.Differs(p, got, want); at >= 0 {
						t.Errorf("%+v, %s: element %d of %s is %v or %v", s.MLPShape, c.Name, at, k.Params[p].Name, want.At(at), got.At(at))
					}
				}
			}
		}
	}
}

// backwardsByFMA is a product whose sums are made from their end on, by fma.
func backwardsByFMA(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	for i := range m {
		for j := range n {
			sum := beta * c[i*ldc+j]
			if beta == 0 {
				sum = 0
			}
			for p := k - 1; p >= 0; p-- {
				x, y := i*lda+p, p*ldb+j
				if tA == blas.Trans {
					x = p*lda + i
				}
				if tB == blas.Trans {
					y = j*ldb + p
				}
				sum = float32(math.FMA(float64(alpha*a[x]), float64(b[y]), float64(sum)))
			}
			c[i*ldc+j] = sum
		}
	}
}
