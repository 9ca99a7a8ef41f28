package onnx

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

// chain is a model of nodes on the input x, whose output is y.
func chain(opset int64, nodes ...*onnxpb.Node) *Model {
	return &Model{file: &onnxpb.Model{IRVersion: 8, Opsets: []onnxpb.Opset{{Version: opset}}, Graph: &onnxpb.Graph{
		Nodes: nodes, Inputs: []*onnxpb.ValueInfo{{Name: "x"}}, Outputs: []*onnxpb.ValueInfo{{Name: "y"}}}}}
}

// TestRecorded: from the second run of a shape on a recording runs, with the bits of the eager run, for other numbers
// too; recordings are bounded, and what was returned stays.
func TestRecorded(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		m, err := Open("../testdata/onnx/perceptron.onnx")
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Load(d, Options{Recordings: 2})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		eager, err := m.Load(d, Options{Eager: true})
		if err != nil {
			t.Fatal(err)
		}
		defer eager.Close()
		var firsts []*Value
		for i, rows := range []int{2, 2, 2, 3, 3, 4, 4, 2, 2, 2, 0, 0} {
			x := make([]float32, rows*3)
			for k := range x {
				x[k] = float32(i*len(x)+k) / 7
			}
			in := FromTensor(tensor.New(d, x, rows, 3))
			got, err := s.Run(in)
			if err != nil {
				t.Fatal(err)
			}
			want, err := eager.Run(in)
			if err != nil {
				t.Fatal(err)
			}
			if rows == 2 {
				firsts = append(firsts, got[0], want[0])
			}
			w, _ := want[0].Tensor().Float64s()
			wantTensor(t, got[0], tensor.Float32, []int{rows, 2}, w, 0)
		}
		if n := len(s.replays.made.All()); n != 2 {
			t.Errorf("%d recordings are kept", n)
		}
		for i := 0; i < len(firsts); i += 2 {
			w, _ := firsts[i+1].Tensor().Float64s()
			wantTensor(t, firsts[i], tensor.Float32, []int{2, 2}, w, 0)
		}
	})
}

// TestChangedShapes: a tensor of integers that says a shape is read again where it was changed in place, and
// not where it stayed; one that was freed is an error.
func TestChangedShapes(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		m := chain(17, &onnxpb.Node{Op: "Reshape", Inputs: []string{"x", "shape"}, Outputs: []string{"y"}})
		m.file.Graph.Inputs = append(m.file.Graph.Inputs, &onnxpb.ValueInfo{Name: "shape"})
		s, err := m.Load(d)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		shape := tensor.New(d, []int64{2, 6})
		x, given := FromTensor(tensor.Arange(d, 0, 12, 1)), FromTensor(shape)
		for _, want := range [][]int{{2, 6}, {2, 6}, {2, 6}, {3, 4}, {3, 4}, {3, 4}, {2, 6}, {12, 1}} {
			if now, _ := shape.Int64s(); now[0] != int64(want[0]) {
				shape.SetInPlace(tensor.New(d, []int64{int64(want[0]), int64(want[1])}))
			}
			got, err := s.Run(x, given)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got[0].Shape(), want) {
				t.Errorf("shape %v, want %v", got[0].Shape(), want)
			}
		}
		shape.Free()
		if _, err := s.Run(x, given); !errors.Is(err, tensor.ErrFreed) {
			t.Errorf("a shape that was freed: %v", err)
		}
	})
}

// TestLargeIntegers: inputs of integers that float64 does not tell apart have recordings of their own.
func TestLargeIntegers(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		m := modelOf(13, body("x n", "y m", op("one = Constant", attrs{"value_ints": []int{1}}),
			op("zero = Constant", attrs{"value_ints": []int{0}}), op("shape = Slice n zero one", nil),
			op("y = Reshape x shape", nil), op("m = Identity n", nil)))
		s, err := m.Load(d)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		x := FromTensor(tensor.Arange(d, 0, 6, 1))
		for _, n := range []int64{1 << 53, 1 << 53, 1 << 53, 1<<53 + 1, 1<<53 + 1} {
			out, err := s.Run(x, FromTensor(tensor.New(d, []int64{6, n})))
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := out[1].Tensor().Int64s(); got[1] != n {
				t.Errorf("%d of %d", got[1], n)
			}
		}
	})
}

// TestOutputsOwned: in each run outputs are the caller's: no memory of inputs, of weights, or of each other.
func TestOutputsOwned(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		g := body("x", "flat x w neg same", op("flat = Flatten x", nil), op("neg = Neg x", nil),
			op("same = Identity neg", nil))
		w := doubles(onnxpb.Float, 1, 2)
		w.Name, g.Initializers = "w", []*onnxpb.Tensor{w}
		s, err := modelOf(13, g).Load(d)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		x := tensor.Zeros(d, 1, 2)
		want := [][]float64{{3, 4}, {3, 4}, {1, 2}, {-3, -4}, {-3, -4}}
		for run := range 4 {
			x.SetInPlace(tensor.New(d, []float32{3, 4}, 1, 2))
			out, err := s.Run(FromTensor(x))
			if err != nil {
				t.Fatal(err)
			}
			x.FillInPlace(0)
			for i, v := range out {
				if y := devtest.Float64s(t, v.Tensor()); !slices.Equal(y, want[i]) {
					t.Errorf("run %d: output %d is %v, want %v", run, i, y, want[i])
				}
				v.Tensor().FillInPlace(5)
				v.Free()
			}
		}
	})
}

// TestConstantOutput: an initializer that is an output outlives the recordings.
func TestConstantOutput(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		g := body("x", "y w", op("y = Add x w", nil))
		w := doubles(onnxpb.Float, 1, 2)
		w.Name, g.Initializers = "w", []*onnxpb.Tensor{w}
		s, err := modelOf(13, g).Load(d)
		if err != nil {
			t.Fatal(err)
		}
		other := s.Clone()
		defer other.Close()
		x := FromTensor(tensor.Full(d, 1, 2))
		for range 3 {
			if _, err := s.Run(x); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		out, err := other.Run(x)
		if err != nil {
			t.Fatal(err)
		}
		wantTensor(t, out[0], tensor.Float32, []int{2}, []float64{2, 3}, 0)
		wantTensor(t, out[1], tensor.Float32, []int{2}, []float64{1, 2}, 0)
	})
}

// TestFloat64: on a device of float64 a model of floats computes in float64.
func TestFloat64(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		m, err := Open("../testdata/onnx/perceptron.onnx")
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Load(d)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		tolerance := 1e-6
		if d.DefaultType() == tensor.Float64 {
			tolerance = 1e-15
		}
		for range 3 {
			out, err := s.Run(FromTensor(tensor.New(d, []float64{1.0 / 3, 2.0 / 3, 1}, 1, 3).To(d.DefaultType())))
			if err != nil {
				t.Fatal(err)
			}
			wantTensor(t, out[0], d.DefaultType(), []int{1, 2}, []float64{0.5 + 5.0/3, 2.5 - 1.0/3}, tolerance)
		}
	})
}

// TestWhatIsRecorded: what the host computes is part of a recording, and so are loops and branches that inputs decide
// on; what the device's numbers decide is not, nor a very long loop.
func TestWhatIsRecorded(t *testing.T) {
	tanh := body("i c v", "c w", op("w = Tanh v", nil))
	for name, c := range map[string]struct {
		nodes    []*onnxpb.Node
		more     any // an input n beside x
		recorded bool
	}{
		"a shape": {[]*onnxpb.Node{op("s = Shape x", nil), op("one = Constant", attrs{"value_ints": []int{1}}),
			op("t = Concat one s", attrs{"axis": 0}), op("r = Reshape x t", nil), op("y = Tanh r", nil)}, nil, true},
		"an index": {[]*onnxpb.Node{op("k = Constant", attrs{"value_ints": []int{2, 0}}), op("y = Gather x k", nil)}, nil,
			true},
		"a loop": {[]*onnxpb.Node{constInt("k", 5), op("y = Loop k - x", attrs{"body": tanh})}, nil, true},
		"trips":  {[]*onnxpb.Node{op("y = Loop n - x", attrs{"body": tanh})}, []int64{3}, true},
		"a condition": {[]*onnxpb.Node{op("y = If n", attrs{"then_branch": body("", "a", op("a = Neg x", nil)),
			"else_branch": body("", "b", op("b = Tanh x", nil))})}, []bool{false}, true},
		"a scan": {[]*onnxpb.Node{op("zero = Constant", attrs{"value_float": 0.0}),
			op("y - = Scan zero x", attrs{"num_scan_inputs": 1, "body": body("s v", "a b", op("a = Add s v", nil),
				op("b = Neg a", nil))})}, nil, true},
		"a sequence": {[]*onnxpb.Node{op("k = Constant", attrs{"value_floats": []float64{5}}),
			op("q = SequenceConstruct k x", nil), op("y = ConcatFromSequence q", attrs{"axis": 0})}, nil, true},
		"indices of the device": {[]*onnxpb.Node{op("y = NonZero x", nil)}, nil, false},
		"a condition of the device": {[]*onnxpb.Node{op("z = Constant", attrs{"value_float": 0.0}),
			op("m = ReduceMax x", attrs{"keepdims": 0}), op("c = Greater m z", nil),
			op("y = Loop - c x", attrs{"body": body("i c v", "d w", op("d = Not c", nil), op("w = Tanh v", nil))})}, nil, false},
		"a long loop": {[]*onnxpb.Node{constInt("k", mostRewritten+1), op("y = Loop k - x", attrs{"body": tanh})}, nil,
			true},
		"a very long loop": {[]*onnxpb.Node{constInt("k", mostLaunches+1), op("y = Loop k - x", attrs{"body": tanh})}, nil,
			false},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "a very long loop" && os.Getenv("CLGRAD_MORE") == "" {
				t.Skip("CLGRAD_MORE is not set")
			}
			d := cpu(t)
			g := body("x", "y", c.nodes...)
			x := FromTensor(tensor.New(d, []float32{1, -2, 3}))
			inputs := []*Value{x}
			if c.more != nil {
				g.Inputs, inputs = append(g.Inputs, &onnxpb.ValueInfo{Name: "n"}), append(inputs, testValue(d, c.more))
			}
			s, err := modelOf(13, g).Load(d)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			eager, err := modelOf(13, g).Load(d, Options{Eager: true})
			if err != nil {
				t.Fatal(err)
			}
			defer eager.Close()
			for k := range 4 { // an input that decides is part of the key from the second run on
				inputs[0] = FromTensor(tensor.New(d, []float32{1, -2, float32(k)}))
				got, err := s.Run(inputs...)
				if err != nil {
					t.Fatal(err)
				}
				want, err := eager.Run(inputs...)
				if err != nil {
					t.Fatal(err)
				}
				same(t, got[0], want[0])
			}
			if n := len(s.replays.made.All()); (n == 1) != c.recorded {
				t.Errorf("%d recordings", n)
			}
		})
	}
}

// TestInputs: what a model does not take is refused by name, before anything runs.
func TestInputs(t *testing.T) {
	d := cpu(t)
	m, err := Open("../testdata/onnx/perceptron.onnx")
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Load(d)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	x := FromTensor(tensor.New(d, []float32{1, 2, 3}, 1, 3))
	for _, c := range []struct {
		inputs []*Value
		want   string
	}{
		{nil, `input x: float[batch,3] is missing`},
		{[]*Value{x, x}, `2 inputs, and the model has 1`},
		{[]*Value{FromTensor(tensor.New(d, []int64{1, 2, 3}, 1, 3))}, `input x: float[batch,3] is given int64 [1 3]`},
		{[]*Value{FromTensor(tensor.New(d, []float32{1, 2, 3, 4}, 1, 4))}, `input x: float[batch,3] is given float32 [1 4]`},
		{[]*Value{FromTensor(tensor.New(d, []float32{1, 2, 3}))}, `input x: float[batch,3] is given float32 [3]`},
		{[]*Value{FromTensor(tensor.New(d, []float64{1, 2, 3}, 1, 3))}, `input x: float[batch,3] is given float64 [1 3]`},
		{[]*Value{FromStrings([]string{"a"})}, `input x: float[batch,3] is given strings`},
		{[]*Value{FromSequence(x)}, `input x: float[batch,3] is given a sequence of 1`},
	} {
		if _, err := s.Run(c.inputs...); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.inputs, err, c.want)
		}
	}
	_, err = s.RunNamed(map[string]*Value{"z": x, "x": x})
	if want := `no input "z": it has x: float[batch,3]`; !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
	_, err = s.RunNamed(map[string]*Value{"x": x}, "nowhere")
	if err == nil || !strings.Contains(err.Error(), `no value of the model is named "nowhere": its outputs are ["y"]`) {
		t.Error(err)
	}
	out, err := s.RunNamed(map[string]*Value{"x": x}, "xw", "y")
	if err != nil {
		t.Fatal(err)
	}
	wantTensor(t, out["xw"], tensor.Float32, []int{1, 2}, []float64{5, 8}, 0)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(x); err == nil || err.Error() != "onnx: Run: the session is closed" {
		t.Errorf("closed: %v", err)
	}
}

// TestScalarInput: an input that is a scalar takes one number of any rank, and no more than one.
func TestScalarInput(t *testing.T) {
	d := cpu(t)
	g := body("x", "y", op("y = Neg x", nil))
	g.Inputs[0].Type = &onnxpb.Type{Kind: onnxpb.KindTensor, Elem: onnxpb.Float, HasShape: true}
	s, err := modelOf(13, g).Load(d)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for shape, ok := range map[*[]int]bool{{}: true, {1}: true, {1, 1}: true, {2}: false, {0}: false} {
		_, err := s.Run(FromTensor(tensor.Zeros(d, *shape...)))
		if (err == nil) != ok {
			t.Errorf("shape %v: %v", *shape, err)
		}
	}
}

// TestNamesOfDimensions: two dimensions of one name may differ, since exporters give all the name "?".
func TestNamesOfDimensions(t *testing.T) {
	d := cpu(t)
	g := body("x", "y", op("y = Neg x", nil))
	unknown := onnxpb.Dim{Value: -1, Param: "?"}
	g.Inputs[0].Type = &onnxpb.Type{Kind: onnxpb.KindTensor, Elem: onnxpb.Float, HasShape: true, Dims: []onnxpb.Dim{unknown, unknown}}
	out, err := runModel(t, d, modelOf(13, g), tensor.New(d, []float32{1, 2}, 1, 2))
	if err != nil {
		t.Fatal(err)
	}
	wantTensor(t, out[0], tensor.Float32, []int{1, 2}, []float64{-1, -2}, 0)
}

// TestRecordedCancelled: a context that ends while a run is recorded ends the run, and the next one is recorded; one that
// has ended already runs nothing.
func TestRecordedCancelled(t *testing.T) {
	d := cpu(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cancels := false
	Register(Operator{Domain: "own", Name: "Cancels", Run: func(c *Call) []*Value {
		if cancels {
			cancel()
		}
		return Out(c.Node(0).AddScalar(1))
	}})
	defer delete(operators, "own.Cancels")
	s, err := modelOf(13, body("x", "y", op("z = own.Cancels x", nil), op("y = Neg z", nil))).Load(d)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	x := FromTensor(tensor.New(d, []float32{1, 2}))
	for i := range 5 {
		cancels = i == 1
		if i == 3 {
			ctx = context.Background()
		}
		out, err := s.RunContext(ctx, x)
		if i == 1 || i == 2 {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("run %d: %v, %v", i, out, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		wantTensor(t, out[0], tensor.Float32, []int{2}, []float64{-2, -3}, 0)
	}
	if n := len(s.replays.made.All()); n != 1 {
		t.Errorf("%d recordings, want 1", n)
	}
}
