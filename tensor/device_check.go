//go:build opencl && cgo

package tensor

import (
	"slices"

	"github.com/clgrad/clgrad/internal/compare"
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
)

// checkDevice runs every launch on a device and on the kernel's host kernel, and compares what they wrote.
type checkDevice struct{ *clDevice }

func newCheckDevice(d *clDevice) *checkDevice { return &checkDevice{d} }

func (d *checkDevice) Name() string { return d.clDevice.Name() + ", checked" }

func (d *checkDevice) gridOf(k *kernels.Kernel, float kernels.DType, args []kernels.Arg) kernels.Grid {
	needHost(k, float)
	return d.clDevice.gridOf(k, float, args)
}

func (d *checkDevice) launch(k *kernels.Kernel, float kernels.DType, args []kernels.Arg) {
	if d.gridOf(k, float, args).Empty() || d.deferred.Load().launch(k, args) {
		return
	}
	// One copy per buffer, whole: arguments may share one, at different offsets.
	hosts := map[kernels.Buffer]*kernels.HostBuffer{}
	hostArgs := make([]kernels.Arg, len(args))
	for i, a := range args {
		hostArgs[i] = a
		if a.Buf == nil {
			continue
		}
		host := hosts[a.Buf]
		if host == nil {
			host = kernels.NewHostBuffer(a.Buf.DType(), a.Buf.Len())
			if d.download(host, a.Buf, 0) != nil {
				return
			}
			hosts[a.Buf] = host
		}
		hostArgs[i].Buf = host
	}
	d.clDevice.launch(k, float, args)
	if fused.Of(k).Kernels == nil {
		d.compareHost(k, args, hostArgs, nil, nil)
		return
	}
	// Each launch of a chain is compared alone, from what the device had before it: what it wrote,
	// if none that follows did.
	var lost []kernels.Arg
	fused.EachLaunch(k, args, func(part *kernels.Kernel, of []kernels.Arg, first int) {
		if d.Err() != nil {
			return
		}
		var after []kernels.Arg
		fused.EachLaunch(k, args, func(later *kernels.Kernel, of []kernels.Arg, at int) {
			for i, p := range later.Params {
				if at > first && p.Mode.Written() {
					after = append(after, of[i])
				}
			}
		})
		lost = d.compareHost(part, of, hostArgs[first:first+len(of)], after, lost)
	})
}

// compareHost runs the host kernel of a launch that the device did, on what its memory held before, and
// compares what they wrote, but for what is written over by launches that the device did after it.
// Of that nobody knows any more what the device made: it is lost, and the results of a launch that
// reads it are not compared. Afterwards the host's memory is what the device left. It returns what
// is lost then.
func (d *checkDevice) compareHost(k *kernels.Kernel, args, hostArgs, after, lost []kernels.Arg) []kernels.Arg {
	meets := func(a kernels.Arg, list []kernels.Arg) bool {
		return slices.ContainsFunc(list, func(b kernels.Arg) bool { return a.Buf == b.Buf && a.Off < b.Off+b.N && b.Off < a.Off+a.N })
	}
	blind := false
	for i, p := range k.Params {
		blind = blind || p.Mode.Read() && meets(args[i], lost)
	}
	float := k.FloatOf(args, d.float)
	margin := compare.MarginOf(k, float, hostArgs)
	k.Run(float, hostArgs)
	for i, p := range k.Params {
		if !p.Mode.Written() {
			continue
		}
		if meets(args[i], after) {
			lost = append(lost, args[i])
			continue
		}
		got := kernels.NewHostBuffer(args[i].Buf.DType(), args[i].N)
		if d.download(got, args[i].Buf, args[i].Off) != nil {
			return lost
		}
		host := hostArgs[i].Buf.(*kernels.HostBuffer)
		want := kernels.NewHostBuffer(args[i].Buf.DType(), args[i].N)
		kernels.CopyHostBuffer(want, 0, host, args[i].Off, args[i].N)
		if index := margin.Differs(i, got, want); index >= 0 && !blind {
			e := &CheckError{Device: d.clDevice.Name(), Kernel: k.Name, Param: p.Name, Index: index,
				Got: got.At(index), Want: want.At(index),
				ULP: kernels.ULPDistance(got.DType(), got.At(index), want.At(index))}
			for _, a := range args {
				if a.Buf != nil {
					e.Sizes = append(e.Sizes, a.N)
				}
			}
			d.core().fail(e)
			return lost
		}
		kernels.CopyHostBuffer(host, args[i].Off, got, 0, args[i].N)
		lost = slices.DeleteFunc(lost, func(a kernels.Arg) bool {
			return a.Buf == args[i].Buf && args[i].Off <= a.Off && a.Off+a.N <= args[i].Off+args[i].N
		})
	}
	return lost
}
