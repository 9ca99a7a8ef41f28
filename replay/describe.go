package replay

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/operation"
)

// operations says what a launch computes, in the words of the field: "matmul input0[64,32]·w[32,10]; map gelu(t0 + b)".
// A kernel that does not say is a custom-call.
func (p *printer) operations(l listed) string {
	d := described{p: p}
	said := len(l.parts) > 0
	for _, part := range l.parts {
		said = said && d.all(part.Kernel, part.Args)
	}
	if !said {
		d = described{p: p}
		said = d.all(l.kernel, l.args)
	}
	if !said {
		return "custom-call " + l.kernel.Name + "(" + strings.Join(p.operands(l), ", ") + ")"
	}
	return strings.Join(d.lines, "; ")
}

// operands names what a launch reads.
func (p *printer) operands(l listed) (names []string) {
	for i, param := range l.kernel.Params {
		if param.Mode.Read() && l.args[i].N > 0 {
			names = append(names, p.operand(&l.args[i]))
		}
	}
	return names
}

// described is the operations of a launch in words.
type described struct {
	p     *printer
	args  []kernels.Arg
	local map[[2]any]string // what an operation of the launch wrote: by argument or temporary, and its place
	lines []string
}

// all describes a launch; of one that is several, those. It reports whether a kernel says what it computes.
func (d *described) all(k *kernels.Kernel, args []kernels.Arg) bool {
	if k.Semantics == nil && len(fused.Of(k).Kernels) > 0 {
		for _, of := range fused.Of(k).Kernels {
			n := len(of.Params)
			if n > len(args) || !d.all(of, args[:n]) {
				return false
			}
			args = args[n:]
		}
		return true
	}
	if k.Semantics == nil {
		return false
	}
	ops := k.Semantics(args)
	d.args = args
	if fused.Of(k).Rows != nil && len(ops) > 2 { // softmax, a norm: its name says more
		d.lines = append(d.lines, d.named(k, ops))
		return true
	}
	for _, op := range ops {
		if text := d.operation(op); text != "" {
			d.lines = append(d.lines, text)
		}
	}
	return len(ops) > 0
}

// named returns "softmax(%3)" of a kernel that does several operations.
func (d *described) named(k *kernels.Kernel, ops []kernels.Op) string {
	var operands []string
	for i, param := range k.Params {
		if !param.Mode.Read() || d.args[i].N == 0 {
			continue
		}
		operands = append(operands, d.read(kernels.View{Arg: i}))
	}
	for _, op := range ops {
		_, writes := op.Views()
		for _, v := range writes {
			d.result(v)
		}
	}
	return strings.TrimPrefix(k.Name, "k_") + "(" + strings.Join(operands, ", ") + ")"
}

// result names what an operation writes for later ones of the launch.
func (d *described) result(v kernels.View) {
	if d.local == nil {
		d.local = map[[2]any]string{}
	}
	d.local[d.key(v)] = fmt.Sprintf("t%d", len(d.lines))
}

func (d *described) key(v kernels.View) [2]any {
	if v.Arg < 0 {
		return [2]any{nil, v.Arg}
	}
	return [2]any{d.args[v.Arg].Buf, d.args[v.Arg].Off + v.Offset}
}

// read names what an operation reads: t0 is the result of the launch's first operation.
func (d *described) read(v kernels.View) string {
	if name := d.local[d.key(v)]; name != "" {
		return name
	}
	if v.Arg < 0 {
		return fmt.Sprintf("t%d", -1-v.Arg)
	}
	return d.p.operand(&d.args[v.Arg])
}

// operation returns an operation in words.
func (d *described) operation(op kernels.Op) string {
	var text string
	switch op := op.(type) {
	case *operation.Map:
		if text = d.maps(op); text == "" {
			d.local[d.key(op.Results[0].View)] = d.read(op.Operands[0])
			return ""
		}
	case *operation.MatMul:
		batch := ""
		for _, n := range op.Batch {
			batch += fmt.Sprintf("%d,", n)
		}
		text = fmt.Sprintf("matmul %s[%s%d,%d]·%s[%s%d,%d]", d.read(op.A), batch, op.M, op.K, d.read(op.B), batch, op.K, op.N)
		if op.Slice < op.K {
			text += fmt.Sprintf(" split-k %d", (op.K+op.Slice-1)/op.Slice)
		}
	case *operation.Reduction:
		name := "reduce-" + op.Function.Name
		switch op.Function {
		case fn.Add:
			name = "sum"
		case fn.Mul:
			name = "prod"
		case fn.Max:
			name = "max"
		case fn.Min:
			name = "min"
		}
		if op.Index.Strides != nil {
			name = "arg" + name
		}
		text = fmt.Sprintf("%s axis 1 of %s[%d,%d,%d]", name, d.read(op.X), op.Outer, op.Len, op.Inner)
		if op.Shares > 1 {
			text += fmt.Sprintf(" in %d parts", op.Shares)
		}
	case *operation.Gather, *operation.Scatter:
		text = d.indexed(op)
	case *operation.Random:
		text = [...]string{"rng-uniform", "rng-normal", "rng-integers"}[op.Distribution]
	case *operation.CrossEntropy:
		text = fmt.Sprintf("cross-entropy %s[%d,%d] labels %s", d.read(op.X), op.Outer*op.Inner, op.Len, d.read(op.Labels))
	case *operation.CrossEntropyGrad:
		text = fmt.Sprintf("cross-entropy-grad of [%d,%d] labels %s", op.Outer*op.Inner, op.Len, d.read(op.Labels))
	case *operation.Attention, *operation.AttentionGradQuery, *operation.AttentionGradKeyValue:
		text = d.attention(op)
	case *operation.Convolution:
		text = d.convolution(op)
	case *operation.ConvolutionWeightGrad:
		text = d.convolutionWeightGrad(op)
	case *operation.Pool:
		text = d.pool("", &op.PoolSpec, op.X, op.Inputs())
	case *operation.PoolGrad:
		text = d.pool("-grad", &op.PoolSpec, op.G, op.Outputs())
	case *operation.Interpolate:
		text = d.interpolate("", &op.InterpolateSpec, op.X, op.Inputs(), op.OutSize)
	case *operation.InterpolateGrad:
		text = d.interpolate("-grad", &op.InterpolateSpec, op.G, op.Outputs(), op.Size)
	case *operation.Pad:
		text = d.pad("", op.Axes, op.X)
	case *operation.PadGrad:
		text = d.pad("-grad", op.Axes, op.G)
	case *operation.Sort:
		text = d.sort(op)
	case *operation.Scan:
		text = d.scan(op)
	default:
		text = strings.TrimPrefix(fmt.Sprintf("%T", op), "*kernels.")
	}
	_, writes := op.Views()
	for _, v := range writes {
		d.result(v)
	}
	return text
}

// maps returns the formulas of a map. A copy, a conversion and a fill have their names. The sum of a launch times 1 is
// nothing: "".
func (d *described) maps(op *operation.Map) string {
	var list []string
	for _, r := range op.Results {
		switch f := r.Function; {
		case len(op.Operands) > 0 && f.Is(0) && op.Operands[0].Type != r.View.Type:
			list = append(list, fmt.Sprintf("convert %s to %s", d.read(op.Operands[0]), short(r.View.Type)))
		case len(op.Operands) > 0 && f.Is(0):
			list = append(list, "copy "+d.read(op.Operands[0]))
		default:
			list = append(list, d.formula(op, r))
		}
	}
	if len(list) == 1 && len(op.Operands) > 0 && list[0] == "("+d.read(op.Operands[0])+" * 1)" && d.local[d.key(op.Operands[0])] != "" {
		return ""
	}
	if len(list) == 1 && (strings.HasPrefix(list[0], "copy ") || strings.HasPrefix(list[0], "convert ")) {
		return list[0]
	}
	return "map " + strings.Join(list, ", ")
}

// formula prints a formula of a map, of the names of its operands and the numbers of the launch. Of elements that are
// read by index, its name says more: "dequantize(input1, input2)".
func (d *described) formula(op *operation.Map, r operation.Result) string {
	if len(r.Function.Value.Gathers()) > 0 {
		var operands []string
		for i, v := range op.Operands {
			if r.Function.Uses(i) && (!op.Gathers(i) || op.Elements[i] > 0) {
				operands = append(operands, d.read(v))
			}
		}
		return r.Function.Name + "(" + strings.Join(operands, ", ") + ")"
	}
	leaf := func(x *expr.Expr) string {
		text := x.String()
		var i int
		if _, err := fmt.Sscanf(text, "%%%d", &i); err == nil && i < len(op.Operands) && text == fmt.Sprintf("%%%d", i) {
			return d.read(op.Operands[i])
		}
		if _, err := fmt.Sscanf(text, "$%d", &i); err == nil && i < len(r.Scalars) && text == fmt.Sprintf("$%d", i) {
			return d.number(r.Scalars[i], r.View.Type)
		}
		return ""
	}
	return r.Function.Value.Format(func(x *expr.Expr, print func(*expr.Expr) string) string {
		if name := leaf(x); name != "" {
			return name
		}
		for _, k := range knownFunctions() {
			operands, numbers, ok := x.Match(k.value)
			if !ok {
				continue
			}
			var args []string
			for i := range k.operands {
				if y := operands[i]; y != nil {
					args = append(args, print(y))
				}
			}
			for i := range len(numbers) {
				if y := numbers[i]; y != nil {
					args = append(args, print(y))
				}
			}
			return k.name + "(" + strings.Join(args, ", ") + ")"
		}
		return ""
	})
}

// number prints a number of a launch; a step scalar as "step-scalar".
func (d *described) number(s operation.Scalar, t kernels.DType) string {
	if s.Arg >= 0 {
		if of, _, _ := d.args[s.Arg].StepScalar(); of != nil {
			return "step-scalar"
		}
	}
	return fmt.Sprintf("%.6g", s.In(d.args, t))
}

// knownFunction is a function of the library that listings name within a formula.
type knownFunction struct {
	name     string
	value    *expr.Expr
	operands int
	steps    int
}

// knownFunctions are those of one operand and their gradients that take more than a primitive, the longest first.
var knownFunctions = sync.OnceValue(func() []knownFunction {
	var list []knownFunction
	add := func(f *kernels.Function) {
		if f == nil || f.Err() != nil || f.Indexed() || f.Condition() {
			return
		}
		if n := expr.Compile(f.Value).Steps(); n >= 2 {
			list = append(list, knownFunction{f.Name, f.Value, f.Operands(), n})
		}
	}
	for _, f := range fn.Functions {
		if f.Err() == nil && f.Operands() == 1 && f.Masks == 0 {
			add(f)
			add(f.Gradient(0))
		}
	}
	slices.SortStableFunc(list, func(a, b knownFunction) int { return cmp.Compare(b.steps, a.steps) })
	return list
})
