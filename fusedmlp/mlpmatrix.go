package fusedmlp

import (
	"fmt"
	"math"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/parallel"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/selftest"
	"github.com/x448/float16"
	"gonum.org/v1/gonum/blas/blas32"
)

// Inner says of which factors a step multiplies its hidden layers: by ordinary arithmetic, or on
// the matrix units of a GPU.
type Inner uint8

// The inner products, numbered as in mlp_tile.cl.
const (
	FMA    Inner = 0
	TF32   Inner = 1 // factors rounded to tf32
	Halves Inner = 2 // factors rounded to float16
	Pairs  Inner = 4 // factors of float32, as pairs of float16 that a block of them has one scale for
	Scaled Inner = 5 // factors rounded to float16, as it is with such a scale, for tf32

	Grouped Inner = 8 // with one of these: groups of four warps multiply
)

// factors returns what the units take, without the way that it gets there.
func (i Inner) factors() Inner { return i &^ Grouped }

// Grouped reports whether groups of warps multiply.
func (i Inner) Grouped() bool { return i&Grouped != 0 }

// Precision returns what the factors are rounded to.
func (i Inner) Precision() kernels.Precision {
	switch i.factors() {
	case TF32, Scaled:
		return kernels.PrecisionTF32
	case Halves:
		return kernels.PrecisionFloat16
	}
	return kernels.PrecisionFloat32
}

// instructions returns of which factors the instructions are that the inner product takes.
func (i Inner) instructions() kernels.Precision {
	if i == TF32 {
		return kernels.PrecisionTF32
	}
	return kernels.PrecisionFloat16
}

// rounded returns elements as the inner product takes them: themselves, or a copy.
func rounded[T kernels.Float](inner Inner, x []T) []T {
	p := inner.Precision()
	if p == kernels.PrecisionFloat32 {
		return x
	}
	y := scratch[T](len(x))
	parallel.For(len(x), parallel.Grain, func(lo, hi int) {
		for i, v := range x[lo:hi] {
			y[lo+i] = T(p.Round(float64(v)))
		}
	})
	return y
}

// warp is how many work-items of a GPU multiply together on its matrix units.
const warp = 32

// MLPMatrix is the step of an MLPShape on the matrix units of GPUs, of factors as Inner says: TF32,
// Halves or Pairs, whose kernel takes packed weights, or Scaled, Halves or Pairs and Grouped.
type MLPMatrix struct {
	MLPShape
	Inner Inner
}

// A group's warps take mlpMatrixRows samples each through all layers. Blocks are small or large: as
// many groups of either as a unit of a GPU has registers for share the weights' gradients, of which
// a work-item keeps mlpMatrixSums at most.
const (
	mlpMatrixRows   = 16
	mlpMatrixSmall  = 64
	mlpMatrixLarge  = 128
	mlpMatrixSums   = 96
	mlpMatrixLayers = 4
	mlpMatrixParts  = 2   // of the inputs, where they are looked up
	mlpPackItems    = 256 // GROUP of mlp_pack.cl, that of other launches: one is done beside it

	// Samples for each unit of a GPU, of which fewer are faster by ordinary arithmetic.
	mlpMatrixLeast = 60 // of factors in pairs
	mlpMatrixFewer = 32 // of rounded factors
)

// Check returns why the kernels cannot train the shape on a device with floats of type t, or nil.
func (s MLPMatrix) Check(t kernels.DType, l kernels.Target) error {
	if err := s.MLPShape.Check(t, l); err != nil {
		return err
	}
	sums := 0
	for i := range s.Layers {
		sums += s.fanIn(i) * s.Width / (mlpMatrixSmall / mlpMatrixRows * warp)
	}
	switch {
	case t != kernels.Float32:
		return fmt.Errorf("matrix units are of float32, not of %v", t)
	case s.Width != 32 && s.Width != 64:
		return fmt.Errorf("width %d: layers on matrix units are 32 or 64 units wide", s.Width)
	case s.Inputs != 32 && s.Inputs != 64:
		return fmt.Errorf("%d inputs: networks on matrix units have 32 or 64", s.Inputs)
	case s.Outputs > 4:
		return fmt.Errorf("%d outputs: networks on matrix units have at most 4", s.Outputs)
	case s.Layers > mlpMatrixLayers || sums > mlpMatrixSums:
		return fmt.Errorf("%d layers of width %d: their gradients exceed a GPU's registers", s.Layers, s.Width)
	}
	return nil
}

// MLPMatrixFor returns the step of a shape over n samples on matrix units, for groups of warps or
// for warps, which a device may or may not have, where that is worth while. It follows the
// precision, the shape and the device alone.
func MLPMatrixFor(p kernels.Precision, grouped bool, s MLPShape, n int, t kernels.DType, l kernels.Target) (MLPMatrix, bool) {
	m, least := MLPMatrix{s, [...]Inner{kernels.PrecisionFloat32: Pairs, kernels.PrecisionTF32: TF32, kernels.PrecisionFloat16: Halves}[p]}, mlpMatrixFewer
	switch {
	case grouped && m.Inner == TF32:
		m.Inner = Scaled
	case !grouped && m.Inner == Pairs:
		least = mlpMatrixLeast
	}
	if grouped {
		m.Inner |= Grouped
	}
	return m, !l.CPU && l.MaxGroup >= mlpMatrixLarge/mlpMatrixRows*warp && m.Check(t, l) == nil && n >= least*l.Units
}

// Block returns in blocks of how many samples a step over n samples is shared out: small ones where
// there is a unit for each, as two of them on one take longer than a large one. Of factors in pairs
// a large one alone is no slower than a small one, and groups of warps take no others.
func (s MLPMatrix) Block(n int, _ kernels.DType, l kernels.Target) int {
	if n <= mlpMatrixSmall*l.Units && s.Inner != Pairs && !s.Inner.Grouped() {
		return mlpMatrixSmall
	}
	return mlpMatrixLarge
}

// Groups returns how many shares of the gradient a step over n samples makes: as many as a GPU's
// units run at once.
func (s MLPMatrix) Groups(n, block int, l kernels.Target) int {
	return max(1, min(intmath.CeilDiv(n, block), mlpMatrixLarge/block*l.Units))
}

// lengths returns the words of the packed weights, and how many work-items make four of them in
// each plane.
func (s MLPMatrix) lengths() (words, items int) {
	for l := range s.Layers {
		items += 2 * s.fanIn(l) * s.Width * 2 / s.step()
	}
	return 4 * items * s.planes(), items
}

// step returns how many steps of a product an instruction takes.
func (s MLPMatrix) step() int {
	if s.Inner == TF32 {
		return 8
	}
	return 16
}

// planes returns in how many words two factors lie, or one with TF32.
func (s MLPMatrix) planes() int {
	if s.Inner == Pairs {
		return 2
	}
	return 1
}

func (s MLPMatrix) defines() string {
	return fmt.Sprintf("-DINPUTS=%d -DWIDTH=%d -DLAYERS=%d -DOUTPUTS=%d -DINNER=%d", s.Inputs, s.Width, s.Layers, s.Outputs, s.Inner.factors())
}

// Pack returns the kernel that packs weights, and the lengths of what it writes: W (the parameters
// as mlp.cl lays them out), P, F. There is none for groups of warps, which make theirs themselves.
func (s MLPMatrix) Pack(kernels.DType, bool, kernels.Target) (*kernels.Kernel, []int) {
	if s.Inner.Grouped() {
		return nil, nil
	}
	words, items := s.lengths()
	return &kernels.Kernel{
		Name: "k_mlp_pack", Text: sourcePack, File: "mlp_pack.cl", Defines: s.defines(),
		Params: []kernels.Param{in("W"), outInts("P"), outInts("F")},
		Grid: func([]kernels.Arg, kernels.Target) kernels.Grid {
			return kernels.Grid{Dims: 1, Global: [3]int{items}, Local: [3]int{mlpPackItems}}
		},
		Host: kernels.HostKernel{F32: func(c kernels.HostArgs[float32]) {
			w := c.Floats(0)
			s.pack(c.Ints(1), c.Ints(2), func(i int) float32 { return w[i] })
		}},
		Fusions: fused.Fusions{Batch: &fused.BatchSpec{Function: "mlp_pack", Items: true}},
		Cases:   func(few bool) []kernels.Case { return s.packCases(few) },
		SelfTest: func(like []kernels.Arg) []kernels.Operand {
			if like == nil {
				return nil
			}
			return []kernels.Operand{selftest.Uniform(s.Size(), -0.2, 0.2), selftest.Output(words), selftest.Output(s.Layers)}
		},
	}, []int{words, s.Layers}
}

// packCases are the launches that test a packing: of weights that pairs hold, and of some that they
// do not.
func (s MLPMatrix) packCases(bool) []kernels.Case {
	var cases []kernels.Case
	for _, largest := range []float64{1, 100, 0x1p-112, 0x1p62, 0, math.Inf(1)} {
		cases = append(cases, kernels.Case{Name: fmt.Sprint("weights of ", largest), Build: func(o *kernels.Operands) {
			words, _ := s.lengths()
			blank := func(int) int { return 77 }
			o.Floats(s.Size(), func(i int) float64 {
				u := 2*o.Rand.Float64() - 1
				if math.IsInf(largest, 1) && i%1000 != 500 {
					return u
				}
				return u * largest
			}).Ints(words, blank).Ints(s.Layers, blank)
		}})
	}
	return cases
}

// pack packs the parameters at(i).
func (s MLPMatrix) pack(words, exponents []int32, at func(i int) float32) {
	clear(words)
	for l := range s.Layers {
		weights, _ := s.Offsets(l)
		exponents[l] = 127
		into := float32(1)
		if s.Inner == Pairs {
			exponents[l], into = pairsOf(s.fanIn(l)*s.Width, func(i int) float32 { return at(weights + i) })
		}
		for back := range 2 {
			K, N, row, column := s.fanIn(l), s.Width, s.Width, 1
			if back > 0 {
				K, N, row, column = N, K, column, row
			}
			words = words[s.packLayer(words, K, N, into, func(k, n int) float32 {
				if l == 0 && back == 0 {
					k = inputOfUnit(k)
				} else if l == 0 {
					n = inputOfUnit(n)
				}
				return at(weights + k*row + n*column)
			}):]
		}
	}
}

// inputOfUnit is INPUT of mlp.cl.
func inputOfUnit(i int) int { return i/16*16 + i%8/2*4 + i/8%2*2 + i%2 }

// packLayer packs the factors of a product from the right, [K, N], and returns how many words they
// take.
func (s MLPMatrix) packLayer(words []int32, K, N int, into float32, at func(k, n int) float32) int {
	plane, step, w := N/16*warp*4, s.step(), 0
	for k0 := 0; k0 < K; k0 += step {
		for n0 := 0; n0 < N; n0 += 16 {
			for lane := range warp {
				for e := range 4 * step / 8 { // elements of the four words
					word, half := e/(step/8), e%(step/8)
					k, n, to := k0+lane%4*2+word%2*(step-8)+half, n0+word/2*8+lane/4, words[w+lane*4+word:]
					switch s.Inner {
					case TF32:
						to[0] = int32(math.Float32bits(float32(kernels.PrecisionTF32.Round(float64(at(k0+lane%4*2+word%2, n))))))
					case Halves:
						to[0] |= int32(uint32(float16.Fromfloat32(at(k, n))) << (half * 16))
					default:
						if into != 0 {
							putPair(to, plane, at(k, n)*into, half)
						}
					}
				}
			}
			w += warp * 4
		}
		w += (s.planes() - 1) * plane
	}
	return w
}

// Loss returns the kernel of a fused training step: its arguments are those of [MLPLoss], and P and
// F if there is a kernel that makes them, [MLPMatrix.Pack]'s.
func (s MLPMatrix) Loss(t kernels.DType, block int, inputGrad bool) *kernels.Kernel {
	k := *MLPLoss(s.MLPShape, t, mlpBlock, inputGrad)
	k.Name, k.Text, k.File, k.GPUText, k.GPU, k.Fusions = "k_mlp_matrix", sourceMatrix, "mlp_mma.cl", "", "", nil
	k.Defines = s.defines() + fmt.Sprintf(" -DSLOPE=%g -DWARPS=%d", s.Slope, block/mlpMatrixRows)
	if s.Absolute {
		k.Defines += " -DABSOLUTE"
	}
	if inputGrad {
		k.Defines += " -DINPUT_GRAD"
	}
	if s.Inner.Grouped() {
		k.Name, k.Text, k.File = "k_mlp_groups", sourceGroups, "mlp_groups.cl"
	} else {
		k.Params = append(k.Params[:len(k.Params):len(k.Params)], inInts("P"), inInts("F"))
	}
	k.Grid = func(a []kernels.Arg, l kernels.Target) kernels.Grid {
		items := block / mlpMatrixRows * warp
		return kernels.Grid{Dims: 1, Global: [3]int{a[4].N * items}, Local: [3]int{items}}
	}
	k.Host = kernels.HostKernel{F32: mlpHost(s.MLPShape, s.Inner, block, inputGrad, blas32.Implementation().Sgemm)}
	k.Cases = func(few bool) []kernels.Case { return s.cases(few, inputGrad) }
	k.SelfTest = func(like []kernels.Arg) []kernels.Operand {
		ops := s.MLPShape.selfTest(like, block, inputGrad)
		if ops == nil {
			return nil
		}
		if !s.Inner.Grouped() {
			ops = append(ops, s.packed()...)
		}
		return ops
	}
	scale := k.Tol.Scale
	k.Tol.Scale = func(a []kernels.Arg) float64 { return scale(a) * max(1, kernels.MaxAbs(a, 0)) } // the error is as large as x, and so is what it meets
	if s.Inner.factors() != Pairs {                                                                // what is nearly halfway between two factors is rounded either way: a unit of 2⁻¹¹ where float32 has 2⁻²⁴
		k.Tol.Rel *= 1 << 13
	}
	k.Fusions = indexedForm{indexed(&k, s.Inputs/mlpMatrixParts), mlpMatrixParts}
	return &k
}

// packed returns the arguments P and F, as operands of a trial.
func (s MLPMatrix) packed() []kernels.Operand {
	n, _ := s.lengths()
	m := s.Layers
	var words, exponents []int32
	from := func(of *[]int32) func(before []kernels.Arg, i int) float64 {
		return func(before []kernels.Arg, i int) float64 {
			if words == nil {
				words, exponents = make([]int32, n), make([]int32, m)
				s.pack(words, exponents, func(i int) float32 { return float32(before[2].At(i)) })
			}
			return float64((*of)[i])
		}
	}
	return []kernels.Operand{selftest.Computed(n, from(&words)), selftest.Computed(m, from(&exponents))}
}

// Operands is [MLPShape.Operands], with packed weights.
func (s MLPMatrix) Operands(o *kernels.Operands, n, groups int, inputGrad bool) {
	s.MLPShape.Operands(o, n, groups, inputGrad)
	s.addPacked(o)
}

func (s MLPMatrix) addPacked(o *kernels.Operands) {
	if s.Inner.Grouped() {
		return
	}
	for _, op := range s.packed() {
		before := o.Args
		o.Elements(kernels.Int32, op.N, func(i int) float64 { return op.From(before, i) })
	}
}

// cases are the launches that test a step, over so many samples in so many groups, and, where
// factors have a scale, of samples, targets and weights so large or small that these do not hold
// what the layers make, in one block of two.
func (s MLPMatrix) cases(few, inputGrad bool) []kernels.Case {
	var cases []kernels.Case
	for _, c := range [][2]int{{31, 1}, {1, 1}, {129, 2}, {1000, 5}} {
		if few && len(cases) > 0 {
			break
		}
		cases = append(cases, kernels.Case{Name: fmt.Sprintf("%d samples in %d groups", c[0], c[1]),
			Build: func(o *kernels.Operands) { s.Operands(o, c[0], c[1], inputGrad) }})
	}
	if few || s.Inner.factors() < Pairs {
		return cases
	}
	if !inputGrad {
		cases = append(cases, s.overflowOfZeros())
	}
	const weights = 0.2
	for _, c := range []struct {
		name                   string
		input, target, weights float64 // of the last sample, or of all where weights are others, the last target, and the weights of the first layer
	}{
		{"infinity", math.Inf(1), 0, weights}, {"NaN", math.NaN(), 0, weights}, {"a target that is NaN", 1, math.NaN(), weights},
		{"large inputs", 0x1p62, 0, weights}, {"an overflow", 0x1p127, 0, weights}, {"small inputs", 0x1p-112, 0, weights},
		{"denormals", 0x1p-135, 0, weights}, {"small weights", 0x1p60, 0, 0x1p-112}, {"large weights", 0x1p-60, 0, 0x1p51},
	} {
		cases = append(cases, kernels.Case{Name: c.name, Build: func(o *kernels.Operands) {
			const n, groups = 140, 1
			out, _ := s.Offsets(s.Layers)
			_, bias := s.Offsets(0)
			from := n - 1
			if c.weights != weights { // with others, products would overflow either way, of which an fma keeps a sign
				from = 0
			}
			of := func(of, from int, v float64) func(i int) float64 {
				return func(i int) float64 {
					u := 2*o.Rand.Float64() - 1
					if i >= from && i < of {
						u *= v
					}
					return u
				}
			}
			o.Floats(n*s.Inputs, of(n*s.Inputs, from*s.Inputs, c.input)).Floats(n*s.Outputs, of(n*s.Outputs, (n-1)*s.Outputs, 1+c.target)).
				Floats(s.Size(), func(i int) float64 {
					switch u := 2*o.Rand.Float64() - 1; {
					case i < bias:
						return u * c.weights
					case i < out:
						return u * weights
					default:
						return u
					}
				}).In(groups*s.Size(), 0, 0).Out(groups)
			if inputGrad {
				o.Out(n * s.Inputs)
			} else {
				o.Out(0)
			}
			o.Int(n)
			s.addPacked(o)
		}})
	}
	return cases
}

// overflowOfZeros is a launch whose first layer has sums of 0, which would be infinite in the next
// one for a sample of zeros, of which there is none: the last block has fewer samples than it has
// room for.
func (s MLPMatrix) overflowOfZeros() kernels.Case {
	_, bias := s.Offsets(0)
	return kernels.Case{Name: "an overflow of zeros", Build: func(o *kernels.Operands) {
		const n, groups = 130, 1
		o.Floats(n*s.Inputs, func(i int) float64 {
			if i%s.Inputs == 0 {
				return 1
			}
			return 2*o.Rand.Float64() - 1
		}).In(n*s.Outputs, 0, 1).Floats(s.Size(), func(i int) float64 {
			switch {
			case i < s.Width: // of the first input
				return -0x1p127
			case i < bias:
				return 0
			case i < bias+s.Width:
				return 0x1p127
			}
			return 0.2 * o.Rand.Float64()
		}).In(groups*s.Size(), 0, 0).Out(groups).Out(0).Int(n)
		s.addPacked(o)
	}}
}

// mlpsOnMatrixUnits returns kernels of steps by each inner product, in several shapes and both
// blocks.
func mlpsOnMatrixUnits() []*kernels.Kernel {
	var all []*kernels.Kernel
	small, least := MLPShape{Inputs: 32, Width: 32, Layers: 2, Outputs: 3, Slope: 0.1}, MLPShape{Inputs: 32, Width: 32, Layers: 1, Outputs: 3, Slope: 0.1} // the latter takes less local memory than Oclgrind has
	narrow, shallow := MLPShape{Inputs: 64, Width: 32, Layers: 2, Outputs: 4, Slope: 0}, MLPShape{Inputs: 32, Width: 64, Layers: 1, Outputs: 1, Slope: 0.25, Absolute: true}
	for _, s := range []MLPMatrix{
		{small, Pairs}, {narrow, TF32}, {shallow, Halves}, {ExampleMLP, Pairs},
		{least, Pairs | Grouped}, {narrow, Scaled | Grouped}, {shallow, Halves | Grouped}, {ExampleMLP, Pairs | Grouped},
	} {
		block := mlpMatrixLarge
		if s.Inner == Halves {
			block = mlpMatrixSmall
		}
		if pack, _ := s.Pack(kernels.Float32, false, kernels.Target{}); pack != nil {
			all = append(all, pack)
		}
		loss := s.Loss(kernels.Float32, block, s.MLPShape != ExampleMLP)
		if all = append(all, loss); s.MLPShape == narrow || s.MLPShape == shallow { // the inputs of both sizes, by either instruction
			form, _ := TableIndexed(loss)
			all = append(all, form)
		}
	}
	return all
}
