package replay_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestFusedStepOnMatrixUnits: a fused step over enough samples is computed by the kernel for matrix
// units of each kind, in each precision, is as near to the step as that allows, and has the same
// bits in another run.
func TestFusedStepOnMatrixUnits(t *testing.T) {
	for i := range 6 {
		p, grouped := tensor.PrecisionFloat32+tensor.Precision(i/2), i%2 > 0
		t.Run(fmt.Sprintf("%v/grouped=%v", p, grouped), func(t *testing.T) {
			train := func(p tensor.Precision, units, record bool, explained *bytes.Buffer) []float64 {
				d := devtest.Open(t, "cpu", tensor.Options{Precision: p})
				if units {
					tensorapi.Impl.AsMatrixUnits(d, grouped)
				}
				l := newLearner(d, 128*d.Target().Units+33, plain(64, 32, 32, 3), "adamw")
				step := func() ([]*tensor.Tensor, error) { return l.step(nil, squared, nil) }
				var outputs []*tensor.Tensor
				if !record {
					var err error
					if outputs, err = step(); err != nil {
						t.Fatal(err)
					}
				} else {
					rec, err := replay.Record(d, step, replay.Options{Explain: explained})
					if err != nil {
						t.Fatal(err)
					}
					if err := rec.Run(); err != nil {
						t.Fatal(err)
					}
					outputs = rec.Outputs()
				}
				var all []float64
				for _, v := range l.values(t, outputs) {
					all = append(all, v...)
				}
				return all
			}
			var explained, again bytes.Buffer
			want := train(tensor.PrecisionFloat32, false, true, &again)
			if strings.Contains(again.String(), "matrix units") {
				t.Errorf("a device without matrix units says\n%s", again.String())
			}
			got, other := train(p, true, true, &explained), train(p, true, true, &again)
			if said := "on matrix units, of factors in " + p.String(); !strings.Contains(explained.String(), said) {
				t.Errorf("nothing says %q:\n%s", said, explained.String())
			}
			var off, size float64
			for i := range want {
				if got[i] != other[i] {
					t.Fatalf("number %d is %v, and %v in another run", i, got[i], other[i])
				}
				off, size = off+(got[i]-want[i])*(got[i]-want[i]), size+want[i]*want[i]
			}
			unit := 0x1p-11
			if p == tensor.PrecisionFloat32 {
				unit = 0x1p-22
			}
			if off = math.Sqrt(off / size); !(off < unit) || p != tensor.PrecisionFloat32 && off == 0 {
				t.Errorf("what the run leaves differs by %.2g of its size from what ordinary arithmetic does", off)
			} else {
				t.Logf("differs by %.2g", off)
			}
		})
	}
}
