package ops

import (
	"testing"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
)

// elements is memory of n elements, as far as a grid looks at it.
func elements(n int) kernels.Arg { return kernels.BufferArg(nil, 0, n) }

// ints are n arguments by value.
func ints(vs ...int) []kernels.Arg {
	var args []kernels.Arg
	for _, v := range vs {
		args = append(args, kernels.IntArg(v))
	}
	return args
}

// TestGrids: the launches of each kind of device are those that the entry points of its file are
// written for, with a work-item for all that is to be computed. On the Go device only an empty grid
// shows it.
func TestGrids(t *testing.T) {
	cpu, gpu := kernels.Target{CPU: true, Units: 3, MaxGroup: 4096}, kernels.Target{Units: 10, MaxGroup: 1024, LocalMem: 48 << 10}
	line := func(n int) kernels.Grid { return kernels.Grid1D(n, gpu) }
	grid := func(global, local [3]int) kernels.Grid {
		dims := 1
		for dims < 3 && local[dims] > 0 {
			dims++
		}
		return kernels.Grid{Dims: dims, Global: global, Local: local}
	}
	args := func(vecs []int, numbers ...int) []kernels.Arg {
		var all []kernels.Arg
		for _, n := range vecs {
			all = append(all, elements(n))
		}
		return append(all, ints(numbers...)...)
	}
	tile, block := GemmTile{128, 64, 16, 8, 4, FMA}, GemmTile{M: 6, N: 64}
	product := func(m, n, k, rows, slice int) []kernels.Arg {
		return args([]int{0, 0, 0, 0}, m, n, k, k, n, n, 0, 0, rows, slice)
	}
	for _, c := range []struct {
		name     string
		k        *kernels.Kernel
		args     []kernels.Arg
		cpu, gpu kernels.Grid
	}{
		{"gather", GatherRows, args([]int{0, 5, 45}, 5, 9, 7), kernels.Groups(1, 1), kernels.Grid2D(9, 5, gpu)},
		{"gather of many", GatherRows, args([]int{0, 5, 45}, 500, 90, 7), kernels.Groups(1, 11), kernels.Grid2D(90, 500, gpu)},
		{"gather of long rows", GatherRows, args([]int{0, 5, 45}, 2, 90000, 7), kernels.Groups(1, 2), kernels.Grid2D(90000, 2, gpu)},
		{"scatter", ScatterRows, args([]int{45, 5, 0}, 5, 900, 7, 1), grid([3]int{15, 1}, [3]int{1, 1}), line(900)},
		{"scatter of few columns", ScatterRows, args([]int{45, 5, 0}, 5, 3, 70, 1), grid([3]int{1, 3}, [3]int{1, 1}), line(3)},
		{"a sort", sorts[kernels.Float32].Move, args([]int{8194, 0, 0, 0, 0}, 2, 4097, 2, 0, 0, 0), grid([3]int{1024}, [3]int{256}), grid([3]int{1024}, [3]int{256})},
		{"a sort of rows", RowSorts.Count, args([]int{4097, 0}, 1, 4097, 5, 0, 7), grid([3]int{1280}, [3]int{256}), grid([3]int{1280}, [3]int{256})},
		{"random", Uniform, args([]int{1025}, 1025), line(257), line(257)},
		{"chains", FMAChains, args([]int{7}, 7, 20), grid([3]int{7}, [3]int{1}), line(7)},
		{"softmax of rows", Softmax.Kernel(), args([]int{0, 0}, 100, 128, 1, 0), grid([3]int{4}, [3]int{1}), grid([3]int{7 * 256}, [3]int{256})},
		{"softmax of columns", Softmax.Kernel(), args([]int{0, 0}, 2, 50, 20, 0), grid([3]int{1}, [3]int{1}), grid([3]int{512}, [3]int{256})},
		{"softmax of short rows", Softmax.For(8, 1, gpu), args([]int{0, 0}, 300, 8, 1, 0), kernels.Grid{}, grid([3]int{512}, [3]int{256})},
		{"softmax of nothing", Softmax.Kernel(), args([]int{0, 0}, 2, 0, 20, 0), grid([3]int{1}, [3]int{1}), grid([3]int{256}, [3]int{256})},
		{"gradient of a norm", NormGrads[0].Kernel(), args(make([]int, 5), 100, 30, 1), grid([3]int{1}, [3]int{1}), grid([3]int{2 * 256}, [3]int{256})},
		{"sum", Sum, args([]int{1000, 4}, 1000, 250), grid([3]int{4}, [3]int{1}), grid([3]int{1024}, [3]int{256})},
		{"sums of rows", SumAxis, args([]int{0, 0}, 3, 50, 1), grid([3]int{1, 3}, [3]int{1, 1}), grid([3]int{1, 768}, [3]int{1, 256})},
		{"sums of few columns", SumAxis, args([]int{0, 0}, 3, 50, 16), grid([3]int{1, 3}, [3]int{1, 1}), grid([3]int{16, 48}, [3]int{16, 16})},
		{"sums of columns", SumAxis, args([]int{0, 0}, 3, 50, 33), grid([3]int{3, 3}, [3]int{1, 1}), grid([3]int{64, 24}, [3]int{32, 8})},
		{"sums of long columns", SumAxis, args([]int{0, 0}, 1, 2048, 128), grid([3]int{8, 1}, [3]int{1, 1}), grid([3]int{128, 64}, [3]int{4, 64})},
		{"sums of some columns", SumAxis, args([]int{0, 0}, 1, 8, 200), grid([3]int{12, 1}, [3]int{1, 1}), kernels.Grid{}},
		{"sums of many columns", SumAxis, args([]int{0, 0}, 1, 8, 10000), grid([3]int{157, 1}, [3]int{1, 1}), grid([3]int{10240, 1}, [3]int{256, 1})},
		{"a layer", LinearGrad(fn.Tanh.Gradient(0)), args([]int{0, 0, 0, 0}, 33, 17, 16), grid([3]int{2, 3}, [3]int{1, 1}), kernels.Grid2D(17, 3, gpu)},
		{"shares", ReducePartials, args([]int{0, 1, 33}, 33, 4), line(33), grid([3]int{64, 8}, [3]int{32, 8})},
		{"steps of shares", AdamWPartials, args([]int{33, 0, 1, 33, 33, 0, 0}, 33, 4, 0), line(33), grid([3]int{64, 8}, [3]int{32, 8})},
		{"steps of shares with a loss", AdamWPartials, args([]int{64, 0, 1, 64, 64, 5, 1}, 64, 4, 5), line(65), grid([3]int{96, 8}, [3]int{32, 8})},
		{"a product on a GPU", Gemm(NN, tile, nil), product(129, 65, 100, 0, 34), kernels.Grid{}, grid([3]int{2 * 256, 2, 3}, [3]int{256, 1, 1})},
		{"a product on a CPU", Gemm(NN, block, nil), product(129, 65, 100, 24, 34), grid([3]int{2, 6, 3}, [3]int{1, 1, 1}), kernels.Grid{}},
		{"a product with an epilogue", Gemm(NN, block, fn.Tanh), append(product(129, 65, 100, 24, 100), args([]int{0}, 0)...), grid([3]int{2, 6, 1}, [3]int{1, 1, 1}), kernels.Grid{}},
	} {
		for _, d := range []struct {
			l    kernels.Target
			want kernels.Grid
		}{{cpu, c.cpu}, {gpu, c.gpu}} {
			if d.want.Dims == 0 {
				continue
			}
			if got := c.k.Grid(c.args, d.l); got != d.want {
				t.Errorf("%s, CPU %v: %+v, want %+v", c.name, d.l.CPU, got, d.want)
			}
		}
	}
}
