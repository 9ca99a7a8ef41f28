package replay

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/replay/fusion"
)

// registeredFusion is the pass of a fusion that another package registered. It comes before all
// passes but dead-store-elimination: a fusion sees the launches of the step. What it proposes is
// refused where
//   - another match has taken a launch that it covers
//   - anything else reads what is not made any more, or that is there after the run
//   - the new launches read or write memory that the covered ones did not
//   - what is done meanwhile reads or writes what they write, or writes what they read
//   - it does not pay on the device, by the fusion's own rule
//   - the device computes a kernel wrongly, or the launches something else than the covered ones.
func registeredFusion(f fusion.Fusion) rewrite {
	return rewrite{f.Name, f.Doc, func(r *rewriter) {
		if r.device == nil {
			return
		}
		defer r.recovered(f)
		s := newStep(r, f.Name)
		for _, m := range f.Match(s) {
			if err := s.replace(f, m); err != nil {
				err.Fusion, err.Match = f.Name, m.Name
				s.refuse(err, m.Covers)
			}
		}
	}}
}

// recovered notes that a fusion panicked: at the line of its own package that was reached last, if
// there is one. Deferred: nothing else is done of the step then.
func (r *rewriter) recovered(f fusion.Fusion) {
	value := recover()
	if value == nil {
		return
	}
	own := packageOf(runtime.FuncForPC(reflect.ValueOf(f.Match).Pointer()).Name())
	var where string
	var callers [32]uintptr
	for frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers[:])]); ; {
		frame, more := frames.Next()
		mine := packageOf(frame.Function) == own
		if mine || where == "" && !strings.HasPrefix(frame.Function, "runtime.") { // those are of the panic
			where = fmt.Sprintf("%s:%d", filepath.Base(frame.File), frame.Line)
		}
		if mine || !more {
			break
		}
	}
	if err, is := value.(error); is {
		r.panicked = fmt.Errorf("replay: Record: %w: %q at %s: %w", fusion.ErrPanic, f.Name, where, err)
	} else {
		r.panicked = fmt.Errorf("replay: Record: %w: %q at %s: %v", fusion.ErrPanic, f.Name, where, value)
	}
}

// packageOf returns the path of the package that a function is of: "a.b/c" of "a.b/c.init.func1".
func packageOf(function string) string {
	name := strings.LastIndex(function, "/") + 1
	before, _, _ := strings.Cut(function[name:], ".")
	return function[:name] + before
}

// device is what passes ask the device that a step is recorded on.
type device struct {
	one   kernels.Buffer                                    // memory of one element, that holds 1
	try   func(k *kernels.Kernel, args []kernels.Arg) error // of a launch; nil: small ones
	units fusion.MatrixUnits
	// compare does launches and others in their place on random operands, and says how the results
	// differ.
	compare func(before, after []capture.Launch, results []region, within float64) error

	fused    int   // matches of registered fusions that were done
	notFused error // why others were refused

	step      []*node     // the launches before the passes
	decisions []*decision // what passes did and did not
	times     *Times
	building  *time.Duration // that try took so far
}

// step is a step as a fusion sees it.
type step struct {
	r     *rewriter
	name  string
	nodes []*node // by their places in the list, and the places of these in r.nodes
	at    []int
	list  []fusion.Recorded
}

func newStep(r *rewriter, name string) *step {
	s := &step{r: r, name: name}
	for i, n := range r.nodes {
		if n == nil {
			continue
		}
		l := fusion.Recorded{Kernel: n.kernel, Args: n.args, Reads: ranges(n.reads), Writes: ranges(n.writes)}
		if n.described {
			l.Operations = n.kernel.Semantics(n.args)
		}
		s.nodes, s.at, s.list = append(s.nodes, n), append(s.at, i), append(s.list, l)
	}
	return s
}

func ranges(list []region) []kernels.Arg {
	var all []kernels.Arg
	for _, g := range list {
		all = append(all, kernels.BufferArg(g.buf, g.span.lo, g.span.hi-g.span.lo))
	}
	return all
}

func regionOf(a kernels.Arg) *region { return &region{buf: a.Buf, span: span{a.Off, a.Off + a.N}} }

func (s *step) Launches() []fusion.Recorded { return s.list }

func (s *step) Writer(i int, at kernels.Arg) int { return s.place(s.r.writer(regionOf(at), s.at[i])) }

func (s *step) Readers(i int, at kernels.Arg) []int {
	list := s.r.readers(regionOf(at), s.at[i])
	for k, j := range list {
		list[k] = s.place(j)
	}
	return list
}

// place returns the launch that lies at a place of the nodes.
func (s *step) place(at int) int {
	i, _ := slices.BinarySearch(s.at, at)
	if at < 0 {
		return -1
	}
	return i
}

func (s *step) Lasts(i int, at kernels.Arg) bool { return s.r.liveOut(regionOf(at), s.at[i]) }
func (s *step) Lives(b kernels.Buffer) bool      { return s.r.lives(b) }
func (s *step) Constant(b kernels.Buffer) bool   { return s.r.constant(b) }
func (s *step) One() kernels.Arg                 { return kernels.BufferArg(s.r.device.one, 0, 1) }
func (s *step) Name(i int) string                { return s.r.name(s.nodes[i]).String() }
func (s *step) Target() kernels.Target           { return s.r.target }
func (s *step) MatrixUnits() fusion.MatrixUnits  { return s.r.device.units }

func (s *step) Try(k *kernels.Kernel, args []kernels.Arg) error { return s.r.device.try(k, args) }

func (s *step) New(t kernels.DType, n int) kernels.Arg {
	return kernels.BufferArg(s.r.newBuffer(t, n), 0, n)
}

func (s *step) Refuse(err error) {
	if err != nil {
		s.refuse(&fusion.Refusal{Fusion: s.name, Reason: err}, nil)
	}
}

// refuse notes why a match of some launches is not done.
func (s *step) refuse(err *fusion.Refusal, covers []int) {
	all := &node{}
	for _, i := range covers {
		if i >= 0 && i < len(s.nodes) { // a proposal may name others
			s.r.mergeSources(all, s.nodes[i])
		}
	}
	if len(all.from) > 0 {
		s.r.refused(causeOf(err), "%s: refused", s.r.name(all))
	} else {
		s.r.refused(causeOf(err), "refused")
	}
	s.r.device.notFused = errors.Join(s.r.device.notFused, err)
}

func (s *step) Say(format string, a ...any) { s.r.did(format, a...) }

// causeOf is the cause that a refusal is, without the name of the fusion, which is that of the pass.
func causeOf(err *fusion.Refusal) *cause {
	text := strings.TrimPrefix(err.Error(), err.Fusion+": ")
	for reason, is := range map[error]Reason{fusion.ErrProposal: ReasonUnsupported, fusion.ErrCovered: ReasonUsed,
		fusion.ErrIntermediate: ReasonUsed, fusion.ErrMemory: ReasonAliasing, fusion.ErrMeanwhile: ReasonDependence,
		fusion.ErrWorth: ReasonCost, fusion.ErrWrong: ReasonDevice} {
		if errors.Is(err, reason) {
			return because(is, "%s", text)
		}
	}
	return because(failed(err).reason, "%s", text)
}

func refusal(reason error, format string, a ...any) *fusion.Refusal {
	return &fusion.Refusal{Reason: reason, Detail: fmt.Sprintf(format, a...)}
}

// replace puts the launches of a match in the place of those that it covers, or says why not.
func (s *step) replace(f fusion.Fusion, m fusion.Match) *fusion.Refusal {
	r := s.r
	p, err := s.proposal(m)
	if err != nil {
		return err
	}
	if err := p.sound(); err != nil {
		return err
	}
	places, err := p.places()
	if err != nil {
		return err
	}
	if f.Worth != nil {
		before, after := p.cost(p.covered), p.cost(p.nodes[p.once:])
		if !f.Worth(r.target, before, after) {
			return refusal(fusion.ErrWorth, "it is not worth it on this device: %d launches of %d bytes would be %d of %d",
				before.Launches, before.Bytes, after.Launches, after.Bytes)
		}
	}
	if err := p.tried(m); err != nil {
		return err
	}
	for _, i := range p.at {
		r.leave(i)
	}
	for _, n := range p.nodes[:p.once] {
		r.first = append(r.first, n)
		for _, g := range n.writes {
			r.hoisted[g.buf] = true
		}
	}
	for k, n := range p.nodes[p.once:] {
		r.nodes[places[k]] = n
		r.note(places[k])
	}
	all := &node{}
	for _, n := range p.covered {
		r.mergeSources(all, n)
	}
	r.device.fused++
	r.did("%s: %s", r.name(all), cmp.Or(m.Done, launchesOf(len(places))))
	return nil
}

func launchesOf(n int) string {
	if n == 1 {
		return "one launch"
	}
	return fmt.Sprintf("%d launches", n)
}
