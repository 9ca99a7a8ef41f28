package fused

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/operation"
)

// Fusions says how launches of a kernel are fused with others, and what else a launch of it may be
// done as. The zero Fusions are none.
type Fusions struct {
	// AsElementwise returns the map, Codegen, that computes the bits of a launch: a sum of few
	// terms is the map x0 + x1 + x2 of views of its argument. Nil, or a nil map: there is none.
	AsElementwise func(args []kernels.Arg, l kernels.Target) *operation.Map
	// Batch says how several launches become one: see [Batch] and [FuseHorizontal]. Nil: they do not.
	Batch *BatchSpec
	// Epilogue says how a result is stored, so that a map of it can be computed in the same launch:
	// see [FuseEpilogue]. Nil: none can.
	Epilogue *EpilogueSpec
	// Prologues lists the operands that can be computed where they are read, on devices that are no
	// CPU: see [FusePrologue].
	Prologues []PrologueSpec
	// Split returns two launches with the bits of one: a map, and then what reads its results. The
	// map may then be the epilogue of the kernel that stores its operand. Its functions have the
	// same bits in vectors and alone. Nil, or no launches: there are none, or they would take longer.
	Split func(args []kernels.Arg, l kernels.Target) []Launch
	// Rows says how launches by rows become one with others: see [FuseVertical]. Nil: they do not.
	Rows *RowSpec
	// Kernels lists the kernels that [FuseVertical] or [FuseHorizontal] fused. Nil of any other.
	Kernels []*kernels.Kernel
}

// Launch is a kernel and the arguments of a launch.
type Launch struct {
	Kernel *kernels.Kernel // that is launched
	Args   []kernels.Arg   // of the launch
}

// Of returns the fusions of a kernel.
func Of(k *kernels.Kernel) Fusions {
	f, _ := k.Fusions.(Fusions)
	return f
}
