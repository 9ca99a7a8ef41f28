package onnx

import (
	"fmt"
	"maps"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/internal/trace"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

// modelRun is a run of the model: which operations it called.
type modelRun struct {
	inputs  map[*tensor.Tensor]int
	outputs []*autograd.Node
	calls   []trace.Call
	made    map[any][]madeBy                  // of a *autograd.Node or *tensor.Tensor, the last call last
	kept    map[*tensor.Tensor]*tensor.Tensor // views of what operations were given
}

// madeBy is a result of a call.
type madeBy struct{ call, result int }

// symbol is a size that is open: that of axes of inputs, which have a name.
type symbol struct {
	name  string
	input int // the first input that has such an axis
	axis  int
	size  int  // of the first run
	sizes size // of each
}

// multiples are about the sizes of each symbol in each run, in parts of that in the first: no two symbols, and no
// product of some, have the same in all runs.
var multiples = [4][4]int{{1, 2, 3, 2}, {1, 3, 2, 2}, {1, 2, 2, 3}, {1, 3, 3, 2}}

// symbolize finds the symbols.
func (e *exporter) symbolize() error {
	by := map[string]*symbol{}
	for i, axes := range e.options.Dynamic {
		shape := e.examples[i].Shape()
		for _, axis := range slices.Sorted(maps.Keys(axes)) {
			name := axes[axis]
			if axis < 0 || axis >= len(shape) {
				return fmt.Errorf("input %d has no axis %d, which is to be dynamic: its shape is %v", i, axis, shape)
			}
			s := by[name]
			if s == nil {
				s = &symbol{name: name, input: i, axis: axis, size: max(shape[axis], 2)}
				by[name] = s
				e.symbols = append(e.symbols, s)
			} else if size := e.examples[s.input].Shape()[s.axis]; size != shape[axis] {
				return fmt.Errorf("%q is %d of input %d and %d of input %d", name, size, s.input, shape[axis], i)
			}
			if name == "" || shape[axis] == 0 {
				return fmt.Errorf("axis %d of input %d, of size %d and named %q, cannot be dynamic", axis, i, shape[axis], name)
			}
		}
	}
	if len(e.symbols) > len(multiples) {
		return fmt.Errorf("%d dynamic sizes: there are %d at most", len(e.symbols), len(multiples))
	}
	return nil
}

// symbolOf returns the symbol of an axis of an input, or nil.
func (e *exporter) symbolOf(input, axis int) *symbol {
	if input >= len(e.options.Dynamic) {
		return nil
	}
	name, ok := e.options.Dynamic[input][axis]
	if !ok {
		return nil
	}
	return e.symbols[slices.IndexFunc(e.symbols, func(s *symbol) bool { return s.name == name })]
}

// restored returns a function that gives buffers of the model their numbers back: a layer in training, which is refused,
// changes them.
func (e *exporter) restored() func() {
	params := map[*tensor.Tensor]bool{}
	if e.model != nil {
		for _, p := range nn.Params(e.model) {
			params[p.Value()] = true
		}
	}
	var restore []func()
	for t := range e.params { // and buffers
		if params[t] {
			continue
		}
		before, version := t.Copy(), versionOf(t)
		restore = append(restore, func() {
			if versionOf(t) != version {
				t.SetInPlace(before)
			}
			before.Free()
		})
	}
	return func() {
		for _, f := range restore {
			f()
		}
	}
}

// runModel runs the model as often as there is something to learn from it.
func (e *exporter) runModel() error {
	forward, err := e.forward()
	if err != nil {
		return err
	}
	defer e.restored()()
	runs := []int{2, 3, 4, 4, 4}[len(e.symbols)]
	for i := range runs {
		r, err := e.runSizes(forward, i)
		if err != nil {
			for _, s := range e.symbols {
				err = fmt.Errorf("with %s = %d: %w", s.name, s.sizes[i], err)
			}
			return err
		}
		e.runs = append(e.runs, r)
	}
	for _, r := range e.runs[1:] {
		if a, b := len(e.runs[0].outputs), len(r.outputs); a != b {
			return fmt.Errorf("the model gives %d outputs, and %d of other inputs", a, b)
		}
	}
	return nil
}

// runSizes runs the model in the sizes of a run: odd ones, which tell n/2 from what is rounded, or, where the model
// does not take these, multiples of the first.
func (e *exporter) runSizes(forward func([]*tensor.Tensor) []*autograd.Node, run int) (r *modelRun, err error) {
	for _, more := range []int{run, 0} {
		for i, s := range e.symbols {
			s.sizes = append(s.sizes[:run], s.size*multiples[i][run]+more)
		}
		for _, rolled := range []bool{run > 0, false} {
			if r, err = e.runOnce(forward, run, rolled); err == nil {
				return r, nil
			}
		}
	}
	return nil, err
}

// runOnce runs the model on the example inputs, in the sizes of a run, rolled or as they are.
func (e *exporter) runOnce(forward func([]*tensor.Tensor) []*autograd.Node, run int, rolled bool) (*modelRun, error) {
	r := &modelRun{inputs: map[*tensor.Tensor]int{}, made: map[any][]madeBy{}, kept: map[*tensor.Tensor]*tensor.Tensor{}}
	given, before := make([]*tensor.Tensor, len(e.examples)), make([]uint64, len(e.examples))
	err := tensor.Try(func() {
		for i, t := range e.examples {
			given[i] = e.example(i, t, run, rolled)
			r.inputs[given[i]], before[i] = i, versionOf(given[i])
		}
		r.calls, _ = trace.During(func() { r.outputs = forward(given) }, versionOf, r.keep)
	})
	if err == nil {
		err = e.examples[0].Device().Err()
	}
	if err != nil {
		return nil, err
	}
	for i, c := range r.calls {
		for k, y := range c.Results {
			r.made[y] = append(r.made[y], madeBy{i, k})
			if n, ok := y.(*autograd.Node); ok && n != nil {
				r.made[n.Value()] = append(r.made[n.Value()], madeBy{i, k})
			}
		}
	}
	for i, t := range given {
		if v := versionOf(t); v != before[i] {
			return nil, fmt.Errorf("input %d was changed in place", i)
		}
	}
	for i, y := range r.outputs {
		if y == nil {
			return nil, fmt.Errorf("output %d is nil", i)
		}
	}
	return r, nil
}

// keep keeps the elements of what an operation was given: what is made of operations frees what lies between.
func (r *modelRun) keep(arg any) {
	list, ok := arg.([]*autograd.Node)
	if n, one := arg.(*autograd.Node); one {
		list, ok = []*autograd.Node{n}, true
	}
	if !ok {
		if t, one := arg.(*tensor.Tensor); one && t != nil && r.kept[t] == nil {
			r.kept[t] = t.View()
		}
		return
	}
	for _, n := range list {
		if n != nil && n.Value() != nil {
			r.keep(n.Value())
		}
	}
}

// example returns a tensor for input i: t again and again along dynamic axes. Rolled, its elements are others that the
// model should take, so that what is made of them differs: sums and extremes, too.
func (e *exporter) example(i int, t *tensor.Tensor, run int, rolled bool) *tensor.Tensor {
	y := t.Copy()
	for axis, n := range t.Shape() {
		s := e.symbolOf(i, axis)
		if s == nil {
			continue
		}
		counts := slices.Repeat([]int{1}, t.Rank())
		want := s.sizes[run]
		counts[axis] = (want + n - 1) / n
		y = y.Tile(counts...).Slice(axis, 0, want)
	}
	if n := y.Len(); rolled && n > 0 {
		flat := y.Reshape(n).Roll(run, 0)
		if y.Type().Float() {
			flat = flat.MulScalar(0.75)
		} else { // numbers that there were: indices stay indices
			half := (n + 1) / 2
			flat = tensor.Concat(0, flat.Slice(0, 0, half), flat.Slice(0, 0, n-half))
		}
		y = flat.Reshape(y.Shape()...)
	}
	return y.Copy()
}

// versionOf returns how often a node's tensor, or a tensor, was written to.
func versionOf(v any) uint64 {
	if t := tensorIn(v); t != nil {
		return tensorapi.Impl.Version(t)
	}
	return 0
}
