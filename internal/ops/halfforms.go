package ops

import (
	"slices"
	"strings"
	"sync"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/lower"
	"github.com/clgrad/clgrad/internal/parallel"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/ir"
)

// OfTypes returns the form of a kernel for the buffers of a launch: k, unless some are floats of 16 bits. Those
// are read and written as they lie, and computed in float32. Sums, scans, products, convolutions, pools,
// interpolations and attention have such forms, whose files include memory.cl. Operands of 16 bits have one type,
// and so have results.
func OfTypes(k *kernels.Kernel, args []kernels.Arg) *kernels.Kernel {
	last := 0
	for i := 0; i < min(len(args), halfBuffers) && args[i].Buf != nil; i++ {
		if args[i].Buf.DType().Half() {
			last = i + 1
		}
	}
	if last == 0 {
		return k
	}
	types := make([]kernels.DType, last)
	for i := range types {
		if t := args[i].Buf.DType(); t.Half() {
			types[i] = t
		}
	}
	return ofTypes(k, types...)
}

// halfBuffers is how many buffers a kernel has at most of which some may be of 16 bits: they are its first arguments.
const halfBuffers = 9

type halfKey struct {
	k     *kernels.Kernel
	types [halfBuffers]kernels.DType
}

var halfForms sync.Map // of *kernels.Kernel, by halfKey

// ofTypes returns the form for buffers of some types, by argument; those past the last are floats or ints.
func ofTypes(k *kernels.Kernel, types ...kernels.DType) *kernels.Kernel {
	key := halfKey{k: k}
	copy(key.types[:], types)
	if made, ok := halfForms.Load(key); ok {
		return made.(*kernels.Kernel)
	}
	made, _ := halfForms.LoadOrStore(key, (&halfForm{k: k, types: types}).kernel())
	return made.(*kernels.Kernel)
}

// halfForm is a form of a kernel.
type halfForm struct {
	k       *kernels.Kernel
	types   []kernels.DType
	images  int  // the argument that counts the images of buffers, or none
	planes  bool // every buffer has a part for each of them, and a goroutine computes some
	product bool // of matrices, whose operands are of 16 bits or floats each
	scratch sync.Pool

	attention AttentionShape // of a kernel of attention
}

// kernel returns the form. Formulas of its text, and other launches of sums, are not joined with it.
func (f *halfForm) kernel() *kernels.Kernel {
	f.types = slices.Clone(f.types)
	form := *f.k
	forms := fused.Of(f.k)
	forms.AsElementwise, forms.Rows = nil, nil
	form.Params = slices.Clone(f.k.Params)
	defines, half := []string{f.k.Defines}, [2]kernels.DType{}
	for i, t := range f.types {
		if t.Half() {
			way := 0
			if form.Params[i].Mode.Written() {
				way = 1
			}
			form.Params[i].Mode, half[way] = form.Params[i].Mode.Of(t), t
		}
	}
	for i, t := range half {
		if t.Half() {
			defines = append(defines, []string{"-DX_HALF=", "-DY_HALF="}[i]+t.String())
		}
	}
	if f.product = strings.HasPrefix(f.k.File, "gemm_cpu"); f.product {
		for i, p := range form.Params[:gemmC] {
			if half[0].Half() && (i >= len(f.types) || !f.types[i].Half()) {
				defines = append(defines, "-D"+p.Name+"_FLOAT")
			}
		}
		form.GPU, form.GPUText = "", "" // no other device has one
		if stores := *forms.Epilogue; half[1].Half() {
			stores.Before = nil // long sums are added up elsewhere
			forms.Epilogue = &stores
		}
	}
	form.Defines = strings.TrimSpace(strings.Join(defines, " "))
	if tol := &form.Tol; half[1].Half() && (tol.ULP > 0 || tol.Rel > 0) {
		eps, _ := half[1].Epsilon()
		single, _ := kernels.Float32.Epsilon()
		// Results that are n units apart after rounding were more than n − 1 apart before: half of n, from two units on.
		tol.ULP, tol.Rel = 1, 2*tol.Rel*single/eps
		if bound := tol.Bound; bound != nil {
			tol.Bound = func(t kernels.DType, args []kernels.Arg) func(param, i int) float64 {
				within := bound(t, args)
				return func(param, i int) float64 { return 2 * within(param, i) }
			}
		}
	}
	form.Cases = func(few bool) (cases []kernels.Case) {
		for _, c := range f.k.Cases(few) {
			if c, ok := f.toHalves(c, half[1].Half()); ok {
				cases = append(cases, c)
			}
		}
		return cases
	}
	if f.k.Variants != nil {
		form.Variants = func(t kernels.DType, l kernels.Target) (others []*kernels.Kernel) {
			for _, k := range f.k.Variants(t, l) {
				others = append(others, ofTypes(k, f.types...))
			}
			return others
		}
	}
	f.images = none
	for i, p := range f.k.Params {
		switch p.Name {
		case "outer":
			f.images, f.planes = i, true
		case "transposed":
			f.images = convNumbers
		}
	}
	f.attention = attentionShapeOf(f.k)
	run := f.run
	switch {
	case f.product:
		run = f.multiply
	case f.k == Sum:
		forms.Epilogue, run = nil, f.chunks
	case f.k == SumAxis:
		b := ir.NewRows("sum_axis") // whose arguments begin as those of SumAxis
		b.Result("Y", b.Sum(b.Input("X", ir.Outer, ir.N, ir.Inner), ir.N))
		forms.Epilogue, run = nil, lower.Halves(b.Program(), f.types, f.k.Host.F32)
	}
	if f.k.Name == "k_scan" {
		run = f.scanShares
	}
	form.Fusions, form.Host = forms, kernels.HostKernel{F32: run}
	return &form
}

// toHalves returns a case in the types of the form, of which nothing is added to results of 16 bits. ok is false if there is
// no such launch, or if numbers of the case are infinite in the type.
func (f *halfForm) toHalves(c kernels.Case, narrow bool) (_ kernels.Case, ok bool) {
	of := c.Of(f.types)
	probe := kernels.NewOperands(kernels.Float32, 1, 1)
	c.Build(probe)
	if f.k.File == ConvPack.File && f.types[0] == kernels.Float16 && kernels.MaxAbs(probe.Args, 0) > 65504 {
		return of, false // it packs infinities
	}
	if !narrow {
		return of, true
	}
	if a := probe.Args; f.product && a[gemmK].Int > a[gemmSlice].Int {
		return of, false // shares are floats
	}
	switch a := probe.Args; f.k.File {
	case "conv_cpu.cl":
		return of, len(a) <= convCols || convShapeOf(a, convNumbers).atOnce(a[convTransposed].Int != 0, int(a[convRows].Int), int(a[convCols].Int))
	case "pool_cpu.cl":
		_, row := fused.Of(f.k).Epilogue.Elements(a)
		return of, row <= poolLongest
	}
	if f.k == SumAxis {
		return kernels.Case{Name: c.Name, Build: func(o *kernels.Operands) {
			of.Build(o)
			o.Args[6] = kernels.FlagArg(false)
		}}, true
	}
	return of, true
}

// halfRoom is how many elements of buffers that are divided a core widens at a time: they stay in its cache.
const halfRoom = 1 << 16

// run is the Go code of the form. What is of 16 bits in memory is widened, some images or planes at a time where
// buffers have a part for each, the Go code of the kernel for floats computes these, and the results are rounded.
func (f *halfForm) run(c kernels.HostArgs[float32]) {
	args, n, each := slices.Clone(c.Args()), 1, 0
	if f.images != none {
		n = max(1, c.Int(f.images))
	}
	for i, t := range f.types {
		switch {
		case !t.Half():
		case f.divides(i):
			each += args[i].N / n
		case !f.k.Params[i].Mode.Written():
			if f.attention.Features > 0 {
				if to, ok := f.widenRows(c, args, i); ok {
					defer f.scratch.Put(to)
					continue
				}
			}
			to, n := f.take(args[i].N), args[i].N
			defer f.scratch.Put(to)
			widen(c, kernels.Slice[float32](to, 0, n), args[i], 0)
			args[i] = kernels.BufferArg(to, 0, n)
		}
	}
	workers := parallel.Workers(n, 1)
	some, alone := max(1, halfRoom/max(each, 1)), f.planes && n >= 4*workers
	switch {
	case f.images == none:
		some = n
	case alone:
		some = min(some, n/(4*workers))
	default:
		some *= workers
	}
	blocks := intmath.CeilDiv(n, some)
	if !alone {
		for b := range blocks {
			f.part(c, args, n, b*some, min(some, n-b*some), each, false)
		}
		return
	}
	c.Parallel(blocks, some*each, func(lo, hi int) {
		for b := lo; b < hi; b++ {
			f.part(c, args, n, b*some, min(some, n-b*some), each, true)
		}
	})
}

// divides reports whether a buffer has a part for each image: those of a convolution's output are X and Y.
func (f *halfForm) divides(buffer int) bool {
	return f.images == none && f.k.Params[buffer].Mode.Written() || f.planes || f.images == convNumbers && (buffer == convX || buffer == convY)
}

// part computes count of n images, from one on, of a launch with args. Buffers have so many elements of 16 bits for each
// image. alone says that other goroutines compute others.
func (f *halfForm) part(c kernels.HostArgs[float32], args []kernels.Arg, n, first, count, each int, alone bool) {
	own := slices.Clone(args)
	room, used := f.take(count*each), 0
	defer f.scratch.Put(room)
	call := c.With(own, alone)
	for i := 0; i < len(own) && own[i].Buf != nil; i++ {
		if !f.divides(i) {
			continue
		}
		a, of := args[i], args[i].N/n
		if i >= len(f.types) || !f.types[i].Half() {
			own[i] = kernels.BufferArg(a.Buf, a.Off+first*of, count*of)
			continue
		}
		own[i] = kernels.BufferArg(room, used, count*of)
		if f.k.Params[i].Mode.Read() {
			widen(call, kernels.Slice[float32](room, used, count*of), a, first*of)
		}
		used += count * of
	}
	if f.images != none {
		own[f.images] = kernels.IntArg(count)
	}
	f.k.Host.F32(call)
	for i, t := range f.types {
		if !t.Half() || !f.k.Params[i].Mode.Written() {
			continue
		}
		to, from := args[i], first*(args[i].N/n)
		sums := kernels.Slice[float32](room, own[i].Off, own[i].N)
		call.Parallel(len(sums), 1, func(lo, hi int) {
			lower.Narrow(c, sums[lo:hi], to, from+lo)
			c.Stored(from+lo, 1, hi-lo, 0)
		})
	}
}

// chunks is the Go code of Sum: chunks are widened one after the other.
func (f *halfForm) chunks(c kernels.HostArgs[float32]) {
	x, p, n, chunk := c.Args()[0], c.Args()[1], c.Int(2), c.Int(3)
	c.Parallel(p.N, chunk, func(lo, hi int) {
		terms, sums := make([]float32, min(n, chunk)), make([]float32, hi-lo)
		for g := lo; g < hi; g++ {
			some := terms[:max(0, min(n-g*chunk, chunk))]
			lower.Widen(c, some, x, g*chunk)
			part := []kernels.Arg{kernels.BufferArg(kernels.HostBufferOf(some), 0, len(some)),
				kernels.BufferArg(kernels.HostBufferOf(sums), g-lo, 1), kernels.IntArg(len(some)), kernels.IntArg(chunk), c.Args()[4]}
			f.k.Host.F32(c.With(part, true))
		}
		lower.Narrow(c, sums, p, lo)
	})
}

// widen sets x to the elements of an argument from one on.
func widen(c kernels.HostArgs[float32], x []float32, a kernels.Arg, from int) {
	c.Parallel(len(x), 1, func(lo, hi int) { lower.Widen(c, x[lo:hi], a, from+lo) })
}

// take returns memory for n floats.
func (f *halfForm) take(n int) *kernels.HostBuffer {
	room, _ := f.scratch.Get().(*kernels.HostBuffer)
	if room == nil || room.Len() < n {
		room = kernels.NewHostBuffer(kernels.Float32, n)
	}
	return room
}
