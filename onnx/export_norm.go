package onnx

import (
	"math"
	"slices"

	"github.com/clgrad/clgrad/tensor"
)

// exportNorms are softmax, norms and attention.
var exportNorms = map[string]func(c *exportCall) []string{
	"Softmax":    func(c *exportCall) []string { return []string{c.softmax("Softmax", c.as(0, wideType(c.typ())))} },
	"LogSoftmax": func(c *exportCall) []string { return []string{c.softmax("LogSoftmax", c.as(0, wideType(c.typ())))} },
	"Softmin": func(c *exportCall) []string {
		return []string{c.softmax("Softmax", c.e.op("Neg", []string{c.as(0, wideType(c.typ()))}))}
	},
	"LayerNorm": func(c *exportCall) []string {
		axis := c.axis(1, c.rank(0))
		typ := wideType(c.typ())
		w := c.as(2, typ)
		if w == "" {
			w = c.e.filled(typ, 1, c.shape(0)[axis:], c.value(0))
		}
		y := c.e.op("LayerNormalization", []string{c.as(0, typ), w, c.as(3, typ)}, integer("axis", axis),
			float("epsilon", arg[float64](c, 4)))
		return []string{c.e.cast(y, typ, c.typ())}
	},
	"RMSNorm": exportRMSNorm, "GroupNorm": exportGroupNorm,
	"InstanceNorm": func(c *exportCall) []string {
		typ := wideType(c.typ())
		channels := c.shape(0)[1:2]
		w, b := c.affine(1, 2, channels, typ)
		y := c.e.op("InstanceNormalization", []string{c.as(0, typ), w, b}, float("epsilon", arg[float64](c, 3)))
		return []string{c.e.cast(y, typ, c.typ())}
	},
	"BatchNorm": exportBatchNorm, "ScaledDotProductAttention": exportAttention,
	"Dropout": func(c *exportCall) []string {
		if p := arg[float64](c, 1); arg[bool](c, 3) && p > 0 {
			fail("it drops elements: nn.Eval(model) ends the training of a model")
		}
		return exportIdentity(c)
	},
}

// filled returns a tensor of one number.
func (e *exporter) filled(typ tensor.Type, v float64, shape []size, of ...value) string {
	for _, s := range shape {
		if !s.fixed() {
			return e.op("Expand", []string{e.scalar(typ, v), e.shape(shape, of)})
		}
	}
	return e.literal(tensor.FullOf(e.device(), typ, v, fixedShape(shape)...))
}

// affine returns the weight and the bias in two arguments, or ones and zeros in place of them.
func (c *exportCall) affine(w, b int, shape []size, typ tensor.Type) (weight, bias string) {
	if weight = c.as(w, typ); weight == "" {
		weight = c.e.filled(typ, 1, shape, c.value(0))
	}
	if bias = c.as(b, typ); bias == "" {
		bias = c.e.filled(typ, 0, shape, c.value(0))
	}
	return weight, bias
}

func (c *exportCall) softmax(op, x string) string {
	typ := wideType(c.typ())
	if c.rank(0) == 0 {
		return c.e.cast(c.e.squeeze(c.e.op(op, []string{c.e.unsqueeze(x, 0)}, integer("axis", 0)), 0), typ, c.typ())
	}
	return c.e.cast(c.e.op(op, []string{x}, integer("axis", c.axis(1, c.rank(0)))), typ, c.typ())
}

func exportRMSNorm(c *exportCall) []string {
	axis, eps, typ := c.axis(1, c.rank(0)), arg[float64](c, 3), wideType(c.typ())
	x, w := c.as(0, typ), c.as(2, typ)
	if c.e.options.Opset >= 23 {
		if w == "" {
			w = c.e.filled(typ, 1, c.shape(0)[axis:], c.value(0))
		}
		y := c.e.op("RMSNormalization", []string{x, w}, integer("axis", axis), float("epsilon", eps))
		return []string{c.e.cast(y, typ, c.typ())}
	}
	mean := c.e.reduce("ReduceMean", c.e.op("Mul", []string{x, x}), sequence(c.rank(0))[axis:], true)
	y := c.e.op("Div", []string{x, c.e.op("Sqrt", []string{c.e.op("Add", []string{mean, c.e.scalar(typ, eps)})})})
	if w != "" {
		y = c.e.op("Mul", []string{y, w})
	}
	return []string{c.e.cast(y, typ, c.typ())}
}

// exportGroupNorm writes an instance norm of groups, or the operator where the opset has it for weights of channels.
func exportGroupNorm(c *exportCall) []string {
	groups, eps, typ, shape := arg[int](c, 1), arg[float64](c, 4), wideType(c.typ()), c.shape(0)
	x := c.as(0, typ)
	if c.e.options.Opset >= 21 {
		w, b := c.affine(2, 3, shape[1:2], typ)
		y := c.e.op("GroupNormalization", []string{x, w, b}, float("epsilon", eps), integer("num_groups", groups))
		return []string{c.e.cast(y, typ, c.typ())}
	}
	rest := c.e.product(shape[1:]...)
	for r := range rest {
		rest[r] /= groups
	}
	of := []size{c.e.constantSize(groups)}
	split := c.e.reshape(x, shape[:1], []size{shape[0], of[0], rest}, c.value(0))
	y := c.e.op("InstanceNormalization", []string{split, c.e.filled(typ, 1, of), c.e.filled(typ, 0, of)},
		float("epsilon", eps))
	y = c.e.reshape(y, shape[:1], shape, c.value(0))
	for i, op := range []string{"Mul", "Add"} {
		if p := c.as(2+i, typ); p != "" {
			y = c.e.op(op, []string{y, c.perChannel(p)})
		}
	}
	return []string{c.e.cast(y, typ, c.typ())}
}

// perChannel returns a vector of channels so that it broadcasts to argument 0.
func (c *exportCall) perChannel(name string) string {
	return c.e.unsqueeze(name, sequence(c.rank(0) - 1)[1:]...)
}

func exportBatchNorm(c *exportCall) []string {
	o, eps, typ := argOptions[tensor.BatchNormOptions](c, 4), arg[float64](c, 3), wideType(c.typ())
	x, channels := c.as(0, typ), c.shape(0)[1:2]
	switch {
	case o.Eval:
		w, b := c.affine(1, 2, channels, typ)
		running := func(t *tensor.Tensor) string { return c.e.as(slices.Repeat(value{t}, len(c.runs)), typ) }
		in := []string{x, w, b, running(o.Mean), running(o.Var)}
		return []string{c.e.cast(c.e.op("BatchNormalization", in, float("epsilon", eps)), typ, c.typ())}
	case o.Mean != nil:
		fail("it takes the statistics of the batch, and the running ones follow: nn.Eval(model) ends the training of a model")
	}
	axes := append([]int{0}, sequence(c.rank(0))[2:]...)
	d := c.e.op("Sub", []string{x, c.e.reduce("ReduceMean", x, axes, true)})
	variance := c.e.reduce("ReduceMean", c.e.op("Mul", []string{d, d}), axes, true)
	y := c.e.op("Div", []string{d, c.e.op("Sqrt", []string{c.e.op("Add", []string{variance, c.e.scalar(typ, eps)})})})
	for i, op := range []string{"Mul", "Add"} {
		if p := c.as(1+i, typ); p != "" {
			y = c.e.op(op, []string{y, c.perChannel(p)})
		}
	}
	return []string{c.e.cast(y, typ, c.typ())}
}

// exportAttention writes softmax(q·kᵀ·scale + mask)·v. Where a mask may leave a query without a key, the softmax is
// of numbers far below all scores, and is then put to 0.
func exportAttention(c *exportCall) []string {
	o, typ := argOptions[tensor.AttentionOptions](c, 4), wideType(c.typ())
	q, k := c.shape(0), c.shape(1)
	scale := o.Scale
	if scale == 0 {
		scale = 1 / math.Sqrt(float64(fixedSize(q[len(q)-1])))
	}
	perm := sequence(len(k))
	slices.Reverse(perm[len(k)-2:])
	kt := c.e.op("Transpose", []string{c.as(1, typ)}, ints("perm", perm...))
	scores := c.e.op("MatMul", []string{c.e.op("Mul", []string{c.as(0, typ), c.e.scalar(typ, scale)}), kt})
	on := "" // where a query attends to a key
	and := func(more string) {
		if on == "" {
			on = more
		} else {
			on = c.e.op("And", []string{on, more})
		}
	}
	mask := c.value(3)
	switch {
	case mask.absent():
	case typeIn(mask) == tensor.Bool:
		on = c.e.name(mask)
	default:
		m := c.e.as(mask, typ)
		scores = c.e.op("Add", []string{scores, m})
		on = c.e.op("Not", []string{c.e.op("Equal", []string{m, c.e.scalar(typ, math.Inf(-1))})})
	}
	if o.Causal {
		and(c.causal(q[len(q)-2], k[len(k)-2]))
	}
	if on != "" {
		scores = c.e.op("Where", []string{on, scores, c.e.scalar(typ, typ.Limit(-1e30))})
	}
	p := c.e.op("Softmax", []string{scores}, integer("axis", -1))
	if !mask.absent() {
		p = c.e.op("Where", []string{on, p, c.e.scalar(typ, 0)})
	}
	return []string{c.e.cast(c.e.op("MatMul", []string{p, c.as(2, typ)}), typ, c.typ())}
}

// causal returns where key j is not behind query i, [l, s].
func (c *exportCall) causal(l, s size) string {
	if l.fixed() && s.fixed() {
		bits := make([]bool, 0, l[0]*s[0])
		for i := range l[0] {
			for j := range s[0] {
				bits = append(bits, j <= i)
			}
		}
		return c.e.literal(tensor.New(c.e.device(), bits, l[0], s[0]))
	}
	row := func(n size) string {
		return c.e.op("Range", []string{c.e.scalar(tensor.Int64, 0), c.e.numberOf(n, tensor.Int64, c.value(0), c.value(1)),
			c.e.scalar(tensor.Int64, 1)})
	}
	return c.e.op("LessOrEqual", []string{c.e.unsqueeze(row(s), 0), c.e.unsqueeze(row(l), 1)})
}
