package ops

import (
	"github.com/clgrad/clgrad/internal/lower"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/ir"
)

// Of returns the kernel for buffers of the types that the first arguments have: r, unless some are floats of
// 16 bits. Those are read and written as they lie, and computed in float32. Inputs of floats may be, and
// results that are no sums over lines.
func (r *RowKernel) Of(args ...kernels.Arg) *RowKernel {
	var key uint64 // two bits for each buffer
	for i, a := range args {
		if a.Buf == nil {
			continue
		}
		switch a.Buf.DType() {
		case kernels.Float16:
			key |= 1 << (2 * i)
		case kernels.BFloat16:
			key |= 2 << (2 * i)
		}
	}
	if key == 0 {
		return r
	}
	if made, ok := r.typed.Load(key); ok {
		return made.(*RowKernel)
	}
	var types []kernels.DType
	for ; key>>(2*len(types)) != 0; types = append(types, [...]kernels.DType{kernels.Float32, kernels.Float16, kernels.BFloat16}[key>>(2*len(types))&3]) {
	}
	made, _ := r.typed.LoadOrStore(key, r.ofTypes(types))
	return made.(*RowKernel)
}

// ofTypes returns the kernel for buffers of some types, by argument; those past the last are floats or ints.
func (r *RowKernel) ofTypes(types []kernels.DType) *RowKernel {
	return &RowKernel{program: r.program, build: r.build, forms: r.forms, types: types, cases: func(s rowSizes) []kernels.Case {
		cases := r.cases(s)
		for i, c := range cases {
			cases[i] = c.Of(types)
		}
		return cases
	}}
}

// halfKernels returns kernels of rows whose buffers are of 16 bits: what has every element as float16, and all
// floats as bfloat16. On GPUs some have the form for rows of 128 elements, too.
func halfKernels(l kernels.Target) (all []*kernels.Kernel) {
	every := NormCentred | NormWeights | NormParameters
	formed := append(lineKernels(), Norms[NormCentred|NormWeights|NormBiases], NormGrads[every], NormSumsOfSets, ExtremeGrad)
	list := append(formed, Norms[0], NormGrads[NormCentred], CrossEntropies[EntropyWeights|EntropyLogits|EntropySmoothing],
		CrossEntropyGrads[EntropyLogits|EntropyEach], NormSums, Moments, Dot, SquaredError, extremes[0].Parts)
	list = append(list, folds[:]...)
	for i, r := range list {
		for _, types := range halfTypes(r.program()) {
			k := r.ofTypes(types)
			if all = append(all, k.Kernel()); !l.CPU && i < len(formed) {
				all = append(all, k.For(128, 1, l))
			}
		}
	}
	return all
}

// halfTypes returns two lists of types for the buffers of a program.
func halfTypes(p *ir.Program) [2][]kernels.DType {
	at := lower.LayoutOf(p)
	elements, floats := make([]kernels.DType, at.Sizes), make([]kernels.DType, at.Sizes)
	add := func(arg int, along ir.Axes) {
		if floats[arg] = kernels.BFloat16; along == ir.Element {
			elements[arg] = kernels.Float16
		}
	}
	for i, v := range p.Values {
		if v.Kind == ir.Input && !v.Int {
			add(at.Values[i], v.Along)
		}
	}
	for k, r := range p.Results {
		if !r.Int && !r.Summed {
			add(at.Results+k, r.Along)
		}
	}
	return [2][]kernels.DType{elements, floats}
}
