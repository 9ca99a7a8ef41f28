// Package gradsums is how launches that leave gradients in parts are joined with the optimizers'
// updates that add these up: package internal/ops, which has the kernels, registers them; package
// replay and package fusedmlp ask for them. Fusions that other packages bring are registered with
// replay/fusion.
package gradsums

import (
	"sync/atomic"

	"github.com/clgrad/clgrad/kernels"
)

// Gradients adds up gradients that launches leave in parts, and finds the optimizers' updates that
// do so where they read them.
type Gradients interface {
	// SumPartials returns the launch that writes to y the sum of gradients in parts [groups, size],
	// times the scalar factor [1].
	SumPartials(parts, factor, y kernels.Arg, size, groups int) (*kernels.Kernel, []kernels.Arg)
	// SumLoss returns the launch that writes to y the sum of losses [groups], times scale.
	SumLoss(losses, y kernels.Arg, groups int, scale float64) (*kernels.Kernel, []kernels.Arg)
	// Update returns the update that a launch with such arguments, which does the operations in
	// list, is. It returns nil for any other launch.
	Update(args []kernels.Arg, list []kernels.Op) Update
	// Partials returns what a launch of kernel k sums on a device, if its result is the gradient of
	// parameters from element `at` on and it reads from element `from` of the parts on. It returns
	// nil if the launch does anything else.
	Partials(k *kernels.Kernel, args []kernels.Arg, at, from int, l kernels.Target) []Partial
}

// Update is one update of parameters by an optimizer.
type Update interface {
	// Gradient is what the launch reads of the gradient.
	Gradient() kernels.Arg
	// SumPartials returns the launch that adds the gradient up from parts [groups, parameters],
	// times the scalar factor [1]. It sets sum to scale times the sum of n losses as well, if there
	// are any.
	SumPartials(parts, factor kernels.Arg, groups int, losses, sum kernels.Arg, n int, scale float64) (*kernels.Kernel, []kernels.Arg)
	// SumBlocks returns the table of the launch that adds up the gradient of n parameters from
	// sums, and whether the gradient of all of them is a sum.
	SumBlocks(sums []Partial, n int) (table []int32, all bool)
	// SumByTable returns that launch: what is no sum is read from g.
	SumByTable(g, parts, table kernels.Arg) (*kernels.Kernel, []kernels.Arg)
}

// Partial is the gradient of N parameters from At on: each is a sum of Len parts, of which that of
// the first lies at From and is followed by those of the others. The next part of each lies N
// elements on. Wide is how many columns a work-group sums.
type Partial struct {
	At, N, From, Len, Wide int
}

var gradients atomic.Pointer[Gradients]

// Register has recordings from now on add up gradients by g.
func Register(g Gradients) { gradients.Store(&g) }

// Registered returns what adds up gradients: it is there in every program that opens a
// device.
func Registered() Gradients { return *gradients.Load() }

// ParameterAlign is the alignment of a parameter that an optimizer holds, in elements: 512 bytes of
// float32, the base alignment of NVIDIA devices.
const ParameterAlign = 128

// Aligned returns n elements up to the next parameter.
func Aligned(n int) int { return (n + ParameterAlign - 1) / ParameterAlign * ParameterAlign }
