package ops

import (
	"fmt"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/parallel"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
)

// Quantized is the kernels of matrices W [k, n] of a format, whose memory vec.Weights describes: W packed, their scales S, and their zero points Z, of which there are none unless zeros is 1. group is the
// rows that share a scale, or 0 for all.
type Quantized struct {
	// Y [m, n] = X [m, k]·W: X, W, S, Z, Y, m, n, k, group, zeros.
	many, few *kernels.Kernel
	// Floats makes floats of W, or with transposed of Wᵀ: W, S, Z, Y, k, n, group, zeros, transposed.
	Floats *kernels.Kernel
	// Columns makes floats of the columns of W that AT names, and 0 of one that there is not, as the rows of
	// Y [count, k]: W, S, Z, AT, Y, count, k, n, group, zeros.
	Columns *kernels.Kernel
	// function is that of an element of W in descriptions.
	function *kernels.Function
}

// MatMul returns the kernel of products of m rows on a device. A CPU unpacks W once for three rows in the time
// that it multiplies them one by one.
func (q *Quantized) MatMul(m int, l kernels.Target) *kernels.Kernel {
	if m <= 2 || m <= 4 && !l.CPU {
		return q.few
	}
	return q.many
}

// QuantizedOf returns the kernels of matrices of a format.
func QuantizedOf(f vec.WeightFormat) *Quantized { return quantized[f] }

var quantized = []*Quantized{
	vec.Weights8:        newQuantized(vec.Weights8, "-DBITS=8", kernels.Uint8),
	vec.Weights4:        newQuantized(vec.Weights4, "-DBITS=4", kernels.Uint8),
	vec.WeightsFloat16:  newQuantized(vec.WeightsFloat16, "-DBITS=16 -DFROM_HALF=from_float16", kernels.Float16),
	vec.WeightsBFloat16: newQuantized(vec.WeightsBFloat16, "-DBITS=16 -DFROM_HALF=from_bfloat16", kernels.BFloat16),
}

func quantizedKernels() (all []*kernels.Kernel) {
	for _, q := range quantized {
		all = append(all, q.many, q.few, q.Floats, q.Columns)
	}
	return all
}

// packedOf returns the memory of argument i, packed weights of a type.
func packedOf(c kernels.HostArgs[float32], i int, t kernels.DType) []byte {
	switch t {
	case kernels.Float16:
		return vec.HalfBytes(c.Halves(i))
	case kernels.BFloat16:
		return vec.HalfBytes(kernels.Elements[bfloat16.BFloat16](c, i))
	}
	return c.Bytes(i)
}

// newQuantized returns the kernels of a format, whose memory is of type t.
func newQuantized(format vec.WeightFormat, defines string, t kernels.DType) *Quantized {
	packed := kernels.Param{Name: "W", Mode: kernels.In.Of(t)}
	product := kernels.Kernel{File: "quantized_cpu.cl", GPU: "quantized_gpu.cl", Defines: defines,
		Params: []kernels.Param{in("X"), packed, in("S"), in("Z"), out("Y"), intArg("m"), intArg("n"),
			intArg("k"), intArg("group"), intArg("zeros")},
		Host: kernels.HostKernel{F32: func(c kernels.HostArgs[float32]) {
			m, n, k := c.Int(5), c.Int(6), c.Int(7)
			w := vec.WeightsOf(format, k, n, c.Int(8), packedOf(c, 1, t), c.Floats(2), c.Floats(3))
			w.Multiply(setOf(c), m, c.Floats(0), k, c.Floats(4), n, parallel.For)
		}},
		Cases: func(few bool) []kernels.Case { return quantizedCases(format, few) },
		Tol: kernels.Tolerance{ULP: 4, Rel: 8, Scale: func(a []kernels.Arg) float64 {
			largest := 128 + kernels.MaxAbs(a, 3)
			if t.Half() {
				largest = kernels.MaxAbs(a, 1)
			}
			return float64(a[7].Int) * kernels.MaxAbs(a, 0) * kernels.MaxAbs(a, 2) * largest
		}},
	}
	const wide, tile, side = 32, 64, 16
	many, few := product, product
	many.Name, few.Name = "k_matmul_quantized", "k_matmul_quantized_rows"
	many.Grid = func(a []kernels.Arg, l kernels.Target) kernels.Grid {
		m, n := int(a[5].Int), int(a[6].Int)
		if l.CPU {
			return kernels.Groups(intmath.CeilDiv(n, wide), intmath.CeilDiv(m, 32))
		}
		return kernels.Grid{Dims: 2, Global: [3]int{intmath.CeilDiv(n, tile) * side, intmath.CeilDiv(m, tile) * side},
			Local: [3]int{side, side}}
	}
	few.Grid = func(a []kernels.Arg, l kernels.Target) kernels.Grid {
		m, n := int(a[5].Int), int(a[6].Int)
		if l.CPU {
			return kernels.Groups(intmath.CeilDiv(n, tile), m)
		}
		return kernels.Grid{Dims: 2, Global: [3]int{intmath.CeilDiv(n, wide) * 8, m * 32}, Local: [3]int{8, 32}}
	}
	floats := &kernels.Kernel{Name: "k_dequantize", File: "dequantize.cl", Defines: product.Defines,
		Params: []kernels.Param{packed, in("S"), in("Z"), out("Y"), intArg("k"), intArg("n"), intArg("group"),
			intArg("zeros"), intArg("transposed")},
		Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
			k, n := int(a[4].Int), int(a[5].Int)
			if a[8].Int != 0 {
				k, n = n, k
			}
			return kernels.Grid2D(n, k, l)
		},
		Host: kernels.HostKernel{F32: func(c kernels.HostArgs[float32]) {
			w := vec.WeightsOf(format, c.Int(4), c.Int(5), c.Int(6), packedOf(c, 0, t), c.Floats(1), c.Floats(2))
			w.Floats(setOf(c), c.Floats(3), c.Int(8) != 0, parallel.For)
		}},
		Cases: func(few bool) []kernels.Case {
			var cases []kernels.Case
			for transposed := range 2 {
				cases = append(cases, matrixCases(format, few, func(o *kernels.Operands, k, n, group int, zeros bool) {
					addQuantized(o, format, k, n, group, zeros)
					o.Out(k*n).Int(k, n, group, boolInt(zeros), transposed)
				})...)
			}
			return cases
		},
	}
	columns := &kernels.Kernel{Name: "k_dequantize_columns", File: "dequantize.cl", Defines: product.Defines,
		Params: []kernels.Param{packed, in("S"), in("Z"), inInts("AT"), out("Y"), intArg("count"), intArg("k"),
			intArg("n"), intArg("group"), intArg("zeros")},
		Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
			return kernels.Grid2D(int(a[6].Int), int(a[5].Int), l)
		},
		Host: kernels.HostKernel{F32: func(c kernels.HostArgs[float32]) {
			k, n := c.Int(6), c.Int(7)
			w := vec.WeightsOf(format, k, n, c.Int(8), packedOf(c, 0, t), c.Floats(1), c.Floats(2))
			y, at := c.Floats(4), c.Ints(3)
			c.Parallel(len(at), 4*k, func(lo, hi int) {
				for i, j := range at[lo:hi] {
					row := y[(lo+i)*k:][:k]
					if j < 0 || int(j) >= n {
						clear(row)
						continue
					}
					w.Column(row, int(j))
				}
			})
		}},
		Cases: func(few bool) []kernels.Case {
			return matrixCases(format, few, func(o *kernels.Operands, k, n, group int, zeros bool) {
				const count = 7
				addQuantized(o, format, k, n, group, zeros)
				o.Ints(count, func(int) int { return o.Rand.IntN(n+2) - 1 }).Out(count*k).
					Int(count, k, n, group, boolInt(zeros))
			})
		},
	}
	q := &Quantized{&many, &few, floats, columns, dequantize(format)}
	many.Semantics, few.Semantics = q.productSemantics, q.productSemantics
	floats.Semantics, columns.Semantics = q.floatsSemantics, q.columnsSemantics
	return q
}

// quantizedSizes are k, n, and the rows of a group: around those of a panel, of a block and of a group, and odd.
var quantizedSizes = [][3]int{{1, 1, 0}, {7, 5, 0}, {32, 64, 32}, {33, 65, 32}, {70, 31, 64}, {128, 130, 32},
	{95, 64, 0}, {1100, 33, 96}, {0, 3, 0}, {3, 0, 0}}

// addQuantized adds the memory of a matrix: W, S and Z.
func addQuantized(o *kernels.Operands, format vec.WeightFormat, k, n, group int, zeros bool) {
	switch format {
	case vec.WeightsFloat16:
		addHalves(o, kernels.Float16, k, n)
		return
	case vec.WeightsBFloat16:
		addHalves(o, kernels.BFloat16, k, n)
		return
	}
	bits := format.Bits()
	q := make([]int8, k*n)
	for i := range q {
		q[i] = int8(o.Rand.IntN(1<<bits) - 1<<(bits-1))
	}
	groups := 1
	if group > 0 {
		groups = intmath.CeilDiv(k, group)
	}
	scale := make([]float32, groups*n)
	for i := range scale {
		scale[i] = o.Rand.Float32() + 0.1
	}
	var zero []float32
	if zeros {
		zero = make([]float32, groups*n)
		for i := range zero {
			zero[i] = float32(o.Rand.IntN(1<<bits) - 1<<(bits-1))
		}
	}
	packed, scale, zero := vec.PackWeights(bits, q, k, n, n, 1, group, scale, zero, nil).Memory()
	o.Elements(kernels.Uint8, len(packed), func(i int) float64 { return float64(packed[i]) })
	for _, v := range [][]float32{scale, zero} {
		o.Floats(len(v), func(i int) float64 { return float64(v[i]) })
	}
}

// addHalves adds the memory of a matrix of floats of 16 bits, of type t: W, S and no Z.
func addHalves(o *kernels.Operands, t kernels.DType, k, n int) {
	packed, scale, _ := vec.PackHalves(make([]bfloat16.BFloat16, k*n), k, n, nil).Memory()
	o.Elements(t, len(packed)/2, func(int) float64 { return 2*o.Rand.Float64() - 1 })
	o.Floats(len(scale), func(int) float64 { return 1 }).Floats(0, nil)
}

func quantizedCases(format vec.WeightFormat, few bool) []kernels.Case {
	var cases []kernels.Case
	for i, s := range quantizedSizes {
		k, n, group := s[0], s[1], s[2]
		if few && k*n > 5000 {
			continue
		}
		if format.Bits() == 16 {
			group = 0
		}
		for j, m := range []int{1, 3, 5, 67} {
			if few && (m*n*k > 50000 || (i+j)%2 == 1) {
				continue
			}
			zeros := (i+j/2)%2 == 1 && format.Bits() < 16
			name := fmt.Sprintf("%dx%dx%d in groups of %d, zero points: %v", m, n, k, group, zeros)
			cases = append(cases, kernels.Case{Name: name, Build: func(o *kernels.Operands) {
				o.In(m*k, -1, 1)
				addQuantized(o, format, k, n, group, zeros)
				o.Out(m*n).Int(m, n, k, group, boolInt(zeros))
			}})
		}
	}
	return cases
}

// matrixCases are launches for matrices of all sizes.
func matrixCases(format vec.WeightFormat, few bool, build func(o *kernels.Operands, k, n, group int, zeros bool)) []kernels.Case {
	var cases []kernels.Case
	for i, s := range quantizedSizes {
		k, n, group := s[0], s[1], s[2]
		if few && k*n > 5000 {
			continue
		}
		zeros := i%2 == 1
		if format.Bits() == 16 {
			group, zeros = 0, false
		}
		name := fmt.Sprintf("%dx%d in groups of %d, zero points: %v", k, n, group, zeros)
		cases = append(cases, kernels.Case{Name: name, Build: func(o *kernels.Operands) {
			build(o, k, n, group, zeros)
		}})
	}
	return cases
}

func boolInt(on bool) int {
	if on {
		return 1
	}
	return 0
}
