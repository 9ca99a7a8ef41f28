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
	margin := agree.Of(k, d.real, twinArgs)
	d.clDevice.launch(k, args)
	k.Run(d.Real(), twinArgs)
	for i, p := range k.Params {
		if !p.Mode.Written() {
			continue
		}
		got := kernels.NewMem(args[i].Buf.DType(), args[i].N)
		if d.download(got, args[i].Buf, args[i].Off) != nil {
			return
		}
		want := kernels.NewMem(args[i].Buf.DType(), args[i].N)
		kernels.CopyMem(want, 0, hosts[args[i].Buf], args[i].Off, args[i].N)
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
	}
}
