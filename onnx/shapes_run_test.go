package onnx_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/onnxtest"
	"github.com/clgrad/clgrad/onnx"
	"github.com/clgrad/clgrad/tensor"
)

// inferred counts values whose shapes are known as numbers, for the sizes that inputs have, and those that are known in part.
type inferred struct {
	values, whole, part, symbolic int
	unknown                       map[string]int // operators that make what is not known
}

// compare runs a model, and reports values whose types or shapes are others than Shapes says.
func (n *inferred) compare(t *testing.T, d tensor.Device, m *onnx.Model, inputs []*onnx.Value) {
	t.Helper()
	sizes, shapes := map[string]int{}, m.Untrusting(nil)
	given := map[string]*onnx.Value{}
	for i, info := range m.Inputs() {
		if i >= len(inputs) {
			break
		}
		given[info.Name] = inputs[i]
		shape := inputs[i].Shape()
		if info.Dims != nil && len(info.Dims) == 0 && len(shape) > 0 { // a list of one, which runs take for a scalar
			inputs[i] = onnx.FromTensor(inputs[i].Tensor().Reshape())
			given[info.Name] = inputs[i]
		}
		for k, dim := range info.Dims {
			if k < len(shape) {
				sizes[dim] = shape[k]
				sizes[fmt.Sprintf("%s.%d", info.Name, k)] = shape[k]
			}
		}
	}
	s, err := m.Load(d, onnx.Options{Eager: true, Skip: onnx.Passes()})
	if errors.Is(err, onnx.ErrUnsupported) {
		t.Log(err) // of a package that is not imported here
		return
	}
	if err != nil {
		t.Error(err)
		return
	}
	defer s.Close()
	makers := map[string]string{}
	var names []string
	for _, node := range m.Nodes() {
		for _, name := range node.Outputs {
			if name != "" {
				names = append(names, name)
				makers[name] = node.Operator
			}
		}
	}
	if len(names) == 0 {
		return
	}
	values, err := s.RunNamed(given, names...)
	if err != nil {
		t.Log(err) // the score says so
		return
	}
	fixed := m.Untrusting(sizes)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		v := values[name]
		k, ok := shapes.Value(name)
		l, okFixed := fixed.Value(name)
		if !ok || !okFixed {
			t.Errorf("%s of %s: nothing is said", name, makers[name])
			continue
		}
		n.values++
		wantKnown(t, makers[name], name, v, k, sizes)
		wantKnown(t, makers[name], name, v, l, sizes)
		open := func(d onnx.Dim) bool { return !d.Known() }
		if v.IsSequence() || v.IsOptional() || k.Dims != nil && !slices.ContainsFunc(k.Dims, open) {
			n.symbolic++
		}
		switch whole := wholly(l, nil); {
		case v.IsSequence() || v.IsOptional() || whole:
			n.whole++
		case l.Dims != nil:
			n.part++
			n.unknown[makers[name]]++
		default:
			n.unknown[makers[name]]++
		}
	}
}

func wholly(k onnx.Known, sizes map[string]int) bool {
	return k.Type != "" && k.Dims != nil && !slices.ContainsFunc(k.Dims, func(d onnx.Dim) bool {
		_, ok := d.With(sizes).Number()
		return !ok
	})
}

// wantKnown reports what is said of a value and is not so.
func wantKnown(t *testing.T, op, name string, v *onnx.Value, k onnx.Known, sizes map[string]int) {
	t.Helper()
	if v.IsSequence() || v.IsOptional() || v.IsMap() {
		if k.Dims != nil {
			t.Errorf("%s of %s is %v, and said to be %v", name, op, v, k.Info(name))
		}
		return
	}
	typ, _ := k.Info(name).TensorType()
	switch {
	case k.Type == "":
	case v.IsStrings() != (k.Type == "string"), v.Tensor() != nil && v.Tensor().Type() != typ:
		t.Errorf("%s of %s is %v, and said to be %v", name, op, v, k.Info(name))
	}
	if k.Dims == nil {
		return
	}
	shape := v.Shape()
	wrong := len(shape) != len(k.Dims)
	for i := 0; i < len(shape) && !wrong; i++ {
		d, ok := k.Dims[i].With(sizes).Number()
		wrong = ok && d != shape[i]
	}
	if wrong {
		t.Errorf("%s of %s is %v, and said to be %v with %v", name, op, v, k.Info(name), sizes)
	}
}

func (n *inferred) String() string {
	ops := slices.SortedFunc(maps.Keys(n.unknown), func(a, b string) int { return n.unknown[b] - n.unknown[a] })
	var list []string
	for _, op := range ops {
		list = append(list, fmt.Sprintf("%d %s", n.unknown[op], op))
	}
	return fmt.Sprintf("%d values, %d wholly known, %d in part, %d with symbols; not known: %s", n.values, n.whole,
		n.part, n.symbolic, strings.Join(list, ", "))
}

// TestShapesOfNodes: what Shapes says agrees with the runs of the official tests.
func TestShapesOfNodes(t *testing.T) {
	root := os.Getenv("CLGRAD_ONNX_TESTS")
	if root == "" {
		t.Skip("CLGRAD_ONNX_TESTS names no folder of the official tests")
	}
	cases, err := onnxtest.Cases(root)
	if err != nil || len(cases) == 0 {
		t.Fatal(err, len(cases))
	}
	d := devtest.Open(t, "cpu", tensor.Options{})
	n := &inferred{unknown: map[string]int{}}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			m, err := onnx.Open(c.Model)
			if err != nil {
				t.Fatal(err)
			}
			var inputs []*onnx.Value
			if c.Light != nil {
				inputs, err = onnxtest.Made(d, m)
			} else {
				inputs, err = onnxtest.Inputs(d, m, c.Sets[0])
			}
			if err != nil {
				t.Fatal(err)
			}
			tensor.Scope(d, func() { n.compare(t, d, m, inputs) })
		})
	}
	t.Log(n)
}

// TestShapesOfModels: as above, of real models.
func TestShapesOfModels(t *testing.T) {
	files, _ := filepath.Glob("../../shared/onnx/models/*.onnx")
	more := os.Getenv("CLGRAD_ONNX_MODELS")
	if more != "" {
		list, _ := filepath.Glob(filepath.Join(more, "*.onnx"))
		files = append(files, list...)
	}
	if len(files) == 0 {
		t.Skip("../shared/onnx has no models")
	}
	d := devtest.Open(t, "cpu", tensor.Options{})
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".onnx")
		t.Run(name, func(t *testing.T) {
			m, err := onnx.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			pairs := filepath.Join(filepath.Dir(path), "..", "pairs", name+".npz")
			if _, err := os.Stat(pairs); err != nil {
				pairs = strings.TrimSuffix(path, ".onnx") + ".npz"
			}
			dict, err := tensor.LoadNPZ(d, pairs)
			if err != nil {
				t.Skip(err)
			}
			var inputs []*onnx.Value
			for _, info := range m.Inputs() {
				inputs = append(inputs, onnx.FromTensor(dict["in:"+info.Name]))
			}
			n := &inferred{unknown: map[string]int{}}
			tensor.Scope(d, func() { n.compare(t, d, m, inputs) })
			if n.values == 0 || n.whole+n.part == 0 {
				t.Error("nothing is known")
			}
			t.Log(n)
		})
	}
}
