package ops

import (
	"github.com/clgrad/clgrad/internal/gradsums"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/operation"
)

func init() { gradsums.Register(gradients{}) }

// gradients is gradsums.Gradients by ReducePartials, Sum, AdamWPartials and AdamWSums.
type gradients struct{}

// SumPartials is that of gradsums.Gradients.
func (gradients) SumPartials(parts, factor, y kernels.Arg, size, groups int) (*kernels.Kernel, []kernels.Arg) {
	return ReducePartials, []kernels.Arg{parts, factor, y, kernels.IntArg(size), kernels.IntArg(groups)}
}

// SumLoss is that of gradsums.Gradients.
func (gradients) SumLoss(losses, y kernels.Arg, groups int, scale float64) (*kernels.Kernel, []kernels.Arg) {
	return Sum, []kernels.Arg{losses, y, kernels.IntArg(groups), kernels.IntArg(groups), kernels.FloatArg(scale)}
}

// update is a launch of AdamW, in any of its forms but those that add the gradient up.
type update struct {
	gradient kernels.Arg
	p, m, v  kernels.Arg
	numbers  []kernels.Arg
}

// Update is that of gradsums.Gradients: a launch is AdamW by its description.
func (gradients) Update(in []kernels.Arg, list []kernels.Op) gradsums.Update {
	if len(list) != 1 {
		return nil
	}
	m, ok := list[0].(*operation.Map)
	if !ok || len(m.Dims) != 1 || len(m.Results) != 3 || len(m.Operands) != 4 {
		return nil
	}
	for i, f := range adamwRule.Functions {
		if m.Results[i].Function != f {
			return nil
		}
	}
	whole := func(v kernels.View) bool {
		return v.Arg >= 0 && v.Offset == 0 && v.Strides[0] == 1 && in[v.Arg].N == m.Dims[0]
	}
	for i, to := range []int{0, 2, 3} {
		if o, r := m.Operands[to], m.Results[i].View; !whole(o) || o.Arg != r.Arg || !whole(r) {
			return nil
		}
	}
	if !whole(m.Operands[1]) {
		return nil
	}
	u := &update{in[m.Operands[1].Arg], in[m.Operands[0].Arg], in[m.Operands[2].Arg], in[m.Operands[3].Arg], nil}
	for _, s := range m.Results[0].Scalars {
		if s.Arg < 0 {
			return nil
		}
		u.numbers = append(u.numbers, in[s.Arg])
	}
	return u
}

// Gradient is that of gradsums.Update.
func (u *update) Gradient() kernels.Arg { return u.gradient }

// SumPartials is that of gradsums.Update.
func (u *update) SumPartials(parts, factor kernels.Arg, groups int, losses, sum kernels.Arg, n int, scale float64) (*kernels.Kernel, []kernels.Arg) {
	return AdamWPartials, append([]kernels.Arg{u.p, parts, factor, u.m, u.v, losses, sum, kernels.IntArg(u.p.N), kernels.IntArg(groups), kernels.IntArg(n), kernels.FloatArg(scale)}, u.numbers...)
}

// SumBlocks is that of gradsums.Update.
func (*update) SumBlocks(sums []gradsums.Partial, n int) (table []int32, all bool) {
	return sumBlocks(sums, n)
}

// SumByTable is that of gradsums.Update.
func (u *update) SumByTable(g, parts, table kernels.Arg) (*kernels.Kernel, []kernels.Arg) {
	return AdamWSums, append([]kernels.Arg{u.p, g, parts, u.m, u.v, table}, u.numbers...)
}

// Partials is that of gradsums.Gradients.
func (gradients) Partials(k *kernels.Kernel, args []kernels.Arg, at, from int, l kernels.Target) []gradsums.Partial {
	if k != SumAxis {
		return nil
	}
	if s, _, _ := args[5].StepScalar(); s != nil {
		return nil
	}
	return partialsOf(args, at, from, l)
}
