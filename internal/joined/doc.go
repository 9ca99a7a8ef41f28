// Package joined makes the kernels of element-wise functions, and kernels that do what several launches
// do. Package replay rewrites recorded steps with it.
//
// [Map] makes the kernel of functions for one layout of their tensors. A kernel says in its [Forms], which
// [Of] returns, how its launches become one with others:
//
//	Several, Beside   launches of one kernel, or of two, each with work-groups of its own
//	NewChain          launches by rows, which a work-group does one after the other
//	WithMap           a launch and a map of what it stores
//	From              a launch and the maps and gathers that make its operands
//	LookedUp          a launch whose rows consist of parts of which few differ
//	Settle            a launch that is always the same: its arguments stand in the text
package joined
