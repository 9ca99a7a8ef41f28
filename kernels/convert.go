package kernels

import (
	"math"

	"github.com/clgrad/clgrad/internal/par"
	"github.com/x448/float16"
)

// Convert returns the kernel of convert.cl that converts elements of one type to another: X, Y, n. Both real types
// stand for the device's. What a type does not hold becomes the nearest that it holds:
//
//   - as an integer, fractions are cut off, numbers beyond the range become its end, and NaN becomes 0;
//   - as a float16 or a real, numbers are rounded to nearest, ties to even; beyond float16 they are infinite.
//
// It is nil for a type to itself.
func Convert(from, to DType) *Kernel { return conversions[real32(from)][real32(to)] }

// real32 names the device's real type by Float32.
func real32(t DType) DType {
	if t == Float64 {
		return Float32
	}
	return t
}

var conversions = [Float16 + 1][Float16 + 1]*Kernel{
	Float32: {
		Int32:   conversion("real", "int32", In, OutInts, Twin{convertTwin[float32](ToInt32[float32]), convertTwin[float64](ToInt32[float64])}),
		Uint8:   conversion("real", "uint8", In, OutBytes, Twin{convertTwin[float32](ToUint8[float32]), convertTwin[float64](ToUint8[float64])}),
		Float16: conversion("real", "float16", In, OutHalves, Twin{convertTwin[float32](ToFloat16[float32]), convertTwin[float64](ToFloat16[float64])}),
	},
	Int32: {
		Float32: conversion("int32", "real", InInts, Out, Twin{convertTwin[float32](cast[int32, float32]), convertTwin[float64](cast[int32, float64])}),
		Uint8:   conversion("int32", "uint8", InInts, OutBytes, eitherTwin(func(x int32) uint8 { return uint8(min(max(x, 0), math.MaxUint8)) })),
		Float16: conversion("int32", "float16", InInts, OutHalves, eitherTwin(func(x int32) float16.Float16 { return float16.Fromfloat32(float32(x)) })),
	},
	Uint8: {
		Float32: conversion("uint8", "real", InBytes, Out, Twin{convertTwin[float32](cast[uint8, float32]), convertTwin[float64](cast[uint8, float64])}),
		Int32:   conversion("uint8", "int32", InBytes, OutInts, eitherTwin(cast[uint8, int32])),
		Float16: conversion("uint8", "float16", InBytes, OutHalves, eitherTwin(func(x uint8) float16.Float16 { return float16.Fromfloat32(float32(x)) })),
	},
	Float16: {
		Float32: conversion("float16", "real", InHalves, Out, Twin{convertTwin[float32](float16.Float16.Float32),
			convertTwin[float64](func(x float16.Float16) float64 { return float64(x.Float32()) })}),
		Int32: conversion("float16", "int32", InHalves, OutInts, eitherTwin(func(x float16.Float16) int32 { return ToInt32(x.Float32()) })),
		Uint8: conversion("float16", "uint8", InHalves, OutBytes, eitherTwin(func(x float16.Float16) uint8 { return ToUint8(x.Float32()) })),
	},
}

func conversion(from, to string, in, out Mode, twin Twin) *Kernel {
	return &Kernel{Name: "k_" + from + "_to_" + to, File: "convert.cl", Grid: perElement(1),
		Params: []Param{{"X", in}, {"Y", out}, {"n", IntArg}}, Twin: twin}
}

// convertTwin is y = f(x) on a device of reals of type R.
func convertTwin[R Real, From, To Element](f func(From) To) func(Call[R]) {
	return func(c Call[R]) {
		x, y := Elements[From](c, 0), Elements[To](c, 1)
		par.For(len(y), par.Grain, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				y[i] = f(x[i])
			}
		})
	}
}

// eitherTwin is y = f(x) on a device of either real type.
func eitherTwin[From, To Element](f func(From) To) Twin {
	return Twin{convertTwin[float32](f), convertTwin[float64](f)}
}

func cast[From int32 | uint8, To Real | int32](x From) To { return To(x) }
