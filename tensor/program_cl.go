//go:build opencl && cgo

package tensor

import (
	"slices"
	"time"

	"github.com/clgrad/clgrad/clrt"
	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
)

// clProgram is launches that an OpenCL device runs again, in one crossing into C.
type clProgram struct {
	dev      *clDevice
	prepared *clrt.Prepared
	dynamic  []dynamicLaunch
	held     []capture.Launch // kernel objects do not hold the memory of their arguments
}

// dynamicLaunch is a launch with numbers that are step scalars.
type dynamicLaunch struct {
	launch  *capture.Launch
	at      int             // among the prepared
	form    *kernels.Kernel // that was built for it
	target  kernels.Target  // of that form
	float   kernels.DType
	grid    kernels.Grid
	numbers []dynamicArg
}

type dynamicArg struct{ arg, change int }

func (d *clDevice) prepare(launches []capture.Launch, built func(string, time.Duration)) (capture.Program, error) {
	p := &clProgram{dev: d, prepared: d.dev.Prepare(), held: launches}
	for i := range launches {
		k := launches[i].Kernel
		start, known := time.Now(), d.entries.has(k, k.FloatOf(launches[i].Args, d.float))
		err := p.add(&launches[i])
		if !known {
			built(k.Name, time.Since(start))
		}
		if err != nil {
			p.Free()
			return nil, err
		}
	}
	return p, nil
}

// add prepares a launch. One without work-items is left out, unless its numbers may bring some.
func (p *clProgram) add(l *capture.Launch) error {
	d := p.dev
	changes := slices.ContainsFunc(l.Args, func(a kernels.Arg) bool { of, _, _ := a.StepScalar(); return of != nil })
	float := l.Kernel.FloatOf(l.Args, d.float)
	entry := d.ready(l.Kernel, float, l.Args)
	if err := d.Err(); err != nil || entry == nil && !changes {
		return err
	}
	if entry == nil {
		var err error
		if entry, err = d.entries.get(l.Kernel, float); err != nil {
			return err
		}
		d.grid = kernels.Grid{}
	}
	c := dynamicLaunch{launch: l, form: l.Kernel, target: d.target, float: float, grid: d.grid}
	if entry.replacement != nil {
		c.form, c.target = entry.replacement, entry.target
	}
	built := entry.built
	passes := func(int) (argument, offset bool) { return true, true }
	if f := p.settled(l, entry); f != nil { // where a driver does not build it, the form for any launch is there
		if own, err := d.build(f.Kernel, float); err == nil {
			defer d.dev.Release(own)
			built = own
			passes = func(i int) (argument, offset bool) { return slices.Contains(f.Args, i), false }
		}
	}
	var args []clrt.Arg
	places := make([]int, len(l.Args)) // among what is passed
	for i := range l.Args {
		places[i] = len(args)
		own := appendArg(nil, l.Kernel.Params[i].Mode, float, &l.Args[i])
		argument, offset := passes(i)
		if argument {
			args = append(args, own[0])
		}
		if offset {
			args = append(args, own[1:]...)
		}
	}
	var err error
	c.at, err = p.prepared.Add(built, d.grid.Global[:d.grid.Dims], d.grid.Local[:d.grid.Dims], args, movedBytes(l.Kernel, l.Args))
	if err != nil || !changes {
		return err
	}
	for i := range l.Args {
		if of, _, _ := l.Args[i].StepScalar(); of != nil {
			c.numbers = append(c.numbers, dynamicArg{i, p.prepared.Change(c.at, places[i])})
		}
	}
	p.dynamic = append(p.dynamic, c)
	return nil
}

// settled returns the form of a launch's kernel for the arguments that it has in all runs; nil if
// there is none.
func (p *clProgram) settled(l *capture.Launch, entry *entry[*clrt.Kernel]) *fused.Specialized {
	if p.dev.target.CPU || entry.replacement != nil {
		return nil
	}
	return fused.Specialize(l.Kernel, l.Args, p.dev.target,
		func(a, b kernels.Buffer) bool { return a.(*clBuffer).Buffer == b.(*clBuffer).Buffer })
}

func (p *clProgram) Run() {
	d := p.dev
	if d.Err() != nil {
		return
	}
	for i := range p.dynamic {
		c := &p.dynamic[i]
		for _, n := range c.numbers {
			p.prepared.Set(n.change, numberArg(c.launch.Kernel.Params[n.arg].Mode, c.float, &c.launch.Args[n.arg]))
		}
		// A number may say how many work-items there are.
		if d.grid = c.form.Grid(c.launch.Args, c.target); d.grid != c.grid {
			c.grid = d.grid
			dims := d.grid.Dims
			if d.grid.Empty() {
				dims = 0
			}
			p.prepared.SetGrid(c.at, d.grid.Global[:dims], d.grid.Local[:dims])
		}
	}
	d.fail(p.prepared.Run())
}

func (p *clProgram) Loop(n int) error { return p.prepared.Loop(n) }

func (p *clProgram) Free() { p.prepared.Free() }

func (d *clDevice) as(b kernels.Buffer, t kernels.DType) kernels.Buffer {
	c := b.(*clBuffer)
	return &clBuffer{Buffer: c.Buffer, dev: d, dtype: t, n: c.n * c.dtype.Size() / t.Size()}
}

// Capture returns what the device does for recordings. Package replay asks for it.
func (d *clDevice) Capture() capture.Device { return captureDevice{d} }

// Capture returns what the device does for recordings. Package replay asks for it.
func (d *checkDevice) Capture() capture.Device { return captureDevice{d} }

// checkProgram is launches that are run again, each beside its host kernel.
type checkProgram struct {
	dev      *checkDevice
	launches []capture.Launch
}

func (d *checkDevice) prepare(launches []capture.Launch, _ func(string, time.Duration)) (capture.Program, error) {
	return &checkProgram{d, launches}, d.Err()
}

func (p *checkProgram) Run() {
	for _, l := range p.launches {
		if p.dev.Err() != nil {
			return
		}
		p.dev.launch(l.Kernel, l.Kernel.FloatOf(l.Args, p.dev.float), l.Args)
	}
}

func (p *checkProgram) Loop(n int) error {
	for range n {
		p.Run()
	}
	return p.dev.Err()
}

func (p *checkProgram) Free() {}
