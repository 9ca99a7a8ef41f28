package onnx

import (
	"math"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

// mlCase is a node of ai.onnx.ml, of version 1 if it says none. Numbers are those of onnxruntime 1.32, but where a
// comment says that the specification has others.
type mlCase struct {
	op      string
	version int
	attrs   attrs
	in      any
	want    []listed // nil: an error
	typ     tensor.Type
}

func (c mlCase) run(t *testing.T, d tensor.Device) {
	t.Helper()
	version := max(c.version, 1)
	inputs, ok := c.in.([]any)
	if !ok {
		inputs = []any{c.in}
	}
	out, err := runNodeOf(t, d, ml, c.op, version, c.attrs, max(len(c.want), 1), inputs...)
	if c.want == nil {
		if err == nil || strings.Contains(err.Error(), "runtime error") {
			t.Errorf("%s %v: %v, want an error", c.op, c.attrs, err)
		}
		return
	}
	if err != nil {
		t.Errorf("%s %v: %v", c.op, c.attrs, err)
		return
	}
	for i, w := range c.want {
		typ := tensor.Float32
		if i == len(c.want)-1 && c.typ != 0 {
			typ = c.typ
		} else if len(c.want) == 2 && i == 0 {
			typ = tensor.Int64
		}
		if w.strings != nil {
			same(t, out[i], ofStrings(w.strings, w.shape))
			continue
		}
		wantTensor(t, out[i], typ, w.shape, w.numbers, 3e-4)
	}
	if t.Failed() {
		t.Logf("%s %v", c.op, c.attrs)
	}
}

func float64sOf(shape []int, numbers ...float64) listed {
	return listed{shape: shape, numbers: numbers}
}

func doubles(typ onnxpb.DataType, x ...float64) *onnxpb.Tensor {
	t := &onnxpb.Tensor{Type: typ, Dims: []int64{int64(len(x))}, HasRaw: true}
	for _, v := range x {
		switch typ {
		case onnxpb.Double:
			t.Raw = appendBytes(t.Raw, math.Float64bits(v), 8)
		case onnxpb.Float:
			t.Raw = appendBytes(t.Raw, uint64(math.Float32bits(float32(v))), 4)
		case onnxpb.Int32:
			t.Raw = appendBytes(t.Raw, uint64(int64(v)), 4)
		case onnxpb.Uint8:
			t.Raw = append(t.Raw, byte(v))
		}
	}
	return t
}

func appendBytes(b []byte, x uint64, n int) []byte {
	for i := range n {
		b = append(b, byte(x>>(8*i)))
	}
	return b
}

var nan = math.NaN()

func TestFeatures(t *testing.T) {
	d := cpu(t)
	x := tensor.New(d, []float32{1, 2, -3, .5, 0, 0}, 3, 2)
	for _, c := range []mlCase{
		{op: "ArrayFeatureExtractor", in: []any{[]float32{0, 1, 2}, []int64{2, 0}},
			want: []listed{float64sOf([]int{1, 2}, 2, 0)}},
		{op: "ArrayFeatureExtractor", in: []any{x, tensor.New(d, []int64{1, 1, 0}, 3, 1)},
			want: []listed{float64sOf([]int{3, 3}, 2, 2, 1, .5, .5, -3, 0, 0, 0)}},
		{op: "ArrayFeatureExtractor", in: []any{FromStrings([]string{"a", "b", "c", "d"}, 2, 2), []int64{1}},
			want: []listed{{shape: []int{2, 1}, strings: []string{"b", "d"}}}},
		{op: "ArrayFeatureExtractor", in: []any{x, []int64{2}}},
		{op: "ArrayFeatureExtractor", in: []any{x, []int64{-1}}},
		{op: "Binarizer", attrs: attrs{"threshold": 1.0}, in: []int64{1, 3, -4},
			want: []listed{float64sOf([]int{3}, 0, 1, 0)}, typ: tensor.Int64},
		{op: "Binarizer", in: []float32{float32(nan), 1e-9, 0}, want: []listed{float64sOf([]int{3}, 0, 1, 0)}},
		{op: "FeatureVectorizer", attrs: attrs{"inputdimensions": []int{2, 3}},
			in: []any{[]float32{0, 1}, []float32{0, 1, 2}}, want: []listed{float64sOf([]int{1, 5}, 0, 1, 0, 1, 2)}},
		{op: "FeatureVectorizer", attrs: attrs{"inputdimensions": []int{1, 3}}, in: []any{x, x},
			want: []listed{float64sOf([]int{3, 4}, 1, 1, 2, 0, -3, -3, .5, 0, 0, 0, 0, 0)}},
		{op: "FeatureVectorizer", attrs: attrs{"inputdimensions": []int{1}}, in: []any{x, x}},
		{op: "FeatureVectorizer", attrs: attrs{"inputdimensions": []int{1, 2}}, in: []any{x, []float32{1}}},
		{op: "Imputer", attrs: attrs{"imputed_value_floats": []float64{7, 8}, "replaced_value_float": nan},
			in:   tensor.New(d, []float32{float32(nan), 1, 2, float32(nan)}, 2, 2),
			want: []listed{float64sOf([]int{2, 2}, 7, 1, 2, 8)}},
		{op: "Imputer", attrs: attrs{"imputed_value_floats": []float64{7}, "replaced_value_float": -1.0},
			in: []float32{-1, 1}, want: []listed{float64sOf([]int{2}, 7, 1)}},
		{op: "Imputer", attrs: attrs{"imputed_value_int64s": []int{7, 9}, "replaced_value_int64": 1},
			in: tensor.New(d, []int64{0, 1, 1, 2}, 2, 2), want: []listed{float64sOf([]int{2, 2}, 0, 9, 7, 2)}, typ: tensor.Int64},
		{op: "Imputer", attrs: attrs{"imputed_value_int64s": []int{7}, "replaced_value_int64": 1}, in: []int32{1},
			want: []listed{float64sOf([]int{1}, 7)}, typ: tensor.Int32},
		{op: "Imputer", attrs: attrs{"imputed_value_floats": []float64{7, 8, 9}}, in: x},
		{op: "Imputer", in: x},
		{op: "Scaler", attrs: attrs{"offset": []float64{1, 2}, "scale": []float64{2, 3}}, in: x,
			want: []listed{float64sOf([]int{3, 2}, 0, 0, -8, -4.5, -2, -6)}},
		{op: "Scaler", attrs: attrs{"offset": []float64{.5}, "scale": []float64{2}}, in: []int64{1, 2},
			want: []listed{float64sOf([]int{2}, 1, 3)}},
		{op: "Scaler", attrs: attrs{"offset": []float64{1, 2, 3}}, in: x},
		{op: "Normalizer", in: tensor.New(d, []float32{-3, 2, -1, 0, 0, 0, -1, -2, -4}, 3, 3),
			want: []listed{float64sOf([]int{3, 3}, -1.5, 1, -.5, 0, 0, 0, 1, 2, 4)}},
		{op: "Normalizer", attrs: attrs{"norm": "L1"}, in: tensor.New(d, []float64{-3, 2, -1, 0, 0, 0}, 2, 3),
			want: []listed{float64sOf([]int{2, 3}, -.5, 1./3, -1./6, 0, 0, 0)}},
		{op: "Normalizer", attrs: attrs{"norm": "L2"}, in: []int64{-3, 2, -1},
			want: []listed{float64sOf([]int{3}, -0.80178374, 0.5345225, -0.26726124)}},
		{op: "Normalizer", attrs: attrs{"norm": "L3"}, in: x},
		{op: "Normalizer", in: tensor.New(d, []float32{}, 0, 3), want: []listed{float64sOf([]int{0, 3})}},
		{op: "OneHotEncoder", attrs: attrs{"cats_int64s": []int{1, 3}}, in: []float32{1.7, 3, 9},
			want: []listed{float64sOf([]int{3, 2}, 1, 0, 0, 1, 0, 0)}},
		{op: "OneHotEncoder", attrs: attrs{"cats_strings": []string{"a", "b"}, "zeros": 0},
			in: FromStrings([]string{"b", "a"}, 2, 1), want: []listed{float64sOf([]int{2, 1, 2}, 0, 1, 1, 0)}},
		{op: "OneHotEncoder", attrs: attrs{"cats_int64s": []int{1, 3}, "zeros": 0}, in: []int64{1, 2}},
	} {
		c.run(t, d)
	}
}

func TestLabels(t *testing.T) {
	d := cpu(t)
	classes, cats := []string{"a", "b"}, attrs{"cats_int64s": []int{1, 3}, "cats_strings": []string{"a", "b"},
		"default_int64": 9, "default_string": "q"}
	for _, c := range []mlCase{
		{op: "CategoryMapper", attrs: cats, in: []string{"a", "b", "z"}, want: []listed{float64sOf([]int{3}, 1, 3, 9)},
			typ: tensor.Int64},
		{op: "CategoryMapper", attrs: cats, in: tensor.New(d, []int64{1, 3, 4}, 3, 1),
			want: []listed{{shape: []int{3, 1}, strings: []string{"a", "b", "q"}}}},
		{op: "CategoryMapper", attrs: attrs{"cats_int64s": []int{1}, "cats_strings": classes}, in: []string{"a"}},
		{op: "LabelEncoder", attrs: attrs{"classes_strings": classes, "default_int64": 9}, in: []string{"a", "z", "b"},
			want: []listed{float64sOf([]int{3}, 0, 9, 1)}, typ: tensor.Int64},
		{op: "LabelEncoder", attrs: attrs{"classes_strings": classes}, in: []int64{0, 1, 2, -1},
			want: []listed{{shape: []int{4}, strings: []string{"a", "b", "_Unused", "_Unused"}}}},
		{op: "LabelEncoder", version: 2, attrs: attrs{"keys_floats": []float64{nan, 0}, "values_int64s": []int{5, 6}},
			in: []float32{0, float32(nan), 1}, want: []listed{float64sOf([]int{3}, 6, 5, -1)}, typ: tensor.Int64},
		{op: "LabelEncoder", version: 2, attrs: attrs{"keys_strings": classes, "values_strings": []string{"x", "y"},
			"default_string": "?"}, in: []string{"b", "", "a"},
			want: []listed{{shape: []int{3}, strings: []string{"y", "?", "x"}}}},
		{op: "LabelEncoder", version: 2, attrs: attrs{"keys_int64s": []int{1, 2}, "values_floats": []float64{.5, .25}},
			in: scalar(d, int64(2)), want: []listed{float64sOf([]int{}, .25)}},
		{op: "LabelEncoder", version: 2, attrs: attrs{"keys_int64s": []int{1, 2}, "values_floats": []float64{.5}},
			in: []int64{1}},
		{op: "LabelEncoder", version: 2, attrs: attrs{"keys_int64s": []int{1}, "values_floats": []float64{.5}},
			in: []string{"a"}},
		{op: "LabelEncoder", version: 2, attrs: attrs{"keys_int64s": []int{1}}, in: []int64{1}},
		{op: "LabelEncoder", version: 2, attrs: attrs{"keys_tensor": doubles(onnxpb.Double, 1), "values_int64s": []int{1}},
			in: []float64{1}}, // an attribute of version 4
		// A key that is repeated counts where it is last.
		{op: "LabelEncoder", version: 4, attrs: attrs{"keys_int64s": []int{0, 0}, "values_int64s": []int{5, 6}},
			in: []int64{0, 1}, want: []listed{float64sOf([]int{2}, 6, -1)}, typ: tensor.Int64},
		{op: "LabelEncoder", version: 4, attrs: attrs{"keys_tensor": doubles(onnxpb.Double, 1.5, nan),
			"values_tensor": doubles(onnxpb.Double, .1, .2), "default_tensor": doubles(onnxpb.Double, -9)},
			in: []float64{1.5, nan, 2}, want: []listed{float64sOf([]int{3}, .1, .2, -9)}, typ: tensor.Float64},
		{op: "LabelEncoder", version: 4, attrs: attrs{"keys_tensor": doubles(onnxpb.Int32, 1, 2),
			"values_tensor": doubles(onnxpb.Int32, -3, 4)}, in: []int32{2, 1, 0},
			want: []listed{float64sOf([]int{3}, 4, -3, -1)}, typ: tensor.Int32},
		{op: "LabelEncoder", version: 4, attrs: attrs{"keys_int64s": []int{1}, "values_int64s": []int{1},
			"default_tensor": doubles(onnxpb.Double, -9)}, in: []int64{1}},
	} {
		c.run(t, d)
	}
}

// TestMaps: ZipMap makes them; a vocabulary and the order of keys turn them into tensors.
func TestMaps(t *testing.T) {
	d := cpu(t)
	x := tensor.New(d, []float32{.25, .75, .5, .5}, 2, 2)
	for _, a := range []attrs{{"classlabels_strings": []string{"no", "yes"}}, {"classlabels_int64s": []int{3, 7}}} {
		out, err := runNodeOf(t, d, ml, "ZipMap", 1, a, 1, x)
		if err != nil {
			t.Fatal(err)
		}
		list := out[0].Sequence()
		if len(list) != 2 || !list[1].IsMap() || list[1].Sequence() != nil {
			t.Fatalf("%v", out[0])
		}
		keys, values := list[0].Map()
		wantTensor(t, values, tensor.Float32, []int{2}, []float64{.25, .75}, 0)
		if keys.IsStrings() {
			same(t, keys, FromStrings([]string{"no", "yes"}))
		} else {
			wantTensor(t, keys, tensor.Int64, []int{2}, []float64{3, 7}, 0)
		}
	}
	ints := FromMap(testValue(d, []int64{4, 0, 2}), testValue(d, []float32{.5, 1.75, -2}))
	texts := FromMap(testValue(d, []int64{4, 0, 2}), testValue(d, []string{"5", "7.5", "-2"}))
	named := FromMap(testValue(d, []string{"c", "a"}), testValue(d, []int64{8, 4}))
	for _, c := range []mlCase{
		{op: "CastMap", in: ints, want: []listed{float64sOf([]int{1, 3}, 1.75, -2, .5)}},
		{op: "CastMap", attrs: attrs{"map_form": "SPARSE", "max_map": 5, "cast_to": "TO_INT64"}, in: ints,
			want: []listed{float64sOf([]int{1, 5}, 1, 0, -2, 0, 0)}, typ: tensor.Int64},
		{op: "CastMap", attrs: attrs{"cast_to": "TO_STRING"}, in: ints,
			want: []listed{{shape: []int{1, 3}, strings: []string{"1.750000", "-2.000000", "0.500000"}}}},
		{op: "CastMap", attrs: attrs{"map_form": "SPARSE", "max_map": 5, "cast_to": "TO_STRING"}, in: texts,
			want: []listed{{shape: []int{1, 5}, strings: []string{"7.5", "", "-2", "", "5"}}}},
		{op: "CastMap", in: texts, want: []listed{float64sOf([]int{1, 3}, 7.5, -2, 5)}},
		{op: "CastMap", attrs: attrs{"map_form": "SPARSE", "max_map": 4}, in: ints},
		{op: "CastMap", in: FromMap(testValue(d, []int64{1}), testValue(d, []string{"five"}))},
		{op: "CastMap", in: named},
		{op: "CastMap", attrs: attrs{"cast_to": "TO_BOOL"}, in: ints},
		{op: "CastMap", in: []float32{1}},
		{op: "DictVectorizer", attrs: attrs{"string_vocabulary": []string{"a", "c", "b", "z"}}, in: named,
			want: []listed{float64sOf([]int{4}, 4, 8, 0, 0)}, typ: tensor.Int64},
		{op: "DictVectorizer", attrs: attrs{"int64_vocabulary": []int{0, 1, 2, 4}}, in: ints,
			want: []listed{float64sOf([]int{4}, 1.75, 0, -2, .5)}},
		{op: "DictVectorizer", attrs: attrs{"int64_vocabulary": []int{0, 1, 2, 4}}, in: texts,
			want: []listed{{shape: []int{4}, strings: []string{"7.5", "", "-2", "5"}}}},
		{op: "DictVectorizer", attrs: attrs{"string_vocabulary": []string{"a"}}, in: named},
	} {
		c.run(t, d)
	}
}

func TestLinear(t *testing.T) {
	d := cpu(t)
	x := tensor.New(d, []float32{.4, .5, 0, .35, .3, .3}, 3, 2)
	labels := func(a attrs, more attrs) attrs {
		all := attrs{"coefficients": []float64{1, -.5}, "intercepts": []float64{.25}}
		for _, from := range []attrs{a, more} {
			for name, v := range from {
				all[name] = v
			}
		}
		return all
	}
	two, three := attrs{"coefficients": []float64{1, -.5, .1, .2}, "intercepts": []float64{.25, .1}},
		attrs{"coefficients": []float64{1, -.5, .1, .2, -1, 1}, "intercepts": []float64{.25, .1, 0},
			"classlabels_strings": []string{"a", "b", "c"}}
	abc := listed{shape: []int{3}, strings: []string{"a", "c", "a"}}
	for _, c := range []mlCase{
		{op: "LinearRegressor", attrs: labels(two, attrs{"targets": 2}), in: x,
			want: []listed{float64sOf([]int{3, 2}, .4, .24, .075, .17, .4, .19)}},
		{op: "LinearRegressor", attrs: labels(two, attrs{"targets": 2, "post_transform": "SOFTMAX"}), in: x,
			want: []listed{float64sOf([]int{3, 2}, .5399149, .4600851, .47626784, .5237322, .5523079, .44769207)}},
		{op: "LinearRegressor", attrs: labels(two, attrs{"targets": 2, "post_transform": "PROBIT"}), in: x,
			want: []listed{float64sOf([]int{3, 2}, -.2533471, -.7063026, -1.439531, -.9541653, -.2533471, -.8778963)}},
		// onnxruntime transforms several targets only.
		{op: "LinearRegressor", attrs: labels(nil, attrs{"post_transform": "LOGISTIC"}), in: x,
			want: []listed{float64sOf([]int{3, 1}, .59868765, .5187412, .59868765)}},
		{op: "LinearRegressor", attrs: attrs{"coefficients": []float64{1, -.5}}, in: []int64{4, 2},
			want: []listed{float64sOf([]int{1, 1}, 3)}},
		{op: "LinearRegressor", attrs: labels(nil, attrs{"targets": 2}), in: x},
		{op: "LinearRegressor", attrs: labels(nil, attrs{"post_transform": "X"}), in: x},
		{op: "LinearClassifier", attrs: three, in: x,
			want: []listed{abc, float64sOf([]int{3, 3}, .4, .24, .1, .075, .17, .35, .4, .19, 0)}},
		{op: "LinearClassifier", attrs: labels(three, attrs{"post_transform": "SOFTMAX_ZERO"}), in: x,
			want: []listed{abc, float64sOf([]int{3, 3}, .38565934, .32863718, .28570345, .29272377, .3218963, .38537985,
				.5523079, .44769207, 0)}},
		{op: "LinearClassifier", attrs: labels(three, attrs{"post_transform": "LOGISTIC"}), in: x,
			want: []listed{abc, float64sOf([]int{3, 3}, .59868765, .55971366, .5249792, .5187412, .5423979, .5866176, .59868765,
				.5473576, .5)}},
		{op: "LinearClassifier", attrs: labels(nil, attrs{"classlabels_ints": []int{5, 7}}), in: x,
			want: []listed{float64sOf([]int{3}, 7, 7, 7), float64sOf([]int{3, 2}, .6, .4, .925, .075, .6, .4)}},
		{op: "LinearClassifier", attrs: labels(nil, attrs{"classlabels_ints": []int{5, 7}, "post_transform": "LOGISTIC"}),
			in: x, want: []listed{float64sOf([]int{3}, 7, 7, 7), float64sOf([]int{3, 2}, .40131235, .59868765, .48125875,
				.51874125, .40131235, .59868765)}},
		{op: "LinearClassifier", attrs: labels(nil, nil), in: tensor.New(d, []float32{1, 2, -3, .5}, 2, 2),
			want: []listed{float64sOf([]int{2}, 1, 0), float64sOf([]int{2, 1}, .25, -3)}},
		{op: "LinearClassifier", attrs: labels(nil, attrs{"classlabels_strings": []string{"a"}}),
			in: tensor.New(d, []float32{1, 2, -3, .5}, 2, 2), want: []listed{{shape: []int{2}, strings: []string{"a", ""}},
				float64sOf([]int{2, 1}, .25, -3)}},
		{op: "LinearClassifier", attrs: labels(two, nil), in: tensor.New(d, []float32{}, 0, 2),
			want: []listed{float64sOf([]int{0}), float64sOf([]int{0, 2})}},
		{op: "LinearClassifier", attrs: labels(two, attrs{"classlabels_ints": []int{1, 2, 3}}), in: x},
		{op: "LinearClassifier", attrs: labels(two,
			attrs{"classlabels_ints": []int{1, 2}, "classlabels_strings": []string{"a", "b"}}), in: x},
		{op: "LinearClassifier", attrs: attrs{"coefficients": []float64{1, 2, 3}}, in: x},
	} {
		c.run(t, d)
	}
}
