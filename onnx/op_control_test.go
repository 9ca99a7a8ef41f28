package onnx

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

// body is a graph for an attribute. Inputs and outputs are names, separated by blanks.
func body(inputs, outputs string, nodes ...*onnxpb.Node) *onnxpb.Graph {
	g := &onnxpb.Graph{Name: "body", Nodes: nodes}
	for _, name := range strings.Fields(inputs) {
		g.Inputs = append(g.Inputs, &onnxpb.ValueInfo{Name: name})
	}
	for _, name := range strings.Fields(outputs) {
		g.Outputs = append(g.Outputs, &onnxpb.ValueInfo{Name: name})
	}
	return g
}

// op is a node: "y = Add x z". A "-" is an input or output that is left out.
func op(line string, a attrs) *onnxpb.Node {
	left, right, _ := strings.Cut(line, "=")
	words := strings.Fields(right)
	n := &onnxpb.Node{Op: words[0], Inputs: words[1:], Outputs: strings.Fields(left), Attributes: a.protos()}
	if i := strings.LastIndex(n.Op, "."); i >= 0 {
		n.Domain, n.Op = n.Op[:i], n.Op[i+1:]
	}
	for _, names := range [][]string{n.Inputs, n.Outputs} {
		for i, name := range names {
			if name == "-" {
				names[i] = ""
			}
		}
	}
	return n
}

// modelOf is a model of a graph, of an opset, which defines functions.
func modelOf(opset int64, g *onnxpb.Graph, functions ...*onnxpb.Function) *Model {
	return &Model{file: &onnxpb.Model{IRVersion: 8, Graph: g, Functions: functions,
		Opsets: []onnxpb.Opset{{Version: opset}, {Domain: "own", Version: 1}, {Domain: training, Version: 1},
			{Domain: ml, Version: 1}}}}
}

// runModel loads a model and runs it three times, for the recording of the second and the replay of the third, which
// give the same.
func runModel(t *testing.T, d tensor.Device, m *Model, inputs ...any) ([]*Value, error) {
	t.Helper()
	s, err := m.Load(d)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { s.Close() })
	values := make([]*Value, len(inputs))
	for i, in := range inputs {
		if in != nil {
			values[i] = testValue(d, in)
		}
	}
	first, err := s.Run(values...)
	if err != nil {
		return nil, err
	}
	for range 2 {
		again, err := s.Run(values...)
		if err != nil {
			t.Fatalf("again: %v", err)
		}
		for i, v := range again {
			same(t, v, first[i])
		}
	}
	return first, nil
}

// same fails unless two values are alike.
func same(t *testing.T, got, want *Value) {
	t.Helper()
	if got.String() != want.String() || len(got.list) != len(want.list) ||
		strings.Join(got.strings, "\x00") != strings.Join(want.strings, "\x00") {
		t.Errorf("%v %q, want %v %q", got, got.strings, want, want.strings)
		return
	}
	if w := want.Tensor(); w != nil {
		numbers, err := w.Float64s()
		if err != nil {
			t.Fatal(err)
		}
		wantTensor(t, got, w.Type(), w.Shape(), numbers, 0)
	}
	for i := range got.list {
		same(t, got.list[i], want.list[i])
	}
}

func scalar[T tensor.Element](d tensor.Device, x T) *tensor.Tensor {
	return tensor.New(d, []T{x}).Reshape()
}

func constInt(name string, v int) *onnxpb.Node { return op(name+" = Constant", attrs{"value_int": v}) }

// TestIf: the branch of the condition runs, sees the values around it, and may be nested.
func TestIf(t *testing.T) {
	d := cpu(t)
	inner := op("z = If c", attrs{"then_branch": body("", "z1", op("z1 = Add x x", nil)), "else_branch": body("", "x")})
	g := body("c x", "y", op("y = If c", attrs{
		"then_branch": body("", "y1", inner, op("y1 = Neg z", nil)),
		"else_branch": body("", "y2", op("two = Constant", attrs{"value_floats": []float64{1, 2, 3}}),
			op("y2 = Identity two", nil)),
	}))
	for _, c := range []struct {
		cond []bool
		want []float64
	}{{[]bool{true}, []float64{-2, -4}}, {[]bool{false}, []float64{1, 2, 3}}} {
		out, err := runModel(t, d, modelOf(16, g), c.cond, []float32{1, 2})
		if err != nil {
			t.Fatal(err)
		}
		wantTensor(t, out[0], tensor.Float32, []int{len(c.want)}, c.want, 0)
	}
	if _, err := runModel(t, d, modelOf(16, g), []bool{true, false}, []float32{1, 2}); !errors.Is(err, tensor.ErrValue) {
		t.Errorf("a condition of two elements: %v", err)
	}
	g = body("c", "y", op("y = If c", attrs{"then_branch": body("", "", constInt("a", 1))}))
	for _, c := range []bool{true, false} {
		if _, err := runModel(t, d, modelOf(16, g), []bool{c}); err == nil {
			t.Errorf("a branch of no outputs, or none: condition %v", c)
		}
	}
}

// TestLoop: a body that doubles x, says whether x < 20, and gives each x. The rows are the modes of the specification.
func TestLoop(t *testing.T) {
	d := cpu(t)
	b := body("i c x", "more y seen", op("y = Add x x", nil), op("limit = Constant", attrs{"value_float": 20.0}),
		op("more = Less y limit", nil), op("seen = Identity x", nil))
	b.Outputs[2].Type = &onnxpb.Type{Kind: onnxpb.KindTensor, Elem: onnxpb.Float, HasShape: true}
	for _, c := range []struct {
		name        string
		trips, cond any
		y           float64
		seen        []float64
	}{
		{"trips and condition, trips end it", []int64{2}, []bool{true}, 12, []float64{3, 6}},
		{"trips and condition, the condition ends it", []int64{9}, []bool{true}, 24, []float64{3, 6, 12}},
		{"trips: the condition does not count", []int64{4}, nil, 48, []float64{3, 6, 12, 24}},
		{"condition", nil, []bool{true}, 24, []float64{3, 6, 12}},
		{"neither", nil, nil, 24, []float64{3, 6, 12}},
		{"no trips", []int64{0}, nil, 3, nil},
		{"fewer", []int64{-5}, nil, 3, nil},
		{"a condition that is false", []int64{3}, []bool{false}, 3, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := body("", "y seen", op("y seen = Loop n c x", attrs{"body": b}))
			given := []any{}
			for i, in := range []any{c.trips, c.cond, scalar(d, float32(3))} {
				if in == nil {
					g.Nodes[0].Inputs[i] = ""
					continue
				}
				g.Inputs = append(g.Inputs, &onnxpb.ValueInfo{Name: g.Nodes[0].Inputs[i]})
				given = append(given, in)
			}
			out, err := runModel(t, d, modelOf(13, g), given...)
			if err != nil {
				t.Fatal(err)
			}
			wantTensor(t, out[0], tensor.Float32, []int{}, []float64{c.y}, 0)
			wantTensor(t, out[1], tensor.Float32, []int{len(c.seen)}, c.seen, 0)
		})
	}
}

// TestLoopCarries: a loop carries a sequence that grows, of tensors of the host and of the device, the loop within it
// counts with names that the one around it has, too, and a value around is copied between devices in an iteration.
func TestLoopCarries(t *testing.T) {
	d := cpu(t)
	inner := body("i c s", "c u", op("u = Add s i", nil))
	outer := body("i c s x", "c s2 x2",
		op("zero = Constant", attrs{"value_int": 0}),
		op("sum = Loop i - zero", attrs{"body": inner}), // 0 + … + (i − 1)
		op("onDevice = Mul sum one", nil),
		op("sB = SequenceInsert s sum", nil),
		op("s2 = SequenceInsert sB onDevice", nil),
		op("x2 = Sub x one", nil))
	g := body("one", "s x", op("e = SequenceEmpty", attrs{"dtype": 7}), constInt("n", 4),
		op("s x = Loop n - e n", attrs{"body": outer}))
	out, err := runModel(t, d, modelOf(13, g), scalar(d, int64(1)))
	if err != nil {
		t.Fatal(err)
	}
	list := out[0].Sequence()
	if len(list) != 8 {
		t.Fatalf("%v, want 8 values", out[0])
	}
	for i, v := range list {
		k := i / 2
		wantTensor(t, v, tensor.Int64, []int{}, []float64{float64(k * (k - 1) / 2)}, 0)
	}
	wantTensor(t, out[1], tensor.Int64, []int{}, []float64{0}, 0)
}

// TestLoopMemory: what an iteration makes is freed before the next one; what it returns is not.
func TestLoopMemory(t *testing.T) {
	d := cpu(t)
	b := body("i c x", "c y s", op("a = Add x x", nil), op("b = Sub a x", nil), op("y = Identity b", nil),
		op("s = Identity i", nil))
	s, err := modelOf(13, body("n x", "y s", op("y s = Loop n - x", attrs{"body": b}))).Load(d)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	x := tensor.New(d, make([]float32, 1<<20), 1<<20)
	before := d.Stats().PeakBytes
	out, err := s.Run(FromTensor(tensor.New(d, []int64{200})), FromTensor(x))
	if err != nil {
		t.Fatal(err)
	}
	if grown := d.Stats().PeakBytes - before; grown > 64<<20 {
		t.Errorf("200 iterations of 4 MB take %d MB", grown>>20)
	}
	wantTensor(t, out[0], tensor.Float32, []int{1 << 20}, []float64{0, 0}, 0)
	if n := out[1].Tensor().Shape()[0]; n != 200 {
		t.Errorf("%d scanned values", n)
	}
}

func TestLoopErrors(t *testing.T) {
	d := cpu(t)
	for name, g := range map[string]*onnxpb.Graph{
		"too few outputs":  body("n x", "y", op("y = Loop n - x", attrs{"body": body("i c x", "c")})),
		"too many inputs":  body("n x", "y", op("y = Loop n - x", attrs{"body": body("i c", "c i")})),
		"too few inputs":   body("n x", "y", op("y = Loop n - x", attrs{"body": body("i c x z", "c x")})),
		"no body":          body("n x", "y", op("y = Loop n - x", nil)),
		"a condition of 2": body("n x", "y", op("y = Loop - x x", attrs{"body": body("i c x", "c x")})),
		"sizes that change": body("n x", "y z",
			op("y z = Loop n - x", attrs{"body": body("i c x", "c y y", op("y = own.Twice x", nil))})),
	} {
		twice := &onnxpb.Function{Name: "Twice", Domain: "own", Inputs: []string{"x"}, Outputs: []string{"z"},
			Nodes: []*onnxpb.Node{op("s = SequenceConstruct x x", nil), op("z = ConcatFromSequence s", attrs{"axis": 0})}}
		_, err := runModel(t, d, modelOf(13, g, twice), []int64{3}, []float32{1, 2})
		if err == nil || strings.Contains(err.Error(), "runtime error") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestContext: a loop without an end ends when its context does.
func TestContext(t *testing.T) {
	d := cpu(t)
	b := body("i c x", "c y", op("y = Neg x", nil))
	s, err := modelOf(13, body("c x", "y", op("y = Loop - c x", attrs{"body": b}))).Load(d)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	inputs := []*Value{testValue(d, []bool{true}), testValue(d, []float32{1})}
	if _, err := s.RunContext(ctx, inputs...); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want that the deadline is exceeded", err)
	}
	inputs[0] = testValue(d, []bool{false})
	if out, err := s.Run(inputs...); err != nil || out[0].Tensor().Len() != 1 {
		t.Errorf("after it: %v, %v", out, err)
	}
}

// TestLoopGradient: x is squared three times in a loop within a branch; the gradient is 8·x⁷.
func TestLoopGradient(t *testing.T) {
	d := cpu(t)
	b := body("i c x", "c y", op("y = Mul x x", nil))
	g := body("c x", "y", constInt("n", 3), op("y = If c", attrs{
		"then_branch": body("", "z", op("z = Loop n - x", attrs{"body": b})),
		"else_branch": body("", "x"),
	}))
	s, err := modelOf(16, g).Load(d, Options{Training: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	x := autograd.Param(tensor.New(d, []float64{0.5, -2}), "x")
	y := s.Forward(autograd.Const(tensor.New(d, []bool{true})), x)[0]
	if err := y.Sum().Backward(); err != nil {
		t.Fatal(err)
	}
	wantTensor(t, FromTensor(x.Grad()), tensor.Float64, []int{2}, []float64{8 * math.Pow(0.5, 7), -8 * 128}, 1e-12)
}

// TestScan: the state is the sum, outputs are running sums, along axes and in directions.
func TestScan(t *testing.T) {
	d := cpu(t)
	b := body("s x", "s2 y z", op("s2 = Add s x", nil), op("y = Identity s2", nil), op("z = Neg x", nil))
	x := tensor.New(d, []float32{1, 2, 3, 4, 5, 6}, 2, 3)
	for _, c := range []struct {
		attrs      attrs
		state      []float32
		sum        []float64
		ys, zs     []int
		yn, zn     []float64
		wantErrors bool
	}{
		{attrs: attrs{}, state: []float32{0, 0, 10}, sum: []float64{5, 7, 19}, ys: []int{2, 3},
			yn: []float64{1, 2, 13, 5, 7, 19}, zs: []int{2, 3}, zn: []float64{-1, -2, -3, -4, -5, -6}},
		{attrs: attrs{"scan_input_axes": []int{-1}, "scan_input_directions": []int{1}, "scan_output_axes": []int{1, -1},
			"scan_output_directions": []int{0, 1}}, state: []float32{0, 0}, sum: []float64{6, 15}, ys: []int{2, 3},
			yn: []float64{3, 5, 6, 6, 11, 15}, zs: []int{2, 3}, zn: []float64{-1, -2, -3, -4, -5, -6}},
		{attrs: attrs{"scan_input_axes": []int{2}}, wantErrors: true},
		{attrs: attrs{"scan_input_axes": []int{0, 0}}, wantErrors: true},
		{attrs: attrs{"scan_input_directions": []int{2}}, wantErrors: true},
		{attrs: attrs{"scan_output_axes": []int{0, 3}}, wantErrors: true},
		{attrs: attrs{"num_scan_inputs": 0}, wantErrors: true},
		{attrs: attrs{"num_scan_inputs": 3}, wantErrors: true},
	} {
		a := attrs{"body": b, "num_scan_inputs": 1}
		for name, v := range c.attrs {
			a[name] = v
		}
		if c.state == nil {
			c.state = []float32{0, 0, 0}
		}
		out, err := runModel(t, d, modelOf(11, body("s x", "sum y z", op("sum y z = Scan s x", a))), c.state, x)
		if c.wantErrors {
			if err == nil || strings.Contains(err.Error(), "runtime error") {
				t.Errorf("%v: %v", c.attrs, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		wantTensor(t, out[0], tensor.Float32, []int{len(c.sum)}, c.sum, 0)
		wantTensor(t, out[1], tensor.Float32, c.ys, c.yn, 0)
		wantTensor(t, out[2], tensor.Float32, c.zs, c.zn, 0)
	}
}

// TestScanNothing: along an axis of no elements the state is what it was, and outputs have the shape that the body
// says.
func TestScanNothing(t *testing.T) {
	d := cpu(t)
	b := body("s x", "s y", op("y = Neg x", nil))
	b.Outputs[1].Type = &onnxpb.Type{Kind: onnxpb.KindTensor, Elem: onnxpb.Double, HasShape: true,
		Dims: []onnxpb.Dim{{Value: 3}, {Value: -1}}}
	g := body("s x", "t y", op("t y = Scan s x", attrs{"body": b, "num_scan_inputs": 1, "scan_output_axes": []int{-1}}))
	out, err := runModel(t, d, modelOf(9, g), []float32{7}, tensor.New(d, []float32{}, 0, 3))
	if err != nil {
		t.Fatal(err)
	}
	wantTensor(t, out[0], tensor.Float32, []int{1}, []float64{7}, 0)
	wantTensor(t, out[1], tensor.Float64, []int{3, 0, 0}, nil, 0)
}

// TestScanBatches: version 8 scans each batch along axis 1, up to a length of its own.
func TestScanBatches(t *testing.T) {
	d := cpu(t)
	b := body("s x", "s2 y", op("s2 = Add s x", nil), op("y = Identity s2", nil))
	s, x := tensor.New(d, []float32{0, 100}, 2, 1), tensor.New(d, []float32{1, 2, 3, 4, 5, 6}, 2, 3, 1)
	g := body("n s x", "sum y", op("sum y = Scan n s x", attrs{"body": b, "num_scan_inputs": 1, "directions": []int{1}}))
	out, err := runModel(t, d, modelOf(8, g), []int64{3, 1}, s, x)
	if err != nil {
		t.Fatal(err)
	}
	// A batch that is reversed begins with the last element of its length.
	wantTensor(t, out[0], tensor.Float32, []int{2, 1}, []float64{6, 104}, 0)
	wantTensor(t, out[1], tensor.Float32, []int{2, 3, 1}, []float64{3, 5, 6, 104, 0, 0}, 0)

	g = body("s x", "sum y", op("sum y = Scan - s x", attrs{"body": b, "num_scan_inputs": 1}))
	if out, err = runModel(t, d, modelOf(8, g), s, x); err != nil {
		t.Fatal(err)
	}
	wantTensor(t, out[1], tensor.Float32, []int{2, 3, 1}, []float64{1, 3, 6, 104, 109, 115}, 0)
	if _, err := runModel(t, d,
		modelOf(8, body("n s x", "sum y", op("sum y = Scan n s x", attrs{"body": b, "num_scan_inputs": 1}))), []int64{4, 1},
		s, x); err == nil {
		t.Error("a length beyond the elements is taken")
	}
}

// TestInnerParameters: weights of inner graphs are parameters of their own, with gradients through If, Loop and Scan.
func TestInnerParameters(t *testing.T) {
	d := cpu(t)
	with := func(g *onnxpb.Graph, w ...*onnxpb.Tensor) *onnxpb.Graph {
		g.Initializers = w
		return g
	}
	yes := &onnxpb.Tensor{Name: "yes", Type: onnxpb.Bool, HasRaw: true, Raw: []byte{1}}
	deep := with(body("", "v", op("v = Mul x w", nil)), weights("w", 3))
	then := with(body("", "u", op("u = If yes", attrs{"then_branch": deep, "else_branch": body("", "x2", op("x2 = Identity x", nil))})),
		weights("w", 3))
	other := with(body("", "o", op("o = Add x w", nil)), weights("w", 3))
	repeat := with(body("i c a", "c b", op("b = Mul a factor", nil)), weights("factor", 1))
	each := with(body("s e", "s2 e2", op("s2 = Add s e", nil), op("e2 = Mul s2 gain", nil)), weights("gain", 3))
	g := body("x rows", "y", op("p = If yes", attrs{"then_branch": then, "else_branch": other}),
		op("q = Loop trips - p", attrs{"body": repeat}),
		op("r z = Scan q rows", attrs{"body": each, "num_scan_inputs": 1}),
		op("t = Mul z r", nil), op("y = Mul t w", nil))
	g.Initializers = []*onnxpb.Tensor{yes, integers("trips", 3), weights("w", 3)}
	g.Initializers[1].Dims = nil
	m := modelOf(17, g)
	s, err := m.Load(d, Options{Training: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	names := slices.Sorted(maps.Keys(s.Weights))
	if want := []string{"factor", "gain", "p.else_branch.w", "p.then_branch.u.then_branch.w", "p.then_branch.w", "w"}; !slices.Equal(names, want) {
		t.Fatalf("parameters %q, want %q", names, want)
	}
	x, rows := autograd.Const(normal(d, 1, 3)), autograd.Const(normal(d, 2, 4, 3))
	loss := func() *autograd.Node { return s.Forward(x, rows)[0].Sum() }
	if err := loss().Backward(); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		w := s.Weights[name]
		used := name != "p.else_branch.w" && name != "p.then_branch.w"
		if !used {
			if w.Grad() != nil {
				t.Errorf("%s, which no node uses, has a gradient", name)
			}
			continue
		}
		if w.Grad() == nil {
			t.Errorf("%s has no gradient", name)
			continue
		}
		grad, _ := w.Grad().Float64s()
		was := w.Value().Copy()
		const h = 1e-2
		at := func(delta float64) float64 {
			change := make([]float32, w.Len())
			change[0] = float32(delta)
			w.Value().SetInPlace(was.Add(tensor.New(d, change, w.Shape()...)))
			y, err := loss().Value().Item()
			if err != nil {
				t.Fatal(err)
			}
			return y
		}
		slope := (at(h) - at(-h)) / (2 * h)
		w.Value().SetInPlace(was)
		if math.Abs(grad[0]-slope) > 2e-2*max(1, math.Abs(slope)) {
			t.Errorf("the gradient of %s is %v, and differences give %v", name, grad[0], slope)
		}
	}
}
