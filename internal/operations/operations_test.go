package operations

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// TestFiles: the methods of Tensor and Node are those that the table makes, and there are no other
// files of this kind.
func TestFiles(t *testing.T) {
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		got, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil || !bytes.Equal(got, text) {
			t.Errorf("%s is not what the table makes (err %v): run make generate", name, err)
		}
	}
	for _, pkg := range []string{"tensor", "autograd"} {
		there, err := filepath.Glob("../../" + pkg + "/methods_*[^t].go") // but for methods_test.go
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range there {
			if name := pkg + "/" + filepath.Base(path); files[name] == nil {
				t.Errorf("the table does not make %s", name)
			}
		}
	}
}

// TestSample: what a small table makes.
func TestSample(t *testing.T) {
	families, err := read(table1(`
// Softmin returns [Tensor.Softmax] of −x of [Stack] and [Keepdims]. It panics with ErrAxis.
//
// Gradient: g by [Tensor.Softmin].
//
// Source: A.
//
//op:torch torch.softmin
func (x T) Softmin(axis int, index *tensor.Tensor, w T, o ...tensor.Options) (T, error)

//op:listed autograd.Softmax torch.softmax

// Stack returns xs.
//
// Gradient: g.
func Stack(xs ...T) []T

// Where returns x.
//
// Gradient: g.
//
//op:elementwise Choose(x, y, cond)
func (x T) Where(cond, y T, a float64) T

// Any returns 1.
//
//op:value
//op:tensor len(x.shape)
func (x T) Any(axes ...int) int

// Scaled returns x.
//
// Gradient: g.
//
//op:linewise 2*eps, 1
func (x T) Scaled(w T, axis int, eps float64) T
`), []Family{{Name: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"Softmin": true, "Stack": true}
	for pkg, want := range map[string]string{
		"tensor": `// Softmin returns [Tensor.Softmax] of −x of [Stack] and [Keepdims]. It panics with ErrAxis.
//
// Source: A.
func (x *Tensor) Softmin(axis int, index *Tensor, w *Tensor, o ...Options) (*Tensor, error) {
	return x.softmin(axis, index, w, o...)
}

// Stack returns xs.
func Stack(xs ...*Tensor) []*Tensor { return stack(xs...) }

// Where returns x.
func (x *Tensor) Where(cond, y *Tensor, a float64) *Tensor {
	return elementwise("Where", fn.Choose, []float64{a}, x, y, cond)
}

// Any returns 1.
func (x *Tensor) Any(axes ...int) int { return len(x.shape) }

// Scaled returns x.
func (x *Tensor) Scaled(w *Tensor, axis int, eps float64) *Tensor {
	return linewise("Scaled", ops.Scaled, axis, []float64{2 * eps, 1}, x, w)
}
`,
		"autograd": `// Softmin returns [tensor.Tensor.Softmax] of −x of [Stack] and [tensor.Keepdims]. It panics with
// tensor.ErrAxis.
//
// Gradient: g by [Node.Softmin].
//
// Source: A.
func (x *Node) Softmin(axis int, index *tensor.Tensor, w *Node, o ...tensor.Options) (*Node, error) {
	y, at := x.softmin(axis, index, w, o...)
	if trace.On() {
		trace.Record("Softmin", []any{x, axis, index, w, o}, y, at)
	}
	return y, at
}

// Stack returns xs.
//
// Gradient: g.
func Stack(xs ...*Node) []*Node { return stack(xs...) }

// Where returns x.
//
// Gradient: g.
func (x *Node) Where(cond, y *Node, a float64) *Node {
	return elementwise("Where", fn.Choose, []float64{a}, x, y, cond)
}

// Any returns 1.
func (x *Node) Any(axes ...int) int { return x.use("Any").Any(axes...) }

// Scaled returns x.
//
// Gradient: g.
func (x *Node) Scaled(w *Node, axis int, eps float64) *Node {
	y := linewise("Scaled", ops.Scaled, axis, []float64{2 * eps, 1}, x, w)
	if trace.On() {
		trace.Record("Scaled", []any{x, w, axis, eps}, y)
	}
	return y
}
`,
	} {
		got, err := generate(pkg, families[0], known)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(string(got), want) {
			t.Errorf("%s: %s\nwant %s", pkg, got, want)
		}
	}
	if o := families[0].Operations[1]; !o.Listed || o.Name != "autograd.Softmax" || o.Torch != "torch.softmax" {
		t.Errorf("%+v", o)
	}
}

// TestErrors: what is wrong in a table is refused, with its place.
func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"// F returns x.\n//\n// Gradient: g.\nfunc (x T) F() T { return x }":          "table/a.go:5:1: F: it has a body",
		"// F returns x.\n//\n// Gradient: g.\nfunc (t T) F() T":                       "its receiver is (x T)",
		"// It returns x.\n//\n// Gradient: g.\nfunc (x T) F() T":                      "its comment does not begin with its name",
		"// F returns x.\nfunc (x T) F() T":                                            "it does not state its gradient",
		"// F returns x.\n//\n// Gradient: g.\n//\n// Gradients: g.\nfunc (x T) F() T": "two paragraphs state the gradient",
		"// F returns x.\n//\n// Source: A.\n//\n// More.\nfunc (x T) F() int":         "a paragraph follows the gradient or the source",
		"// F returns x.\n//op:other\nfunc (x T) F() int":                              "there is no line op:other",
		"// F returns x.\nfunc (x T) F(int) int":                                       "a parameter has no name",
		"// F returns x.\nfunc (x T) F() int\n// F returns x.\nfunc (x T) F() int":     "F is in the table twice, first at table/a.go:3:1",
		"//op:torch F":  "here only //op:listed NAME TORCH may stand",
		"const C = 1":   "methods and functions only",
		"func (x T) F(": "table/a.go:2:",
	} {
		if _, err := read(table1(text), []Family{{Name: "a"}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if _, err := read(table1(""), nil); err == nil || !strings.Contains(err.Error(), "no family has this name") {
		t.Error(err)
	}
	families, err := read(table1("// F returns x.\n//\n// Gradient: g.\n//\n//op:elementwise F(x, z)\nfunc (x T) F(y T) T"), []Family{{Name: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := generate("tensor", families[0], nil); err == nil || !strings.Contains(err.Error(), "table/a.go: F: op:elementwise F(x, z) is no function of the operands x, y") {
		t.Error(err)
	}
}

func table1(text string) fstest.MapFS {
	return fstest.MapFS{"a.go": {Data: []byte("package table\n" + text + "\n")}}
}
