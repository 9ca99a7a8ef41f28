package lower_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/clgrad/clgrad/internal/irtest"
	"github.com/clgrad/clgrad/internal/lower"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/defs"
	"github.com/clgrad/clgrad/kernels/ir"
)

// TestBound: what single precision makes of a definition lies within its bound, which is no more than
// a hundredth of the largest result.
func TestBound(t *testing.T) {
	programs := []*ir.Program{defs.Softmax(), defs.LogSoftmax(), defs.SoftmaxGrad(), defs.LogSoftmaxGrad(),
		defs.Moments(), defs.NormSums(false), defs.NormSums(true),
		defs.NormGrad(defs.NormForm{Centred: true, Weights: true, Sums: true}), defs.Norm(defs.NormForm{Centred: true, Weights: true, Biases: true}),
		defs.CrossEntropy(defs.EntropyForm{Logits: true, Weights: true}),
		defs.CrossEntropyGrad(defs.EntropyForm{Logits: true, Smoothing: true, Each: true})}
	for kind := range defs.FoldKind(defs.FoldKinds) {
		programs = append(programs, defs.Fold(kind))
	}
	rng := rand.New(rand.NewPCG(3, 4))
	checked := 0
	for _, p := range programs {
		k, _, _ := lower.Rows(p)
		at := lower.LayoutOf(p)
		for _, size := range [][4]int{{3, 1, 1, 1}, {4, 70, 1, 70}, {2, 30, 5, 7}, {1, 700, 3, 256}} {
			l := irtest.Draw(p, rng, size[0], size[1], size[2])
			if l.Chunk = size[1]; p.Parts {
				l.Chunk = size[3]
			}
			for _, x := range l.Floats {
				for i := range x {
					x[i] = float64(float32(x[i]))
				}
			}
			want := l.Expected()
			args := hostArgs(l, want)
			bound := lower.Bound(p, func(n int) float64 { return float64(n) })(kernels.Float32, args)
			k.RunVectors(kernels.Float32, args)
			for r, list := range want {
				largest := 0.0
				for _, w := range list {
					largest = max(largest, math.Abs(w))
				}
				name := p.Results[r].Name
				for i, w := range list {
					got, param := args[at.Results+r].At(i), at.Results+r
					if w != w || math.IsInf(w, 0) {
						continue
					}
					off := bound(param, i)
					if checked++; math.Abs(got-w) > off+0x1p-24*math.Abs(w) {
						t.Fatalf("%s %v: element %d of %s is %v, want %v within %v", p.Name, size, i, name, got, w, off)
					}
					if off > 0.01*max(largest, 1) {
						t.Fatalf("%s %v: element %d of %s, %v, may be off by %v", p.Name, size, i, name, w, off)
					}
				}
			}
		}
	}
	if checked < 10000 {
		t.Errorf("%d elements were checked", checked)
	}
}

// hostArgs are the arguments of a launch in the memory of the host, with results of these lengths.
func hostArgs(l *irtest.Launch, results [][]float64) []kernels.Arg {
	var args []kernels.Arg
	for _, v := range l.Program.Values {
		switch {
		case v.Kind != ir.Input:
		case v.Int:
			args = append(args, kernels.BufferArg(kernels.HostBufferOf(l.Ints[v.Name]), 0, len(l.Ints[v.Name])))
		default:
			buffer := kernels.NewHostBuffer(kernels.Float32, len(l.Floats[v.Name]))
			for i, x := range l.Floats[v.Name] {
				buffer.Set(i, x)
			}
			args = append(args, kernels.BufferArg(buffer, 0, len(l.Floats[v.Name])))
		}
	}
	for k, list := range results {
		typ := kernels.Float32
		if l.Program.Results[k].Int {
			typ = kernels.Int32
		}
		args = append(args, kernels.BufferArg(kernels.NewHostBuffer(typ, len(list)), 0, len(list)))
	}
	return append(args, sizesAndNumbers(l)...)
}
