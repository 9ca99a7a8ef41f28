package vec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/x448/float16"
)

// weightCase is weights, packed, and the floats that they stand for.
type weightCase struct {
	*Weights
	floats []float32 // W [K, N]
}

// newWeightCase makes weights of elements of type T: of 8 bits, or of 4, with zero points or without,
// and their rows or columns beside each other in memory.
func newWeightCase[T Byte](rng *rand.Rand, bits, k, n, group int, zeros, transposed bool) weightCase {
	q := extremes[T](rng, k*n)
	if bits == 4 {
		for i, v := range q {
			q[i] = v & 15 // 0 to 15, or −8 to 7
			if T(0)-1 < 0 {
				q[i] -= 8
			}
		}
	}
	groups := 1
	if group > 0 {
		groups = (k + group - 1) / group
	}
	scale := make([]float32, groups*n)
	for i := range scale {
		scale[i] = rng.Float32() + 0.1
	}
	var zero []float32
	if zeros {
		zero = make([]float32, groups*n)
		for i := range zero {
			zero[i] = float32(rng.IntN(1<<bits) - 1<<(bits-1))
		}
	}
	step, column := n, 1
	if transposed {
		step, column = 1, k
	}
	c := weightCase{floats: make([]float32, k*n)}
	c.Weights = PackWeights(bits, q, k, n, step, column, group, scale, zero, inPieces)
	for i := range k {
		for j := range n {
			at := j
			if group > 0 {
				at += i / group * n
			}
			v := float32(q[i*step+j*column])
			if zeros {
				v -= zero[at]
			}
			c.floats[i*n+j] = v * scale[at]
		}
	}
	return c
}

// newHalvesCase makes weights of floats of 16 bits, extreme ones and denormals among them.
func newHalvesCase[H Half](rng *rand.Rand, k, n int) weightCase {
	wide := random[float32](rng, k*n)
	for i := range wide {
		if rng.IntN(8) == 0 {
			wide[i] = []float32{0, 0x1p-20, -0x1p-24, 250}[rng.IntN(4)]
		}
	}
	x := make([]H, k*n)
	ToHalves(nil, x, wide)
	FromHalves(nil, wide, x)
	return weightCase{PackHalves(x, k, n, inPieces), wide}
}

// test multiplies m rows with each set of instructions, in each way of sharing them out.
func (c weightCase) test(t *testing.T, rng *rand.Rand, name string, m, gap int) {
	t.Helper()
	rowX, rowY := c.K+gap, c.N+gap
	x := random[float32](rng, gap+m*rowX)[gap:]
	product := Product[float32]{M: m, N: c.N, K: c.K, A: x, RowA: rowX, StepA: 1, B: c.floats, StepB: c.N, ColumnB: 1}
	var first []float32
	for _, set := range setsAndPlain() {
		for way, each := range []func(n, min int, f func(lo, hi int)){nil, inOne, inPieces} {
			const guard = 12345
			y := slices.Repeat([]float32{guard}, m*rowY+1)
			c.Multiply(set, m, x, rowX, y, rowY, each)
			for at, got := range y {
				i, j := at/max(1, rowY), at%max(1, rowY)
				if i >= m || j >= c.N {
					if got != guard {
						t.Fatalf("%s, %v: writes beyond row %d", name, set, i)
					}
					continue
				}
				// With zero points, terms are larger than the floats are.
				want, size := product.sum(nil, i, j)
				if bound := 0x1p-24 * float64(c.K+20) * (size + 300*float64(c.K)); math.Abs(float64(got)-want) > bound {
					t.Fatalf("%s, %v: Y[%d, %d] is %v, want %v", name, set, i, j, got, want)
				}
			}
			switch {
			case set == nil:
			case first == nil:
				first = y
			default:
				if at := differs(y, first); at >= 0 {
					t.Fatalf("%s, %v, way %d: other bits: element %d is %v, and was %v", name, set, way, at, y[at], first[at])
				}
			}
			if m > set.weightLoop(c.Format).few {
				p := product
				p.C, p.RowC = slices.Repeat([]float32{guard}, m*rowY+1), rowY
				On[float32](set).Product(p, nil)
				if at := differs(y, p.C); at >= 0 {
					t.Fatalf("%s, %v: element %d is %v, and of floats %v", name, set, at, y[at], p.C[at])
				}
			}
		}
	}
}

// TestWeights: products by weights of all sizes are those of the floats that they stand for, within
// rounding, and of the same bits with all sets of instructions.
func TestWeights(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	sizes := [][2]int{{1, 1}, {0, 3}, {3, 0}, {2, 64}, {3, 65}, {32, 63}, {33, 130}, {255, 7}, {256, 64}, {257, 129},
		{96, 200}, {700, 70}}
	for range 5 {
		sizes = append(sizes, [2]int{rng.IntN(600), rng.IntN(150)})
	}
	for c, size := range sizes {
		for _, m := range []int{1, 2, 3, 7, 33} {
			k, n := size[0], size[1]
			name := fmt.Sprintf("[%d, %d]·[%d, %d]", m, k, k, n)
			newHalvesCase[float16.Float16](rng, k, n).test(t, rng, "float16 "+name, m, c%3)
			newHalvesCase[bfloat16.BFloat16](rng, k, n).test(t, rng, "bfloat16 "+name, m, c%3)
		}
		for _, bits := range []int{8, 4} {
			for _, group := range []int{0, 32, 96, 512} {
				for _, zeros := range []bool{false, true} {
					k, n, m := size[0], size[1], []int{1, 2, 3, 7, 33}[rng.IntN(5)]
					transposed := rng.IntN(2) > 0
					name := fmt.Sprintf("[%d, %d]·[%d, %d] of %d bits, groups of %d, zero points %v, transposed %v",
						m, k, k, n, bits, group, zeros, transposed)
					if rng.IntN(2) > 0 {
						w := newWeightCase[int8](rng, bits, k, n, group, zeros, transposed)
						w.test(t, rng, "int8 "+name, m, c%3)
					} else {
						w := newWeightCase[uint8](rng, bits, k, n, group, zeros, transposed)
						w.test(t, rng, "uint8 "+name, m, c%3)
					}
				}
			}
		}
	}
}

// TestWeightsExact: sums of whole numbers that floats hold are exact, of all integers that there are.
func TestWeightsExact(t *testing.T) {
	for _, bits := range []int{8, 4} {
		n, half := 1<<bits, 1<<(bits-1)
		q := make([]int8, 3*n)
		for i := range q {
			q[i] = int8(i%n - half)
		}
		w := PackWeights(bits, q, 3, n, n, 1, 0, slices.Repeat([]float32{0.5}, n), nil, nil)
		for _, set := range setsAndPlain() {
			for _, m := range []int{1, 2, 3, 33} {
				x, y := slices.Repeat([]float32{1, 2, 4}, m), make([]float32, m*n)
				w.Multiply(set, m, x, 3, y, n, nil)
				for i, v := range y {
					if want := 3.5 * float32(i%n-half); v != want {
						t.Fatalf("%v, %d bits, %d rows: element %d is %v, want %v", set, bits, m, i, v, want)
					}
				}
			}
		}
	}
}

// TestHalfWeightsExact: every finite float of 16 bits is multiplied as the float that it is. Loops may take denormals of
// float32, of which bfloat16 has some, for 0.
func TestHalfWeightsExact(t *testing.T) {
	testHalfWeightsExact[float16.Float16](t)
	testHalfWeightsExact[bfloat16.BFloat16](t)
}

func testHalfWeightsExact[H Half](t *testing.T) {
	w := make([]H, 1<<16)
	for i := range w {
		if w[i] = H(i); !finite(w[i]) {
			w[i] = 0
		}
	}
	want := make([]float32, len(w))
	FromHalves(nil, want, w)
	packed := PackHalves(w, 1, len(w), nil)
	for _, set := range setsAndPlain() {
		for _, m := range []int{1, 2, 3, 33} {
			y := make([]float32, m*len(w))
			packed.Multiply(set, m, slices.Repeat([]float32{1}, m), 1, y, len(w), nil)
			for i, v := range y {
				if v != want[i%len(w)] {
					t.Fatalf("%T, %v, %d rows: element %d is %v, want %v", w[0], set, m, i, v, want[i%len(w)])
				}
			}
		}
	}
}

func finite[H Half](h H) bool {
	f := make([]float32, 1)
	FromHalves(nil, f, []H{h})
	return f[0]-f[0] == 0
}

// TestWeightsSpecials: infinities and NaN of X come out as they do of floats.
func TestWeightsSpecials(t *testing.T) {
	inf := float32(math.Inf(1))
	w := PackWeights(8, []int8{1, 0, -1, 1, 1, 1}, 2, 3, 3, 1, 0, []float32{1, 1, 1}, nil, nil)
	for _, set := range setsAndPlain() {
		for _, m := range []int{1, 33} {
			y := make([]float32, 3*m)
			w.Multiply(set, m, slices.Repeat([]float32{inf, 1}, m), 2, y, 3, nil)
			if y[0] != inf || y[1] == y[1] || y[2] != -inf {
				t.Errorf("%v, %d rows: %v, want +Inf, NaN, -Inf", set, m, y)
			}
		}
	}
}

// inThreads runs a loop in a piece for each processor.
func inThreads(n, _ int, f func(lo, hi int)) {
	var wait sync.WaitGroup
	threads := runtime.GOMAXPROCS(0)
	for i := range threads {
		if lo, hi := n*i/threads, n*(i+1)/threads; lo < hi {
			wait.Go(func() { f(lo, hi) })
		}
	}
	wait.Wait()
}

// BenchmarkWeights is products of few rows by weights on all processors, beside a plain read: the sum
// of as many bytes. Speeds count the bytes of packed integers.
func BenchmarkWeights(b *testing.B) {
	const k, n = 4096, 4096
	for _, set := range Sets() {
		for threads, each := range map[string]func(n, min int, f func(lo, hi int)){"one": inOne, "all": inThreads} {
			x := slices.Repeat([]float32{1}, k*n/4) // written: pages that are not are all the same memory
			b.Run(fmt.Sprintf("read/%s/%v", threads, set), func(b *testing.B) {
				b.SetBytes(k * n)
				for b.Loop() {
					each(len(x)/1024, 1, func(lo, hi int) {
						for i := lo; i < hi; i++ {
							On[float32](set).Sum(x[i*1024 : (i+1)*1024])
						}
					})
				}
			})
			halves := make([]bfloat16.BFloat16, k*n)
			for _, m := range []int{1, 2, 3, 8, 32, 33} {
				w := PackHalves(halves, k, n, nil)
				b.Run(fmt.Sprintf("%d/bfloat16/%s/%v", m, threads, set), func(b *testing.B) {
					y := make([]float32, m*n)
					b.SetBytes(2 * k * n)
					for b.Loop() {
						w.Multiply(set, m, x, k, y, n, each)
					}
				})
			}
			for _, bits := range []int{8, 4} {
				for _, group := range []int{0, 128, 32} {
					w := newWeights(bits, k, n, group)
					for _, m := range []int{1, 2, 3, 8, 32, 33} {
						b.Run(fmt.Sprintf("%d/bits%d/group%d/%s/%v", m, bits, group, threads, set), func(b *testing.B) {
							y := make([]float32, m*n)
							b.SetBytes(k * n * int64(bits) / 8)
							for b.Loop() {
								w.Multiply(set, m, x, k, y, n, each)
							}
						})
					}
				}
			}
		}
	}
}

// BenchmarkWeightsTall is products of many rows on one processor, beside those of floats.
func BenchmarkWeightsTall(b *testing.B) {
	for _, size := range [][3]int{{1024, 1024, 1024}, {128, 1024, 1024}, {32, 1024, 1024}} {
		m, n, k := size[0], size[1], size[2]
		for _, set := range Sets() {
			for _, bits := range []int{8, 4} {
				w := newWeights(bits, k, n, 128)
				b.Run(fmt.Sprintf("%v/bits%d/%v", size, bits, set), func(b *testing.B) {
					x, y := make([]float32, m*k), make([]float32, m*n)
					for b.Loop() {
						w.Multiply(set, m, x, k, y, n, inOne)
					}
					b.ReportMetric(2*float64(m)*float64(n)*float64(k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
				})
			}
			benchmarkProduct[float32](b, set, fmt.Sprint(size), 0, size)
		}
	}
}

// newWeights is random weights with scales of 1.
func newWeights(bits, k, n, group int) *Weights {
	rng := rand.New(rand.NewPCG(15, 16))
	q := make([]uint8, k*n)
	for i := range q {
		q[i] = uint8(rng.Uint32()) >> (8 - bits)
	}
	groups := 1
	if group > 0 {
		groups = k / group
	}
	return PackWeights(bits, q, k, n, n, 1, group, slices.Repeat([]float32{1}, groups*n),
		slices.Repeat([]float32{float32(int(1) << (bits - 1))}, groups*n), nil)
}
