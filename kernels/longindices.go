package kernels

import (
	"fmt"
	"slices"
	"sync"
)

var longIndices sync.Map // by longKey

type longKey struct {
	kernel *Kernel
	param  int
}

// LongIndices returns the form of a kernel of which parameter i, indices that are declared with INDEX as
// their type, is memory of Int64 instead of Int32. It is alone: nothing is fused with it.
func (k *Kernel) LongIndices(i int) *Kernel {
	key := longKey{k, i}
	if made, ok := longIndices.Load(key); ok {
		return made.(*Kernel)
	}
	form := *k
	form.Defines = fmt.Sprint(k.Defines, " -DINDEX=long")
	form.Params = slices.Clone(k.Params)
	form.Params[i].Mode = k.Params[i].Mode.Access().Of(Int64)
	form.Fusions, form.Variants, form.typed = nil, nil, [dtypes]*Kernel{} // they take indices of Int32
	form.Host = HostKernel{F32: longReference(k, i, k.Host.F32), F64: longReference(k, i, k.Host.F64)}
	if k.Cases != nil {
		form.Cases = func(few bool) []Case {
			cases := k.Cases(few)
			for j, c := range cases {
				cases[j].Build = func(o *Operands) {
					c.Build(o)
					o.Args[i] = o.Args[i].converted(Int64)
				}
			}
			return cases
		}
	}
	made, _ := longIndices.LoadOrStore(key, &form)
	return made.(*Kernel)
}

// longReference returns the Go code of a kernel, which takes indices of Int32, for indices of Int64.
func longReference[T Element](k *Kernel, i int, run func(HostArgs[T])) func(HostArgs[T]) {
	if run == nil {
		return nil
	}
	return func(c HostArgs[T]) {
		args := slices.Clone(c.args)
		long := Elements[int64](c, i)
		short := NewHostBuffer(Int32, len(long))
		args[i] = BufferArg(short, 0, len(long))
		ints := Slice[int32](short, 0, len(long))
		if k.Params[i].Mode.Read() {
			c.Parallel(len(long), 1, func(lo, hi int) {
				for j, v := range long[lo:hi] {
					ints[lo+j] = int32(v)
				}
			})
		}
		run(c.With(args, false))
		if k.Params[i].Mode.Written() {
			c.Parallel(len(long), 1, func(lo, hi int) {
				for j, v := range ints[lo:hi] {
					long[lo+j] = int64(v)
				}
			})
		}
	}
}

// converted returns an argument that is host memory as one of another type, guards and all.
func (a Arg) converted(t DType) Arg {
	from := a.Buf.(*HostBuffer)
	to := NewHostBuffer(t, from.Len())
	for i := range from.Len() {
		to.Set(i, from.At(i))
	}
	return BufferArg(to, a.Off, a.N)
}
