package ops_test

import (
	"maps"
	"math"
	"runtime"
	"testing"

	"github.com/clgrad/clgrad/internal/compare"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/internal/parallel"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/fn"
)

// call is a launch as a definition sees it: memory in float64, which holds every element type, and
// numbers. round makes of a float64 what the device's floats hold of it.
type call struct {
	args  []kernels.Arg
	mem   [][]float64 // nil for numbers
	round func(float64) float64
}

func (c call) n(i int) int                 { return int(c.args[i].Int) }
func (c call) r(i int) float64             { return c.round(c.args[i].Float) }
func (c call) on(i int) bool               { return c.args[i].Int != 0 }
func row(v []float64, at, n int) []float64 { return v[at : at+n] }

// definitions says of each kernel what its host kernel computes, in the plainest way: sums in float64, and
// one element after the other. What they write is compared within the tolerance that a device has.
var definitions = map[*kernels.Kernel]func(c call){
	ops.Zero: func(c call) { clear(c.mem[0]) },
	ops.Fill: func(c call) {
		for i := range c.mem[0] {
			c.mem[0][i] = c.r(2)
		}
	},
	ops.GatherRows: func(c call) {
		cols := c.n(4)
		for i, r := range c.mem[1] {
			to := row(c.mem[2], i*cols, cols)
			if clear(to); r >= 0 && r < float64(c.n(5)) {
				copy(to, row(c.mem[0], int(r)*cols, cols))
			}
		}
	},
	ops.GatherAxis:     gatherAxis,
	ops.ScatterAxis:    scatterAxis,
	ops.ScatterRows:    scatterRows,
	ops.RowSorts.Count: rowsCounted,
	ops.RowSorts.Scan:  countsAdded,
	ops.RowSorts.Move:  rowsMoved,
	ops.ScatterLists:   scatterRows,
	ops.ScatterRuns:    scatterRuns,
	ops.Pad:            pad,
	ops.PadGrad:        padGrad,
	ops.Sum: func(c call) {
		chunk := c.n(3)
		for g := range c.mem[1] {
			c.mem[1][g] = c.r(4) * sum(c.mem[0][min(g*chunk, c.n(2)):min((g+1)*chunk, c.n(2))])
		}
	},
	ops.SumAxis: func(c call) {
		each(c, 2, func(at int, line []float64) {
			old := c.mem[1][at]
			if c.mem[1][at] = c.r(5) * sum(line); c.on(6) {
				c.mem[1][at] += old
			}
		})
	},
	ops.Interpolate:      interpolate,
	ops.InterpolateGrad:  spread,
	ops.ConvDirect:       convolve,
	ops.ConvWeightDirect: correlate,
	ops.ConvParts: func(c call) {
		slices, groups, weights, co, biased := c.n(3), c.n(4), c.n(5), c.n(6), c.n(7)
		total := func(g, k, o int) (sum float64) {
			for s := range slices {
				sum += c.mem[0][((s*groups+g)*(weights+biased)+k)*co+o]
			}
			return sum
		}
		for i := range c.mem[1] {
			c.mem[1][i] = total(i/weights/co, i%weights, i/weights%co)
		}
		for i := range c.mem[2] {
			c.mem[2][i] = total(i/co, weights, i%co)
		}
	},
	ops.ExtremeGrad.Kernel(): func(c call) {
		n, inner := c.n(5), c.n(6)
		each(c, 4, func(at int, line []float64) {
			is := func(x float64) bool { return x == c.mem[1][at] || x != x && c.mem[1][at] != c.mem[1][at] }
			ties := 0.0
			for _, x := range line {
				if is(x) {
					ties++
				}
			}
			for k, x := range line {
				share := 0.0
				if is(x) {
					share = c.mem[2][at] / ties
				}
				c.mem[3][(at/inner*n+k)*inner+at%inner] = share
			}
		})
	},
	ops.Uniform: func(c call) {
		for i := range c.mem[0] {
			c.mem[0][i] = c.r(5) + (c.r(6)-c.r(5))*unit(c, i, i%4)
		}
	},
	ops.Normal: func(c call) {
		for i := range c.mem[0] {
			r, angle := c.r(6)*math.Sqrt(-2*math.Log(1-unit(c, i, i%4&^1))), 2*math.Pi*unit(c, i, i%4|1)
			c.mem[0][i] = c.r(5) + r*[2]float64{math.Cos(angle), math.Sin(angle)}[i%2]
		}
	},
	ops.RandomInts: func(c call) {
		for i := range c.mem[0] {
			c.mem[0][i] = math.Floor(float64(word(c, i, i%4)) * float64(c.n(5)) / (1 << 32))
		}
	},
	ops.SGD: func(c call) {
		p, v := c.mem[0], c.mem[2]
		for i, g := range c.mem[1] {
			g += c.r(6) * p[i]
			if c.r(5) == 0 {
				v[i] = 0
			}
			v[i] = c.r(5)*v[i] + g
			step := v[i]
			if c.on(7) {
				step = g + c.r(5)*v[i]
			}
			p[i] -= c.r(4) * step
		}
	},
	ops.AdamW: func(c call) { adamW(c, c.mem[0], c.mem[1], c.mem[2], c.mem[3], 5) },
	ops.ReducePartials: func(c call) {
		for i := range c.mem[2] {
			c.mem[2][i] = c.mem[1][0] * shares(c.mem[0], i, c.n(3), c.n(4))
		}
	},
	ops.AdamWPartials: func(c call) {
		g := make([]float64, c.n(7))
		for i := range g {
			g[i] = c.mem[2][0] * shares(c.mem[1], i, c.n(7), c.n(8))
		}
		adamW(c, c.mem[0], g, c.mem[3], c.mem[4], 11)
		for i := range c.mem[6] {
			c.mem[6][i] = c.r(10) * shares(c.mem[5], 0, 1, c.n(9))
		}
	},
	ops.FMAChains: func(c call) {
		for i := range c.mem[0] {
			c.mem[0][i] = 0
			for j := range 128 {
				x := float64(j)
				for range c.n(2) {
					x = x*c.r(3) + c.r(4)
				}
				c.mem[0][i] += x
			}
		}
	},
}

func sum(v []float64) (s float64) {
	for _, x := range v {
		s += x
	}
	return s
}

// each calls f with each index of [outer, inner] and its line of argument 0 [outer, len, inner],
// whose sizes are the arguments from at on.
func each(c call, at int, f func(at int, line []float64)) {
	outer, n, inner := c.n(at), c.n(at+1), c.n(at+2)
	for o := range outer {
		for i := range inner {
			var line []float64
			for k := range n {
				line = append(line, c.mem[0][(o*n+k)*inner+i])
			}
			f(o*inner+i, line)
		}
	}
}

// word returns word w of the four of element i; the seed and the call are the arguments from 2 on.
func word(c call, i, w int) uint32 {
	return expr.Philox([4]uint32{uint32(i / 4), uint32(c.n(4))}, [2]uint32{uint32(c.n(2)), uint32(c.n(3))})[w]
}

func unit(c call, i, w int) float64 { return float64(word(c, i, w)>>8) / (1 << 24) }

func shares(part []float64, i, size, groups int) (s float64) {
	for g := range groups {
		s += part[g*size+i]
	}
	return s
}

// adamW is the update by the scalars from argument at on.
func adamW(c call, p, g, m, v []float64, at int) {
	decay, b1, oneB1, b2, oneB2, step, root, eps := c.r(at), c.r(at+1), c.r(at+2), c.r(at+3), c.r(at+4), c.r(at+5), c.r(at+6), c.r(at+7)
	for i := range p {
		m[i] = b1*m[i] + oneB1*g[i]
		v[i] = b2*v[i] + oneB2*g[i]*g[i]
		p[i] = p[i]*(1-decay) - step*m[i]/(math.Sqrt(v[i])*root+eps)
	}
}

// product is the definition of a matrix product with a function of one operand, nil for none.
func product(form ops.GemmForm, f *kernels.Function) func(c call) {
	return func(c call) {
		m, n, sum, lda, ldb, ldc, slice := c.n(4), c.n(5), c.n(6), c.n(7), c.n(8), c.n(9), c.n(13)
		for k := 0; k < sum; k += slice {
			out := c.mem[3][k/slice*m*ldc:]
			for i := range m {
				for j := range n {
					s := 0.0
					for l := k; l < min(k+slice, sum); l++ {
						a, b := i*lda+l, l*ldb+j
						if form.TransposesA() {
							a = l*lda + i
						}
						if form.TransposesB() {
							b = j*ldb + l
						}
						s += c.mem[0][a] * c.mem[1][b]
					}
					if c.on(10) {
						s += out[i*ldc+j]
					}
					if c.on(11) {
						s += c.mem[2][j]
					}
					if f != nil && c.n(15) != ops.EpilogueNone {
						if c.n(15) == ops.EpilogueApplyAndKeep {
							c.mem[14][i*ldc+j] = s
						}
						s = f.At(c.scalars(f, 16), s)
					}
					out[i*ldc+j] = s
				}
			}
		}
	}
}

// scalars returns those of a function, where all occur and are the arguments from one on.
func (c call) scalars(f *kernels.Function, from int) []float64 {
	var list []float64
	for i := range f.Scalars {
		list = append(list, c.r(from+i))
	}
	return list
}

// layerGradient is the definition of the gradient of a layer, for a gradient of its function.
func layerGradient(d *kernels.Function) func(c call) {
	return func(c call) {
		var reads []int
		for i := range 3 {
			if d.Uses(i) {
				reads = append(reads, i)
			}
		}
		at := len(reads)
		cols, run := c.n(at+3), c.n(at+4)
		clear(c.mem[at+1])
		for i := range c.mem[at] {
			var operands [3]float64
			for k, operand := range reads {
				operands[operand] = c.mem[k][i]
			}
			c.mem[at][i] = d.At(c.scalars(d, at+5), operands[:]...)
			c.mem[at+1][i/cols/run*cols+i%cols] += c.mem[at][i]
		}
	}
}

// TestHostKernels holds the host kernels, by which devices are tried and tested, to the definitions, in all the
// cases that devices are tested with, for both types of floats and the other element types.
func TestHostKernels(t *testing.T) {
	cpu := kernels.Target{CPU: true}
	all := map[*kernels.Kernel]func(call){}
	for k, define := range definitions {
		all[k] = define
		for _, elem := range []kernels.DType{kernels.Int32, kernels.Uint8, kernels.Uint16, kernels.Int64} {
			if form := k.Of(elem); form != nil && k != ops.Fill {
				all[form] = define
			}
		}
	}
	for _, elem := range []kernels.DType{kernels.Int32, kernels.Uint8, kernels.Uint16, kernels.Int64} {
		all[ops.Fill.Of(elem)] = func(c call) {
			for i := range c.mem[0] {
				c.mem[0][i] = map[kernels.DType]float64{kernels.Int32: float64(int32(c.n(2))), kernels.Uint8: float64(uint8(c.n(2))),
					kernels.Uint16: float64(uint16(c.n(2))), kernels.Int64: float64(c.n(2))}[elem]
			}
		}
	}
	maps.Copy(all, pooled())
	for _, form := range ops.GemmForms {
		tile := ops.GemmTiles(kernels.Float32, cpu)[0]
		all[ops.Gemm(form, tile, nil)] = product(form, nil)
		for _, f := range []*kernels.Function{fn.ReLU, fn.LeakyReLU, fn.Tanh, fn.Sigmoid, fn.Softplus, fn.Clamp} {
			all[ops.Gemm(form, tile, f)] = product(form, f)
			for _, d := range []*kernels.Function{f.Gradient(0), f.CheapestGradient(f.Scalars)} {
				all[ops.LinearGrad(d)] = layerGradient(d)
			}
		}
	}
	for k, define := range all {
		for _, float := range []kernels.DType{kernels.Float32, kernels.Float64} {
			t.Run(k.Name+k.Defines+" of "+float.String(), func(t *testing.T) {
				cases := k.Cases(k == ops.FMAChains) // thousands of operations for an element
				if len(cases) == 0 {
					t.Fatal("no case")
				}
				for _, c := range cases {
					testHost(t, k, define, float, c)
				}
			})
		}
	}
}

// TestHostsInPieces: the host kernels that share their work out among the cores compute the same in each
// piece.
func TestHostsInPieces(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	const n = 4*parallel.Grain + 5
	adam := []float64{1e-3, 0.9, 0.1, 0.99, 0.01, 0.02, 1.5, 1e-8}
	for _, c := range []struct {
		k      *kernels.Kernel
		define func(c call)
		build  func(o *kernels.Operands)
	}{
		{ops.SGD, definitions[ops.SGD], func(o *kernels.Operands) {
			o.In(n, -1, 1).In(n, -1, 1).In(n, -1, 1).Int(n).Float(0.01, 0.9, 0.1).Int(1, 1)
		}},
		{ops.AdamW, definitions[ops.AdamW], func(o *kernels.Operands) { o.In(n, -1, 1).In(n, -1, 1).In(n, -1, 1).In(n, 0, 1).Int(n).Float(adam...) }},
		{ops.ReducePartials, definitions[ops.ReducePartials], func(o *kernels.Operands) { o.In(3*n, -1, 1).In(1, 0.5, 2).Out(n).Int(n, 3) }},
		{ops.AdamWPartials, definitions[ops.AdamWPartials], func(o *kernels.Operands) {
			o.In(n, -1, 1).In(3*n, -1, 1).In(1, 0.5, 2).In(n, -1, 1).In(n, 0, 1).In(70, 0, 1).Out(1).Int(n, 3, 70).Float(0.25).Float(adam...)
		}},
		{ops.Sum, definitions[ops.Sum], func(o *kernels.Operands) { o.In(n, -1, 1).Out(9).Int(n, (n+8)/9).Float(0.5) }},
		{ops.SumAxis, definitions[ops.SumAxis], func(o *kernels.Operands) { o.In(n*3, -1, 1).In(n, -1, 1).Int(n, 3, 1).Float(0.5).Int(1) }},
		{ops.SumAxis, definitions[ops.SumAxis], func(o *kernels.Operands) { o.In(7*900*11, -1, 1).In(77, -1, 1).Int(7, 900, 11).Float(0.5).Int(0) }},
		{ops.SumAxis, definitions[ops.SumAxis], func(o *kernels.Operands) { o.In(7*900*11, -1, 1).In(77, -1, 1).Int(7, 900, 11).Float(0.5).Int(1) }},
		{ops.LinearGrad(fn.Tanh.Gradient(0)), layerGradient(fn.Tanh.Gradient(0)), func(o *kernels.Operands) {
			o.In(1000*70, -1, 1).In(1000*70, -1, 1).Out(1000*70).Out(9*70).Int(1000, 70, 120)
		}},
		{ops.ConvDirect, convolve, func(o *kernels.Operands) {
			o.In(3*70*17*19, -1, 1).In(70*20*6, -1, 1).In(40, -1, 1).Out(3*40*16*17).Int(3, 2, 35, 20, 1, 17, 19, 1, 16, 17, 1, 2, 3, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1)
		}},
		{ops.FMAChains, definitions[ops.FMAChains], func(o *kernels.Operands) { o.Out(9).Int(9, 3).Float(0.9, 0.1) }},
		{ops.Gemm(ops.NN, ops.GemmTiles(kernels.Float32, kernels.Target{CPU: true})[0], fn.LeakyReLU), product(ops.NN, fn.LeakyReLU), func(o *kernels.Operands) {
			o.In(301*41, -1, 1).In(40*52, -1, 1).In(50, -1, 1).In(301*50, -1, 1).Int(301, 50, 40, 41, 52, 50, 1, 1, 24, 40).In(301*50, 0, 0).Int(1).Float(0.1)
		}},
	} {
		for _, float := range []kernels.DType{kernels.Float32, kernels.Float64} {
			t.Run(c.k.Name+" of "+float.String(), func(t *testing.T) {
				testHost(t, c.k, c.define, float, kernels.Case{Name: "in pieces", Build: c.build})
			})
		}
	}
}

func testHost(t *testing.T, k *kernels.Kernel, define func(call), float kernels.DType, c kernels.Case) {
	o := kernels.NewOperands(float, 5, 6)
	c.Build(o)
	d := call{args: o.Args, mem: make([][]float64, len(o.Args)), round: func(v float64) float64 {
		if float == kernels.Float32 {
			return float64(float32(v))
		}
		return v
	}}
	for i, a := range o.Args {
		if a.Buf != nil {
			d.mem[i] = make([]float64, a.N)
			for j := range d.mem[i] {
				d.mem[i][j] = a.At(j)
			}
		}
	}
	margin := compare.MarginOf(k, float, o.Args)
	define(d)
	k.Run(float, o.Args)
	for i, a := range o.Args {
		if a.Buf == nil {
			continue
		}
		got, want := kernels.NewHostBuffer(a.Buf.DType(), a.N), kernels.NewHostBuffer(a.Buf.DType(), a.N)
		for j, v := range d.mem[i] {
			got.Set(j, a.At(j))
			want.Set(j, v)
		}
		if j := margin.Differs(i, got, want); j >= 0 {
			t.Fatalf("%s: %s[%d] = %v, want %v", c.Name, k.Params[i].Name, j, got.At(j), want.At(j))
		}
	}
}
