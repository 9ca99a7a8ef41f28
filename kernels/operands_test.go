package kernels

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// TestOperands: arguments come in the order of the calls, of the device's type, with guards around
// memory, and the same for the same seeds.
func TestOperands(t *testing.T) {
	for _, float := range []DType{Float32, Float64} {
		build := func(seed uint64) *Operands {
			o := NewOperands(float, seed, 2)
			return o.In(40, -1, 2).Out(3).Ints(4, func(i int) int { return 10 * i }).Int(7, -8).Float(0.5).
				Floats(2, func(i int) float64 { return float64(i) }).Start(9).Floats(0, nil)
		}
		o := build(1)
		kinds := []ArgKind{ArgBuffer, ArgBuffer, ArgBuffer, ArgInt, ArgInt, ArgFloat, ArgBuffer, ArgBuffer}
		if len(o.Args) != len(kinds) {
			t.Fatalf("%d arguments, want %d", len(o.Args), len(kinds))
		}
		values := func(i int) (v []float64) {
			a := o.Args[i]
			for j := range a.N {
				v = append(v, a.Buf.(*HostBuffer).At(a.Off+j))
			}
			return v
		}
		for i, a := range o.Args {
			if a.Kind != kinds[i] {
				t.Errorf("argument %d is %v, want %v", i, a.Kind, kinds[i])
			}
			if a.Kind != ArgBuffer {
				continue
			}
			if want := map[bool]DType{true: Int32, false: float}[i == 2]; a.Buf.DType() != want {
				t.Errorf("argument %d holds %v, want %v", i, a.Buf.DType(), want)
			}
			if a.Off < 64 || a.Buf.Len()-a.Off-a.N < 64 {
				t.Errorf("argument %d: %d elements at %d of %d leave no room for guards", i, a.N, a.Off, a.Buf.Len())
			}
		}
		drawn := values(0)
		if slices.Min(drawn) < -1 || slices.Max(drawn) >= 2 || slices.Min(drawn) > 0 || slices.Max(drawn) < 1 {
			t.Errorf("not spread over [-1, 2): %v", drawn)
		}
		for _, v := range values(1) {
			if !math.IsNaN(v) {
				t.Errorf("an output starts as %v", v)
			}
		}
		if got := values(2); !slices.Equal(got, []float64{0, 10, 20, 30}) || o.Args[3].Int != 7 || o.Args[4].Int != -8 || o.Args[5].Float != 0.5 {
			t.Errorf("ints %v, numbers %+v", got, o.Args[3:6])
		}
		if got := values(6); !slices.Equal(got, []float64{9, 1}) || o.Args[7].N != 0 {
			t.Errorf("reals %v, and %d where there are none", got, o.Args[7].N)
		}
		if o = build(1); !slices.Equal(values(0), drawn) {
			t.Error("other numbers from the same seeds")
		}
		if o = build(3); slices.Equal(values(0), drawn) {
			t.Error("the same numbers from other seeds")
		}
	}
}

// TestCasesBySize: a case for each length, and of few no large one and not 0.
func TestCasesBySize(t *testing.T) {
	for _, few := range []bool{false, true} {
		var built []int
		for _, c := range CasesBySize(func(o *Operands, n int) { built = append(built, n) })(few) {
			c.Build(nil)
		}
		if !slices.Equal(built, Sizes(few)) || slices.Contains(built, 0) == few || slices.Max(built) > 1000 == few {
			t.Errorf("few %v: lengths %v", few, built)
		}
	}
}

// TestGuards: what lies around the elements is a number that no kernel writes by mistake, of every
// element type.
func TestGuards(t *testing.T) {
	for _, elem := range []DType{Float32, Float64, Int32, Uint8, Float16} {
		a := NewOperands(Float32, 1, 2).Elements(elem, 3, func(int) float64 { return 1 }).Args[0]
		m := a.Buf.(*HostBuffer)
		for i := range m.Len() {
			likely := []float64{0, 1, -1, 77, 255}
			if v := m.At(i); (i < a.Off || i >= a.Off+a.N) && (math.IsNaN(v) || slices.Contains(likely, v)) {
				t.Fatalf("%v: element %d of %d at %d is %v", elem, i-a.Off, a.N, a.Off, v)
			}
		}
	}
}

// TestSpecial: the values that break careless kernels are all there, of either sign; Kinks leaves
// out those that a product of gradients takes beyond what single precision holds. A short buffer
// takes the first.
func TestSpecial(t *testing.T) {
	for _, c := range []struct {
		n      int
		make   func(o *Operands) *Operands
		values string
	}{
		{9, (*Operands).Special, "[NaN +Inf -Inf 0 -0 1e-42 -1e-42 3e+38 0.5]"},
		{6, (*Operands).Kinks, "[NaN +Inf -Inf 0 -0 0.5]"},
		{2, (*Operands).Special, "[NaN +Inf]"},
	} {
		a := c.make(NewOperands(Float64, 1, 2).Out(1).Floats(c.n, func(int) float64 { return 0.5 })).Args[1]
		if got := fmt.Sprint(Slice[float64](a.Buf.(*HostBuffer), a.Off, a.N)); got != c.values {
			t.Errorf("%s, want %s", got, c.values)
		}
	}
}
