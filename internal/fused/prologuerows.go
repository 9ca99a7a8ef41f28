package fused

import (
	"errors"
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/operation"
)

// computedRows is a matrix of floats that a launch makes, as formulas of row s and column i.
type computedRows struct {
	rows, columns int
	number        int // among all
	groups        []*rowGroup
	values        int // that are kept of a row: those of all groups
}

// rowGroup is what one operation makes of the matrix.
type rowGroup struct {
	axes     []rowAxis
	operands []rowOperand
	scalars  []rowScalar
	results  []rowResult
	gathers  int // of a gather of operand 0 by operand 1: the rows of operand 0
	// What is the same for a whole row is computed apart: the formulas with X(len(operands)) on in
	// the place of parts, and the program of these.
	parts   int
	first   int // of its values, among those of the matrix
	program *expr.Program
}

// rowResult is the elements of the matrix that one formula makes.
type rowResult struct {
	value   *expr.Expr
	at      int   // the column of the first
	strides []int // along axes, 0 along those of rows
	rest    *expr.Expr
}

// rowAxis is an axis of an operation with n indices: of an element of row s that is the j-th column
// from the first of its result, the index is 0 if n is 1, else (s/per) mod n along the rows, or
// (j/step) mod n within one, or s·turn + j/step where it is both.
type rowAxis struct {
	n, per, step, turn int
}

// ofRow reports whether the index is the same in a row.
func (a rowAxis) ofRow() bool { return a.n == 1 || a.per > 0 }

// within returns how many indices there are in a row.
func (a rowAxis) within() int {
	switch {
	case a.turn > 0:
		return a.turn
	case a.ofRow():
		return 1
	}
	return a.n
}

// length returns how many indices there are in so many rows.
func (a rowAxis) length(rows int) int {
	switch {
	case a.turn > 0:
		return rows * a.turn
	case a.per > 0:
		return min(a.n, (rows+a.per-1)/a.per)
	}
	return a.n
}

// at returns the index.
func (a rowAxis) at(s, j int) int {
	switch {
	case a.n == 1:
		return 0
	case a.turn > 0:
		return s*a.turn + j/a.step
	case a.per > 0:
		return s / a.per % a.n
	}
	return j / a.step % a.n
}

// rowOperand is an operand of formulas: memory, of which off is the first, or rows that are made
// themselves.
type rowOperand struct {
	arg     int // the parameter
	off     int
	strides []int
	count   int           // of one that is read by index, the parameter that says how many there are; else 0
	of      *computedRows // nil: memory
	domain  [2]float64    // where tests draw it
	used    bool
}

// fixed reports whether the operand is the same in a row.
func (o *rowOperand) fixed(axes []rowAxis) bool {
	for d, a := range axes {
		if o.strides[d] != 0 && !a.ofRow() {
			return false
		}
	}
	return true
}

// rowScalar is a parameter, or a number if that is −1.
type rowScalar struct {
	param int
	value float64
	whole bool
}

// made returns the matrix of rows from a place on as what launches before one make of it; nil if
// none writes there.
func (s *prologueBuilder) made(begin origin, rows, columns, before int) (*computedRows, error) {
	for m := before - 1; m >= 0; m-- {
		of := &computedRows{rows: rows, columns: columns}
		elements := 0
		for _, op := range s.ops[m] {
			if !s.writesTo(op, m, begin.buf) {
				continue
			}
			n, err := s.group(of, op, begin, m)
			if err != nil {
				return nil, err
			}
			elements += n
		}
		if len(of.groups) == 0 {
			continue
		}
		if elements != rows*columns {
			return nil, errors.New("a launch makes a part of it")
		}
		s.used[m] = true
		of.number = len(s.all)
		s.all = append(s.all, of)
		return of, nil
	}
	return nil, nil
}

// group adds what an operation of maker m makes of the matrix, and returns how many elements that
// is.
func (s *prologueBuilder) group(of *computedRows, op kernels.Op, begin origin, m int) (elements int, err error) {
	k, args := s.makers[m].Kernel, s.makers[m].Args
	switch op := op.(type) {
	case *operation.Gather:
		return s.gather(of, op, begin, m)
	case *operation.Map:
		exact := op.Codegen || op.ExactRounding || k.Tol.ULP == 0 && k.Tol.Rel == 0 && k.Tol.Scale == nil && k.Tol.Bound == nil
		if !exact {
			return 0, errors.New("its kernel may round otherwise than its formula")
		}
		g := &rowGroup{}
		for _, r := range op.Results {
			if r.View.Arg < 0 || args[r.View.Arg].Buf != begin.buf {
				continue
			}
			if r.View.Type != kernels.Float32 || r.Function.Condition() {
				return 0, errors.New("it is of another type")
			}
			axes, first, err := axesOf(op.Dims, r.View, args[r.View.Arg].Off-begin.off, of.rows, of.columns)
			if err != nil {
				return 0, err
			}
			if g.axes == nil {
				g.axes = axes
			} else if !slices.Equal(g.axes, axes) {
				return 0, errors.New("its results lie in several orders")
			}
			res := rowResult{value: r.Function.Value, at: first}
			for d, a := range axes {
				if a.ofRow() {
					res.strides = append(res.strides, 0)
				} else {
					res.strides = append(res.strides, r.View.Strides[d])
				}
			}
			g.results = append(g.results, res)
			elements += intmath.Product(op.Dims)
			for i, number := range r.Scalars {
				if !r.Function.UsesScalar(i) {
					continue
				}
				for len(g.scalars) <= i {
					g.scalars = append(g.scalars, rowScalar{param: -1})
				}
				ints := r.Function.Value.Ints()
				whole := i < len(ints) && ints[i]
				if number.Arg < 0 {
					g.scalars[i] = rowScalar{-1, number.Value, whole}
					continue
				}
				if whole && args[number.Arg].Kind != kernels.ArgInt {
					return 0, errors.New("a number is of another type")
				}
				g.scalars[i] = rowScalar{s.param(m, number.Arg, k.Params[number.Arg].Mode), 0, whole}
			}
		}
		if len(g.results) == 0 {
			return 0, errors.New("a launch makes it otherwise")
		}
		for i, v := range op.Operands {
			o := rowOperand{strides: v.Strides, off: v.Offset, used: op.Uses(i)}
			if o.used {
				for _, r := range op.Results {
					if r.Function.Uses(i) {
						o.domain = r.Function.Domain(i)
					}
				}
				if err := s.operand(&o, g, op, i, m, of.rows); err != nil {
					return 0, err
				}
			}
			g.operands = append(g.operands, o)
		}
		of.groups = append(of.groups, g)
		return elements, nil
	}
	return 0, errors.New("a launch makes it by no map and no gather")
}

// operand finds operand i of a map that makes so many rows: rows that a launch before makes, or
// memory.
func (s *prologueBuilder) operand(o *rowOperand, g *rowGroup, op *operation.Map, i, m, rows int) error {
	v := op.Operands[i]
	if v.Arg < 0 {
		return errors.New("it is made of what a launch keeps for itself")
	}
	a, mode := s.makers[m].Args[v.Arg], kernels.In.Of(v.Type)
	if v.Type != kernels.Float32 && v.Type != kernels.Int32 && v.Type != kernels.Uint8 {
		return errors.New("it is made of halves")
	}
	if op.Gathers(i) {
		if v.Type != kernels.Float32 || len(v.Strides) != 1 || v.Strides[0] != 1 {
			return errors.New("an operand is read by index in another order than it lies in")
		}
		n := a.N - v.Offset
		if op.Elements[i] != n {
			return errors.New("an operand is read by index in a part")
		}
		o.strides = make([]int, len(g.axes))
		o.arg, o.count = s.param(m, v.Arg, mode), s.add(kernels.IntArg(n), kernels.IntParam)
		return nil
	}
	if begin, written := s.begin(a.Buf, m); written && v.Type == kernels.Float32 {
		of, err := s.nested(o, g, origin{a.Buf, begin}, a.Off+v.Offset-begin, rows, m)
		if of != nil || err != nil {
			o.of = of
			return err
		}
	}
	if s.writes(a.Buf, m) {
		return errors.New("it is read in another order than it is made in")
	}
	o.arg = s.param(m, v.Arg, mode)
	return nil
}

// nested returns the rows of an operand that a maker before one makes, of which first is the first
// element that is read; nil if none does. Each row is made of one of them, with the same number.
func (s *prologueBuilder) nested(o *rowOperand, g *rowGroup, begin origin, first, rows,
	before int) (*computedRows, error) {
	other := errors.New("it is read in another order than it is made in")
	columns, end := 0, first
	for d, axis := range g.axes {
		step := o.strides[d]
		switch {
		case axis.n == 1 || step == 0:
			continue
		case step < 0:
			return nil, other
		case axis.turn > 0:
			columns = axis.turn * step
		case axis.per == 1 && axis.n == rows:
			columns = step
			continue
		case axis.per > 0:
			return nil, other
		}
		end += (axis.within() - 1) * step
	}
	if first < 0 || end >= columns {
		return nil, other
	}
	o.off = first
	return s.made(begin, rows, columns, before)
}

// begin returns the first element of memory that the last of the makers before one that writes
// there does.
func (s *prologueBuilder) begin(b kernels.Buffer, before int) (first int, written bool) {
	for m := before - 1; m >= 0 && !written; m-- {
		for _, op := range s.ops[m] {
			_, writes := op.Views()
			for _, v := range writes {
				if v.Arg < 0 || s.makers[m].Args[v.Arg].Buf != b {
					continue
				}
				if at := s.makers[m].Args[v.Arg].Off + v.Offset; !written || at < first {
					first, written = at, true
				}
			}
		}
	}
	return first, written
}

// writes reports whether a maker before one writes memory.
func (s *prologueBuilder) writes(b kernels.Buffer, before int) bool {
	for m := range before {
		if slices.ContainsFunc(s.ops[m], func(op kernels.Op) bool { return s.writesTo(op, m, b) }) {
			return true
		}
	}
	return false
}

// writesTo reports whether an operation of a maker writes memory.
func (s *prologueBuilder) writesTo(op kernels.Op, maker int, b kernels.Buffer) bool {
	_, writes := op.Views()
	return slices.ContainsFunc(writes, func(v kernels.View) bool {
		return v.Arg >= 0 && s.makers[maker].Args[v.Arg].Buf == b
	})
}

// gather adds a gather of rows, and returns how many elements it has.
func (s *prologueBuilder) gather(of *computedRows, op *operation.Gather, begin origin, m int) (int, error) {
	args := s.makers[m].Args
	if op.Y.Type != kernels.Float32 || op.X.Type != kernels.Float32 || op.Index.Type != kernels.Int32 || op.X.Arg < 0 ||
		op.Index.Arg < 0 {
		return 0, errors.New("what is gathered is not Float32, or not by Int32")
	}
	if op.Outer != 1 || op.Index.Strides[2] != 0 {
		return 0, errors.New("what is gathered are no rows")
	}
	y := op.Y
	y.Strides = y.Strides[1:]
	axes, first, err := axesOf([]int{op.N, op.Cols}, y, args[y.Arg].Off-begin.off, of.rows, of.columns)
	if err != nil {
		return 0, err
	}
	if s.writes(args[op.X.Arg].Buf, m) || s.writes(args[op.Index.Arg].Buf, m) {
		return 0, errors.New("what is gathered, or its indices, are made before it")
	}
	res := rowResult{at: first, strides: make([]int, 2)}
	for d, a := range axes {
		if !a.ofRow() {
			res.strides[d] = y.Strides[d]
		}
	}
	x := rowOperand{arg: s.param(m, op.X.Arg, kernels.In), off: op.X.Offset, strides: op.X.Strides[1:], used: true}
	index := rowOperand{arg: s.param(m, op.Index.Arg, kernels.InInts), off: op.Index.Offset,
		strides: op.Index.Strides[1:], used: true}
	of.groups = append(of.groups, &rowGroup{axes: axes, operands: []rowOperand{x, index}, results: []rowResult{res}, gathers: op.Rows})
	return op.N * op.Cols, nil
}

// axesOf returns the axes of an operation that writes a view of a matrix, which begins off elements
// behind that, and the column of its first element.
func axesOf(dims []int, v kernels.View, off, rows, columns int) (axes []rowAxis, first int, err error) {
	other := errors.New("it lies in another order than it is read in")
	first = off + v.Offset
	if first < 0 || first >= columns || len(v.Strides) != len(dims) {
		return nil, 0, other
	}
	within, along, end := []rowAxis{}, []rowAxis{}, first
	flat := false
	for d, n := range dims {
		step := v.Strides[d]
		a := rowAxis{n: n}
		switch {
		case n == 1:
		case step <= 0:
			return nil, 0, other
		case step%columns == 0:
			a.per = step / columns
			along = append(along, a)
		case n*step > columns:
			if columns%step != 0 || first >= step || n*step != rows*columns {
				return nil, 0, other
			}
			a.step, a.turn, flat = step, columns/step, true
			within = append(within, rowAxis{n: a.turn, step: step})
			end += (a.turn - 1) * step
		default:
			a.step = step
			within = append(within, a)
			end += (n - 1) * step
		}
		axes = append(axes, a)
	}
	if end >= columns || flat && len(along) > 0 {
		return nil, 0, other
	}
	slices.SortFunc(within, func(a, b rowAxis) int { return a.step - b.step })
	for i := 1; i < len(within); i++ {
		if within[i].step < within[i-1].step*within[i-1].n {
			return nil, 0, other
		}
	}
	slices.SortFunc(along, func(a, b rowAxis) int { return a.per - b.per })
	next := 1
	for _, a := range along {
		if a.per != next {
			return nil, 0, other
		}
		next *= a.n
	}
	if !flat && next != rows {
		return nil, 0, other
	}
	return axes, first, nil
}

// hoist takes apart what is the same in a row.
func (of *computedRows) hoist() {
	for _, g := range of.groups {
		if g.gathers > 0 {
			continue
		}
		var formulas []*expr.Expr
		for _, r := range g.results {
			formulas = append(formulas, r.value)
		}
		rest, parts := expr.Hoist(len(g.operands), func(d int) bool { return g.axes[d].ofRow() },
			func(i int) bool { return g.operands[i].count == 0 && g.operands[i].fixed(g.axes) }, formulas...)
		for i := range g.results {
			g.results[i].rest = rest[i]
		}
		g.first, g.parts = of.values, len(parts)
		of.values += len(parts)
		if len(parts) > 0 {
			g.program = expr.Compile(parts...)
		}
	}
}

// String names the matrix in texts.
func (of *computedRows) String() string { return fmt.Sprintf("get%d", of.number) }
