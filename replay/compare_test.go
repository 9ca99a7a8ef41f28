package replay

import (
	"testing"

	"github.com/clgrad/clgrad/kernels"
)

// TestSameKernel: kernels that a step makes again are the same where all is that their program is
// made of.
func TestSameKernel(t *testing.T) {
	made := func() *kernels.Kernel {
		return &kernels.Kernel{Name: "k_a", Text: "a", GPUText: "b", File: "a.cl", Defines: "-DN=1", Params: make([]kernels.Param, 2)}
	}
	if a := made(); !sameKernel(a, a) || !sameKernel(a, made()) || !sameKernel(nil, nil) || sameKernel(a, nil) || sameKernel(nil, a) {
		t.Error("the same kernels are others, or an upload is a launch")
	}
	for name, change := range map[string]func(k *kernels.Kernel){
		"Name":    func(k *kernels.Kernel) { k.Name = "k_b" },
		"Text":    func(k *kernels.Kernel) { k.Text = "c" },
		"GPUText": func(k *kernels.Kernel) { k.GPUText = "c" },
		"File":    func(k *kernels.Kernel) { k.File = "b.cl" },
		"Defines": func(k *kernels.Kernel) { k.Defines = "-DN=2" },
		"Params":  func(k *kernels.Kernel) { k.Params = k.Params[:1] },
	} {
		k := made()
		if change(k); sameKernel(made(), k) {
			t.Errorf("kernels of another %s are the same", name)
		}
	}
}

// TestSpanOfViews: the span of a view has its elements, also of one that goes backwards, and views
// of two layouts are not the same.
func TestSpanOfViews(t *testing.T) {
	v := view{nil, 7, []int{-2, 1}}
	if s := v.span([]int{4, 1}); s != (span{1, 8}) {
		t.Errorf("%v", s)
	}
	if s := v.span([]int{4, 0}); s != (span{7, 7}) {
		t.Errorf("of no elements: %v", s)
	}
	dims := []int{2, 1}
	for _, c := range []struct {
		w    view
		want bool
	}{
		{v, true},
		{view{nil, 7, []int{-2, 5}}, true}, // of one element
		{view{nil, 7, []int{2, 1}}, false},
		{view{nil, 6, []int{-2, 1}}, false},
		{view{kernels.NewHostBuffer(kernels.Float32, 1), 7, []int{-2, 1}}, false},
	} {
		if v.same(c.w, dims) != c.want {
			t.Errorf("%+v and %+v: %v", v, c.w, !c.want)
		}
	}
}
