package replay

import (
	"maps"
	"slices"
	"sync"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/kernels"
)

// trace is what a device did in one run of a step: its launches, uploads and allocations.
type trace struct {
	mu        sync.Mutex // memory may come back from any goroutine
	before    *trace     // the run before, or nil
	made      map[kernels.Buffer]bool
	events    []event
	again     []func() error
	scalars   []*kernels.StepScalars       // that were advanced, or passed to a launch
	order     []*kernels.StepScalars       // each time that some were advanced
	turns     map[*kernels.StepScalars]int // how often each was advanced
	ends      map[*kernels.StepScalars]int // the turn of each at the end of the run
	dead      map[kernels.Buffer]int       // how many events there were when memory was forgotten
	states    []state                      // in the order in which the step came to them
	leftovers []leftoverTensor             // by the states, when the run was over
	refused   error
	dev       capture.Device
	source    source
	named     map[kernels.Buffer][]named
	shapes    map[kernels.Buffer][]int // of the tensors that launches use

	live, peak int64 // bytes of what was made
}

// event is a launch, or an upload if there is no kernel.
type event struct {
	kernel *kernels.Kernel
	args   []kernels.Arg       // of an upload, the memory written
	data   *kernels.HostBuffer // of an upload
	at     int                 // how many launches came before
	source source
}

// writes reports whether the launch, or the upload, writes to b.
func (e *event) writes(b kernels.Buffer) bool {
	for i := range e.args {
		if e.args[i].Kind == kernels.ArgBuffer && e.args[i].Buf == b && (e.kernel == nil || e.kernel.Params[i].Mode.Written()) {
			return true
		}
	}
	return false
}

func newTrace(dev capture.Device, before *trace) *trace {
	return &trace{dev: dev, before: before, named: map[kernels.Buffer][]named{}, shapes: map[kernels.Buffer][]int{},
		made: map[kernels.Buffer]bool{}, turns: map[*kernels.StepScalars]int{}, dead: map[kernels.Buffer]int{},
		ends: map[*kernels.StepScalars]int{}}
}

func (n *trace) Launch(k *kernels.Kernel, args []kernels.Arg) {
	for i := range args {
		if s, _, _ := args[i].StepScalar(); s != nil {
			n.scalar(s)
		}
	}
	for i := range args {
		if b := args[i].Buf; args[i].Kind == kernels.ArgBuffer && n.shapes[b] == nil {
			if m := n.dev.Memory(b); m != nil {
				n.shapes[b] = m.Shape()
			}
		}
	}
	n.events = append(n.events, event{kernel: k, args: slices.Clone(args), at: n.launches(), source: n.source})
}

func (n *trace) Label(operation, layer string) { n.source = source{operation, layer} }

func (n *trace) Named(b kernels.Buffer, off int, shape []int, name string) {
	if !slices.ContainsFunc(n.named[b], func(x named) bool { return x.off == off && x.name == name }) {
		n.named[b] = append(n.named[b], named{off, slices.Clone(shape), name})
	}
}

// scalar notes that step scalars were used.
func (n *trace) scalar(s *kernels.StepScalars) {
	if !slices.Contains(n.scalars, s) {
		n.scalars = append(n.scalars, s)
	}
}

// advanced notes that step scalars were advanced.
func (n *trace) advanced(s *kernels.StepScalars) {
	n.scalar(s)
	n.order = append(n.order, s)
	n.turns[s]++
}

func (n *trace) Upload(b kernels.Buffer, off int, src *kernels.HostBuffer) {
	if n.origin(b) == older {
		n.Refuse(ErrUpload, "Upload inside the step: set inputs between the runs")
	}
	data := kernels.NewHostBuffer(src.DType(), src.Len())
	kernels.CopyHostBuffer(data, 0, src, 0, src.Len())
	n.events = append(n.events, event{args: []kernels.Arg{kernels.BufferArg(b, off, src.Len())}, data: data, at: n.launches()})
}

// launches returns how many there were.
func (n *trace) launches() int {
	if len(n.events) == 0 {
		return 0
	}
	last := n.events[len(n.events)-1]
	if last.kernel == nil {
		return last.at
	}
	return last.at + 1
}

func (n *trace) Alloc(b kernels.Buffer) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.made[b] = true
	n.live += bytesOf(b)
	n.peak = max(n.peak, n.live)
}

func (n *trace) Release(b kernels.Buffer) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.made[b] {
		n.live -= bytesOf(b)
	}
}

func (n *trace) Input(b kernels.Buffer) bool {
	return n.origin(b) == older && !slices.ContainsFunc(n.events, func(e event) bool { return e.writes(b) })
}

func (n *trace) Forget(b kernels.Buffer) { n.dead[b] = len(n.events) }

// isDead reports whether nobody looks at memory after the run.
func (n *trace) isDead(b kernels.Buffer) bool {
	_, is := n.dead[b]
	return is
}

func (n *trace) State(key any, make func() capture.State) capture.State {
	if s := n.stateOf(key); s != nil {
		return s
	}
	s := make()
	n.states = append(n.states, state{key, s})
	return s
}

func (n *trace) Again(check func() error) { n.again = append(n.again, check) }

func (n *trace) Refuse(kind error, detail string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.refused == nil {
		n.refused = fault("Record", kind, "%s", detail)
	}
}

// origin is where memory that a step uses comes from.
type origin int

const (
	older   origin = iota // it was there before Record
	earlier               // the run before made it
	made                  // this run made it
)

func (n *trace) origin(b kernels.Buffer) origin {
	if _, is := b.(*newBuffer); is {
		return made
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.made[b]:
		return made
	case n.before != nil && n.before.made[b]:
		return earlier
	}
	return older
}

// end notes the turns of the step scalars when the run is over, and what of the memory that was forgotten
// nobody has used since.
func (n *trace) end() {
	maps.DeleteFunc(n.dead, func(b kernels.Buffer, at int) bool {
		return slices.ContainsFunc(n.events[at:], func(e event) bool {
			return slices.ContainsFunc(e.args, func(a kernels.Arg) bool { return a.Kind == kernels.ArgBuffer && a.Buf == b })
		})
	})
	for _, s := range n.scalars {
		n.ends[s] = s.Step()
	}
}

// passed is a number of a step scalar that a launch takes: which, and how often the owner had advanced it in
// the step.
type passed struct {
	owner         any
	number, since int
}

// passed returns what the argument a is; its owner is nil if it is no step scalar.
func (n *trace) passed(a *kernels.Arg) passed {
	s, number, turn := a.StepScalar()
	if s == nil {
		return passed{}
	}
	return passed{s, number, turn - (n.ends[s] - n.turns[s])}
}

// numbers returns what the run passed to launches of them.
func (n *trace) numbers() map[passed]kernels.Arg {
	all := map[passed]kernels.Arg{}
	for _, e := range n.events {
		for i := range e.args {
			if p := n.passed(&e.args[i]); p.owner != nil {
				all[p] = e.args[i]
			}
		}
	}
	return all
}

func bytesOf(b kernels.Buffer) int64 { return int64(b.Len()) * int64(b.DType().Size()) }
