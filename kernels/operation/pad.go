package operation

import "github.com/clgrad/clgrad/kernels"

// PadAxis is an axis of a [Pad], of Size elements of X and OutSize of Y. Element i of Y comes from i − Before, and
// where that is none of X from where the Mode says.
type PadAxis struct {
	Size, OutSize, Before int
	Mode                  PadMode
}

// PadMode says what lies outside of an axis, as torch.nn.functional.pad has it. PadReflect and PadCircular reach as far
// as there are elements once.
type PadMode uint8

// The modes.
const (
	PadConstant  PadMode = iota // a value, which comes from no element
	PadReflect                  // the elements next to the first or the last one, back from that
	PadReplicate                // the first or the last one
	PadCircular                 // those from the other end on
)

// Pad is elements with others around them, or without those at an end, where Before is negative or OutSize small:
//
//	Y[i…] = X[p…], of the p that all i come from, or Value if an i comes from none
//
// Views: X by the indices of each of the Axes below Size, Y by those below OutSize, of the same type. Elements
// are moved bit by bit.
type Pad struct {
	Axes  []PadAxis
	Value Scalar
	X, Y  kernels.View
}

// PadGrad is the gradient of a [Pad] of the same Axes, with G that of Y:
//
//	D[p…] = Σ G[i…] over the i that come from p
//
// Views: G as Y of the Pad, D as X. Order of the sum: that of the kernel.
type PadGrad struct {
	Axes []PadAxis
	G, D kernels.View
}

// Results returns the dimensions of Y.
func (p *Pad) Results() (dims []int) {
	for _, a := range p.Axes {
		dims = append(dims, a.OutSize)
	}
	return dims
}

// Results returns the dimensions of D.
func (p *PadGrad) Results() (dims []int) {
	for _, a := range p.Axes {
		dims = append(dims, a.Size)
	}
	return dims
}

// Views returns X, and Y.
func (p *Pad) Views() (reads, writes []kernels.View) {
	return []kernels.View{p.X}, []kernels.View{p.Y}
}

// Views returns G, and D.
func (p *PadGrad) Views() (reads, writes []kernels.View) {
	return []kernels.View{p.G}, []kernels.View{p.D}
}

// AllViews returns all views, to be changed.
func (p *Pad) AllViews() []*kernels.View { return []*kernels.View{&p.X, &p.Y} }

// AllViews returns all views, to be changed.
func (p *PadGrad) AllViews() []*kernels.View { return []*kernels.View{&p.G, &p.D} }
