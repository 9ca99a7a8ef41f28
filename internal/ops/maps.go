package ops

import (
	"slices"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/lowbit"
)

// plain are the functions whose kernels are tried as they are launched, with those of their
// gradients. The others are tried together.
var plain = fn.Functions[:slices.Index(fn.Functions, fn.Sin)]

// maps returns the kernels of the element-wise functions on a device of floats of a type, with the
// limits l: functions and gradients on contiguous tensors, and some of them in every layout and for
// every type.
func maps(float kernels.DType, l kernels.Target) []*kernels.Kernel {
	var all []*kernels.Kernel
	const anyFloat = kernels.Float32
	dense := fused.AccessPattern{Rank: 1, Aligned: !l.CPU}
	binary := []*kernels.Function{fn.Add, fn.Sub, fn.Mul, fn.Div, fn.Min, fn.Max}
	for _, f := range slices.Concat(plain, binary, fn.Choices) {
		all = append(all, fused.Map(f.Alone(), anyFloat, dense))
		for i := range f.Operands() {
			if d := f.Gradient(i); !d.Is(f.Operands()+1) && !d.IsZero() {
				all = append(all, fused.Map(d.Alone(), anyFloat, dense))
			}
		}
		if f.Integers {
			all = append(all, fused.Map(f.Alone(), kernels.Int32, dense))
		}
	}
	for _, f := range []*kernels.Function{fn.Neg, fn.Abs, fn.Sign, fn.Clamp, fn.Mul} {
		all = append(all, fused.Map(f.Alone(), kernels.Uint8, dense))
	}
	rest := slices.DeleteFunc(slices.Concat(fn.Functions[len(plain):], fn.Conditions, fn.Bitwise), func(f *kernels.Function) bool {
		return slices.Contains(binary, f)
	})
	all = append(all, allFunctionRows(rest)...)
	for _, t := range []kernels.DType{anyFloat, kernels.Int32, kernels.Uint8} { // beside masks
		all = append(all, fused.Map(fn.Lt.Alone(), t, dense), fused.Map(fn.Where.Alone(), t, dense))
	}
	const unit, fixed, strided = fused.Contiguous, fused.Broadcast, fused.Strided
	of := func(rank int, steps ...fused.Access) fused.AccessPattern {
		l := fused.AccessPattern{Rank: rank, Gaps: steps[len(steps)-1] == strided}
		copy(l.Steps[:], steps)
		return l
	}
	add := func(f *kernels.Function, t kernels.DType, layout fused.AccessPattern) {
		all = append(all, fused.Map(f.Alone(), t, layout))
		for _, s := range layout.Steps {
			if s == strided {
				return
			}
		}
		if !l.CPU {
			layout.Aligned = true
			all = append(all, fused.Map(f.Alone(), t, layout))
		}
	}
	for _, t := range []kernels.DType{anyFloat, kernels.Int32, kernels.Uint8, kernels.Uint16, kernels.Int64} {
		add(fn.Identity, t, of(1, unit, unit))
		add(fn.Identity, t, of(2, fixed, unit))
		for _, rank := range []int{1, 2, 3, fused.MapRank} {
			if t == anyFloat || rank == 2 {
				add(fn.Identity, t, of(rank, strided, unit))
				add(fn.Identity, t, of(rank, unit, strided))
			}
		}
	}
	for rank := 1; rank <= 3; rank++ {
		add(fn.Sub, anyFloat, of(rank, unit, fixed, unit))
		add(fn.Sub, anyFloat, of(rank, fixed, unit, unit))
		add(fn.Sub, anyFloat, of(rank, unit, strided, unit))
	}
	add(fn.Sub, anyFloat, of(2, fixed, fixed, unit))
	add(fn.Sub, anyFloat, of(2, unit, unit, unit))
	add(fn.Sub, anyFloat, of(3, strided, fixed, strided))
	add(fn.Lt, anyFloat, of(1, unit, fixed, unit))
	add(fn.Lt, anyFloat, of(2, strided, unit, unit))
	add(fn.Lt, anyFloat, of(2, unit, unit, strided))
	add(fn.Where, anyFloat, of(2, unit, fixed, strided, unit))
	add(fn.Where, anyFloat, of(2, unit, unit, fixed, unit))
	add(fn.Where, kernels.Int32, of(3, strided, unit, unit, unit))
	add(fn.Sub, kernels.Int32, of(2, unit, fixed, unit))
	add(fn.Sub, kernels.Uint8, of(2, strided, unit, unit))
	add(fn.Sub, kernels.Uint8, of(2, unit, unit, strided))
	typed := func(l fused.AccessPattern, types ...kernels.DType) fused.AccessPattern {
		copy(l.Types[:], types)
		return l
	}
	for _, t := range []kernels.DType{kernels.Float16, kernels.BFloat16} {
		add(fn.Identity, anyFloat, typed(of(1, unit, unit), t))
		add(fn.Identity, anyFloat, typed(of(1, unit, unit), anyFloat, t))
		add(fn.Identity, anyFloat, typed(of(2, strided, unit), anyFloat, t))
		add(fn.Identity, anyFloat, typed(of(2, unit, strided), t))
		if float == kernels.Float64 { // the others are computed in float32
			continue
		}
		add(fn.GELU, anyFloat, typed(of(1, unit, unit), t, t))
		add(fn.Sub, anyFloat, typed(of(2, unit, fixed, unit), t, t, t))
		add(fn.Sub, anyFloat, typed(of(2, fixed, unit, unit), t, anyFloat, t))
		add(fn.Sub, anyFloat, typed(of(3, strided, fixed, strided), t, t, t))
		add(fn.Lt, anyFloat, typed(of(2, unit, strided, unit), t, t))
		add(fn.Where, anyFloat, typed(of(2, unit, unit, fixed, unit), t, t, anyFloat, t))
		add(fn.Identity, anyFloat, typed(of(1, unit, unit), kernels.Int64, t))
		add(fn.Identity, anyFloat, typed(of(2, fixed, unit), t, kernels.Uint8))
	}
	for i, t := range integers {
		add(fn.Identity, anyFloat, typed(of(1, unit, unit), t))
		add(fn.Identity, anyFloat, typed(of(1, unit, unit), anyFloat, t))
		other := integers[(i+1)%len(integers)]
		add(fn.Identity, max(t.Widened(), other.Widened()), typed(of(1, unit, unit), t, other))
		add(fn.Mul, t, of(1, unit, unit, unit))
	}
	for t := kernels.Float8E4M3FN; t.Valid(); t++ { // for storage
		add(fn.Identity, anyFloat, typed(of(1, unit, unit), t))
		add(fn.Identity, anyFloat, typed(of(1, unit, unit), anyFloat, t))
	}
	for _, r := range []lowbit.Rounding{lowbit.RoundUp, lowbit.RoundDown, lowbit.RoundNearest} {
		e8m0 := typed(of(1, unit, unit), anyFloat, kernels.Float8E8M0)
		e8m0.Cast = lowbit.CastOptions{NoSaturation: true, E8M0: r}
		add(fn.Identity, anyFloat, e8m0)
	}
	for _, t := range []kernels.DType{kernels.Float8E4M3FN, kernels.Float8E5M2, kernels.Float8E4M3FNUZ} {
		beyond := typed(of(2, strided, unit), anyFloat, t)
		beyond.Cast.NoSaturation = true
		add(fn.Identity, anyFloat, beyond)
	}
	if float != kernels.Float64 { // these are computed in float32
		add(fn.Identity, anyFloat, typed(of(2, unit, strided), kernels.Float8E5M2, kernels.Float4E2M1))
		add(fn.Identity, anyFloat, typed(of(2, fixed, unit), kernels.Int64, kernels.Float8E8M0))
		add(fn.NeScalar, anyFloat, typed(of(1, unit, unit), kernels.Float8E4M3FNUZ))
	}
	add(fn.Identity, kernels.Int64, typed(of(2, strided, unit), kernels.Int64, kernels.Int4))
	add(fn.Identity, kernels.Int32, typed(of(2, unit, unit), kernels.Int2, kernels.Uint4))
	for _, t := range []kernels.DType{kernels.Int64, kernels.Uint32, kernels.Uint64, kernels.Int8} {
		for _, f := range []*kernels.Function{fn.Neg, fn.Abs, fn.Sign, fn.Max, fn.FloorDivide, fn.Remainder, fn.BitwiseRightShift, fn.Lt} {
			steps := []fused.Access{unit, unit, unit}
			add(f, t, of(1, steps[:1+f.Operands()]...))
		}
		add(fn.Sub, t, of(3, strided, fixed, strided))
		add(fn.Clamp, t, of(1, unit, unit))
		add(fn.Where, t, of(2, unit, fixed, strided, unit))
	}
	add(fn.Mul, anyFloat, typed(of(2, strided, fixed, unit), kernels.Uint8, kernels.Int64))
	return all
}
