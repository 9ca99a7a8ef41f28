package fused

import (
	"slices"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// prologueHost computes the operands, and then the kernel's host kernel.
func prologueHost[T kernels.Float](s *prologueBuilder) func(kernels.HostArgs[T]) {
	return func(c kernels.HostArgs[T]) {
		s.base.RunStored(kernels.DTypeOf[T](), s.filled(kernels.DTypeOf[T](), c.Args()), c.Vectors(), nil)
	}
}

// filled returns the arguments of the kernel k with its operands.
func (s *prologueBuilder) filled(float kernels.DType, args []kernels.Arg) []kernels.Arg {
	own := s.whole(args, func(n int) kernels.Buffer { return kernels.NewHostBuffer(float, n) })
	for i, l := range s.loads {
		rows, _ := l.Size(own)
		a := own[l.Operand]
		if float == kernels.Float64 {
			fillRows(s.of[i], rows, args, kernels.Slice[float64](a.Buf.(*kernels.HostBuffer), 0, a.N))
		} else {
			fillRows(s.of[i], rows, args, kernels.Slice[float32](a.Buf.(*kernels.HostBuffer), 0, a.N))
		}
	}
	return own
}

// fillRows computes the first rows of a matrix.
func fillRows[T kernels.Float](of *computedRows, rows int, args []kernels.Arg, to []T) {
	const cost = 16
	kernels.HostArgs[T]{}.Parallel(rows, cost*of.columns, func(lo, hi int) {
		e := newRowsEval[T](of, args)
		for s := lo; s < hi; s++ {
			e.row(s, to[s*of.columns:(s+1)*of.columns])
		}
	})
}

// rowsEval computes a matrix row by row.
type rowsEval[T kernels.Float] struct {
	of     *computedRows
	args   []kernels.Arg
	groups []rowGroupEval[T]
	row0   []T // of a matrix that another is made of
	done   int // the row that it holds
}

type rowGroupEval[T kernels.Float] struct {
	results []*expr.Eval[T]
	made    []*rowsEval[T] // operands that are made
	columns [][]T
}

func newRowsEval[T kernels.Float](of *computedRows, args []kernels.Arg) *rowsEval[T] {
	e := &rowsEval[T]{of: of, args: args, row0: make([]T, of.columns), done: -1}
	for _, g := range of.groups {
		ge := rowGroupEval[T]{made: make([]*rowsEval[T], len(g.operands)), columns: make([][]T, len(g.operands))}
		for i := range g.operands {
			ge.columns[i] = make([]T, of.columns)
			if m := g.operands[i].of; m != nil {
				ge.made[i] = newRowsEval[T](m, args)
			}
		}
		for _, r := range g.results {
			if g.gathers > 0 {
				continue
			}
			v := expr.NewEval[T](expr.Compile(r.value))
			v.Scalars(func(i int) T {
				if n := g.scalars[i]; n.param >= 0 {
					return T(argNumber(args[n.param]))
				}
				return T(g.scalars[i].value)
			}, func(i int) int32 {
				if n := g.scalars[i]; n.param >= 0 {
					return int32(args[n.param].Int)
				}
				return int32(g.scalars[i].value)
			})
			ge.results = append(ge.results, v)
		}
		e.groups = append(e.groups, ge)
	}
	return e
}

// number is the value of an argument that is no memory.
func argNumber(a kernels.Arg) float64 {
	if a.Kind == kernels.ArgInt {
		return float64(a.Int)
	}
	return a.Float
}

// row computes row s.
func (e *rowsEval[T]) row(s int, to []T) {
	for k, g := range e.of.groups {
		ge := &e.groups[k]
		for n, r := range g.results {
			at := r.columns(g.axes)
			if g.gathers > 0 {
				x, index := &g.operands[0], &g.operands[1]
				for _, i := range at {
					j := i - r.at
					row := int(e.args[index.arg].At(index.off + index.strides[0]*g.axes[0].at(s, j)))
					to[i] = 0
					if row >= 0 && row < g.gathers {
						to[i] = T(e.args[x.arg].At(x.off + row*x.strides[0] + g.axes[1].at(s, j)*x.strides[1]))
					}
				}
				continue
			}
			for i := range g.operands {
				if o := &g.operands[i]; o.used {
					ge.columns[i] = e.operand(ge, g, i, s, r.at, at)
				}
			}
			for lo := 0; lo < len(at); lo += expr.Block {
				some := at[lo:min(lo+expr.Block, len(at))]
				out := make([]T, len(some))
				operands := make([][]T, len(g.operands))
				for i := range operands {
					if operands[i] = ge.columns[i]; g.operands[i].used && g.operands[i].count == 0 {
						operands[i] = ge.columns[i][lo:]
					}
				}
				ge.results[n].RunAll([][]T{out}, operands, func(axis int) expr.Indices {
					list := make([]int32, len(some))
					for q := range list {
						list[q] = int32(g.axes[axis].at(s, some[q]-r.at))
					}
					return expr.Indices{Cols: 1, Rows: list}
				})
				for q, i := range some {
					to[i] = out[q]
				}
			}
		}
	}
}

// operand returns the elements of one for columns of row s, or all that are read by index.
func (e *rowsEval[T]) operand(ge *rowGroupEval[T], g *rowGroup, i, s, first int, columns []int) []T {
	o := &g.operands[i]
	if o.count > 0 {
		a := e.args[o.arg]
		return kernels.Slice[T](a.Buf.(*kernels.HostBuffer), a.Off+o.off, int(e.args[o.count].Int))
	}
	if m := ge.made[i]; m != nil && m.done != s {
		m.row(s, m.row0)
		m.done = s
	}
	list := make([]T, len(columns))
	for q, c := range columns {
		at := o.off
		for d, a := range g.axes {
			index := a.at(s, c-first)
			if o.of != nil {
				switch {
				case a.ofRow():
					continue
				case a.turn > 0:
					index -= s * a.turn
				}
			}
			at += index * o.strides[d]
		}
		if m := ge.made[i]; m != nil {
			list[q] = m.row0[at]
		} else {
			list[q] = T(e.args[o.arg].At(at))
		}
	}
	return list
}

// columns returns those that the result makes, ascending along its axes.
func (r *rowResult) columns(axes []rowAxis) []int {
	list := []int{r.at}
	for d, step := range r.strides {
		if step == 0 {
			continue
		}
		var more []int
		for _, at := range list {
			for k := range axes[d].within() {
				more = append(more, at+k*step)
			}
		}
		list = more
	}
	return list
}

// tolerance is that of the kernel, of operands that are off by some units in the last place: two
// roundings for each, which add up with those of the products that they are factors of. Where
// formulas magnify what they are off by, the trial of a launch may find it too much: then there is
// no such launch.
func (s *prologueBuilder) tolerance() kernels.Tolerance {
	t := s.base.Tol
	units := 0
	for _, of := range s.all {
		for _, program := range of.programs() {
			units = max(units, program.Units())
		}
	}
	t.Rel += 2 * float64(units)
	if scale := t.Scale; scale != nil {
		t.Scale = func(args []kernels.Arg) float64 { return scale(s.filled(args[s.result()].Buf.DType(), args)) }
	}
	return t
}

// result is a parameter of floats that the kernel writes.
func (s *prologueBuilder) result() int {
	return slices.IndexFunc(s.base.Params, func(p kernels.Param) bool {
		return p.Mode == kernels.Out || p.Mode == kernels.InOut
	})
}
