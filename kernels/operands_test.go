package kernels

import (
	"math"
	"slices"
	"testing"
)

// TestOperands: arguments come in the order of the calls, of the device's type, with guards around memory, and the same
// for the same seeds.
func TestOperands(t *testing.T) {
	for _, real := range []DType{Float32, Float64} {
		build := func(seed uint64) *Operands {
			o := NewOperands(real, seed, 2)
			return o.In(40, -1, 2).Out(3).Ints(4, func(i int) int { return 10 * i }).Int(7, -8).Real(0.5).
				Reals(2, func(i int) float64 { return float64(i) }).Start(9).Reals(0, nil)
		}
		o := build(1)
		kinds := []ArgKind{ArgVec, ArgVec, ArgVec, ArgInt, ArgInt, ArgReal, ArgVec, ArgVec}
		if len(o.Args) != len(kinds) {
			t.Fatalf("%d arguments, want %d", len(o.Args), len(kinds))
		}
		values := func(i int) (v []float64) {
			a := o.Args[i]
			for j := range a.N {
				v = append(v, a.Buf.(*Mem).At(a.Off+j))
			}
			return v
		}
		for i, a := range o.Args {
			if a.Kind != kinds[i] {
				t.Errorf("argument %d is %v, want %v", i, a.Kind, kinds[i])
			}
			if a.Kind != ArgVec {
				continue
			}
			if want := map[bool]DType{true: Int32, false: real}[i == 2]; a.Buf.DType() != want {
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
		if got := values(2); !slices.Equal(got, []float64{0, 10, 20, 30}) || o.Args[3].Int != 7 || o.Args[4].Int != -8 || o.Args[5].Real != 0.5 {
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

// TestPerLength: a case for each length, and of few no large one and not 0.
func TestPerLength(t *testing.T) {
	for _, few := range []bool{false, true} {
		var built []int
		for _, c := range PerLength(func(o *Operands, n int) { built = append(built, n) })(few) {
			c.Build(nil)
		}
		if !slices.Equal(built, Lengths(few)) || slices.Contains(built, 0) == few || slices.Max(built) > 1000 == few {
			t.Errorf("few %v: lengths %v", few, built)
		}
	}
}
