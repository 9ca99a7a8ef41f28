package hashgrid

import (
	_ "embed"
	"fmt"
	"math"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/selftest"
	"github.com/clgrad/clgrad/tensor"
)

// The kernels' OpenCL C for CPUs and other devices. sourceGPU says how levels, tables and features
// lie in memory.
//
//go:embed hash_cpu.cl
var sourceCPU string

//go:embed hash_gpu.cl
var sourceGPU string

// Kernels returns the kernels that the package launches, for tests and for a person who doubts a
// device: of those that are built for a number of features, that one. It panics with
// tensor.ErrValue unless there are 1 to MaxFeatures.
func Kernels(features int) []*kernels.Kernel {
	if features < 1 || features > MaxFeatures {
		panic(&tensor.Error{Pkg: "hashgrid", Op: "Kernels", Kind: tensor.ErrValue,
			Detail: fmt.Sprintf("%d features: there are 1 to %d", features, MaxFeatures)})
	}
	return []*kernels.Kernel{encode(features), draw(features), gradient(features), scatter(features), collect(features)}
}

// The kernels, built for a number of features per entry.
var (
	// encode interpolates: C [n, 2], TABLE [entries, features], LEVELS [levels, 6], F [n,
	// levels·features], n, levels.
	encode = perFeatures(func(features int) *kernels.Kernel {
		return &kernels.Kernel{Name: "k_hash_encode", Text: sourceCPU, File: "hash_cpu.cl", GPUText: sourceGPU, GPU: "hash_gpu.cl",
			Grid: perSamples(features, 4, 5),
			Params: []kernels.Param{{Name: "C", Mode: kernels.In}, {Name: "TABLE", Mode: kernels.In}, {Name: "LEVELS", Mode: kernels.InInts},
				{Name: "F", Mode: kernels.Out}, {Name: "n", Mode: kernels.IntParam}, {Name: "levels", Mode: kernels.IntParam}},
			Host: kernels.HostKernel{F32: encodeHost[float32](features), F64: encodeHost[float64](features)},
			Tol:  kernels.Tolerance{ULP: 4, Rel: 8, Scale: func(a []kernels.Arg) float64 { return kernels.MaxAbs(a, 1) }},
			Cases: kernels.CasesBySize(func(o *kernels.Operands, n int) {
				testLevels(o.In(2*n, 0, 1).In(features*testEntries, -1, 1)).Out(3*features*n).Int(n, 3)
			})}
	})
	// draw does the same with the centres of n random pixels of IMAGE [height·width, channels]:
	// IMAGE, TABLE, LEVELS, F, C [n, 2], V [n, channels], n, levels, width, height, channels,
	// seed_lo, seed_hi, call.
	draw = perFeatures(func(features int) *kernels.Kernel {
		return &kernels.Kernel{Name: "k_hash_draw", Text: sourceCPU, File: "hash_cpu.cl", GPUText: sourceGPU, GPU: "hash_gpu.cl",
			Grid: perSamples(features, 6, 7),
			Params: []kernels.Param{{Name: "IMAGE", Mode: kernels.In}, {Name: "TABLE", Mode: kernels.In}, {Name: "LEVELS", Mode: kernels.InInts},
				{Name: "F", Mode: kernels.Out}, {Name: "C", Mode: kernels.Out}, {Name: "V", Mode: kernels.Out},
				{Name: "n", Mode: kernels.IntParam}, {Name: "levels", Mode: kernels.IntParam}, {Name: "width", Mode: kernels.IntParam},
				{Name: "height", Mode: kernels.IntParam}, {Name: "channels", Mode: kernels.IntParam}, {Name: "seed_lo", Mode: kernels.IntParam},
				{Name: "seed_hi", Mode: kernels.IntParam}, {Name: "call", Mode: kernels.IntParam}},
			Host: kernels.HostKernel{F32: drawHost[float32](features), F64: drawHost[float64](features)},
			Tol:  kernels.Tolerance{ULP: 4, Bound: drawBound},
			Cases: kernels.CasesBySize(func(o *kernels.Operands, n int) {
				channels := []int{3, 1, 4}[n%3]
				testLevels(o.In(8*16*channels, 0, 1).In(features*testEntries, -1, 1)).Out(3*features*n).Out(2*n).Out(channels*n).
					Int(n, 3, 8+n%2, 16-9*(n%2), channels, 12345, -7, 3)
			})}
	})
	// gradient is that of the table, for CPUs, whose cores share the entries: C, G [n,
	// levels·features], LEVELS, D [entries, features], n, levels, entries.
	gradient = perFeatures(func(features int) *kernels.Kernel {
		return &kernels.Kernel{Name: "k_hash_grad", Text: sourceCPU, File: "hash_cpu.cl", GPUText: sourceGPU, GPU: "hash_gpu.cl",
			Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
				// Whole levels where the cores can share these evenly: each part of one goes over
				// all samples.
				levels, units := int(a[5].Int), max(1, l.Units)
				if levels%units == 0 {
					return kernels.Groups(levels, 1)
				}
				return kernels.Groups(units, 1)
			},
			Params: []kernels.Param{{Name: "C", Mode: kernels.In}, {Name: "G", Mode: kernels.In}, {Name: "LEVELS", Mode: kernels.InInts},
				{Name: "D", Mode: kernels.Out}, {Name: "n", Mode: kernels.IntParam}, {Name: "levels", Mode: kernels.IntParam},
				{Name: "entries", Mode: kernels.IntParam}},
			Host: kernels.HostKernel{F32: gradientHost[float32](features), F64: gradientHost[float64](features)},
			Tol: kernels.Tolerance{ULP: 4, Rel: 8,
				Scale: func(a []kernels.Arg) float64 { return float64(a[4].Int) * kernels.MaxAbs(a, 1) }},
			Cases: kernels.CasesBySize(func(o *kernels.Operands, n int) {
				testLevels(o.In(2*n, 0, 1).In(3*features*n, -1, 1)).Out(features*testEntries).Int(n, 3, testEntries)
			})}
	})
	// scatter adds the same gradient to SUM [places, features, 2], in fixed point, which collect
	// turns into floats, or, where it is small, to FINE, which is the same in finer units, and notes
	// in bits of STRANGE which terms are too large for that, and which small: C, G, LEVELS, SUM,
	// FINE, STRANGE, n, levels. The sums are exact, whatever the order.
	scatter = perFeatures(func(features int) *kernels.Kernel {
		return &kernels.Kernel{Name: "k_hash_scatter", Text: sourceGPU, File: "hash_gpu.cl",
			Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
				return kernels.Grid1D(int(a[6].Int)*int(a[7].Int)*features*2, l)
			},
			Params: []kernels.Param{{Name: "C", Mode: kernels.In}, {Name: "G", Mode: kernels.In}, {Name: "LEVELS", Mode: kernels.InInts},
				{Name: "SUM", Mode: kernels.InOutInts}, {Name: "FINE", Mode: kernels.InOutInts}, {Name: "STRANGE", Mode: kernels.InOutInts},
				{Name: "n", Mode: kernels.IntParam}, {Name: "levels", Mode: kernels.IntParam}},
			Host:     kernels.HostKernel{F32: scatterHost[float32](features), F64: scatterHost[float64](features)},
			Fusions:  fused.Fusions{Batch: &fused.BatchSpec{Function: "hash_scatter", Items: true}},
			SelfTest: scatterSelfTest(features),
			Cases: kernels.CasesBySize(func(o *kernels.Operands, n int) {
				zeros := func(count int) { o.Ints(count, func(int) int { return 0 }) }
				testLevels(o.In(2*n, 0, 1).Floats(3*features*n, func(i int) float64 { return testGradient(2*o.Rand.Float64()-1, i/features) }))
				zeros(2 * features * testPlaces)
				zeros(2 * features * testPlaces)
				zeros(wordsOf(features * testEntries))
				o.Int(n, 3)
			})}
	})
	// collect writes the sums of scatter to D [n] and clears them: SUM, FINE, STRANGE, LEVELS, D,
	// n, levels.
	collect = perFeatures(func(features int) *kernels.Kernel {
		return &kernels.Kernel{Name: "k_hash_collect", Text: sourceGPU, File: "hash_gpu.cl",
			Grid: func(a []kernels.Arg, _ kernels.Target) kernels.Grid {
				return kernels.Grid{Dims: 1, Global: [3]int{(int(a[5].Int) + collectGroup - 1) / collectGroup * collectGroup}, Local: [3]int{collectGroup}}
			},
			Params: []kernels.Param{{Name: "SUM", Mode: kernels.InOutInts}, {Name: "FINE", Mode: kernels.InOutInts}, {Name: "STRANGE", Mode: kernels.InOutInts},
				{Name: "LEVELS", Mode: kernels.InInts}, {Name: "D", Mode: kernels.Out}, {Name: "n", Mode: kernels.IntParam}, {Name: "levels", Mode: kernels.IntParam}},
			Host: kernels.HostKernel{F32: collectHost[float32](features), F64: collectHost[float64](features)},
			Tol:  kernels.ULP(1),
			Fusions: fused.Fusions{Epilogue: &fused.EpilogueSpec{Result: 4, GPU: 1,
				Elements: func(a []kernels.Arg) (n, row int) { return int(a[5].Int), int(a[5].Int) }}},
			SelfTest: func([]kernels.Arg) []kernels.Operand { return nil }, // LEVELS says what may be in the others: see Cases
			Cases: func(bool) []kernels.Case {
				return []kernels.Case{{Name: "all", Build: func(o *kernels.Operands) {
					sums := func(i int) int { return (o.Rand.IntN(1<<30) - 1<<29) >> (i % 2 * 8) }
					testLevels(o.Ints(2*features*testPlaces, sums).Ints(2*features*testPlaces, sums).
						Ints(wordsOf(features*testEntries), func(i int) int { return o.Rand.IntN(1<<30) >> (i / 2 % 2 * 30) })).
						Out(features*testEntries).Int(features*testEntries, 3)
				}}}
			}}
	})
)

// perFeatures makes a kernel for each number of features, 1 to MaxFeatures.
func perFeatures(build func(features int) *kernels.Kernel) func(features int) *kernels.Kernel {
	var all [MaxFeatures]*kernels.Kernel
	for i := range all {
		all[i] = build(i + 1)
		all[i].Defines = fmt.Sprintf("-DFEATURES=%d", i+1)
	}
	return func(features int) *kernels.Kernel { return all[features-1] }
}

// perSamples launches, for each of n samples in each of levels, arguments at of those numbers, a
// work-item for each vector of features, or on a CPU one for many samples.
func perSamples(features, n, levels int) func([]kernels.Arg, kernels.Target) kernels.Grid {
	vectors := features // VECTORS of hash_gpu.cl
	switch {
	case features%4 == 0:
		vectors /= 4
	case features%2 == 0:
		vectors /= 2
	}
	return func(a []kernels.Arg, l kernels.Target) kernels.Grid {
		if l.CPU {
			return kernels.Groups((int(a[n].Int)+samples-1)/samples, 1)
		}
		return kernels.Grid1D(int(a[n].Int)*int(a[levels].Int)*vectors, l)
	}
}

// LEVEL, SAMPLES, PARTS and COLLECT_GROUP of the sources.
const (
	perLevel     = 6                 // ints in LEVELS
	samples      = vec.CornerSamples // that a CPU's work-item encodes, level by level, while a level is in the cache
	parts        = 64                // of the entries of a level, which cores share
	collectGroup = 256               // work-items of a group that collects
)

// wordsOf returns how many ints have two bits for each of n numbers.
func wordsOf(n int) int { return (n + 31) / 32 * 2 }

// testEntries is those of the levels that testLevels adds: two grids with an entry for each vertex,
// and one that is hashed. testPlaces is those of their sums.
const (
	testEntries = 6*5 + 10*8 + 64
	testPlaces  = 4*6*5 + 10*8 + 2*64
)

var testTable = []int{0, 4, 3, 0, 0, 3, 30, 8, 6, 0, 120, 0, 110, 37, 29, 63, 200, 1}

// drawBound is how far a feature may be off: by the roundings of the interpolation, and, if a side
// is no power of two, because a position is a quotient, which OpenCL computes to 2.5 units in the
// last place. A feature is continuous, and changes by twice the largest entry from one vertex to
// the next.
func drawBound(float kernels.DType, a []kernels.Arg) func(param, i int) float64 {
	eps, _ := float.Epsilon()
	cells := 0.0
	if sides := a[8].Int&(a[8].Int-1) | a[9].Int&(a[9].Int-1); sides != 0 {
		for l := range int(a[7].Int) {
			cells = max(cells, a[2].At(l*perLevel+1)+a[2].At(l*perLevel+2))
		}
	}
	bound := (8 + 5*cells) * eps * kernels.MaxAbs(a, 1)
	return func(param, _ int) float64 {
		if param == 3 {
			return bound
		}
		return 0
	}
}

// testGradient makes of a number an element of a gradient, small in every third of the cells.
func testGradient(v float64, cell int) float64 {
	if cell%3 == 0 {
		v *= small
	}
	return v
}

func testLevels(o *kernels.Operands) *kernels.Operands {
	return o.Ints(len(testTable), func(i int) int { return testTable[i] })
}

// scatterSelfTest are the operands of a launch on those levels, whatever the launch that it is to be
// like: LEVELS says what may be in the others.
func scatterSelfTest(features int) func([]kernels.Arg) []kernels.Operand {
	const n = 257
	zero := func([]kernels.Arg, int) float64 { return 0 }
	return func([]kernels.Arg) []kernels.Operand {
		return []kernels.Operand{selftest.Uniform(2*n, 0, 1),
			selftest.Computed(3*features*n, func(_ []kernels.Arg, i int) float64 {
				return testGradient(math.Sin(float64(i)), i/features)
			}),
			selftest.Computed(len(testTable), func(_ []kernels.Arg, i int) float64 { return float64(testTable[i]) }),
			selftest.Computed(2*features*testPlaces, zero), selftest.Computed(2*features*testPlaces, zero),
			selftest.Computed(wordsOf(features*testEntries), zero), selftest.Number(n), selftest.Number(3)}
	}
}
