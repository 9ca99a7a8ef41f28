//go:build opencl && cgo

package tensor

import (
	"github.com/clgrad/clgrad/internal/agree"
	"github.com/clgrad/clgrad/kernels"
)

// checkDevice runs every launch on a device and on the kernel's twin, and compares what they wrote.
type checkDevice struct{ *clDevice }

func newCheckDevice(d *clDevice) *checkDevice { return &checkDevice{d} }

func (d *checkDevice) Name() string { return d.clDevice.Name() + ", checked" }

func (d *checkDevice) launch(k *kernels.Kernel, args []kernels.Arg) {
	needTwin(k, d.real)
	if k.Grid(args, d.Limits()).Empty() {
		return
	}
	// One copy per buffer, whole: arguments may share one, at different offsets.
	hosts := map[kernels.Buffer]*kernels.Mem{}
	twinArgs := make([]kernels.Arg, len(args))
	for i, a := range args {
		twinArgs[i] = a
		if a.Buf == nil {
			continue
		}
		host := hosts[a.Buf]
		if host == nil {
			host = kernels.NewMem(a.Buf.DType(), a.Buf.Len())
			if d.download(host, a.Buf, 0) != nil {
				return
			}
			hosts[a.Buf] = host
		}
		twinArgs[i].Buf = host
	}
	d.clDevice.launch(k, args)
	if k.Chain == nil {
		d.compareTwin(k, args, twinArgs, nil)
		return
	}
	// Each launch of a chain is compared alone, from what the device had before it: what it wrote, if none that follows did.
	k.EachPart(args, func(part *kernels.Kernel, of []kernels.Arg, first int) {
		if d.Err() == nil {
			d.compareTwin(part, of, twinArgs[first:first+len(of)], func(a kernels.Arg) bool {
				over := false
				k.EachPart(args, func(later *kernels.Kernel, of []kernels.Arg, at int) {
					for i, p := range later.Params {
						over = over || at > first && p.Mode.Written() && of[i].Buf == a.Buf && of[i].Off < a.Off+a.N && a.Off < of[i].Off+of[i].N
					}
				})
				return over
			})
		}
	})
}

// compareTwin runs the twin of a launch that the device did, on what its memory held before, and compares what they wrote. Of a
// launch that others followed, over says which arguments those wrote to: they are not compared. Afterwards the host's memory
// is what the device left.
func (d *checkDevice) compareTwin(k *kernels.Kernel, args, twinArgs []kernels.Arg, over func(kernels.Arg) bool) {
	margin := agree.Of(k, d.real, twinArgs)
	k.Run(d.Real(), twinArgs)
	for i, p := range k.Params {
		if !p.Mode.Written() || over != nil && over(args[i]) {
			continue
		}
		got := kernels.NewMem(args[i].Buf.DType(), args[i].N)
		if d.download(got, args[i].Buf, args[i].Off) != nil {
			return
		}
		host := twinArgs[i].Buf.(*kernels.Mem)
		want := kernels.NewMem(args[i].Buf.DType(), args[i].N)
		kernels.CopyMem(want, 0, host, args[i].Off, args[i].N)
		if index := margin.Differs(i, got, want); index >= 0 {
			e := &CheckError{Device: d.clDevice.Name(), Kernel: k.Name, Param: p.Name, Index: index,
				Got: got.At(index), Want: want.At(index),
				ULP: kernels.ULPDistance(got.DType(), got.At(index), want.At(index))}
			for _, a := range args {
				if a.Buf != nil {
					e.Sizes = append(e.Sizes, a.N)
				}
			}
			d.core().fail(e)
			return
		}
		kernels.CopyMem(host, args[i].Off, got, 0, args[i].N)
	}
}
