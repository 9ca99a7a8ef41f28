//go:build opencl && cgo

package tensor

import (
	"fmt"
	"math/bits"

	"github.com/clgrad/clgrad/clrt"
	"github.com/clgrad/clgrad/internal/compare"
	"github.com/clgrad/clgrad/internal/selftestargs"
	"github.com/clgrad/clgrad/kernels"
)

// sizeClass gives launches whose buffers have about four times as many elements different classes.
// Those of class 0 are no larger than the small launches of a trial.
func sizeClass(args []kernels.Arg) uint {
	n := 0
	for i := range args {
		n += args[i].N
	}
	return uint(bits.Len(uint(n>>11))+1) / 2
}

// try tries a kernel before a launch, in the size class of args: with small operands, unless that
// was done, and with operands like args. If its results are wrong, a variant whose results are
// right takes its place in the entry. The error says that there is none.
func (d *clDevice) try(k *kernels.Kernel, float kernels.DType, e *entry[*clrt.Kernel], class uint, args []kernels.Arg) error {
	if e.target.MaxGroup == 0 {
		e.target = d.target
	}
	if !k.Host.For(float) {
		e.tried |= 1 << class
		return nil
	}
	now := k
	if e.replacement != nil {
		now = e.replacement
	}
	bad := d.agrees(e.built, now, float, e.target, class, args)
	if bad == nil {
		e.tried |= 1 << class
		return nil
	}
	for _, v := range d.variants(k, float) {
		if v.k == now && v.target.CPU == e.target.CPU {
			continue
		}
		built, err := d.buildFor(v.k, float, v.target)
		if err != nil {
			continue
		}
		if d.launches(built, v.k, float, v.target) && d.agrees(built, v.k, float, v.target, class, args) == nil {
			d.dev.Release(e.built)
			e.built, e.replacement, e.target = built, v.k, v.target
			e.tried = 1<<class | 1 // the other sizes were tried with another kernel
			return nil
		}
		d.dev.Release(built)
	}
	return bad
}

func (d *clDevice) selfTest(k *kernels.Kernel, args []kernels.Arg) error {
	if d.trials == nil || d.Err() != nil {
		return nil
	}
	d.enter("Try")
	defer d.leave()
	float := k.FloatOf(args, d.float)
	if d.builds != nil && !d.entries.has(k, float) {
		d.builds.Building(k.Name)
		defer d.builds.Built()
	}
	e, err := d.entries.get(k, float)
	if err != nil {
		return err
	}
	return d.try(k, float, e, sizeClass(args), args)
}

// variant is a form of a kernel: one of its variants, or the kernel itself for the other kind of
// device.
type variant struct {
	k      *kernels.Kernel
	target kernels.Target
}

// variants returns the forms that may take the place of k.
func (d *clDevice) variants(k *kernels.Kernel, float kernels.DType) []variant {
	other := d.target
	other.CPU = !other.CPU
	if k.Variants == nil {
		if k.GPU == "" {
			return nil
		}
		return []variant{{k, other}}
	}
	const most = 3 // each is compiled
	var all []variant
	for _, l := range []kernels.Target{other, d.target} {
		for i, v := range k.Variants(float, l) {
			if i < most {
				all = append(all, variant{v, l})
			}
		}
	}
	return all
}

// agrees compares what a form of k writes with its host kernel, in small launches and in one like args,
// which is a small one itself where k has no others, and remembers a success, but of a host kernel of
// another module. A launch that the device refuses, for want of memory, proves nothing.
func (d *clDevice) agrees(built *clrt.Kernel, k *kernels.Kernel, float kernels.DType, l kernels.Target, class uint, args []kernels.Arg) error {
	src, err := d.source(k, float, l)
	if err != nil {
		return err
	}
	keeps := !k.Host.Foreign() // a trial of another host kernel is none
	run := func(class uint, operands func() ([]*kernels.Operands, error)) error {
		key := d.trials.key(src.Text, src.Options, k.Name, fmt.Sprint(class))
		if keeps && d.trials.has(key) {
			return nil
		}
		tried := false
		for _, o := range operandsOf(k, operands) {
			if k.Grid(o.Args, l).Empty() {
				continue
			}
			ran, err := d.compare(built, k, float, l, o)
			if err != nil {
				return err
			}
			tried = tried || ran
		}
		if tried && keeps {
			d.trials.add(key)
		}
		return nil
	}
	like := func() ([]*kernels.Operands, error) {
		o, err := selftestargs.Like(k, args, float)
		if o == nil {
			return nil, err
		}
		return []*kernels.Operands{o}, err
	}
	small := func() ([]*kernels.Operands, error) {
		all, err := selftestargs.Small(k, float)
		if class == 0 && len(all) == 0 && err == nil { // a kernel made for a launch says nothing of others
			return like()
		}
		return all, err
	}
	if err := run(0, small); err != nil || class == 0 {
		return err
	}
	return run(class, like)
}

// operandsOf returns operands of a trial of k. It panics with ErrArgument if those that k supplies
// are no launch's.
func operandsOf(k *kernels.Kernel, operands func() ([]*kernels.Operands, error)) []*kernels.Operands {
	all, err := operands()
	if err != nil {
		badArg(k, "cannot be tried: %v", err)
	}
	return all
}

// runHost runs the host kernel of k on operands of a trial. A panic of it becomes one with ErrArgument
// that says so: the caller, whose launch the host kernel has not seen, would look for the fault there.
func runHost(k *kernels.Kernel, float kernels.DType, args []kernels.Arg) {
	defer func() {
		if p := recover(); p != nil {
			badArg(k, "its host kernel panics on the operands of its SelfTest or Cases: %v", p)
		}
	}()
	k.Run(float, args)
}

// launches reports whether the device runs a form of k at all.
func (d *clDevice) launches(built *clrt.Kernel, k *kernels.Kernel, float kernels.DType, l kernels.Target) bool {
	for _, o := range operandsOf(k, func() ([]*kernels.Operands, error) { return selftestargs.Small(k, float) }) {
		if !k.Grid(o.Args, l).Empty() && d.runDetached(built, k, l, o.Args) != nil {
			return false
		}
	}
	return true
}

// compare runs a form of k and its host kernel on operands. It reports whether the device ran it; the
// error is the first element that differs.
func (d *clDevice) compare(built *clrt.Kernel, k *kernels.Kernel, float kernels.DType, l kernels.Target, o *kernels.Operands) (ran bool, err error) {
	margin := compare.MarginOf(k, float, o.Args)
	onDevice := make([]kernels.Arg, len(o.Args))
	for i, a := range o.Args {
		onDevice[i] = a
		if host, ok := a.Buf.(*kernels.HostBuffer); ok {
			copied := kernels.NewHostBuffer(host.DType(), host.Len())
			kernels.CopyHostBuffer(copied, 0, host, 0, host.Len())
			onDevice[i].Buf = copied
		}
	}
	if d.runDetached(built, k, l, onDevice) != nil {
		return false, nil
	}
	runHost(k, float, o.Args)
	for i, p := range k.Params {
		if !p.Mode.Buffer() {
			continue
		}
		got, want := onDevice[i].Buf.(*kernels.HostBuffer), o.Args[i].Buf.(*kernels.HostBuffer)
		index := outside(got, want, o.Args[i].Off)
		if index < 0 {
			if index = margin.Differs(i, inside(got, o.Args[i]), inside(want, o.Args[i])); index < 0 {
				continue
			}
			index += o.Args[i].Off
		}
		info := d.dev.Info()
		bad := &MiscompileError{Device: d.Name(), Driver: info.Driver, Kernel: k.Name, Param: p.Name, Index: index - o.Args[i].Off,
			Got: got.At(index), Want: want.At(index)}
		for _, a := range o.Args {
			if a.Buf != nil {
				bad.Sizes = append(bad.Sizes, a.N)
			}
		}
		return true, bad
	}
	return true, nil
}

// inside returns the elements that an argument names.
func inside(m *kernels.HostBuffer, a kernels.Arg) *kernels.HostBuffer {
	in := kernels.NewHostBuffer(m.DType(), a.N)
	kernels.CopyHostBuffer(in, 0, m, a.Off, a.N)
	return in
}

// outside returns the index of the first element that differs of the guard elements at either end,
// or −1.
func outside(got, want *kernels.HostBuffer, guard int) int {
	for i := range guard {
		for _, at := range []int{i, got.Len() - 1 - i} {
			if got.At(at) != want.At(at) {
				return at
			}
		}
	}
	return -1
}
