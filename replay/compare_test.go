package replay

import (
	"math"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/capture"
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

// nameless is a device of which no memory is a tensor's.
type nameless struct{ capture.Device }

func (nameless) Memory(kernels.Buffer) capture.Memory { return nil }

// TestRunsDiffer: two runs are the same where each launch has the same numbers, and memory that plays the same part.
func TestRunsDiffer(t *testing.T) {
	mem := func() kernels.Buffer { return kernels.NewHostBuffer(kernels.Float32, 8) }
	a, b, left, old := mem(), mem(), mem(), mem() // of the first run; older
	p, q, long := mem(), mem(), &room{9}          // of the second
	scalars := kernels.NewStepScalars(2, func(n []kernels.Arg) error {
		n[0], n[1] = kernels.FloatArg(1), kernels.FloatArg(1)
		return nil
	})
	arg := func(b kernels.Buffer) kernels.Arg { return kernels.BufferArg(b, 0, 8) }
	copies := opaque("copy", kernels.In, kernels.Out)
	copied := func(x, y kernels.Buffer) event {
		return event{kernel: copies, args: []kernels.Arg{arg(x), arg(y), kernels.IntArg(1), kernels.IntArg(1),
			kernels.IntArg(64)}}
	}
	number := func(n kernels.Arg) event { return event{kernel: copies, args: []kernels.Arg{n}} }
	upload := func(b kernels.Buffer, v float64) event {
		data := kernels.NewHostBuffer(kernels.Float32, 8)
		data.Set(7, v)
		return event{args: []kernels.Arg{arg(b)}, data: data}
	}
	next := func(number int) kernels.Arg {
		if err := scalars.Next(); err != nil {
			t.Fatal(err)
		}
		return scalars.Arg(number)
	}
	one, other := next(0), next(1)
	list := func(e ...event) []event { return e }
	none := [2]int{}
	for _, c := range []struct {
		name          string
		first, second []event
		ends          [2]int // the turns of the scalars at the ends of the runs
		want          string // that is said
	}{
		{"the same", list(copied(old, a), copied(a, b)), list(copied(old, p), copied(p, q)), none, ""},
		{"one memory for two", list(copied(old, a), copied(old, b)), list(copied(old, p), copied(old, p)), none,
			"another part"},
		{"two for one", list(copied(old, a), copied(old, a)), list(copied(old, p), copied(old, q)), none,
			"another part"},
		{"an older one before", list(copied(old, old)), list(copied(old, p)), none, "another part"},
		{"an older one afterwards", list(copied(old, a)), list(copied(old, old)), none, "another tensor"},
		{"that of the first run", list(copied(old, a)), list(copied(left, p)), none, "that the first made"},
		{"of another size", list(copied(old, a)), list(copied(old, long)), none, "shapes must not depend on data"},
		{"one launch more", list(copied(old, a)), list(copied(old, p), copied(p, q)), none,
			"only the second continues"},
		{"the same int", list(number(kernels.IntArg(3))), list(number(kernels.IntArg(3))), none, ""},
		{"another int", list(number(kernels.IntArg(3))), list(number(kernels.IntArg(4))), none, "3 in the first"},
		{"another number", list(number(kernels.FloatArg(3))), list(number(kernels.FloatArg(4))), none,
			"3 in the first"},
		{"another zero", list(number(kernels.FloatArg(0))), list(number(kernels.FloatArg(math.Copysign(0, -1)))),
			none, "0 in the first"},
		{"no number twice", list(number(kernels.FloatArg(math.NaN()))), list(number(kernels.FloatArg(math.NaN()))),
			none, ""},
		{"a step scalar", list(number(one)), list(number(other)), [2]int{1, 2}, "another step scalar"},
		{"that of the next step", list(number(one)), list(number(next(0))), [2]int{1, 3}, ""},
		{"that of the step before", list(number(one)), list(number(one)), [2]int{1, 2}, "of another step"},
		{"no step scalar", list(number(one)), list(number(kernels.FloatArg(1))), [2]int{1, 2}, "another step scalar"},
		{"an upload", list(upload(a, 1)), list(upload(p, 1)), none, ""},
		{"an upload of others", list(upload(a, 1)), list(upload(p, 2)), none, "other values"},
		{"an upload for a launch", list(upload(a, 1)), list(copied(old, p)), none, "an upload in the first"},
	} {
		first := &trace{made: map[kernels.Buffer]bool{a: true, b: true, left: true}, events: c.first}
		second := &trace{before: first, made: map[kernels.Buffer]bool{p: true, q: true, long: true}, events: c.second}
		for i, run := range []*trace{first, second} {
			run.ends = map[*kernels.StepScalars]int{scalars: c.ends[i]}
		}
		_, err := compare(nameless{}, first, second)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestLeftoversDiffer: both runs leave as many gradients, of the same shapes.
func TestLeftoversDiffer(t *testing.T) {
	left := func(n ...int) *trace {
		run := &trace{}
		for _, n := range n {
			place := capture.Tensor{Buffer: kernels.NewHostBuffer(kernels.Float32, 8), Strides: []int{1}}
			run.leftovers = append(run.leftovers, leftoverTensor{"p", output{place: place, shape: []int{n}}})
		}
		return run
	}
	for _, c := range []struct {
		first, second *trace
		want          string
	}{
		{left(), left(), ""},
		{left(8), left(8), ""},
		{left(8), left(7), "p is of shape [8]"},
		{left(8), left(), "1 gradients are there after the first, 0"},
		{left(), left(8), "0 gradients are there after the first, 1"},
	} {
		c.second.before, c.second.made = c.first, map[kernels.Buffer]bool{}
		c.first.made = map[kernels.Buffer]bool{}
		for _, run := range []*trace{c.first, c.second} {
			for _, l := range run.leftovers {
				run.made[l.place.Buffer] = true
			}
		}
		b := &builder{run: c.second, kept: map[kernels.Buffer]bool{}}
		p, err := compare(nameless{}, c.first, c.second)
		if err != nil {
			t.Fatal(err)
		}
		if err = b.states(p); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
