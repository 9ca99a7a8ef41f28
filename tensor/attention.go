package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
)

// AttentionOptions say what takes part in an attention. The zero value: all keys, with the usual
// scale.
type AttentionOptions struct {
	Causal bool    // query i attends to the keys up to i alone
	Scale  float64 // of the products of queries and keys; 0 is 1/√d
}

func (t *Tensor) scaledDotProductAttention(k, v, mask *Tensor, options ...AttentionOptions) *Tensor {
	y, kept := api{}.Attention(t, k, v, mask, options, false, false)
	for _, x := range kept {
		x.Free()
	}
	return y
}

func (api) AttentionGrad(q, k, v, mask *Tensor, options []AttentionOptions, whole bool, y *Tensor, kept []*Tensor,
	g *Tensor, wants [4]bool) (dq, dk, dv, dm *Tensor) {
	a := q.attentionCall(k, v, mask, options)
	if f := a.inBlocks(whole); f != nil {
		if len(kept) > 1 {
			y = kept[1]
		}
		dq, dk, dv = f.gradients(y, kept[0], g, wants[1] || wants[2])
		return dq, dk, dv, nil
	}
	p := kept[0]
	if wants[2] {
		pt := p.matrixT()
		dv = pt.matMulAs(g, a.gradientType(v))
		pt.Free()
	}
	if !wants[0] && !wants[1] && !wants[3] {
		return nil, nil, dv, nil
	}
	vt := v.matrixT()
	up := g.matMulAs(vt, a.typ)
	vt.Free()
	if !slices.Equal(up.shape, p.shape) { // values have axes that queries and keys have not
		sum := up.SumTo(p.shape...)
		up.Free()
		up = sum
	}
	var grad [1]*Tensor
	launchLines("Softmax gradient", ops.Softmax.Gradient(1, false).Lines, p, -1, nil, []*Tensor{p, up}, grad[:])
	dm = grad[0]
	up.Free()
	if !wants[0] && !wants[1] {
		return nil, nil, dv, dm
	}
	d := dm.MulScalar(a.scale)
	defer d.Free()
	if wants[0] {
		dq = d.matMulAs(k, a.gradientType(q))
	}
	if wants[1] {
		dt := d.matrixT()
		dk = dt.matMulAs(q, a.gradientType(k))
		dt.Free()
	}
	return dq, dk, dv, dm
}

func (api) AttentionKeeps(q, k, v *Tensor, options []AttentionOptions) bool {
	a := q.attentionCall(k, v, nil, options)
	return ops.AttentionKeeps(a.kernelShape(), intmath.Product(a.batch), a.l, a.s, a.causal, q.Device().Target())
}

func (api) Attends(q, k, v, mask *Tensor, options []AttentionOptions) (bias, causal, live *Tensor) {
	return q.attentionCall(k, v, mask, options).additions()
}

func (api) AttentionSoftmax(q, k, v, mask *Tensor, options []AttentionOptions, whole bool,
	kept []*Tensor) (scale float64, p *Tensor) {
	a := q.attentionCall(k, v, mask, options)
	batch, _ := Broadcast(q.shape[:q.Rank()-2], k.shape[:k.Rank()-2])
	if a.inBlocks(whole) == nil && slices.Equal(kept[0].shape, append(batch, a.l, a.s)) {
		p = kept[0]
	}
	return a.scale, p
}

func (api) Attention(t, k, v, mask *Tensor, options []AttentionOptions, graph, whole bool) (y *Tensor, kept []*Tensor) {
	a := t.attentionCall(k, v, mask, options)
	if f := a.inBlocks(whole); f != nil {
		return f.forward(graph)
	}
	typ := a.typ // of the result
	if half := floatsOf(t, k, v, mask); half.Half() {
		typ = half
	}
	kt := k.matrixT()
	defer kt.Free()
	if a.causal && mask == nil {
		q := contiguousOperand{t, false}
		if !readsHalves(a.typ, t, k) {
			q = t.as(a.typ)
		}
		defer q.release()
		s := q.matMulAs(kt, a.typ)
		defer s.Free()
		flat := s.Reshape(intmath.Product(s.shape[:s.Rank()-2]), a.l, a.s)
		MapInto(ops.CausalScores, []kernels.Arg{kernels.FloatArg(a.scale)}, []*Tensor{flat}, flat)
		flat.Free()
		p := s.Softmax(-1)
		return p.matMulAs(v, typ), []*Tensor{p}
	}
	bias, causal, live := a.additions()
	q := alloc("ScaledDotProductAttention", t.Device(), a.typ, t.shape)
	mapTo(fn.MulScalar, a.typ, q, []float64{a.scale}, []*Tensor{t})
	s := q.MatMul(kt)
	q.Free()
	for _, b := range []*Tensor{bias, causal} {
		if b != nil {
			sum := s.Add(b)
			s.Free()
			b.Free()
			s = sum
		}
	}
	p := s.Softmax(-1)
	s.Free()
	if live != nil {
		p.MapInPlace(fn.Mul, nil, live)
		live.Free()
	}
	return p.matMulAs(v, typ), []*Tensor{p}
}

// gradientType returns the type that the gradient by an operand is stored in by the product that computes it: that of
// the operand, unless an axis has to be summed before it is rounded.
func (a *attentionCall) gradientType(of *Tensor) Type {
	if of.typ.Half() && slices.Equal(of.shape[:of.Rank()-2], a.batch) {
		return of.typ
	}
	return a.typ
}

// matrixT returns a view with the last two axes in each other's place.
func (t *Tensor) matrixT() *Tensor {
	axes := sequence(0, t.Rank())
	n := len(axes)
	axes[n-1], axes[n-2] = n-2, n-1
	return t.Transpose(axes...)
}

// attentionCall is an attention before it is computed.
type attentionCall struct {
	q, k, v, mask *Tensor // the mask may be nil
	typ           Type    // in which it is computed
	batch         []int
	l, s          int
	scale         float64
	causal        bool
}

// attentionCall panics unless t, k, v and mask have an attention.
func (t *Tensor) attentionCall(k, v, mask *Tensor, options []AttentionOptions) *attentionCall {
	const op = "ScaledDotProductAttention"
	check(op, t, k, v)
	o := only(op, options)
	for _, x := range []*Tensor{t, k, v} {
		if x.Rank() < 2 {
			misuse(op, ErrShape, "the last two axes of each are positions and features", t, k, v)
		}
	}
	a := &attentionCall{q: t, k: k, v: v, mask: mask, typ: floats(t, k, v), l: t.shape[t.Rank()-2],
		s: k.shape[k.Rank()-2], scale: o.Scale, causal: o.Causal}
	if t.shape[t.Rank()-1] != k.shape[k.Rank()-1] || a.s != v.shape[v.Rank()-2] {
		misuse(op, ErrShape, "queries have the features of keys, and there is a value for each key", t, k, v)
	}
	batch, ok := Broadcast(t.shape[:t.Rank()-2], k.shape[:k.Rank()-2])
	if ok {
		batch, ok = Broadcast(batch, v.shape[:v.Rank()-2])
	}
	if !ok {
		misuse(op, ErrShape, "the axes before the last two do not broadcast", t, k, v)
	}
	a.batch = batch
	if a.scale == 0 {
		a.scale = 1 / math.Sqrt(float64(max(1, t.shape[t.Rank()-1])))
	}
	if math.IsNaN(a.scale) || math.IsInf(a.scale, 0) {
		misuse(op, ErrValue, fmt.Sprintf("the scale is %v", a.scale), t, k, v)
	}
	if mask == nil {
		return a
	}
	check(op, t, mask)
	if whole := a.shape(a.l, a.s); !broadcastsTo(mask.shape, whole) {
		misuse(op, ErrShape, fmt.Sprintf("the mask does not broadcast to %v", whole), t, k, v, mask)
	}
	if mask.typ != Bool && !mask.typ.Float() {
		misuse(op, ErrType, fmt.Sprintf("a mask is of bool or of floats, not %v: convert it with To", mask.typ), mask)
	}
	mustNotLower(op, mask, a.typ)
	return a
}

// bias returns what the mask adds, of a type; nil without a mask.
func (a *attentionCall) bias(typ Type) *Tensor {
	switch m := a.mask; {
	case m == nil:
		return nil
	case m.typ == Bool:
		bias := alloc("ScaledDotProductAttention", m.Device(), typ, m.shape)
		mapTo(ops.MaskAsBias, a.typ, bias, nil, []*Tensor{m})
		return bias
	}
	return a.mask.To(typ)
}

// shape returns that of a batch of matrices.
func (a *attentionCall) shape(rows, cols int) []int {
	return append(slices.Clone(a.batch), rows, cols)
}

// additions returns what is added to the products of queries and keys: that of the mask, and that
// of what is causal, which are nil without. live is 0 for queries that attend to no key, to which
// nothing is added, and else 1; nil if there are none.
func (a *attentionCall) additions() (bias, causal, live *Tensor) {
	if a.l == 0 || a.s == 0 {
		return nil, nil, nil
	}
	if a.causal {
		causal = alloc("ScaledDotProductAttention", a.q.Device(), a.typ, []int{a.l, a.s})
		MapInto(ops.CausalBias, nil, []*Tensor{causal})
	}
	typ := a.typ
	if a.mask != nil && a.mask.typ != Bool {
		typ = kept(typ, a.mask)
	}
	if bias = a.bias(typ); bias == nil {
		return nil, causal, nil
	}
	all := bias.View()
	if causal != nil {
		all = bias.Add(causal)
	}
	if all.Rank() == 0 {
		all = all.Reshape(1)
	}
	most := all.Max(-1, Keepdims)
	live = Map(ops.Attending, nil, most)
	most.Free()
	all.Free()
	for _, b := range []**Tensor{&bias, &causal} {
		if *b != nil {
			clean := Map(ops.Unmasked, nil, *b, live)
			(*b).Free()
			*b = clean
		}
	}
	return bias, causal, live
}

// blocks is an attention by kernels that go over blocks of keys.
type blocks struct {
	*attentionCall
	*ops.AttentionKernels
	items int  // of the batch
	reads Type // of the operands in memory
}

// inBlocks returns the attention by such kernels, or nil: if the softmax is wanted whole, if
// products are faster, or for features that they are not for.
func (a *attentionCall) inBlocks(whole bool) *blocks {
	d, items := a.q.Device(), intmath.Product(a.batch)
	if whole || items == 0 || ops.AttentionByProducts(items, a.l, a.s, d.Target()) {
		return nil
	}
	k := ops.Attention(a.kernelShape(), items*min(a.l, a.s), a.typ, d.Target())
	if k == nil {
		return nil
	}
	operands := []*Tensor{a.q, a.k, a.v}
	if a.mask != nil && a.mask.typ != Bool {
		operands = append(operands, a.mask)
	}
	return &blocks{a, k, items, kept(a.typ, operands...)}
}

// headView is an operand whose rows lie where place says.
type headView struct {
	contiguousOperand
	place ops.AttentionPlace
}

func (p headView) arg() kernels.Arg { return p.bufferArg() }

// headView returns a batch of matrices of a type as it lies, if the kernels can read it there, or a
// copy: of what is repeated once, if that can be.
func (b *blocks) headView(t *Tensor, typ Type) headView {
	x := t.as(typ)
	defer x.release()
	shape := b.shape(t.shape[t.Rank()-2], t.shape[t.Rank()-1])
	wide := x.Expand(shape...)
	if place, ok := b.place(wide); ok {
		return headView{contiguousOperand{wide, true}, place}
	}
	defer wide.Free()
	dense := x.view(x.shape, rowMajor(x.shape), x.off) // as a copy would lie
	defer dense.Free()
	repeated := dense.Expand(shape...)
	defer repeated.Free()
	place, ok := b.place(repeated)
	if !ok {
		all := wide.Copy()
		place, _ = b.place(all)
		return headView{contiguousOperand{all, true}, place}
	}
	once := x.Copy()
	defer once.Free()
	return headView{contiguousOperand{once.Expand(shape...), true}, place}
}

// kernelShape is what kernels are built for.
func (a *attentionCall) kernelShape() ops.AttentionShape {
	return ops.AttentionShape{Features: a.q.shape[a.q.Rank()-1], Values: a.v.shape[a.v.Rank()-1]}
}

// heads returns how many matrices the last axis of the batch has.
func (a *attentionCall) heads() int {
	if len(a.batch) == 0 {
		return 1
	}
	return a.batch[len(a.batch)-1]
}

// place returns where the rows of a batch of matrices lie. It reports false if features are no
// neighbours, or if the axes of the batch before the last are not as one.
func (a *attentionCall) place(t *Tensor) (p ops.AttentionPlace, ok bool) {
	n := t.Rank()
	if t.shape[n-1] > 1 && t.strides[n-1] != 1 {
		return p, false
	}
	p.Row = t.strides[n-2]
	if n > 2 {
		p.Head = t.strides[n-3]
	}
	joined := 1
	for axis := n - 4; axis >= 0; axis-- {
		switch length, stride := t.shape[axis], t.strides[axis]; {
		case length == 1:
		case joined == 1:
			joined, p.Outer = length, stride
		case stride == joined*p.Outer:
			joined *= length
		default:
			return p, false
		}
	}
	return p, true
}

// result allocates that of the values' features, of a type: with the heads of a query side by side if the
// queries have them so, since what takes the heads together reads it then as it lies.
func (b *blocks) result(op string, q headView, typ Type) *Tensor {
	n, e := len(b.batch), b.v.shape[b.v.Rank()-1]
	if n == 0 || b.heads() == 1 || q.place.Head >= q.place.Row {
		return alloc(op, b.q.Device(), typ, b.shape(b.l, e))
	}
	y := alloc(op, b.q.Device(), typ, append(slices.Clone(b.batch[:n-1]), b.l, b.heads(), e))
	defer y.Free()
	axes := sequence(0, n+2)
	axes[n-1], axes[n] = n, n-1
	return y.Transpose(axes...)
}

// biases returns what a mask adds as an operand, and how many of its elements are those of an item
// of the batch, 0 for one matrix for all.
func (b *blocks) biases() (bias contiguousOperand, step int) {
	all := b.bias(b.reads)
	if all == nil {
		return contiguousOperand{EmptyOf(b.q.Device(), b.reads, 0), true}, 0
	}
	defer all.Free()
	lead := max(all.Rank()-2, 0)
	shape := []int{b.l, b.s}
	if intmath.Product(all.shape[:lead]) > 1 {
		shape, step = b.shape(b.l, b.s), b.l*b.s
	}
	flat := all
	if step == 0 && lead > 0 {
		flat = all.Reshape(all.shape[lead:]...)
		defer flat.Free()
	}
	wide := flat.Expand(shape...)
	if c := wide.contiguous(); c.temporary {
		wide.Free()
		return c, step
	}
	return contiguousOperand{wide, true}, step
}

// launch runs a kernel on operands, with the numbers after them, of which the last are the places
// of some operands.
func (b *blocks) launch(k *kernels.Kernel, operands []kernels.Arg, step int, places ...ops.AttentionPlace) {
	d := b.q.Device()
	list := d.core().list()
	args := append(list.args, operands...)
	args = append(args, kernels.IntArg(b.l), kernels.IntArg(b.s), kernels.IntArg(step), kernels.FlagArg(b.mask != nil),
		kernels.FlagArg(b.causal), kernels.FloatArg(b.scale), kernels.IntArg(b.heads()))
	for _, p := range places {
		place := p.Args()
		args = append(args, place[:]...)
	}
	list.launchTyped(d, k, args)
}

// forward returns the result and what gradients read: the logarithms of sums, and, if there is a graph and
// the result is of 16 bits, what it was before it was rounded.
func (b *blocks) forward(graph bool) (y *Tensor, kept []*Tensor) {
	const op = "ScaledDotProductAttention"
	d := b.q.Device()
	q, k, v := b.headView(b.q, b.reads), b.headView(b.k, b.reads), b.headView(b.v, b.reads)
	bias, step := b.biases()
	typ := b.reads
	if graph {
		typ = b.typ
	}
	y, lse := b.result(op, q, typ), alloc(op, d, b.typ, []int{b.items, b.l})
	kept = []*Tensor{lse}
	place, _ := b.place(y)
	b.launch(b.Forward, []kernels.Arg{q.arg(), k.arg(), v.arg(), bias.arg(), y.bufferArg(), lse.arg()}, step, q.place, k.place, v.place, place)
	for _, o := range []contiguousOperand{q.contiguousOperand, k.contiguousOperand, v.contiguousOperand, bias} {
		o.release()
	}
	if typ != b.reads {
		kept = append(kept, y)
		rounded := b.result(op, q, b.reads)
		y.convertTo(rounded, CastOptions{})
		y = rounded
	}
	return y, kept
}

// gradients returns those by queries and, if they are wanted, by keys and values, in the shapes to
// which they broadcast. Those that no axis has to be summed of are rounded to 16 bits.
func (b *blocks) gradients(y, lse, g *Tensor, keys bool) (dq, dk, dv *Tensor) {
	const op = "ScaledDotProductAttention gradient"
	d := b.q.Device()
	if g.typ != b.reads {
		b.reads = b.typ
	}
	q, k, v, py, pg := b.headView(b.q, b.reads), b.headView(b.k, b.reads), b.headView(b.v, b.reads),
		b.headView(y, b.typ), b.headView(g, b.reads)
	bias, step := b.biases()
	stored := func(of ...*Tensor) Type {
		for _, t := range of {
			if !slices.Equal(t.shape[:t.Rank()-2], b.batch) {
				return b.typ
			}
		}
		return b.reads
	}
	dq = alloc(op, d, stored(b.q), q.shape)
	delta := alloc(op, d, b.typ, []int{b.items, b.l})
	b.launch(b.Queries, []kernels.Arg{q.arg(), k.arg(), v.arg(), bias.arg(), py.arg(), lse.arg(), pg.arg(), dq.arg(), delta.arg()}, step,
		q.place, k.place, v.place, py.place, pg.place)
	if keys {
		typ := stored(b.k, b.v)
		dk, dv = alloc(op, d, typ, k.shape), alloc(op, d, typ, v.shape)
		b.launch(b.Keys, []kernels.Arg{q.arg(), k.arg(), v.arg(), bias.arg(), lse.arg(), delta.arg(), pg.arg(), dk.arg(), dv.arg()}, step,
			q.place, k.place, v.place, pg.place)
	}
	for _, o := range []contiguousOperand{q.contiguousOperand, k.contiguousOperand, v.contiguousOperand, py.contiguousOperand, pg.contiguousOperand, bias} {
		o.release()
	}
	delta.Free()
	return dq, dk, dv
}
