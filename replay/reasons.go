package replay

import (
	"errors"
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/tensor"
)

// Reason says why launches were not fused, for programs to switch on: see [Refusal].
type Reason string

// The reasons.
const (
	ReasonOpaque      Reason = "opaque"       // a kernel does not say what it computes, or computes what the pass knows nothing of
	ReasonDynamicSize Reason = "dynamic-size" // sizes of a launch are step scalars
	ReasonTypes       Reason = "types"        // the launches compute in different types, or in one that the pass does not know
	ReasonRounding    Reason = "rounding"     // the bits of a result might be others
	ReasonAccess      Reason = "access"       // elements are read or written in an order, or by indices, that cannot be joined
	ReasonShape       Reason = "shape"        // the launches have different numbers of elements, rows or work-groups
	ReasonDependence  Reason = "dependence"   // a launch between the two has to be done after the one and before the other
	ReasonAliasing    Reason = "aliasing"     // one writes elements that the other reads or writes at other indices
	ReasonUsed        Reason = "used"         // something else reads the result, or it is there after the run
	ReasonMemory      Reason = "memory"       // more memory would be kept, for longer
	ReasonCost        Reason = "cost"         // one launch would take longer than two, or gains nothing
	ReasonLimit       Reason = "limit"        // too many operands, results, steps, arguments, launches or kernels
	ReasonUnsupported Reason = "unsupported"  // the kernel has no form for it
	ReasonDevice      Reason = "device"       // the device does not build the kernel, or computes it wrongly
)

// Refusal is a fusion that a pass considered and did not do.
type Refusal struct {
	Pass     string // of [Passes]
	Launches []int  // of the step, ascending: those that would have become one
	Reason   Reason // for programs
	Detail   string // for people, such as "together they read 9 tensors"
	line     string
}

// String returns a line, such as "rows: 0 k_exp and 1 k_sum_axis: refused: 1 k_sum_axis does not work on rows".
func (f Refusal) String() string { return f.line }

// Refusals returns the fusions that were considered and not done, in the order of the passes, each once.
func (r *Recording) Refusals() []Refusal {
	var list []Refusal
	said := map[string]bool{}
	for _, d := range r.decisions {
		if d.why == nil {
			continue
		}
		f := Refusal{d.pass, d.launches(), d.why.reason, d.why.String(), d.String()}
		if !said[f.line] {
			said[f.line] = true
			list = append(list, f)
		}
	}
	return list
}

// cause is why something is not done. It is nil where it is. Its text is made when it is asked for.
type cause struct {
	reason Reason
	format string
	args   []any
}

func because(reason Reason, format string, args ...any) *cause { return &cause{reason, format, args} }

// String returns the cause in words, "" of nil.
func (c *cause) String() string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf(c.format, c.args...)
}

// failed is the cause that an error is.
func failed(err error) *cause {
	var wrong *tensor.MiscompileError
	if errors.As(err, &wrong) {
		return because(ReasonDevice, "%v", err)
	}
	return because(ReasonUnsupported, "%v", err)
}

// Causes that several passes have.
var (
	// dynamicSize is why a launch is no map of which another run may have other sizes.
	dynamicSize  = because(ReasonDynamicSize, "its sizes are step scalars")
	notDescribed = because(ReasonOpaque, "its kernel does not say what it computes")
	otherVectors = because(ReasonRounding, "vectors of a function may have other bits than elements")
	muchMemory   = because(ReasonMemory, "it would keep much memory")
	dependent    = because(ReasonDependence, "the latter depends on the former, or what is done between them does and the latter on that")
	betweenThem  = because(ReasonDependence, "what is done between them depends on the former, and the latter on that")
	wrongly      = because(ReasonDevice, "the device does not build the kernel, or computes it wrongly")
	staysBehind  = because(ReasonUsed, "its result is stored, for it is there after the run")
)

// manyKernels is why no kernel is made for more launches.
func manyKernels(n int, others string) *cause {
	return because(ReasonLimit, "%d kernels are made for %s", n, others)
}

// decision is a fusion that a pass did, or with a cause one that it did not.
type decision struct {
	pass   string
	format string // of args, what is said behind the pass
	args   []any  // labels, and others
	why    *cause // nil: it was done
}

// String returns the decision in a line.
func (d *decision) String() string {
	line := d.pass + ": " + fmt.Sprintf(d.format, d.args...)
	if d.why != nil {
		line += ": " + d.why.String()
	}
	return line
}

// launches are those of the step that a decision is about.
func (d *decision) launches() []int {
	var all []int
	for _, a := range d.args {
		if l, is := a.(label); is {
			all = append(all, l.from...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// did notes what the pass that is done now did.
func (r *rewriter) did(format string, args ...any) { r.refused(nil, format, args...) }

// refused notes why the pass that is done now did not do something.
func (r *rewriter) refused(why *cause, format string, args ...any) {
	d := &decision{r.doing, format, args, why}
	r.decisions = append(r.decisions, d)
	r.opt.say("%s", d)
}

// label names a node as it was, by the launches of the step that it does.
type label struct {
	from  []int
	names []string
}

// name names a node in decisions.
func (r *rewriter) name(n *node) label { return label{n.from, n.names} }
