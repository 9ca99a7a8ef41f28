package fusedmlp

import (
	"errors"
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/kernels/expr"
)

// perceptron is linear layers in training, each of what the one before makes, with the loss of the
// last and the way back: every sum and every formula of it, as the launches describe them.
type perceptron struct {
	samples int
	layers  []layer
	target  *value     // [samples, outputs], or labels [samples]
	classes *value     // the weights of classes of labels, or nil
	loss    *value     // scale times the sum of an error for each output; nil: nobody reads it
	scale   float64    //
	error   *expr.Expr // of an output X(0) and its target X(1)
	slope   *expr.Expr // the gradient of the output, of the same
	labels  *Labels    // in their place: the loss is a cross-entropy, and the target labels
	dx      *value     // the gradient of the first layer's x, or nil
}

// layer is z = x·w + bias, of which the next makes its x element by element, and of the x of
// earlier layers; of the last the outputs may be made in that way, whose gradient is then that of
// its z. Its formulas are those of Layer.
type layer struct {
	x, w, bias, z *value // bias: nil for none
	kept, f       *expr.Expr
	d, dw, db     *value // the gradients of z, w and bias
	slope, join   *expr.Expr
}

// inputs and outputs are the columns of x and of z.
func (l *layer) inputs() int  { return l.dw.rows }
func (l *layer) outputs() int { return l.dw.cols }

// matcher looks for perceptrons in what launches leave.
type matcher struct {
	*dataFlow
	one   *value
	users map[*value][]*value
}

func (f *dataFlow) matcher(one *value) *matcher {
	s := &matcher{f, one, map[*value][]*value{}}
	for _, h := range f.all {
		for _, p := range h.parents() {
			s.users[p] = append(s.users[p], h)
		}
	}
	return s
}

// perceptrons returns those that there are, and why others that look like one are none.
func (s *matcher) perceptrons() (list []*perceptron, refused []error) {
	var layers []*layer
	for _, h := range s.all {
		if l := s.layer(h); l != nil {
			layers = append(layers, l)
		}
	}
	results, read := map[*value]int{}, map[*value]bool{}
	for i, l := range layers {
		results[l.z], read[l.x] = i, true
	}
	next := map[*layer][]*layer{}
	follows := map[*layer]bool{}
	for _, m := range layers {
		if l := s.producer(m, layers, results, read); l != nil {
			next[l] = append(next[l], m)
			follows[m] = true
		}
	}
	for _, l := range layers {
		if follows[l] || len(next[l]) == 0 {
			continue
		}
		p := &perceptron{samples: l.dw.depth}
		var err error
		for at := l; at != nil && err == nil; {
			p.layers = append(p.layers, *at)
			switch after := next[at]; {
			case len(after) == 0:
				at = nil
			case len(after) > 1:
				err = errors.New("several layers read the result of one")
			default:
				at = after[0]
			}
		}
		if err == nil {
			err = CheckLayers(len(p.layers))
		}
		if err == nil {
			err = s.complete(p)
		}
		if err != nil {
			refused = append(refused, fmt.Errorf("%d linear layers of %d samples: %w", len(p.layers), p.samples, err))
			continue
		}
		list = append(list, p)
	}
	return list, refused
}

// producer returns the layer of whose result what m reads is made, maybe with what others read; nil if
// there is none. Of several it is the last. Results are the layers' places by their results, and
// read has what layers read.
func (s *matcher) producer(m *layer, layers []*layer, results map[*value]int, read map[*value]bool) *layer {
	// A network may have more layers than a formula has operands: those that m.x is made of are its
	// atoms.
	var atoms []*value
	seen := map[*value]bool{}
	var visit func(h *value)
	visit = func(h *value) {
		if seen[h] {
			return
		}
		seen[h] = true
		if _, is := results[h]; is || read[h] && h != m.x {
			atoms = append(atoms, h)
		} else if h.kind == aMap {
			for _, o := range h.of {
				visit(o.value)
			}
		}
	}
	visit(m.x)
	if len(atoms) > mostSteps { // a formula has a step for each
		return nil
	}
	made := formulasOf(s.one, atoms...).formula(m.x)
	if made == nil {
		return nil
	}
	last := -1
	for i, used := range made.Operands() {
		if used && (!read[atoms[i]] || atoms[i] == m.x) {
			last = max(last, results[atoms[i]])
		}
	}
	if last < 0 {
		return nil
	}
	return layers[last]
}

// layer returns the layer whose product is h, if it is trained; nil if there is none.
func (s *matcher) layer(h *value) *layer {
	if h.kind != aProduct || h.parts > 1 || h.b.kind != found || !h.a.is(h.a.value, false) ||
		!h.b.is(h.b.value, false) || !s.lives(h.b.value) {
		return nil
	}
	l := &layer{x: h.a.value, w: h.b.value, z: h}
	for _, u := range s.users[l.x] {
		if u.kind == aProduct && u.parts == 1 && u.a.is(l.x, true) && u.rows == h.depth && u.cols == h.cols &&
			u.depth == h.rows && u.b.is(u.b.value, false) {
			if l.dw != nil && l.dw.b.value != u.b.value {
				return nil // several layers read x
			}
			l.dw, l.d = u, u.b.value
		}
	}
	if l.dw == nil {
		return nil
	}
	for _, u := range s.users[h] {
		if u.kind == aMap && len(u.of) == 2 && (same(u.value, expr.Input(0).Add(expr.Input(1))) || same(u.value, expr.Input(1).Add(expr.Input(0)))) {
			k := slices.IndexFunc(u.of, func(o broadcast) bool { return o.value == h && o.how == each })
			if b := u.of[1-max(k, 0)]; k >= 0 && b.kind == found &&
				(b.how == byRow && b.n == h.cols || b.how != byRow && h.cols == 1 && b.n == 1) && s.lives(b.value) {
				l.z, l.bias = u, b.value
			}
		}
	}
	return l
}

// lives reports whether what was found is there after the run, as parameters are.
func (s *matcher) lives(h *value) bool {
	buf, ok := h.region.buffer()
	return ok && s.step.Lives(buf)
}

// complete finds the loss and the way back.
func (s *matcher) complete(p *perceptron) error {
	last := len(p.layers) - 1
	outputs, err := s.outputsOf(p)
	if err != nil {
		return err
	}
	grads := make([]*value, len(p.layers)+1) // of what each layer reads, and of the outputs
	if outputs != p.layers[last].z {
		grads[last+1] = p.layers[last].d
	}
	for i := last; i >= 0; i-- {
		l := &p.layers[i]
		var dx *value // of l
		for _, u := range s.users[l.d] {
			switch {
			case u.kind == aProduct && u.parts == 1 && u.a.is(l.d, false) && u.b.is(l.w, true) && u.n == l.x.n:
				dx = u
			case u.kind == aSum && u.shares == 1 && u.x == l.d && u.count == p.samples && u.inner == l.outputs():
				l.db = u
			}
		}
		if l.bias != nil && l.db == nil {
			return fmt.Errorf("layer %d has a bias, and no sum is its gradient", i)
		}
		switch {
		case dx == nil && i == 0:
			return nil
		case dx == nil:
			return fmt.Errorf("no product is the gradient of what layer %d reads", i)
		}
		residuals := s.residuals(dx, grads)
		if i == 0 { // nothing else is made of it
			last := residuals[len(residuals)-1]
			p.dx, l.join = last.value, last.join
			return nil
		}
		var err error
		for k, g := range residuals {
			e := s.between(p, i, g.value)
			if k == 0 || e == nil {
				err, grads[i], l.join = e, g.value, g.join
			}
			if e == nil {
				break
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// residual is a gradient of what a layer reads: a formula of its own part X(0) and of the gradients of
// what later layers read, nil for its part alone.
type residual struct {
	*value
	join *expr.Expr
}

// residuals returns what may be the gradient of what a layer reads, of which dx is its own part and
// grads those of later layers: each is made of one before it. Sums on the way to the gradient of an
// earlier layer may be among them.
func (s *matcher) residuals(dx *value, grads []*value) []residual {
	list := []residual{{dx, nil}}
	for at := 0; at < len(list); at++ {
		before := list[at]
		of := formulasOf(s.one, append([]*value{before.value}, grads[1:]...)...)
		for _, u := range s.users[before.value] {
			x := of.formula(u)
			if x == nil || u.n != dx.n || len(x.Operands()) < 2 || !x.Operands()[0] ||
				slices.ContainsFunc(list, func(j residual) bool { return j.value == u }) {
				continue
			}
			list = append(list, residual{u, x.Replace(func(i int) *expr.Expr {
				if i == 0 && before.join != nil {
					return before.join
				}
				return expr.Input(i)
			}, expr.Param)})
		}
	}
	return list
}

// between finds the formulas between layer i − 1 and layer i, of whose x dx is the gradient.
func (s *matcher) between(p *perceptron, i int, dx *value) error {
	below, x := &p.layers[i-1], p.layers[i].x
	formulas := func(k *value) (f, slope *expr.Expr) {
		atoms := []*value{k}
		for j := range i {
			atoms = append(atoms, p.layers[j].x)
		}
		return formulasOf(s.one, atoms...).formula(x), formulasOf(s.one, k, x, dx).formula(below.d)
	}
	if below.f, below.slope = formulas(below.z); below.f == nil {
		return fmt.Errorf("what layer %d reads is no formula of the result of the one before and of what that and others before it read", i)
	}
	if below.slope == nil {
		return fmt.Errorf("the gradient of layer %d is no formula of its result and the gradient of that", i-1)
	}
	if len(below.f.Operands()) < 2 || !below.slope.Operands()[0] {
		return nil
	}
	// What is made of the result alone need not be computed again on the way back, where it says
	// enough.
	for _, k := range s.users[below.z] {
		kept := formulasOf(s.one, below.z).formula(k)
		if kept == nil || k.n != below.z.n {
			continue
		}
		if f, slope := formulas(k); f != nil && slope != nil {
			below.kept, below.f, below.slope = kept, f, slope
			break
		}
	}
	return nil
}

// outputsOf finds the loss and what it is of: the result of the last layer, or a formula of that
// and of what layers read.
func (s *matcher) outputsOf(p *perceptron) (*value, error) {
	top := &p.layers[len(p.layers)-1]
	lossOf := s.lossOf
	if top.d.kind == aLossSlope {
		lossOf = s.labelsOf
	}
	err := lossOf(p, top, top.z)
	if err == nil {
		return top.z, nil
	}
	atoms := []*value{top.z}
	for _, l := range p.layers {
		atoms = append(atoms, l.x)
	}
	made := s.madeOf(top.z)
	for _, h := range s.all {
		if h == top.z || !made[h] {
			continue
		}
		value := formulasOf(s.one, atoms...).formula(h)
		if value != nil && len(value.Operands()) > 1 && value.Operands()[0] && lossOf(p, top, h) == nil {
			top.f = value
			return h, nil
		}
	}
	return nil, err
}

// lossOf finds the loss of outputs z of the last layer: what their gradient reads beside them is
// the target. Where nobody reads the loss, there may be none.
func (s *matcher) lossOf(p *perceptron, top *layer, z *value) error {
	made := s.madeOf(z)
	external := map[*value]bool{}
	p.loss = nil
	if !made[top.d] {
		return errors.New("the gradient of the last is no formula of what that makes, and a target")
	}
	s.externalInputs(top.d, z, made, external)
	if len(external) != 1 {
		return fmt.Errorf("the gradient of the last is a formula of %d others beside what that makes, and not of one target", len(external))
	}
	for t := range external {
		p.target = t
	}
	if p.target.n != z.n {
		return errors.New("the target is of another shape than what the last makes")
	}
	if p.slope = formulasOf(s.one, z, p.target).formula(top.d); p.slope == nil {
		return errors.New("the gradient of the last is no formula of what that makes, and a target")
	}
	p.scale, p.error = 1, expr.Const(0)
	for _, h := range s.all {
		if h.kind != aSum || h.shares != 1 || h.inner != 1 || h.x.n != z.n || !made[h.x] || h.x == top.d { // that is the bias of one output
			continue
		}
		of := formulasOf(s.one, z, p.target).formula(h.x)
		if of == nil {
			continue
		}
		if p.loss != nil {
			return errors.New("there are two losses")
		}
		p.loss, p.error = h, of
	}
	if p.loss == nil {
		return nil
	}
	s.scaled(p)
	return nil
}

// scaled finds the loss times a number, where nothing else is made of it.
func (s *matcher) scaled(p *perceptron) {
	if users := s.users[p.loss]; len(users) == 1 && users[0].kind == aMap && len(users[0].of) == 1 && users[0].n == 1 {
		c := at(users[0].value, 1)
		if same(users[0].value, expr.Input(0).Mul(expr.Const(c))) {
			p.loss, p.scale = users[0], c
		}
	}
}

// labelsOf finds the cross-entropy of the last layer's result: its sum, or the mean over the labels
// that count, of which the gradient is made, too.
func (s *matcher) labelsOf(p *perceptron, top *layer, z *value) error {
	l := top.d.lines
	switch {
	case l.x != z:
		return errors.New("the scores of the cross-entropy are not what the last makes")
	case !l.Logits:
		return errors.New("the loss is of logarithms of probabilities, which the last does not make")
	}
	sumOf := func(h *value) *value {
		k := slices.IndexFunc(s.users[h], func(u *value) bool {
			return u.kind == aSum && u.shares == 1 && u.inner == 1 && u.x == h
		})
		if k < 0 {
			return nil
		}
		return s.users[h][k]
	}
	sum, total := sumOf(l.parts[0]), sumOf(l.parts[1])
	up := formulasOf(s.one, total).formula(top.d.slope)
	if up == nil {
		return errors.New("the gradient of the cross-entropy is no formula of how many labels count")
	}
	p.target, p.classes, p.scale = l.labels, l.weights, 1
	p.labels = &Labels{Ignore: int32(l.Ignore), Smoothing: l.smoothing, Weighted: l.Weighted, Up: up}
	if p.loss = sum; sum == nil {
		return nil
	}
	for _, u := range s.users[sum] {
		if mean := formulasOf(s.one, sum, total).formula(u); mean != nil && same(mean, expr.Input(0).Div(expr.Input(1))) {
			p.loss, p.labels.Mean = u, true
		}
	}
	s.scaled(p)
	return nil
}

// madeOf returns what is made of z element by element, and z.
func (s *matcher) madeOf(z *value) map[*value]bool {
	made := map[*value]bool{z: true}
	for _, h := range s.all { // what it is made of comes before
		if h.kind == aMap && h.n == z.n && slices.ContainsFunc(h.of, func(o broadcast) bool { return made[o.value] }) {
			made[h] = true
		}
	}
	return made
}

// externalInputs collects what h, which is made of z, reads that is not, but for constants.
func (s *matcher) externalInputs(h, z *value, made, list map[*value]bool) {
	visited := map[*value]bool{}
	var visit func(h *value)
	visit = func(h *value) {
		if h == z || visited[h] {
			return
		}
		visited[h] = true
		if made[h] && h.kind == aMap {
			for _, o := range h.of {
				visit(o.value)
			}
		}
		if !made[h] && h != s.one && formulasOf(s.one).formula(h) == nil {
			list[h] = true
		}
	}
	visit(h)
}

// at is a formula of the operands given, in double precision.
func at(x *expr.Expr, operands ...float64) float64 {
	return expr.Compile(x).At(func(i int) float64 { return operands[i] }, nil)
}
