package replay

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
)

// indices calls f with every index below dims.
func indices(dims []int, f func(index []int)) {
	index := make([]int, len(dims))
	for range intmath.Product(dims) {
		f(index)
		for d := len(dims) - 1; d >= 0; d-- {
			index[d]++
			if index[d] < dims[d] {
				break
			}
			index[d] = 0
		}
	}
}

func (v view) at(index []int) int {
	at := v.off
	for d, i := range index {
		at += i * v.strides[d]
	}
	return at
}

func (v view) elements(dims []int) []int {
	var list []int
	indices(dims, func(index []int) { list = append(list, v.at(index)) })
	return list
}

// randomView returns a view of a tensor in row-major order, or of another layout.
func randomView(r *rand.Rand, buf kernels.Buffer, repeats bool) (v view, dims []int) {
	v = view{buf: buf, off: r.IntN(3) * 4}
	for range r.IntN(4) {
		dims = append(dims, 1+r.IntN(4))
	}
	at := 1
	v.strides = make([]int, len(dims))
	for _, d := range r.Perm(len(dims)) {
		v.strides[d] = at
		at *= dims[d]
		if r.IntN(4) == 0 {
			at *= 2 // a gap
		}
		if r.IntN(3) == 0 && dims[d] > 2 {
			dims[d] -= 1 + r.IntN(2) // a slice
		}
		if repeats && r.IntN(6) == 0 {
			v.strides[d] = 0
		}
	}
	return v, dims
}

// TestCompose: what is composed finds, for each index of the reader, an index of the writer at the
// same element.
func TestCompose(t *testing.T) {
	buf := kernels.NewHostBuffer(kernels.Float32, 1)
	r := rand.New(rand.NewPCG(1, 1))
	found := 0
	for range 20000 {
		wrote, wdims := randomView(r, buf, false)
		read, rdims := randomView(r, buf, true)
		c, ok := compose(wrote, wdims, read, rdims)
		if !ok {
			continue
		}
		found++
		index := view{strides: make([]int, len(wdims))} // of each writer's dimension
		dims := c.dims()
		if intmath.Product(dims) != intmath.Product(rdims) || !slices.Equal(c.ofReader(read).elements(dims), read.elements(rdims)) {
			t.Fatalf("parts %+v of %v", c.parts, rdims)
		}
		if !slices.Equal(c.ofWriter(wrote).elements(dims), read.elements(rdims)) {
			t.Fatalf("wrote %+v %v, read %+v %v: %+v", wrote, wdims, read, rdims, c)
		}
		for d := range wdims {
			index.strides[d] = 1
			for _, i := range c.ofWriter(index).elements(dims) {
				if i < 0 || i >= wdims[d] {
					t.Fatalf("index %d of dimension %d of %v", i, d, wdims)
				}
			}
			index.strides[d] = 0
		}
		if c.straight(wdims, rdims) && !slices.Equal(wrote.elements(wdims), read.elements(rdims)) {
			t.Fatalf("not straight: wrote %+v %v, read %+v %v", wrote, wdims, read, rdims)
		}
	}
	if found < 2000 {
		t.Errorf("only %d of 20000 were composed", found)
	}
}

// TestComposeKinds: slices, transposes, reshapes and repeated axes are found; what is no sum of
// indices, or reaches beyond what was written, is not.
func TestComposeKinds(t *testing.T) {
	v := func(off int, strides ...int) view { return view{nil, off, strides} }
	for name, c := range map[string]struct {
		wrote view
		wdims []int
		read  view
		rdims []int
		ok    bool
	}{
		"the same":         {v(0, 4, 1), []int{3, 4}, v(0, 4, 1), []int{3, 4}, true},
		"transpose":        {v(0, 4, 1), []int{3, 4}, v(0, 1, 4), []int{4, 3}, true},
		"flat":             {v(0, 4, 1), []int{3, 4}, v(0, 1), []int{12}, true},
		"unflattened":      {v(0, 1), []int{12}, v(0, 4, 1), []int{3, 4}, true},
		"slice":            {v(8, 4, 1), []int{3, 4}, v(13, 4, 1), []int{2, 2}, true},
		"step":             {v(0, 1), []int{12}, v(1, 3), []int{4}, true},
		"repeated":         {v(0, 1), []int{4}, v(0, 0, 1), []int{5, 4}, true},
		"one element":      {v(7), nil, v(7, 0), []int{9}, true},
		"of a slice":       {v(2, 8, 1), []int{3, 4}, v(2, 8, 2), []int{3, 2}, true},
		"diagonal":         {v(0, 4, 1), []int{4, 4}, v(0, 5), []int{4}, false},
		"across rows":      {v(0, 4, 1), []int{3, 4}, v(0, 3), []int{4}, false},
		"over a gap":       {v(0, 8, 1), []int{3, 4}, v(0, 1), []int{12}, false},
		"before":           {v(4, 1), []int{4}, v(3, 1), []int{2}, false},
		"beyond":           {v(0, 1), []int{4}, v(2, 1), []int{3}, false},
		"beyond a row":     {v(0, 4, 1), []int{3, 4}, v(2, 1), []int{4}, false},
		"of repeated ones": {v(0, 0, 1), []int{3, 4}, v(0, 1), []int{4}, false},
		"backwards":        {v(0, 1), []int{4}, v(3, -1), []int{4}, false},
		"empty":            {v(0, 1), []int{4}, v(0, 1), []int{0}, false},
		"one of repeated":  {v(0, 0, 1), []int{3, 4}, v(0), nil, false},
		"other memory":     {view{kernels.NewHostBuffer(kernels.Float32, 4), 0, []int{1}}, []int{4}, v(0, 1), []int{4}, false},
		"steps over rows":  {v(0, 4, 1), []int{3, 4}, v(0, 2), []int{6}, true},
	} {
		if _, ok := compose(c.wrote, c.wdims, c.read, c.rdims); ok != c.ok {
			t.Errorf("%s: %v, want %v", name, ok, c.ok)
		}
	}
}

// TestDisjoint: views that are said to be disjoint are; and the interleaved parts of one tensor are
// said to be.
func TestDisjoint(t *testing.T) {
	buf := kernels.NewHostBuffer(kernels.Float32, 1)
	r := rand.New(rand.NewPCG(2, 1))
	said := 0
	for range 20000 {
		a, adims := randomView(r, buf, true)
		b, bdims := randomView(r, buf, true)
		if r.IntN(2) == 0 {
			b, bdims = view{buf, a.off + r.IntN(9), a.strides}, adims
		}
		if r.IntN(2) == 0 {
			a, adims, b, bdims = b, bdims, a, adims
		}
		if !disjoint(a, adims, b, bdims) {
			continue
		}
		said++
		of := a.elements(adims)
		for _, e := range b.elements(bdims) {
			if slices.Contains(of, e) {
				t.Fatalf("%+v %v and %+v %v have element %d in common", a, adims, b, bdims, e)
			}
		}
	}
	if said < 2000 {
		t.Errorf("only %d were disjoint", said)
	}
	dims := []int{8, 64, 4, 16}
	part := func(k int) view { return view{buf, k * 64, []int{12288, 192, 16, 1}} }
	if !disjoint(part(0), dims, part(1), dims) || !disjoint(part(2), dims, part(0), dims) || disjoint(part(1), dims, part(1), dims) {
		t.Error("parts of queries, keys and values")
	}
	if got := whole([]view{part(1), part(0), part(2)}, dims); !slices.Contains(got, span{0, 3 * 64 * 512}) {
		t.Errorf("together they are %v", got)
	}
}

// TestWhole: every element of the spans that views fill is one of theirs.
func TestWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	filled := 0
	for range 5000 {
		v, dims := randomView(r, nil, false)
		views := []view{v}
		step := 1 + r.IntN(8)
		for k := range r.IntN(4) {
			views = append(views, view{nil, v.off + (k+1)*step, v.strides})
			if r.IntN(8) == 0 { // of another layout
				other, _ := randomView(r, nil, false)
				if len(other.strides) == len(dims) {
					views[k+1].strides = other.strides
				}
			}
		}
		var of []int
		for _, x := range views {
			of = append(of, x.elements(dims)...)
		}
		for _, s := range whole(views, dims) {
			if s.hi-s.lo > intmath.Product(dims) {
				filled++
			}
			for e := s.lo; e < s.hi; e++ {
				if !slices.Contains(of, e) {
					t.Fatalf("%v of %+v, %v: element %d is not theirs", s, views, dims, e)
				}
			}
		}
	}
	if filled < 50 {
		t.Errorf("only %d filled gaps of each other", filled)
	}
}

// TestRefine: two index spaces are counted alike in common dimensions.
func TestRefine(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	found := 0
	for range 5000 {
		var both [2][]int
		for k := range both {
			n := 1
			for n < 24 && r.IntN(6) > 0 {
				by := 1 + r.IntN(4)
				both[k], n = append(both[k], by), n*by
			}
		}
		a, b := both[0], both[1]
		pa, pb, ok := refine(a, b)
		if ok && intmath.Product(a) != intmath.Product(b) {
			t.Fatalf("%v and %v have other numbers of elements", a, b)
		}
		if !ok {
			if slices.Equal(a, b) {
				t.Fatalf("%v is not counted as itself", a)
			}
			continue
		}
		found++
		for k, parts := range [][]part{pa, pb} {
			v, in := view{strides: make([]int, len(both[k]))}, view{strides: make([]int, len(parts))}
			dims, at := make([]int, len(parts)), 1
			for d := len(both[k]) - 1; d >= 0; d-- {
				v.strides[d], at = at, at*both[k][d]
			}
			for i, p := range parts {
				in.strides[i], dims[i] = v.strides[p.dim]*p.by, p.n
				if p.n != pa[i].n {
					t.Fatalf("%v and %v: parts %v and %v", a, b, pa, pb)
				}
			}
			if !slices.Equal(in.elements(dims), v.elements(both[k])) {
				t.Fatalf("%v in parts %v", both[k], parts)
			}
		}
	}
	if found < 300 {
		t.Errorf("only %d were found", found)
	}
}

// TestSpans: what was added and not cut since is there, and nothing else.
func TestSpans(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	for range 2000 {
		var s spans
		var want [40]bool
		for range r.IntN(12) {
			lo := r.IntN(40)
			x := span{lo, lo + r.IntN(41-lo)}
			add := r.IntN(3) > 0
			if add {
				s.add(x)
			} else {
				s.cut(x)
			}
			for i := x.lo; i < x.hi; i++ {
				want[i] = add
			}
		}
		for i, is := range want {
			if s.overlaps(span{i, i + 1}) != is {
				t.Fatalf("element %d: %v in %v", i, !is, s.list)
			}
		}
	}
}
