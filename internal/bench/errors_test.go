package bench

import (
	"context"
	"fmt"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestDrawn: the words are those that the other side draws. The numbers are of a program in Python.
func TestDrawn(t *testing.T) {
	for stream, want := range []uint32{0xd97e5ed1, 0x6afdcf1d, 0xee6c4db8, 0x22b7408b, 0xaad5332d, 0x6ef4e5e4} {
		if got := drawn(stream, 4); got != want {
			t.Errorf("word 4 of stream %d is %#x, want %#x", stream, got, want)
		}
	}
	for kind, want := range []float32{0x1.65f978p-1, 0x1.b2fcbcp-1, 0x1.65f978p+3} {
		if got := errorFactors[kind].at(drawnA, 4); got != want {
			t.Errorf("%s: element 4 is %x, want %x", errorFactors[kind].name, got, want)
		}
	}
	for i, want := range map[int]float32{6: 0x1.771b2cp+11, 7: -0x1.009954p+2} {
		if got := errorFactors[2].at(drawnB, i); got != want {
			t.Errorf("%s: element %d is %x, want %x", errorFactors[2].name, i, got, want)
		}
	}
}

// TestErrors: there are two rows for each size and kind of factors, which name the precision, and
// the errors are within the bound of a product in float32.
func TestErrors(t *testing.T) {
	for precision, suffix := range map[tensor.Precision]string{tensor.PrecisionFloat32: "", tensor.PrecisionTF32: " tf32"} {
		const n = 20
		var rows []Result
		s := Suite{Device: devtest.Open(t, "cpu", tensor.Options{Precision: precision}), Report: func(r Result) { rows = append(rows, r) }}
		if err := s.errorsOf(context.Background(), []int{n}); err != nil {
			t.Fatal(err)
		}
		if len(rows) != 2*len(errorFactors) {
			t.Fatalf("%d rows", len(rows))
		}
		for i, kind := range errorFactors {
			largest, mean := rows[2*i], rows[2*i+1]
			name := fmt.Sprintf("error %d %s%s ", n, kind.name, suffix)
			if largest.Name != name+"largest" || mean.Name != name+"mean" {
				t.Errorf("rows %q and %q, want those of %q", largest.Name, mean.Name, name)
			}
			if !(0 < mean.Median && mean.Median < largest.Median && largest.Median <= (n+8)*0x1p-23) {
				t.Errorf("%s: %v and %v", name, largest.Median, mean.Median)
			}
		}
	}
}

// TestErrorsStop: a measurement that is stopped says so.
func TestErrorsStop(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	s := Suite{Device: devtest.CPU(t), Report: func(r Result) { t.Errorf("row %v", r) }}
	if err := s.errorsOf(ctx, []int{20}); err != context.Canceled {
		t.Errorf("error %v", err)
	}
}
