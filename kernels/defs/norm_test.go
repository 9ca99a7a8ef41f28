package defs_test

import (
	"math/rand/v2"
	"testing"

	"github.com/clgrad/clgrad/internal/irtest"
	"github.com/clgrad/clgrad/kernels/defs"
)

// TestNormGrad: the gradient that reads the mean and the deviation is the derived one.
func TestNormGrad(t *testing.T) {
	for _, f := range []defs.NormForm{{}, {Centred: true}, {Weights: true}, {Centred: true, Weights: true}} {
		norm, grad := defs.Norm(f), defs.NormGrad(f)
		rng := rand.New(rand.NewPCG(3, 4))
		for _, size := range [][2]int{{1, 1}, {3, 5}, {4, 12}} {
			derived := irtest.Draw(norm.Gradient("X"), rng, size[0], size[1], 1)
			for name, g := range derived.Floats { // of the mean and the deviation none is asked for
				if name == "GMEAN" || name == "GRSTD" {
					clear(g)
				}
			}
			forward, given := *derived, *derived
			forward.Program, given.Program = norm, grad
			y := forward.Run()
			given.Floats = map[string][]float64{"X": derived.Floats["X"], "W": derived.Floats["W"],
				"G": derived.Floats["GY"], "MEAN": y[1], "RSTD": y[2]}
			irtest.Near(t, grad.Name, given.Run()[0], derived.Run()[0], 1e-12)
		}
	}
}

// TestNormLinesGrad: the gradient that reads the result is the derived one.
func TestNormLinesGrad(t *testing.T) {
	for _, centred := range []bool{false, true} {
		norm, grad := defs.NormLines(centred), defs.NormLinesGrad(centred)
		rng := rand.New(rand.NewPCG(3, 4))
		for _, size := range [][2]int{{1, 1}, {3, 5}, {4, 12}} {
			derived := irtest.Draw(norm.Gradient("X"), rng, size[0], size[1], 1)
			forward, given := *derived, *derived
			forward.Program, given.Program = norm, grad
			given.Floats = map[string][]float64{
				"X": derived.Floats["X"], "Y": forward.Run()[0], "GY": derived.Floats["GY"]}
			irtest.Near(t, grad.Name, given.Run()[0], derived.Run()[0], 1e-12)
		}
	}
}

// TestNormSums: the gradients of weights and biases are sums over the lines of a run, or over a line.
func TestNormSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	sums := func(v *irtest.Launch, from, to, step int, statistic func(i int) int) []float64 {
		var w, b float64
		for i := from; i < to; i += step {
			g := v.Floats["G"][i]
			w += g * (v.Floats["X"][i] - v.Floats["MEAN"][statistic(i)]) * v.Floats["RSTD"][statistic(i)]
			b += g
		}
		return []float64{w, b}
	}
	line := irtest.Draw(defs.NormSums(false), rng, 1, 6, 4)
	got := line.Run()
	for c := range 4 {
		irtest.Near(t, "a line", []float64{got[1][c], got[0][c]}, sums(line, c, 24, 4, func(int) int { return c }), 1e-12)
	}
	v := irtest.Draw(defs.NormGrad(defs.NormForm{Centred: true, Sums: true}), rng, 5, 4, 1)
	v.Lines = 3
	got = v.Run()
	for c := range 8 {
		from, to := c%4, 12
		if c >= 4 {
			from, to = c%4+12, 20
		}
		irtest.Near(t, "a run", []float64{got[1][c], got[2][c]}, sums(v, from, to, 4, func(i int) int { return i / 4 }), 1e-12)
	}
}
