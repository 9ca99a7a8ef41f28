package kerneltest

import (
	"fmt"
	"math"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// Check launches a kernel on a device and holds what it wrote against the Go twin, element by element, within the
// kernel's tolerance. Nothing else may change: not the inputs, not a guard. It returns the largest difference, in
// units of the last place of what was expected, and an error that names the first element that is wrong.
func Check(d tensor.Device, k *kernels.Kernel, name string, args []kernels.Arg) (worst float64, err error) {
	scale := math.NaN()
	if k.Tol.Scale != nil {
		scale = k.Tol.Scale(args)
	}
	onDevice := make([]kernels.Arg, len(args))
	before := make([]*kernels.Mem, len(args))
	for i, a := range args {
		onDevice[i] = a
		if a.Buf == nil {
			continue
		}
		host := a.Buf.(*kernels.Mem)
		buf, err := d.Alloc(host.DType(), host.Len())
		if err != nil {
			return 0, err
		}
		defer d.Release(buf)
		if err := d.Upload(buf, 0, host); err != nil {
			return 0, err
		}
		onDevice[i].Buf = buf
		before[i] = kernels.NewMem(host.DType(), host.Len())
		kernels.CopyMem(before[i], 0, host, 0, host.Len())
	}
	launched := append([]kernels.Arg(nil), onDevice...)
	if !k.Grid(args, d.Limits()).Empty() {
		tensor.Launch(d, k, launched...)
		k.Run(d.Real(), args)
	}
	for i, p := range k.Params {
		if !p.Mode.Buffer() {
			continue
		}
		all := kernels.NewMem(before[i].DType(), before[i].Len())
		if err := d.Download(all, onDevice[i].Buf, 0); err != nil {
			return worst, fmt.Errorf("%s %s: %w", k.Name, name, err)
		}
		for j := range all.Len() {
			inside := j >= guard && j < guard+args[i].N
			if (!inside || !p.Mode.Written()) && !same(all.At(j), before[i].At(j)) {
				return worst, fmt.Errorf("%s %s: wrote %s[%d], outside its output", k.Name, name, p.Name, j-guard)
			}
		}
		if !p.Mode.Written() {
			continue
		}
		got, want := kernels.NewMem(all.DType(), args[i].N), kernels.NewMem(all.DType(), args[i].N)
		kernels.CopyMem(got, 0, all, guard, args[i].N)
		kernels.CopyMem(want, 0, args[i].Buf.(*kernels.Mem), guard, args[i].N)
		for j := range got.Len() {
			if !same(got.At(j), want.At(j)) {
				worst = max(worst, float64(kernels.ULPDistance(got.DType(), got.At(j), want.At(j))))
			}
		}
		if at := tensor.Compare(k, got, want, scale); at >= 0 {
			return worst, fmt.Errorf("%s %s %s: %s[%d] = %v, twin has %v (%d ULP)", k.Name, k.Defines, name, p.Name, at,
				got.At(at), want.At(at), kernels.ULPDistance(got.DType(), got.At(at), want.At(at)))
		}
	}
	return worst, nil
}

func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
