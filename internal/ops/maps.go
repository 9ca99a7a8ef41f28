package ops

import (
	"slices"

	"github.com/clgrad/clgrad/kernels"
)

// plain are the functions whose kernels are tried as they are launched, with those of their gradients. The others are
// tried together.
var plain = kernels.Functions[:slices.Index(kernels.Functions, kernels.Sin)]

// maps returns the kernels of the element-wise functions on a device with the limits l: functions and gradients on
// tensors without gaps, and some of them in every layout and for every type.
func maps(l kernels.Limits) []*kernels.Kernel {
	var all []*kernels.Kernel
	const reals = kernels.Float32
	dense := kernels.Layout{Rank: 1, Aligned: !l.CPU}
	binary := []*kernels.Function{kernels.Add, kernels.Sub, kernels.Mul, kernels.Div, kernels.Min, kernels.Max}
	for _, f := range slices.Concat(plain, binary, kernels.Choices) {
		all = append(all, f.Map(reals, dense))
		for i := range f.Operands() {
			if d := f.Gradient(i); !d.Is(f.Operands()+1) && !d.IsZero() {
				all = append(all, d.Map(reals, dense))
			}
		}
		if f.Integers {
			all = append(all, f.Map(kernels.Int32, dense))
		}
	}
	for _, f := range []*kernels.Function{kernels.Neg, kernels.Abs, kernels.Sign, kernels.Clamp, kernels.Mul} {
		all = append(all, f.Map(kernels.Uint8, dense))
	}
	rest := slices.DeleteFunc(slices.Concat(kernels.Functions[len(plain):], kernels.Conditions, kernels.Bitwise), func(f *kernels.Function) bool {
		return slices.Contains(binary, f)
	})
	all = append(all, allTogether(rest)...)
	for _, t := range []kernels.DType{reals, kernels.Int32, kernels.Uint8} { // beside masks
		all = append(all, kernels.Lt.Map(t, dense), kernels.Where.Map(t, dense))
	}
	const unit, fixed, strided = kernels.Unit, kernels.Fixed, kernels.Strided
	of := func(rank int, steps ...kernels.Step) kernels.Layout {
		l := kernels.Layout{Rank: rank, Gaps: steps[len(steps)-1] == strided}
		copy(l.Steps[:], steps)
		return l
	}
	add := func(f *kernels.Function, t kernels.DType, layout kernels.Layout) {
		all = append(all, f.Map(t, layout))
		for _, s := range layout.Steps {
			if s == strided {
				return
			}
		}
		if !l.CPU {
			layout.Aligned = true
			all = append(all, f.Map(t, layout))
		}
	}
	for _, t := range []kernels.DType{reals, kernels.Int32, kernels.Uint8, kernels.Float16} {
		add(kernels.Identity, t, of(1, unit, unit))
		add(kernels.Identity, t, of(2, fixed, unit))
		for _, rank := range []int{1, 2, 3, kernels.MapRank} {
			if t == reals || rank == 2 {
				add(kernels.Identity, t, of(rank, strided, unit))
				add(kernels.Identity, t, of(rank, unit, strided))
			}
		}
	}
	for rank := 1; rank <= 3; rank++ {
		add(kernels.Sub, reals, of(rank, unit, fixed, unit))
		add(kernels.Sub, reals, of(rank, fixed, unit, unit))
		add(kernels.Sub, reals, of(rank, unit, strided, unit))
	}
	add(kernels.Sub, reals, of(2, fixed, fixed, unit))
	add(kernels.Sub, reals, of(2, unit, unit, unit))
	add(kernels.Sub, reals, of(3, strided, fixed, strided))
	add(kernels.Lt, reals, of(1, unit, fixed, unit))
	add(kernels.Lt, reals, of(2, strided, unit, unit))
	add(kernels.Lt, reals, of(2, unit, unit, strided))
	add(kernels.Where, reals, of(2, unit, fixed, strided, unit))
	add(kernels.Where, reals, of(2, unit, unit, fixed, unit))
	add(kernels.Where, kernels.Int32, of(3, strided, unit, unit, unit))
	add(kernels.Sub, kernels.Int32, of(2, unit, fixed, unit))
	add(kernels.Sub, kernels.Uint8, of(2, strided, unit, unit))
	add(kernels.Sub, kernels.Uint8, of(2, unit, unit, strided))
	return all
}
