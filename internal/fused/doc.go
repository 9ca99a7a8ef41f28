// Package fused makes the kernels of element-wise functions, and kernels that do what several launches
// do. Package replay rewrites recorded steps with it.
//
// [Map] makes the kernel of functions for one layout of their tensors. A kernel says in its [Fusions],
// which [Of] returns, how its launches are fused with others:
//
//	Batch            n launches of one kernel, each with work-groups of its own
//	FuseHorizontal   launches of two kernels, each with work-groups of its own
//	FuseVertical     launches by rows, which a work-group does one after the other
//	FuseEpilogue     a launch and a map of what it stores
//	FusePrologue     a launch and the maps and gathers that make its operands
//	LookedUp         a launch whose rows consist of parts of which few differ
//	Specialize       a launch that is always the same: its arguments stand in the text
package fused
