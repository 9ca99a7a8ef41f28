package ops

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
)

// How kernels of this package store their results, so that maps of them can be computed there: see
// fused.EpilogueSpec.

// stores says it of a product: of one, or of a batch that is counted by argument batch. Shares of a
// sum are no elements of the product.
func (p *product) stores(batch int) *fused.EpilogueSpec {
	s := &fused.EpilogueSpec{Result: gemmC, CPU: fused.MapVectorCPU, GPU: 4,
		Elements: func(a []kernels.Arg) (n, row int) {
			m, cols := int(a[gemmM].Int), int(a[gemmN].Int)
			if a[gemmK].Int > a[gemmSlice].Int || int(a[gemmLDC].Int) != cols {
				return 0, 0
			}
			if batch > 0 {
				m *= int(a[batch].Int)
			}
			return m * cols, cols
		},
		Reads: func(a []kernels.Arg) bool { return a[gemmAccumulate].Int != 0 },
		// A sum that is longer than KC of gemm_cpu.cl is added up in C.
		Before: func(a []kernels.Arg, l kernels.Target) bool { return l.CPU && a[gemmK].Int > gemmKC },
	}
	if p.epilogue == nil && batch == 0 { // whose text says it otherwise
		s.Define = fmt.Sprint("FORM ", slices.Index(GemmForms, p.form))
	}
	return s
}

// gemmKC is KC of gemm_cpu.cl.
const gemmKC = 256

// storesAll is a result of which a launch stores every element, n of them in rows.
func storesAll(result, cpu, gpu int, elements func(a []kernels.Arg) (n, row int)) *fused.EpilogueSpec {
	return &fused.EpilogueSpec{Result: result, CPU: cpu, GPU: gpu, Elements: elements}
}

// storesConv says it of a convolution.
func storesConv(cpu, gpu int) *fused.EpilogueSpec {
	return storesAll(convY, cpu, gpu, func(a []kernels.Arg) (n, row int) {
		s := convShapeOf(a, convNumbers)
		channels, size := s.Out, s.OutSize
		if a[convTransposed].Int != 0 {
			channels, size = s.In, s.Size
		}
		return s.Batch * s.Groups * channels * volume(size), volume(size)
	})
}

// storesConvTiles says it of Conv. On an OpenCL CPU, a sum over more channels than planes hold is
// added up in Y, and neighbours of a phase are no neighbours there.
var storesConvTiles = func() *fused.EpilogueSpec {
	s := storesConv(fused.MapVectorCPU, 4)
	s.Before = func(a []kernels.Arg, l kernels.Target) bool {
		if !l.CPU || l.LocalMem == 0 {
			return false
		}
		c, transposed := convShapeOf(a, convNumbers), a[convTransposed].Int != 0
		return c.phases(transposed) > 1 || !c.atOnce(transposed, int(a[convRows].Int), int(a[convCols].Int))
	}
	return s
}()

// storesPool says it of pooling: of the gradients, what is stored is as large as the input.
func storesPool(result, from int, gradient bool) *fused.EpilogueSpec {
	size := func(a []kernels.Arg) (outer int, size [3]int) {
		s := poolShapeOf(a, from)
		if gradient {
			return s.Outer, s.Size
		}
		return s.Outer, s.OutSize
	}
	s := storesAll(result, fused.MapVectorCPU, 4, func(a []kernels.Arg) (n, row int) {
		outer, size := size(a)
		return outer * volume(size), size[2]
	})
	s.Before = func(a []kernels.Arg, l kernels.Target) bool {
		_, size := size(a)
		return l.CPU && size[2] > poolLongest
	}
	return s
}

// PoolStores reports whether kernels of pooling store rows of n elements of 16 bits.
func PoolStores(n int, l kernels.Target) bool { return !l.CPU || l.LocalMem == 0 || n <= poolLongest }

// poolLongest is LONGEST of pool_cpu.cl: a longer row is made up where the result lies.
const poolLongest = 1024

// storesDirect says it of GemmDirect.
var storesDirect = &fused.EpilogueSpec{Result: 2, GPU: 1,
	Elements: func(a []kernels.Arg) (n, row int) {
		return int(a[directBatch].Int) * int(a[3].Int) * int(a[4].Int), int(a[4].Int)
	},
	Reads: func(a []kernels.Arg) bool { return a[10].Int != 0 }}

// storesSumAxis says it of SumAxis.
var storesSumAxis = &fused.EpilogueSpec{Result: 1, GPU: 1,
	Elements: func(a []kernels.Arg) (n, row int) { return int(a[2].Int) * int(a[4].Int), int(a[4].Int) },
	Reads:    func(a []kernels.Arg) bool { return a[6].Int != 0 }}

// Functions that tests compute of what is stored.
var (
	storedSum  = &kernels.FusedElementwise{Name: "stored_sum", Functions: []*kernels.Function{fn.Add}}
	storedPair = &kernels.FusedElementwise{Name: "stored_two", Functions: []*kernels.Function{fn.Mul, fn.Sigmoid}}
)

// afterwards returns kernels that compute maps of what others store: exact ones and others, kept or
// not, of other operands that are repeated and that are not.
func epilogueCases(t kernels.DType, l kernels.Target) []*kernels.Kernel {
	by := fused.AccessPattern{Rank: 2}
	by.Steps[1] = fused.Broadcast
	thens := []fused.Epilogue{
		{Of: storedPair, Layout: fused.AccessPattern{Rank: 1}, Vectors: true},
		{Of: storedSum, Layout: by, Keep: true},
		{Of: storedSum, Value: 1, Layout: fused.AccessPattern{Rank: 2, Aligned: !l.CPU}},
		{Of: storedPair, Value: 1, Layout: fused.AccessPattern{Rank: 1}, Keep: true},
	}
	tile, convTile := GemmTiles(t, l)[0], convSmall
	if l.CPU {
		convTile = GemmTile{}
	}
	bases := []*kernels.Kernel{Gemm(NN, tile, nil), Gemm(NN, tile, nil), Gemm(NN, tile, nil), GemmBatch(NT, tile), GemmDirect, Gemm(TN, tile, fn.Tanh), SumAxis,
		ConvDirect, Conv(convTile, 1, false), Conv(convTile, 1, false), Conv(convTile, 1, false), fewKernel(fewForm{2, 4, 0})}
	for k := range PoolKernel(poolKernels) {
		bases = append(bases, poolPairs.PoolKernel(k), (&PoolShape{Adaptive: true}).PoolKernel(k))
	}
	if !l.CPU && t == kernels.Float32 {
		bases = append(bases, convMatrixSmall.Kernel())
	}
	var all []*kernels.Kernel
	for i, k := range bases {
		then := thens[i%len(thens)]
		if then.Layout.Aligned && i > 2 {
			then.Layout.Aligned = false // few cases have rows of whole vectors
		}
		if fused.Of(k).Epilogue.Wide(l) > 0 {
			all = append(all, fused.FuseEpilogue(k, then))
		}
	}
	return all
}
