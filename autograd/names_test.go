package autograd_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// operands are tensors and nodes of many shapes and types, of two devices, freed ones, and none.
func operands(t *testing.T) map[reflect.Type][]any {
	d := devtest.CPU(t)
	freed := tensor.Zeros(d, 2, 3)
	freed.Free()
	tensors := []any{nil, freed}
	nodes := []any{nil, &node{}, autograd.Const(freed)}
	for _, x := range []*tensor.Tensor{
		tensor.Full(d, 1, 2, 3), tensor.Full(d, 2, 5, 7), tensor.Full(d, 3, 2, 3, 4), tensor.Full(d, 1, 3), tensor.Full(d, 1, 2), tensor.Scalar(d, 2),
		tensor.Zeros(d, 0, 3), tensor.Zeros(d, 1, 1, 1, 1, 1, 1, 1, 2), tensor.Zeros(d, 1, 3).Expand(2, 3), tensor.Full(d, 2, 3, 3), tensor.Zeros(devtest.CPU(t), 2, 3),
	} {
		tensors, nodes = append(tensors, x), append(nodes, autograd.Param(x, "p"))
	}
	for _, x := range []*tensor.Tensor{
		tensor.FullOf(d, tensor.Int32, 1, 2, 3), tensor.FullOf(d, tensor.Int32, 99, 2), tensor.FullOf(d, tensor.Uint8, 1, 2, 3), tensor.Full(d, 1, 2, 3).To(tensor.Float16),
	} {
		tensors, nodes = append(tensors, x), append(nodes, autograd.Const(x))
	}
	q, err := tensor.Quantize(tensor.Full(d, 1, 3, 2), tensor.QuantizeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	kernel, err := tensor.Quantize(tensor.Full(d, 1, 2, 3, 1), tensor.QuantizeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	matrices := []any{nil, &tensor.QuantizedTensor{}, q, kernel}
	return map[reflect.Type][]any{
		reflect.TypeFor[*tensor.QuantizedTensor](): matrices, reflect.TypeFor[*tensor.Tensor](): tensors,
		reflect.TypeFor[*node](): nodes, reflect.TypeFor[tensor.Device](): {d},
	}
}

// TestErrorsNameTheMethod: what a method of Tensor or Node panics with names that method.
func TestErrorsNameTheMethod(t *testing.T) {
	pools := operands(t)
	// Fields that are read are no operations: of no tensor they panic as Go does. MapInPlace names
	// the function that it maps, and some cannot be called without a function of the caller's.
	others := map[string][]string{
		"Tensor": {"IsContiguous", "Device", "Free", "Freed", "Retain", "Len", "MapInPlace", "Rank", "Shape", "String", "MarkWritten", "Type"},
		"Node":   {"NewOp", "Hook", "Free", "ValueFor", "Backward"},
	}
	for _, typ := range []reflect.Type{reflect.TypeFor[*tensor.Tensor](), reflect.TypeFor[*node]()} {
		for i := range typ.NumMethod() {
			if m := typ.Method(i); !slices.Contains(others[typ.Elem().Name()], m.Name) {
				t.Run(typ.Elem().Name()+m.Name, func(t *testing.T) { devtest.ErrorsName(t, m.Name, m.Func, pools) })
			}
		}
	}
}

// TestErrorsNameTheFunction: what a function of this package that takes nodes panics with names
// that function.
func TestErrorsNameTheFunction(t *testing.T) {
	pools := operands(t)
	functions := map[string]any{"Concat": autograd.Concat, "Stack": autograd.Stack, "Meshgrid": autograd.Meshgrid, "CrossEntropy": autograd.CrossEntropy, "NLL": autograd.NLL,
		"Einsum": autograd.Einsum, "MSE": autograd.MSE, "L1": autograd.L1, "Huber": autograd.Huber, "SmoothL1": autograd.SmoothL1, "BCEWithLogits": autograd.BCEWithLogits,
		"KLDivergence": autograd.KLDivergence, "CosineSimilarity": autograd.CosineSimilarity, "HingeEmbedding": autograd.HingeEmbedding, "TripletMargin": autograd.TripletMargin, "CrossEntropyOf": autograd.CrossEntropyOf, "MultiMargin": autograd.MultiMargin,
		"CosineEmbedding": autograd.CosineEmbedding, "GaussianNLL": autograd.GaussianNLL, "CTC": autograd.CTC, "BCE": autograd.BCE, "Bilinear": autograd.Bilinear, "Fold": autograd.Fold,
		"MaxUnpool": autograd.MaxUnpool, "GridSample": autograd.GridSample, "AffineGrid": autograd.AffineGrid, "EmbeddingBag": autograd.EmbeddingBag,
		"Const": autograd.Const, "Param": autograd.Param, "MatMulQuantized": autograd.MatMulQuantized,
		"ConvQuantized": autograd.ConvQuantized}
	// Map names the function that it maps, NewOp the operation that it is given.
	others := []string{"Map", "NewOp", "WriteDOT", "Graph", "Grad", "NoGrad", "DetectAnomalies", "Autocast"}
	for _, name := range exported(t) {
		if f, has := functions[name]; has {
			t.Run(name, func(t *testing.T) { devtest.ErrorsName(t, name, reflect.ValueOf(f), pools) })
		} else if !slices.Contains(others, name) {
			t.Errorf("%s is in neither list", name)
		}
	}
}

// exported returns the names of the functions of the package in this folder.
func exported(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil && d.Name.IsExported() {
				names = append(names, d.Name.Name)
			}
		}
	}
	return names
}
