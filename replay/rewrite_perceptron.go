package replay

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/clgrad/clgrad/internal/fusion"
	"github.com/clgrad/clgrad/kernels"
)

// fusedTrainingStep makes one launch of a training step of a perceptron: its layers, the loss and
// the way back. It leaves the gradient of the parameters, and the loss, in shares, one for each
// group of samples. Where an optimizer alone reads the gradient, and has a form that adds shares
// up, that takes its place; else a launch writes the gradient where it was. The shares are added in
// their order: the same bits on every run, but not those of the layers.
//
// It is refused where
//   - what a layer reads is no formula of the result of the one before and of what earlier ones
//     read, element by element, or its gradient none of those of what later ones read
//   - the loss is none of the outputs and a target, nor their cross-entropy with labels, or no sum
//     of those; outputs to which something is added are multiplied, too
//   - there are more layers, or wider ones, than a launch has room for
//   - parameters do not lie in memory as an optimizer lays them out, or one has no gradient
//   - anything else reads what is made on the way, or it is there after the run
//   - what is done meanwhile reads or writes what the fused step writes, or writes what it reads
//   - the device computes the launch wrongly.
var fusedTrainingStep = rewrite{"fused-training-step", "makes one launch of the layers of a perceptron, their loss and their gradients", fuseTrainingSteps}

func fuseTrainingSteps(r *rewriter) {
	if r.device == nil {
		return
	}
	f := r.follow()
	one := f.at(spot{r.device.one, span{0, 1}})
	list, refused := f.seeker(one).perceptrons()
	for _, p := range list {
		if err := r.pass(f, p, one); err != nil {
			refused = append(refused, fmt.Errorf("%d linear layers of %d samples: %w", len(p.layers), p.samples, err))
		}
	}
	for _, err := range refused {
		r.opt.say("fused-training-step: refused: %v", err)
		r.device.notFused = errors.Join(r.device.notFused, err)
	}
}

// errNoTrainer is why a perceptron is recorded layer by layer in a program that links no package
// that trains it in one launch.
var errNoTrainer = errors.New("nothing in this program trains it in one launch: import package fusedmlp, or nn, which does")

func (d *device) matrixUnits() fusion.MatrixUnits {
	return fusion.MatrixUnits{Precision: d.units.Precision, Real: d.units.Float, Target: d.units.Target, Has: d.units.Has}
}

// left is something that a fused step leaves where others find it.
type left struct {
	spot
	node    int   // that wrote it in the step
	readers []int // that are not part of the fused step
	lasts   bool
}

func (p spot) region() region {
	buf, _ := p.buffer()
	return region{buf: buf, span: p.span}
}

// buffer is the memory of a place that is no temporary.
func (p spot) buffer() (kernels.Buffer, bool) {
	buf, ok := p.memory.(kernels.Buffer)
	return buf, ok
}

// pass puts one launch in the place of those of a perceptron. The error says why not.
func (r *rewriter) pass(f *followed, p *perceptron, one *held) error {
	trained, err := p.trained()
	if err != nil {
		return err
	}
	x, err := f.lies(p.layers[0].x)
	if err != nil {
		return err
	}
	t, err := f.lies(p.target)
	if err != nil {
		return err
	}
	var classes input
	if p.classes != nil {
		if classes, err = f.lies(p.classes); err != nil {
			return err
		}
	}
	weights, err := p.parameters(trained)
	if err != nil {
		return err
	}
	real := x.memory.(kernels.Buffer).DType()
	trainer := fusion.RegisteredTrainer()
	if trainer == nil {
		return errNoTrainer
	}
	form, err := trainer.Step(trained, p.samples, real, r.target)
	if err != nil {
		return err
	}
	covered, results, err := r.covered(f, p, one)
	if err != nil {
		return err
	}
	grads, err := p.gradients(trained, results)
	if err != nil {
		return err
	}
	// What the fused step writes goes to the last places of its launches before anything reads it.
	update := r.updated(grads, covered)
	dx := results[p.dx]
	limits, on := r.target, ""
	if m, l, ok := trainer.MatrixStep(trained, p.samples, r.device.matrixUnits()); ok {
		if err := p.try(m, l, r.device, dx != nil); err != nil {
			r.opt.say("fused-training-step: not on matrix units: %v", err)
		} else {
			form, limits, on = m, l, " on matrix units, of factors in "+r.device.units.Precision.String()
		}
	}
	pack, lengths := form.Pack(real, dx != nil, limits)
	want := 1
	if pack != nil {
		want++
	}
	if grads != nil && update == nil {
		want++
	}
	loss, joins := results[p.loss], false
	if loss != nil {
		joins = update != nil && !slices.ContainsFunc(loss.readers, func(j int) bool { return j <= update.node })
		if !joins {
			want++
		}
	}
	from, to := -1, len(r.nodes)
	inputs := []input{x, t, {weights, -1}}
	if p.classes != nil {
		inputs = append(inputs, classes)
	}
	for _, in := range inputs {
		from = max(from, in.node)
	}
	for h, l := range results {
		for _, j := range l.readers {
			if !(h == p.loss && joins) && (update == nil || j != update.node) {
				to = min(to, j)
			}
		}
	}
	var slots []int
	for _, i := range covered {
		if from < i && i < to {
			slots = append(slots, i)
		}
	}
	if len(slots) < want {
		return errors.New("something reads a result of the fused step before all that the fused step reads is there")
	}
	slots = slots[len(slots)-want:]
	if err := r.undisturbed(covered, inputs, results, slots, update, p.loss, joins); err != nil {
		return err
	}

	block, size := form.Block(p.samples, real, limits), trained.Size()
	kernel := form.Loss(real, block, dx != nil)
	for _, k := range []*kernels.Kernel{pack, kernel} {
		if k == nil {
			continue
		}
		if err := r.device.try(k, nil); err != nil {
			return err
		}
	}
	groups := form.Groups(p.samples, block, limits)
	shares, losses := r.fresh(real, groups*size), r.fresh(real, groups)
	vec := func(p spot) kernels.Arg { return kernels.BufferArg(p.memory.(kernels.Buffer), p.lo, p.hi-p.lo) }
	part, lossParts, seed := kernels.BufferArg(shares, 0, groups*size), kernels.BufferArg(losses, 0, groups), kernels.BufferArg(r.device.one, 0, 1)
	down := lossParts // the kernel does not look at it
	if dx != nil {
		down = vec(dx.spot)
	}
	all := &node{}
	for _, i := range covered {
		r.does(all, r.nodes[i])
		r.leave(i)
	}
	put := func(i int, k *kernels.Kernel, args ...kernels.Arg) {
		n := &node{kernel: k, args: args, from: all.from, names: all.names}
		r.describe(n)
		r.nodes[i] = n
		r.note(i)
	}
	none := kernels.BufferArg(losses, 0, 0)
	args, packed := []kernels.Arg{vec(x.spot), vec(t.spot), vec(weights), part, lossParts, down, kernels.IntArg(p.samples)}, []kernels.Arg{vec(weights)}
	for i, n := range lengths {
		v := none
		if pack != nil {
			v = kernels.BufferArg(r.fresh(pack.Params[1+i].Mode.Elements(real), n), 0, n)
		}
		args, packed = append(args, v), append(packed, v)
	}
	if p.classes != nil {
		args = append(args, vec(classes.spot))
	}
	for _, n := range form.Scratch(block, groups, real, dx != nil, limits) {
		v := none
		if n > 0 {
			v = kernels.BufferArg(r.fresh(real, n), 0, n)
		}
		args = append(args, v)
	}
	if pack != nil {
		put(slots[0], pack, packed...)
		slots = slots[1:]
	}
	put(slots[0], kernel, args...)
	slots = slots[1:]
	said := "the gradient in one more"
	switch {
	case grads == nil:
		said = "nobody reads the gradient"
	case update != nil:
		said = "its gradient summed by " + r.name(r.nodes[update.node])
		with, sum := 0, none
		if joins {
			with, sum = groups, vec(loss.spot)
		}
		n := r.nodes[update.node]
		n.kernel, n.args = update.rule.SumPartials(part, seed, groups, lossParts, sum, with, p.scale)
		n.reads, n.writes, n.fills = nil, nil, nil
		r.describe(n)
		r.note(update.node)
	default:
		k, args := fusion.RegisteredGradients().SumPartials(part, seed, vec(*grads), size, groups)
		put(slots[0], k, args...)
		slots = slots[1:]
	}
	if loss != nil && !joins {
		k, args := fusion.RegisteredGradients().SumLoss(lossParts, vec(loss.spot), groups, p.scale)
		put(slots[0], k, args...)
	}
	r.device.fused++
	r.opt.say("fused-training-step: %s: one launch of %d layers%s, %s", r.name(all), len(p.layers), on, said)
	return nil
}

// input is memory that a fused step reads, and the launch that wrote it, or −1.
type input struct {
	spot
	node int
}

// lies returns where what a fused step reads lies.
func (f *followed) lies(h *held) (input, error) {
	if h.kind == found {
		key := input{h.spot, -1}
		for k, g := range f.founds {
			if g == h {
				key.node = k.last
			}
		}
		if _, ok := h.spot.buffer(); ok {
			return key, nil
		}
	}
	for _, list := range f.writes {
		for k := len(list) - 1; k >= 0; k-- {
			if _, ok := list[k].buffer(); ok && list[k].held == h {
				return input{list[k].spot, list[k].node}, nil
			}
		}
	}
	return input{}, errors.New("what it reads lies nowhere")
}

// trained returns the perceptron that is to be trained, with its parameters as an optimizer lays
// them out.
func (p *perceptron) trained() (*fusion.Perceptron, error) {
	all := &fusion.Perceptron{Error: p.error, OutputGrad: p.slope, Labels: p.labels}
	end := 0
	next := func(n int) int {
		at := end
		end += fusion.Aligned(n)
		return at
	}
	for i := range p.layers {
		l := &p.layers[i]
		layer := fusion.Layer{Inputs: l.inputs(), Outputs: l.outputs(), Bias: -1, Kept: l.kept, Value: l.f, InputGrad: l.slope, Join: l.join}
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

// try tries the kernels of a step on matrix units.
func (p *perceptron) try(m fusion.Step, l kernels.Target, found *device, down bool) error {
	if pack, _ := m.Pack(kernels.Float32, down, l); pack != nil {
		if err := found.try(pack, nil); err != nil {
			return err
		}
	}
	return found.try(m.Loss(kernels.Float32, m.Block(p.samples, kernels.Float32, l), down), nil)
}

// parameters returns where they lie.
func (p *perceptron) parameters(all *fusion.Perceptron) (spot, error) {
	whole := p.layers[0].w.spot
	whole.hi = whole.lo + all.Size()
	buf, _ := whole.buffer()
	for i := range p.layers {
		l, at := &p.layers[i], all.Layers[i]
		if l.w.spot.memory != whole.memory || l.w.spot.lo != whole.lo+at.Weights ||
			l.bias != nil && (l.bias.spot.memory != whole.memory || l.bias.spot.lo != whole.lo+at.Bias) {
			return spot{}, errors.New("the parameters do not lie together, in the order of the layers, as one optimizer lays them out")
		}
	}
	if whole.hi > buf.Len() || whole.lo%4 != 0 {
		return spot{}, errors.New("the parameters do not lie as an optimizer lays them out")
	}
	return whole, nil
}

// gradients returns where others find those of the parameters, nil if nobody looks for them.
func (p *perceptron) gradients(layout *fusion.Perceptron, results map[*held]*left) (*spot, error) {
	var all *spot
	missing := false
	for i := range p.layers {
		l := &p.layers[i]
		for _, g := range []struct {
			h  *held
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
			whole := spot{at.memory, span{at.lo - g.at, at.lo - g.at + layout.Size()}}
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
func (r *rewriter) covered(f *followed, p *perceptron, one *held) ([]int, map[*held]*left, error) {
	outer := map[*held]bool{p.layers[0].x: true, p.target: true, one: true}
	if p.classes != nil {
		outer[p.classes] = true
	}
	results := map[*held]*left{}
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
	inner := map[*held]bool{}
	var list []*held
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
		covered, found, again, err := r.cover(f, inner, results, copies)
		if !again {
			return covered, found, err
		}
	}
}

// cover is covered, where launches in copies are not part of the fused step. kinds are the values
// that it may leave. If it finds another launch that only copies a result to a second place, it
// adds that to copies and returns again: it is to be called once more.
func (r *rewriter) cover(f *followed, inner map[*held]bool, kinds map[*held]*left, copies map[int]bool) (covered []int, results map[*held]*left, again bool, err error) {
	results = maps.Clone(kinds)
	refuse := func(format string, a ...any) ([]int, map[*held]*left, bool, error) {
		return nil, nil, false, fmt.Errorf(format, a...)
	}
	for i := range r.nodes {
		if copies[i] {
			continue
		}
		if slices.ContainsFunc(f.by[i], func(w write) bool { return inner[w.held] }) {
			covered = append(covered, i)
		}
	}
	for _, i := range covered {
		for k, w := range f.by[i] {
			if slices.ContainsFunc(f.by[i][k+1:], func(v write) bool { return v.spot == w.spot }) {
				continue // it is written over
			}
			g := w.spot.region()
			l := &left{spot: w.spot, node: i, lasts: r.lasts(&g, i)}
			for _, j := range r.readers(&g, i) {
				if !slices.Contains(covered, j) {
					l.readers = append(l.readers, j)
				}
			}
			if !l.lasts && len(l.readers) == 0 {
				continue
			}
			before, is := results[w.held]
			switch {
			case !inner[w.held]:
				return refuse("%s does something else, too", r.name(r.nodes[i]))
			case !is && len(l.readers) > 0:
				return refuse("%s reads what %s makes on the way", r.name(r.nodes[l.readers[0]]), r.name(r.nodes[i]))
			case !is:
				return refuse("what %s makes on the way is there after the run", r.name(r.nodes[i]))
			case before != nil && len(f.by[i]) == 1 && r.nodes[i].m != nil && r.nodes[i].m.copies():
				copies[i] = true
				return nil, nil, true, nil
			case before != nil:
				return refuse("what %s makes is in two places", r.name(r.nodes[i]))
			}
			results[w.held] = l
		}
	}
	for h, l := range results {
		if l == nil {
			delete(results, h)
		}
	}
	return covered, results, false, nil
}

// updating is the launch of an optimizer that has a form that adds shares up.
type updating struct {
	node int
	rule fusion.Update
}

// updated returns the launch that alone reads the gradients, if it can add them up; nil if there is
// none.
func (r *rewriter) updated(grads *spot, covered []int) *updating {
	if grads == nil {
		return nil
	}
	g := grads.region()
	last := covered[len(covered)-1]
	if r.lasts(&g, last) {
		return nil
	}
	readers := r.readers(&g, last)
	if len(readers) != 1 {
		return nil
	}
	n := r.nodes[readers[0]]
	if !n.described {
		return nil
	}
	rule := fusion.RegisteredGradients().Update(n.args, n.kernel.Describe(n.args))
	if rule == nil {
		return nil
	}
	if read := rule.Gradient(); read.Buf != g.buf || read.Off != g.span.lo || read.Off+read.N != g.span.hi {
		return nil
	}
	return &updating{readers[0], rule}
}

// undisturbed says why the launches between cannot stay where they are when the fused step is done
// in other places.
func (r *rewriter) undisturbed(covered []int, inputs []input, results map[*held]*left, slots []int, update *updating, loss *held, joins bool) error {
	touches := func(g *region, from, to int, reads bool) int {
		found := -1
		r.touch(g.buf, from, to, func(i int, n *node) bool {
			meets := func(h region) bool { return g.meets(&h) }
			if !slices.Contains(covered, i) && (reads && slices.ContainsFunc(n.reads, meets) || slices.ContainsFunc(n.writes, meets)) {
				found = i
			}
			return found < 0
		})
		return found
	}
	last := slots[len(slots)-1]
	for _, in := range inputs {
		g := in.spot.region()
		if i := touches(&g, in.node+1, last+1, false); i >= 0 {
			return fmt.Errorf("%s changes what it reads", r.name(r.nodes[i]))
		}
		for _, i := range covered {
			if r.nodes[i].written(g.buf) && slices.ContainsFunc(r.nodes[i].writes, func(w region) bool { return w.meets(&g) }) {
				return errors.New("it writes what it reads")
			}
		}
	}
	for h, l := range results {
		g, to := l.spot.region(), last
		if h == loss && joins {
			to = update.node
		}
		first := min(l.node, slots[0])
		if i := touches(&g, first, max(l.node, to)+1, true); i >= 0 && !(update != nil && i == update.node) {
			return fmt.Errorf("%s reads or writes a result of the fused step meanwhile", r.name(r.nodes[i]))
		}
	}
	return nil
}

// fresh is memory that no launch of the step has: it is planned with that of the step.
type fresh struct {
	dtype kernels.DType
	n     int
}

func (f *fresh) DType() kernels.DType { return f.dtype }
func (f *fresh) Len() int             { return f.n }

func (r *rewriter) fresh(t kernels.DType, n int) kernels.Buffer { return &fresh{t, n} }
