package expr_test

import (
	"math"
	"testing"

	"github.com/clgrad/clgrad/kernels/expr"
)

// TestFunctionsAtTheEdges: logarithms and powers of denormal numbers, arcs beside ±1, and angles of
// points that lie almost on the axis, against forty decimal places rounded.
func TestFunctionsAtTheEdges(t *testing.T) {
	const places = 4 // units in the last place, and as many of the exponent of a power
	for _, c := range []struct {
		name string
		f    *expr.Expr
		x, y float64
		want float64
	}{
		{"log", x.Log(), 5e-324, 0, -744.4400719213812}, {"log", x.Log(), 1e-310, 0, -713.8013788281542}, {"log", x.Log(), 0x1p-1022, 0, -708.3964185322641},
		{"log", x.Log(), 0, 0, math.Inf(-1)}, {"log", x.Log(), -5e-324, 0, math.NaN()},
		{"asin", x.Asin(), 0.9999999999, 0, 1.5707821846586878}, {"asin", x.Asin(), -0.9999999999, 0, -1.5707821846586878},
		{"asin", x.Asin(), 1 - 0x1p-53, 0, 1.5707963118937354}, {"asin", x.Asin(), 0.75, 0, 0.848062078981481}, {"asin", x.Asin(), 0.51, 0, 0.5351847902755998},
		{"asin", x.Asin(), 0.9999999925474529, 0, 1.5706742403735041}, {"acos", x.Acos(), 1 - 0x1p-52, 0, 2.1073424255447017e-08},
		{"asin", x.Asin(), -1, 0, -math.Pi / 2}, {"asin", x.Asin(), math.Copysign(0, -1), 0, math.Copysign(0, -1)}, {"asin", x.Asin(), 1.1, 0, math.NaN()},
		{"acos", x.Acos(), 0.9999999999, 0, 1.4142136208911564e-05}, {"acos", x.Acos(), -0.9999999999, 0, 3.1415785114535844},
		{"acos", x.Acos(), 1 - 0x1p-53, 0, 1.4901161193847656e-08}, {"acos", x.Acos(), 0.75, 0, 0.7227342478134157}, {"acos", x.Acos(), -0.51, 0, 2.1059811170704963},
		{"acos", x.Acos(), 1, 0, 0}, {"acos", x.Acos(), -1, 0, math.Pi}, {"acos", x.Acos(), -1.1, 0, math.NaN()},
		{"pow", x.Pow(y), 5e-324, 0.25, 1.4908919308538355e-81}, {"pow", x.Pow(y), 1e-310, -0.75, 3.1622776601683864e+232}, {"pow", x.Pow(y), 5e-324, 0.5, 2.2227587494850775e-162},
		{"pow", x.Pow(y), -5e-324, 1, -5e-324}, {"pow", x.Pow(y), -5e-324, -1, math.Inf(-1)}, {"pow", x.Pow(y), 5e-324, 0, 1}, {"pow", x.Pow(y), -5e-324, 0.5, math.NaN()},
		{"atan2", x.Atan2(y), -1e-300, -1e300, -math.Pi}, {"atan2", x.Atan2(y), 1e-300, -1e300, math.Pi}, {"atan2", x.Atan2(y), math.Copysign(0, -1), 1, math.Copysign(0, -1)},
		{"atan2", x.Atan2(y), -1e-300, 1e300, math.Copysign(0, -1)},
	} {
		got := value(expr.Compile(c.f), []float64{c.x, c.y})
		near := places * 0x1p-52 * math.Abs(c.want)
		if c.name == "pow" {
			near *= 256 // y·ln x has nine places before the point
		}
		if got != c.want && !(math.Abs(got-c.want) <= near) && !(math.IsNaN(got) && math.IsNaN(c.want)) || math.Signbit(got) != math.Signbit(c.want) && got == got {
			t.Errorf("%s(%v, %v) = %v, want %v", c.name, c.x, c.y, got, c.want)
		}
	}
}
