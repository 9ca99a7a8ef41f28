package kernels

import (
	"math"

	"github.com/clgrad/clgrad/internal/cond"
	"github.com/clgrad/clgrad/internal/par"
)

// Binary is an element-wise function z = f(x, y) and its gradients. The line of the same name in
// binary.cl is the device's form of it.
type Binary struct {
	Name string // of the line in binary.cl

	Fwd    func(x, y float64) float64    // z
	DX, DY func(x, y, g float64) float64 // for the gradient g of z
	Int    func(x, y int32) int32        // z of integers, wrapping around; nil: they are taken for reals

	Linear bool // the gradients do not depend on x and y
	PassX  bool // dx is g itself
	PassY  bool // dy is g itself

	ULP int // error a device is allowed in Fwd: OpenCL 1.2, section 7.4

	hotRow Twin // as Unary.hot, for the kernel that adds biases

	InPlace string // the name of the in-place form, for errors

	forward, row, first, dx, dy *Kernel
}

// The element-wise functions of two tensors.
var (
	Add = &Binary{Name: "add", Linear: true, PassX: true, PassY: true, hotRow: Twin{addRowTwin[float32], addRowTwin[float64]},
		Fwd: func(x, y float64) float64 { return x + y },
		DX:  func(_, _, g float64) float64 { return g },
		DY:  func(_, _, g float64) float64 { return g },
		Int: func(x, y int32) int32 { return x + y }}
	Sub = &Binary{Name: "sub", Linear: true, PassX: true,
		Fwd: func(x, y float64) float64 { return x - y },
		DX:  func(_, _, g float64) float64 { return g },
		DY:  func(_, _, g float64) float64 { return -g },
		Int: func(x, y int32) int32 { return x - y }}
	Mul = &Binary{Name: "mul",
		Fwd: func(x, y float64) float64 { return x * y },
		DX:  func(_, y, g float64) float64 { return y * g },
		DY:  func(x, _, g float64) float64 { return x * g },
		Int: func(x, y int32) int32 { return x * y }}
	Div = &Binary{Name: "div", ULP: 3,
		Fwd: func(x, y float64) float64 { return x / y },
		DX:  func(_, y, g float64) float64 { return g / y },
		DY:  func(x, y, g float64) float64 { return -x / y / y * g }}
	Min = &Binary{Name: "min",
		Fwd: func(x, y float64) float64 { return cond.When(math.IsNaN(x) || x < y, x, y) },
		DX:  func(x, y, g float64) float64 { return cond.When(x > y, 0, cond.When(x == y, g/2, g)) },
		DY:  func(x, y, g float64) float64 { return cond.When(y > x, 0, cond.When(x == y, g/2, g)) },
		Int: func(x, y int32) int32 { return min(x, y) }}
	Max = &Binary{Name: "max",
		Fwd: func(x, y float64) float64 { return cond.When(math.IsNaN(x) || x > y, x, y) },
		DX:  func(x, y, g float64) float64 { return cond.When(x < y, 0, cond.When(x == y, g/2, g)) },
		DY:  func(x, y, g float64) float64 { return cond.When(y < x, 0, cond.When(x == y, g/2, g)) },
		Int: func(x, y int32) int32 { return max(x, y) }}
)

// Binaries are all rows; a test holds them against the lines of binary.cl.
var Binaries = binaries(Add, Sub, Mul, Div, Min, Max)

// Forward is the kernel over tensors of one size: x, y, z, n.
func (b *Binary) Forward() *Kernel { return b.forward }

// Row is the kernel that repeats y for every row of x: x, y, z, rows, cols. It has forms for integers if there is an
// Int.
func (b *Binary) Row() *Kernel { return b.row }

// First is the kernel that reads only the first element of y: x, y, z, n.
func (b *Binary) First() *Kernel { return b.first }

// GradX is the kernel of the gradient of x: x, y, g, dx, n.
func (b *Binary) GradX() *Kernel { return b.dx }

// GradY is the kernel of the gradient of y: x, y, g, dy, n.
func (b *Binary) GradY() *Kernel { return b.dy }

func binaries(rows ...*Binary) []*Binary {
	for _, b := range rows {
		kernel := func(suffix string, grid func([]Arg, Limits) Grid, tol Tolerance, twin Twin, params ...Param) *Kernel {
			return &Kernel{Name: "k_" + b.Name + suffix, File: "binary.cl", Params: params, Grid: grid, Twin: twin, Tol: tol}
		}
		x, y, z, n := Param{"X", In}, Param{"Y", In}, Param{"Z", Out}, Param{"n", IntArg}
		g, d := Param{"G", In}, Param{"D", Out}
		fwd, grad := ULP(b.ULP), ULP(b.ULP+4)
		b.InPlace = b.Name + "InPlace"
		divisor := func(ops []Operand) { ops[1].Lo, ops[1].Hi = 0.5, 3 } // y is one of Div
		b.forward = Elementwise(kernel("", PerElement(2), fwd, Twin{zipTwin[float32](b.Fwd), zipTwin[float64](b.Fwd)}, x, y, z, n), divisor)
		b.row = Tried(Typed(kernel("_row", func(a []Arg, l Limits) Grid { return Plane(int(a[4].Int), int(a[3].Int), l) }, fwd,
			b.hotRow.or(cycleTwin[float32](b.Fwd), cycleTwin[float64](b.Fwd)), x, y, z, Param{"rows", IntArg}, Param{"cols", IntArg}),
			"integer.cl", "k_int_"+b.Name+"_row", integerRowTwin[int32](b.Int), integerRowTwin[uint8](b.Int), Twin{}),
			func(ops []Operand) bool { divisor(ops); return true })
		b.first = Elementwise(kernel("_first", PerElement(2), fwd, Twin{cycleTwin[float32](b.Fwd), cycleTwin[float64](b.Fwd)}, x, y, z, n), divisor)
		b.dx = Elementwise(kernel("_dx", PerElement(3), grad, Twin{zip3Twin[float32](b.DX), zip3Twin[float64](b.DX)}, x, y, g, d, n), divisor)
		b.dy = Elementwise(kernel("_dy", PerElement(3), grad, Twin{zip3Twin[float32](b.DY), zip3Twin[float64](b.DY)}, x, y, g, d, n), divisor)
	}
	return rows
}

func zipTwin[T Real](f func(x, y float64) float64) func(Call[T]) {
	return func(c Call[T]) {
		x, y, z := c.Reals(0), c.Reals(1), c.Reals(2)
		par.For(len(z), par.Grain, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				z[i] = T(f(float64(x[i]), float64(y[i])))
			}
		})
	}
}

// cycleTwin repeats y over x: a row, or a single element.
func cycleTwin[T Real](f func(x, y float64) float64) func(Call[T]) {
	return func(c Call[T]) {
		x, y, z := c.Reals(0), c.Reals(1), c.Reals(2)
		par.For(len(z), par.Grain, func(lo, hi int) {
			j := lo % len(y)
			for i := lo; i < hi; i++ {
				z[i] = T(f(float64(x[i]), float64(y[j])))
				if j++; j == len(y) {
					j = 0
				}
			}
		})
	}
}

func zip3Twin[T Real](f func(x, y, g float64) float64) func(Call[T]) {
	return func(c Call[T]) {
		x, y, g, d := c.Reals(0), c.Reals(1), c.Reals(2), c.Reals(3)
		par.For(len(d), par.Grain, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				d[i] = T(f(float64(x[i]), float64(y[i]), float64(g[i])))
			}
		})
	}
}
