package tensor

import (
	"fmt"
	"math"

	"github.com/clgrad/clgrad/kernels"
)

// CheckError is the first launch in check mode whose result differs from the Go twin's.
type CheckError struct {
	Device, Kernel string
	Param          string // the output that differs
	Sizes          []int  // elements of each buffer argument
	Index          int    // first element of it that differs
	Got, Want      float64
	ULP            int64  // representable reals between them
	Node           string // the graph node that asked for the launch, once known
}

// Error names the kernel, the element and both values.
func (e *CheckError) Error() string {
	node := ""
	if e.Node != "" {
		node = " for node " + e.Node
	}
	return fmt.Sprintf("tensor: check: %s on %s%s, buffers of %v elements: %s[%d] is %v, its Go twin has %v (%d ULP apart)",
		e.Kernel, e.Device, node, e.Sizes, e.Param, e.Index, e.Got, e.Want, e.ULP)
}

// checkDevice runs every launch on a device and on the kernel's twin, and compares what they wrote.
type checkDevice struct {
	Device
}

func newCheckDevice(d Device) *checkDevice { return &checkDevice{d} }

func (d *checkDevice) Name() string { return d.Device.Name() + ", checked" }

func (d *checkDevice) Launch(k *kernels.Kernel, args ...kernels.Arg) {
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
			if d.Device.Download(host, a.Buf, 0) != nil {
				return
			}
			hosts[a.Buf] = host
		}
		twinArgs[i].Buf = host
	}
	scale := math.NaN()
	if k.Tol.Scale != nil {
		scale = k.Tol.Scale(twinArgs)
	}
	d.Device.Launch(k, args...)
	k.Run(d.Real(), twinArgs)
	for i, p := range k.Params {
		if !p.Mode.Written() {
			continue
		}
		got := kernels.NewMem(args[i].Buf.DType(), args[i].N)
		if d.Device.Download(got, args[i].Buf, args[i].Off) != nil {
			return
		}
		want := kernels.NewMem(args[i].Buf.DType(), args[i].N)
		kernels.CopyMem(want, 0, hosts[args[i].Buf], args[i].Off, args[i].N)
		if index := Compare(k, got, want, scale); index >= 0 {
			e := &CheckError{Device: d.Device.Name(), Kernel: k.Name, Param: p.Name, Index: index,
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

// Compare returns the index of the first element of got that k's tolerance does not accept for want, or
// −1. A scale of NaN stands for the largest finite magnitude in want.
func Compare(k *kernels.Kernel, got, want *kernels.Mem, scale float64) int {
	if math.IsNaN(scale) {
		scale = 0
		for i := range want.Len() {
			if v := math.Abs(want.At(i)); v > scale && !math.IsInf(v, 0) {
				scale = v
			}
		}
	}
	for i := range want.Len() {
		if !k.Tol.Accepts(want.DType(), got.At(i), want.At(i), scale) {
			return i
		}
	}
	return -1
}
