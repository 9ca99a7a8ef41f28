package fusedmlp

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/clgrad/clgrad/internal/gradsums"
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/operation"
	"github.com/clgrad/clgrad/replay/fusion"
)

// init registers the fusion that makes one launch of a training step of a perceptron: its layers,
// the loss and the way back. It leaves the gradient of the parameters, and the loss, in shares, one
// for each group of samples. Where an optimizer alone reads the gradient, and has a form that adds
// shares up, that takes its place; else a launch writes the gradient where it was. The shares are
// added in their order: the same bits on every run, but not those of the layers.
//
// It is refused where
//   - what a layer reads is no formula of the result of the one before and of what earlier ones
//     read, element by element, or its gradient none of those of what later ones read
//   - the loss is none of the outputs and a target, nor their cross-entropy with labels, or no sum
//     of those; outputs to which something is added are multiplied, too
//   - there are more layers, or wider ones, than a launch has room for
//   - parameters do not lie in memory as an optimizer lays them out, or one has no gradient
//   - what every fusion is refused for: see package replay/fusion.
func init() {
	fusion.Register(fusion.Fusion{Name: "fused-training-step", Doc: "makes one launch of the layers of a perceptron, their loss and their gradients", Match: match})
}

// match finds the perceptrons of a step.
func match(s fusion.Step) (matches []fusion.Match) {
	f := newDataFlow(s)
	one := f.valueAt(regionOf(s.One()))
	list, refused := f.matcher(one).perceptrons()
	for _, p := range list {
		m, err := f.match(p, one)
		if err != nil {
			refused = append(refused, p.wrap(err))
			continue
		}
		matches = append(matches, m)
	}
	for _, err := range refused {
		s.Refuse(err)
	}
	return matches
}

// String names a perceptron in explanations.
func (p *perceptron) String() string {
	return fmt.Sprintf("%d linear layers of %d samples", len(p.layers), p.samples)
}

// wrap says which perceptron an error is about.
func (p *perceptron) wrap(err error) error { return fmt.Errorf("%v: %w", p, err) }

// output is something that a fused step leaves where others find it.
type output struct {
	region
	readers []int // that are not part of the fused step
}

func regionOf(a kernels.Arg) region { return region{a.Buf, span{a.Off, a.Off + a.N}} }

// arg passes a place.
func (p region) arg() kernels.Arg {
	buf, _ := p.buffer()
	return kernels.BufferArg(buf, p.lo, p.hi-p.lo)
}

// buffer is the memory of a place that is no temporary.
func (p region) buffer() (kernels.Buffer, bool) {
	buf, ok := p.memory.(kernels.Buffer)
	return buf, ok
}

// form is the kernels of a fused step, and the limits that they must fit.
type form struct {
	Step
	limits kernels.Target
	on     string // matrix units, for explanations
}

// form returns the kernels for a perceptron.
func (f *dataFlow) form(p *perceptron, trained *Perceptron, float kernels.DType, down bool) (form, error) {
	s := f.step
	plain, err := stepOf(trained, p.samples, float, s.Target())
	if err != nil {
		return form{}, err
	}
	units := s.MatrixUnits()
	m, l, ok := matrixStep(trained, p.samples, units)
	if !ok {
		return form{plain, s.Target(), ""}, nil
	}
	if err := f.try(m, p.samples, l, down); err != nil {
		s.Say("not on matrix units: %v", err)
		return form{plain, s.Target(), ""}, nil
	}
	return form{m, l, " on matrix units, of factors in " + units.Precision.String()}, nil
}

// try tries the kernels of a step on matrix units.
func (f *dataFlow) try(m Step, samples int, l kernels.Target, down bool) error {
	if pack, _ := m.Pack(kernels.Float32, down, l); pack != nil {
		if err := f.step.Try(pack, nil); err != nil {
			return err
		}
	}
	return f.step.Try(m.Loss(kernels.Float32, m.Block(samples, kernels.Float32, l), down), nil)
}

// match proposes one launch in the place of those of a perceptron. The error says why not.
func (f *dataFlow) match(p *perceptron, one *value) (fusion.Match, error) {
	none := fusion.Match{}
	trained, err := p.trained()
	if err != nil {
		return none, err
	}
	x, err := f.regionOfValue(p.layers[0].x)
	if err != nil {
		return none, err
	}
	t, err := f.regionOfValue(p.target)
	if err != nil {
		return none, err
	}
	var classes region
	if p.classes != nil {
		if classes, err = f.regionOfValue(p.classes); err != nil {
			return none, err
		}
	}
	weights, err := p.parameters(trained)
	if err != nil {
		return none, err
	}
	covered, results, err := f.covered(p, one)
	if err != nil {
		return none, err
	}
	grads, err := p.gradients(trained, results)
	if err != nil {
		return none, err
	}
	update, rule := f.updated(grads, covered)
	float, dx := x.memory.(kernels.Buffer).DType(), results[p.dx]
	form, err := f.form(p, trained, float, dx != nil)
	if err != nil {
		return none, err
	}

	s := f.step
	m := fusion.Match{Name: p.String(), Covers: covered, Tested: true}
	launch := func(does []int, k *kernels.Kernel, args ...kernels.Arg) {
		m.Launches = append(m.Launches, fusion.Launch{Kernel: k, Args: args, Does: does})
	}
	block, size := form.Block(p.samples, float, form.limits), trained.Size()
	groups := form.Groups(p.samples, block, form.limits)
	part, lossParts := s.New(float, groups*size), s.New(float, groups)
	nothing := lossParts
	nothing.N = 0
	down := lossParts // the kernel does not look at it
	if dx != nil {
		down = dx.arg()
	}
	pack, lengths := form.Pack(float, dx != nil, form.limits)
	args, packed := []kernels.Arg{x.arg(), t.arg(), weights.arg(), part, lossParts, down, kernels.IntArg(p.samples)}, []kernels.Arg{weights.arg()}
	for i, n := range lengths {
		v := nothing
		if pack != nil {
			v = s.New(pack.Params[1+i].Mode.Elements(float), n)
		}
		args, packed = append(args, v), append(packed, v)
	}
	if p.classes != nil {
		args = append(args, classes.arg())
	}
	for _, n := range form.Scratch(block, groups, float, dx != nil, form.limits) {
		v := nothing
		if n > 0 {
			v = s.New(float, n)
		}
		args = append(args, v)
	}
	if pack != nil {
		launch(covered, pack, packed...)
	}
	launch(covered, form.Loss(float, block, dx != nil), args...)

	loss := results[p.loss]
	joins := loss != nil && rule != nil && !slices.ContainsFunc(loss.readers, func(j int) bool { return j <= update })
	sumLoss := func() {
		if loss != nil && !joins {
			k, args := gradsums.Registered().SumLoss(lossParts, loss.arg(), groups, p.scale)
			launch(covered, k, args...)
		}
	}
	said := "the gradient in one more"
	switch {
	case grads == nil:
		said = "nobody reads the gradient"
		sumLoss()
	case rule != nil:
		said = "its gradient summed by " + s.Name(update)
		with, sum := 0, nothing
		if joins {
			with, sum = groups, loss.arg()
		}
		sumLoss()
		k, args := rule.SumPartials(part, s.One(), groups, lossParts, sum, with, p.scale)
		m.Covers = append(slices.Clone(covered), update)
		launch([]int{update}, k, args...)
	default:
		k, args := gradsums.Registered().SumPartials(part, s.One(), grads.arg(), size, groups)
		launch(covered, k, args...)
		sumLoss()
		m.Padding = []kernels.Arg{grads.arg()}
	}
	m.Done = fmt.Sprintf("one launch of %d layers%s, %s", len(p.layers), form.on, said)
	return m, nil
}

// regionOfValue returns where what a fused step reads lies.
func (f *dataFlow) regionOfValue(h *value) (region, error) {
	if h.kind == found {
		if _, ok := h.region.buffer(); ok {
			return h.region, nil
		}
	}
	for _, list := range f.writes {
		for k := len(list) - 1; k >= 0; k-- {
			if _, ok := list[k].buffer(); ok && list[k].value == h {
				return list[k].region, nil
			}
		}
	}
	return region{}, errors.New("what it reads lies nowhere")
}

// trained returns the perceptron that is to be trained, with its parameters as an optimizer lays
// them out.
func (p *perceptron) trained() (*Perceptron, error) {
	all := &Perceptron{Error: p.error, OutputGrad: p.slope, Labels: p.labels}
	end := 0
	next := func(n int) int {
		at := end
		end += gradsums.Aligned(n)
		return at
	}
	for i := range p.layers {
		l := &p.layers[i]
		layer := Layer{Inputs: l.inputs(), Outputs: l.outputs(), Bias: -1, Kept: l.kept, Value: l.f, InputGrad: l.slope, Join: l.join}
		layer.Weights = next(l.inputs() * l.outputs())
		if l.bias != nil {
			layer.Bias = next(l.outputs())
		}
		all.Layers = append(all.Layers, layer)
	}
	if !(math.Abs(p.scale) > 0) {
		return nil, errors.New("the loss is scaled by a number that is none")
	}
	return all, nil
}

// parameters returns where they lie.
func (p *perceptron) parameters(all *Perceptron) (region, error) {
	whole := p.layers[0].w.region
	whole.hi = whole.lo + all.Size()
	buf, _ := whole.buffer()
	for i := range p.layers {
		l, at := &p.layers[i], all.Layers[i]
		if l.w.region.memory != whole.memory || l.w.region.lo != whole.lo+at.Weights ||
			l.bias != nil && (l.bias.region.memory != whole.memory || l.bias.region.lo != whole.lo+at.Bias) {
			return region{}, errors.New("the parameters do not lie together, in the order of the layers, as one optimizer lays them out")
		}
	}
	if whole.hi > buf.Len() || whole.lo%4 != 0 {
		return region{}, errors.New("the parameters do not lie as an optimizer lays them out")
	}
	return whole, nil
}

// gradients returns where others find those of the parameters, nil if nobody looks for them.
func (p *perceptron) gradients(layout *Perceptron, results map[*value]*output) (*region, error) {
	var all *region
	missing := false
	for i := range p.layers {
		l := &p.layers[i]
		for _, g := range []struct {
			h  *value
			at int
		}{{l.dw, layout.Layers[i].Weights}, {l.db, layout.Layers[i].Bias}} {
			if g.h == nil {
				continue
			}
			at := results[g.h]
			if at == nil {
				missing = true
				continue
			}
			whole := region{at.memory, span{at.lo - g.at, at.lo - g.at + layout.Size()}}
			if all == nil {
				all = &whole
			}
			if *all != whole {
				return nil, errors.New("the gradients do not lie as the parameters do")
			}
		}
	}
	if all == nil {
		return nil, nil
	}
	buf, _ := all.buffer()
	if missing || all.lo < 0 || all.hi > buf.Len() {
		return nil, errors.New("some gradients are read, and others are not")
	}
	return all, nil
}

// covered returns the launches that do nothing but the fused step, and what they leave to others.
func (f *dataFlow) covered(p *perceptron, one *value) ([]int, map[*value]*output, error) {
	outer := map[*value]bool{p.layers[0].x: true, p.target: true, one: true}
	if p.classes != nil {
		outer[p.classes] = true
	}
	results := map[*value]*output{}
	if p.loss != nil {
		results[p.loss] = nil
	}
	for i := range p.layers {
		l := &p.layers[i]
		outer[l.w] = true
		results[l.dw] = nil
		if l.bias != nil {
			outer[l.bias] = true
			results[l.db] = nil
		}
	}
	if p.dx != nil {
		results[p.dx] = nil
	}
	inner := map[*value]bool{}
	var list []*value
	for h := range results {
		list = append(list, h)
	}
	for len(list) > 0 {
		h := list[len(list)-1]
		list = list[:len(list)-1]
		if inner[h] || outer[h] {
			continue
		}
		if h.kind == found {
			return nil, nil, errors.New("it reads other memory")
		}
		inner[h] = true
		list = append(list, h.parents()...)
	}
	copies := map[int]bool{} // launches that copy a result to where others find it, too
	for {
		covered, found, again, err := f.cover(inner, results, copies)
		if !again {
			return covered, found, err
		}
	}
}

// cover is covered, where launches in copies are not part of the fused step. kinds are the values
// that it may leave. If it finds another launch that only copies a result to a second place, it
// adds that to copies and returns again: it is to be called once more.
func (f *dataFlow) cover(inner map[*value]bool, kinds map[*value]*output,
	copies map[int]bool) (covered []int, results map[*value]*output, again bool, err error) {
	s := f.step
	results = maps.Clone(kinds)
	for i := range f.launches {
		if !copies[i] && slices.ContainsFunc(f.by[i], func(w write) bool { return inner[w.value] }) {
			covered = append(covered, i)
		}
	}
	for _, i := range covered {
		for k, w := range f.by[i] {
			if slices.ContainsFunc(f.by[i][k+1:], func(v write) bool { return v.region == w.region }) {
				continue // it is written over
			}
			l := &output{region: w.region}
			for _, j := range s.Readers(i, w.region.arg()) {
				if !slices.Contains(covered, j) {
					l.readers = append(l.readers, j)
				}
			}
			if len(l.readers) == 0 && !s.Lasts(i, w.region.arg()) {
				continue
			}
			switch before, is := results[w.value]; {
			case !inner[w.value] || !is: // the recording refuses it
			case before != nil && f.copies(i):
				copies[i] = true
				return nil, nil, true, nil
			case before != nil:
				return nil, nil, false, fmt.Errorf("what %s makes is in two places", s.Name(i))
			default:
				results[w.value] = l
			}
		}
	}
	for h, l := range results {
		if l == nil {
			delete(results, h)
		}
	}
	return covered, results, false, nil
}

// copies reports whether a launch copies memory to memory as it lies, and does nothing else.
func (f *dataFlow) copies(i int) bool {
	list := f.launches[i].Operations
	if len(f.by[i]) != 1 || len(list) != 1 {
		return false
	}
	m, ok := list[0].(*operation.Map)
	return ok && len(m.Results) == 1 && len(m.Operands) == 1 && m.Results[0].Function.Is(0) &&
		intmath.Dense(m.Operands[0].Strides, m.Dims) && intmath.Dense(m.Results[0].View.Strides, m.Dims)
}

// updated returns the launch that alone reads the gradients, and its rule if it can add them up; nil
// if there is none.
func (f *dataFlow) updated(grads *region, covered []int) (update int, rule gradsums.Update) {
	if grads == nil {
		return 0, nil
	}
	last := covered[len(covered)-1]
	readers := f.step.Readers(last, grads.arg())
	if len(readers) != 1 || f.step.Lasts(last, grads.arg()) {
		return 0, nil
	}
	n := f.launches[readers[0]]
	if n.Operations == nil {
		return 0, nil
	}
	if rule = gradsums.Registered().Update(n.Args, n.Operations); rule == nil || regionOf(rule.Gradient()) != *grads {
		return 0, nil
	}
	return readers[0], rule
}
