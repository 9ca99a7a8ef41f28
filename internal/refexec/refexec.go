// Package refexec computes what kernels say of themselves: the operations of package kernels with
// plain loops, an element at a time, written from their documentation. It is what descriptions are
// tested with, and says which elements of which arguments they read and write.
package refexec

import (
	"fmt"
	"math"
	"slices"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/operation"
)

// Run computes a list of operations of a launch with args as host memory, whose floats are of type
// float. The error says which of them is none, or does what none may. Uses is of each argument.
func Run(list []kernels.Op, float kernels.DType, args []kernels.Arg) (uses []Use, err error) {
	if float == kernels.Float64 {
		return run[float64](list, float, args)
	}
	return run[float32](list, float, args)
}

func run[T kernels.Float](list []kernels.Op, float kernels.DType, args []kernels.Arg) ([]Use, error) {
	m := newMachine[T](float, args)
	for i, op := range list {
		m.begin(i + 1)
		if err := valid(op, args); err != nil {
			return nil, fmt.Errorf("operation %d: %w", i, err)
		}
		switch op := op.(type) {
		case *operation.Map:
			m.elements(op)
		case *operation.MatMul:
			m.product(op)
		case *operation.Reduction:
			m.reduce(op)
		case *operation.Gather:
			m.gather(op)
		case *operation.Scatter:
			m.scatter(op)
		case *operation.Random:
			m.random(op)
		case *operation.CrossEntropy:
			m.crossEntropy(op)
		case *operation.CrossEntropyGrad:
			m.crossEntropyGrad(op)
		case *operation.Attention:
			m.attention(op)
		case *operation.AttentionGradQuery:
			m.attentionGradQuery(op)
		case *operation.AttentionGradKeyValue:
			m.attentionGradKeyValue(op)
		case *operation.Convolution:
			m.convolution(op)
		case *operation.ConvolutionWeightGrad:
			m.convolutionWeightGrad(op)
		case *operation.Interpolate:
			m.interpolate(op)
		case *operation.InterpolateGrad:
			m.interpolateGrad(op)
		case *operation.Pad:
			m.pad(op)
		case *operation.PadGrad:
			m.padGrad(op)
		case *operation.Sort:
			m.sort(op)
		case *operation.Scan:
			m.scan(op)
		case *operation.Pool:
			m.pool(op)
		case *operation.PoolGrad:
			m.poolGrad(op)
		}
		m.listed(op.Views())
		if m.err != nil {
			return nil, fmt.Errorf("operation %d, a %T: %w", i, op, m.err)
		}
	}
	return m.uses(), nil
}

// each calls f with every index below dims; f must not keep it.
func each(dims []int, f func(index []int)) {
	n := 1
	for _, d := range dims {
		n *= d
	}
	index := make([]int, len(dims))
	for range n {
		f(index)
		for d := len(dims) - 1; d >= 0; d-- {
			if index[d]++; index[d] < dims[d] {
				break
			}
			index[d] = 0
		}
	}
}

func (m *machine[T]) elements(op *operation.Map) {
	formulas := make([]*formula[T], len(op.Results))
	for k, r := range op.Results {
		formulas[k] = newFormula[T](r, op.Operands, m.args)
	}
	used := make([]bool, len(op.Operands)) // at the index of a result
	for i := range used {
		used[i] = op.Uses(i) && !op.Gathers(i)
		if op.Gathers(i) {
			elements := make([]float64, op.Elements[i])
			for k := range elements {
				elements[k] = m.load(op.Operands[i], k)
			}
			for _, f := range formulas {
				f.gathered(i, elements)
			}
		}
	}
	operands, converted := make([]float64, len(op.Operands)), make([]float64, len(op.Operands))
	results := make([]float64, len(op.Results))
	each(op.Dims, func(index []int) {
		for i, v := range op.Operands {
			if used[i] {
				operands[i] = m.load(v, index...)
			}
		}
		for k, r := range op.Results {
			copy(converted, operands)
			for i, v := range op.Operands {
				if used[i] && v.Type != formulas[k].typ && formulas[k].identity < 0 {
					converted[i] = m.convert(operands[i], v.Type, formulas[k].typ)
				}
			}
			if i := formulas[k].identity; i >= 0 { // converted once, where it is stored
				results[k] = m.convert(operands[i], op.Operands[i].Type, r.View.Type)
				continue
			}
			results[k] = formulas[k].at(converted, index)
		}
		for k, r := range op.Results {
			m.store(r.View, results[k], index...)
		}
	})
}

func (m *machine[T]) product(op *operation.MatMul) {
	n := len(op.Batch)
	for s := 0; s*op.Slice < op.K || s == 0; s++ {
		each(slices.Concat(op.Batch, []int{op.M, op.N}), func(at []int) {
			b := slices.Clip(at[:n])
			sum, ofA, ofB := 0.0, append(b, at[n], 0), append(b, 0, at[n+1])
			for k := s * op.Slice; k < min(op.K, (s+1)*op.Slice); k++ {
				ofA[n+1], ofB[n] = k, k
				sum += op.Precision.Round(m.load(op.A, ofA...)) * op.Precision.Round(m.load(op.B, ofB...))
			}
			m.store(op.C, m.rounded(sum, op.C.Type), append(b, s, at[n], at[n+1])...)
		})
	}
}

func (m *machine[T]) reduce(op *operation.Reduction) {
	each([]int{op.Outer, op.Shares, op.Inner}, func(at []int) {
		o, s, i := at[0], at[1], at[2]
		first, end, step := s*op.Chunk, min(op.Len, (s+1)*op.Chunk), 1
		if op.Interleaved {
			first, end, step = s, op.Len, op.Shares
		}
		var fold, lost float64 // lost: what rounding took from the sum, for a long one after a large term
		whole := int64(0)      // the sum or product of integers, of which a float64 may not hold all bits
		if op.Function == fn.Mul {
			fold, whole = 1, 1
		}
		some := false
		for k := first; k < end; k += step {
			v := m.convert(m.load(op.X, o, k, i), op.X.Type, op.Y.Type)
			switch {
			case op.Function == fn.Add && op.Y.Type.Integer():
				whole += int64(v)
				fold = lowBits(whole, op.Y.Type)
			case op.Function == fn.Mul && op.Y.Type.Integer():
				whole *= int64(v)
				fold = lowBits(whole, op.Y.Type)
			case op.Function == fn.Mul:
				fold *= v
			case !some:
				fold = v
			case op.Function == fn.Add:
				sum := fold + v
				if math.Abs(fold) >= math.Abs(v) {
					lost += fold - sum + v
				} else {
					lost += v - sum + fold
				}
				fold = sum
			case op.Function == fn.Max:
				fold = max(fold, v)
			default:
				fold = min(fold, v)
			}
			some = true
		}
		if !some && op.Function != fn.Add && op.Function != fn.Mul {
			m.fail("a maximum or minimum of no elements")
		}
		if sum := fold + lost; sum-sum == 0 { // else one of them is not finite, and fold says what the sum is
			fold = sum
		}
		if op.Y.Type == kernels.Float32 {
			fold = float64(T(fold))
		}
		m.store(op.Y, fold, o, s, i)
		if op.Index.Strides == nil {
			return
		}
		least := math.Inf(1)
		for k := first; k < end; k += step {
			if v := m.convert(m.load(op.X, o, k, i), op.X.Type, op.Y.Type); v != v || v == fold {
				place := float64(k)
				if op.Given.Strides != nil {
					place = m.load(op.Given, o, k, i)
				}
				least = min(least, place)
			}
		}
		m.store(op.Index, least, o, s, i)
	})
}

func (m *machine[T]) gather(op *operation.Gather) {
	each([]int{op.Outer, op.N, op.Cols}, func(at []int) {
		v := 0.0
		if row := int(m.load(op.Index, at...)); row >= 0 && row < op.Rows {
			v = m.load(op.X, at[0], row, at[2])
		}
		m.store(op.Y, v, at...)
	})
}

func (m *machine[T]) scatter(op *operation.Scatter) {
	m.again = true
	defer func() { m.again = false }()
	whole := map[[3]int]int64{} // sums and products of integers, of which a float64 may not hold all bits
	each([]int{op.Outer, op.N, op.Cols}, func(at []int) {
		row := int(m.load(op.Index, at...))
		if row < 0 || row >= op.Rows {
			return
		}
		v := m.load(op.X, at...)
		if op.Function != fn.Identity {
			to := [3]int{at[0], row, at[2]}
			y := m.load(op.Y, to[:]...)
			if op.Y.Type.Integer() && (op.Function == fn.Add || op.Function == fn.Mul) {
				total, begun := whole[to]
				if !begun {
					total = int64(y)
				}
				if op.Function == fn.Add {
					total += int64(v)
				} else {
					total *= int64(v)
				}
				whole[to], v = total, lowBits(total, op.Y.Type)
			} else {
				v = m.combine(op.Function, y, v)
			}
		}
		m.store(op.Y, v, at[0], row, at[2])
	})
}

// combine returns what an element y becomes when x comes to it.
func (m *machine[T]) combine(f *kernels.Function, y, x float64) float64 {
	switch {
	case f == fn.Add:
		return float64(T(y) + T(x))
	case f == fn.Mul:
		return float64(T(y) * T(x))
	case y != y, f == fn.Min && y < x, f == fn.Max && y > x:
		return y
	}
	return x
}
