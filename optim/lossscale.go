package optim

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// LossScalerConfig is the settings of a LossScaler. Start from [LossScalerDefaults], and change
// what should differ.
type LossScalerConfig struct {
	Initial float64 // the first scale, a power of two from 2⁻⁶⁰ to 2⁶⁰
	Every   int     // how many steps in a row must be finite for the scale to double, 1 to 2²⁴
}

// LossScalerDefaults returns PyTorch's settings: a scale of 65536 that doubles after 2000 steps.
func LossScalerDefaults() LossScalerConfig { return LossScalerConfig{Initial: 1 << 16, Every: 2000} }

// LossScaler is an optimizer whose losses are scaled, so that their gradients keep to the range of
// [tensor.PrecisionFloat16]. Products take a gradient below 3·10⁻⁸ for 0, and one above 65504 for
// infinite:
//
//	scaler := optim.NewLossScaler(optim.NewAdamW(params, cfg), optim.LossScalerDefaults())
//	...
//	scaler.Backward(loss)
//	scaler.Step()
//	scaler.ZeroGrad()
//
// Step divides the gradients by the scale. Where one is infinite or NaN it leaves the parameters
// and the state of the optimizer as they were, bit for bit, and halves the scale. After so many
// finite steps in a row the scale doubles. It stays in 2⁻⁶⁰ to 2⁶⁰. All of that happens on the
// device, which nobody waits for, and in recorded steps as in others. Scales are powers of two:
// they round nothing.
//
// A pass of a perceptron that a recording makes one launch rounds no factors, and needs no scaler:
// with one it stays several launches. Nor does a loss need one that is a sum over the batch, whose
// gradients are not divided by its size.
//
// A step that is left out is counted all the same: schedules and the corrections of Adam's moments
// continue. What the losses train must be this optimizer's parameters, since others would get
// gradients that are scaled.
//
// Source: Micikevicius et al., "Mixed Precision Training" (2018); PyTorch: torch.amp.GradScaler.
type LossScaler struct {
	opt     Optimizer
	b       *base // its own
	every   float64
	numbers *tensor.Tensor // scale, 1/scale, and the finite steps in a row

	scale, inverse, row *tensor.Tensor   // its elements
	tensors, before     []*tensor.Tensor // what a step changes, and what that was before
	largest             *tensor.Tensor   // the largest element of the gradients; NaN if there is one

	scaled, unscaled bool // a loss, and the gradients, since the last step
}

// The least and the largest scale.
const leastScale, mostScale = 0x1p-60, 0x1p60

// The most tensors that a launch keeps or puts back.
const sharedCache = 3

// keptRules copy operands to results. putBackRules choose, for each result, its operand if the last
// operand is finite, else that which was kept, which stands n operands later. Both are of n
// results.
var keptRules, putBackRules = func() (kept, back [sharedCache + 1]*kernels.FusedElementwise) {
	for n := 1; n <= sharedCache; n++ {
		kept[n], back[n] = &kernels.FusedElementwise{Name: fmt.Sprint("keep_", n)},
			&kernels.FusedElementwise{Name: fmt.Sprint("put_back_", n)}
		for i := range n {
			add := func(to *kernels.FusedElementwise, value *expr.Expr) {
				to.Functions = append(to.Functions, &kernels.Function{Name: fmt.Sprintf("%s_%d", to.Name, i), Value: value})
			}
			add(kept[n], expr.Input(i))
			add(back[n], expr.Where(finite(expr.Input(2*n)), expr.Input(i), expr.Input(n+i)))
		}
	}
	return kept, back
}()

// scaleRule makes the next scale, its inverse and the steps in a row of these, and of the largest
// element of the gradients. The scalar is how many steps double the scale.
var scaleRule = func() *kernels.FusedElementwise {
	scale, inverse, row, one := expr.Input(0), expr.Input(1), expr.Input(2), expr.Const(1)
	good := finite(expr.Input(3))
	grows := good.And(row.Add(one).Ge(expr.Param(0)))
	next := func(factor float64, of *expr.Expr, least, most float64) *expr.Expr {
		up, down := of.Mul(expr.Const(factor)), of.Mul(expr.Const(1/factor))
		return expr.Where(good, expr.Where(grows, up, of), down).Max(expr.Const(least)).Min(expr.Const(most))
	}
	count := expr.Where(good, expr.Where(grows, expr.Const(0), row.Add(one)), expr.Const(0))
	j := &kernels.FusedElementwise{Name: "loss_scale"}
	for i, f := range []*expr.Expr{next(2, scale, leastScale, mostScale), next(0.5, inverse, 1/mostScale, 1/leastScale), count} {
		j.Functions = append(j.Functions, &kernels.Function{Name: fmt.Sprint("loss_scale_", i), Value: f, Scalars: []float64{3},
			Domains: [][2]float64{{1, 4}, {0.25, 1}, {0, 4}, {0, 1}}})
	}
	return j
}()

func finite(x *expr.Expr) *expr.Expr { return x.Sub(x).Eq(expr.Const(0)) }

// NewLossScaler returns an optimizer whose steps are those of opt, of scaled losses. From then on
// its methods are called in place of those of opt. It panics with tensor.ErrValue for an optimizer
// that is nil, a LossScaler, or not of this package, and for settings out of range. It takes as
// much memory as the parameters and the moments of opt.
func NewLossScaler(opt Optimizer, cfg LossScalerConfig) *LossScaler {
	const op = "NewLossScaler"
	own, ok := opt.(interface{ own() *base })
	if !ok || own.own() == nil {
		badCall(op, fmt.Sprintf("it scales the losses of an optimizer that a function of this package made, such as NewAdamW, not of a %T", opt))
	}
	if frac, _ := math.Frexp(cfg.Initial); frac != 0.5 || cfg.Initial < leastScale || cfg.Initial > mostScale {
		badCall(op, fmt.Sprintf("the first scale is %v: it is a power of two from 2⁻⁶⁰ to 2⁶⁰", cfg.Initial))
	}
	if cfg.Every < 1 || cfg.Every > 1<<24 {
		badCall(op, fmt.Sprintf("the scale doubles after %d steps: after 1 to 2²⁴", cfg.Every))
	}
	b := own.own()
	if typ := b.flat.Values.Type(); typ.Half() {
		badCall(op, fmt.Sprintf("the parameters are of %v: keep them in float32, and compute in 16 bits with autograd.Autocast", typ))
	}
	d := b.flat.Values.Device()
	s := &LossScaler{opt: opt, b: b, every: float64(cfg.Every), tensors: []*tensor.Tensor{b.flat.Values}}
	for _, name := range slices.Sorted(maps.Keys(b.moments)) {
		s.tensors = append(s.tensors, b.moments[name])
	}
	for _, t := range s.tensors {
		s.before = append(s.before, tensor.EmptyOf(d, t.Type(), t.Len()).Retain())
	}
	typ := b.flat.Values.Type()
	s.numbers = tensor.NewOf(d, typ, []float64{cfg.Initial, 1 / cfg.Initial, 0}).Retain()
	s.largest = tensor.ZerosOf(d, typ, []int{}...).Retain()
	for i, t := range []**tensor.Tensor{&s.scale, &s.inverse, &s.row} {
		*t = s.numbers.Select(0, i).Retain()
	}
	return s
}

// own returns what an optimizer is made of.
func (b *base) own() *base { return b }

// mustBeMade panics with tensor.ErrValue for a zero value.
func (s *LossScaler) mustBeMade(op string) {
	if s == nil || s.opt == nil {
		badCall(op, "the loss scaler is a zero value: NewLossScaler makes one")
	}
}

// Backward is loss.Backward for the scale in place of 1, or for the scale times the Seed of the
// options. Gradients of several losses may add up before a Step. Errors and panics are those of
// [autograd.Node.Backward].
func (s *LossScaler) Backward(loss *autograd.Node, opts ...autograd.BackwardOptions) error {
	s.mustBeMade("Backward")
	var o autograd.BackwardOptions
	if len(opts) == 1 {
		o = opts[0]
	}
	switch seed := o.Seed; {
	case len(opts) > 1, seed == nil && loss.Len() != 1, seed != nil && (seed.Freed() || seed.Device() != s.scale.Device() || seed.Type() != loss.Value().Type()):
		return loss.Backward(opts...) // which says what is wrong
	case seed != nil:
		o.Seed = seed.Mul(s.scale)
	default:
		o.Seed = s.scale.Reshape(loss.Shape()...).To(loss.Value().Type())
	}
	if !o.CreateGraph { // whose graph has the seed
		defer o.Seed.Free()
	}
	tensorapi.SetsFlags(&s.scaled)
	s.scaled = true
	return loss.Backward(o)
}

// Current returns the scale of the next loss, a scalar on the device.
func (s *LossScaler) Current() *tensor.Tensor {
	s.mustBeMade("Current")
	return s.scale.Copy()
}

// Unscale divides the gradients by the scale, for what looks at them between Backward and Step,
// such as [ClipNorm]. Step then does not do it again. It panics with tensor.ErrValue if no loss was
// scaled since the last step, and if it is called twice.
func (s *LossScaler) Unscale() {
	const op = "Unscale"
	s.mustBeMade(op)
	s.unscale(op)
	tensorapi.Impl.TakeLaunched(s.b.flat.Values.Device(), op)
}

func (s *LossScaler) unscale(op string) {
	s.readsFlags()
	switch {
	case !s.scaled:
		badCall(op, "no loss was scaled since the last step: call the Backward of the scaler, not that of the loss")
	case s.unscaled:
		badCall(op, "the gradients are divided by the scale already, since the last step")
	}
	tensorapi.SetsFlags(&s.unscaled)
	s.unscaled = true
	flat := s.b.flat
	tensor.Scope(flat.Values.Device(), func() {
		var largest []*tensor.Tensor
		flat.Runs(func(from, to int) {
			if from == to {
				return
			}
			g := flat.Grads.Slice(0, from, to)
			g.MapInPlace(fn.Mul, nil, s.inverse)
			largest = append(largest, g.Norm(math.Inf(1)))
		})
		switch len(largest) {
		case 0:
			s.largest.FillInPlace(0)
		case 1:
			s.largest.SetInPlace(largest[0])
		default:
			s.largest.SetInPlace(tensor.Stack(0, largest...).Norm(math.Inf(1)))
		}
	})
}

// Step divides the gradients by the scale, unless Unscale did, and does a step of the optimizer.
// Where a gradient is infinite or NaN the step changes nothing but the scale. The errors are those
// of the optimizer's Step, after which the scale is what it was. It panics with tensor.ErrValue if
// no loss was scaled since the last step.
func (s *LossScaler) Step() error {
	const op = "Step"
	s.mustBeMade(op)
	some := false
	s.b.flat.Runs(func(int, int) { some = true })
	if !some {
		s.begin()
		return s.opt.Step() // which says so
	}
	s.readsFlags()
	if !s.unscaled {
		s.unscale(op)
	}
	for at := 0; at < len(s.tensors); at += sharedCache {
		end := min(at+sharedCache, len(s.tensors))
		tensor.MapInto(keptRules[end-at], nil, s.before[at:end], s.tensors[at:end]...)
	}
	err := s.opt.Step()
	s.begin()
	if err != nil {
		return err
	}
	for at := 0; at < len(s.tensors); at += sharedCache {
		now, before := s.tensors[at:min(at+sharedCache, len(s.tensors))], s.before[at:min(at+sharedCache, len(s.tensors))]
		tensor.MapInto(putBackRules[len(now)], nil, now, append(slices.Concat(now, before), s.largest)...)
	}
	tensor.MapInto(scaleRule, []kernels.Arg{kernels.FloatArg(s.every)}, []*tensor.Tensor{s.scale, s.inverse, s.row}, s.scale, s.inverse, s.row, s.largest)
	d := s.b.flat.Values.Device()
	tensorapi.Impl.TakeLaunched(d, "Step") // it belongs to no graph
	return d.Err()
}

// ZeroGrad forgets the gradients of the parameters.
func (s *LossScaler) ZeroGrad() {
	s.mustBeMade("ZeroGrad")
	s.opt.ZeroGrad()
	s.begin()
}

// begin makes the scaler what it is before the first loss of a step.
func (s *LossScaler) begin() {
	tensorapi.SetsFlags(&s.scaled, &s.unscaled)
	s.scaled, s.unscaled = false, false
}

// readsFlags notes in a step that is being recorded that something depends on what was called since
// the last step.
func (s *LossScaler) readsFlags() {
	tensorapi.ReadsFlag(&s.scaled, "a LossScaler", "after a Backward", "before the first Backward")
	tensorapi.ReadsFlag(&s.unscaled, "a LossScaler", "after Unscale", "before Unscale")
}

// Steps returns how many steps were done, with those that were left out.
func (s *LossScaler) Steps() int {
	s.mustBeMade("Steps")
	return s.opt.Steps()
}

// LR returns the learning rate of the next step.
func (s *LossScaler) LR() float64 {
	s.mustBeMade("LR")
	return s.opt.LR()
}

// scaleState is the name of the scale in a State.
const scaleState = "loss_scale"

// State returns the State of the optimizer, and in it the scale, its inverse and the finite steps
// in a row as loss_scale [3]. Without that it is a State of the optimizer alone.
func (s *LossScaler) State() State {
	s.mustBeMade("State")
	state := s.opt.State()
	state.Tensors[scaleState] = s.numbers.View()
	return state
}

// Restore copies a state over that of the optimizer and over the scale. It waits for the device. It
// returns an error, with nothing changed, unless the state has the tensors of State, in their
// shapes and on their device, and a scale that is one. A State of an optimizer without a scaler is
// restored to the optimizer itself.
func (s *LossScaler) Restore(state State) error {
	s.mustBeMade("Restore")
	t, ok := state.Tensors[scaleState]
	if !ok {
		return fmt.Errorf("optim: restore: the state has no tensor %q: of an optimizer without a loss scaler, it is restored to the optimizer itself", scaleState)
	}
	own, scale := tensor.Dict{scaleState: s.numbers}, State{Tensors: tensor.Dict{scaleState: t}}
	if err := restorable("loss scaler", own, scale); err != nil {
		return err
	}
	v, err := t.Float64s()
	if err != nil {
		return err
	}
	if frac, _ := math.Frexp(v[0]); frac != 0.5 || v[0] < leastScale || v[0] > mostScale || v[0]*v[1] != 1 || !(v[2] >= 0 && v[2] < 1<<24) || v[2] != math.Trunc(v[2]) {
		return fmt.Errorf("optim: restore: tensor %q of the state is %v: it is a power of two, its inverse, and a number of steps", scaleState, v)
	}
	rest := State{Steps: state.Steps, Tensors: maps.Clone(state.Tensors)}
	delete(rest.Tensors, scaleState)
	if err := s.opt.Restore(rest); err != nil {
		return err
	}
	tensorapi.CopyOver(own, scale.Tensors)
	s.begin()
	return s.numbers.Device().Err()
}

// Free releases the memory of the scaler and of the optimizer, and the gradients. The parameters
// keep their values.
func (s *LossScaler) Free() {
	s.mustBeMade("Free")
	for _, t := range append(slices.Clone(s.before), s.scale, s.inverse, s.row, s.numbers, s.largest) {
		t.Free()
	}
	s.opt.Free()
}
