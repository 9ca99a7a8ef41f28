package replay

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/replay/fusion"
	"github.com/clgrad/clgrad/tensor"
)

// builder makes a recording of the trace of a run.
type builder struct {
	d    tensor.Device
	dev  capture.Device
	run  *trace
	kept map[kernels.Buffer]bool // of outputs: what the run made stays where it is
	// The memory of all outputs.
	returned map[kernels.Buffer]bool
	blocks   map[kernels.Buffer]*block
	order    []*block // in the order of first use
	spans    map[kernels.Buffer][]span
	used     map[kernels.Buffer]bool // by a launch
	wrote    map[kernels.Buffer]bool // by a launch, or by an upload after one that used it
	deferred capture.Deferred        // what the runs ask of the device; nil if it is done
	compared map[string]error        // what comparisons of fusions came to, by what they did
	opt      Options
	rec      *Recording
}

// span is elements [lo, hi).
type span struct{ lo, hi int }

// build checks that the run reads nothing that it has not written, places its memory, and prepares
// its launches.
func (b *builder) build() error {
	for i := range b.run.events {
		if err := b.checkEvent(&b.run.events[i]); err != nil {
			return err
		}
	}
	for buf := range b.kept {
		if b.spans[buf] == nil && buf.Len() > 0 {
			return fault("Record", ErrUnwritten, "an output of shape %s, which the step has not written", shapeOf(b.dev, buf))
		}
	}
	for buf := range b.run.made { // memory that is no tensor's is left as outputs are, if it is there
		if b.spans[buf] != nil && b.dev.Live(buf) && b.dev.Memory(buf) == nil {
			b.keep(buf)
		}
	}
	if b.deferred != nil {
		if err := b.places(); err != nil {
			return err
		}
	}
	constants, err := b.constants()
	if err != nil {
		return err
	}
	b.needs()
	if err := b.emit(constants); err != nil {
		return err
	}
	if err := b.place(constants); err != nil {
		return err
	}
	if err := b.scalars(); err != nil {
		return err
	}
	b.rec.report.Launches = len(b.rec.launches)
	b.rec.program, err = b.prepare(b.rec.launches)
	return err
}

// prepare builds the kernels that the device has not built.
func (b *builder) prepare(launches []capture.Launch) (capture.Program, error) {
	defer func(start time.Time) { b.rec.report.Building += time.Since(start) }(time.Now())
	return b.dev.Prepare(launches, b.rec.times.kernel)
}

// try builds a kernel, and compares it with its host kernel.
func (b *builder) try(k *kernels.Kernel, args []kernels.Arg) error {
	start := time.Now()
	err := tensorapi.Impl.Try(b.d, k, args)
	took := time.Since(start)
	b.rec.report.Building += took
	b.rec.times.kernel(k.Name, took)
	return err
}

// checkEvent follows the reads and writes of an event. An argument that a kernel may read and write is not
// asked to have been written before: many kernels read it only where a flag says that they add.
func (b *builder) checkEvent(e *event) error {
	if e.kernel == nil {
		b.write(&e.args[0])
		if dst := e.args[0].Buf; b.used[dst] {
			b.wrote[dst] = true
		}
		return nil
	}
	for i, p := range e.kernel.Params {
		a := &e.args[i]
		if p.Mode.Buffer() && !p.Mode.Written() && a.N > 0 && b.run.origin(a.Buf) == made && !b.written(a) {
			return fault("Record", ErrUnwritten, "%s made of a tensor of shape %s, which the step made with Empty, say, and has not written",
				e.argument(i), shapeOf(b.dev, a.Buf))
		}
	}
	for i, p := range e.kernel.Params {
		if p.Mode.Buffer() {
			b.used[e.args[i].Buf] = true
		}
		if p.Mode.Written() {
			b.write(&e.args[i])
			b.wrote[e.args[i].Buf] = true
		}
	}
	return nil
}

func (b *builder) write(a *kernels.Arg) {
	if a.N == 0 {
		return
	}
	spans := b.spans[a.Buf]
	if n := len(spans); n > 0 && spans[n-1].lo <= a.Off && a.Off <= spans[n-1].hi {
		spans[n-1].hi = max(spans[n-1].hi, a.Off+a.N)
		return
	}
	b.spans[a.Buf] = append(spans, span{a.Off, a.Off + a.N})
}

// written reports whether some of what a names was written. A launch that reads a non-contiguous
// view names what lies between its elements, too.
func (b *builder) written(a *kernels.Arg) bool {
	return slices.ContainsFunc(b.spans[a.Buf], func(s span) bool { return s.lo < a.Off+a.N && a.Off < s.hi })
}

// constants uploads what the step does, once, to memory that stays as it is. It returns the memory
// of each upload, and of each buffer that holds nothing else.
func (b *builder) constants() (map[any]kernels.Buffer, error) {
	of := map[any]kernels.Buffer{}
	for i := range b.run.events {
		e := &b.run.events[i]
		if e.kernel != nil {
			continue
		}
		dst, off := e.args[0].Buf, e.args[0].Off
		whole := !b.kept[dst] && !b.wrote[dst]
		var key any = e
		n := e.data.Len()
		if whole {
			key, n = dst, dst.Len()
		} else {
			off = 0
		}
		if of[key] == nil {
			mem, err := b.d.Alloc(dst.DType(), n)
			if err != nil {
				return nil, err
			}
			of[key] = mem
			b.rec.memory = append(b.rec.memory, mem)
			b.rec.report.ConstantBytes += bytesOf(mem)
		}
		if err := b.d.Upload(of[key], off, e.data); err != nil {
			return nil, err
		}
	}
	return of, nil
}

// emit lists the launches, with a copy where the step uploads to memory that changes, rewrites
// them, and finds out from which to which launch each block is needed.
func (b *builder) emit(constants map[any]kernels.Buffer) error {
	var step []capture.Launch
	var sources []source
	for i := range b.run.events {
		e := &b.run.events[i]
		l := capture.Launch{Kernel: e.kernel, Args: e.args}
		if e.kernel == nil {
			from := constants[e]
			if from == nil {
				continue
			}
			l.Kernel = fused.Map(fn.Identity.Alone(), from.DType(), fused.AccessPattern{Rank: 1})
			l.Args = []kernels.Arg{kernels.BufferArg(from, 0, from.Len()), e.args[0], kernels.IntArg(from.Len())}
		}
		step, sources = append(step, l), append(sources, e.source)
	}
	b.rec.report.Step = len(step)
	keepApart(step)
	start := time.Now()
	lives := func(buf kernels.Buffer) bool {
		return b.kept[buf] || b.run.origin(buf) != made && (!b.run.isDead(buf) || b.returned[buf])
	}
	stays, err := b.stays()
	if err != nil {
		return err
	}
	constant := func(buf kernels.Buffer) bool { return constants[buf] != nil || stays[buf] }
	units := fusion.MatrixUnits{Precision: b.d.Precision(), Float: b.d.DefaultType()}
	units.Target, units.Has = tensorapi.Impl.MatrixUnits(b.d)
	values := b.values(constants)
	dev := &device{one: b.dev.Tensor(tensorapi.Impl.One(b.d)).Buffer, try: b.try, units: units, compare: b.compare, times: &b.rec.times,
		building: &b.rec.report.Building}
	nodes, err := rewriteLaunches(&b.opt, b.d.Target(), step, lives, constant, dev)
	if errors.Is(err, fusion.ErrPanic) {
		return err
	}
	if err != nil { // a formula that is none: the step is replayed as it was
		dev.decisions = []*decision{{pass: "all", format: "nothing is rewritten", why: failed(err)}}
		b.opt.say("%s", dev.decisions[0])
		if nodes, err = rewriteLaunches(&Options{Without: []string{none}}, b.d.Target(), step, lives, constant, nil); err != nil {
			return err
		}
	}
	if nodes, err = b.once(nodes, constants); err != nil {
		return err
	}
	b.rec.report.Rewriting = time.Since(start) - b.rec.report.Building
	b.rec.report.FusedSteps, b.rec.report.NotFused = dev.fused, dev.notFused
	b.rec.decisions, b.rec.sources = dev.decisions, sources
	b.rec.before, b.rec.after = list(dev.step, values), list(nodes, values)
	b.rec.seen(nodes)
	for i, n := range nodes {
		if err := b.tables(n, constants); err != nil {
			return err
		}
		b.rec.launches = append(b.rec.launches, capture.Launch{Kernel: n.kernel, Args: n.args})
		for j := range n.args {
			if a := &n.args[j]; a.Kind == kernels.ArgBuffer && constants[a.Buf] == nil {
				b.use(a, i)
			}
		}
	}
	return nil
}

// stays returns the memory of Options.Constants.
func (b *builder) stays() (map[kernels.Buffer]bool, error) {
	of := map[kernels.Buffer]bool{}
	for i, t := range b.opt.Constants {
		misuse := func(kind error, why string) error {
			return fault("Record", kind, "Options.Constants: tensor %d%s", i, why)
		}
		switch {
		case t == nil:
			return nil, misuse(tensor.ErrValue, " is nil")
		case t.Freed():
			return nil, misuse(tensor.ErrFreed, "")
		case t.Device() != b.d:
			return nil, misuse(tensor.ErrDevice, " is on "+t.Device().Name())
		}
		buf := b.dev.Tensor(t).Buffer
		if b.wrote[buf] || b.run.origin(buf) == made {
			return nil, misuse(tensor.ErrValue, fmt.Sprintf(", of shape %v, is written by the step", t.Shape()))
		}
		of[buf] = true
	}
	return of, nil
}

// tables puts the tables that a launch reads in memory.
func (b *builder) tables(n *node, constants map[any]kernels.Buffer) error {
	for i := range n.args {
		t, is := n.args[i].Buf.(*table)
		if !is || constants[t] != nil {
			continue
		}
		mem, err := b.d.Alloc(kernels.Int32, t.Len())
		if err != nil {
			return err
		}
		constants[t] = mem
		b.rec.memory = append(b.rec.memory, mem)
		b.rec.report.ConstantBytes += bytesOf(mem)
		if err := b.d.Upload(mem, 0, kernels.HostBufferOf(t.ints)); err != nil {
			return err
		}
	}
	return nil
}

// once does the launches of which no run has another result, to memory that stays as it is, and
// returns the others.
func (b *builder) once(nodes []*node, constants map[any]kernels.Buffer) (others []*node, err error) {
	var launches []capture.Launch
	for _, n := range nodes {
		if !n.once {
			others = append(others, n)
			continue
		}
		for i := range n.args { // results, and operands without elements, which nothing wrote
			a := &n.args[i]
			if a.Kind != kernels.ArgBuffer || b.kept[a.Buf] || b.run.origin(a.Buf) != made || constants[a.Buf] != nil {
				continue
			}
			mem, err := b.d.Alloc(a.Buf.DType(), a.Buf.Len())
			if err != nil {
				return nil, err
			}
			constants[a.Buf] = mem
			b.rec.memory = append(b.rec.memory, mem)
			b.rec.report.ConstantBytes += bytesOf(mem)
		}
		l := capture.Launch{Kernel: n.kernel, Args: slices.Clone(n.args)}
		for i := range l.Args {
			if a := &l.Args[i]; a.Kind == kernels.ArgBuffer && constants[a.Buf] != nil {
				a.Buf = constants[a.Buf]
			}
		}
		launches = append(launches, l)
	}
	b.rec.report.Hoisted = len(launches)
	if len(launches) == 0 {
		return others, nil
	}
	return others, b.launch(launches)
}

// launch does launches now, and waits for them.
func (b *builder) launch(launches []capture.Launch) error {
	if err := b.dev.Claim(); err != nil {
		return err
	}
	defer b.dev.Leave()
	program, err := b.prepare(launches)
	if err != nil {
		return err
	}
	program.Run()
	err = b.d.Sync()
	program.Free()
	return err
}

// use notes that a launch uses memory.
func (b *builder) use(a *kernels.Arg, launch int) {
	if b.kept[a.Buf] || b.run.origin(a.Buf) != made {
		return
	}
	k := b.blocks[a.Buf]
	if k == nil {
		k = &block{dtype: a.Buf.DType(), n: a.Buf.Len(), first: launch, last: launch}
		b.blocks[a.Buf] = k
		b.order = append(b.order, k)
	}
	k.last = launch
}

// place allocates the planned memory and points the launches to it.
func (b *builder) place(constants map[any]kernels.Buffer) error {
	start := time.Now()
	sizes := plan(b.order, chunkBytes)
	b.rec.times.Planning = time.Since(start)
	b.rec.report.TemporaryBytes, b.rec.report.PeakBytes = used(b.order)
	views := make([]map[kernels.DType]kernels.Buffer, len(sizes))
	for i, size := range sizes {
		size = (size + align) / align * align // and never nothing
		mem, err := b.d.Alloc(kernels.Uint8, int(size))
		if err != nil {
			return err
		}
		b.rec.memory = append(b.rec.memory, mem)
		b.rec.report.PlannedBytes += size
		views[i] = map[kernels.DType]kernels.Buffer{}
		for _, k := range b.order {
			if k.chunk == i && views[i][k.dtype] == nil {
				views[i][k.dtype] = b.dev.As(mem, k.dtype)
			}
		}
	}
	for _, l := range b.rec.launches {
		for j := range l.Args {
			a := &l.Args[j]
			if a.Kind != kernels.ArgBuffer {
				continue
			}
			if c := constants[a.Buf]; c != nil {
				a.Buf = c
			} else if k := b.blocks[a.Buf]; k != nil {
				a.Buf = views[k.chunk][k.dtype]
				a.Off += int(k.at / int64(k.dtype.Size()))
			}
		}
	}
	return nil
}

// needs lists the memory that a run finds and leaves: it must be there, and changes are notified.
func (b *builder) needs() {
	seen, changed := map[kernels.Buffer]bool{}, map[kernels.Buffer]bool{}
	for i := range b.run.events {
		e := &b.run.events[i]
		for j := range e.args {
			a := &e.args[j]
			if a.Kind != kernels.ArgBuffer || b.run.origin(a.Buf) == made && !b.kept[a.Buf] {
				continue
			}
			if !seen[a.Buf] {
				seen[a.Buf] = true
				n := need{buf: a.Buf, memory: b.dev.Memory(a.Buf)}
				if n.memory != nil {
					n.moves = n.memory.Moves()
				}
				b.rec.needs = append(b.rec.needs, n)
				if b.kept[a.Buf] {
					b.rec.report.OutputBytes += bytesOf(a.Buf)
				} else {
					b.rec.report.InputBytes += bytesOf(a.Buf)
				}
			}
			if m := b.dev.Memory(a.Buf); m != nil && !changed[a.Buf] && (e.kernel == nil || e.kernel.Params[j].Mode.Written()) {
				changed[a.Buf] = true
				b.rec.changes = append(b.rec.changes, m)
			}
		}
	}
}

// scalars lists the numbers that each run sets, in the order in which the step made them; first those
// that it has from before.
func (b *builder) scalars() error {
	of := map[any][]*turn{}
	add := func(s *kernels.StepScalars, stays bool) {
		t := &turn{scalars: s, stays: stays}
		of[s] = append(of[s], t)
		b.rec.turns = append(b.rec.turns, t)
	}
	for _, s := range b.run.scalars {
		add(s, true)
	}
	for _, s := range b.run.order {
		add(s, false)
	}
	for i := range b.rec.launches {
		l := &b.rec.launches[i]
		for j := range l.Args {
			p := b.run.passed(&l.Args[j])
			if p.owner == nil {
				continue
			}
			if p.since < 0 {
				e := event{kernel: l.Kernel, at: i}
				return fault("Record", ErrDiffers, "%s a number of an earlier step: call StepScalars.Arg in the step",
					e.argument(j))
			}
			t := of[p.owner][p.since]
			t.uses = append(t.uses, use{&l.Args[j], p})
			b.rec.report.StepScalars++
		}
	}
	return nil
}
