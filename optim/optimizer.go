package optim

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/plumbing"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// ErrNoGradients is what Step returns when there is nothing to update from.
var ErrNoGradients = errors.New("no parameter has a gradient")

// Optimizer updates parameters from their gradients.
type Optimizer interface {
	// Step updates every parameter that has a gradient. The errors are ErrNoGradients if none has, which counts
	// no step, a learning rate that is no number, and the device's first failure.
	Step() error
	// ZeroGrad forgets the gradients.
	ZeroGrad()
	// Steps returns how many steps were done.
	Steps() int
	// LR returns the learning rate of the next step.
	LR() float64
	// State returns what Restore needs to go on as if never stopped: tensors by name, views of the
	// optimizer's own, and the steps done.
	State() State
	// Restore copies a state over the optimizer's. It returns an error, with nothing changed, unless
	// the state has the tensors of this optimizer, in their shapes and on its device.
	Restore(State) error
	// Free releases the optimizer's memory and the gradients. The parameters keep their values.
	Free()
}

// State is the memory of an optimizer.
type State struct {
	Steps   int         // done so far
	Tensors tensor.Dict // moments, each named moment.parameter, in the parameter's shape
}

// arena is what the optimizers share: the parameters, their schedule, and a moment of the parameters'
// layout for each name. The optimizers do not embed it, so that each shows its methods itself.
type arena struct {
	flat     *autograd.Arena
	schedule Schedule
	steps    int
	moments  map[string]*tensor.Tensor
	numbers  *kernels.Slots // of a step
}

func newArena(params []*autograd.Node, lr Schedule, moments ...string) *arena {
	if lr == nil {
		panic(badValue("the schedule is nil: use optim.Constant(lr)"))
	}
	a := &arena{flat: autograd.NewArena(params), schedule: lr, moments: map[string]*tensor.Tensor{}}
	for _, name := range moments {
		a.moments[name] = tensor.Zeros(a.flat.Values.Device(), a.flat.Values.Len()).Keep()
	}
	return a
}

// changing makes n numbers slots. set makes them of the learning rate of a step and its number, counted from 1.
func (a *arena) changing(n int, set func(numbers []kernels.Arg, lr float64, t int)) {
	a.numbers = kernels.NewSlots(n, func(numbers []kernels.Arg) error {
		lr, err := a.rate()
		if err != nil {
			return err
		}
		set(numbers, lr, a.steps+1)
		a.steps++
		return nil
	})
}

func badValue(format string, args ...any) *tensor.Error {
	return &tensor.Error{Pkg: "optim", Op: "New", Kind: tensor.ErrValue, Detail: fmt.Sprintf(format, args...)}
}

// checkRange panics unless v is in [low, high).
func checkRange(name string, v, low, high float64) {
	if !(v >= low && v < high) {
		panic(badValue("%s is %v, not in [%v, %v)", name, v, low, high))
	}
}

func (a *arena) lr() float64 { return a.schedule(a.steps) }

// rate returns the learning rate of the next step, which must be a number.
func (a *arena) rate() (float64, error) {
	lr := a.lr()
	if math.IsNaN(lr) || math.IsInf(lr, 0) {
		return 0, fmt.Errorf("optim: the schedule gives a learning rate of %v at step %d", lr, a.steps)
	}
	return lr, nil
}

// step counts a step, if a parameter has a gradient, and calls update with every run of those that do.
func (a *arena) step(update func(from, to int)) error {
	d := a.flat.Values.Device()
	if err := d.Err(); err != nil {
		return err
	}
	if _, err := a.rate(); err != nil {
		return err
	}
	updated := false
	var err error
	a.flat.Runs(func(from, to int) {
		if !updated {
			updated, err = true, a.numbers.Next()
		}
		if err == nil {
			update(from, to)
		}
	})
	switch {
	case !updated:
		return fmt.Errorf("optim: Step: %w: call Backward from what depends on one, and ZeroGrad after Step", ErrNoGradients)
	case err != nil:
		return err
	}
	a.flat.Values.Touch()
	plumbing.TakeLaunched(d) // updates belong to no graph
	return d.Err()
}

func (a *arena) state() State {
	s := State{Steps: a.steps, Tensors: tensor.Dict{}}
	for name, m := range a.moments {
		for i, p := range a.flat.Params {
			s.Tensors[a.key(name, i)] = a.flat.Place(m, i, p.Shape())
		}
	}
	return s
}

// key names a moment of parameter i: by the parameter's name, and its place where that does not tell.
func (a *arena) key(moment string, i int) string {
	name := a.flat.Params[i].Name()
	for j, p := range a.flat.Params {
		if name == "" || j != i && p.Name() == name {
			return fmt.Sprintf("%s.%s#%d", moment, name, i)
		}
	}
	return moment + "." + name
}

func (a *arena) restore(s State) error {
	own := a.state().Tensors
	defer func() {
		for _, view := range own {
			view.Free()
		}
	}()
	if s.Steps < 0 || len(s.Tensors) != len(own) {
		return fmt.Errorf("optim: restore: the state has %d steps and %d tensors, the optimizer %d tensors", s.Steps, len(s.Tensors), len(own))
	}
	for name, dst := range own {
		src, ok := s.Tensors[name]
		if !ok {
			return fmt.Errorf("optim: restore: the state has no tensor %q", name)
		}
		switch {
		case src == nil:
			return fmt.Errorf("optim: restore: tensor %q of the state is nil", name)
		case src.Freed():
			return fmt.Errorf("optim: restore: tensor %q of the state was freed: keep it with Keep, or free it later", name)
		case src.Device() != dst.Device():
			return fmt.Errorf("optim: restore: tensor %q of the state is on %s, the optimizer on %s: load it there", name, src.Device().Name(), dst.Device().Name())
		}
		if !slices.Equal(src.Shape(), dst.Shape()) {
			return fmt.Errorf("optim: restore: tensor %q has shape %v in the state, %v in the optimizer", name, src.Shape(), dst.Shape())
		}
		if src.Type() != tensor.Real {
			return fmt.Errorf("optim: restore: tensor %q is of type %v in the state, %v in the optimizer: convert it with To", name, src.Type(), tensor.Real)
		}
	}
	for name, dst := range own {
		dst.SetInPlace(s.Tensors[name])
	}
	a.steps = s.Steps
	return a.flat.Values.Device().Err()
}

func (a *arena) free() {
	for _, m := range a.moments {
		m.Free()
	}
	a.flat.Free()
}
