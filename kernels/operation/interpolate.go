package operation

import "github.com/clgrad/clgrad/kernels"

// InterpolateSpec is Outer images that are resized along 1, 2 or 3 spatial axes, as
// torch.nn.functional.interpolate does it by the nearest element or, if it is Linear, linearly. Along an axis,
// output q below OutSize lies at the position
//
//	⌊q·Size/OutSize⌋     of the nearest
//	(q + ½)·Size/OutSize − ½, within [0, Size − 1]     if it is Linear
//	q·(Size − 1)/(OutSize − 1), 0 for an OutSize of 1     if it is Linear with AlignCorners
//
// which is i + f of an element i and 0 ≤ f < 1. The weight of element i is 1 − f, that of i + 1 is f, and w(p…, q…) is
// the product of the weights of the p of all axes. What has the weight 0 is not read.
type InterpolateSpec struct {
	Outer                int
	Size, OutSize        []int
	Linear, AlignCorners bool
}

// Interpolate is Y[o, q…] = Σ w(p…, q…)·X[o, p…] over p. Views: X by (o, p…), Y by (o, q…).
type Interpolate struct {
	InterpolateSpec
	X, Y kernels.View
}

// InterpolateGrad is the gradient of an [Interpolate], with G that of Y: D[o, p…] = Σ w(p…, q…)·G[o, q…] over q. Views:
// G by (o, q…), D by (o, p…). Order of the sum: that of the kernel.
type InterpolateGrad struct {
	InterpolateSpec
	G, D kernels.View
}

// Inputs returns the dimensions of X.
func (s *InterpolateSpec) Inputs() []int { return append([]int{s.Outer}, s.Size...) }

// Outputs returns the dimensions of Y.
func (s *InterpolateSpec) Outputs() []int { return append([]int{s.Outer}, s.OutSize...) }

// Views returns X, and Y.
func (i *Interpolate) Views() (reads, writes []kernels.View) {
	return []kernels.View{i.X}, []kernels.View{i.Y}
}

// Views returns G, and D.
func (i *InterpolateGrad) Views() (reads, writes []kernels.View) {
	return []kernels.View{i.G}, []kernels.View{i.D}
}

// AllViews returns all views, to be changed.
func (i *Interpolate) AllViews() []*kernels.View { return []*kernels.View{&i.X, &i.Y} }

// AllViews returns all views, to be changed.
func (i *InterpolateGrad) AllViews() []*kernels.View { return []*kernels.View{&i.G, &i.D} }
