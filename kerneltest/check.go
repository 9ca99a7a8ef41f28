package kerneltest

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/clgrad/clgrad/internal/compare"
	"github.com/clgrad/clgrad/internal/refexec"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// All runs the Cases of kernels on a device, few and small ones if asked for, each with Check. What
// a kernel says of its launches, with Semantics, is computed too, and compared with the host kernel. The
// error says of every kernel what is wrong with the first case that is, or that it has none. Open
// the device with [tensor.Options].SkipSelfTest: otherwise it refuses a faulty kernel itself, at
// the first fault, and is of no use for those after it.
func All(d tensor.Device, few bool, ks ...*kernels.Kernel) error {
	var errs []error
	for i, k := range ks {
		errs = append(errs, cases(d, k, few, uint64(i)))
	}
	return errors.Join(errs...)
}

func cases(d tensor.Device, k *kernels.Kernel, few bool, seed uint64) error {
	if k.Cases == nil || len(k.Cases(few)) == 0 {
		return fmt.Errorf("%s has no test case", k.Name)
	}
	var uses []refexec.Use
	for i, c := range k.Cases(few) {
		o := kernels.NewOperands(d.DefaultType(), seed, uint64(i))
		c.Build(o)
		again := kernels.NewOperands(d.DefaultType(), seed, uint64(i))
		c.Build(again)
		if _, err := Check(d, k, c.Name, o.Args); err != nil { // first: it says what is wrong with arguments
			return err
		}
		of, err := refexec.Check(k, d.DefaultType(), d.Target(), again.Args)
		if err != nil {
			return fmt.Errorf("%s %s: its description: %w", k.Name, c.Name, err)
		}
		uses = refexec.Join(uses, of)
	}
	if uses == nil { // opaque
		return nil
	}
	if err := refexec.Modes(k, uses); err != nil {
		return fmt.Errorf("%s: its description: %w", k.Name, err)
	}
	return nil
}

// Check launches a kernel on a device and holds what it wrote against the host kernel, element by
// element, within the kernel's tolerance. Nothing else may change: not the inputs, not what lies
// around the elements that the arguments, from [kernels.Operands], name. It returns the largest
// difference, in units of the last place of what was expected, and an error that names the first
// element that is wrong, or is the device's. It panics as [tensor.Launch] does.
func Check(d tensor.Device, k *kernels.Kernel, name string, args []kernels.Arg) (worst float64, err error) {
	if !k.Host.For(d.DefaultType()) {
		return 0, fmt.Errorf("%s has no host kernel for %v", k.Name, d.DefaultType())
	}
	label := strings.Join(strings.Fields(k.Name+" "+k.Defines+" "+name), " ")
	onDevice := make([]kernels.Arg, len(args))
	before := make([]*kernels.HostBuffer, len(args))
	for i, a := range args {
		onDevice[i] = a
		if a.Buf == nil {
			continue
		}
		host := a.Buf.(*kernels.HostBuffer)
		buf, err := d.Alloc(host.DType(), host.Len())
		if err != nil {
			return 0, err
		}
		defer d.Release(buf)
		if err := d.Upload(buf, 0, host); err != nil {
			return 0, err
		}
		onDevice[i].Buf = buf
		before[i] = kernels.NewHostBuffer(host.DType(), host.Len())
		kernels.CopyHostBuffer(before[i], 0, host, 0, host.Len())
	}
	tensor.Launch(d, k, onDevice...) // first: it says what is wrong with arguments
	margin := compare.MarginOf(k, d.DefaultType(), args)
	if !k.Grid(args, d.Target()).Empty() {
		k.Run(d.DefaultType(), args)
	}
	for i, p := range k.Params {
		if !p.Mode.Buffer() {
			continue
		}
		first, end := args[i].Off, args[i].Off+args[i].N
		all := kernels.NewHostBuffer(before[i].DType(), before[i].Len())
		if err := d.Download(all, onDevice[i].Buf, 0); err != nil {
			return worst, fmt.Errorf("%s: %w", label, err)
		}
		for j := range all.Len() {
			inside := j >= first && j < end
			if (!inside || !p.Mode.Written()) && !same(all.At(j), before[i].At(j)) {
				return worst, fmt.Errorf("%s: wrote %s[%d], outside its output", label, p.Name, j-first)
			}
		}
		if !p.Mode.Written() {
			continue
		}
		got, want := kernels.NewHostBuffer(all.DType(), args[i].N), kernels.NewHostBuffer(all.DType(), args[i].N)
		kernels.CopyHostBuffer(got, 0, all, first, args[i].N)
		kernels.CopyHostBuffer(want, 0, args[i].Buf.(*kernels.HostBuffer), first, args[i].N)
		for j := range got.Len() {
			if !same(got.At(j), want.At(j)) {
				worst = max(worst, float64(kernels.ULPDistance(got.DType(), got.At(j), want.At(j))))
			}
		}
		if at := margin.Differs(i, got, want); at >= 0 {
			return worst, fmt.Errorf("%s: %s[%d] = %v, host kernel has %v (%d ULP)", label, p.Name, at,
				got.At(at), want.At(at), kernels.ULPDistance(got.DType(), got.At(at), want.At(at)))
		}
	}
	return worst, nil
}

func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
