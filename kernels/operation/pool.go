package operation

import "github.com/clgrad/clgrad/kernels"

// PoolSpec is windows over 1, 2 or 3 spatial axes of Outer images: XLA's reduce-window. Position q of the OutSize
// outputs has the window of positions p of [Windows] that are within Size, of which there is one; if it is Adaptive,
// those from ⌊q·Size/OutSize⌋ to below ⌈(q+1)·Size/OutSize⌉ along each axis.
//
// The Function is fn.Max, or fn.Add of means. Those divide by n(q), which is Divisor if that is not 0, or how many
// positions the window of q has: if it is CountPadding, those below Size + Pad that are not within Size, too.
type PoolSpec struct {
	Function *kernels.Function
	Outer    int
	Windows
	Adaptive, CountPadding bool
	Divisor                int
}

// Pool is the greatest element of each window, or a mean:
//
//	Y[o, q…] = max X[o, p…]     Y[o, q…] = Σ X[o, p…]/n(q)     over the p of the window of q
//
// Index[o, q…] is which p the maximum is, counted through the axes: the first, or the last NaN.
//
// Views: X by (o, p…), Y by (o, q…), and Index, of integers, by (o, q…), which is not there if it has no Strides.
//
// Order of the sum: that of the kernel.
type Pool struct {
	PoolSpec
	X, Y, Index kernels.View
}

// PoolGrad is the gradient of a [Pool], with that of Y:
//
//	D[o, p…] = Σ G[o, q…] over q whose Index[o, q…] is p     D[o, p…] = Σ G[o, q…]/n(q) over q whose window has p
//
// of maxima and of means.
//
// Views: G by (o, q…), D by (o, p…), and of maxima Index, of integers, by (o, q…).
//
// Order of the sum: that of the kernel.
type PoolGrad struct {
	PoolSpec
	G, Index, D kernels.View
}

// Inputs returns the dimensions of X.
func (s *PoolSpec) Inputs() []int { return append([]int{s.Outer}, s.Size...) }

// Outputs returns the dimensions of Y.
func (s *PoolSpec) Outputs() []int { return append([]int{s.Outer}, s.OutSize...) }

// Views returns X, and Y and Index.
func (p *Pool) Views() (reads, writes []kernels.View) {
	return []kernels.View{p.X}, present(p.Y, p.Index)
}

// Views returns G and Index, and D.
func (p *PoolGrad) Views() (reads, writes []kernels.View) {
	return present(p.G, p.Index), []kernels.View{p.D}
}

// AllViews returns all views, to be changed.
func (p *Pool) AllViews() []*kernels.View { return []*kernels.View{&p.X, &p.Y, &p.Index} }

// AllViews returns all views, to be changed.
func (p *PoolGrad) AllViews() []*kernels.View { return []*kernels.View{&p.G, &p.Index, &p.D} }
