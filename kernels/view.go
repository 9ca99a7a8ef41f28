package kernels

// Op is one of the things that launches compute, which are those of package operation: Map,
// MatMul, Reduction, Gather, Scatter, Scan, Sort, Pad, Random, CrossEntropy, Attention, Convolution, Pool,
// Interpolate and their gradients. A kernel says with [Kernel].Semantics which of them a launch does, one after the
// other; each is done before the next begins. What rewrites launches reads that, and never a name or a source.
//
// They are as few as they can be. A copy, a fill, a conversion, an update rule are Maps. So is
// what a product or a sum does with its result: old elements that are added, a scale, a bias, an
// activation are Maps after it, of a temporary that holds the result or of the result where it
// lies. A kernel that joins several operations is described like the launches that it stands for.
// There may be others one day: a launch with an operation that its reader does not know is opaque
// to that.
//
// Memory: an operation may write what it reads only where it says so. Nothing else that it reads or
// writes overlaps with what it writes, and no two indices of a view that is written name one
// element. Two arguments of a launch share elements only where a Map reads as an operand what it
// writes as a result, at the same index.
//
// Bits: a launch computes what its description says, to within the Tolerance of its kernel; where
// that is zero, bit by bit. Sums are added in an order that the operation states, or that its
// kernel has: always the same one for the same shape on the same device, so that the bits of a sum
// are kept only with its kernel.
type Op interface {
	// Views returns all that the operation reads and writes.
	Views() (reads, writes []View)
}

// View is the elements that an operation reads or writes: at index (i₀, i₁, …), the one that lies
//
//	Offset + i₀·Strides[0] + i₁·Strides[1] + …
//
// elements after the first of an argument. The operation says what the indices are. A stride of 0
// repeats elements.
type View struct {
	Arg     int   // the argument of the launch, or a Temp of package operation
	Type    DType // of the elements; Float32 stands for the device's floats
	Offset  int
	Strides []int
}

// ViewOf returns the view of memory that a launch passes as argument i.
func ViewOf(args []Arg, i, offset int, strides ...int) View {
	t := args[i].Buf.DType()
	if t == Float64 {
		t = Float32
	}
	return View{i, t, offset, strides}
}
