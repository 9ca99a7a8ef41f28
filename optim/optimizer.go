package optim

import (
	"errors"
	"fmt"
	"math"

	"github.com/clgrad/clgrad/internal/flatparams"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// ErrNoGradients is what Step returns when there is nothing to update from.
var ErrNoGradients = errors.New("no parameter has a gradient")

// Optimizer updates parameters from their gradients.
type Optimizer interface {
	// Step updates every parameter that has a gradient. The errors are ErrNoGradients if none has,
	// which counts no step, a learning rate that is no number, and the device's first failure.
	Step() error
	// ZeroGrad forgets the gradients.
	ZeroGrad()
	// Steps returns how many steps were done.
	Steps() int
	// LR returns the learning rate of the next step.
	LR() float64
	// State returns what Restore needs to resume as if never stopped: tensors by name, views of the
	// optimizer's own, and the steps done.
	State() State
	// Restore copies a state over the optimizer's. It returns an error, with nothing changed,
	// unless the state has the tensors of this optimizer, in their shapes and on its device.
	Restore(State) error
	// Free releases the optimizer's memory and the gradients. The parameters keep their values.
	Free()
}

// State is the memory of an optimizer.
type State struct {
	Steps   int         // done so far
	Tensors tensor.Dict // moments, each named moment.parameter as that was named at first, in the parameter's shape
}

// base is what the optimizers share, and their methods: the parameters in groups, and a moment of
// the parameters' layout for each name.
type base struct {
	flat    *flatparams.Buffer
	names   []string // of the parameters, in states
	groups  []group
	moments map[string]*tensor.Tensor
	numbers *kernels.StepScalars // of a step: those of each group, one after the other
	steps   int
	update  func(g, from, to int) // launches what updates elements of a group
	// What a step updates, and the gradients, in the layout of flat: that itself, or float32 copies of
	// parameters of 16 bits.
	values, grads *tensor.Tensor

	results, operands []*tensor.Tensor // scratch of apply
	scalars           []kernels.Arg
}

// badValue is a misuse of the function that calls newBase, which names it.
func badValue(format string, args ...any) *tensor.Error {
	return &tensor.Error{Pkg: "optim", Kind: tensor.ErrValue, Detail: fmt.Sprintf(format, args...)}
}

// mustBeMade panics with tensor.ErrValue for a zero value, which has no parameters.
func (b *base) mustBeMade(op string) {
	if b == nil {
		badCall(op, "the optimizer is a zero value: a function such as NewAdamW makes one")
	}
}

// checkRange panics unless v is in [low, high).
func checkRange(name string, v, low, high float64) {
	if !(v >= low && v < high) {
		panic(badValue("%s is %v, not in [%v, %v)", name, v, low, high))
	}
}

// LR returns the learning rate of the next step: that of the parameters that are in none of the
// Groups.
func (b *base) LR() float64 {
	b.mustBeMade("LR")
	return b.groups[0].lr(b.steps)
}

// Steps returns how many steps were done; a restored state counts those before it, too.
func (b *base) Steps() int {
	b.mustBeMade("Steps")
	return b.steps
}

// rate returns the learning rate of the next step in group g, which must be a number.
func (b *base) rate(g int) (float64, error) {
	lr := b.groups[g].lr(b.steps)
	if math.IsNaN(lr) || math.IsInf(lr, 0) {
		of := ""
		if len(b.groups) > 1 {
			of = fmt.Sprintf(" in group %d", g)
		}
		return 0, fmt.Errorf("optim: the schedule gives a learning rate of %v at step %d%s", lr, b.steps, of)
	}
	return lr, nil
}

// Step updates every parameter that has a gradient, each as its group is set. The errors are
// [ErrNoGradients] if none has, which counts no step, a learning rate that is no number, and the
// device's first failure.
func (b *base) Step() error {
	b.mustBeMade("Step")
	d := b.flat.Values.Device()
	if err := d.Err(); err != nil {
		return err
	}
	for g := range b.groups {
		if _, err := b.rate(g); err != nil {
			return err
		}
	}
	tensorapi.Impl.Label(d, "", "Step")
	updated := false
	var err error
	b.widen()
	defer b.narrow()
	b.flat.Runs(func(from, to int) {
		if !updated {
			updated, err = true, b.numbers.Next()
		}
		for g, in := range b.groups {
			if from, to := max(from, in.from), min(to, in.to); from < to && err == nil {
				b.update(g, from, to)
			}
		}
	})
	switch {
	case !updated:
		return fmt.Errorf("optim: Step: %w: call Backward from what depends on one, and ZeroGrad after Step", ErrNoGradients)
	case err != nil:
		return err
	}
	if b.values != b.flat.Values {
		b.flat.Values.SetInPlace(b.values)
	}
	b.flat.Values.MarkWritten()
	tensorapi.Impl.TakeLaunched(d, "Step") // updates belong to no graph
	tensorapi.Impl.Label(d, "", "")
	return d.Err()
}

// widen sets values and grads for a step.
func (b *base) widen() {
	typ := b.flat.Values.Type().Computed()
	b.values, b.grads = b.flat.Values, b.flat.Grads
	if typ != b.values.Type() {
		b.values, b.grads = b.values.To(typ), b.grads.To(typ)
	}
}

// narrow frees what widen made.
func (b *base) narrow() {
	if b.values != b.flat.Values {
		b.values.Free()
		b.grads.Free()
	}
	b.values, b.grads = nil, nil
}

// ZeroGrad forgets the gradients of the parameters.
func (b *base) ZeroGrad() {
	b.mustBeMade("ZeroGrad")
	b.flat.ZeroGrad()
}

// State returns what Restore needs to resume as if never stopped: the moments of each parameter,
// and the steps done. The tensors are views of the optimizer's own: the next step changes them.
func (b *base) State() State {
	b.mustBeMade("State")
	s := State{Steps: b.steps, Tensors: tensor.Dict{}}
	for name, m := range b.moments {
		for i := range b.flat.Params {
			s.Tensors[name+"."+b.names[i]] = b.flat.Place(m, i)
		}
	}
	return s
}

// Restore copies a state over the optimizer's. It returns an error, with nothing changed, unless
// the state has the tensors of this optimizer, in their shapes and on its device.
func (b *base) Restore(s State) error {
	b.mustBeMade("Restore")
	tensorapi.NotRecorded("Restore of an optimizer")
	own := b.State().Tensors
	defer freeAll(own)
	if err := restore("optimizer", own, s); err != nil {
		return err
	}
	b.steps = s.Steps
	return b.flat.Values.Device().Err()
}

// Free releases the moments, the gradients and the flat buffer. The parameters keep their values
// and may join another optimizer.
func (b *base) Free() {
	b.mustBeMade("Free")
	for _, m := range b.moments {
		m.Free()
	}
	b.flat.Free()
}
