package catalog

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
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
	"Bernoulli.certain":               true,                                            // random
	"autograd.CrossEntropyOf.weights": true, "autograd.EmbeddingBag.max offsets": true, // of tensors
	"autograd.EmbeddingBag.mean offsets": true, "autograd.EmbeddingBag.sum offsets": true,
	"Interpolate.bytes bilinear": true, "Interpolate.bytes bilinear corners": true, // rounded as PyTorch rounds bytes
	"Interpolate.bytes bicubic": true, "Interpolate.bytes bicubic corners": true,
	"MaxPool.integers": true, "MaxPool.integers ceil": true, // of Int64
}

// ofTensors are operations of tensors alone, which no graph has.
var ofTensors = []string{
	"OneHot", "ScatterAddRowsInPlace", "OuterAccInPlace", "tensor.Arange", "tensor.ArangeOf", "tensor.Linspace",
	"tensor.Eye",
}

// ofKernels are operations of kernels, or of steps on tensors, that onnx.Export does not write.
var ofKernels = []string{
	"Bincount", "Histc", "Kthvalue", "Mode", "Multinomial", "NonZero", "SearchSorted", "Unique",
	"autograd.CTC", "autograd.MaxUnpool", "autograd.MultiMargin",
	"linalg.Cholesky", "linalg.Eigh", "linalg.Inv", "linalg.QR", "linalg.SVD", "linalg.SlogDet",
	"linalg.Solve", "linalg.SolveTriangular",
}

// otherNumbers are cases whose numbers the specification leaves open.
var otherNumbers = map[string]bool{
	"Median.special": true, // where TopK has a NaN
}

// ofRuntime are cases of which onnxruntime has other numbers than the specification, or than this module where that
// leaves them open: NaN among the elements of a maximum, and tensors without elements.
var ofRuntime = map[string]bool{
	"AdaptiveMaxPool.special": true, "MaxPool.special": true, "MaxPoolWithIndex.special": true, "Max.nan": true,
	"Min.nan":               true,
	"ScatterReduce.special": true, "Mean.empty": true, "autograd.CrossEntropy.none": true,
}

// TestExport writes every case as an ONNX file, and compares what the file computes with PyTorch.
func TestExport(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	x := exporting{d: d, r: onnxtest.NewRuntime(t)}
	opsets := []int{18}
	if x.r != nil {
		opsets = []int{17, 18, 20, 23}
	}
	for _, x.opset = range opsets {
		for _, f := range families {
			refs := references(t, f)
			for _, o := range f.operations {
				x.operation(t, o, refs)
			}
		}
	}
	x.r.Check(t)
}

// exporting is what cases are exported to.
type exporting struct {
	d     tensor.Device
	r     *onnxtest.Runtime
	opset int
}

// operation writes the cases of an operation, checks what comes back, and that those and no others are written.
func (x exporting) operation(t *testing.T, o operation, refs map[string]npz.Array) {
	t.Helper()
	ofKernel := slices.Contains(ofKernels, o.name)
	none := slices.Contains(ofTensors, o.name) || ofKernel
	if x.opset == 17 { // has no bits, no reductions to extremes in ScatterElements
		none = none || strings.HasPrefix(o.name, "Bitwise") || o.name == "ScatterReduce"
	}
	for _, name := range slices.Sorted(maps.Keys(o.cases)) {
		at := o.name + "." + name
		if o.skipped(name, refs) || slices.Contains(ofTensors, o.name) {
			continue
		}
		tensor.Scope(x.d, func() {
			_, err := x.write(t, o, name, refs)
			switch refused := none || notWritten[at]; {
			case err == nil && refused && x.opset > 17 && !ofKernel: // of one, trivial cases are written
				t.Errorf("%s is written: take it out of notWritten", at)
			case err != nil && !refused:
				t.Errorf("%s: %v", at, err)
			}
		})
	}
}

// operators returns those of the simplest case of an operation, nil if the specification expresses none.
func (x exporting) operators(t *testing.T, o operation, refs map[string]npz.Array) (least []string) {
	t.Helper()
	if slices.Contains(ofTensors, o.name) || slices.Contains(ofKernels, o.name) {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(o.cases)) {
		if o.skipped(name, refs) {
			continue
		}
		tensor.Scope(x.d, func() {
			list, err := x.write(t, o, name, refs)
			if err == nil && (least == nil || len(list) < len(least) || least[0] == "Identity") {
				least = list
			}
		})
	}
	return least
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

// write writes a case, runs the file, and returns its operators; the error is that of Export.
func (x exporting) write(t *testing.T, o operation, name string, refs map[string]npz.Array) ([]string, error) {
	t.Helper()
	at := o.name + "." + name
	var inputs []*tensor.Tensor
	var values []*onnx.Value
	for i := 0; ; i++ {
		a, ok := refs[fmt.Sprint(at, ".in", i)]
		if !ok {
			break
		}
		inputs = append(inputs, upload(t, x.d, tensor.Float32, &a))
		values = append(values, onnx.FromTensor(inputs[i]))
	}
	forward := func(in []*tensor.Tensor) []*autograd.Node {
		var nodes []*node
		for _, x := range in {
			nodes = append(nodes, autograd.Const(x))
		}
		return o.cases[name](nodes)
	}
	var file bytes.Buffer
	if err := onnx.Export(&file, nil, inputs, onnx.ExportOptions{Forward: forward, Opset: x.opset}); err != nil {
		return nil, err
	}
	m, err := onnx.Parse(file.Bytes())
	if err != nil {
		t.Errorf("%s: %v", at, err)
		return nil, nil
	}
	s, err := m.Load(x.d)
	if err != nil {
		t.Errorf("%s: %v", at, err)
		return nil, nil
	}
	defer s.Close()
	got, err := s.Run(values...)
	if err != nil {
		t.Errorf("%s: %v", at, err)
		return nil, nil
	}
	if !otherNumbers[at] && !ofRuntime[at] {
		x.r.Add(t, fmt.Sprint(at, " opset ", x.opset), file.Bytes(), m, inputs, got)
	}
	for i, y := range got {
		want := refs[fmt.Sprint(at, ".out", i)]
		if !slices.Equal(y.Shape(), want.Shape) {
			t.Errorf("%s: result %d of the file has shape %v, want %v", at, i, y.Shape(), want.Shape)
			continue
		}
		e, err := difference(y.Tensor(), tensor.Float32, &want)
		if !otherNumbers[at] && (err != nil || !(e <= 1e-4)) {
			t.Errorf("%s in opset %d: result %d of the file: error %.2g, %v", at, x.opset, i, e, err)
		}
	}
	return slices.Sorted(maps.Keys(m.Operators())), nil
}

// column returns operators as docs/operations.md has them: without those that only change shapes or types, if there
// are others, and of many how many there are.
func column(operators []string) string {
	list := slices.DeleteFunc(slices.Clone(operators), func(op string) bool {
		return slices.Contains([]string{"Cast", "Identity", "Squeeze", "Unsqueeze"}, op)
	})
	if len(list) == 0 {
		list = operators
	}
	switch {
	case len(list) == 0:
		return "–"
	case len(list) > 4:
		return fmt.Sprintf("%d operators", len(list))
	}
	return "`" + strings.Join(list, "`, `") + "`"
}
