package main

import (
	"math"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/operation"
	"github.com/clgrad/clgrad/replay/fusion"
)

// gatedSum is the kernel that takes the place of three: Z[j] = Σᵢ silu(X[i, j])·Y[i, j]. A
// work-item sums a column.
var gatedSum = &kernels.Kernel{Name: "gated_sum", File: "gated_sum.cl", Text: `// @depends: common
kernel void gated_sum(IN(X), IN(Y), OUT(Z), int rows, int cols) {
	int j = get_global_id(0);
	if (j >= cols) return;
	REAL sum = 0;
	for (int i = j; i < rows * cols; i += cols) sum += X[X_off + i] / (1 + exp(-X[X_off + i])) * Y[Y_off + i];
	Z[Z_off + j] = sum;
}
`,
	Params: []kernels.Param{{Name: "X", Mode: kernels.In}, {Name: "Y", Mode: kernels.In}, {Name: "Z", Mode: kernels.Out},
		{Name: "rows", Mode: kernels.IntParam}, {Name: "cols", Mode: kernels.IntParam}},
	Grid: kernels.GridFromArg(4),
	Host: kernels.HostKernel{F32: gatedSumInGo[float32], F64: gatedSumInGo[float64]},
	// Terms of at most 3·2, of which 9 are added.
	Tol:   kernels.Tolerance{Rel: 16, Scale: func([]kernels.Arg) float64 { return 6 * 9 }},
	Cases: kernels.CasesBySize(func(o *kernels.Operands, n int) { o.In(9*n, -3, 3).In(9*n, -2, 2).Out(n).Int(9, n) })}

func gatedSumInGo[T kernels.Float](c kernels.HostArgs[T]) {
	x, y, z, cols := c.Floats(0), c.Floats(1), c.Floats(2), c.Int(4)
	clear(z)
	for i, v := range x {
		z[i%cols] += v / T(1+math.Exp(float64(-v))) * y[i]
	}
}

func init() { fusion.Register(gated) }

// gated makes one launch of x.SiLU().Mul(y).Sum(0): the product is not stored.
var gated = fusion.Fusion{Name: "gated-sum", Doc: "makes one launch of silu(x)·y and its sum over the rows", Match: match,
	Worth: func(_ kernels.Target, before, after fusion.Cost) bool { return after.Bytes < before.Bytes }}

// match looks for z = Sum(0) of p, p = g·y or y·g, and g = silu(x), from z back.
func match(s fusion.Step) (found []fusion.Match) {
	launches := s.Launches()
	for i, l := range launches {
		x, z, rows, cols, ok := columnSum(l)
		if !ok || cols < 64 { // fewer columns leave most of a device idle
			continue
		}
		j := s.Writer(i, x)
		if j < 0 {
			continue
		}
		product := elementwise(launches[j], fn.Mul)
		for side := range product { // silu may be on either
			k := s.Writer(j, product[side])
			if k < 0 {
				continue
			}
			if gate := elementwise(launches[k], fn.SiLU); gate != nil {
				found = append(found, fusion.Match{Name: "a gated sum", Covers: []int{k, j, i}, Within: 1e-5,
					Launches: []fusion.Launch{{Kernel: gatedSum,
						Args: []kernels.Arg{gate[0], product[1-side], z, kernels.IntArg(rows), kernels.IntArg(cols)}}}})
				break
			}
		}
	}
	return found
}

// columnSum returns what a launch sums over rows, and where it writes the sums.
func columnSum(l fusion.Recorded) (x, z kernels.Arg, rows, cols int, ok bool) {
	if len(l.Operations) != 2 { // the sum, and that times a number
		return
	}
	sum, isSum := l.Operations[0].(*operation.Reduction)
	times, isMap := l.Operations[1].(*operation.Map)
	if !isSum || !isMap || sum.Function != fn.Add || sum.Outer != 1 || sum.Shares != 1 || len(times.Results) != 1 || len(times.Operands) != 1 {
		return
	}
	r := times.Results[0]
	if r.Function != fn.MulScalar || !isOne(r.Scalars[0], l.Args) {
		return
	}
	x, z = l.Args[sum.X.Arg], l.Args[r.View.Arg]
	return x, z, sum.Len, sum.Inner, x.N == sum.Len*sum.Inner && z.N == sum.Inner && x.Buf.DType() == z.Buf.DType()
}

// isOne reports whether a number is 1 in all runs: a step scalar may be another in the next.
func isOne(n operation.Scalar, args []kernels.Arg) bool {
	if n.Arg >= 0 {
		if changes, _, _ := args[n.Arg].StepScalar(); changes != nil {
			return false
		}
	}
	return n.In(args, kernels.Float32) == 1
}

// elementwise returns the operands of a launch that maps contiguous memory by f, nil if it does not.
func elementwise(l fusion.Recorded, f *kernels.Function) (operands []kernels.Arg) {
	if len(l.Operations) != 1 {
		return nil
	}
	m, ok := l.Operations[0].(*operation.Map)
	if !ok || len(m.Dims) != 1 || len(m.Results) != 1 || m.Results[0].Function != f || !m.Type.Float() {
		return nil
	}
	for _, v := range m.Operands {
		if v.Strides[0] != 1 || v.Offset != 0 {
			return nil
		}
		operands = append(operands, l.Args[v.Arg])
	}
	return operands
}
