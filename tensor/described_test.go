package tensor

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/refexec"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/operation"
)

// describedDevice is the Go device, with the limits of another. Every launch is checked against
// what its kernel says of it.
type describedDevice struct {
	*goDevice
	limits kernels.Target
	seen   map[string]int // operations that were interpreted, and kernels that were opaque
	opaque map[string]bool
	errs   []error
}

func newDescribedDevice(opt Options, l kernels.Target) *describedDevice {
	return &describedDevice{newGoDevice(opt), l, map[string]int{}, map[string]bool{}, nil}
}

func (d *describedDevice) Target() kernels.Target { return d.limits }

func (d *describedDevice) launch(k *kernels.Kernel, float kernels.DType, args []kernels.Arg) {
	onHost := slices.Clone(args)
	for i, a := range args {
		if b, ok := a.Buf.(*goBuffer); ok {
			onHost[i].Buf = &b.HostBuffer
		}
	}
	if k.Semantics == nil {
		d.opaque[k.Name] = true
	} else {
		for _, op := range k.Semantics(onHost) {
			d.seen[fmt.Sprintf("%T", op)]++
		}
	}
	if _, err := refexec.Check(k, float, d.limits, onHost); err != nil {
		d.errs = append(d.errs, fmt.Errorf("%s: %w", k.Name, err))
	}
	d.goDevice.launch(k, float, args)
}

// randomOps makes random tensors and operations on them.
type randomOps struct {
	*rand.Rand
	d   *describedDevice
	rng *RNG
}

func (r *randomOps) dims(rank int) []int {
	dims := make([]int, rank)
	for i := range dims {
		dims[i] = 1 + r.IntN(5)
		if r.IntN(20) == 0 {
			dims[i] = 0
		}
	}
	return dims
}

// matrix returns a tensor of two axes with values in [−2, 2), which may be a view of any kind.
func (r *randomOps) matrix(rows, cols int) *Tensor {
	switch r.IntN(5) {
	case 0:
		return r.rng.Uniform(r.d, -2, 2, cols, rows).T()
	case 1: // rows with gaps
		return r.rng.Uniform(r.d, -2, 2, rows+1, cols+3).Slice(0, 1, rows+1).Slice(1, 2, cols+2)
	case 2: // elements with gaps
		return r.rng.Uniform(r.d, -2, 2, rows, 2*cols).Step(1, 2)
	}
	return r.rng.Uniform(r.d, -2, 2, rows, cols)
}

// tensor returns a view of any kind, of the shape and type.
func (r *randomOps) tensor(typ Type, shape ...int) *Tensor {
	var t *Tensor
	switch r.IntN(4) {
	case 0: // the axes another way round
		order := r.Perm(len(shape))
		stored, back := make([]int, len(shape)), make([]int, len(shape))
		for i, a := range order {
			stored[i], back[a] = shape[a], i
		}
		t = r.rng.Normal(r.d, 0, 2, stored...).To(typ).Transpose(back...)
	case 1: // a part of a larger one, with steps
		larger := make([]int, len(shape))
		for i, n := range shape {
			larger[i] = 2*n + 1
		}
		t = r.rng.Normal(r.d, 0, 2, larger...).To(typ)
		for i, n := range shape {
			t = t.Slice(i, 1, 2*n+1).Step(i, 2)
		}
	case 2: // axes that are repeated
		stored := slices.Clone(shape)
		for i := range stored {
			if r.IntN(2) == 0 && stored[i] > 0 {
				stored[i] = 1
			}
		}
		t = r.rng.Normal(r.d, 0, 2, stored...).To(typ).Expand(shape...)
	default:
		t = r.rng.Normal(r.d, 0, 2, shape...).To(typ)
	}
	return t
}

// broadcastable returns a shape that broadcasts to another.
func (r *randomOps) broadcastable(shape []int) []int {
	part := slices.Clone(shape[r.IntN(len(shape)+1):])
	for i := range part {
		if r.IntN(3) == 0 {
			part[i] = 1
		}
	}
	return part
}

// axes returns some axes of a shape that has elements along them.
func (r *randomOps) axes(shape []int) (axes []int) {
	for a, n := range shape {
		if n > 0 && r.IntN(2) == 0 {
			axes = append(axes, a)
		}
	}
	return axes
}

func (r *randomOps) typ() Type {
	return []Type{r.d.DefaultType(), r.d.DefaultType(), r.d.DefaultType(), Int32, Uint8, Float16}[r.IntN(6)]
}

// step runs an operation of a kind.
func (r *randomOps) step(kind int) {
	shape := r.dims(r.IntN(5))
	switch kind % 17 {
	case 0: // a function of one tensor
		f := fn.Functions[r.IntN(len(fn.Functions))]
		for f.Operands() != 1 {
			f = fn.Functions[r.IntN(len(fn.Functions))]
		}
		Map(f, f.Scalars, r.tensor(r.d.DefaultType(), shape...))
	case 1: // of two, broadcast
		typ := r.typ()
		pick := []func(*Tensor, *Tensor) *Tensor{(*Tensor).Add, (*Tensor).Sub, (*Tensor).Mul, (*Tensor).Div, (*Tensor).Minimum, (*Tensor).Maximum}
		f, x, w := pick[r.IntN(len(pick))], r.tensor(typ, shape...), r.tensor(r.typ(), r.broadcastable(shape)...)
		if r.IntN(2) == 0 {
			x, w = w, x
		}
		f(x, w)
		below := Map(fn.Conditions[r.IntN(6)], nil, x, w)
		x.Where(below, w).MaskedFill(below, 1)
	case 2: // a gradient
		f := fn.Functions[r.IntN(len(fn.Functions))]
		g := f.Gradient(r.IntN(f.Operands()))
		operands := make([]*Tensor, g.Operands())
		used := false
		for i := range operands {
			if g.Uses(i) {
				operands[i], used = r.tensor(r.d.DefaultType(), shape...).Square().AddScalar(0.1), true
			}
		}
		if used {
			Map(g, g.Scalars, operands...)
		}
	case 3: // in place, of a view, and of itself
		t := r.rng.Uniform(r.d, -1, 1, slices.Insert(slices.Clone(shape), 0, 4)...).Step(0, 2)
		t.MapInPlace(fn.Add, nil, r.tensor(r.d.DefaultType(), r.broadcastable(shape)...))
		t.MapInPlace(fn.Mul, nil, t.Select(0, 1))
		t.SetInPlace(r.tensor(r.d.DefaultType(), t.Shape()...))
	case 4: // types
		r.tensor(r.typ(), shape...).To(r.typ())
	case 5: // fills
		FullOf(r.d, r.typ(), 3, shape...)
		ZerosOf(r.d, r.typ(), shape...)
		t := EmptyOf(r.d, Float16, shape...)
		t.FillInPlace(0.3)
		r.rng.Ints(r.d, 1+r.IntN(1000), shape...)
	case 6: // sums
		t := r.tensor(r.typ(), shape...)
		t.Sum(r.axes(shape)...)
		t.Mean(append(r.axes(shape), Keepdims)...)
		t.SumTo(r.broadcastable(shape)...)
	case 7: // long ones
		typ := []Type{r.d.DefaultType(), Int32, Uint8}[r.IntN(3)]
		r.rng.Uniform(r.d, 0, 9, 20000+r.IntN(50000)).To(typ).Sum()
		r.rng.Uniform(r.d, 0, 9, 2500+r.IntN(999), 7).To(typ).Sum(0)
	case 8: // extremes, and their gradients, with ties
		for i := range shape {
			shape[i] = max(shape[i], 1)
		}
		x, axes := r.tensor(Int32, shape...), r.axes(shape)
		x.Max(axes...)
		float := x.To(r.d.DefaultType())
		y := float.Min(axes...)
		api{}.MaxGrad(float, y, r.tensor(r.d.DefaultType(), y.Shape()...), axes...)
	case 9: // products, with accumulation, and of long sums in parts
		m, n, k := 1+r.IntN(9), 1+r.IntN(9), 1+r.IntN(9)
		if r.IntN(4) == 0 {
			k = 3000 + r.IntN(6000)
		}
		a, b := r.matrix(m, k), r.matrix(k, n)
		api{}.MatMulInto(a.MatMul(b), a, b, r.IntN(2) == 0)
		batch := r.dims(r.IntN(4))
		x, y := r.tensor(r.d.DefaultType(), append(slices.Clone(batch), m, min(k, 20))...), r.tensor(r.d.DefaultType(), append(r.broadcastable(batch), min(k, 20), n)...)
		api{}.MatMulInto(x.MatMul(y), x, y, r.IntN(2) == 0)
	case 10: // layers
		rows, in, out := 1+r.IntN(40), 1+r.IntN(9), 1+r.IntN(9)
		var bias *Tensor
		if r.IntN(3) > 0 {
			bias = r.tensor(r.d.DefaultType(), out)
		}
		f := []*kernels.Function{fn.Identity, fn.ReLU, fn.LeakyReLU, fn.Tanh, fn.Sigmoid, fn.Softplus, fn.Clamp}[r.IntN(7)]
		y, z := api{}.Linear(r.matrix(rows, in), r.matrix(in, out), bias, f, f.Scalars, r.IntN(2) == 0)
		if d := f.Gradient(0); z != nil || !d.Uses(0) {
			api{}.LinearGrad(d, f.Scalars, z, y, r.matrix(rows, out))
		}
		api{}.LinearGrad(f.CheapestGradient(f.Scalars), f.Scalars, y, y, r.matrix(rows, out))
	case 11: // rows by index
		rows, cols, n := 1+r.IntN(5), 1+r.IntN(5), r.IntN(9)
		index := r.rng.Ints(r.d, rows, 2*n).Step(0, 2)
		t := r.tensor(r.typ(), rows, cols)
		t.GatherRows(index)
		Zeros(r.d, rows, cols).ScatterAddRowsInPlace(index, r.tensor(r.d.DefaultType(), n, cols))
	case 12: // outer products
		batch, m, n := 1+r.IntN(40), 1+r.IntN(5), 1+r.IntN(5)
		r.rng.Uniform(r.d, -1, 1, m, n).OuterAccInPlace(r.matrix(batch, m), r.matrix(batch, n))
	case 13: // squared errors
		if r.IntN(3) == 0 {
			shape = []int{17000 + r.IntN(30000)}
		}
		api{}.SquaredError(r.tensor(r.d.DefaultType(), shape...), r.tensor(r.d.DefaultType(), shape...))
	case 14: // sums of rows
		t := r.tensor(r.d.DefaultType(), append([]int{1 + r.IntN(5)}, 2, 3)...)
		api{}.SumRowsInto(r.rng.Uniform(r.d, 0, 1, 2, 3), t, r.IntN(2) == 0)
	case 15:
		r.tensor(r.typ(), shape...).Copy()
	case 16: // integers of 8 bits, and products and extremes of elements
		m, n, k, types := 1+r.IntN(9), 1+r.IntN(9), 1+r.IntN(9), []Type{Int8, Uint8}
		a, b := r.tensor(types[r.IntN(2)], m, k), r.tensor(types[r.IntN(2)], k, n)
		MatMulInteger(a, b, MatMulIntegerOptions{ZeroA: r.tensor(a.Type(), m), ZeroB: r.tensor(b.Type(), 1)})
		y := MatMulInteger(a, b)
		y.Prod(1)
		y.To(r.d.DefaultType()).ArgMin(0)
		ConvInteger(a.Reshape(1, m, k), b.T().Reshape(n, 1, k).Expand(n, m, k),
			ConvIntegerOptions{ZeroX: r.tensor(a.Type(), 1)})
	}
}

// TestDescribedLaunches: what kernels say of the launches of random operations, on views of every
// kind, is what these compute, where work is shared out as on a CPU and as on a GPU.
func TestDescribedLaunches(t *testing.T) {
	cpu, gpu := kernels.Target{CPU: true, Units: 4, MaxGroup: 4096}, kernels.Target{Units: 132, MaxGroup: 1024, LocalMem: 48 << 10}
	steps := 12 * 16
	if testing.Short() {
		steps = 3 * 16
	}
	for seed, d := range []*describedDevice{newDescribedDevice(Options{}, cpu), newDescribedDevice(Options{DefaultType: Float64}, cpu),
		newDescribedDevice(Options{}, gpu), newDescribedDevice(Options{DefaultType: Float64}, gpu)} {
		r := &randomOps{rand.New(rand.NewPCG(7, uint64(seed))), d, NewRNG(uint64(seed))}
		for step := range steps {
			Scope(d, func() { r.step(step) })
			for _, err := range d.errs {
				t.Errorf("device %d, step %d: %v", seed, step, err)
			}
			if t.Failed() {
				return
			}
		}
		for _, op := range []any{&operation.Map{}, &operation.MatMul{}, &operation.Reduction{}, &operation.Gather{},
			&operation.Scatter{}, &operation.Random{}} {
			if name := fmt.Sprintf("%T", op); d.seen[name] == 0 {
				t.Errorf("device %d: there was no %s", seed, name)
			}
		}
		if len(d.opaque) > 0 {
			t.Errorf("device %d: opaque are %v", seed, d.opaque)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}
