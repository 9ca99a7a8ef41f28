package fusion

import (
	"slices"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/operation"
)

// ResultDims returns the dimensions of the views that an operation writes, nil if they depend on data or are not the
// same for all.
func ResultDims(op kernels.Op) []int {
	switch op := op.(type) {
	case *operation.Map:
		return op.Dims
	case *operation.MatMul:
		return append(slices.Clone(op.Batch), (op.K+op.Slice-1)/max(op.Slice, 1), op.M, op.N)
	case *operation.Reduction:
		return []int{op.Outer, op.Shares, op.Inner}
	case *operation.Gather:
		return []int{op.Outer, op.N, op.Cols}
	case *operation.Convolution:
		return op.Results()
	case *operation.Interpolate:
		return op.Outputs()
	case *operation.InterpolateGrad:
		return op.Inputs()
	case *operation.Pad:
		return op.Results()
	case *operation.PadGrad:
		return op.Results()
	case *operation.Scan:
		return []int{op.Outer, op.Len, op.Inner}
	case *operation.Pool:
		return op.Outputs()
	case *operation.PoolGrad:
		return op.Inputs()
	case *operation.Random:
		return []int{op.N}
	}
	return nil
}
