package operation

import (
	"slices"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/clgrad/clgrad/kernels"
	"github.com/x448/float16"
)

// Views returns the operands that a function uses, and the results.
func (m *Map) Views() (reads, writes []kernels.View) {
	for i, v := range m.Operands {
		if m.Uses(i) {
			reads = append(reads, v)
		}
	}
	for _, r := range m.Results {
		writes = append(writes, r.View)
	}
	return reads, writes
}

// Views returns A and B, and C.
func (p *MatMul) Views() (reads, writes []kernels.View) {
	return []kernels.View{p.A, p.B}, []kernels.View{p.C}
}

// Views returns X and Given, and Y and Index.
func (r *Reduction) Views() (reads, writes []kernels.View) {
	return present(r.X, r.Given), present(r.Y, r.Index)
}

// AllViews returns all views, to be changed.
func (r *Reduction) AllViews() []*kernels.View {
	return []*kernels.View{&r.X, &r.Given, &r.Y, &r.Index}
}

// Views returns X and Index, and Y.
func (g *Gather) Views() (reads, writes []kernels.View) {
	return []kernels.View{g.X, g.Index}, []kernels.View{g.Y}
}

// Views returns X, Index and Y, and Y, of which elements stay.
func (s *Scatter) Views() (reads, writes []kernels.View) {
	return []kernels.View{s.X, s.Index, s.Y}, []kernels.View{s.Y}
}

// Views returns no view, and Y.
func (r *Random) Views() (reads, writes []kernels.View) { return nil, []kernels.View{r.Y} }

// Temp returns what View.Arg is for temporary i = 0, 1, …: memory as large as its views ask
// for, that an operation of a description writes for later ones. It is no argument, shares no
// element with one, and is not there after the launch.
func Temp(i int) int { return -1 - i }

// Scalar is a number of an operation: the one that the launch passes as argument Arg, which may be
// one of [kernels.StepScalars] and another in the next run, or Value if Arg is negative. [ArgScalar] and [ConstScalar]
// make one.
type Scalar struct {
	Arg   int
	Value float64
}

// ArgScalar is the number that the launch passes as argument i.
func ArgScalar(i int) Scalar { return Scalar{Arg: i} }

// ConstScalar is a number that no argument holds.
func ConstScalar(v float64) Scalar { return Scalar{-1, v} }

// In returns the number for elements of type t in a launch: as it is passed, before it is rounded
// to t. An int that is passed for floats of 16 bits is the bits of one.
func (s Scalar) In(args []kernels.Arg, t kernels.DType) float64 {
	switch {
	case s.Arg < 0:
		return s.Value
	case args[s.Arg].Kind == kernels.ArgFloat:
		return args[s.Arg].Float
	case t == kernels.Float16:
		return float64(float16.Frombits(uint16(args[s.Arg].Int)).Float32())
	case t == kernels.BFloat16:
		return float64(bfloat16.BFloat16(args[s.Arg].Int).Float32())
	}
	return float64(args[s.Arg].Int)
}

// Map computes elements by formulas: for every index i below Dims and for each of the Results,
//
//	View[i] = Function(Operands[0][i], Operands[1][i], …; Scalars)
//
// A Map with Identity is a copy, one without operands a fill, one of Identity between two types a
// conversion. An update rule has several results, which are its operands.
//
// Each result is computed in its type: of floats with every primitive rounded to them, of integers in
// that which [kernels.DType.Widened] names, which wraps around, and of which the result takes the low bits.
// Floats of 16 bits are computed in the float type of the launch, and rounded at the end. A Codegen map says its
// Type. An
// operand of another type is converted first, to what is computed in. A function that is a condition
// is 1 where it holds and 0 elsewhere; it is computed in floats, or in integers if it is of integers, as
// are all operands that it uses. What a float is as an integer is the nearest that there is, with
// fractions cut off, and 0 of NaN; what an integer is as a shorter one is its low bits; as a float,
// numbers are rounded to nearest, ties to even, and beyond those of 16 bits become infinite.
//
// A function may read the index of the element along an axis (expr.Index): that of Dims. An operand
// that it reads by index (expr.Load) has a View of one stride and a number of Elements; others than
// those are 0.
//
// The operands of an index are read before its results are written, so that a result may be an
// operand, element by element. Views have a stride for each of Dims; there may be none, for one
// element.
//
// Bits: a primitive that is rounded as IEEE 754 says gives the same bits everywhere, others differ
// by what OpenCL allows: see package expr.
type Map struct {
	Dims []int
	// Operands are those of the functions, by their number. One that no function uses is the zero
	// View.
	Operands []kernels.View
	Elements []int // how many there are of each operand that is read by index; nil if none is
	Results  []Result
	// Codegen says that the kernel is one that is made of the formulas of the functions, which computes in
	// Type. Then another that it makes of the same primitives computes the same bits.
	Codegen bool
	Type    kernels.DType
	// ExactRounding says that the kernel is none of those, and rounds at each primitive of the functions,
	// in their order, as they do. Then it may be computed where an operand is stored.
	ExactRounding bool
}

// Uses reports whether a function of the results reads operand i.
func (m *Map) Uses(i int) bool {
	return slices.ContainsFunc(m.Results, func(r Result) bool { return i < r.Function.Operands() && r.Function.Uses(i) })
}

// Gathers reports whether a function of the results reads operand i by index.
func (m *Map) Gathers(i int) bool {
	return slices.ContainsFunc(m.Results, func(r Result) bool { return r.Function.Alone().Gathers(i) })
}

// Result is what a Map writes to a View: a Function with its Scalars, of which those that it does
// not use may be anything.
type Result struct {
	Function *kernels.Function
	Scalars  []Scalar
	View     kernels.View
}

// MatMul is a matrix product, or a batch of them, in ⌈K/Slice⌉ parts of the sum. For
// every index b below Batch, each part s, and i below M, j below N,
//
//	C[b, s, i, j] = Σ A[b, i, k]·B[b, k, j] over k from s·Slice to below min(K, (s+1)·Slice)
//
// Views: A by (b, i, k), B by (b, k, j), C by (b, s, i, j), where b is an index for each of Batch;
// there may be none, for one product. Slice is at least 1, and K in a product that is not in parts.
//
// where A and B are rounded to the Precision.
//
// Each of A, B and C may be of 16 bits, and the others are of Float32. Operands of 16 bits are widened as they are read,
// which is exact; products and sums are computed in float32, and rounded once, to nearest even, as C stores them. Or A
// and B are of integers of 8 and 16 bits, and C of Int32, which wraps around.
//
// Order of the sum: ascending k on OpenCL devices, whatever the tile, on matrix units some at a
// time; on the Go device in blocks that depend on the shape.
type MatMul struct {
	Batch          []int
	M, N, K, Slice int
	Precision      kernels.Precision
	A, B, C        kernels.View
}

// Reduction folds the middle axis of X with a Function of two operands, fn.Add, fn.Mul, fn.Max or
// fn.Min, in a number of Shares. For o below Outer, i below Inner and each share s,
//
//	Y[o, s, i] = the fold of X[o, k, i] over k of the share
//
// Share s has the k from s·Chunk to below min(Len, (s+1)·Chunk); if they are Interleaved, s, s +
// Shares, s + 2·Shares, … below Len. X is converted to the type of Y first, as a [Map] does it. The
// sum of no elements is 0, the product 1; there is no maximum of none.
//
// Index[o, s, i] is the least k of the share whose X is the maximum or minimum, or is NaN, which is beyond all
// others: argmax, argmin. If there is Given, it is the least Given[o, k, i] of these k.
//
// Views: X and Given by (o, k, i), Y and Index by (o, s, i). Given and Index, of integers, are not there if they have
// no Strides.
//
// Order: that of the kernel. Maxima, minima, and sums and products of integers, which wrap around, do not
// depend on it, but that of zeros of both signs either may be the maximum.
type Reduction struct {
	Function          *kernels.Function
	Outer, Len, Inner int
	Shares, Chunk     int
	Interleaved       bool
	X, Given          kernels.View
	Y, Index          kernels.View
}

// Gather takes elements by their index along an axis: for o below Outer, i below N and j below Cols,
//
//	Y[o, i, j] = X[o, Index[o, i, j], j], 0 if the index is not in [0, Rows)
//
// Views: X by (o, row, j), Index, of Int32 or Int64, and Y, of the type of X, by (o, i, j). With an Index whose strides
// along o and j are 0 it takes rows. Elements are moved bit by bit.
type Gather struct {
	Outer, N, Cols, Rows int
	X, Index, Y          kernels.View
}

// Scatter brings elements to others by their index along an axis: for i = 0, 1, … below N, in this order, o below Outer
// and j below Cols,
//
//	Y[o, Index[o, i, j], j] = Function(Y[o, Index[o, i, j], j], X[o, i, j]), unless the index is not in [0, Rows)
//
// where the Function is fn.Add, fn.Mul, fn.Min or fn.Max, of which a NaN is the result and of equal ones X, or
// fn.Identity, which is X. Integers wrap around.
//
// Views: X and Index, of Int32 or Int64, by (o, i, j), Y, of the type of X or of floats for X of 16 bits, by (o, row,
// j).
type Scatter struct {
	Function             *kernels.Function
	Outer, N, Cols, Rows int
	X, Index, Y          kernels.View
}

// Random makes N numbers of a stream, for which four words come from Philox4x32-10 with the counter
// (⌊i/4⌋, Call, 0, 0) and the key (Seed[0], Seed[1]); all are ints of which the 32 bits count.
// Element i, with w the word i mod 4 of its four and u = ⌊w/2⁸⌋·2⁻²⁴, is
//
//	UniformReals  A + (B − A)·u: the difference is rounded, and the rest once
//	NormalReals   A + B·√(−2·log(1 − u))·cos(2π·u′) for even i, u and u′ being those of words i mod 4 and the next;
//	              the same with sin for odd i, of the words of i − 1
//	UniformInts   ⌊w·A/2³²⌋, of an int A > 0
//
// Views: Y by (i), of floats or of Int32.
//
// Bits: the same on every device, but for the logarithms, roots and cosines of NormalReals. Source:
// Salmon, Moraes, Dror, Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011; Box, Muller,
// "A Note on the Generation of Random Normal Deviates", Annals of Mathematical Statistics 29, 1958.
type Random struct {
	Distribution Distribution // which of the three
	N            int
	Seed         [2]Scalar
	Call         Scalar
	A, B         Scalar
	Y            kernels.View
}

// Distribution is that of the numbers of a [Random].
type Distribution uint8

// The distributions.
const (
	UniformFloats Distribution = iota
	NormalFloats
	UniformInts
)
