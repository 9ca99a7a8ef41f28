package tensor_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// layouts returns tensors of a type in several shapes and layouts, all of numbers that every type
// holds, and for floats with special ones among them.
func layouts(d tensor.Device, typ tensor.Type) map[string]*tensor.Tensor {
	data := make([]float64, 120)
	for i := range data {
		data[i] = float64((i*37 + 5) % 120)
	}
	if typ == d.DefaultType() || typ == tensor.Float16 {
		for i, v := range []float64{math.NaN(), math.Inf(1), math.Copysign(0, -1), -2.5} {
			data[30*i+2] = v
		}
	}
	x := devtest.New(d, data, 4, 5, 6).To(typ)
	return map[string]*tensor.Tensor{
		"whole":      x,
		"transposed": x.Transpose(2, 0, 1),
		"gaps":       x.Slice(2, 1, 6).Step(2, 2).Slice(0, 1, 3),
		"repeated":   x.Slice(1, 2, 3).Expand(4, 3, 6),
		"empty":      x.Slice(1, 5, 5),
		"rank 0":     x.Select(0, 1).Select(0, 1).Select(0, 1),
		"rank 1":     x.Select(0, 1).Select(1, -1),
		"rank 8":     x.Reshape(2, 2, 1, 5, 3, 1, 2, 1).Transpose(3, 1, 7, 0, 4, 5, 2, 6),
	}
}

// arranged returns the tensor of a shape whose elements are those of x at the index that from makes
// of theirs, or other if that is nil.
func arranged(t *testing.T, x *tensor.Tensor, shape []int, other float64, from func(i []int) []int) array {
	t.Helper()
	v, err := x.Float64s()
	if err != nil {
		t.Fatal(err)
	}
	a, out := array{x.Shape(), v}, array{append([]int{}, shape...), []float64{}}
	each(shape, func(i []int) {
		if src := from(slices.Clone(i)); src != nil {
			out.data = append(out.data, a.at(src))
		} else {
			out.data = append(out.data, other)
		}
	})
	return out
}

// TestArrangements holds what puts elements in another place to its definition, for every type and
// layout; on devices that build kernels for some.
func TestArrangements(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, typ := range types {
			for name, x := range layouts(d, typ) {
				if !strings.HasPrefix(d.Name(), "cpu") && (name != "gaps" || typ == tensor.Int32 || typ == tensor.Float16) {
					continue
				}
				is := func(what string, got *tensor.Tensor, shape []int, other float64, from func(i []int) []int) {
					t.Helper()
					if got.Type() != typ {
						t.Errorf("%s of %v is of type %v", what, typ, got.Type())
					}
					same(t, fmt.Sprint(what, " of ", name, " of ", typ), got, arranged(t, x, shape, other, from))
				}
				shape, rank := x.Shape(), x.Rank()
				every := make([]int, rank)
				for a := range every {
					every[a] = a - rank
				}
				mirrored := func(axes ...int) func(i []int) []int {
					return func(i []int) []int {
						for _, a := range axes {
							i[a] = shape[a] - 1 - i[a]
						}
						return i
					}
				}
				is("Flip()", x.Flip(), shape, 0, mirrored())
				is("Flip of all", x.Flip(every...), shape, 0, mirrored(sequence(rank)...))
				tiled := slices.Clone(shape)
				counts := make([]int, rank)
				for a := range counts {
					counts[a] = 1 + a%2
					tiled[a] *= counts[a]
				}
				wrapped := func(i []int) []int {
					i = i[len(i)-rank:]
					for a, n := range shape {
						i[a] %= max(n, 1)
					}
					return i
				}
				is("Tile", x.Tile(counts...), tiled, 0, wrapped)
				if rank < tensor.MaxRank {
					is("Tile in front", x.Tile(append([]int{3}, counts...)...), append([]int{3}, tiled...), 0, wrapped)
				}
				for a := range rank {
					n := shape[a]
					is("Flip", x.Flip(a), shape, 0, mirrored(a))
					for _, shift := range []int{0, 1, -1, n, 2*n + 1, -3*n - 2, math.MaxInt, math.MinInt} {
						is(fmt.Sprint("Roll by ", shift), x.Roll(shift, a-rank), shape, 0, func(i []int) []int {
							i[a] = ((i[a]-shift%n)%n + n) % n
							return i
						})
					}
					wide := slices.Clone(shape)
					wide[a] *= 3
					is("RepeatInterleave", x.RepeatInterleave(3, a), wide, 0, func(i []int) []int {
						i[a] /= 3
						return i
					})
					wide[a] = n + 2
					widths := make([][2]int, rank-a)
					widths[0] = [2]int{-1, 3}
					if n > 0 {
						is("Pad", x.Pad(widths, tensor.PadOptions{Value: 7}), wide, 7, func(i []int) []int {
							if i[a]++; i[a] >= n {
								return nil
							}
							return i
						})
						is("Pad, nearest", x.Pad(widths, tensor.PadOptions{Mode: tensor.PadReplicate}), wide, 7, func(i []int) []int {
							i[a] = min(i[a]+1, n-1)
							return i
						})
					}
				}
			}
		}
	})
}

func sequence(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// TestPadAllAxes: more axes than the kernel takes at once.
func TestPadAllAxes(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := layouts(d, d.DefaultType())["rank 8"].Slice(0, 0, 2)
		widths, wide := make([][2]int, 8), slices.Clone(x.Shape())
		for a := range widths {
			widths[a] = [2]int{a % 2, 1}
			wide[a] += a%2 + 1
		}
		same(t, "constant", x.Pad(widths, tensor.PadOptions{Value: -1}), arranged(t, x, wide, -1, func(i []int) []int {
			for a := range i {
				if i[a] -= a % 2; i[a] < 0 || i[a] >= x.Shape()[a] {
					return nil
				}
			}
			return i
		}))
		same(t, "circular", x.Pad(widths, tensor.PadOptions{Mode: tensor.PadCircular}), arranged(t, x, wide, -1, func(i []int) []int {
			for a, n := range x.Shape() {
				i[a] = (i[a] - a%2 + n) % n
			}
			return i
		}))
		same(t, "every axis but one", x.Flip(0, 1, 3, 4, 5, 6, 7), arranged(t, x, x.Shape(), 0, func(i []int) []int {
			for a, n := range x.Shape() {
				if a != 2 {
					i[a] = n - 1 - i[a]
				}
			}
			return i
		}))
	})
}

// TestPadCut: one end cut off and the other padded, in every mode, by all widths that there are:
// reflection and the nearest element are of the whole axis, and the circle of what is left of it,
// as in PyTorch's pad.
func TestPadCut(t *testing.T) {
	d := devtest.CPU(t)
	for n := 1; n <= 4; n++ {
		x := devtest.New(d, make([]float64, 2*n), 2, n)
		for i := range n {
			x.Select(1, i).FillInPlace(float64(i + 1))
		}
		for before := -n; before <= n; before++ {
			for behind := -n; behind <= n; behind++ {
				left := n + min(before, 0) + min(behind, 0)
				for mode, c := range map[tensor.PadMode]struct {
					most int // elements at an end
					at   func(i int) int
				}{
					tensor.PadConstant:  {n, func(i int) int { return i }},
					tensor.PadReplicate: {n, func(i int) int { return min(max(i, 0), n-1) }},
					tensor.PadReflect: {n - 1, func(i int) int {
						if i = max(i, -i); i >= n {
							i = 2*(n-1) - i
						}
						return i
					}},
					tensor.PadCircular: {left, func(i int) int {
						first := max(-before, 0)
						return first + ((i-first)%left+left)%left
					}},
				} {
					what := fmt.Sprint(n, " elements, ", before, " before and ", behind, " behind, mode ", mode)
					pad := func() *tensor.Tensor { return x.Pad([][2]int{{before, behind}}, tensor.PadOptions{Mode: mode}) }
					if n+before+behind < 0 || max(before, behind) > max(c.most, 0) {
						if err := tensor.Try(func() { pad() }); !errors.Is(err, tensor.ErrShape) {
							t.Errorf("%s: err = %v", what, err)
						}
						continue
					}
					want := array{[]int{2, n + before + behind}, nil}
					for range 2 {
						for i := -before; i < n+behind; i++ {
							v := 0.0
							if j := c.at(i); j >= 0 && j < n {
								v = float64(j + 1)
							}
							want.data = append(want.data, v)
						}
					}
					same(t, what, pad(), want)
				}
			}
		}
	}
}

// TestPadModes: the row of each mode that its documentation has, and widths that are too much for
// it.
func TestPadModes(t *testing.T) {
	d := devtest.CPU(t)
	x := devtest.New(d, []float64{1, 2, 3})
	for mode, want := range map[tensor.PadMode][]float64{
		tensor.PadConstant: {0, 0, 1, 2, 3, 0, 0}, tensor.PadReflect: {3, 2, 1, 2, 3, 2, 1},
		tensor.PadReplicate: {1, 1, 1, 2, 3, 3, 3}, tensor.PadCircular: {2, 3, 1, 2, 3, 1, 2},
	} {
		same(t, fmt.Sprint("mode ", mode), x.Pad([][2]int{{2, 2}}, tensor.PadOptions{Mode: mode}), array{[]int{7}, want})
		same(t, fmt.Sprint("cut ", mode), x.Pad([][2]int{{-2, -1}}, tensor.PadOptions{Mode: mode}), array{[]int{0}, nil})
		fails(t, func() { x.Pad([][2]int{{-2, -2}}, tensor.PadOptions{Mode: mode}) }, tensor.ErrShape)
		fails(t, func() { x.Pad([][2]int{{-4, 2}}, tensor.PadOptions{Mode: mode}) }, tensor.ErrShape)
		fails(t, func() { x.Pad([][2]int{{math.MinInt, 2}}, tensor.PadOptions{Mode: mode}) }, tensor.ErrShape)
		fails(t, func() { x.Pad([][2]int{{0, math.MaxInt32}}, tensor.PadOptions{Mode: mode}) }, tensor.ErrShape)
		fails(t, func() { x.Pad([][2]int{{0, 1}, {0, 1}}, tensor.PadOptions{Mode: mode}) }, tensor.ErrShape)
		if empty := tensor.Zeros(d, 2, 0); mode != tensor.PadConstant {
			fails(t, func() { empty.Pad([][2]int{{0, 1}}, tensor.PadOptions{Mode: mode}) }, tensor.ErrShape)
			same(t, "empty", empty.Pad([][2]int{{0, 0}}, tensor.PadOptions{Mode: mode}), array{[]int{2, 0}, nil})
		} else {
			same(t, "empty", empty.Pad([][2]int{{1, 1}}, tensor.PadOptions{Value: 5}), array{[]int{2, 2}, []float64{5, 5, 5, 5}})
		}
	}
	same(t, "circular, all", x.Pad([][2]int{{3, 3}}, tensor.PadOptions{Mode: tensor.PadCircular}), array{[]int{9}, []float64{1, 2, 3, 1, 2, 3, 1, 2, 3}})
	fails(t, func() { x.Pad([][2]int{{4, 0}}, tensor.PadOptions{Mode: tensor.PadCircular}) }, tensor.ErrShape)
	fails(t, func() { x.Pad([][2]int{{0, 3}}, tensor.PadOptions{Mode: tensor.PadReflect}) }, tensor.ErrShape)
	fails(t, func() { x.Pad([][2]int{{0, 1}}, tensor.PadOptions{Mode: 4}) }, tensor.ErrValue)
	fails(t, func() { x.Pad([][2]int{{0, 1}}, tensor.PadOptions{}, tensor.PadOptions{}) }, tensor.ErrValue)
	fails(t, func() { x.To(tensor.Uint8).Pad([][2]int{{0, 1}}, tensor.PadOptions{Value: -1}) }, tensor.ErrType)
	fails(t, func() { x.Flip(0, -1) }, tensor.ErrAxis)
	fails(t, func() { x.Flip(1) }, tensor.ErrAxis)
	fails(t, func() { x.Roll(1, 1) }, tensor.ErrAxis)
	fails(t, func() { x.Tile(-1) }, tensor.ErrValue)
	fails(t, func() { x.Tile(slices.Repeat([]int{1}, 17)...) }, tensor.ErrShape)
	fails(t, func() { x.Tile(1<<20, 1<<20) }, tensor.ErrShape)
	wraps := math.MaxInt/4 + 2 // 4 times that is 4 again
	fails(t, func() { tensor.Zeros(d, 4).Tile(wraps) }, tensor.ErrShape)
	fails(t, func() { tensor.Zeros(d, 0, 4).Tile(1, wraps) }, tensor.ErrShape)
	fails(t, func() { tensor.Zeros(d, 0, 4).RepeatInterleave(wraps, 1) }, tensor.ErrShape)
	fails(t, func() { x.RepeatInterleave(-1, 0) }, tensor.ErrValue)
	fails(t, func() { x.RepeatInterleave(math.MaxInt32, 0) }, tensor.ErrShape)
}

// TestConcatTypes: parts of every layout, the type of the result, and what does not go together.
func TestConcatTypes(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, typ := range types {
			of := layouts(d, typ)
			x, y := of["transposed"].Slice(1, 0, 2), of["repeated"].Transpose(2, 1, 0).Slice(2, 1, 3).Slice(1, 0, 2) // [6 2 5], [6 2 2]
			both := arranged(t, x, x.Shape(), 0, func(i []int) []int { return i })
			got := tensor.Concat(-1, x, x.Slice(2, 5, 5), y)
			same(t, "the first", got.Slice(2, 0, 5), both)
			same(t, "the second", got.Slice(2, 5, 7), arranged(t, y, y.Shape(), 0, func(i []int) []int { return i }))
			same(t, "one", tensor.Concat(0, x), both)
			stack := tensor.Stack(-2, x, x.Flip(0))
			if got.Type() != typ || stack.Type() != typ || !got.IsContiguous() || fmt.Sprint(stack.Shape()) != "[6 2 2 5]" {
				t.Errorf("%v: types %v and %v, shape %v", typ, got.Type(), stack.Type(), stack.Shape())
			}
			for i, part := range stack.Unbind(2) {
				want := x
				if i == 1 {
					want = x.Flip(0)
				}
				same(t, "stacked", part, arranged(t, want, x.Shape(), 0, func(i []int) []int { return i }))
			}
		}
		u, i, h := devtest.New(d, []uint8{200}), devtest.New(d, []int32{-3}), devtest.New(d, []float64{1.5}).To(tensor.Float16)
		if y := tensor.Concat(0, u, i); y.Type() != tensor.Int32 {
			t.Error(y)
		} else {
			same(t, "uint8 and int32", y, array{[]int{2}, []float64{200, -3}})
		}
		same(t, "all types", tensor.Stack(0, h, u, i), array{[]int{3, 1}, []float64{1.5, 200, -3}})
		x := tensor.Zeros(d, 2, 3)
		for _, f := range []func(){func() { tensor.Concat(0) }, func() { tensor.Stack(0) }, func() { tensor.Concat(0, x, nil) }} {
			fails(t, f, tensor.ErrValue)
		}
		for _, f := range []func(){func() { tensor.Concat(0, x, u) }, func() { tensor.Concat(1, x, x.T()) }, func() { tensor.Stack(0, x, x.T()) }} {
			fails(t, f, tensor.ErrShape)
		}
		for _, f := range []func(){func() { tensor.Concat(2, x, x) }, func() { tensor.Concat(-3, x, x) }, func() { tensor.Stack(3, x, x) },
			func() { tensor.Stack(-4, x, x) }, func() { tensor.Concat(0, tensor.Scalar(d, 1)) }} {
			fails(t, f, tensor.ErrAxis)
		}
	})
}

// TestParts: the sizes of parts, those that there are not, and that parts share the storage of the
// whole.
func TestParts(t *testing.T) {
	d := devtest.CPU(t)
	sizes := func(parts []*tensor.Tensor) (n []int) {
		for _, p := range parts {
			n = append(n, p.Shape()[1])
		}
		return n
	}
	x := func(n int) *tensor.Tensor { return tensor.Zeros(d, 2, n, 3) }
	for _, c := range []struct {
		got  []*tensor.Tensor
		want string
	}{
		{x(7).Split(1, 3), "[3 3 1]"}, {x(6).Split(-2, 3), "[3 3]"}, {x(2).Split(1, 9), "[2]"}, {x(0).Split(1, 3), "[0]"},
		{x(5).Chunk(1, 4), "[2 2 1]"}, {x(5).Chunk(1, 5), "[1 1 1 1 1]"}, {x(5).Chunk(1, math.MaxInt), "[1 1 1 1 1]"}, {x(6).Chunk(-2, 1), "[6]"}, {x(0).Chunk(1, 3), "[0 0 0]"},
		{x(5).SplitWithSizes(1, 2, 0, 3), "[2 0 3]"}, {x(0).SplitWithSizes(1), "[]"}, {x(0).SplitWithSizes(1, 0), "[0]"},
	} {
		if got := fmt.Sprint(sizes(c.got)); got != c.want {
			t.Errorf("parts of %v, want %v", got, c.want)
		}
	}
	if parts := x(0).Unbind(1); len(parts) != 0 {
		t.Errorf("%d parts of none", len(parts))
	}
	whole := x(4)
	whole.Chunk(1, 2)[1].FillInPlace(7)
	whole.Unbind(2)[0].FillInPlace(8)
	v, err := whole.Sum(0).Float64s()
	if err != nil || fmt.Sprint(v) != "[16 0 0 16 0 0 16 14 14 16 14 14]" {
		t.Errorf("%v, %v", v, err)
	}
	for _, f := range []func(){func() { whole.SplitWithSizes(1, 2, 1) }, func() { whole.SplitWithSizes(1, 2, 3) }, func() { whole.SplitWithSizes(1, 6, -2) },
		func() { whole.SplitWithSizes(1, math.MaxInt, math.MaxInt, 6) }} {
		fails(t, f, tensor.ErrShape)
	}
	long := tensor.Zeros(d, 0, math.MaxInt) // of 32 bits, there may be that many
	for _, f := range []func(){func() { long.Split(1, 1) }, func() { long.Unbind(1) }, func() { long.Chunk(0, math.MaxInt) }, func() { long.Chunk(1, math.MaxInt) }} {
		if math.MaxInt > math.MaxInt32 {
			fails(t, f, tensor.ErrShape)
		}
	}
	for _, f := range []func(){func() { whole.Split(1, 0) }, func() { whole.Chunk(1, 0) }, func() { whole.Chunk(1, -1) }} {
		fails(t, f, tensor.ErrValue)
	}
	for _, f := range []func(){func() { whole.Split(3, 1) }, func() { whole.Chunk(-4, 1) }, func() { whole.Unbind(3) }, func() { tensor.Scalar(d, 1).Unbind(0) }} {
		fails(t, f, tensor.ErrAxis)
	}
}

// TestAxes: views of other axes, of every layout, against indices counted by hand.
func TestAxes(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for name, x := range layouts(d, tensor.Int32) {
			is := func(what string, got *tensor.Tensor, shape []int, from func(i []int) []int) {
				t.Helper()
				same(t, fmt.Sprint(what, " of ", name), got, arranged(t, x, shape, 0, from))
			}
			shape, rank := x.Shape(), x.Rank()
			for a := 0; a <= rank && rank < tensor.MaxRank; a++ {
				y := x.Unsqueeze(a)
				is("Unsqueeze", y, slices.Insert(slices.Clone(shape), a, 1), func(i []int) []int { return slices.Delete(i, a, a+1) })
				is("Unsqueeze from the end", x.Unsqueeze(a-rank-1), y.Shape(), func(i []int) []int { return slices.Delete(i, a, a+1) })
				is("Squeeze of it", y.Squeeze(a), shape, func(i []int) []int { return i })
			}
			for a := range rank {
				for b := range rank {
					moved := slices.Insert(slices.Delete(slices.Clone(shape), a, a+1), b, shape[a])
					is("MoveDim", x.MoveDim(a-rank, b), moved, func(i []int) []int {
						n := i[b]
						return slices.Insert(slices.Delete(i, b, b+1), a, n)
					})
				}
				if n := shape[a]; n > 1 {
					windows := append(slices.Clone(shape), 2)
					windows[a] = (n-2)/3 + 1
					if rank < tensor.MaxRank {
						is("Unfold", x.Unfold(a, 2, 3), windows, func(i []int) []int {
							i[a] = 3*i[a] + i[rank]
							return i[:rank]
						})
					}
				}
				for b := range rank {
					if a == b {
						fails(t, func() { x.Diagonal(0, a, b-rank) }, tensor.ErrAxis)
						continue
					}
					for _, offset := range []int{0, 1, -2, 50, math.MinInt, math.MaxInt} {
						n := 0
						for i := range shape[a] {
							if j := i + offset; offset > -100 && offset < 100 && j >= 0 && j < shape[b] {
								n++
							}
						}
						var rest []int
						for axis, dim := range shape {
							if axis != a && axis != b {
								rest = append(rest, dim)
							}
						}
						is(fmt.Sprint("Diagonal ", offset), x.Diagonal(offset, a, b), append(rest, n), func(i []int) []int {
							at := i[len(i)-1]
							i = i[:len(i)-1]
							for _, axis := range []int{min(a, b), max(a, b)} {
								j := at + max(0, -offset)
								if axis == b {
									j = at + max(0, offset)
								}
								i = slices.Insert(i, axis, j)
							}
							return i
						})
					}
				}
			}
			flat := x.Flatten(0, -1)
			is("Flatten", flat.Reshape(shape...), shape, func(i []int) []int { return i })
			if flat.Rank() != 1 || flat.Len() != x.Len() {
				t.Errorf("Flatten of %s: shape %v", name, flat.Shape())
			}
		}
		x := tensor.Zeros(d, 2, 1, 3, 1)
		for what, shape := range map[string][]int{
			"[2 3]": x.Squeeze().Shape(), "[2 3 1]": x.Squeeze(1, 0).Shape(), "[2 1 3]": x.Squeeze(-1, 2).Shape(), "[2 1 3 1]": x.Squeeze(0).Shape(),
			"[6 1]": x.Flatten(0, 2).Shape(), "[2 1 3 1] ": x.Flatten(1, 1).Shape(), "[2 3] ": x.Flatten(-3, -1).Shape(),
		} {
			if fmt.Sprint(shape) != strings.TrimSpace(what) {
				t.Errorf("shape %v, want %s", shape, what)
			}
		}
		for _, f := range []func(){func() { x.Squeeze(4) }, func() { x.Squeeze(1, -3) }, func() { x.Unsqueeze(5) }, func() { x.Unsqueeze(-6) }, func() { x.MoveDim(0, 4) },
			func() { x.MoveDim(-5, 0) }, func() { x.Flatten(2, 1) }, func() { x.Flatten(0, 4) }, func() { tensor.Scalar(d, 1).Flatten(0, 1) }, func() { x.Diagonal(0, 0, 4) }, func() { x.Unfold(4, 1, 1) }} {
			fails(t, f, tensor.ErrAxis)
		}
		long := x.Reshape(append(slices.Repeat([]int{1}, 14), 2, 3)...)
		for _, f := range []func(){func() { long.Unsqueeze(0) }, func() { tensor.Stack(0, long) }, func() { long.Unfold(0, 1, 1) }, func() { x.Unfold(0, 3, 1) }, func() { x.Unfold(0, -1, 1) },
			func() { tensor.Zeros(d, 1<<17).Unfold(0, 1<<16, 1) }} {
			fails(t, f, tensor.ErrShape)
		}
		fails(t, func() { x.Unfold(0, 1, 0) }, tensor.ErrValue)
	})
}

// TestNoWriteThroughWindows: windows that share elements are not written through; those that do
// not, are.
func TestNoWriteThroughWindows(t *testing.T) {
	d := devtest.CPU(t)
	x := tensor.Zeros(d, 6)
	w := x.Unfold(0, 3, 2)
	for _, f := range []func(){func() { w.FillInPlace(1) }, func() { w.ZeroInPlace() }, func() { w.SetInPlace(w.Copy()) }, func() { w.MapInPlace(fn.Neg, nil) }} {
		fails(t, f, tensor.ErrValue)
	}
	same(t, "nothing written", x, array{[]int{6}, make([]float64, 6)})
	x.Unfold(0, 2, 3).FillInPlace(1)
	x.Unfold(0, 3, 1).Step(0, 3).Select(1, 2).FillInPlace(2)
	same(t, "written", x, array{[]int{6}, []float64{1, 1, 2, 1, 1, 2}})
	m := tensor.Zeros(d, 3, 3)
	m.Diagonal(0, 0, 1).FillInPlace(1)
	m.Diagonal(1, 1, 0).FillInPlace(2)
	same(t, "diagonals", m, array{[]int{3, 3}, []float64{1, 0, 0, 2, 1, 0, 0, 2, 1}})
}

// TestReshapeViews: Reshape shares the storage wherever strides can say the new shape, and is right
// where they cannot.
func TestReshapeViews(t *testing.T) {
	d := devtest.CPU(t)
	x := devtest.New(d, random(rand.New(rand.NewPCG(3, 3)), 4, 6, 5).data, 4, 6, 5)
	for what, c := range map[string]struct {
		x      *tensor.Tensor
		shape  []int
		shares bool
	}{
		"a split axis":        {x.Transpose(1, 0, 2), []int{2, 3, 4, 5}, true},
		"axes that fit":       {x.Slice(0, 1, 3).Slice(2, 0, 2), []int{12, 2}, true},
		"axes with a gap":     {x.Slice(1, 0, 3), []int{12, 5}, false},
		"rows with a gap":     {x.Slice(2, 0, 3), []int{72}, false},
		"ones anywhere":       {x.Slice(2, 0, 3), []int{1, 4, 1, 6, 3, 1}, true},
		"turned":              {x.Transpose(), []int{5, 24}, false},
		"a repeated scalar":   {x.Select(0, 0).Select(0, 0).Slice(0, 0, 1).Expand(12), []int{3, 4}, true},
		"repeated and joined": {x.Slice(0, 0, 1).Slice(1, 0, 1).Expand(4, 6, 5), []int{24, 5}, true},
		"repeated rows":       {x.Slice(0, 0, 1).Expand(4, 6, 5), []int{24, 5}, false},
		"before a gap":        {x.Slice(1, 0, 4), []int{2, 2, 4, 5}, true},
		"behind a gap":        {x.Slice(1, 0, 4), []int{4, 2, 2, 5}, true},
		"across a gap":        {x.Slice(1, 0, 4), []int{8, 2, 5}, false},
		"no multiple":         {x.Slice(1, 0, 3), []int{6, 2, 5}, false},
	} {
		y := c.x.Reshape(c.shape...)
		want, err := c.x.Float64s()
		if err != nil {
			t.Fatal(err)
		}
		same(t, what, y, array{c.shape, want})
		if shares := !strings.Contains(shared(y, x), "no"); shares != c.shares {
			t.Errorf("%s: shares the storage: %v", what, shares)
		}
	}
}

// shared says whether a write through a view of y is seen in x.
func shared(y, x *tensor.Tensor) string {
	before, _ := x.Float64s()
	for y.Rank() > 0 {
		y = y.Select(0, 0)
	}
	y.FillInPlace(99)
	after, _ := x.Float64s()
	tensor.Upload(x, before)
	if slices.Equal(before, after) {
		return "no"
	}
	return "yes"
}
