package catalog

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/npz"
	"github.com/clgrad/clgrad/internal/onnxtest"
	"github.com/clgrad/clgrad/onnx"
	"github.com/clgrad/clgrad/tensor"
)

// notWritten are cases that onnx.Export refuses, of operations of which it writes others.
var notWritten = map[string]bool{
	"AdaptiveMaxPoolWithIndex.one": true, "AdaptiveMaxPoolWithIndex.two": true, // windows of several sizes
	"AdaptiveMaxPoolWithIndex.three": true, "AdaptiveMaxPoolWithIndex.special": true,
	"BatchNorm.running": true, "Dropout.all": true, // training
}

// ofTensors are operations of tensors alone, which no graph has.
var ofTensors = []string{"OneHot", "ScatterAddRowsInPlace", "OuterAccInPlace"}

// otherNumbers are cases whose numbers the specification leaves open.
var otherNumbers = map[string]bool{
	"Median.special": true, // where TopK has a NaN
}

// ofRuntime are cases of which onnxruntime has other numbers than the specification, or than this module where that
// leaves them open: NaN among the elements of a maximum, and tensors without elements.
var ofRuntime = map[string]bool{
	"AdaptiveMaxPool.special": true, "MaxPool.special": true, "MaxPoolWithIndex.special": true, "Max.nan": true, "Min.nan": true,
	"ScatterReduce.special": true, "Mean.empty": true, "autograd.CrossEntropy.none": true,
}

// TestExport writes every case as an ONNX file, and compares what the file computes with PyTorch.
func TestExport(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	r := onnxtest.NewRuntime(t)
	for _, f := range families {
		refs := references(t, f)
		for _, o := range f.operations {
			forms := o.export(t, d, refs, r)
			if len(forms) == 0 {
				continue
			}
			for _, name := range slices.Sorted(maps.Keys(o.cases)) {
				at := o.name + "." + name
				switch _, written := forms[name]; {
				case written && notWritten[at]:
					t.Errorf("%s is written: take it out of notWritten", at)
				case !written && !notWritten[at] && !o.skipped(name, refs):
					t.Errorf("%s is not written", at)
				}
			}
		}
	}
	r.Check(t)
}

// export writes the cases of an operation, checks what comes back, and returns the operators of those that ONNX
// expresses.
func (o operation) export(t *testing.T, d tensor.Device, refs map[string]npz.Array, r *onnxtest.Runtime) map[string][]string {
	t.Helper()
	forms := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(o.cases)) {
		var in []npz.Array
		for i := 0; ; i++ {
			a, ok := refs[fmt.Sprint(o.name, ".", name, ".in", i)]
			if !ok {
				break
			}
			in = append(in, a)
		}
		if o.skipped(name, refs) || slices.Contains(ofTensors, o.name) {
			continue
		}
		tensor.Scope(d, func() {
			if form, err := o.exportCase(t, d, name, in, refs, r); err == nil {
				forms[name] = form
			}
		})
	}
	return forms
}

// skipped reports whether a case has numbers that float32 does not hold.
func (o operation) skipped(name string, refs map[string]npz.Array) bool {
	for i := range 8 {
		in, out := refs[fmt.Sprint(o.name, ".", name, ".in", i)], refs[fmt.Sprint(o.name, ".", name, ".out", i)]
		if beyond(&in) || beyond(&out) {
			return true
		}
	}
	return false
}

// exportCase writes a case and returns the operators of the file.
func (o operation) exportCase(t *testing.T, d tensor.Device, name string, in []npz.Array, refs map[string]npz.Array, r *onnxtest.Runtime) ([]string, error) {
	t.Helper()
	var inputs []*tensor.Tensor
	for i := range in {
		inputs = append(inputs, upload(t, d, d.DefaultType(), &in[i]))
	}
	forward := func(in []*tensor.Tensor) []*autograd.Node {
		var nodes []*node
		for _, x := range in {
			nodes = append(nodes, autograd.Const(x))
		}
		return o.cases[name](nodes)
	}
	var file bytes.Buffer
	if err := onnx.Export(&file, nil, inputs, onnx.ExportOptions{Forward: forward}); err != nil {
		return nil, err
	}
	m, err := onnx.Parse(file.Bytes())
	if err != nil {
		t.Errorf("%s.%s: %v", o.name, name, err)
		return nil, nil
	}
	s, err := m.Load(d)
	if err != nil {
		t.Errorf("%s.%s: %v", o.name, name, err)
		return nil, nil
	}
	defer s.Close()
	var values []*onnx.Value
	for _, x := range inputs {
		values = append(values, onnx.FromTensor(x))
	}
	got, err := s.Run(values...)
	if err != nil {
		t.Errorf("%s.%s: %v", o.name, name, err)
		return nil, nil
	}
	if at := o.name + "." + name; !otherNumbers[at] && !ofRuntime[at] {
		r.Add(t, at, file.Bytes(), m, inputs, got)
	}
	for i, y := range got {
		want := refs[fmt.Sprint(o.name, ".", name, ".out", i)]
		if !slices.Equal(y.Shape(), want.Shape) {
			t.Errorf("%s.%s: result %d of the file has shape %v, want %v", o.name, name, i, y.Shape(), want.Shape)
			continue
		}
		e, err := difference(y.Tensor(), d.DefaultType(), &want)
		if at := o.name + "." + name; !otherNumbers[at] && (err != nil || !(e <= 1e-4)) {
			t.Errorf("%s.%s: result %d of the file: error %.2g, %v", o.name, name, i, e, err)
		}
	}
	return slices.Sorted(maps.Keys(m.Operators())), nil
}
