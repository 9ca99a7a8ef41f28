package replay_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
	"gonum.org/v1/gonum/graph/encoding/dot"
	"gonum.org/v1/gonum/graph/simple"
)

// seen is a recording of a product of a map, with a map behind it.
func seen(t *testing.T, d tensor.Device) (*replay.Recording, *tensor.Tensor) {
	t.Helper()
	x := tensor.Full(d, 2, 4, 4)
	rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
		y := x.AddScalar(1).MulScalar(2)
		return []*tensor.Tensor{y.MatMul(y).Neg()}, nil
	}, replay.Options{Without: []string{"epilogue"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(rec.Free)
	return rec, x
}

// TestLaunches: each launch says which of the step's it does, and how many bytes it reads and
// writes.
func TestLaunches(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		rec, _ := seen(t, d)
		list := rec.Launches()
		if len(list) != rec.Report().Launches || len(list) != 3 {
			t.Fatalf("%+v", list)
		}
		size := int64(d.DefaultType().Size())
		if l := list[0]; !slices.Equal(l.Step, []int{0, 1}) || !slices.Equal(l.Does, []string{"k_add_scalar", "k_mul_scalar"}) || l.Bytes != 32*size {
			t.Errorf("%+v", l)
		}
		if l := list[2]; !slices.Equal(l.Step, []int{3}) || l.Kernel != "k_neg" || !slices.Equal(l.Does, []string{"k_neg"}) {
			t.Errorf("%+v", l)
		}
	})
}

// TestWriteDOT: the picture is one that Graphviz reads, with a box for each launch and an arrow for
// what it reads.
func TestWriteDOT(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		rec, _ := seen(t, d)
		var text bytes.Buffer
		if err := rec.WriteDOT(&text); err != nil {
			t.Fatal(err)
		}
		g := simple.NewDirectedGraph()
		if err := dot.Unmarshal(text.Bytes(), g); err != nil {
			t.Fatal(err)
		}
		if g.Nodes().Len() != 3 || g.Edges().Len() != 2 {
			t.Errorf("%d boxes, %d arrows", g.Nodes().Len(), g.Edges().Len())
		}
		for _, want := range []string{`step 0: k_add_scalar\nstep 1: k_mul_scalar`, `%2 = map -%1 `, `f32[4,4] → output0\nk_neg\n`, `label="128 bytes"`} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%s is not in\n%s", want, text.String())
			}
		}
		if err := rec.WriteDOT(full{}); err == nil {
			t.Error("a writer that fails is no error")
		}
	})
}

// TestWriteDOTOfParts: an arrow goes from each launch that wrote a part of what another reads, and none from one whose
// result was written over.
func TestWriteDOTOfParts(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := tensor.Full(d, 2, 4, 4)
		rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
			y := tensor.Empty(d, 8, 4)
			y.FillInPlace(1) // launch 0
			y.FillInPlace(2)
			y.Slice(0, 0, 4).SetInPlace(x)
			y.Slice(0, 6, 8).SetInPlace(x.Slice(0, 0, 2))
			return []*tensor.Tensor{y.MatMul(x)}, nil
		}, replay.Options{Without: []string{"none"}})
		if err != nil {
			t.Fatal(err)
		}
		defer rec.Free()
		var text bytes.Buffer
		if err := rec.WriteDOT(&text); err != nil {
			t.Fatal(err)
		}
		g := simple.NewDirectedGraph()
		if err := dot.Unmarshal(text.Bytes(), g); err != nil {
			t.Fatal(err)
		}
		if g.Nodes().Len() != 5 || g.Edges().Len() != 3 || !strings.Contains(text.String(), "1 -> 4") {
			t.Errorf("%d boxes, %d arrows:\n%s", g.Nodes().Len(), g.Edges().Len(), text.String())
		}
	})
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }

// TestProfile: a profile is a run, and has a time for each launch, measured on the host or on the
// device.
func TestProfile(t *testing.T) {
	for _, sel := range devtest.Selected() {
		for _, profiled := range []bool{false, true} {
			d := devtest.Open(t, sel, tensor.Options{Profile: profiled})
			rec, x := seen(t, d)
			x.FillInPlace(0)
			times, err := rec.Profile()
			if err != nil {
				t.Fatal(err)
			}
			if len(times) != 3 || !slices.Equal(times[0].Step, []int{0, 1}) {
				t.Fatalf("%+v", times)
			}
			for _, l := range times {
				if l.Took <= 0 {
					t.Errorf("%s, profiled %v: %+v", sel, profiled, l)
				}
			}
			if v, err := rec.Outputs()[0].Float64s(); err != nil || v[0] != -16 {
				t.Errorf("%v, %v", v, err)
			}
			rec.Free()
			if _, err := rec.Profile(); !errors.Is(err, replay.ErrReleased) {
				t.Error(err)
			}
		}
	}
}

// TestProfileStepScalars: numbers are those of the step, once for all launches.
func TestProfileStepScalars(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		eager, recorded := newTrainer(d, "adamw", "cosine"), newTrainer(d, "adamw", "cosine")
		rec, err := replay.Record(d, recorded.step, sameBits)
		if err != nil {
			t.Fatal(err)
		}
		defer rec.Free()
		var want []*tensor.Tensor
		for range 4 {
			want, _ = eager.step()
		}
		for range 2 {
			if _, err := rec.Profile(); err != nil {
				t.Fatal(err)
			}
		}
		if g, w := recorded.state(t, rec.Outputs()), eager.state(t, want); g != w {
			t.Errorf("%s\nwant\n%s", g, w)
		}
	})
}

// What was joined is seen in the list of launches.
func ExampleRecording_Launches() {
	d, err := tensor.Open("cpu")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	x, y := devtest.New(d, []float64{1, 2}), devtest.New(d, []float64{3, 4})
	rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
		return []*tensor.Tensor{x.Mul(y).AddScalar(1).Tanh()}, nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer rec.Free()
	for _, l := range rec.Launches() {
		fmt.Println(l.Step, l.Does)
	}
	// Output: [0 1 2] [k_mul k_add_scalar k_tanh]
}
