package fused

import (
	"github.com/clgrad/clgrad/kernels"
	"strings"
	"testing"
)

// TestSettled: the form of several launches for given arguments passes the memory that they name,
// each once, and step scalars; all else is in its text.
func TestSettled(t *testing.T) {
	k := &kernels.Kernel{Name: "k_own", Text: "// @depends: common\nstatic void own(IN(X), IN_INTS(I), OUT(Y), int n, REAL s) {}\nkernel void k_own(IN(X), IN_INTS(I), OUT(Y), int n, REAL s) {}\n",
		Params: []kernels.Param{{Name: "X", Mode: kernels.In}, {Name: "I", Mode: kernels.InInts},
			{Name: "Y", Mode: kernels.Out}, {Name: "n", Mode: kernels.IntParam}, {Name: "s", Mode: kernels.FloatParam}},
		Grid:    kernels.GridFromArg(3),
		Fusions: Fusions{Batch: &BatchSpec{Function: "own"}}}
	two := Batch(k, 2)
	x, y, ints := kernels.NewHostBuffer(kernels.Float32, 9), kernels.NewHostBuffer(kernels.Float32, 9),
		kernels.NewHostBuffer(kernels.Int32, 9)
	scalars := kernels.NewStepScalars(1, func(numbers []kernels.Arg) error { numbers[0] = kernels.IntArg(3); return nil })
	if err := scalars.Next(); err != nil {
		t.Fatal(err)
	}
	args := []kernels.Arg{kernels.BufferArg(x, 1, 2), kernels.BufferArg(ints, 0, 2), kernels.BufferArg(y, 0, 2),
		kernels.IntArg(-2), kernels.FloatArg(0.5), kernels.BufferArg(x, 3, 2), kernels.BufferArg(x, 4, 2),
		kernels.BufferArg(y, 5, 2), scalars.Arg(0), kernels.FloatArg(0.25)}
	s := Specialize(two, args, kernels.Target{}, func(a, b kernels.Buffer) bool { return a == b })
	if s == nil {
		t.Fatal("there is none")
	}
	for _, want := range []string{"(global ELEM *X_0, global int *I_0, global ELEM *Y_0, REAL s_0, int n_1, REAL s_1)",
		"\n#define X_0_off 1\n", "\n#define n_0 (-2)\n",
		"\n#define X_1 ((global const ELEM *)X_0)\n#define X_1_off 3\n", "\n#define I_1 ((global const int *)X_0)\n",
		"\n#define Y_1 ((global ELEM *)Y_0)\n#define Y_1_off 5\n"} {
		if strings.Count(s.Kernel.Text, want) != 1 {
			t.Errorf("the text does not have once\n%s\n%s", want, s.Kernel.Text)
		}
	}
	if got := s.Args; len(got) != 6 || got[0] != 0 || got[2] != 2 || got[3] != 4 || got[4] != 8 || got[5] != 9 {
		t.Errorf("it takes arguments %v", got)
	}
	if Specialize(k, args[:5], kernels.Target{}, func(a, b kernels.Buffer) bool { return a == b }) != nil {
		t.Error("a kernel of one launch has one")
	}
}
