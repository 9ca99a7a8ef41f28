package ops

import (
	"math"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/clgrad/clgrad/internal/convert"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
	"github.com/x448/float16"
)

// Convert returns the kernel of convert.cl that converts elements of one type to another: X, Y, n.
// What a type does not hold becomes the nearest that it
// holds:
//
//   - as an integer, fractions are cut off, numbers beyond the range become its end, and NaN
//     becomes 0;
//   - as a float16, a bfloat16 or a real, numbers are rounded to nearest, ties to even; beyond these
//     they are infinite.
//
// It is nil for a type to itself. A bool is read as a uint8, and none is made; a bfloat16 is
// converted from and to reals alone.
func Convert(from, to kernels.DType) *kernels.Kernel {
	if from == kernels.Bool {
		from = kernels.Uint8
	}
	switch {
	case from == kernels.Float64 && to == kernels.Float32:
		return narrowFloats
	case from == kernels.Float32 && to == kernels.Float64:
		return widenFloats
	case to == kernels.BFloat16:
		return realToBFloat16
	case from == kernels.BFloat16:
		return bfloat16ToReal
	}
	return conversions[real32(from)][real32(to)]
}

// The conversions between the types that reals may have: both are of launches of float64.
var (
	narrowFloats = opaque(conversion("real", "float32", kernels.In, kernels.OutFloats,
		kernels.Twin{F64: convertTwin[float64](func(x float64) float32 { return float32(x) })}))
	widenFloats = opaque(conversion("float32", "real", kernels.InFloats, kernels.Out,
		kernels.Twin{F64: convertTwin[float64](func(x float32) float64 { return float64(x) })}))
)

// The conversions of bfloat16, whose bits are in the memory of a float16.
var (
	realToBFloat16 = opaque(conversion("real", "bfloat16", kernels.In, kernels.OutHalves,
		kernels.Twin{F32: convertTwin[float32](toBFloat16[float32]), F64: convertTwin[float64](toBFloat16[float64])}))
	bfloat16ToReal = opaque(conversion("bfloat16", "real", kernels.InHalves, kernels.Out,
		kernels.Twin{F32: convertTwin[float32](fromBFloat16[float32]), F64: convertTwin[float64](fromBFloat16[float64])}))
)

func toBFloat16[R kernels.Real](x R) float16.Float16 { return float16.Float16(convert.ToBFloat16(x)) }

func fromBFloat16[R kernels.Real](x float16.Float16) R { return R(bfloat16.BFloat16(x).Float32()) }

// opaque returns k without its description.
func opaque(k *kernels.Kernel) *kernels.Kernel {
	k.Describe = nil
	return k
}

// real32 names the type of a launch's reals by Float32.
func real32(t kernels.DType) kernels.DType {
	if t == kernels.Float64 {
		return kernels.Float32
	}
	return t
}

var conversions = [kernels.Float16 + 1][kernels.Float16 + 1]*kernels.Kernel{
	kernels.Float32: {
		kernels.Int32: conversion("real", "int32", kernels.In, kernels.OutInts,
			kernels.Twin{F32: intsTwin(func(set *vec.Set, to, x []int32) { set.MapInts(vec.ToInts, to, x, x, x, x) },
				convert.ToInt32[float32]),
				F64: convertTwin[float64](convert.ToInt32[float64])}),
		kernels.Uint8: conversion("real", "uint8", kernels.In, kernels.OutBytes,
			kernels.Twin{F32: convertTwin[float32](convert.ToUint8[float32]),
				F64: convertTwin[float64](convert.ToUint8[float64])}),
		kernels.Float16: conversion("real", "float16", kernels.In, kernels.OutHalves,
			kernels.Twin{F32: convertTwin[float32](convert.ToFloat16[float32]),
				F64: convertTwin[float64](convert.ToFloat16[float64])}),
	},
	kernels.Int32: {
		kernels.Float32: conversion("int32", "real", kernels.InInts, kernels.Out,
			kernels.Twin{F32: intsTwin(func(set *vec.Set, to, x []int32) { set.MapInts(vec.FromInts, to, x, x, x, x) },
				func(x int32) float32 { return float32(x) }),
				F64: castTwin}),
		kernels.Uint8: conversion("int32", "uint8", kernels.InInts, kernels.OutBytes,
			eitherTwin(func(x int32) uint8 { return uint8(min(max(x, 0), math.MaxUint8)) })),
		kernels.Float16: conversion("int32", "float16", kernels.InInts, kernels.OutHalves,
			eitherTwin(func(x int32) float16.Float16 { return float16.Fromfloat32(float32(x)) })),
	},
	kernels.Uint8: {
		kernels.Float32: conversion("uint8", "real", kernels.InBytes, kernels.Out,
			kernels.Twin{F32: bytesTwin[float32, float32],
				F64: bytesTwin[float64, float64]}),
		kernels.Int32: conversion("uint8", "int32", kernels.InBytes, kernels.OutInts,
			kernels.Twin{F32: bytesTwin[float32, int32], F64: bytesTwin[float64, int32]}),
		kernels.Float16: conversion("uint8", "float16", kernels.InBytes, kernels.OutHalves,
			eitherTwin(func(x uint8) float16.Float16 { return float16.Fromfloat32(float32(x)) })),
	},
	kernels.Float16: {
		kernels.Float32: conversion("float16", "real", kernels.InHalves, kernels.Out,
			kernels.Twin{F32: convertTwin[float32](float16.Float16.Float32),
				F64: convertTwin[float64](func(x float16.Float16) float64 { return float64(x.Float32()) })}),
		kernels.Int32: conversion("float16", "int32", kernels.InHalves, kernels.OutInts,
			eitherTwin(func(x float16.Float16) int32 { return convert.ToInt32(x.Float32()) })),
		kernels.Uint8: conversion("float16", "uint8", kernels.InHalves, kernels.OutBytes,
			eitherTwin(func(x float16.Float16) uint8 { return convert.ToUint8(x.Float32()) })),
	},
}

func conversion(from, to string, in, out kernels.Mode, twin kernels.Twin) *kernels.Kernel {
	return &kernels.Kernel{Name: "k_" + from + "_to_" + to, File: "convert.cl", Grid: kernels.GridPerElement(1),
		Params: []kernels.Param{{Name: "X", Mode: in}, {Name: "Y", Mode: out}, intArg("n")}, Twin: twin, Describe: describeConversion}
}

// convertTwin is y = f(x) on a device of reals of type R.
func convertTwin[R kernels.Real, From, To kernels.Element](f func(From) To) func(kernels.Call[R]) {
	return func(c kernels.Call[R]) {
		x, y := kernels.Elements[From](c, 0), kernels.Elements[To](c, 1)
		c.Parallel(len(y), 1, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				y[i] = f(x[i])
			}
		})
	}
}

// eitherTwin is y = f(x) on a device of either real type.
func eitherTwin[From, To kernels.Element](f func(From) To) kernels.Twin {
	return kernels.Twin{F32: convertTwin[float32](f), F64: convertTwin[float64](f)}
}

// intsTwin is convertTwin of words between which there is a vector loop.
func intsTwin[From, To float32 | int32](vectors func(set *vec.Set, to, x []int32), f func(From) To) func(kernels.Call[float32]) {
	plain := convertTwin[float32](f)
	return func(c kernels.Call[float32]) {
		set := setOf(c)
		if set == nil {
			plain(c)
			return
		}
		x, y := kernels.Elements[From](c, 0), kernels.Elements[To](c, 1)
		c.Parallel(len(y), 1, func(lo, hi int) { vectors(set, wordsOf(y[lo:hi]), wordsOf(x[lo:hi])) })
	}
}

// wordsOf returns the words that hold numbers as ints, to be moved.
func wordsOf[T float32 | int32](v []T) []int32 {
	if ints, ok := any(v).([]int32); ok {
		return ints
	}
	return vec.Ints(any(v).([]float32))
}

// castTwin is convertTwin of ints on a device of double precision, without a call for each.
func castTwin(c kernels.Call[float64]) {
	x, y := c.Ints(0), c.Reals(1)
	c.Parallel(len(y), 1, func(lo, hi int) {
		to := y[lo:hi]
		for i, v := range x[lo:hi][:len(to)] {
			to[i] = float64(v)
		}
	})
}

// bytesTwin is convertTwin of bytes.
func bytesTwin[R kernels.Real, To kernels.Real | int32](c kernels.Call[R]) {
	x, y, set := c.Bytes(0), kernels.Elements[To](c, 1), setOf(c)
	c.Parallel(len(y), 1, func(lo, hi int) { vec.FromBytes(set, y[lo:hi], x[lo:hi]) })
}
