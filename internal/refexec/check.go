package refexec

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/clgrad/clgrad/internal/compare"
	"github.com/clgrad/clgrad/kernels"
)

// Check holds what a kernel says of a launch, with args as host memory, to what its host kernel computes,
// within the kernel's tolerance, and to the modes of its parameters: what is only read is not
// written, and what is only written is written whole, before it is read. Neither changes args. The
// error is nil, and so are uses, for a launch that is opaque or has no work-item on a device with
// the limits l.
func Check(k *kernels.Kernel, float kernels.DType, l kernels.Target, args []kernels.Arg) (uses []Use, err error) {
	if k.Semantics == nil || k.Grid(args, l).Empty() {
		return nil, nil
	}
	list := k.Semantics(blind(args, 1))
	if len(list) == 0 {
		return nil, nil
	}
	if !reflect.DeepEqual(list, k.Semantics(blind(args, 2))) {
		return nil, errors.New("it depends on a float that the launch passes: name the argument, with operation.ArgScalar")
	}
	margin := compare.MarginOf(k, float, args)
	got, want := clone(args), clone(args)
	k.Run(float, want)
	if uses, err = Run(list, float, got); err != nil {
		return nil, err
	}
	for i, p := range k.Params {
		switch {
		case uses[i].Written && !p.Mode.Written():
			return nil, fmt.Errorf("it writes %s, which the kernel only reads", p.Name)
		case uses[i].Kept && writtenWhole(p.Mode) && args[i].N > 0:
			return nil, fmt.Errorf("it reads %s, or leaves elements of it, which the kernel only writes, all of them", p.Name)
		}
	}
	for i, p := range k.Params {
		if !p.Mode.Buffer() {
			continue
		}
		if at := margin.Differs(i, part(got[i]), part(want[i])); at >= 0 {
			return nil, fmt.Errorf("%s[%d] = %v, the kernel computes %v", p.Name, at, got[i].At(at), want[i].At(at))
		}
	}
	return uses, nil
}

// blind returns arguments with memory that cannot be looked at, and floats that are those times a
// factor, and more.
func blind(args []kernels.Arg, factor float64) []kernels.Arg {
	out := slices.Clone(args)
	for i, a := range args {
		switch a.Kind {
		case kernels.ArgBuffer:
			out[i].Buf = unseen{a.Buf.DType(), a.Buf.Len()}
		case kernels.ArgFloat:
			out[i].Float = a.Float*factor + factor - 1
		}
	}
	return out
}

// unseen is memory without contents, such as that of a device.
type unseen struct {
	typ kernels.DType
	n   int
}

func (b unseen) DType() kernels.DType { return b.typ }
func (b unseen) Len() int             { return b.n }

// writtenWhole reports whether the kernel writes all of a parameter, and does not read it.
func writtenWhole(m kernels.Mode) bool {
	return m.Written() && !m.Read()
}

// clone copies the memory of arguments; those that share some share the copy.
func clone(args []kernels.Arg) []kernels.Arg {
	copies := map[*kernels.HostBuffer]*kernels.HostBuffer{}
	out := make([]kernels.Arg, len(args))
	for i, a := range args {
		if out[i] = a; a.Kind != kernels.ArgBuffer {
			continue
		}
		host := a.Buf.(*kernels.HostBuffer)
		if copies[host] == nil {
			copies[host] = kernels.NewHostBuffer(host.DType(), host.Len())
			kernels.CopyHostBuffer(copies[host], 0, host, 0, host.Len())
		}
		out[i].Buf = copies[host]
	}
	return out
}

// part is the elements that an argument names.
func part(a kernels.Arg) *kernels.HostBuffer {
	host := a.Buf.(*kernels.HostBuffer)
	m := kernels.NewHostBuffer(host.DType(), a.N)
	kernels.CopyHostBuffer(m, 0, host, a.Off, a.N)
	return m
}

// Join returns what either of two launches of a kernel does with its arguments; either may be nil.
func Join(a, b []Use) []Use {
	if len(a) == 0 || len(b) == 0 {
		return append(a, b...)
	}
	for i, u := range b {
		a[i] = Use{a[i].Read || u.Read, a[i].Written || u.Written, a[i].Kept || u.Kept, a[i].Empty && u.Empty}
	}
	return a
}

// Modes returns which parameter of a kernel none of its launches uses as its mode says, from the
// uses of all, or nil.
func Modes(k *kernels.Kernel, uses []Use) error {
	for i, p := range k.Params {
		switch {
		case !p.Mode.Buffer():
		case len(uses) == 0:
			return fmt.Errorf("no launch says what it does with %s", p.Name)
		case p.Mode.Written() && !uses[i].Written:
			return fmt.Errorf("no launch says that it writes %s", p.Name)
		case !p.Mode.Written() && !uses[i].Read && !uses[i].Empty:
			return fmt.Errorf("no launch says that it reads %s", p.Name)
		}
	}
	return nil
}
