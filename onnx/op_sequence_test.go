package onnx

import (
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

// listed is a tensor or strings.
type listed struct {
	shape   []int
	numbers []float64
	strings []string
}

func (l listed) check(t *testing.T, v *Value, typ tensor.Type) {
	t.Helper()
	if l.strings == nil {
		wantTensor(t, v, typ, l.shape, l.numbers, 0)
		return
	}
	same(t, v, ofStrings(l.strings, l.shape))
}

func TestSplitToSequence(t *testing.T) {
	d := cpu(t)
	x := tensor.New(d, []float32{1, 2, 3, 4, 5, 6}, 2, 3)
	words := FromStrings([]string{"a", "b", "c", "d", "e", "f"}, 2, 3)
	for _, c := range []struct {
		x     any
		split any
		attrs attrs
		want  []listed // nil: an error
	}{
		{x, nil, nil, []listed{{shape: []int{1, 3}, numbers: []float64{1, 2, 3}},
			{shape: []int{1, 3}, numbers: []float64{4, 5, 6}}}},
		{x, nil, attrs{"keepdims": 0, "axis": 0}, []listed{{shape: []int{3}, numbers: []float64{1, 2, 3}},
			{shape: []int{3}, numbers: []float64{4, 5, 6}}}},
		{x, scalar(d, int64(2)), attrs{"keepdims": 0, "axis": -1},
			[]listed{{shape: []int{2, 2}, numbers: []float64{1, 2, 4, 5}}, {shape: []int{2, 1}, numbers: []float64{3, 6}}}},
		{x, []int64{0, 3}, attrs{"axis": 1},
			[]listed{{shape: []int{2, 0}}, {shape: []int{2, 3}, numbers: []float64{1, 2, 3, 4, 5, 6}}}},
		{x, []int32{1, 2}, attrs{"axis": 1}, []listed{{shape: []int{2, 1}, numbers: []float64{1, 4}},
			{shape: []int{2, 2}, numbers: []float64{2, 3, 5, 6}}}},
		{words, []int64{1, 2}, attrs{"axis": 1}, []listed{{shape: []int{2, 1}, strings: []string{"a", "d"}},
			{shape: []int{2, 2}, strings: []string{"b", "c", "e", "f"}}}},
		{words, nil, attrs{"axis": 1, "keepdims": 0}, []listed{{shape: []int{2}, strings: []string{"a", "d"}},
			{shape: []int{2}, strings: []string{"b", "e"}}, {shape: []int{2}, strings: []string{"c", "f"}}}},
		{tensor.New(d, []float32{}, 0, 2), nil, nil, []listed{}},
		{x, []int64{1, 1}, attrs{"axis": 1}, nil},
		{x, []int64{4, -1}, attrs{"axis": 1}, nil},
		{x, []int64{2, 2}, attrs{"axis": 1}, nil},
		{x, scalar(d, int64(0)), nil, nil},
		{x, nil, attrs{"axis": 2}, nil},
		{scalar(d, float32(1)), nil, nil, nil},
	} {
		inputs := []any{c.x}
		if c.split != nil {
			inputs = append(inputs, c.split)
		}
		out, err := runNode(t, d, "SplitToSequence", 11, c.attrs, 1, inputs...)
		if c.want == nil {
			if err == nil || strings.Contains(err.Error(), "runtime error") {
				t.Errorf("%v %v: %v, want an error", c.split, c.attrs, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%v %v: %v", c.split, c.attrs, err)
			continue
		}
		list := out[0].Sequence()
		if !out[0].IsSequence() || len(list) != len(c.want) {
			t.Errorf("%v %v: %v, want %d values", c.split, c.attrs, out[0], len(c.want))
			continue
		}
		for i, w := range c.want {
			w.check(t, list[i], tensor.Float32)
		}
	}
}

func TestConcatFromSequence(t *testing.T) {
	d := cpu(t)
	a, b := tensor.New(d, []float32{1, 2}, 1, 2), tensor.New(d, []float32{3, 4}, 1, 2)
	numbers, words := FromSequence(FromTensor(a), FromTensor(b)), FromSequence(FromStrings([]string{"a", "b"}, 1, 2),
		FromStrings([]string{"c", "d"}, 1, 2))
	for _, c := range []struct {
		s     *Value
		attrs attrs
		want  *listed
	}{
		{numbers, attrs{"axis": 0}, &listed{shape: []int{2, 2}, numbers: []float64{1, 2, 3, 4}}},
		{numbers, attrs{"axis": -1}, &listed{shape: []int{1, 4}, numbers: []float64{1, 2, 3, 4}}},
		{numbers, attrs{"axis": -1, "new_axis": 1}, &listed{shape: []int{1, 2, 2}, numbers: []float64{1, 3, 2, 4}}},
		{numbers, attrs{"axis": -3, "new_axis": 1}, &listed{shape: []int{2, 1, 2}, numbers: []float64{1, 2, 3, 4}}},
		{words, attrs{"axis": 1}, &listed{shape: []int{1, 4}, strings: []string{"a", "b", "c", "d"}}},
		{words, attrs{"axis": 2, "new_axis": 1}, &listed{shape: []int{1, 2, 2}, strings: []string{"a", "c", "b", "d"}}},
		{numbers, nil, nil},
		{numbers, attrs{"axis": 2}, nil},
		{numbers, attrs{"axis": 3, "new_axis": 1}, nil},
		{FromSequence(), attrs{"axis": 0}, nil},
		{FromSequence(FromTensor(a), FromTensor(tensor.New(d, []int64{1, 2}, 1, 2))), attrs{"axis": 0}, nil},
		{FromSequence(FromTensor(a), FromTensor(tensor.New(d, []float32{1, 2, 3}, 1, 3))), attrs{"axis": 0}, nil},
		{FromSequence(words.list[0], FromTensor(a)), attrs{"axis": 0}, nil},
		{FromSequence(words.list[0], FromStrings([]string{"a"})), attrs{"axis": 0, "new_axis": 1}, nil},
		{FromTensor(a), attrs{"axis": 0}, nil},
	} {
		out, err := runNode(t, d, "ConcatFromSequence", 11, c.attrs, 1, c.s)
		if c.want == nil {
			if err == nil || strings.Contains(err.Error(), "runtime error") {
				t.Errorf("%v %v: %v, want an error", c.s, c.attrs, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%v %v: %v", c.s, c.attrs, err)
			continue
		}
		c.want.check(t, out[0], tensor.Float32)
	}
}

// TestSequences: inserting, erasing and picking, at positions from both ends.
func TestSequences(t *testing.T) {
	d := cpu(t)
	sequence := func(x ...int64) *Value {
		s := FromSequence()
		for _, v := range x {
			s.list = append(s.list, testValue(d, []int64{v}))
		}
		return s
	}
	nine := []int64{9}
	for _, c := range []struct {
		op     string
		inputs []any
		want   []float64 // of a sequence; nil: an error
	}{
		{"SequenceInsert", []any{sequence(1, 2), nine}, []float64{1, 2, 9}},
		{"SequenceInsert", []any{sequence(1, 2), nine, scalar(d, int64(0))}, []float64{9, 1, 2}},
		{"SequenceInsert", []any{sequence(1, 2), nine, scalar(d, int32(2))}, []float64{1, 2, 9}},
		{"SequenceInsert", []any{sequence(1, 2), nine, scalar(d, int64(-1))}, []float64{1, 9, 2}},
		{"SequenceInsert", []any{sequence(1, 2), nine, scalar(d, int64(-2))}, []float64{9, 1, 2}},
		{"SequenceInsert", []any{sequence(), nine, scalar(d, int64(0))}, []float64{9}},
		{"SequenceInsert", []any{sequence(1, 2), nine, scalar(d, int64(3))}, nil},
		{"SequenceInsert", []any{sequence(1, 2), nine, scalar(d, int64(-3))}, nil},
		{"SequenceInsert", []any{sequence(1, 2), []float32{9}}, nil},
		{"SequenceInsert", []any{sequence(1, 2), []string{"9"}}, nil},
		{"SequenceErase", []any{sequence(1, 2, 3)}, []float64{1, 2}},
		{"SequenceErase", []any{sequence(1, 2, 3), scalar(d, int64(-3))}, []float64{2, 3}},
		{"SequenceErase", []any{sequence(1, 2, 3), scalar(d, int64(1))}, []float64{1, 3}},
		{"SequenceErase", []any{sequence(1, 2, 3), scalar(d, int64(3))}, nil},
		{"SequenceErase", []any{sequence()}, nil},
		{"SequenceConstruct", []any{nine, []int64{1}}, []float64{9, 1}},
		{"SequenceConstruct", []any{nine, []float32{1}}, nil},
		{"SequenceConstruct", []any{nine, sequence(1)}, nil},
		{"SequenceAt", []any{sequence(1, 2, 3), scalar(d, int64(3))}, nil},
		{"SequenceAt", []any{sequence(1, 2, 3), scalar(d, int64(-4))}, nil},
		{"SequenceAt", []any{nine, scalar(d, int64(0))}, nil},
		{"SequenceAt", []any{sequence(1, 2), []int64{0, 1}}, nil},
	} {
		out, err := runNode(t, d, c.op, 11, nil, 1, c.inputs...)
		if c.want == nil {
			if err == nil || strings.Contains(err.Error(), "runtime error") {
				t.Errorf("%s %v: %v, want an error", c.op, c.inputs, err)
			}
			continue
		}
		if err != nil || len(out[0].Sequence()) != len(c.want) {
			t.Errorf("%s %v: %v %v", c.op, c.inputs, out, err)
			continue
		}
		for i, w := range c.want {
			wantTensor(t, out[0].Sequence()[i], tensor.Int64, []int{1}, []float64{w}, 0)
		}
	}
	for _, c := range []struct{ at, want int64 }{{0, 1}, {2, 3}, {-1, 3}, {-3, 1}} {
		out, err := runNode(t, d, "SequenceAt", 11, nil, 1, sequence(1, 2, 3), scalar(d, c.at))
		if err != nil {
			t.Fatal(err)
		}
		wantTensor(t, out[0], tensor.Int64, []int{1}, []float64{float64(c.want)}, 0)
	}
	out, err := runNode(t, d, "SequenceLength", 11, nil, 1, sequence(1, 2, 3))
	if err != nil {
		t.Fatal(err)
	}
	wantTensor(t, out[0], tensor.Int64, []int{}, []float64{3}, 0)
	if out, err = runNode(t, d, "SequenceEmpty", 11, attrs{"dtype": 7}, 1); err != nil || !out[0].IsSequence() ||
		len(out[0].Sequence()) != 0 {
		t.Errorf("SequenceEmpty: %v %v", out, err)
	}
}

// TestSequenceOfDevices: a sequence of a tensor that the host has and of one that the device has is joined, and run
// with the same input again.
func TestSequenceOfDevices(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		g := body("x s", "y z n", op("k = Constant", attrs{"value_ints": []int{1, 2}}),
			op("q = SequenceConstruct k x k", nil), op("y = ConcatFromSequence q", attrs{"axis": 0}), constInt("at", 1),
			op("e = SequenceAt s at", nil), op("one = Constant", attrs{"value_ints": []int{5}}), op("z = Add e one", nil),
			op("n = Loop e - one", attrs{"body": body("i c v", "c w", op("w = Add v i", nil))}))
		s := FromSequence(FromTensor(tensor.New(d, []int64{0})), FromTensor(tensor.New(d, []int64{3})))
		out, err := runModel(t, d, modelOf(13, g), []int64{7, 8}, s)
		if err != nil {
			t.Fatal(err)
		}
		wantTensor(t, out[0], tensor.Int64, []int{6}, []float64{1, 2, 7, 8, 1, 2}, 0)
		wantTensor(t, out[1], tensor.Int64, []int{1}, []float64{8}, 0)
		wantTensor(t, out[2], tensor.Int64, []int{1}, []float64{8}, 0)
	})
}

func TestSequenceMap(t *testing.T) {
	d := cpu(t)
	s := FromSequence(testValue(d, []float32{1}), testValue(d, []float32{2, 3}))
	w := FromSequence(testValue(d, []string{"a"}), testValue(d, []string{"b"}))
	b := body("x w k", "y w", op("y = Mul x k", nil))
	g := body("s w k", "y u", op("y u = SequenceMap s w k", attrs{"body": b}))
	out, err := runModel(t, d, modelOf(17, g), s, w, []float32{10})
	if err != nil {
		t.Fatal(err)
	}
	wantTensor(t, out[0].Sequence()[1], tensor.Float32, []int{2}, []float64{20, 30}, 0)
	if got := out[1].Sequence()[1].Strings(); len(got) != 1 || got[0] != "b" {
		t.Errorf("%q, want b", got)
	}
	if out, err = runModel(t, d, modelOf(17, g), FromSequence(), FromSequence(), []float32{10}); err != nil ||
		len(out) != 2 || len(out[0].Sequence()) != 0 {
		t.Errorf("of nothing: %v %v", out, err)
	}
	if _, err := runModel(t, d, modelOf(17, g), s, FromSequence(), []float32{10}); err == nil {
		t.Error("sequences of two lengths are taken")
	}
}

func TestOptional(t *testing.T) {
	d := cpu(t)
	x := testValue(d, []float32{1})
	for _, c := range []struct {
		in   any
		want bool
	}{{nil, false}, {x, true}, {FromSequence(), true}, {FromOptional(nil), false}, {FromOptional(x), true},
		{FromOptional(FromSequence()), true}, {[]string{"a"}, true}} {
		out, err := runNode(t, d, "OptionalHasElement", 18, nil, 1, c.in)
		if err != nil {
			t.Fatal(err)
		}
		want := 0.0
		if c.want {
			want = 1
		}
		wantTensor(t, out[0], tensor.Bool, []int{}, []float64{want}, 0)
	}
	for _, c := range []struct {
		in   *Value
		want *Value
	}{{x, x}, {FromOptional(x), x}, {FromOptional(FromSequence(x)), FromSequence(x)}, {FromSequence(x), FromSequence(x)},
		{FromOptional(nil), nil}} {
		out, err := runNode(t, d, "OptionalGetElement", 18, nil, 1, c.in)
		if c.want == nil {
			if err == nil {
				t.Errorf("%v has an element", c.in)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		same(t, out[0], c.want)
	}
	for _, in := range []any{x, FromSequence(x), nil} {
		out, err := runNode(t, d, "Optional", 15, nil, 1, in)
		if err != nil || !out[0].IsOptional() || (len(out[0].Sequence()) == 0) != (in == nil) {
			t.Errorf("Optional of %v: %v %v", in, out, err)
		}
	}
	// An input of the model that is left out is no optional, and is passed on.
	g := body("x o", "y z", op("y = OptionalHasElement o", nil), op("z = own.Has x o", nil))
	g.Inputs[1].Type = &onnxpb.Type{Kind: onnxpb.KindOptional}
	has := &onnxpb.Function{Name: "Has", Domain: "own", Inputs: []string{"a", "b"}, Outputs: []string{"c"},
		Nodes: []*onnxpb.Node{op("c = OptionalHasElement b", nil)}}
	out, err := runModel(t, d, modelOf(18, g, has), []float32{1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	wantTensor(t, out[0], tensor.Bool, []int{}, []float64{0}, 0)
	wantTensor(t, out[1], tensor.Bool, []int{}, []float64{0}, 0)
}

// TestIdentity: of every kind of value.
func TestIdentity(t *testing.T) {
	d := cpu(t)
	x := testValue(d, []float32{1, 2})
	for _, v := range []*Value{x, FromStrings([]string{"a"}), FromSequence(x), FromOptional(x), FromOptional(nil),
		FromOptional(FromSequence(x)), FromMap(FromStrings([]string{"a", "b"}), x)} {
		out, err := runNode(t, d, "Identity", 16, nil, 1, v)
		if err != nil {
			t.Fatal(err)
		}
		same(t, out[0], v)
	}
}
