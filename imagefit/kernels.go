package imagefit

import (
	_ "embed"
	"fmt"
	"math"
	"math/bits"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/operation"
)

// The sources say what sampleEncode computes, for CPUs and other devices.
//
//go:embed sample_cpu.cl
var sampleCPU string

//go:embed sample_gpu.cl
var sampleGPU string

// Kernels returns the kernels that the package launches beside those of other packages, for tests
// and for a person who doubts a device: of those that draw pixels, those of gray and of red, green
// and blue.
func Kernels() []*kernels.Kernel {
	const unit, fixed, strided, indexed = fused.Contiguous, fused.Broadcast, fused.Strided, fused.Indexed
	of := func(j *kernels.FusedElementwise, rank int, steps ...fused.Access) *kernels.Kernel {
		layout := fused.AccessPattern{Rank: rank, Gaps: true}
		copy(layout.Steps[:], steps)
		return fused.Map(j, kernels.Float32, layout)
	}
	return []*kernels.Kernel{sampleEncode, sampleLookup, encodeLines,
		of(centresMap, 1, strided, strided), of(samplesMap[1], 1, indexed, strided, strided, unit),
		of(samplesMap[3], 1, indexed, strided, strided, strided, strided, strided),
		of(octavesMap, 2, fixed, strided, strided), of(wavesMap, 2, fixed, fixed, unit, unit, strided, strided)}
}

// sampleEncode does in one launch what samplesMap and octavesMap do in two: of n pixels of IMAGE
// [height·width, channels], drawn with replacement, it writes the sines and cosines of their
// centres to F [n, 2, octaves, 2], which starts at an even offset, and their colours to V [n,
// channels]: IMAGE, F, V, n, width, height, channels, octaves, seed_lo, seed_hi, call. Drawing a
// pixel for each of its numbers, as one map would, takes longer.
var sampleEncode = &kernels.Kernel{Name: "k_sample_encode", Text: sampleCPU, File: "sample_cpu.cl",
	GPUText: sampleGPU, GPU: "sample_gpu.cl",
	Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
		n, items, samples := int(a[3].Int), 1, 32 // of a work-group
		if !l.CPU {
			items = l.Group()
			if n >= 1<<15 {
				samples = 128
			}
		}
		return kernels.Grid{Dims: 1, Global: [3]int{(n + samples - 1) / samples * items}, Local: [3]int{items}}
	},
	Params: []kernels.Param{{Name: "IMAGE", Mode: kernels.In}, {Name: "F", Mode: kernels.Out}, {Name: "V", Mode: kernels.Out},
		{Name: "n", Mode: kernels.IntParam}, {Name: "width", Mode: kernels.IntParam}, {Name: "height", Mode: kernels.IntParam},
		{Name: "channels", Mode: kernels.IntParam}, {Name: "octaves", Mode: kernels.IntParam},
		{Name: "seed_lo", Mode: kernels.IntParam}, {Name: "seed_hi", Mode: kernels.IntParam}, {Name: "call", Mode: kernels.IntParam}},
	Host:      kernels.HostKernel{F32: sampleEncodeHost[float32], F64: sampleEncodeHost[float64]},
	Tol:       kernels.Tolerance{ULP: 4, Rel: 4, Scale: func([]kernels.Arg) float64 { return 1 }},
	Semantics: sampleEncodeSemantics,
	Fusions:   fused.Fusions{Batch: &fused.BatchSpec{Function: "sample_encode", Local: "SAMPLE_LOCAL"}},
	Cases: func(few bool) []kernels.Case {
		var each int
		build := func(o *kernels.Operands, n, octaves int) {
			// Sides are powers of two: a GPU's division is not exact, and octaves magnify what it
			// is off by.
			o.In(8*16*3, 0, 1).Out(n*4*octaves).Out(3*n).Int(n, 8, 16, 3, octaves, 12345, -7, 3)
		}
		cases := kernels.CasesBySize(func(o *kernels.Operands, n int) {
			octaves := []int{16, 1, 20}[each%3]
			each++
			build(o, n, octaves)
		})(few)
		if !few {
			const many = 1<<15 + 77 // of which a work-group of a GPU draws more
			cases = append(cases, kernels.Case{Name: fmt.Sprint("n=", many), Build: func(o *kernels.Operands) { build(o, many, 4) }})
		}
		return cases
	}}

// What sampleEncode computes, as functions of the scalars of a draw and of the channels. Axis 1 is
// that of x and y, or of the channels.
var (
	drawnOctave   = expr.Where(expr.Index(1).Float().Eq(expr.Const(0)), drawnX, drawnY).Ldexp(expr.Index(2).Add(expr.Const(1)))
	drawnOctaves  = join("drawn_octaves", append(drawnForTests, 3), unit, drawnOctave.SinPi(), drawnOctave.CosPi())
	drawnChannels = join("drawn_channels", append(drawnForTests, 3), unit, drawnColour(expr.IntParam(5), expr.Index(1)))
)

// drawnScalars are those of a draw in a launch of sampleEncode, and one more.
func drawnScalars(more operation.Scalar) []operation.Scalar {
	return []operation.Scalar{operation.ArgScalar(8), operation.ArgScalar(9), operation.ArgScalar(10),
		operation.ArgScalar(4),
		operation.ArgScalar(5), more}
}

func sampleEncodeSemantics(a []kernels.Arg) []kernels.Op {
	n, octaves := int(a[3].Int), int(a[7].Int)
	scalars := drawnScalars(operation.ArgScalar(6))
	features := &operation.Map{Dims: []int{n, 2, octaves}, ExactRounding: true}
	for k, f := range drawnOctaves.Functions {
		features.Results = append(features.Results, operation.Result{Function: f, Scalars: scalars,
			View: kernels.ViewOf(a, 1, k, 4*octaves, 2*octaves, 2)})
	}
	return []kernels.Op{features, drawnColoursOf(a)}
}

// drawnColoursOf is what a launch of sampleEncode, or of its form, writes to V.
func drawnColoursOf(a []kernels.Arg) kernels.Op {
	channels := int(a[6].Int)
	return &operation.Map{ExactRounding: true, Dims: []int{int(a[3].Int), channels},
		Operands: []kernels.View{kernels.ViewOf(a, 0, 0, 1)}, Elements: []int{a[0].N},
		Results: []operation.Result{{Function: drawnChannels.Functions[0], Scalars: drawnScalars(operation.ArgScalar(6)),
			View: kernels.ViewOf(a, 2, 0, channels, 1)}}}
}

// sampleChunk is how many samples of the host kernel follow one another: their pixels are read together,
// since each waits for memory.
const sampleChunk = 32

func sampleEncodeHost[T kernels.Float](c kernels.HostArgs[T]) {
	image, features, colours := c.Floats(0), c.Floats(1), c.Floats(2)
	n, width, height, channels, octaves := c.Int(3), c.Int(4), c.Int(5), c.Int(6), c.Int(7)
	key, call := [2]uint32{uint32(c.Int(8)), uint32(c.Int(9))}, uint32(c.Int(10))
	c.Parallel((n+sampleChunk-1)/sampleChunk, 32*sampleChunk*octaves, func(lo, hi int) {
		var pixels [sampleChunk]int
		for first := lo * sampleChunk; first < min(n, hi*sampleChunk); first += sampleChunk {
			drawn := pixels[:min(sampleChunk, n-first)]
			for i := 0; i < len(drawn); i += 4 { // four samples share the words of a counter
				words := expr.Philox([4]uint32{uint32((first + i) / 4), call}, key)
				for j := range drawn[i:min(i+4, len(drawn))] {
					pixel, _ := bits.Mul32(words[j], uint32(width*height))
					drawn[i+j] = int(pixel)
				}
			}
			to := colours[first*channels:]
			for ch := range channels {
				for i, pixel := range drawn {
					to[i*channels+ch] = image[pixel*channels+ch]
				}
			}
			for i := 0; i < len(drawn); i += 2 {
				// Two samples have four angles, the last one, if it is alone, two of them twice.
				a, b := drawn[i], drawn[min(i+1, len(drawn)-1)]
				f := features[4*(first+i)*octaves:]
				g := f[4*(min(i+1, len(drawn)-1)-i)*octaves:]
				encodeCoordinates([4][]T{f[:2*octaves], f[2*octaves : 4*octaves], g[:2*octaves], g[2*octaves : 4*octaves]},
					[4]T{(T(a%width) + 0.5) / T(width), (T(a/width) + 0.5) / T(height), (T(b%width) + 0.5) / T(width), (T(b/width) + 0.5) / T(height)})
			}
		}
	})
}

// encodeCoordinates writes sine and cosine of 2^(o+1)·π·at for each octave, by doubling the angle,
// of four angles side by side, since each waits for the octave before. A doubling doubles the error
// in float64, which starts below 2⁻⁵²: after 16 it is far below what float32 shows, and the sine is
// recomputed. In float64 every octave is.
func encodeCoordinates[T kernels.Float](out [4][]T, at [4]T) {
	every := 16
	if kernels.DTypeOf[T]() == kernels.Float64 {
		every = 1
	}
	out0, out1, out2, out3 := out[0], out[1], out[2], out[3]
	n := len(out0)
	out1, out2, out3 = out1[:n], out2[:n], out3[:n]
	var sin, cos [4]float64
	for o := 0; o < n/2; o += every {
		for i, v := range at {
			t := math.Ldexp(float64(v), o)
			sin[i], cos[i] = math.Sincos(2 * math.Pi * (t - math.Floor(t)))
		}
		s0, c0, s1, c1, s2, c2, s3, c3 := sin[0], cos[0], sin[1], cos[1], sin[2], cos[2], sin[3], cos[3]
		for k := 2 * o; k+1 < min(n, 2*(o+every)); k += 2 {
			out0[k], out0[k+1] = T(s0), T(c0)
			out1[k], out1[k+1] = T(s1), T(c1)
			out2[k], out2[k+1] = T(s2), T(c2)
			out3[k], out3[k+1] = T(s3), T(c3)
			s0, c0 = 2*s0*c0, (c0-s0)*(c0+s0)
			s1, c1 = 2*s1*c1, (c1-s1)*(c1+s1)
			s2, c2 = 2*s2*c2, (c2-s2)*(c2+s2)
			s3, c3 = 2*s3*c3, (c3-s3)*(c3+s3)
		}
	}
}
