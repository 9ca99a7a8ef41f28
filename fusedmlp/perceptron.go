package fusedmlp

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"weak"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/selftest"
)

// skips returns of which layers the next layer reads what they read, beside k.
func skips(l *Layer) (list []int) {
	if l.Value == nil {
		return nil
	}
	for i, used := range l.Value.Operands() {
		if used && i > 0 {
			list = append(list, i-1)
		}
	}
	return list
}

// joins returns of which layers the gradient of what they read is part of that of what this one
// reads.
func joins(l *Layer) (list []int) {
	if l.Join == nil {
		return nil
	}
	for i, used := range l.Join.Operands() {
		if used && i > 0 {
			list = append(list, i)
		}
	}
	return list
}

const (
	perceptronLayers = 8
	perceptronWidth  = 128
	perceptronInputs = 256
	perceptronShares = 1 << 25
	// Of more parameters tiles of 32 that take turns are faster than those of 16 that do not: on an
	// H200, of 8,192 samples, 72,000 take 205 and 301 µs, and 39,000 110 and 99.
	perceptronDeep = 48 << 10
	// Of more parameters, and three times as many where gradients read sums and none are added up,
	// passes of many samples are slower than layers: 39,000 with ReLU take 657 µs of 65,536, and
	// the layers 631; 72,000 with GELU 1,537 and 1,895.
	perceptronMany = 32 << 10
	// Groups for each unit where the sums that gradients read lie in global memory. On an H200,
	// 32→128→128→10 with GELU takes 482, 360, 394 and 497 µs of 65,536 samples with 1 to 4, if
	// nobody reads the loss; with 4 and the loss read it took 346, by the same kernel.
	perceptronOutside = 2
)

// CheckLayers returns why one launch cannot train a perceptron of n layers, or nil.
func CheckLayers(n int) error {
	if n > perceptronLayers {
		return fmt.Errorf("%d layers: one launch trains %d at most", n, perceptronLayers)
	}
	return nil
}

// Check returns why the kernels cannot train the perceptron on a device with floats of type t, or
// nil.
func (p *Perceptron) Check(t kernels.DType, l kernels.Target) error {
	if err := CheckLayers(len(p.Layers)); err != nil {
		return err
	}
	for i, layer := range p.Layers {
		if layer.Outputs > perceptronWidth || layer.Inputs > perceptronInputs {
			return fmt.Errorf("layer %d has %d inputs and %d outputs: one launch trains layers of %d and %d at most", i, layer.Inputs, layer.Outputs, perceptronInputs, perceptronWidth)
		}
	}
	if !l.CPU && l.LocalMem < mlpLocal {
		return fmt.Errorf("the device has %d bytes of local memory: a step may take %d", l.LocalMem, mlpLocal)
	}
	return nil
}

// CheckSamples is Check for a step over n samples. For each tile of them a group adds to its share
// of the gradient, in global memory: with many samples and parameters that takes a GPU longer than
// the layers one by one, which take longer, too, if gradients read their sums. Gradients that are
// added up, as in residual networks, cost the step more.
func (p *Perceptron) CheckSamples(n int, t kernels.DType, l kernels.Target) error {
	if err := p.Check(t, l); err != nil {
		return err
	}
	most := perceptronMany
	if p.sums() > 0 && p.gradients() == 0 {
		most *= 3
	}
	if layers := len(p.Layers); !l.CPU && n >= mlpLarge*mlpLargeGroups*l.Units && layers > 3 && p.Size() > most {
		return fmt.Errorf("%d parameters: of so many samples, %d layers of more than %d are faster one by one", p.Size(), layers, most)
	}
	return nil
}

// keepsSums reports whether the gradient of layer i reads z.
func (p *Perceptron) keepsSums(i int) bool {
	s := p.Layers[i].InputGrad
	return s != nil && len(s.Operands()) > 0 && s.Operands()[0]
}

// gradientPlaces returns where the gradients of what layers read, and of the outputs, are kept
// until others are joined with them, by layer, −1 for those that are not, and how many elements of
// a sample each place has. A place is taken over in the launch that reads it last.
func (p *Perceptron) gradientPlaces() (at, widths []int) {
	last := make([]int, len(p.Layers)+1) // layer that reads it last, on the way down
	at = make([]int, len(p.Layers)+1)
	for j := range last {
		last[j], at[j] = -1, -1
	}
	for i := len(p.Layers) - 1; i >= 0; i-- {
		for _, j := range joins(&p.Layers[i]) {
			last[j] = i
		}
	}
	var until []int
	for j := len(p.Layers); j >= 0; j-- {
		if last[j] < 0 {
			continue
		}
		place := -1
		for k, w := range widths {
			if w == p.width(j) && until[k] >= j {
				place = k
				break
			}
		}
		if place < 0 {
			place = len(widths)
			widths, until = append(widths, p.width(j)), append(until, 0)
		}
		at[j], until[place] = place, last[j]
	}
	return at, widths
}

// Block returns in blocks of how many samples a step over n samples is shared out, as
// MLPShape.Block does. Where a GPU has more than two of 16 for each unit, those of many parameters
// are large, too, which are read and added to once for each.
func (p *Perceptron) Block(n int, t kernels.DType, l kernels.Target) int {
	if l.CPU {
		if p.fits(mlpBlock, keptLocally, t) {
			return mlpBlock
		}
		return mlpSmall
	}
	switch {
	case n < mlpBlock*l.Units:
		return mlpSmall
	case n >= mlpLarge*mlpLargeGroups*l.Units && p.fits(mlpLarge, keptNoSums, t):
		return mlpLarge
	case n > mlpLarge*l.Units && (p.Size() > perceptronDeep || !p.fits(mlpBlock, keptLocally, t)) && p.fits(mlpLarge, keptInTurn, t):
		return mlpLarge
	case p.fits(mlpBlock, keptNoSums, t) || p.fits(mlpBlock, keptInTurn, t):
		return mlpBlock
	}
	return mlpSmall
}

// Groups returns how many shares of the gradient a step makes: on a GPU, as many as its units run
// at once, but no more than take perceptronShares elements, if there is one for each unit.
func (p *Perceptron) Groups(n, block int, l kernels.Target) int {
	groups := intmath.CeilDiv(n, block)
	if l.CPU {
		groups = min(groups, l.Units)
	} else {
		each := mlpLargeGroups
		if block == mlpLarge && p.keeping(block, kernels.Float32) == keptNoSums {
			each = perceptronOutside
		}
		groups = min(groups, each*l.Units, max(l.Units, perceptronShares/p.Size()))
	}
	return max(1, groups)
}

// fusedStep is a perceptron while its kernel is made.
type fusedStep struct {
	Perceptron
	kept, values, slopes, joins []*formula // by layer; nil where there is none
	factors                     []*formula // what the gradient is multiplied with, of k and of what the next layer reads: it is kept in the place of k
	error, slope, up            *formula
	place                       []int // of the gradients of what the layers read
	room                        []int // of these places, for each sample
	block                       int
	float                       kernels.DType
	keeps                       keeping
	down                        bool // the gradient of the inputs is computed
}

func (p *Perceptron) pass(t kernels.DType, block int, down bool) *fusedStep {
	of := func(name string, value *expr.Expr) *formula {
		if value == nil {
			return nil
		}
		return newFormula(name, value)
	}
	s := &fusedStep{Perceptron: *p, error: of("error", p.Error), slope: of("down", p.OutputGrad), block: block, down: down, float: t, keeps: p.keeping(block, t)}
	if p.Labels != nil {
		s.up = of("up", p.Labels.Up)
	}
	s.place, s.room = p.gradientPlaces()
	s.Layers = slices.Clone(p.Layers)
	for i, l := range p.Layers {
		// A factor shares functions with the value, such as the erfc of a GELU, where that is made.
		factor := (*formula)(nil)
		if p.keepsSums(i) {
			if f := l.InputGrad.Factor(2); f != nil {
				factor, l.InputGrad = of(fmt.Sprint("factor", i), f), expr.Input(0).Mul(expr.Input(2))
				s.Layers[i].InputGrad = l.InputGrad
			}
		}
		s.factors = append(s.factors, factor)
		s.kept, s.values = append(s.kept, of(fmt.Sprint("kept", i), l.Kept)), append(s.values, of(fmt.Sprint("value", i), l.Value))
		s.slopes, s.joins = append(s.slopes, of(fmt.Sprint("slope", i), l.InputGrad)), append(s.joins, of(fmt.Sprint("join", i), l.Join))
	}
	return s
}

// formulas are all that there are.
func (s *fusedStep) formulas() (list []*formula) {
	for _, fn := range slices.Concat(s.kept, s.values, s.factors, s.slopes, s.joins, []*formula{s.error, s.slope, s.up}) {
		if fn != nil {
			list = append(list, fn)
		}
	}
	return list
}

// stepsMade are the kernels of steps, by what they are made for: as long as a recording holds
// one.
var stepsMade struct {
	sync.Mutex
	of map[string]weak.Pointer[kernels.Kernel]
}

// made returns a kernel that was made for the key, or makes it.
func made(key string, build func() *kernels.Kernel) *kernels.Kernel {
	stepsMade.Lock()
	defer stepsMade.Unlock()
	if k := stepsMade.of[key].Value(); k != nil {
		return k
	}
	if stepsMade.of == nil {
		stepsMade.of = map[string]weak.Pointer[kernels.Kernel]{}
	}
	for key, made := range stepsMade.of {
		if made.Value() == nil {
			delete(stepsMade.of, key)
		}
	}
	k := build()
	stepsMade.of[key] = weak.Make(k)
	return k
}

// stepWeights is the argument of a step with the weights of classes, if they have any.
const stepWeights = 8

// weighted reports whether the kernel has that argument.
func (p *Perceptron) weighted() bool { return p.Labels != nil && p.Labels.Weighted }

// Loss returns the kernel of a fused training step: its arguments are those of [MLPLoss], V, which
// the kernel of Pack writes, the weights of classes, if they have any, and those of Scratch.
func (p *Perceptron) Loss(t kernels.DType, block int, inputGrad bool) *kernels.Kernel {
	s := p.pass(t, block, inputGrad)
	key := fmt.Sprint(t, block, inputGrad)
	if l := p.Labels; l != nil {
		key += fmt.Sprint(" ", l.Ignore, l.Smoothing, l.Weighted, l.Mean)
	}
	for _, l := range p.Layers {
		key += fmt.Sprint("|", l.Inputs, l.Outputs, l.Weights, l.Bias)
	}
	for _, fn := range s.formulas() {
		key += fmt.Sprint("|", fn.name, " ", fn.program.Key())
	}
	return made(key, func() *kernels.Kernel { return newFusedStep(s, t) })
}

func newFusedStep(s *fusedStep, t kernels.DType) *kernels.Kernel {
	first, last := s.Layers[0], s.Layers[len(s.Layers)-1]
	_, turned := s.turned(s.down)
	target := in("T")
	loads := stepLoads(first.Inputs, last.Outputs)
	if s.Labels != nil {
		target, loads = inInts("T"), loads[:1]
	}
	operands := func(o *kernels.Operands, n, groups int) {
		s.drawTargets(o.In(n*first.Inputs, -1, 1), n).In(s.Size(), -0.2, 0.2).In(groups*s.Size(), 0, 0).Out(groups)
		if s.down {
			o.Out(n * first.Inputs)
		} else {
			o.Out(0)
		}
		o.Int(n)
		before := o.Args
		o.Floats(turned, func(i int) float64 { return s.turnedAt(before[2].At, i) })
		if s.weighted() {
			o.In(last.Outputs, 0.5, 2)
		}
		if s.scratch() {
			o.In(groups*max(s.block*s.outside(s.keeps), s.cpuOutside(t, s.down)), 0, 0)
		}
	}
	params := []kernels.Param{in("X"), target, in("W"), inOut("PART"), out("LOSS"), inOut("DX"), intArg("n"), in("V")}
	if s.weighted() {
		params = append(params, in("C"))
	}
	if s.scratch() {
		params = append(params, inOut("S"))
	}
	return &kernels.Kernel{
		Name: "k_perceptron", File: "perceptron_cpu.cl", GPU: "perceptron_gpu.cl", Text: s.cpuText(), GPUText: s.gpuText(),
		Params: params, Fusions: fused.Fusions{Prologues: loads},
		Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
			if l.CPU {
				return kernels.Grid{Dims: 1, Global: [3]int{a[4].N}, Local: [3]int{1}}
			}
			return kernels.Grid{Dims: 1, Global: [3]int{a[4].N * mlpItems}, Local: [3]int{mlpItems}}
		},
		Host: kernels.HostKernel{F32: stepHost[float32](s), F64: stepHost[float64](s)},
		Cases: func(few bool) []kernels.Case {
			var cases []kernels.Case
			for _, c := range [][2]int{{1, 1}, {17, 1}, {33, 2}, {130, 3}, {200, 2}} {
				if few && c[0] > 33 {
					continue
				}
				cases = append(cases, kernels.Case{Name: fmt.Sprintf("%d samples in %d groups", c[0], c[1]), Build: func(o *kernels.Operands) { operands(o, c[0], c[1]) }})
			}
			return cases
		},
		SelfTest: func(like []kernels.Arg) []kernels.Operand {
			if like == nil {
				return nil
			}
			n := min(int(like[6].Int), max(33, selftest.Products/s.Size()))
			groups := max(1, min(like[4].N, intmath.CeilDiv(n, s.block)))
			down := 0
			if s.down {
				down = n * first.Inputs
			}
			targets := selftest.Uniform(n*last.Outputs, 0, 1)
			if s.Labels != nil {
				targets = selftest.Uniform(n, -1, float64(last.Outputs))
			}
			operands := []kernels.Operand{selftest.Uniform(n*first.Inputs, -1, 1), targets,
				selftest.Uniform(s.Size(), -0.2, 0.2),
				selftest.Uniform(groups*s.Size(), 0, 0), selftest.Output(groups), selftest.Output(down),
				selftest.Number(float64(n)),
				selftest.Computed(turned, func(before []kernels.Arg, i int) float64 { return s.turnedAt(before[2].At, i) })}
			if s.weighted() {
				operands = append(operands, selftest.Uniform(last.Outputs, 0.5, 2))
			}
			if s.scratch() {
				operands = append(operands, selftest.Uniform(like[len(like)-1].N/like[4].N*groups, 0, 0))
			}
			return operands
		},
		Tol: s.tolerance(),
	}
}

// stepRel is how many epsilons of its scale a step may be off.
const stepRel = 64

func (s *fusedStep) tolerance() kernels.Tolerance {
	t := kernels.Tolerance{ULP: 4, Rel: stepRel, Scale: func(a []kernels.Arg) float64 { return s.scale(a) * s.targetScale(a) }}
	sum := s.Labels != nil && !s.Labels.Mean // gradients may be of a mean, where LOSS is a sum: it has another scale
	if !sum && !s.scratch() {
		return t
	}
	t.Bound = func(float kernels.DType, a []kernels.Arg) func(param, i int) float64 {
		eps, _ := float.Epsilon()
		loss := 0.0
		if sum {
			loss = stepRel * eps * s.scale(a) * s.heaviest(a) * s.labelScale()
		}
		return func(param, _ int) float64 {
			switch {
			case param == 4:
				return loss
			case param == len(a)-1 && s.scratch(): // what groups keep outside of local memory is no result
				return math.Inf(1)
			}
			return 0
		}
	}
	return t
}

// scale bounds errors by the sizes of what meets in a sum: those of a layer pass through the ones
// above.
func (s *fusedStep) scale(a []kernels.Arg) float64 {
	widest := 0
	for _, l := range s.Layers {
		widest = max(widest, l.Inputs, l.Outputs)
	}
	return float64(a[6].Int) * max(1, kernels.MaxAbs(a, 0)) * max(1, kernels.MaxAbs(a, 2)) * float64(widest) * s.steepness()
}

// drawTargets adds those of n samples; labels that do not count are among them.
func (s *fusedStep) drawTargets(o *kernels.Operands, n int) *kernels.Operands {
	outputs := s.Layers[len(s.Layers)-1].Outputs
	if s.Labels == nil {
		return o.In(n*outputs, 0, 1)
	}
	return o.Ints(n, func(i int) int {
		return []int{o.Rand.IntN(outputs), outputs - 1, 0, int(s.Labels.Ignore), o.Rand.IntN(outputs), -1, outputs}[i%7]
	})
}

// targetScale is how large the loss of an output and its gradient may be beside the outputs.
func (s *fusedStep) targetScale(a []kernels.Arg) float64 {
	if s.Labels == nil {
		return max(1, kernels.MaxAbs(a, 1))
	}
	l, counted := s.Labels, 0.0
	for i := range a[1].N {
		counted += s.labelWeight(int32(a[1].At(i)), func(k int) float64 { return a[stepWeights].At(k) })
	}
	scale := math.Abs(s.up.program.At(func(int) float64 { return counted }, nil))
	if l.Mean {
		scale = max(scale, 1/counted)
	}
	if !(scale <= 1) {
		scale = 1
	}
	return scale * s.heaviest(a) * s.labelScale()
}

// labelScale is how large the cross-entropy of a sample may be beside the outputs.
func (s *fusedStep) labelScale() float64 {
	return 2 + math.Log(float64(s.Layers[len(s.Layers)-1].Outputs))
}

// labelWeight returns what a label counts, of weights of classes if they have any: 0 for one that
// does not.
func (s *fusedStep) labelWeight(label int32, weights func(k int) float64) float64 {
	switch {
	case !counts(s.Labels, label, s.Layers[len(s.Layers)-1].Outputs):
		return 0
	case s.Labels.Weighted:
		return weights(int(label))
	}
	return 1
}

// heaviest is how large the weights of classes are, at least 1.
func (s *fusedStep) heaviest(a []kernels.Arg) float64 {
	if !s.weighted() {
		return 1
	}
	return max(1, kernels.MaxAbs(a, stepWeights))
}

// counts reports whether a label counts of so many classes.
func counts(l *Labels, label int32, classes int) bool {
	return label != l.Ignore && label >= 0 && int(label) < classes
}

// steepness is by how much the formulas of the layers may magnify what is put into all of them.
func (s *fusedStep) steepness() float64 {
	all := 1.0
	for i := range s.values {
		if s.values[i] == nil {
			continue
		}
		most := 1.0
		for z := -4.0; z <= 4; z += 0.25 {
			k := z
			if s.kept[i] != nil {
				k = s.kept[i].program.At(func(int) float64 { return z }, nil)
			}
			y := s.values[i].program.At(func(x int) float64 { return [2]float64{k, 0}[min(x, 1)] }, nil)
			if s.factors[i] != nil {
				k = s.factors[i].program.At(func(x int) float64 { return [2]float64{k, y}[x] }, nil)
			}
			slope := 1.0
			if s.slopes[i] != nil {
				slope = s.slopes[i].program.At(func(x int) float64 { return [3]float64{k, y, 1}[x] }, nil)
			}
			if !math.IsNaN(slope) {
				most = max(most, math.Abs(slope))
			}
		}
		all *= most + float64(len(skips(&s.Layers[i])))
	}
	return all
}
