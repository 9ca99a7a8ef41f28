package fusion

import (
	"slices"

	"github.com/clgrad/clgrad/kernels"
)

// ResultDims returns the dimensions of the views that an operation writes, nil if they depend on data.
func ResultDims(op kernels.Operation) []int {
	switch op := op.(type) {
	case *kernels.Map:
		return op.Dims
	case *kernels.Product:
		return append(slices.Clone(op.Batch), (op.K+op.Slice-1)/max(op.Slice, 1), op.M, op.N)
	case *kernels.Reduction:
		return []int{op.Outer, op.Shares, op.Inner}
	case *kernels.Gather:
		return []int{op.N, op.Cols}
	case *kernels.Random:
		return []int{op.N}
	}
	return nil
}
