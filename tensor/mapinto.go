package tensor

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
)

// MapInto sets each of the results to one of joined functions of the operands, element by element,
// in one launch. The results have one shape and one type, of floats or, if the functions are of
// integers, an integer one; of 16 bits they are computed in float32, and rounded. They may be
// views, such as columns of a matrix, that have no element in common. The operands broadcast to
// their shape by NumPy's rule and are converted to their type; one that the functions read by index
// may have any shape. One that they do not use may be nil. An operand may share elements with a
// result: it is read first. A scalar is passed with [kernels.IntArg] if it is an int of the functions
// (expr.IntParam) or the results are integers, else with [kernels.FloatArg], or it is one of [kernels.StepScalars].
//
// It panics with ErrShape if the results differ in shape, have fewer axes than the functions read
// indices of, or an operand does not broadcast; with ErrType for results of several types, or of
// one that the functions do not give; with ErrArgument for a scalar of the wrong kind; and with
// ErrValue for functions that are nil or wrong, that are conditions or take masks, which have types
// of their own, another number of results, operands or scalars, an operand that is nil and used, a
// result that repeats elements, and two that share some.
func MapInto(j *kernels.FusedElementwise, scalars []kernels.Arg, results []*Tensor, operands ...*Tensor) {
	mustJoined(j, scalars, len(results), len(operands))
	for k, r := range results {
		check(j.Name, results[0], r)
		if !slices.Equal(r.shape, results[0].shape) {
			misuse(j.Name, ErrShape, "the results have one shape", results...)
		}
		if r.typ != results[0].typ || r.typ.Integer() && !j.Integers() {
			misuse(j.Name, ErrType, fmt.Sprintf("the results are of one type, of floats or one that the functions give: not %v", r.typ), r)
		}
		r.mustNotRepeat(j.Name)
		for _, other := range results[:k] {
			if share(r, other) {
				misuse(j.Name, ErrValue, "two results share elements", r, other)
			}
		}
	}
	out := results[0]
	if j.Rank() > 0 && out.Rank() > fused.MapRank {
		detail := fmt.Sprintf("functions that read indices have results of %d axes at most", fused.MapRank)
		misuse(j.Name, ErrShape, detail, out)
	}
	if j.Rank() > out.Rank() {
		misuse(j.Name, ErrShape, fmt.Sprintf("the functions read the index along axis %d", j.Rank()-1), out)
	}
	for i, a := range scalars {
		if want := scalarKind(j, out, i); j.UsesScalar(i) && a.Kind != want {
			panic(&Error{Op: j.Name, Kind: ErrArgument, Detail: fmt.Sprintf("scalar %d is %v, not %v", i, a.Kind, want)})
		}
	}
	var copies [2 * kernels.MapOperands]contiguousOperand
	made := copies[:0]
	var list [fused.MapTensors]*Tensor
	tensors := list[:0]
	for i, t := range operands {
		if !j.Uses(i) {
			continue
		}
		check(j.Name, out, t)
		if !j.Gathers(i) && !broadcastsTo(t.shape, out.shape) {
			misuse(j.Name, ErrShape, "", t, out)
		}
		c := contiguousOperand{t, false}
		switch {
		case j.Gathers(i):
			c = t.as(out.typ.Widened())
		case !readsAs(t.typ, out.typ):
			c = t.as(out.typ.Computed())
		}
		made = append(made, c)
		if j.Gathers(i) {
			c = c.Tensor.contiguous()
			made = append(made, c)
		}
		for _, r := range results {
			if j.Gathers(i) && overlaps(r, c.Tensor) {
				c = contiguousOperand{c.Copy(), true}
				made = append(made, c)
			} else if !j.Gathers(i) {
				if p := copyIfOverlaps(r, c.Tensor); p.temporary {
					c = p
					made = append(made, c)
				}
			}
		}
		tensors = append(tensors, c.Tensor)
	}
	for _, r := range results {
		r.st.version++
	}
	launchMap(j, out.typ.Widened(), append(tensors, results...), scalars, CastOptions{})
	for _, c := range made {
		c.release()
	}
}

// scalarKind returns how scalar i is passed for results like out.
func scalarKind(j *kernels.FusedElementwise, out *Tensor, i int) kernels.ArgKind {
	if j.IntScalar(i) || out.typ.Integer() {
		return kernels.ArgInt
	}
	return kernels.ArgFloat
}

// mustJoined panics unless there are functions, with as many scalars, results and operands as they
// take.
func mustJoined(j *kernels.FusedElementwise, scalars []kernels.Arg, results, operands int) {
	if j == nil {
		panic(&Error{Op: "MapInto", Kind: ErrValue, Detail: "the functions are nil: make a kernels.FusedElementwise"})
	}
	if err := j.Err(); err != nil {
		panic(&Error{Op: "MapInto", Kind: ErrValue, Detail: err.Error()})
	}
	for _, f := range j.Functions {
		if f.Condition() || f.Masks > 0 {
			panic(&Error{Op: j.Name, Kind: ErrValue, Detail: fmt.Sprintf("%q gives or takes masks, which have a type of their own: apply it alone, with Map", f.Name)})
		}
	}
	if n := len(j.Functions[0].Scalars); len(scalars) != n || operands != j.Operands() || results != len(j.Functions) {
		panic(&Error{Op: j.Name, Kind: ErrValue, Detail: fmt.Sprintf("it takes %d results, %d operands and %d scalars, not %d, %d and %d",
			len(j.Functions), j.Operands(), n, results, operands, len(scalars))})
	}
}
