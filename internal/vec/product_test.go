package vec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// inOne runs all of a loop at once.
func inOne(n, _ int, f func(lo, hi int)) { f(0, n) }

// inPieces runs each element of a loop for itself, from the end on.
func inPieces(n, _ int, f func(lo, hi int)) {
	for i := n; i > 0; i-- {
		f(i-1, i)
	}
}

// random is n elements in [−1, 1) with a guard behind them.
func random[T Float](rng *rand.Rand, n int) []T {
	v := make([]T, n, n+1)
	for i := range v {
		v[i] = T(rng.Float64()*2 - 1)
	}
	return v
}

// form makes a product of a form, 0 to 3: A and B as they are or transposed, with rows that are
// gaps further apart.
func form[T Float](rng *rand.Rand, form, m, n, k, gap int) *Product[T] {
	p := &Product[T]{M: m, N: n, K: k, RowA: k + gap, StepA: 1, StepB: n + gap, ColumnB: 1, RowC: n + gap}
	rowsA, rowsB := m, k
	if form&1 > 0 {
		p.RowA, p.StepA, rowsA = 1, m+gap, k
	}
	if form&2 > 0 {
		p.StepB, p.ColumnB, rowsB = 1, k+gap, n
	}
	p.A, p.B = random[T](rng, rowsA*max(p.RowA, p.StepA)), random[T](rng, rowsB*max(p.StepB, p.ColumnB))
	p.C = random[T](rng, m*p.RowC)
	return p
}

// sum returns element (i, j) of a product in double precision, and the sum of what was added,
// without signs.
func (p *Product[T]) sum(old []T, i, j int) (sum, size float64) {
	add := func(v float64) { sum, size = sum+v, size+math.Abs(v) }
	for k := range p.K {
		add(float64(p.A[i*p.RowA+k*p.StepA]) * float64(p.B[k*p.StepB+j*p.ColumnB]))
	}
	if p.Bias != nil {
		add(float64(p.Bias[j]))
	}
	if p.Add {
		add(float64(old[i*p.RowC+j]))
	}
	return sum, size
}

var productSizes = [][3]int{{1, 1, 1}, {1, 7, 3}, {3, 1, 5}, {2, 2, 0}, {0, 3, 2}, {3, 0, 2}, {12, 32, 8}, {13, 33, 9}, {11, 31, 255}, {25, 17, 257}, {5, 16, 256},
	{64, 64, 64}, {130, 65, 300}, {1, 200, 40}, {121, 9, 513}, {7, 129, 64}, {49, 290, 20}, {50, 300, 512}, {200, 3, 65}, {6, 8, 4}, {4, 4, 4}, {241, 48, 2}, {40, 20, 20}, {33, 33, 33}, {20, 23, 50}, {13, 25, 6}}

// narrowSizes are those of few columns or rows.
var narrowSizes = [][3]int{{100, 3, 64}, {100, 1, 257}, {33, 2, 259}, {16, 4, 3}, {90, 4, 258}, {2, 100, 64}, {1, 130, 515}, {4, 33, 40}, {3, 17, 300}, {64, 1, 256},
	{65, 1, 4}, {4, 4, 700}}

// TestProduct: every form and size is what double precision gives, within the error of sums in
// runs, with each set of instructions, and of the same bits with all of them and however it is
// shared out.
func TestProduct(t *testing.T) {
	testProduct[float32](t, 0x1p-24)
	testProduct[float64](t, 0x1p-53)
}

func testProduct[T Float](t *testing.T, eps float64) {
	sets := Sets()
	if len(sets) == 0 {
		t.Skip("this processor has no vectors that we know")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	sizes := slices.Clone(productSizes)
	for range 150 {
		sizes = append(sizes, [3]int{rng.IntN(70), rng.IntN(100), rng.IntN(600)})
	}
	for f := range 4 {
		for i, size := range narrowSizes {
			sizes = append(sizes, size)
			if i == len(narrowSizes)-1 && f < 3 {
				sizes = append(sizes, [3]int{1, 1, 1}) // so that they come in the next form
			}
		}
	}
	for c, size := range sizes {
		m, n, k := size[0], size[1], size[2]
		p := form[T](rng, c%4, m, n, k, c%3)
		if c%5 == 4 {
			p.StepB += 300 * p.ColumnB / max(p.ColumnB, 1) * min(1, p.StepB-1) // rows of B that are far apart
			p.B = random[T](rng, (k+1)*max(1, p.StepB)+n*p.ColumnB)
		}
		p.Add = c%2 > 0
		if c%7 < 3 {
			p.Bias = random[T](rng, n)
		}
		old := slices.Clone(p.C)
		var first []T
		for s, set := range sets {
			for way, each := range []func(n, min int, f func(lo, hi int)){inOne, inPieces, nil} {
				name := fmt.Sprintf("%T %v form %d %v", old, set, c%4, size)
				copy(p.C, old)
				ended := make([]int, m)
				p.End = func(lo, hi int) { count(ended[lo:hi]) }
				On[T](set).Product(*p, each)
				if n > 0 && slices.ContainsFunc(ended, notOne) {
					t.Fatalf("%s: rows end %v times", name, ended)
				}
				if s == 0 && way == 0 {
					first = slices.Clone(p.C)
					for i := range m {
						for j := range p.RowC {
							at := i*p.RowC + j
							if j >= n {
								if p.C[at] != old[at] {
									t.Fatalf("%s: writes beyond row %d", name, i)
								}
								continue
							}
							want, size := p.sum(old, i, j)
							if off := math.Abs(float64(p.C[at]) - want); off > eps*size*float64(min(k, run)+k/run+3) {
								t.Fatalf("%s: C[%d, %d] is %v, want %v", name, i, j, p.C[at], want)
							}
						}
					}
				}
				if at := differs(p.C, first); at >= 0 {
					t.Fatalf("%s: other bits than %v: element %d is %v, and was %v", name, sets[0], at, p.C[at], first[at])
				}
			}
		}
	}
}

func count(v []int) {
	for i := range v {
		v[i]++
	}
}

func notOne(v int) bool { return v != 1 }

// differs returns the first element whose bits differ, -1 if none does.
func differs[T Float](a, b []T) int {
	for i, v := range a {
		if math.Float64bits(float64(v)) != math.Float64bits(float64(b[i])) {
			return i
		}
	}
	return -1
}

// TestProductRepeats: of an operand whose rows, or columns, are all the same one lies in memory. The product
// has the bits of that of their copies.
func TestProductRepeats(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for f := range 4 {
		for _, size := range slices.Concat(narrowSizes, productSizes) {
			m, n, k := size[0], size[1], size[2]
			for operand := range 2 {
				p := *form[float32](rng, f, m, n, k, 0)
				list, far, near := &p.A, &p.RowA, &p.StepA
				if operand == 1 {
					list, far, near = &p.B, &p.StepB, &p.ColumnB
				}
				if *far == 1 {
					far, near = near, far
				}
				if *far == 1 {
					continue // one vector
				}
				for i := *far; i < len(*list); i++ {
					(*list)[i] = (*list)[i-*far]
				}
				old := slices.Clone(p.C)
				for _, set := range Sets() {
					copy(p.C, old)
					On[float32](set).Product(p, nil)
					want, all, step := slices.Clone(p.C), *list, *far
					copy(p.C, old)
					*list, *far = slices.Clone(all[:min(step, len(all))]), 0
					On[float32](set).Product(p, nil)
					if i := differs(p.C, want); i >= 0 {
						t.Errorf("%v form %d %v operand %d: element %d is %v, want %v", set, f, size, operand, i, p.C[i], want[i])
					}
					*list, *far = all, step
				}
			}
		}
	}
}

// TestProductSpecials: infinities and NaN come out where plain loops have them, also against zeros.
func TestProductSpecials(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, set := range Sets() {
		rng := rand.New(rand.NewPCG(3, 4))
		for f := range 4 {
			p := form[float32](rng, f, 19, 37, 21, 1)
			p.A[2*p.RowA+3*p.StepA], p.A[5*p.RowA] = inf, nan
			p.A[7*p.RowA+20*p.StepA], p.B[20*p.StepB+36*p.ColumnB] = 0, -inf
			On[float32](set).Product(*p, inOne)
			for i := range p.M {
				for j := range p.N {
					want, _ := p.sum(nil, i, j)
					if got := float64(p.C[i*p.RowC+j]); math.IsNaN(got) != math.IsNaN(want) || math.IsInf(got, 0) != math.IsInf(want, 0) || math.IsInf(want, 0) && got != want {
						t.Fatalf("%v form %d: C[%d, %d] is %v, want %v", set, f, i, j, got, want)
					}
				}
			}
		}
	}
}

// TestProductBounds: operands that are too short are refused before anything is written.
func TestProductBounds(t *testing.T) {
	for _, set := range Sets() {
		for _, short := range []func(p *Product[float32]){
			func(p *Product[float32]) { p.A = p.A[:len(p.A)-1] },
			func(p *Product[float32]) { p.B = p.B[:len(p.B)-1] },
			func(p *Product[float32]) { p.C = p.C[:len(p.C)-1] },
		} {
			p := form[float32](rand.New(rand.NewPCG(5, 6)), 0, 13, 33, 9, 0)
			short(p)
			old := slices.Clone(p.C)
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%v takes operands that are too short", set)
					}
				}()
				On[float32](set).Product(*p, inOne)
			}()
			if at := differs(p.C, old); at >= 0 {
				t.Errorf("%v wrote element %d", set, at)
			}
		}
	}
}

// TestProductLarge: sums and columns that are packed in several parts have the bits of those that
// are packed at once.
func TestProductLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, size := range [][3]int{{49, 40, 60000}, {13, 9000, 300}} {
		for f := range 4 {
			p := form[float32](rand.New(rand.NewPCG(7, 8)), f, size[0], size[1], size[2], 0)
			for _, set := range Sets() {
				On[float32](set).Product(*p, inOne)
				was := slices.Clone(p.C)
				clear(p.C)
				On[float32](set).Product(*p, nil)
				if at := differs(p.C, was); at >= 0 {
					t.Errorf("%v form %d %v: other bits on one goroutine", set, f, size)
				}
				for _, at := range [][2]int{{0, 0}, {size[0] - 1, size[1] - 1}, {12, 39}} {
					want := float32(0)
					for from := 0; from < p.K; from += run {
						sum := 0.0
						for k := from; k < min(p.K, from+run); k++ {
							sum = float64(float32(math.FMA(float64(p.A[at[0]*p.RowA+k*p.StepA]), float64(p.B[k*p.StepB+at[1]*p.ColumnB]), sum)))
						}
						want += float32(sum)
					}
					if got := p.C[at[0]*p.RowC+at[1]]; math.Abs(float64(got-want)) > 1e-6*math.Abs(float64(want))+1e-6 {
						t.Errorf("%v form %d %v: element %v is %v, want %v", set, f, size, at, got, want)
					}
				}
			}
		}
	}
}

// TestChoose: the environment names a set of this processor, or none.
func TestChoose(t *testing.T) {
	there := []*Set{{name: "wide"}, {name: "narrow"}}
	for name, want := range map[string]*Set{"": there[0], "wide": there[0], "narrow": there[1], "off": nil} {
		if got, err := choose(name, there); got != want || err != nil {
			t.Errorf("%q: %v, %v", name, got, err)
		}
	}
	if got, err := choose("", nil); got != nil || err != nil {
		t.Errorf("nothing there: %v, %v", got, err)
	}
	_, err := choose("neon", there)
	if want := `CLGRAD_VECTORS is "neon": on this processor it may be off, wide, narrow`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func BenchmarkProduct(b *testing.B) {
	for _, size := range [][3]int{{512, 64, 64}, {65536, 64, 64}, {64, 64, 512}, {64, 64, 65536}, {512, 512, 512}, {1024, 1024, 1024}, {64, 64, 64}, {512, 3, 64}, {8, 8, 8}} {
		for f, name := range []string{"NN", "TN", "NT"} {
			for _, set := range Sets() {
				benchmarkProduct[float32](b, set, fmt.Sprint(name, size), f, size)
				benchmarkProduct[float64](b, set, fmt.Sprint(name, size), f, size)
			}
		}
	}
}

func benchmarkProduct[T Float](b *testing.B, set *Set, name string, f int, size [3]int) {
	b.Run(fmt.Sprintf("%s/%T/%v", name, *new(T), set), func(b *testing.B) {
		p := form[T](rand.New(rand.NewPCG(1, 2)), f, size[0], size[1], size[2], 0)
		for b.Loop() {
			On[T](set).Product(*p, inOne)
		}
		b.ReportMetric(2*float64(p.M)*float64(p.N)*float64(p.K)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
	})
}

// TestProductReads: operands that are read give the bits of those that lie there: for few rows and many, with columns past what is
// packed at a time, and in the tall blocks of few columns and rows.
func TestProductReads(t *testing.T) {
	for _, set := range Sets() {
		rng := rand.New(rand.NewPCG(7, 8))
		for _, s := range [][3]int{{1, 1100, 600}, {2, 37, 300}, {4, 700, 40}, {700, 3, 300}, {5, 1100, 600}, {17, 2100, 259}, {48, 65, 33}, {49, 130, 300}, {130, 67, 513}} {
			for f := range 4 {
				p := form[float32](rng, f, s[0], s[1], s[2], 1)
				On[float32](set).Product(*p, inPieces)
				want := slices.Clone(p.C)
				for read := 1; read < 4; read++ {
					q := *p
					if read&1 > 0 {
						q.A, q.ReadA = nil, linesOf(p.A)
					}
					if read&2 > 0 {
						q.B, q.ReadB = nil, linesOf(p.B)
					}
					for _, each := range []func(n, min int, f func(lo, hi int)){inOne, inPieces, nil} {
						q.C = random[float32](rng, len(want))
						copyPast(q.C, want, &q)
						On[float32](set).Product(q, each)
						if !slices.Equal(q.C, want) {
							t.Fatalf("%v form %d %v, read %b: other bits", set, f, s, read)
						}
					}
				}
			}
		}
	}
}

// linesOf reads an operand of these elements.
func linesOf(x []float32) Reader[float32] {
	return func(to []float32, row, from, distance, lines, n int) {
		for i := range lines {
			copy(to[i*row:][:n], x[from+i*distance:][:n])
		}
	}
}

// copyPast sets what lies between the rows of a product, which it does not write.
func copyPast(c, from []float32, p *Product[float32]) {
	for i := range c {
		if i%p.RowC >= p.N {
			c[i] = from[i]
		}
	}
}
