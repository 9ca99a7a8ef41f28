package autograd_test

import (
	"bytes"
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// boxes returns what a graph's boxes say, and their colours.
func boxes(t *testing.T, root *node) map[string]string {
	t.Helper()
	var b bytes.Buffer
	if err := autograd.WriteDOT(&b, root); err != nil {
		t.Fatal(err)
	}
	colours := map[string]string{}
	for _, m := range regexp.MustCompile(`(?s)\[label="(.*?[^\\])", fillcolor=(\w+)\]`).FindAllStringSubmatch(b.String(), -1) {
		colours[m[1]] = m[2]
	}
	return colours
}

// TestBoxes: a box has the name or the operation, or both, the shape and the kernels; parameters,
// constants and operations have colours of their own, whether a gradient flows through them or not.
func TestBoxes(t *testing.T) {
	d := devtest.CPU(t)
	x := autograd.Const(vec(d, 1, 2))
	got := boxes(t, x.Neg().Mul(param(d, 1, 2)).Add(autograd.Const(vec(d, 3, 4)).Named(`a "b"\c`)).Named("sum").Square())
	want := map[string]string{
		`const\n[2]`: "lightgray", `a \"b\"\\c\n[2]`: "lightgray", `p\n[2]`: "lightblue",
		`Neg\n[2]\nk_neg`: "white", `Mul\n[2]\nk_mul`: "white", `sum = Add\n[2]\nk_add`: "white", `Square\n[2]\nk_square`: "white",
	}
	for label, colour := range want {
		if got[label] != colour {
			t.Errorf("box %q is %q, want %q", label, got[label], colour)
		}
	}
	if len(got) != len(want) {
		t.Errorf("boxes %v, want %v", got, want)
	}
}

// TestBoxTimes: on a device that measures, a kernel's line has the mean of its calls: their time and their bytes,
// which are those of its arguments.
func TestBoxTimes(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{Profile: true, DefaultType: tensor.Float64})
	x := autograd.Const(tensor.Zeros(d, 1000))
	x.Neg()
	x.Neg()
	line := regexp.MustCompile(`Neg\\n\[1000\]\\nk_neg: mean of (\d+) calls (\S+), ([\d.]+) kB`)
	for label := range boxes(t, x.Neg().Add(param(d, 1))) {
		m := line.FindStringSubmatch(label)
		if m == nil {
			continue
		}
		mean, err := time.ParseDuration(m[2])
		if err != nil {
			t.Fatal(err)
		}
		profile, err := d.Profile()
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range profile {
			if exact := k.Total / 3; k.Name == "k_neg" && (mean-exact).Abs() > 50*time.Nanosecond {
				t.Errorf("the mean is shown as %v, it is %v", mean, exact)
			}
		}
		if m[1] != "3" || m[3] != "16.0" { // 1000 floats read, 1000 written
			t.Errorf("the box says %q", label)
		}
		return
	}
	t.Error("no box shows the mean time of k_neg")
}

// TestKernelsOfShapes: of an operation on two tensors, one kernel serves equal shapes, one a scalar and one a row
// beside whatever; a column is repeated first. Views are read by the kernel that fits how they lie.
func TestKernelsOfShapes(t *testing.T) {
	d := devtest.CPU(t)
	p := autograd.Param(tensor.Full(d, 1, 3, 4), "p")
	of := func(shape ...int) *node { return autograd.Const(tensor.Full(d, 2, shape...)) }
	for _, c := range []struct {
		y    *node
		want string
	}{
		{p.Add(of(3, 4)), `k_add`}, {p.Add(of()), `k_add`}, {p.Add(of(1, 1)), `k_add`},
		{p.Add(of(4)), `k_add`}, {p.Add(of(1, 4)), `k_add`}, {p.Add(of(3, 1)), `k_add`}, {of(2, 3, 4).Add(p), `k_add`},
		{of(4).Add(p), `k_add`}, {of().Add(p), `k_add`}, {of(3, 1).Add(p), `k_add`},
		{p.Add(of(4, 3).Transpose()), `k_add`}, {p.Add(of(2, 4).Slice(0, 0, 1)), `k_add`},
		{p.Slice(1, 0, 2).Exp(), `k_exp`}, {p.Slice(0, 0, 2).Exp(), `k_exp`}, {p.Transpose().Exp(), `k_exp`},
	} {
		found := false
		for label := range boxes(t, c.y) {
			found = found || label == c.y.Op()+`\n`+fmt.Sprint(c.y.Shape())+`\n`+c.want
		}
		if !found {
			t.Errorf("no box of %v with %s in %v", c.y, c.want, boxes(t, c.y))
		}
	}
}
