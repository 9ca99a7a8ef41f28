// Package operation is what kernels say that their launches compute: as one or several operations
// over views of memory.
//
//	k.Semantics = func(args []kernels.Arg) []kernels.Op {
//		x, y := kernels.ViewOf(args, 0, 0, 1), kernels.ViewOf(args, 1, 0, 1)
//		return []kernels.Op{&operation.Map{Dims: []int{args[0].N}, Operands: []kernels.View{x},
//			Results: []operation.Result{{Function: fn.Exp, View: y}}}}
//	}
//
// Fusions of package replay/fusion read them.
package operation
