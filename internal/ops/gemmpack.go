package ops

import (
	"fmt"
	"math"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/selftest"
	"github.com/x448/float16"
)

// packing is how an operand is packed for tiles: in blocks of width x by steps k, each as a tile
// stages it in local memory.
type packing struct {
	inner        Inner // without Packed
	width, steps int
}

// packings returns those of A and B.
func (t GemmTile) packings() (a, b packing) {
	return packing{t.Inner.factors(), t.M, t.K}, packing{t.Inner.factors(), t.N, t.K}
}

// Packings returns, for an operand of a product [m, K]·[K, n] in a tile that wants packed ones, the
// kernel that packs it, and the lengths of what that writes: of the elements, and of whether they
// are what the tile's factors hold. Arguments: the operand, the two, the length of x, K, and how
// far neighbours along each are apart. One of these is 1.
func (t GemmTile) Packings(x, K int, second bool) (k *kernels.Kernel, words, flaws int) {
	p, b := t.packings()
	if second {
		p = b
	}
	words, flaws = p.lengths(x, K)
	return p.kernel(), words, flaws
}

func (p packing) chunk() int { return [...]int{TF32: 4, FP16: 8, BF16x3: 8, BF16: 8}[p.inner] }

func (p packing) planes() int { return [...]int{TF32: 1, FP16: 1, BF16x3: 3, BF16: 1}[p.inner] }

// plane returns the words of 32 bits of a plane of a block.
func (p packing) plane() int { return p.width * p.steps / p.chunk() * 4 }

func (p packing) lengths(x, K int) (words, flaws int) {
	flaws = intmath.CeilDiv(x, p.width) * intmath.CeilDiv(K, p.steps)
	return flaws * p.planes() * p.plane(), flaws
}

// where returns the word of a plane with element (x, k) of a block: WHERE of mma.cl, with BRICKS.
func (p packing) where(x, k int) int {
	return ((x/8*(p.steps/p.chunk())+k/p.chunk())*8+x%8)*4 + k%p.chunk()*4/p.chunk()
}

// pack packs the operand whose element (x, k) is at(x, k).
func (p packing) pack(words, flaws []int32, n, K int, at func(x, k int) float32) {
	clear(words)
	clear(flaws)
	blocks := intmath.CeilDiv(K, p.steps)
	for x := range n {
		for k := 0; k < K; k += 4 {
			block := x/p.width*blocks + k/p.steps
			size := float32(0)
			for e := k; e < min(k+4, K); e++ {
				v := at(x, e)
				to := words[block*p.planes()*p.plane()+p.where(x%p.width, e%p.steps):]
				size = float32(math.FMA(float64(v), float64(v), float64(size)))
				if p.put(to, p.plane(), v, e%2) {
					flaws[block] = 1
				}
			}
			if p.inner == BF16x3 && !(size < 0x1p100) {
				flaws[block] = 1
			}
		}
	}
}

// put adds element v to a word in each plane, the e-th of those that it holds, and reports whether
// its parts do not hold it.
func (p packing) put(to []int32, plane int, v float32, e int) (flawed bool) {
	switch p.inner {
	case TF32:
		to[0] = int32(math.Float32bits(float32(kernels.PrecisionTF32.Round(float64(v)))))
		return false
	case FP16:
		to[0] |= int32(uint32(float16.Fromfloat32(v)) << (e * 16))
		return false
	case BF16:
		to[0] |= int32(uint32(bfloat(v)) << (e * 16))
		return false
	}
	for part := range 2 {
		h := bfloat(v)
		to[part*plane] |= int32(uint32(h) << (e * 16))
		v -= math.Float32frombits(uint32(h) << 16)
	}
	left := math.Float32bits(v) // a bfloat16 is its upper half
	to[2*plane] |= int32(left >> 16 << (e * 16))
	return left&0xffff != 0 || v != v
}

// bfloat returns the bfloat16 nearest to v, of two the even one.
func bfloat(v float32) uint16 {
	u := math.Float32bits(v)
	if v != v {
		return uint16(u>>16 | 0x40)
	}
	return uint16((u + 0x7fff + u>>16&1) >> 16)
}

// Where the arguments of a packing are.
const (
	packS = iota
	packP
	packF
	packN
	packK
	packRow
	packStep
)

func (p packing) kernel() *kernels.Kernel {
	use := fused.Variant{Kernel: "packed operand", Shape: [5]int{int(p.inner), p.width, p.steps}}
	return fused.KernelFor(fn.Identity, use, p.newKernel)
}

func (p packing) newKernel() *kernels.Kernel {
	const group = 128
	return &kernels.Kernel{Name: "k_gemm_pack", File: "gemm_pack.cl", Defines: p.defines(),
		Params: []kernels.Param{in("S"), outInts("P"), outInts("F"), intArg("n"), intArg("K"), intArg("row"), intArg("step")},
		Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
			return kernels.Grid{Dims: 2, Local: [3]int{group, 1},
				Global: [3]int{intmath.CeilDiv(int(a[packK].Int), p.steps) * group, intmath.CeilDiv(int(a[packN].Int), p.width)}}
		},
		Host: kernels.HostKernel{F32: func(c kernels.HostArgs[float32]) {
			s, row, step := c.Floats(packS), c.Int(packRow), c.Int(packStep)
			p.pack(c.Ints(packP), c.Ints(packF), c.Int(packN), c.Int(packK), func(x, k int) float32 { return s[x*row+k*step] })
		}},
		Cases: p.cases, SelfTest: p.selfTest,
	}
}

// cases are the launches that test a packing: in both layouts, cut off at both ends and not, and
// with elements that parts do not hold.
func (p packing) cases(few bool) []kernels.Case {
	var cases []kernels.Case
	for i, s := range []struct {
		n, K    int
		largest float64
	}{{p.width, 2 * p.steps, 1}, {p.width + 3, p.steps + 5, 100}, {7, 3, 1e-3}, {p.width + 5, p.steps + 2, 0x1p-112}, {20, 30, 0x1p62}} {
		for along := range 2 {
			row, step := s.K+i%3, 1
			if along > 0 {
				row, step = 1, s.n+i%3
			}
			words, flaws := p.lengths(s.n, s.K)
			blank := func(int) int { return 77 }
			cases = append(cases, kernels.Case{Name: fmt.Sprint(s.n, " by ", s.K, ", ", row, " and ", step), Build: func(o *kernels.Operands) {
				o.In((s.n-1)*row+(s.K-1)*step+1, -s.largest, s.largest).Ints(words, blank).Ints(flaws, blank).Int(s.n, s.K, row, step)
			}})
		}
	}
	return cases
}

// trial makes the launch with fewer x where there are too many.
func (p packing) selfTest(like []kernels.Arg) []kernels.Operand {
	if like == nil {
		return nil
	}
	num := func(i int) int { return int(like[i].Int) }
	K, row, step := num(packK), num(packRow), num(packStep)
	n := max(1, min(num(packN), selftest.Elements/(8*max(1, K))))
	reads := (n-1)*row + (K-1)*step + 1
	if reads > selftest.Elements {
		return nil
	}
	words, flaws := p.lengths(n, K)
	return []kernels.Operand{selftest.Uniform(reads, -1, 1), selftest.Output(words), selftest.Output(flaws),
		selftest.Number(float64(n)), selftest.Number(float64(K)), selftest.Number(float64(row)),
		selftest.Number(float64(step))}
}

func (p packing) defines() string {
	return fmt.Sprintf("-DINNER=%d -DWIDTH=%d -DTK=%d -DBRICKS", p.inner, p.width, p.steps)
}

// packedParams are those of a product of packed operands, after all others.
var packedParams = []kernels.Param{inInts("PA"), inInts("FA"), inInts("PB"), inInts("FB")}

// operand returns the packing of an operand of a product, its x and how far neighbours along x and
// k are apart.
func (p *product) operand(second bool, num func(i int) int) (g packing, x, row, step int) {
	a, b := p.tile.packings()
	switch {
	case second && p.form.TransposesB():
		return b, num(gemmN), num(gemmLDB), 1
	case second:
		return b, num(gemmN), 1, num(gemmLDB)
	case p.form.TransposesA():
		return a, num(gemmM), 1, num(gemmLDA)
	}
	return a, num(gemmM), num(gemmLDA), 1
}

// packed returns the four arguments of packed operands, as operands of a trial.
func (p *product) packed(num func(i int) int) []kernels.Operand {
	var ops []kernels.Operand
	K := num(gemmK)
	for i, arg := range []int{gemmA, gemmB} {
		g, x, row, step := p.operand(i > 0, num)
		n, m := g.lengths(x, K)
		var words, flaws []int32
		from := func(of *[]int32) func(before []kernels.Arg, i int) float64 {
			return func(before []kernels.Arg, i int) float64 {
				if words == nil {
					words, flaws = make([]int32, n), make([]int32, m)
					g.pack(words, flaws, x, K, func(x, k int) float32 { return float32(before[arg].At(x*row + k*step)) })
				}
				return float64((*of)[i])
			}
		}
		ops = append(ops, selftest.Computed(n, from(&words)), selftest.Computed(m, from(&flaws)))
	}
	return ops
}

// addPacked adds the packed operands to a case.
func (p *product) addPacked(o *kernels.Operands) {
	if !p.tile.Inner.swizzled() {
		return
	}
	for _, op := range p.packed(func(i int) int { return int(o.Args[i].Int) }) {
		before := o.Args
		o.Elements(kernels.Int32, op.N, func(i int) float64 { return op.From(before, i) })
	}
}
