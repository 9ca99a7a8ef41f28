package autograd

import (
	"fmt"
	"math"

	"github.com/clgrad/clgrad/internal/caller"
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// DetectAnomalies runs f and returns, as an [*AnomalyError], where the first NaN or infinity came
// up in the operations on Nodes of d: which made one of operands without, or has a gradient that
// made one of a gradient without, and the line of the program that called it. An operation that
// does so ends f at once, as a panic would. In a gradient it is the error of Backward or [Grad],
// and so is a root or a seed that is not finite. Otherwise DetectAnomalies returns what f does.
//
// A parameter that is not finite is an anomaly once an operation's result is not for its sake. A
// constant is none, for a mask may be of −Inf, and data may have gaps: it is named if what it did
// reaches the root of a Backward. The step of an optimizer is no operation: what it makes of a
// parameter shows when that is read next.
//
// It claims d for f, as [NoGrad] does.
//
// An error about a tensor of d that was freed names the line that freed it, if that was under DetectAnomalies.
//
// Every result is read back to the host: it is for finding what is wrong, not for training. Where
// it is not used it costs nothing.
func DetectAnomalies(d tensor.Device, f func() error) (err error) {
	const op = "DetectAnomalies"
	defer tensorapi.Impl.Unclaim(d, claim(d, op))
	m, own := *modeOf(d, op), &watch{}
	m.watch = own
	defer leave(d, m.enter(d))
	before := tensorapi.Impl.NoteFrees(d, true)
	defer func() {
		tensorapi.Impl.NoteFrees(d, before)
		switch r := recover().(type) {
		case nil:
		case *AnomalyError:
			err = r
		default:
			panic(r)
		}
	}()
	if err = f(); err == nil && own.found != nil { // f did not look at what Backward returned
		err = own.found
	}
	return err
}

// AnomalyError says where a NaN or an infinity came up under [DetectAnomalies].
type AnomalyError struct {
	Op       string  // the operation that made it, or met it in what was there before
	Name     string  // of the node that it came up in: its own, or that of its operation; "const" if a constant has none
	Place    string  // file and line of the program that called Op, "file.go:12"; "" if that was not under DetectAnomalies
	Backward bool    // it came up on the way back
	Value    float64 // NaN or an infinity
	Index    []int   // of the first element that is one
	Count    int     // how many are

	what string
	of   int
}

// Error returns, for example, "autograd: Log [3] at fit.go:12 makes NaN of finite operands: 1 of 3
// elements, the first at [1]".
func (e *AnomalyError) Error() string {
	if e.of == 1 {
		return "autograd: " + e.what
	}
	return fmt.Sprintf("autograd: %s: %d of %d elements, the first at %v", e.what, e.Count, e.of, e.Index)
}

// watch is what DetectAnomalies found.
type watch struct{ found *AnomalyError }

// state is what is not finite in a tensor.
type state struct {
	nan, inf bool
	value    float64 // the first, a NaN if there is one
	at       int
	count    int
	shape    []int
}

func (s state) bad() bool { return s.nan || s.inf }

// look reads a value. One that was freed, or is on a device that has failed, holds nothing.
func look(t *tensor.Tensor) (s state) {
	if t.Freed() {
		return s
	}
	v, err := t.Float64s()
	if err != nil {
		return s
	}
	s.shape = t.Shape()
	for i, x := range v {
		nan := math.IsNaN(x)
		if !nan && !math.IsInf(x, 0) {
			continue
		}
		if s.count == 0 || nan && !s.nan {
			s.value, s.at = x, i
		}
		s.count++
		s.nan, s.inf = s.nan || nan, s.inf || !nan
	}
	return s
}

// look reads the value of n, also one that was put off.
func (n *Node) look() state {
	return look(n.value)
}

// made returns what is new in s beside what it was made of: a NaN of none, or an infinity of finite
// numbers.
func (s state) made(of ...state) (new bool, than string) {
	nan, bad := false, false
	for _, o := range of {
		nan, bad = nan || o.nan, bad || o.bad()
	}
	than = "finite"
	if bad {
		than = "infinite"
	}
	return s.nan && !nan || s.inf && !bad, than
}

// report notes an anomaly in n, as s has it.
func (w *watch) report(op string, n *Node, s state, backward bool, format string, a ...any) *AnomalyError {
	index := make([]int, len(s.shape))
	for i, rest := len(s.shape)-1, s.at; i >= 0; i-- {
		index[i], rest = rest%s.shape[i], rest/s.shape[i]
	}
	e := &AnomalyError{Op: op, Name: n.label(), Place: n.place(), Backward: backward, Value: s.value, Index: index, Count: s.count,
		what: fmt.Sprintf(format, a...), of: intmath.Product(s.shape)}
	if w.found == nil {
		w.found = e
	}
	return e
}

// place returns where the operation of n was called, if that was under DetectAnomalies.
func (n *Node) place() string {
	if n.extra == nil {
		return ""
	}
	return n.extra.place
}

// called returns an operation for an error: its name, shape and place.
func (n *Node) called() string {
	s := n.op
	if n.name != "" {
		s = fmt.Sprintf("%s, %q,", n.op, n.name)
	}
	s = fmt.Sprintf("%s %v", s, n.Shape())
	if at := n.place(); at != "" {
		s += " at " + at
	}
	return s
}

// result looks at what an operation made of inputs. It panics with an anomaly.
func (w *watch) result(n *Node, inputs []*Node) {
	n.ext().place = caller.Place()
	s := n.look()
	if !s.bad() {
		return
	}
	operands := make([]state, len(inputs))
	for i, in := range inputs {
		operands[i] = in.look()
	}
	if is, than := s.made(operands...); is {
		panic(w.report(n.op, n, s, false, "%s makes %v of %s operands", n.called(), s.value, than))
	}
	for i, in := range inputs {
		if o := operands[i]; o.bad() && in.param {
			e := w.report(n.op, in, o, false, "parameter %q %v held %v before %s read it", in.label(), in.Shape(), o.value, n.called())
			e.Place = n.place()
			panic(e)
		}
	}
}

// root looks at where a walk begins. What is not finite there was let pass before: it comes from a
// leaf, or from what was computed elsewhere.
func (w *watch) root(walk *walk) error {
	of := walk.op + " " + walk.root.label()
	if walk.seed != nil {
		if s := look(walk.seed.value); s.bad() {
			return w.report(walk.op, walk.seed, s, true, "the seed of %s %v holds %v", of, walk.root.Shape(), s.value)
		}
	}
	s, n := walk.root.look(), walk.root
	if !s.bad() {
		return nil
	}
	from := s
search:
	for {
		for _, in := range n.inputs {
			if o := in.look(); o.bad() {
				n, from = in, o
				continue search
			}
		}
		break
	}
	source := n.short()
	if n.op == "" && n.name != "" {
		source = fmt.Sprintf("%q %v", n.name, n.Shape())
	}
	return w.report(walk.op, n, from, true, "%s begins at %v: it comes from %s, which holds %v", of, s.value, source, from.value)
}

// gradients looks at what the backward function of n delivered for its gradient g. Each input is
// blamed on one: known holds those that are.
func (w *watch) gradients(walk *walk, n *Node, g *tensor.Tensor) error {
	came := look(g)
	for i, in := range n.inputs {
		t := walk.gathered(in)
		if t == nil || walk.known[in] {
			continue
		}
		s := look(t)
		if !s.bad() {
			continue
		}
		walk.known[in] = true
		if is, than := s.made(came); is {
			return w.report(n.op, n, s, true, "the gradient of %s makes %v for its input %d, %q, of a %s gradient from above",
				n.called(), s.value, i, in.label(), than)
		}
	}
	return nil
}

// hooked looks at what the hooks of n made of its gradient.
func (w *watch) hooked(n *Node, before state, after *tensor.Tensor) error {
	s := look(after)
	if is, than := s.made(before); is {
		return w.report("Hook", n, s, true, "a hook of %s makes %v of a %s gradient", n.short(), s.value, than)
	}
	return nil
}

// gathered returns what a walk has gathered for n so far, or nil.
func (w *walk) gathered(n *Node) *tensor.Tensor {
	switch {
	case !w.wants(n):
		return nil
	case w.record:
		if g := w.gradOf(n); g != nil {
			return g.value
		}
		return nil
	case w.canWriteInPlace(n):
		return n.Grad()
	}
	return n.pending.t
}
