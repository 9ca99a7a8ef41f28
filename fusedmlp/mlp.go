package fusedmlp

import (
	"fmt"
	"math"
	"sync"

	"github.com/clgrad/clgrad/internal/boolmath"
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/gradsums"
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/parallel"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/selftest"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// MLPShape is a perceptron of so many Inputs and Outputs that one launch can train: Layers hidden
// layers of Width units with a leaky ReLU of Slope, and an output layer without bias or activation.
type MLPShape struct {
	Inputs, Width, Layers, Outputs int
	Slope                          float64
	Absolute                       bool // the loss is the sum of absolute errors, not of squared ones
}

// ExampleMLP is the shape whose kernels tests, tuning and benchmarks take for those of all shapes.
var ExampleMLP = MLPShape{Inputs: 64, Width: 64, Layers: 3, Outputs: 3, Slope: 0.1}

// Samples are shared out in blocks of mlpBlock, on a GPU also in small and large ones; ITEMS of
// mlp_gpu.cl is mlpItems; mlpLocal is the local memory that it may take.
const (
	mlpBlock = 16
	mlpSmall = 8
	mlpLarge = 32

	// Groups for each unit of a GPU. As many as run at once: of large blocks, and of any of other
	// perceptrons, more would wait for local memory. On an H200, 2, 3 and 6 made steps of 65,536
	// and of 262,144 samples slower; 5 the former.
	mlpGroups      = 6
	mlpLargeGroups = 4
	mlpItems       = 128
	mlpLocal       = 48 << 10
)

// Check returns why the kernels cannot train the shape on a device with floats of type t, or nil.
func (s MLPShape) Check(t kernels.DType, l kernels.Target) error {
	switch {
	case !l.CPU && l.LocalMem < mlpLocal:
		return fmt.Errorf("the device has %d bytes of local memory: a fused step may take %d", l.LocalMem, mlpLocal)
	case s.Width%16 != 0 || s.Width < 16 || s.Width > 128:
		return fmt.Errorf("width %d: fused layers are 16 to 128 units wide, a multiple of 16", s.Width)
	case s.Inputs%4 != 0 || s.Inputs < 8 || s.Inputs > 256:
		return fmt.Errorf("%d inputs: fused networks have 8 to 256, a multiple of 4", s.Inputs)
	case s.Outputs < 1 || s.Outputs > 16:
		return fmt.Errorf("%d outputs: fused networks have 1 to 16", s.Outputs)
	case s.Layers < 1 || s.tile(t, mlpBlock) == 0:
		return fmt.Errorf("%d layers of width %d: their activations exceed a GPU's local memory", s.Layers, s.Width)
	case !(s.Slope >= 0):
		return fmt.Errorf("slope %v: the sign of an activation must determine its derivative", s.Slope)
	}
	return nil
}

// tile returns the samples whose activations mlp_gpu.cl holds in local memory at once, at most
// `most`: 0 if there is not enough for any.
func (s MLPShape) tile(t kernels.DType, most int) int {
	for tile := most; tile >= mlpSmall; tile /= 2 {
		if s.chunk(tile, t) > 0 {
			return tile
		}
	}
	return 0
}

// chunk returns the rows of a layer's weights that mlp_gpu.cl stages in local memory beside the
// activations of a tile: a divisor of Width, 0 if there is room for none. More than one row for
// each work-item of a block of samples gain nothing.
func (s MLPShape) chunk(tile int, t kernels.DType) int {
	row := max(s.Inputs, s.Width) + 4
	for chunk := mlpItems * max(4, tile/4) / tile; chunk >= 16; chunk /= 2 {
		elements := (s.Layers+1)*tile*row + max(s.Width*(chunk+4), mlpItems*s.Outputs) + tile*s.Outputs
		if s.Width%chunk == 0 && elements*t.Size() <= mlpLocal {
			return chunk
		}
	}
	return 0
}

// Offsets returns where the weights and the bias of layer l start.
func (s MLPShape) Offsets(l int) (weights, bias int) {
	for i := range l {
		weights += intmath.RoundUp(s.fanIn(i)*s.Width, gradsums.ParameterAlign) + intmath.RoundUp(s.Width, gradsums.ParameterAlign)
	}
	return weights, weights + intmath.RoundUp(s.fanIn(l)*s.Width, gradsums.ParameterAlign)
}

func (s MLPShape) fanIn(l int) int {
	if l == 0 {
		return s.Inputs
	}
	return s.Width
}

// Size returns the elements of the parameters, each padded to gradsums.ParameterAlign.
func (s MLPShape) Size() int {
	last, _ := s.Offsets(s.Layers)
	return last + intmath.RoundUp(s.Width*s.Outputs, gradsums.ParameterAlign)
}

// Block returns in blocks of how many samples a step over n samples is shared out: on a GPU, those
// whose activations are in local memory at once, the more the more samples there are for each of
// its units.
func (s MLPShape) Block(n int, t kernels.DType, l kernels.Target) int {
	switch {
	case !l.CPU && n < mlpBlock*l.Units:
		return mlpSmall
	case !l.CPU && n >= mlpLarge*mlpLargeGroups*l.Units:
		return s.tile(t, mlpLarge)
	}
	return s.tile(t, mlpBlock)
}

// Groups returns how many shares of the gradient a step over n samples in such blocks makes: on a
// GPU, as many as its units run at once, on a CPU one for each core.
func (s MLPShape) Groups(n, block int, l kernels.Target) int {
	most := l.Units
	if !l.CPU {
		most *= mlpGroups
		if block == mlpLarge {
			most = mlpLargeGroups * l.Units
		}
	}
	return max(1, min(intmath.CeilDiv(n, block), most))
}

// Pack returns no kernel: the step reads the parameters as they are.
func (s MLPShape) Pack(kernels.DType, bool, kernels.Target) (*kernels.Kernel, []int) { return nil, nil }

// Scratch returns nothing: all that the step keeps is in local memory or registers.
func (s MLPShape) Scratch(int, int, kernels.DType, bool, kernels.Target) []int { return nil }

// Loss is [MLPLoss] of the shape.
func (s MLPShape) Loss(t kernels.DType, block int, inputGrad bool) *kernels.Kernel {
	return MLPLoss(s, t, block, inputGrad)
}

// MLPLoss returns the kernel of a fused training step on floats of type t in blocks of 8, 16 or 32
// samples: X [n, Inputs], T [n, Outputs], W (the parameters as mlp.cl lays them out), PART [groups,
// Size], LOSS [groups], DX [n, Inputs], n. Each group of samples leaves its share of the gradient
// and of the loss. The paddings of PART are not written, nor is DX, the gradient of X, unless
// inputGrad is set.
func MLPLoss(s MLPShape, t kernels.DType, block int, inputGrad bool) *kernels.Kernel {
	defines := fmt.Sprintf("-DINPUTS=%d -DWIDTH=%d -DLAYERS=%d -DOUTPUTS=%d -DSLOPE=%g -DBLOCK=%d -DCHUNK=%d",
		s.Inputs, s.Width, s.Layers, s.Outputs, s.Slope, block, s.chunk(block, t))
	if s.Absolute {
		defines += " -DABSOLUTE"
	}
	if inputGrad {
		defines += " -DINPUT_GRAD"
	}
	return &kernels.Kernel{
		Name: "k_mlp_loss", Text: sourceCPU, File: "mlp_cpu.cl", GPUText: sourceGPU, GPU: "mlp_gpu.cl", Defines: defines,
		Params: []kernels.Param{in("X"), in("T"), in("W"), inOut("PART"), out("LOSS"), inOut("DX"), intArg("n")},
		Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
			if l.CPU {
				return kernels.Grid{Dims: 1, Global: [3]int{a[4].N}, Local: [3]int{1}}
			}
			return kernels.Grid{Dims: 1, Global: [3]int{a[4].N * mlpItems}, Local: [3]int{mlpItems}}
		},
		Host: kernels.HostKernel{F32: mlpHost(s, FMA, block, inputGrad, blas32.Implementation().Sgemm),
			F64: mlpHost(s, FMA, block, inputGrad, blas64.Implementation().Dgemm)},
		Cases:    func(few bool) []kernels.Case { return s.cases(few, inputGrad) },
		SelfTest: func(like []kernels.Arg) []kernels.Operand { return s.selfTest(like, block, inputGrad) },
		Fusions:  fused.Fusions{Prologues: stepLoads(s.Inputs, s.Outputs)},
		Tol: kernels.Tolerance{ULP: 4, Rel: 64, Scale: func(a []kernels.Arg) float64 {
			// Errors of a layer pass through those above: bounded by the sizes of what meets in a
			// sum.
			return float64(a[6].Int) * max(1, kernels.MaxAbs(a, 0)) * max(1, kernels.MaxAbs(a, 1)) *
				max(1, kernels.MaxAbs(a, 2)) * float64(s.Width) * math.Pow(max(1, s.Slope), float64(s.Layers))
		}},
	}
}

// cases are the launches that test a step, over so many samples in so many groups.
func (s MLPShape) cases(few, inputGrad bool) []kernels.Case {
	var cases []kernels.Case
	for _, c := range [][2]int{{1, 1}, {17, 1}, {33, 2}, {130, 3}, {200, 2}} {
		if few && c[0] > 33 {
			continue
		}
		cases = append(cases, kernels.Case{Name: fmt.Sprintf("%d samples in %d groups", c[0], c[1]),
			Build: func(o *kernels.Operands) { s.Operands(o, c[0], c[1], inputGrad) }})
	}
	return cases
}

// Operands adds those of a step over n samples in a number of groups, with room for the gradient of
// the inputs if it is computed.
func (s MLPShape) Operands(o *kernels.Operands, n, groups int, inputGrad bool) {
	o.In(n*s.Inputs, -1, 1).In(n*s.Outputs, 0, 1).In(s.Size(), -0.2, 0.2).In(groups*s.Size(), 0, 0).Out(groups)
	if inputGrad {
		o.Out(n * s.Inputs)
	} else {
		o.Out(0)
	}
	o.Int(n)
}

// trial makes the operands of a step like a launch, over fewer samples where that is too large.
func (s MLPShape) selfTest(like []kernels.Arg, block int, inputGrad bool) []kernels.Operand {
	if like == nil {
		return nil
	}
	n := min(int(like[6].Int), max(33, selftest.Products/s.Size()))
	groups := max(1, min(like[4].N, intmath.CeilDiv(n, block))) // a launch has no more groups than blocks
	dx := 0
	if inputGrad {
		dx = n * s.Inputs
	}
	return []kernels.Operand{selftest.Uniform(n*s.Inputs, -1, 1), selftest.Uniform(n*s.Outputs, 0, 1),
		selftest.Uniform(s.Size(), -0.2, 0.2), selftest.Uniform(groups*s.Size(), 0, 0),
		selftest.Output(groups), selftest.Output(dx), selftest.Number(float64(n))}
}

// mlpScratch is what a share keeps from launch to launch: the activations of each layer and two
// buffers for gradients.
type mlpScratch[T kernels.Float] struct {
	h       [][]T
	d, e, z []T
	ht, dt  []T // transposes
	products[T]
	factor [2]T // of the slope at most 0, and above
	// Hidden layers multiply what is rounded so: hidden is the parameters, and factors what their
	// products take.
	precision kernels.Precision
	hidden    []T
	factors   [][]T
}

// products are those of a step, with vector instructions or with gonum's BLAS.
type products[T kernels.Float] struct {
	loops *vec.Loops[T] // nil: BLAS
	gemm  blasGemm[T]
	// Constants as operands of loops.
	zeros, slopes, ones []T
	low                 []T  // a block of values times the slope
	add                 bool // gradients of weights are added to those of samples before
}

// mlpHost runs a step, the shares in parallel. Inner says what the hidden layers' factors are
// rounded to.
func mlpHost[T kernels.Float](s MLPShape, inner Inner, block int, inputGrad bool,
	gemm blasGemm[T]) func(kernels.HostArgs[T]) {
	var scratches, transposes sync.Pool
	return func(c kernels.HostArgs[T]) {
		x, t, w, part, loss, dx, n := c.Floats(0), c.Floats(1), c.Floats(2), c.Floats(3), c.Floats(4), c.Floats(5), c.Int(6)
		wt, loops := make([]*[]T, s.Layers), loopsOf(c)
		hidden := rounded(inner, w)
		for l := range wt {
			if loops != nil { // which need no transposes
				break
			}
			at, _ := s.Offsets(l) // as in plain: dot products are the fast form
			wt[l] = transposed(&transposes, hidden[at:at+s.fanIn(l)*s.Width], s.fanIn(l), s.Width)
			defer transposes.Put(wt[l])
		}
		groups, blocks := len(loss), intmath.CeilDiv(n, block)
		parallel.For(groups, 1, func(lo, hi int) {
			m, _ := scratches.Get().(*mlpScratch[T])
			if m == nil {
				m = &mlpScratch[T]{factor: [2]T{T(s.Slope), 1}}
			}
			m.loops, m.gemm, m.precision, m.hidden = loops, gemm, inner.Precision(), hidden
			defer scratches.Put(m)
			for g := lo; g < hi; g++ {
				from, to := blocks*g/groups*block, min(n, blocks*(g+1)/groups*block)
				var down []T
				if inputGrad {
					down = dx[from*s.Inputs : to*s.Inputs]
				}
				loss[g] = m.pass(s, x[from*s.Inputs:to*s.Inputs], t[from*s.Outputs:to*s.Outputs], w, wt, part[g*s.Size():], down, to-from, mlpCached)
			}
		})
	}
}

// mlpCached is how many samples go through all layers at a time, while what the layers hold of them
// is in the cache. It is a multiple of the steps that package vec adds up by themselves: sums over
// all samples have the bits that they have at once.
const mlpCached = 512

// pass trains on n samples, at most so many at a time with loops: it writes their gradient to part,
// that of x to dx unless that is nil, and returns their loss.
func (m *mlpScratch[T]) pass(s MLPShape, x, t, w []T, wt []*[]T, part, dx []T, n, most int) T {
	if m.loops == nil {
		most = max(n, 1)
	}
	m.grow(s, min(n, most))
	loss := 0.0
	for lo := 0; lo == 0 || lo < n; lo += most {
		hi := min(lo+most, n)
		m.add = lo > 0
		down := dx
		if dx != nil {
			down = dx[lo*s.Inputs : hi*s.Inputs]
		}
		loss = m.some(s, x[lo*s.Inputs:hi*s.Inputs], t[lo*s.Outputs:hi*s.Outputs], w, wt, part, down, hi-lo, loss)
	}
	return T(loss)
}

// some trains on n samples that there is room for, and adds their loss to a sum.
func (m *mlpScratch[T]) some(s MLPShape, x, t, w []T, wt []*[]T, part, dx []T, n int, loss float64) float64 {
	in := x
	for l := range s.Layers {
		h, k := m.h[l][:n*s.Width], s.fanIn(l)
		weights, bias := s.Offsets(l)
		m.forward(m.rounded(l, in), m.hidden[weights:], wt[l], w[bias:bias+s.Width], h, n, k, s.Width)
		m.slope(h, h)
		in = h
	}
	gradient, e := m.d[:n*s.Width], m.e[:n*s.Width]
	loss = m.output(s, in, t, w, part, gradient, n, loss)
	for l := s.Layers - 1; l >= 0; l-- {
		below, k := x, s.fanIn(l)
		if l > 0 {
			below = m.h[l-1][:n*s.Width]
		}
		weights, bias := s.Offsets(l)
		m.columns(part[bias:bias+s.Width], gradient, n)
		d := m.rounded(s.Layers, gradient)
		m.weights(m.rounded(l, below), d, part[weights:], n, k, s.Width)
		if l == 0 {
			if dx != nil {
				m.back(d, m.hidden[weights:], dx, n, s.Width, k)
			}
			break
		}
		m.back(d, m.hidden[weights:], e, n, s.Width, s.Width)
		m.slope(e, below)
		gradient, e = e, gradient
	}
	return loss
}

// rounded returns what is a factor of layer l's products, or the gradient of a layer with l that of
// the output, as they take it.
func (m *mlpScratch[T]) rounded(l int, x []T) []T {
	if m.precision == kernels.PrecisionFloat32 {
		return x
	}
	for len(m.factors) <= l {
		m.factors = append(m.factors, nil)
	}
	if cap(m.factors[l]) < len(x) {
		m.factors[l] = scratch[T](len(x))
	}
	to := m.factors[l][:len(x)]
	for i, v := range x {
		to[i] = T(m.precision.Round(float64(v)))
	}
	return to
}

// grow makes room for n samples.
func (m *mlpScratch[T]) grow(s MLPShape, n int) {
	if m.h != nil && len(m.d) >= n*s.Width {
		return
	}
	m.h = make([][]T, s.Layers)
	for l := range m.h {
		m.h[l] = scratch[T](n * s.Width)
	}
	m.d, m.e, m.z = scratch[T](n*s.Width), scratch[T](n*s.Width), scratch[T](n*s.Outputs)
	m.ht, m.dt = scratch[T](n*max(s.Width, s.Inputs)), scratch[T](n*s.Width)
	m.zeros, m.slopes, m.low, m.ones = make([]T, slopeBlock), make([]T, slopeBlock), make([]T, slopeBlock), make([]T, n)
	for i := range m.slopes {
		m.slopes[i] = m.factor[0]
	}
	for i := range m.ones {
		m.ones[i] = 1
	}
}

// forward sets h [n, width] to the sums of a layer: in [n, k] times w [k, width], whose transpose
// is wt, plus bias.
func (m *mlpScratch[T]) forward(in, w []T, wt *[]T, bias, h []T, n, k, width int) {
	if m.loops != nil {
		m.loops.Product(vec.Product[T]{M: n, N: width, K: k, A: in, RowA: k, StepA: 1, B: w, StepB: width, ColumnB: 1, C: h, RowC: width, Bias: bias}, nil)
		return
	}
	for r := range n {
		copy(h[r*width:], bias)
	}
	m.gemm(blas.NoTrans, blas.Trans, n, width, k, 1, in, k, *wt, k, 1, h, width)
}

// weights sets part [k, width] to the gradient of weights, or adds it: below [n, k], transposed,
// times d [n, width].
func (m *mlpScratch[T]) weights(below, d, part []T, n, k, width int) {
	if m.loops != nil {
		m.loops.Product(vec.Product[T]{M: k, N: width, K: n, A: below, RowA: 1, StepA: k, B: d, StepB: width, ColumnB: 1, C: part, RowC: width, Add: m.add}, nil)
		return
	}
	transpose(m.ht, below, n, k)
	transpose(m.dt, d, n, width)
	m.gemm(blas.NoTrans, blas.Trans, k, width, n, 1, m.ht, n, m.dt, n, 0, part, width) // dot products, as in plain
}

// back sets e [n, k] to d [n, width] times w [k, width], transposed.
func (m *mlpScratch[T]) back(d, w, e []T, n, width, k int) {
	if m.loops != nil {
		m.loops.Product(vec.Product[T]{M: n, N: k, K: width, A: d, RowA: width, StepA: 1, B: w, StepB: 1, ColumnB: width, C: e, RowC: k}, nil)
		return
	}
	m.gemm(blas.NoTrans, blas.Trans, n, k, width, 1, d, width, w, width, 0, e, k)
}

// columns sets sums to those of the columns of d, which has n rows, or adds them.
func (m *mlpScratch[T]) columns(sums, d []T, n int) {
	width := len(sums)
	if m.loops != nil && n > 0 {
		m.loops.Product(vec.Product[T]{M: 1, N: width, K: n, A: m.ones[:n], RowA: n, StepA: 1, B: d, StepB: width, ColumnB: 1, C: sums, RowC: width, Add: m.add}, nil)
		return
	}
	columnSums(sums, d, n)
}

// slopeBlock is how many elements slope computes at a time.
const slopeBlock = 512

// slope multiplies v by the slope of the activation where h, its operand or its value, is not
// above 0.
func (m *mlpScratch[T]) slope(v, h []T) {
	if m.loops == nil || !m.loops.Has(vec.WhereLess) {
		for i, x := range h {
			v[i] *= m.factor[boolmath.Positive(x)]
		}
		return
	}
	for lo := 0; lo < len(v); lo += slopeBlock {
		hi := min(lo+slopeBlock, len(v))
		n := hi - lo
		to, down := v[lo:hi], m.low[:n]
		m.loops.Map(vec.Mul, down, to, m.slopes, down, down)
		m.loops.Map(vec.WhereLess, to, m.zeros, h[lo:hi], to, down)
	}
}

// output computes the last layer, the gradient of its weights, and d, that of the layer below. It
// adds the loss to a sum.
func (m *mlpScratch[T]) output(s MLPShape, top, t, w, part, d []T, n int, loss float64) float64 {
	at, _ := s.Offsets(s.Layers)
	wo, dwo := w[at:at+s.Width*s.Outputs], part[at:at+s.Width*s.Outputs]
	if m.loops != nil {
		z := m.z[:n*s.Outputs]
		m.loops.Product(vec.Product[T]{M: n, N: s.Outputs, K: s.Width, A: top, RowA: s.Width, StepA: 1, B: wo, StepB: s.Outputs, ColumnB: 1, C: z, RowC: s.Outputs}, nil)
		loss = mlpLoss(s, z, t, loss)
		m.weights(top, z, dwo, n, s.Width, s.Outputs)
		m.back(z, wo, d, n, s.Outputs, s.Width)
		m.slope(d, top)
		return loss
	}
	clear(dwo)
	var z [16]T
	for r := range n {
		h, down := top[r*s.Width:(r+1)*s.Width], d[r*s.Width:(r+1)*s.Width]
		clear(z[:])
		for k, v := range h {
			for o, u := range wo[k*s.Outputs : (k+1)*s.Outputs] {
				z[o] += v * u
			}
		}
		loss = mlpLoss(s, z[:s.Outputs], t[r*s.Outputs:], loss)
		for k, v := range h {
			var sum T
			for o, u := range wo[k*s.Outputs : (k+1)*s.Outputs] {
				sum += z[o] * u
				dwo[k*s.Outputs+o] += v * z[o]
			}
			down[k] = sum * m.factor[boolmath.Positive(v)]
		}
	}
	return loss
}

// mlpLoss adds the loss of outputs z to a sum, and sets them to its gradient.
func mlpLoss[T kernels.Float](s MLPShape, z, t []T, loss float64) float64 {
	for o := range z {
		err := z[o] - t[o]
		if s.Absolute {
			loss += math.Abs(float64(err))
			z[o] = sign(err)
		} else {
			loss += float64(err * err)
			z[o] = 2 * err
		}
	}
	return loss
}

// sign returns −1, 0 or 1 with the sign of x; ±0 and NaN stay.
func sign[T kernels.Float](x T) T {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x
}
