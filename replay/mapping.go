package replay

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"sync"
	"weak"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/operation"
)

// mapping is a launch that is one operation.Map, or several in one: formulas of views and numbers.
type mapping struct {
	typ      kernels.DType // that it is computed in: Float32, for the device's floats and floats of 16 bits, or Int32
	dims     []int
	operands []operand
	results  []result
	scalars  []scalar

	compiled *expr.Program // of the formulas, once it was asked for
}

// operand is expr.Input(i) of the formulas, i being its place.
type operand struct {
	view
	mask   bool // of Uint8, among floats
	domain [2]float64
}

// scalar is expr.Param(i).
type scalar struct {
	arg   kernels.Arg
	value float64 // for tests
}

type result struct {
	value *expr.Expr
	view  view
}

// mappingOf returns a launch as a mapping, nil if it is none, with the reason.
func mappingOf(k *kernels.Kernel, args []kernels.Arg, ops []kernels.Op) (*mapping, *cause) {
	if len(ops) != 1 {
		return nil, because(ReasonOpaque, "it is no map")
	}
	op, ok := ops[0].(*operation.Map)
	switch {
	case !ok:
		return nil, because(ReasonOpaque, "it is no map")
	case !op.Codegen && !op.ExactRounding && (k.Tol.ULP != 0 || k.Tol.Rel != 0 || k.Tol.Scale != nil || k.Tol.Bound != nil):
		return nil, because(ReasonRounding, "its kernel may round otherwise than its formula")
	}
	m := &mapping{typ: op.Results[0].View.Type.Computed(), dims: op.Dims}
	if op.Codegen {
		m.typ = op.Type
	} else if op.Results[0].Function.Condition() { // of what its operands are
		m.typ = kernels.Float32
		for i, v := range op.Operands {
			if op.Uses(i) && !op.Results[0].Function.Mask(i) {
				m.typ = v.Type.Computed()
				break
			}
		}
	}
	if m.typ != kernels.Float32 && m.typ != kernels.Int32 {
		return nil, because(ReasonTypes, "it is of %v", m.typ)
	}
	if backwards(op) {
		return nil, because(ReasonAccess, "it goes backwards")
	}
	at := func(v kernels.View) view { return view{args[v.Arg].Buf, args[v.Arg].Off + v.Offset, v.Strides} }
	for i, v := range op.Operands {
		o := operand{}
		if op.Uses(i) {
			for _, r := range op.Results {
				if r.Function.Indexed() {
					return nil, because(ReasonAccess, "it reads indices, or an operand by index")
				}
				if r.Function.Uses(i) {
					o.mask = o.mask || r.Function.Mask(i)
					o.domain = r.Function.Domain(i)
				}
			}
			// A byte among floats is its number, as a mask is.
			o.mask = o.mask || v.Type == kernels.Uint8 && m.typ == kernels.Float32
			if v.Arg < 0 || v.Type != m.typ && m.typ != kernels.Float32 && !(o.mask && v.Type == kernels.Uint8) {
				return nil, because(ReasonTypes, "its operands are of several types")
			}
			o.view = at(v)
		}
		m.operands = append(m.operands, o)
	}
	for _, r := range op.Results {
		f := r.Function
		switch {
		case f.Indexed():
			return nil, because(ReasonAccess, "it reads indices, or an operand by index")
		case r.View.Arg < 0 || !f.Condition() && r.View.Type != m.typ && !(r.View.Type.Half() && m.typ == kernels.Float32):
			return nil, because(ReasonTypes, "its results are of several types")
		case f.Condition() && (len(op.Results) > 1 || r.View.Type != kernels.Uint8):
			return nil, because(ReasonTypes, "it has several conditions")
		case r.View.Type.Half() && len(op.Operands) > 0 && f.Is(0) && op.Operands[0].Type.Integer() && op.Operands[0].Type.Size() > 2:
			return nil, because(ReasonRounding, "it rounds integers to floats of 16 bits, once")
		case m.typ == kernels.Int32 && !f.Value.Whole():
			return nil, because(ReasonTypes, "it is no formula of integers")
		case !op.Codegen && !op.ExactRounding && !expr.Compile(f.Value).Exact():
			return nil, because(ReasonRounding, "its kernel may round otherwise than its formula")
		}
		numbers := make([]*expr.Expr, len(r.Scalars))
		for i, s := range r.Scalars {
			if !f.UsesScalar(i) {
				continue
			}
			if s.Arg < 0 {
				numbers[i] = expr.Const(s.Value)
				continue
			}
			if kind := args[s.Arg].Kind; (kind == kernels.ArgFloat) != (m.typ == kernels.Float32) {
				return nil, because(ReasonTypes, "it takes a number of another type")
			}
			numbers[i] = expr.Param(m.scalar(scalar{args[s.Arg], f.Scalars[i]}))
		}
		value := f.Value.Replace(expr.Input, func(i int) *expr.Expr { return numbers[i] })
		i := slices.IndexFunc(op.Operands, func(v kernels.View) bool { return v.Type == r.View.Type })
		if i < 0 || !f.Is(i) { // else it is that already
			value = roundedTo(r.View.Type, value)
		}
		m.results = append(m.results, result{value, at(r.View)})
	}
	m.tidy()
	return m, nil
}

// roundedTo returns a value as memory of a type holds it: what reads it there reads that.
func roundedTo(t kernels.DType, value *expr.Expr) *expr.Expr {
	switch t {
	case kernels.Float16:
		return value.Float16()
	case kernels.BFloat16:
		return value.BFloat16()
	}
	return value
}

// backwards reports whether a view of an operation has a stride below 0.
func backwards(op kernels.Op) bool {
	reads, writes := op.Views()
	return slices.ContainsFunc(append(reads, writes...), func(v kernels.View) bool {
		return slices.ContainsFunc(v.Strides, func(s int) bool { return s < 0 })
	})
}

// scalar returns the number of a scalar, which it adds.
func (m *mapping) scalar(s scalar) int {
	m.scalars = append(m.scalars, s)
	return len(m.scalars) - 1
}

// program is the formulas as they are computed.
func (m *mapping) program() *expr.Program {
	if m.compiled == nil {
		var values []*expr.Expr
		for _, r := range m.results {
			values = append(values, number(r.value))
		}
		m.compiled = expr.Compile(values...)
	}
	return m.compiled
}

// number is a formula, of a condition 1 where it holds and 0 elsewhere.
func number(x *expr.Expr) *expr.Expr {
	if x.IsCondition() {
		return expr.Where(x, expr.Const(1), expr.Const(0))
	}
	return x
}

// tidy leaves out the dimensions of one element and the operands that no formula reads, makes one
// of two dimensions that follow each other in every view and of two operands that are the same, and
// puts masks last.
func (m *mapping) tidy() {
	var dims []int
	strides := make([][]int, len(m.operands)+len(m.results))
	of := func(t int) *view {
		if t < len(m.operands) {
			return &m.operands[t].view
		}
		return &m.results[t-len(m.operands)].view
	}
	used := make([]bool, len(m.operands))
	for _, r := range m.results {
		for i, is := range r.value.Operands() {
			used[i] = used[i] || is
		}
	}
	for t := range m.operands {
		if !used[t] {
			m.operands[t].view = view{strides: make([]int, len(m.dims))}
		}
	}
	for d, n := range m.dims {
		if n == 1 {
			continue
		}
		last := len(dims) - 1
		follows := last >= 0
		for t := range strides {
			follows = follows && strides[t][last] == of(t).strides[d]*n
		}
		if follows {
			dims[last] *= n
			for t := range strides {
				strides[t][last] = of(t).strides[d]
			}
			continue
		}
		dims = append(dims, n)
		for t := range strides {
			strides[t] = append(strides[t], of(t).strides[d])
		}
	}
	m.dims = dims
	for t := range strides {
		of(t).strides = strides[t]
	}
	var operands []operand
	to := make([]int, len(m.operands))
	for _, masks := range []bool{false, true} {
		for i, o := range m.operands {
			if !used[i] || o.mask != masks {
				continue
			}
			to[i] = slices.IndexFunc(operands, func(p operand) bool { return p.mask == o.mask && p.same(o.view, dims) })
			if to[i] < 0 {
				to[i] = len(operands)
				operands = append(operands, o)
			}
		}
	}
	m.operands = operands
	var scalars []scalar
	number := map[int]int{}
	for k := range m.results {
		r := &m.results[k]
		r.value = r.value.Replace(func(i int) *expr.Expr { return expr.Input(to[i]) }, func(i int) *expr.Expr {
			if _, ok := number[i]; !ok {
				number[i] = len(scalars)
				scalars = append(scalars, m.scalars[i])
			}
			return expr.Param(number[i])
		})
	}
	m.scalars, m.compiled = scalars, nil
}

// in returns the mapping with every view in other dimensions.
func (m *mapping) in(dims []int, of func(view) view) *mapping {
	n := &mapping{typ: m.typ, dims: dims, scalars: m.scalars}
	for _, o := range m.operands {
		o.view = of(o.view)
		n.operands = append(n.operands, o)
	}
	for _, r := range m.results {
		r.view = of(r.view)
		n.results = append(n.results, r)
	}
	return n
}

// with adds the operands and scalars of another mapping of the same dimensions, and returns its
// formulas in terms of all.
func (m *mapping) with(other *mapping) []*expr.Expr {
	x, s := len(m.operands), len(m.scalars)
	m.operands = append(slices.Clone(m.operands), other.operands...)
	m.scalars = append(slices.Clone(m.scalars), other.scalars...)
	var values []*expr.Expr
	for _, r := range other.results {
		values = append(values, r.value.Replace(func(i int) *expr.Expr { return expr.Input(x + i) }, func(i int) *expr.Expr { return expr.Param(s + i) }))
	}
	return values
}

// The largest that is joined: steps are registers, and more of them do not fit a GPU.
const mostSteps = 40

// problem says why there is no kernel for the mapping, nil if there is one.
func (m *mapping) problem() *cause {
	one := len(m.results) == 1
	switch {
	case len(m.operands) > kernels.MapOperands:
		return because(ReasonLimit, "together they read %d tensors", len(m.operands))
	case len(m.results) > kernels.MapResults:
		return because(ReasonLimit, "together they write %d tensors", len(m.results))
	case len(m.dims) > fused.MapRank:
		return because(ReasonLimit, "together they have %d dimensions", len(m.dims))
	case len(m.scalars) > 32:
		return because(ReasonLimit, "together they take %d numbers", len(m.scalars))
	case m.program().Steps() > mostSteps:
		return because(ReasonLimit, "together they have more than %d steps", mostSteps)
	case !one && (slices.ContainsFunc(m.operands, func(o operand) bool { return o.mask }) ||
		slices.ContainsFunc(m.results, func(r result) bool { return r.value.IsCondition() })):
		return because(ReasonTypes, "masks are of a type of their own")
	}
	for i, r := range m.results {
		for j, o := range m.operands {
			if !o.view.same(r.view, m.dims) && !disjoint(o.view, m.dims, r.view, m.dims) {
				return because(ReasonAliasing, "result %d lies where operand %d does, at other indices", i, j)
			}
		}
		for _, q := range m.results[:i] {
			if !disjoint(q.view, m.dims, r.view, m.dims) {
				return because(ReasonAliasing, "two results may share elements")
			}
			a, b := q.view.span(m.dims), r.view.span(m.dims)
			if q.view.buf == r.view.buf && a.lo < b.hi && b.lo < a.hi && !m.program().Exact() {
				return because(ReasonRounding, "two results lie between each other, and are not exact")
			}
		}
	}
	if !one && len(m.dims) > 1 {
		for t := range len(m.operands) + len(m.results) {
			if s := m.tensor(t).strides[len(m.dims)-1]; s != 0 && s != 1 {
				return because(ReasonAccess, "several results of strided tensors would not go over tiles")
			}
		}
	}
	return nil
}

// tensor is an operand or a result, in the order of a kernel's arguments.
func (m *mapping) tensor(t int) view {
	if t < len(m.operands) {
		return m.operands[t].view
	}
	return m.results[t-len(m.operands)].view
}

// layout is what the kernel is built for: see kernels.Layout and the launches of maps in package
// tensor.
func (m *mapping) layout(l kernels.Target) (layout fused.AccessPattern, rank int) {
	rank = max(1, len(m.dims))
	layout = fused.AccessPattern{Rank: rank, Aligned: !l.CPU}
	for t := range len(m.operands) + len(m.results) {
		if typ := m.tensor(t).buf.DType(); typ != m.typ && typ != kernels.Float64 {
			layout.Types[t] = typ
		}
	}
	if len(m.dims) == 0 {
		for t := range len(m.operands) + len(m.results) {
			layout.Aligned = layout.Aligned && m.tensor(t).off%fused.MapVector == 0
		}
		return layout, rank
	}
	inner := rank - 1
	layout.Aligned = layout.Aligned && (rank == 1 || m.dims[inner]%fused.MapVector == 0)
	n := intmath.Product(m.dims)
	for t := range len(m.operands) + len(m.results) {
		v := m.tensor(t)
		s := v.span(m.dims)
		layout.Gaps = layout.Gaps || t >= len(m.operands) && s.hi-s.lo != n
		switch v.strides[inner] {
		case 1:
			layout.Aligned = layout.Aligned && v.off%fused.MapVector == 0
			for _, step := range v.strides[:inner] {
				layout.Aligned = layout.Aligned && step%fused.MapVector == 0
			}
		case 0:
			layout.Steps[t] = fused.Broadcast
		default:
			layout.Steps[t] = fused.Strided
			layout.Aligned = false
		}
	}
	return layout, rank
}

// vectors says how an element of a launch is computed: in a vector of so many or, if 1, alone; 0
// for some of both.
func (m *mapping) vectors(l kernels.Target) int {
	width, inner := 1, 1
	if n := len(m.dims); n > 0 {
		inner = m.dims[n-1]
	}
	if layout, _ := m.layout(l); l.CPU {
		width = fused.MapVectorCPU
	} else if layout.Aligned {
		width = fused.MapVector
	}
	switch {
	case inner%width == 0:
		return width
	case inner < width:
		return 1
	}
	return 0
}

// joins are the functions that recordings joined, by their formulas: launches of one structure
// share a kernel. They are there as long as a recording is.
var joins struct {
	sync.Mutex
	of map[string]weak.Pointer[kernels.FusedElementwise]
}

// mostJoins is how many there are before those that nobody uses any more are left out.
const mostJoins = 512

// key identifies the function of a mapping.
func (m *mapping) key() string {
	key := fmt.Sprint(m.typ, len(m.operands), len(m.scalars), m.results[0].value.IsCondition(), " ", m.program().Key())
	for _, o := range m.operands {
		if o.mask {
			key += "m"
		}
	}
	return key
}

// kind identifies the kernel of a mapping.
func (m *mapping) kind(l kernels.Target) string {
	layout, _ := m.layout(l)
	return fmt.Sprint(layout, m.key())
}

// joined returns the functions of the mapping.
func (m *mapping) joined() (*kernels.FusedElementwise, error) {
	key := m.key()
	joins.Lock()
	defer joins.Unlock()
	if j := joins.of[key].Value(); j != nil {
		return j, j.Err()
	}
	j := m.functions(key)
	if joins.of == nil {
		joins.of = map[string]weak.Pointer[kernels.FusedElementwise]{}
	}
	if len(joins.of) >= mostJoins {
		maps.DeleteFunc(joins.of, func(_ string, p weak.Pointer[kernels.FusedElementwise]) bool { return p.Value() == nil })
	}
	joins.of[key] = weak.Make(j)
	return j, j.Err()
}

// functions makes the functions of the mapping.
func (m *mapping) functions(key string) *kernels.FusedElementwise {
	hash := fnv.New64a()
	hash.Write([]byte(key))
	j := &kernels.FusedElementwise{Name: fmt.Sprintf("joined_%016x", hash.Sum64())}
	for i, r := range m.results {
		f := &kernels.Function{Name: fmt.Sprintf("%s_%d", j.Name, i), Value: r.value, Integers: m.typ == kernels.Int32}
		for _, o := range m.operands {
			f.Domains = append(f.Domains, o.domain)
			if o.mask {
				f.Masks++
			}
		}
		for _, s := range m.scalars {
			f.Scalars = append(f.Scalars, s.value)
		}
		j.Functions = append(j.Functions, f)
	}
	return j
}

// launch returns the kernel of the mapping and its arguments.
func (m *mapping) launch(l kernels.Target) (*kernels.Kernel, []kernels.Arg, error) {
	j, err := m.joined()
	if err != nil {
		return nil, nil, err
	}
	layout, rank := m.layout(l)
	k := fused.Map(j, m.typ, layout)
	var args []kernels.Arg
	tensors := len(m.operands) + len(m.results)
	for t := range tensors {
		v := m.tensor(t)
		s := v.span(m.dims)
		args = append(args, kernels.BufferArg(v.buf, s.lo, s.hi-s.lo))
	}
	if len(m.dims) == 0 {
		args = append(args, kernels.IntArg(1))
	} else {
		inner := rank - 1
		args = append(args, kernels.IntArg(m.dims[inner]))
		if inner > 0 {
			args = append(args, kernels.IntArg(intmath.Product(m.dims[:inner])))
			for _, n := range m.dims[1:inner] {
				args = append(args, kernels.IntArg(n))
			}
		}
		for t := range tensors {
			strides := m.tensor(t).strides
			for _, s := range strides[:inner] {
				args = append(args, kernels.IntArg(s))
			}
			if layout.Steps[t] == fused.Strided {
				args = append(args, kernels.IntArg(strides[inner]))
			}
		}
	}
	for i, s := range m.scalars {
		if j.UsesScalar(i) {
			args = append(args, s.arg)
		}
	}
	return k, args, nil
}
