package tensor_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// hostView is a view of numbers on the host, kept beside a tensor and changed as it is.
type hostView struct {
	data           []float64
	shape, strides []int
	off            int
}

func (v hostView) at(index []int) *float64 {
	k := v.off
	for i, n := range index {
		k += n * v.strides[i]
	}
	return &v.data[k]
}

// broadcast returns v under a shape that it broadcasts to.
func (v hostView) broadcast(shape []int) hostView {
	strides := make([]int, len(shape))
	lead := len(shape) - len(v.shape)
	for i, n := range v.shape {
		if n != 1 {
			strides[lead+i] = v.strides[i]
		}
	}
	return hostView{v.data, shape, strides, v.off}
}

// viewOf draws a tensor of a shape, which is a view of a larger one: of axes in another order, with
// steps and offsets, and repeated along some axes if that is allowed.
func viewOf(r *rand.Rand, d tensor.Device, typ tensor.Type, shape []int, repeat bool) (base, t *tensor.Tensor, host hostView) {
	rank := len(shape)
	order := r.Perm(rank)
	if r.IntN(2) == 0 {
		for i := range order {
			order[i] = i
		}
	}
	type cut struct{ from, step, repeated int }
	cuts := make([]cut, rank)
	whole := make([]int, rank) // in the order of memory
	for i, axis := range order {
		c := cut{r.IntN(2) * r.IntN(3), 1 + r.IntN(3)/2, 0}
		if repeat && r.IntN(5) == 0 {
			c = cut{0, 1, 1}
			whole[i] = 1
		} else {
			whole[i] = c.from + max(shape[axis]-1, 0)*c.step + 1 + r.IntN(2)*r.IntN(3)
		}
		cuts[axis] = c
	}
	n := 1
	for _, k := range whole {
		n *= k
	}
	host = hostView{data: make([]float64, n), shape: shape, strides: make([]int, rank)}
	for i := range host.data {
		host.data[i] = float64(r.IntN(200))
	}
	if typ == d.DefaultType() {
		base = devtest.New(d, host.data, whole...)
	} else {
		ints := make([]int32, n)
		for i, v := range host.data {
			ints[i] = int32(v)
		}
		base = devtest.New(d, ints, whole...).To(typ)
	}
	place := make([]int, rank) // of each axis in memory
	size := 1
	for i := rank - 1; i >= 0; i-- {
		place[order[i]] = i
		c := cuts[order[i]]
		if c.repeated == 0 {
			host.strides[order[i]] = size * c.step
			host.off += c.from * size
		}
		size *= whole[i]
	}
	t = base.Transpose(place...)
	for axis, c := range cuts {
		if c.repeated == 0 {
			t = t.Slice(axis, c.from, min(c.from+max(shape[axis]-1, 0)*c.step+1, t.Shape()[axis])).Step(axis, c.step).Slice(axis, 0, shape[axis])
		}
	}
	if repeat {
		t = t.Expand(shape...)
	}
	return base, t, host
}

// TestRandomMaps: functions of two operands, out of place and in place, over random shapes of every
// rank, in views of all kinds and broadcast, give what loops on the host give, for every type; and
// nothing beside the view is changed.
func TestRandomMaps(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		count, most := 400, 6 // every layout is a kernel to build
		if !isGo(d) {
			count, most = 40, 4
		}
		if testing.Short() {
			count /= 4
		}
		r := rand.New(rand.NewPCG(7, 7))
		functions := map[*kernels.Function]func(x, y float64) float64{
			fn.Sub: func(x, y float64) float64 { return x - y }, fn.Max: math.Max,
		}
		for k := range count {
			rank := r.IntN(most)
			if isGo(d) && r.IntN(4) == 0 {
				rank = r.IntN(fused.MapRank + 1)
			}
			shape := make([]int, rank)
			for i := range shape {
				shape[i] = 1 + r.IntN(4)
				if rank < 4 && r.IntN(3) == 0 {
					shape[i] = 1 + r.IntN(90)
				}
			}
			if rank > 0 && r.IntN(20) == 0 {
				shape[r.IntN(rank)] = 0
			}
			narrow := append([]int{}, shape...)
			for i := range narrow {
				if r.IntN(3) == 0 && narrow[i] > 0 {
					narrow[i] = 1
				}
			}
			narrow = narrow[r.IntN(len(narrow)+1):]
			typ := []tensor.Type{d.DefaultType(), d.DefaultType(), tensor.Int32, tensor.Uint8}[r.IntN(4)]
			base, x, hx := viewOf(r, d, typ, shape, false)
			_, y, hy := viewOf(r, d, typ, narrow, true)
			by := hy.broadcast(shape)
			for f, want := range functions {
				wrap := func(v float64) float64 {
					if typ == tensor.Uint8 {
						return float64(uint8(int(v)))
					}
					return v
				}
				label := fmt.Sprintf("%d: %s of %v %v %v and %v", k, f.Name, typ, x.Shape(), hx.strides, y.Shape())
				got := devtest.Float64s(t, tensor.Map(f, nil, x, y))
				i := 0
				each(shape, func(index []int) {
					if w := wrap(want(*hx.at(index), *by.at(index))); got[i] != w {
						t.Fatalf("%s: element %v is %v, want %v", label, index, got[i], w)
					}
					i++
				})
				x.MapInPlace(f, nil, y)
				each(shape, func(index []int) { *hx.at(index) = wrap(want(*hx.at(index), *by.at(index))) })
				for at, v := range devtest.Float64s(t, base) {
					if v != hx.data[at] {
						t.Fatalf("%s in place: element %d of the memory is %v, want %v", label, at, v, hx.data[at])
					}
				}
			}
		}
	})
}

// isGo reports whether d is the Go device.
func isGo(d tensor.Device) bool { return strings.HasPrefix(d.Name(), "cpu") }

// TestMapInPlaceUnused: an operand that a function does not use may be nil in place as well, be of
// any shape, and be one of more than a kernel reads: those of a gradient of a gradient of six.
func TestMapInPlaceUnused(t *testing.T) {
	six := expr.Const(0)
	for i := range 6 {
		six = six.Add(expr.Input(i).Square())
	}
	f := &kernels.Function{Name: "six", Value: six}
	onEveryVariant(t, func(t *testing.T, d tensor.Device) {
		x := devtest.New(d, []float64{1, 2, 3}, 3)
		first := &kernels.Function{Name: "first", Value: expr.Input(0).Add(expr.Input(2))}
		y := x.Copy()
		y.MapInPlace(first, nil, nil, x)
		y.MapInPlace(first, nil, tensor.Zeros(d, 7), x)
		same(t, "unused", y, array{[]int{3}, []float64{3, 6, 9}})
		second := f.Gradient(0).Gradient(0) // 2·g·g₂, of x₀ … x₅, y, g, the gradient and g₂
		others := make([]*tensor.Tensor, second.Operands()-1)
		others[6], others[8] = x, x
		y.MapInPlace(second, nil, others...)
		same(t, "a second gradient", y, array{[]int{3}, []float64{2, 8, 18}})
	})
}
