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
	"github.com/clgrad/clgrad/tensor"
)

// onBoth runs f on every device, and with the kernels of GPUs where that is OpenCL's.
func onBoth(t *testing.T, f func(t *testing.T, d tensor.Device)) {
	devtest.Each(t, false, f)
	for _, sel := range devtest.Selected() {
		if sel != "cpu" {
			t.Run(sel+"/gpu kernels", func(t *testing.T) { f(t, devtest.Open(t, sel, devtest.GPUKernels())) })
		}
	}
}

// TestScattersAgainstLoops holds scatters of many indices, most of them to few places, to loops on
// the host: long lines and many, few columns and some. Sums are of small whole numbers, and so
// exact. Twice the same, they give the same bits.
func TestScattersAgainstLoops(t *testing.T) {
	onBoth(t, func(t *testing.T, d tensor.Device) {
		r := rand.New(rand.NewPCG(12, 5))
		for _, c := range []struct{ rows, n, cols int }{{1, 70, 1}, {5, 3000, 1}, {300, 5000, 3}, {70000, 900, 2}, {40, 100, 65}, {17, 4097, 1}} {
			index := make([]int32, c.n)
			for i := range index {
				index[i] = int32(r.IntN(c.rows))
				if i%3 > 0 {
					index[i] = int32(min(2, c.rows-1)) // a run that reaches over many blocks
				}
			}
			x, g := random(r, c.rows, c.cols), random(r, c.n, c.cols)
			for _, a := range []array{x, g} {
				for i := range a.data {
					a.data[i] = float64(r.IntN(7) - 2)
				}
			}
			at := devtest.New(d, index)
			what := fmt.Sprint(c)
			sum, set := slices.Clone(x.data), slices.Clone(x.data)
			least, most := slices.Clone(x.data), slices.Clone(x.data)
			for i, row := range index {
				for k := range c.cols {
					v, to := g.data[i*c.cols+k], int(row)*c.cols+k
					sum[to] += v
					set[to], least[to], most[to] = v, min(least[to], v), max(most[to], v)
				}
			}
			same(t, "IndexAdd "+what, on(d, x).IndexAdd(0, at, on(d, g)), array{x.shape, sum})
			same(t, "IndexCopy "+what, on(d, x).IndexCopy(0, at, on(d, g)), array{x.shape, set})
			same(t, "IndexAdd of ints "+what, on(d, x).To(tensor.Int32).IndexAdd(0, at, on(d, g).To(tensor.Int32)), array{x.shape, sum})
			wide := at.Unsqueeze(1).Expand(c.n, c.cols)
			same(t, "ScatterReduce, least "+what, on(d, x).ScatterReduce(0, wide, on(d, g), tensor.ScatterMin), array{x.shape, least})
			same(t, "ScatterReduce, most "+what, on(d, x).ScatterReduce(0, wide, on(d, g), tensor.ScatterMax), array{x.shape, most})
			same(t, "Scatter "+what, on(d, x).Scatter(0, wide, on(d, g)), array{x.shape, set})
			rows := on(d, x)
			rows.ScatterAddRowsInPlace(at, on(d, g))
			same(t, "ScatterAddRows "+what, rows, array{x.shape, sum})

			rough := tensor.NewRNG(3).Normal(d, 0, 1, c.n, c.cols)
			once, err := on(d, x).IndexAdd(0, at, rough).Float64s()
			if err != nil {
				t.Fatal(err)
			}
			again, _ := on(d, x).IndexAdd(0, at, rough).Float64s()
			if !slices.Equal(once, again) {
				t.Errorf("%s: the sums differ from one time to the next", what)
			}
		}
	})
}

// TestIndexLayouts: what is indexed and the indices may be views of every layout, of every type,
// and bytes are indices, too.
func TestIndexLayouts(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, typ := range types {
			for name, x := range layouts(d, typ) {
				if !strings.HasPrefix(d.Name(), "cpu") && (name != "gaps" || typ == tensor.Int32 || typ == tensor.Float16) || x.Rank() == 0 {
					continue
				}
				for a, n := range x.Shape() {
					if n == 0 {
						continue
					}
					list := []int{n - 1, 0, n - 1, n / 2}
					numbers := devtest.New(d, []int32{int32(list[0]), 99, int32(list[1]), 99, int32(list[2]), 99, int32(list[3])})
					for _, index := range []*tensor.Tensor{numbers.Step(0, 2), numbers.Step(0, 2).Copy()} {
						shape := slices.Clone(x.Shape())
						shape[a] = 4
						picked := arranged(t, x, shape, 0, func(i []int) []int {
							i[a] = list[i[a]]
							return i
						})
						got := x.IndexSelect(a-x.Rank(), index)
						if got.Type() != typ {
							t.Errorf("IndexSelect of %v is %v", typ, got.Type())
						}
						same(t, fmt.Sprint("IndexSelect of ", name, " ", typ), got, picked)
						own := slices.Repeat([]int{1}, x.Rank())
						own[a] = 4
						same(t, fmt.Sprint("Gather of ", name, " ", typ), x.Gather(a, index.Copy().Reshape(own...).Expand(shape...)), picked)
						whole := make([]*tensor.Tensor, a+1)
						whole[a] = index
						same(t, fmt.Sprint("Index of ", name, " ", typ), x.Index(whole...), picked)
					}
				}
			}
		}
	})
}

// TestIndexAt: indices along several axes, in every place, against NumPy's rule.
func TestIndexAt(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := on(d, random(rand.New(rand.NewPCG(1, 9)), 3, 4, 5, 2))
		i, j := devtest.New(d, []int32{2, -3, 1}, 3, 1), devtest.New(d, []int32{-1, 0})
		is, js := []int{2, 0, 1}, func(n int) []int { return []int{n - 1, 0} }
		for what, c := range map[string]struct {
			got   *tensor.Tensor
			shape []int
			from  func(i []int) []int
		}{
			"x[i, j]":       {x.Index(i, j), []int{3, 2, 5, 2}, func(n []int) []int { return []int{is[n[0]], js(4)[n[1]], n[2], n[3]} }},
			"x[:, i, j]":    {x.Index(nil, i, j), []int{3, 3, 2, 2}, func(n []int) []int { return []int{n[0], is[n[1]] + n[1]%2, js(5)[n[2]], n[3]} }},
			"x[i, :, j]":    {x.Index(i, nil, j), []int{3, 2, 4, 2}, func(n []int) []int { return []int{is[n[0]], n[2], js(5)[n[1]], n[3]} }},
			"x[:, j, :, j]": {x.Index(nil, j, nil, j), []int{2, 3, 5}, func(n []int) []int { return []int{n[1], js(4)[n[0]], n[2], js(2)[n[0]]} }},
			"x[j]":          {x.Index(j), []int{2, 4, 5, 2}, func(n []int) []int { return []int{js(3)[n[0]], n[1], n[2], n[3]} }},
			"x[..., j]":     {x.Index(nil, nil, nil, j), []int{3, 4, 5, 2}, func(n []int) []int { return []int{n[0], n[1], n[2], js(2)[n[3]]} }},
			"a scalar":      {x.Index(j.Select(0, 0), i), []int{3, 1, 5, 2}, func(n []int) []int { return []int{2, []int{2, 1, 1}[n[0]], n[2], n[3]} }},
			"none":          {x.Index(j.Slice(0, 0, 0)), []int{0, 4, 5, 2}, nil},
		} {
			same(t, what, c.got, arranged(t, x, c.shape, 0, c.from))
		}
		put := x.IndexPut([]*tensor.Tensor{i, nil, j}, tensor.Scalar(d, 9))
		same(t, "what was put", put.Index(i, nil, j), array{[]int{3, 2, 4, 2}, slices.Repeat([]float64{9}, 48)})
		if v, err := put.Sub(x).Square().Float64s(); err != nil || len(slices.DeleteFunc(v, func(v float64) bool { return v == 0 })) != 48 {
			t.Errorf("other elements changed (err %v)", err)
		}
		half := x.To(tensor.Float16).IndexPut([]*tensor.Tensor{j}, x.Slice(0, 0, 2), tensor.IndexPutOptions{Accumulate: true})
		if half.Type() != d.DefaultType() {
			t.Errorf("a float16 became %v", half.Type())
		}
		bytes := devtest.New(d, []uint8{250, 7}).IndexPut([]*tensor.Tensor{devtest.New(d, []int32{0, 0, -2})}, devtest.New(d, []uint8{3, 4, 5}), tensor.IndexPutOptions{Accumulate: true})
		same(t, "bytes wrap around", bytes, array{[]int{2}, []float64{6, 7}})
	})
}

// TestMaskIsNoIndex: where an operation takes indices, what a comparison returns is refused: its 0
// and 1 would be rows. Numbers of classes may be bytes.
func TestMaskIsNoIndex(t *testing.T) {
	d := devtest.CPU(t)
	x := devtest.New(d, []float64{3, -1, 2, -5}, 2, 2)
	mask := x.GtScalar(0)
	line := mask.Select(0, 0)
	for op, f := range map[string]func(){
		"IndexSelect":           func() { x.IndexSelect(0, line) },
		"IndexAdd":              func() { x.IndexAdd(0, line, x) },
		"IndexCopy":             func() { x.IndexCopy(0, line, x) },
		"IndexFill":             func() { x.IndexFill(0, line, 7) },
		"Gather":                func() { x.Gather(0, mask) },
		"Scatter":               func() { x.Scatter(0, mask, x) },
		"ScatterAdd":            func() { x.ScatterAdd(0, mask, x) },
		"ScatterReduce":         func() { x.ScatterReduce(0, mask, x, tensor.ScatterMax) },
		"GatherRows":            func() { x.GatherRows(line) },
		"ScatterAddRowsInPlace": func() { x.ScatterAddRowsInPlace(line, x) },
	} {
		err := tensor.Try(f)
		if !errors.Is(err, tensor.ErrType) || !strings.HasPrefix(err.Error(), "tensor: "+op+": ") || !strings.Contains(err.Error(), "MaskedSelect") {
			t.Errorf("%s by a mask: err = %v", op, err)
		}
	}
	same(t, "rows of a table, by bytes", x.Embedding(devtest.New(d, []uint8{1, 0})), array{[]int{2, 2}, []float64{2, -5, 3, -1}})
	same(t, "classes, of bytes", devtest.New(d, []uint8{1, 0}).OneHot(2), array{[]int{2, 2}, []float64{0, 1, 1, 0}})
}

// TestIndexMisuse: each wrong call is an error that names what is wrong, and writes nothing.
func TestIndexMisuse(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x, s := tensor.Zeros(d, 3, 4), tensor.Zeros(d, 2, 4)
		in := func(v ...int32) *tensor.Tensor { return devtest.New(d, v) }
		box := func(v ...int32) *tensor.Tensor { return devtest.New(d, v, 1, len(v)) }
		device := in(7).To(d.DefaultType()).To(tensor.Int32) // only the device knows it
		for i, c := range []struct {
			kind error
			f    func()
			say  string
		}{
			{tensor.ErrIndex, func() { x.Gather(1, box(0, 4)) }, "Gather: index out of range [3 4] [1 2]: indices reach from 0 to 4, and axis 1 has 4"},
			{tensor.ErrIndex, func() { x.Gather(0, box(-1)) }, "from -1 to -1, and axis 0 has 3"},
			{tensor.ErrIndex, func() { x.Scatter(0, box(3), s) }, "Scatter: "},
			{tensor.ErrIndex, func() { x.ScatterAdd(0, box(-1), s) }, "ScatterAdd: "},
			{tensor.ErrIndex, func() { x.ScatterReduce(1, box(9), s, tensor.ScatterMax) }, "ScatterReduce: "},
			{tensor.ErrIndex, func() { x.IndexSelect(0, device) }, "IndexSelect: index out of range [3 4] [1]: indices reach from 7 to 7, and axis 0 has 3"},
			{tensor.ErrIndex, func() { x.IndexSelect(1, in(-1)) }, "from -1"},
			{tensor.ErrIndex, func() { x.Embedding(devtest.New(d, []uint8{200})) }, "200"},
			{tensor.ErrIndex, func() { x.IndexAdd(0, in(0, 3), s) }, "IndexAdd: "},
			{tensor.ErrIndex, func() { x.IndexCopy(0, in(math.MinInt32, 0), s) }, "from -2147483648"},
			{tensor.ErrIndex, func() { x.IndexFill(0, in(math.MaxInt32), 1) }, "to 2147483647"},
			{tensor.ErrIndex, func() { x.Index(in(-4)) }, "from -4 to -4, and axis 0 has 3"},
			{tensor.ErrIndex, func() { x.Index(nil, in(-4, 4)) }, "from -4 to 4, and axis 1 has 4"},
			{tensor.ErrIndex, func() { x.IndexPut([]*tensor.Tensor{in(0), in(4)}, s.Sum()) }, "IndexPut: "},
			{tensor.ErrIndex, func() { x.Embedding(in(-1)) }, "Embedding: "},
			{tensor.ErrIndex, func() { x.Embedding(in(0), tensor.EmbeddingOptions{Padded: true, Padding: 3}) }, "padding 3 of 3 rows"},
			{tensor.ErrIndex, func() { in(0, 5).OneHot(5) }, "from 0 to 5"},
			{tensor.ErrType, func() { x.Gather(0, x) }, "indices are of type int64 or int32, not float32"},
			{tensor.ErrType, func() { x.Embedding(x) }, "indices are of integers, not float32"},
			{tensor.ErrType, func() { x.Index(x) }, "not float32"},
			{tensor.ErrType, func() { x.OneHot(3) }, "not float32"},
			{tensor.ErrType, func() { x.To(tensor.Int32).IndexAdd(0, in(0, 1), s) }, "float32 into int32"},
			{tensor.ErrType, func() { x.To(tensor.Uint8).Scatter(0, box(0), s.To(tensor.Int32)) }, "int32 into uint8"},
			{tensor.ErrType, func() { x.To(tensor.Float16).Scatter(0, box(0), s.To(tensor.Float32)) }, "float32 into float16"},
			{tensor.ErrType, func() { x.To(tensor.Int32).IndexFill(0, in(0), 0.5) }, "0.5 is no number"},
			{tensor.ErrType, func() {
				x.To(tensor.Int32).ScatterReduce(0, box(0), s.To(tensor.Int32), tensor.ScatterMean)
			}, "a mean is of floats"},
			{tensor.ErrShape, func() { x.Gather(0, in(0)) }, "as many axes"},
			{tensor.ErrShape, func() { x.Gather(0, box(0, 0, 0, 0, 0)) }, "there are indices for 5 along axis 1, which has 4"},
			{tensor.ErrShape, func() { x.Scatter(0, box(0, 0, 0, 0), s.Slice(1, 0, 3)) }, "an element for each index"},
			{tensor.ErrShape, func() { x.IndexSelect(0, box(0)) }, "one axis"},
			{tensor.ErrShape, func() { x.IndexAdd(0, in(0), s) }, "[1 4]"},
			{tensor.ErrShape, func() { x.Index(in(0), in(0), in(0)) }, "indices of 3 axes"},
			{tensor.ErrShape, func() { x.Index(in(0, 1), in(0, 1, 2)) }, "broadcast"},
			{tensor.ErrShape, func() { x.IndexPut([]*tensor.Tensor{in(0)}, tensor.Zeros(d, 3)) }, "do not broadcast to [1 4]"},
			{tensor.ErrShape, func() { s.Sum(0).Embedding(in(0)) }, "a matrix"},
			{tensor.ErrShape, func() { x.Sum(0).Tril(0) }, "two axes"},
			{tensor.ErrShape, func() { tensor.Arange(d, 0, 1e12, 1) }, "more than"},
			{tensor.ErrShape, func() { tensor.Meshgrid(x) }, "one axis"},
			{tensor.ErrValue, func() { x.Index(nil, nil) }, "no indices"},
			{tensor.ErrValue, func() { x.ScatterReduce(0, box(0), s, 5) }, "no reduction 5"},
			{tensor.ErrValue, func() { in(0).OneHot(0) }, "0 classes"},
			{tensor.ErrValue, func() { tensor.Arange(d, 0, 1, 0) }, "the step is not 0"},
			{tensor.ErrValue, func() { tensor.Arange(d, 0, math.NaN(), 1) }, "finite"},
			{tensor.ErrValue, func() { tensor.Linspace(d, 0, math.Inf(1), 3) }, "finite"},
			{tensor.ErrValue, func() { tensor.Linspace(d, 0, 1, -1) }, "-1 numbers"},
			{tensor.ErrType, func() { tensor.ArangeOf(d, tensor.Int32, 0, 3, 0.5) }, "0.5"},
			{tensor.ErrType, func() { tensor.ArangeOf(d, tensor.Uint8, 250, 258, 1) }, "257"},
			{tensor.ErrValue, func() { tensor.Meshgrid() }, "no tensors"},
			{tensor.ErrAxis, func() { x.Gather(2, box(0)) }, "axis 2"},
			{tensor.ErrAxis, func() { x.IndexSelect(-3, in(0)) }, "axis -3"},
		} {
			err := tensor.Try(c.f)
			if !errors.Is(err, c.kind) || !strings.Contains(fmt.Sprint(err), c.say) {
				t.Errorf("%d: %v, want %v that says %q", i, err, c.kind, c.say)
			}
		}
		same(t, "nothing written", x, array{[]int{3, 4}, make([]float64, 12)})
		if low := x.IndexSelect(0, in()); fmt.Sprint(low.Shape()) != "[0 4]" {
			t.Errorf("of no index: shape %v", low.Shape())
		}
	})
}

// TestRanges: what ranges have at their ends, and large ones.
func TestRanges(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		for what, c := range map[string]struct {
			got  *tensor.Tensor
			want []float64
		}{
			"up":            {tensor.Arange(d, 0, 1, 0.25), []float64{0, 0.25, 0.5, 0.75}},
			"past the end":  {tensor.Arange(d, 0, 1.1, 0.5), []float64{0, 0.5, 1}},
			"none":          {tensor.Arange(d, 1, 1, 1), nil},
			"the other way": {tensor.Arange(d, 1, 0, 1), nil},
			"halves":        {tensor.ArangeOf(d, tensor.Float16, 1, 3, 0.5), []float64{1, 1.5, 2, 2.5}},
			"bytes":         {tensor.ArangeOf(d, tensor.Uint8, 253, 256, 1), []float64{253, 254, 255}},
			"the least":     {tensor.ArangeOf(d, tensor.Int32, math.MinInt32+2, math.MinInt32-1, -1), []float64{math.MinInt32 + 2, math.MinInt32 + 1, math.MinInt32}},
			"no number":     {tensor.Linspace(d, 1, 2, 0), nil},
			"both ends":     {tensor.Linspace(d, 0.1, 0.7, 2), []float64{0.1, 0.7}},
			"downwards":     {tensor.Linspace(d, 1, -1, 5), []float64{1, 0.5, 0, -0.5, -1}},
		} {
			same(t, what, c.got, array{[]int{len(c.want)}, c.want})
		}
		v, err := tensor.Linspace(d, -3, 0.3, 100_001).Float64s()
		if err != nil {
			t.Fatal(err)
		}
		end, _ := tensor.Scalar(d, 0.3).Item()
		if v[0] != -3 || v[100_000] != end || !slices.IsSorted(v) {
			t.Errorf("from %v to %v, sorted: %v", v[0], v[100_000], slices.IsSorted(v))
		}
		n, err := tensor.ArangeOf(d, tensor.Int32, 5, 20_000_005, 100).Int32s() // past what float32 counts
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range n {
			if int(v) != 5+100*i {
				t.Fatalf("element %d is %d", i, v)
			}
		}
		grids := tensor.Meshgrid(tensor.Arange(d, 0, 2, 1), tensor.Arange(d, 0, 3, 1))
		same(t, "rows", grids[0], array{[]int{2, 3}, []float64{0, 0, 0, 1, 1, 1}})
		same(t, "columns", grids[1], array{[]int{2, 3}, []float64{0, 1, 2, 0, 1, 2}})
		grids = tensor.Meshgrid(tensor.Arange(d, 0, 2, 1), tensor.Scalar(d, 7))
		same(t, "rows beside a scalar", grids[0], array{[]int{2, 1}, []float64{0, 1}})
		same(t, "a scalar", grids[1], array{[]int{2, 1}, []float64{7, 7}})
		same(t, "a mask", tensor.FullOf(d, tensor.Uint8, 1, 2, 3).Tril(-1), array{[]int{2, 3}, []float64{0, 0, 0, 1, 0, 0}})
		for _, k := range []int{math.MinInt, -9, 9, math.MaxInt} {
			low, high := tensor.Full(d, 1, 2, 3).Tril(k).Sum(), tensor.Full(d, 1, 2, 3).Triu(k).Sum()
			if a, _ := low.Item(); a != map[bool]float64{true: 6}[k > 0] {
				t.Errorf("Tril(%d) leaves %v", k, a)
			}
			if a, _ := high.Item(); a != map[bool]float64{true: 6}[k < 0] {
				t.Errorf("Triu(%d) leaves %v", k, a)
			}
		}
		nan := devtest.New(d, []float64{1, math.NaN(), math.Inf(1), 2}, 2, 2)
		same(t, "NaN beyond the diagonal", nan.Tril(0), array{[]int{2, 2}, []float64{1, 0, math.Inf(1), 2}})
		same(t, "one-hot", devtest.New(d, []uint8{2, 0}, 2, 1).OneHot(3), array{[]int{2, 1, 3}, []float64{0, 0, 1, 1, 0, 0}})
	})
}
