package ops

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
)

// sizes spells the operands of a trial: the elements of the buffers, and the numbers.
func sizes(k *kernels.Kernel, ops []kernels.Operand) string {
	var s []string
	for i, o := range ops {
		if k.Params[i].Mode.Buffer() {
			s = append(s, fmt.Sprint(o.N))
		} else {
			s = append(s, fmt.Sprintf("%.15g", o.Number))
		}
	}
	return fmt.Sprint(s)
}

// TestSelfTestOfProducts: the operands of a product's trial are those of the launch, with fewer rows
// where that would take too long, and with rows closer to each other, but aligned alike, where they
// lie far apart.
func TestSelfTestOfProducts(t *testing.T) {
	like := func(m, n, k, lda, ldb, slice int) []kernels.Arg {
		return append([]kernels.Arg{elements(0), elements(0), elements(n), elements(0)}, ints(m, n, k, lda, ldb, n, 1, 1, 24, slice)...)
	}
	const rest = "1 1 24"
	for _, c := range []struct {
		name string
		form GemmForm
		like []kernels.Arg
		want string
	}{
		{"whole", NN, like(10, 20, 30, 31, 22, 30), "[310 660 20 200 10 20 30 31 22 20 " + rest + " 30]"},
		{"whole, B transposed", NT, like(10, 20, 30, 31, 32, 30), "[310 640 20 200 10 20 30 31 32 20 " + rest + " 30]"},
		{"whole, A transposed", TN, like(10, 20, 30, 11, 22, 30), "[330 660 20 200 10 20 30 11 22 20 " + rest + " 30]"},
		{"in shares", NN, like(10, 20, 30, 30, 20, 16), "[300 600 20 400 10 20 30 30 20 20 " + rest + " 16]"},
		{"too many products", NN, like(1<<20, 256, 64, 64, 256, 64), fmt.Sprintf("[%d 16384 256 %d 8192 256 64 64 256 256 %s 64]", 8192*64, 8192*256, rest)},
		{"too many elements", NN, like(1<<20, 8, 1000, 1000, 8, 1000), fmt.Sprintf("[%d 8000 8 %d 4161 8 1000 1000 8 8 %s 1000]", 4161*1000, 4161*8, rest)},
		{"too many rows of shares", NN, like(1<<20, 8, 1000, 1000, 8, 500), "[]"},
		{"no row fits", NN, like(5, 20000, 200, 200, 20000, 200), fmt.Sprintf("[1000 4000000 20000 100000 5 20000 200 200 20000 20000 %s 200]", rest)},
		{"rows far apart", NN, like(2000, 8, 10, 1_000_000, 8, 10), "[32000 80 8 16000 2000 8 10 16 8 8 " + rest + " 10]"},
		{"rows far apart, not aligned", NN, like(2000, 8, 10, 1_000_003, 8, 10), "[38000 80 8 16000 2000 8 10 19 8 8 " + rest + " 10]"},
		{"rows of B far apart", NT, like(10, 800, 10, 10, 1_000_001, 10), "[100 13600 800 8000 10 800 10 10 17 800 " + rest + " 10]"},
		{"columns of A far apart", TN, like(17, 3, 4000, 2000, 3, 4000), "[128000 12000 3 51 17 3 4000 32 3 3 " + rest + " 4000]"},
		{"as large as may be", NN, like(32768, 8, 64, 128, 8, 64), "[4194304 512 8 262144 32768 8 64 128 8 8 " + rest + " 64]"},
		{"a B as large as may be", NN, like(4, 64, 65536, 65536, 64, 65536), "[262144 4194304 64 256 4 64 65536 65536 64 64 " + rest + " 65536]"},
		{"B alone is too large", NN, like(1, 3000, 3000, 3000, 3000, 3000), "[]"},
		{"A alone is too large", TN, like(200, 1, 1<<21, 200, 1, 1<<21), "[]"},
		{"none", NN, nil, "[]"},
	} {
		k := Gemm(c.form, cpuTiles[0], nil)
		ops := k.SelfTest(c.like)
		if got := sizes(k, ops); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if c.like != nil && c.like[gemmSlice].Int >= c.like[gemmK].Int { // of a layer, what its function is given and the operand that it keeps
			for keep, z := range []int{0, 1} {
				like := append(slices.Clip(c.like), elements(z*int(c.like[gemmM].Int*c.like[gemmN].Int)), kernels.IntArg(keep), kernels.FloatArg(-0.5), kernels.FloatArg(0.25))
				layer := Gemm(c.form, cpuTiles[0], fn.Clamp)
				more := layer.SelfTest(like)
				want := "[]"
				if len(ops) > 0 {
					want = fmt.Sprintf("%s %d %d -0.5 0.25]", c.want[:len(c.want)-1], keep*ops[gemmC].N, keep)
				}
				if got := sizes(layer, more); got != want {
					t.Errorf("%s, a layer: %s, want %s", c.name, got, want)
				}
			}
		}
		for _, o := range ops[:min(4, len(ops))] {
			if o.Lo != -1 || o.Hi != 1 {
				t.Errorf("%s: drawn from [%v, %v)", c.name, o.Lo, o.Hi)
			}
		}
	}
}

// TestSelfTestOfBatches: the operands of a batch's trial are fewer products than the launch has where
// those would take too long, one after the other, and the kernel's host kernel can run on them.
func TestSelfTestOfBatches(t *testing.T) {
	like := func(m, n, k, slice int, b Batch, run int) []kernels.Arg {
		args := append([]kernels.Arg{elements(0), elements(0), elements(n), elements(0)}, ints(m, n, k, k, n, n, 1, 0, 24, slice)...)
		numbers := b.Args()
		return append(append(args, numbers[:]...), kernels.IntArg(run))
	}
	direct := func(m, n, k int, b Batch) []kernels.Arg {
		numbers := b.Args()
		return append(append([]kernels.Arg{elements(0), elements(0), elements(0)}, ints(m, n, k, k, 1, n, 1, 1)...), numbers[:]...)
	}
	heads := Batch{N: [3]int{2, 3, 4}, A: [3]int{1 << 20, 40, 1 << 10}}
	for _, c := range []struct {
		name string
		k    *kernels.Kernel
		like []kernels.Arg
		want string
	}{
		{"whole", GemmBatch(NN, cpuTiles[0]), like(5, 6, 7, 7, heads, 3), "[840 42 6 720 5 6 7 7 6 6 1 0 24 7 24 1 24 0 0 35 0 0 0 3]"},
		{"many", GemmBatch(NN, cpuTiles[0]), like(64, 64, 64, 64, Batch{N: [3]int{1, 1, 1 << 16}, A: [3]int{0, 0, 4096}, B: [3]int{0, 0, 4096}}, 1),
			"[1048576 1048576 64 1048576 64 64 64 64 64 64 1 0 24 64 256 1 256 0 0 4096 0 0 4096 1]"},
		{"in shares", GemmBatch(NN, cpuTiles[0]), like(5, 6, 8, 4, heads, 3), "[960 48 6 1440 5 6 8 8 6 6 1 0 24 4 24 1 24 0 0 40 0 0 0 3]"},
		{"many in shares", GemmBatch(NN, cpuTiles[0]), like(64, 64, 64, 32, Batch{N: [3]int{1, 1, 1 << 16}, A: [3]int{0, 0, 4096}}, 1), "[]"},
		{"none", GemmBatch(NN, cpuTiles[0]), nil, "[]"},
		{"direct", GemmDirect, direct(5, 6, 7, heads), "[840 1008 720 5 6 7 7 1 6 1 1 24 1 24 0 0 35 0 0 42]"},
		{"no direct", GemmDirect, nil, "[]"},
	} {
		ops := c.k.SelfTest(c.like)
		if got := sizes(c.k, ops); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
			continue
		}
		if len(ops) == 0 {
			continue
		}
		var args []kernels.Arg
		for i, o := range ops {
			if c.k.Params[i].Mode.Buffer() {
				args = append(args, kernels.BufferArg(kernels.NewHostBuffer(kernels.Float32, o.N), 0, o.N))
			} else {
				args = append(args, kernels.IntArg(int(o.Number)))
			}
		}
		c.k.Run(kernels.Float32, args) // which panics where an operand is too short
	}
}

// TestTrials: what the trials of other kernels change of a launch.
func TestTrials(t *testing.T) {
	values := func(args []kernels.Arg, vs ...float64) []kernels.Arg {
		for _, v := range vs {
			args = append(args, kernels.FloatArg(v))
		}
		return args
	}
	args := func(vecs []int, numbers ...int) (all []kernels.Arg) {
		for _, n := range vecs {
			all = append(all, elements(n))
		}
		return append(all, ints(numbers...)...)
	}
	for _, c := range []struct {
		name string
		k    *kernels.Kernel
		like []kernels.Arg
		want string
	}{
		{"chains", FMAChains, values(args([]int{100}, 100, 7), 2, 3), "[100 100 7 0.999 0.5]"},
		{"many chains", FMAChains, values(args([]int{1 << 20}, 1<<20, 7000), 2, 3), "[26214 26214 20 0.999 0.5]"},
	} {
		if got := sizes(c.k, c.k.SelfTest(c.like)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}

	// Ties are found where the second operand is the maximum of the first, of [outer, n, inner].
	x, inf := []float64{1, 5, 3, 2, 2, -8, 9, -7, 4, -6, 5, -5}, math.Inf(1)
	ops := ExtremeGrad.Kernel().SelfTest(args([]int{12, 4, 4, 12}, 2, 3, 2))
	before := []kernels.Arg{kernels.BufferArg(kernels.HostBufferOf(append([]float64{inf}, x...)), 1, 12)}
	for i, want := range []float64{3, 5, 9, -5} {
		if got := ops[1].From(before, i); got != want {
			t.Errorf("the maximum of column %d is %v, want %v", i, got, want)
		}
	}
	for name, k := range map[string]*kernels.Kernel{"AdamW": AdamW, "AdamWShares": AdamWPartials} {
		like := make([]kernels.Arg, len(k.Params))
		for i, p := range k.Params {
			like[i] = map[bool]kernels.Arg{true: elements(4), false: kernels.IntArg(1)}[p.Mode.Buffer()]
		}
		for i, o := range k.SelfTest(like) {
			if v := k.Params[i].Name == "V"; v && (o.Lo != 0 || o.Hi != 1) || k.Params[i].Name == "M" && o.Lo != -1 {
				t.Errorf("%s: %s is drawn from [%v, %v)", name, k.Params[i].Name, o.Lo, o.Hi)
			}
		}
	}
}
