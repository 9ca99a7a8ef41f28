package joined

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/operation"
)

// Forms is the forms that a kernel has beside its own: how launches of it become one with others,
// and what else a launch of it may be done as. The zero Forms are none.
type Forms struct {
	// Terms returns a launch on a device as one map of views of its arguments, Generated, that
	// computes its bits: that of a sum of few terms. Nil, or a nil map: it is none.
	Terms func(args []kernels.Arg, l kernels.Target) *operation.Map
	// Together says how several launches become one: see [Several] and [Beside]. Nil: they do not.
	Together *Together
	// Stores says how a result is stored, so that a map of it can be computed in the same launch:
	// see [WithMap]. Nil: none can.
	Stores *Stores
	// Loads says which operands can be computed where they are read, on devices that are no CPU:
	// see [From].
	Loads []Loads
	// Lookup is a form of the kernel for rows that are made of few different parts. Nil: there is
	// none.
	Lookup *Lookup
	// Parts returns two launches that do what one of this kernel does, with the same bits: a map,
	// and then what reads its results. The map may then be computed where another kernel stores
	// what it reads. Its functions have the same bits in vectors and alone. Nil, or no launches:
	// there are none, or they would take longer.
	Parts func(args []kernels.Arg, l kernels.Target) []Part
	// Rows says how launches by rows become one with others: see [NewChain]. Nil: they do not.
	Rows *Rows
	// Chain is the kernels whose launches a launch of this one does, one after the other or beside
	// each other: see [NewChain] and [Beside]. Nil of any other.
	Chain []*kernels.Kernel
}

// Part is a launch that does a part of what another does.
type Part struct {
	Kernel *kernels.Kernel // that is launched
	Args   []kernels.Arg   // of the launch
}

// FormsOf returns the forms of a kernel.
func Of(k *kernels.Kernel) Forms {
	forms, _ := k.Forms.(Forms)
	return forms
}
