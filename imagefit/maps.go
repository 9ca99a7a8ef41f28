package imagefit

import (
	"fmt"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// Formulas of positions. The centre of pixel (c, r) of a width×height picture is at ((c + ½)/width,
// (r + ½)/height): the same place in the picture at every size.

// centre is that of a pixel of a row or column of so many.
func centre(pixel, of *expr.Expr) *expr.Expr {
	return pixel.Float().Add(expr.Const(0.5)).Div(of.Float())
}

// join joins formulas of as many scalars as there are values of for tests.
func join(name string, scalars []float64, domain [2]float64, formulas ...*expr.Expr) *kernels.FusedElementwise {
	j := &kernels.FusedElementwise{Name: name}
	for i, f := range formulas {
		j.Functions = append(j.Functions, &kernels.Function{Name: fmt.Sprintf("%s_%d", name, i), Value: f, Scalars: scalars, Domains: [][2]float64{domain}})
	}
	return j
}

var unit = [2]float64{0, 1}

// centresMap makes x and y of pixel i of a window, row by row, of [n]. Scalars: column and row of
// the first, columns of the window, width and height of the picture.
var centresMap = func() *kernels.FusedElementwise {
	i, column, row, cols, width, height := expr.Index(0), expr.IntParam(0), expr.IntParam(1), expr.IntParam(2), expr.IntParam(3), expr.IntParam(4)
	return join("pixel_centres", []float64{11, 5, 37, 64, 1000}, unit,
		centre(column.Add(i.Rem(cols)), width), centre(row.Add(i.Quo(cols)), height))
}()

// The scalars of a draw: seed and call of the stream, width and height of the picture; and their
// values for tests.
var (
	drawnOf       = expr.IntParam(3)
	drawn         = expr.Random(expr.Index(0), expr.IntParam(2), expr.IntParam(0), expr.IntParam(1)).MulHigh(drawnOf.Mul(expr.IntParam(4)))
	drawnX        = centre(drawn.Rem(drawnOf), drawnOf)
	drawnY        = centre(drawn.Quo(drawnOf), expr.IntParam(4))
	drawnForTests = []float64{12345, -7, 3, 8, 16}
)

// drawnColour is value k of the drawn pixel, in operand 0 [height·width, channels].
func drawnColour(channels, k *expr.Expr) *expr.Expr { return expr.Load(0, drawn.Mul(channels).Add(k)) }

// samplesMap makes x, y and the values of drawn pixels, of [n], for each number of channels.
var samplesMap = func() (by [5]*kernels.FusedElementwise) {
	for channels := 1; channels < len(by); channels++ {
		formulas := []*expr.Expr{drawnX, drawnY}
		for k := range channels {
			formulas = append(formulas, drawnColour(expr.Const(float64(channels)), expr.Const(float64(k))))
		}
		by[channels] = join(fmt.Sprintf("sample_pixels_%d", channels), drawnForTests, unit, formulas...)
	}
	return by
}()

// octavesMap makes sine and cosine of 2^(o+1)·π·x, of [coordinates, octaves]. Multiplying by a
// power of two and dropping whole turns are exact, so high octaves lose nothing but what the
// coordinate itself lacks. Source: Mildenhall et al., "NeRF", ECCV 2020, eq. 4, one octave higher.
var octavesMap = func() *kernels.FusedElementwise {
	x := expr.Input(0).Ldexp(expr.Index(1).Add(expr.Const(1)))
	return join("octaves", nil, unit, x.SinPi(), x.CosPi())
}()

// wavesMap makes sine and cosine of 2π·(x·b + y·c), of coordinates x and y and waves (b, c) in
// cycles per picture. Source: Tancik et al., "Fourier Features Let Networks Learn High Frequency
// Functions in Low Dimensional Domains", NeurIPS 2020, §4.
var wavesMap = func() *kernels.FusedElementwise {
	turns := expr.Input(0).FMA(expr.Input(2), expr.Input(1).Mul(expr.Input(3)))
	x := turns.Mul(expr.Const(2))
	return join("waves", nil, unit, x.SinPi(), x.CosPi())
}()
