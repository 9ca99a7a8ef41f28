package selftest

import (
	"fmt"
	"github.com/clgrad/clgrad/kernels"
	"testing"
)

// shape spells operands: of a buffer its elements and what they are, of a number its value.
func shape(ops []kernels.Operand) string {
	var s []string
	for _, o := range ops {
		switch {
		case o.Blank:
			s = append(s, fmt.Sprintf("%d blank", o.N))
		case o.N > 0:
			s = append(s, fmt.Sprintf("%d in [%v, %v)", o.N, o.Lo, o.Hi))
		default:
			s = append(s, fmt.Sprintf("%.15g", o.Number))
		}
	}
	return fmt.Sprint(s)
}

// TestOperandsLike: the operands of a trial are those of the launch; there are none for what the
// launch does not tell, nor for what would take too long.
func TestOperandsLike(t *testing.T) {
	params := []kernels.Param{{Name: "X", Mode: kernels.In}, {Name: "Z", Mode: kernels.InOut},
		{Name: "Y", Mode: kernels.Out}, {Name: "n", Mode: kernels.IntParam}, {Name: "a", Mode: kernels.FloatParam}}
	args := func(n int) []kernels.Arg {
		return []kernels.Arg{kernels.BufferArg(nil, 5, n), kernels.BufferArg(nil, 0, 2), kernels.BufferArg(nil, 7, 2),
			kernels.IntArg(-3), kernels.FloatArg(0.5)}
	}
	if got, want := shape(OperandsLike(params, args(9))), "[9 in [-1, 1) 2 in [-1, 1) 2 blank -3 0.5]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if ops := OperandsLike(params, args(Elements-4)); len(ops) != 5 || ops[0].N != Elements-4 {
		t.Error("the largest launch that is tried is not")
	}
	if OperandsLike(params, args(Elements-3)) != nil {
		t.Error("a launch of one element too many is tried")
	}
	if OperandsLike(params, nil) != nil {
		t.Error("operands like those of no launch")
	}
	for _, m := range []kernels.Mode{kernels.InInts, kernels.OutInts, kernels.InOutInts, kernels.InBytes,
		kernels.OutBytes, kernels.In.Of(kernels.Float16), kernels.InOut.Of(kernels.Float16)} {
		if OperandsLike([]kernels.Param{{Name: "X", Mode: m}}, []kernels.Arg{kernels.BufferArg(nil, 0, 1)}) != nil {
			t.Errorf("mode %d: elements whose meaning is not known were drawn", m)
		}
	}
}

// TestTried: what set changes of a launch is tried, unless it says that nothing is.
func TestTried(t *testing.T) {
	k := &kernels.Kernel{Params: []kernels.Param{{Name: "X", Mode: kernels.In}, {Name: "n", Mode: kernels.IntParam}}}
	calls, yes := 0, true
	With(k, func(ops []kernels.Operand) bool { calls++; ops[0].Lo = 0.25; return yes })
	like := []kernels.Arg{kernels.BufferArg(nil, 0, 4), kernels.IntArg(4)}
	if got, want := shape(k.SelfTest(like)), "[4 in [0.25, 1) 4]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if yes = false; k.SelfTest(like) != nil {
		t.Error("tried against what set says")
	}
	if k.SelfTest(nil) != nil || calls != 2 {
		t.Errorf("set was called without operands: %d calls", calls)
	}
}

// TestElementwise: a launch that is too large for a trial is tried with as many elements as are
// not, of each of its buffers, and n says how many.
func TestElementwise(t *testing.T) {
	k := &kernels.Kernel{Params: []kernels.Param{{Name: "X", Mode: kernels.In}, {Name: "ONE", Mode: kernels.In},
		{Name: "Y", Mode: kernels.Out}, {Name: "n", Mode: kernels.IntParam}, {Name: "m", Mode: kernels.IntParam}}}
	Elementwise(k, nil)
	like := func(n, m int) []kernels.Arg {
		return []kernels.Arg{kernels.BufferArg(nil, 0, n), kernels.BufferArg(nil, 0, 1), kernels.BufferArg(nil, 0, n),
			kernels.IntArg(n), kernels.IntArg(m)}
	}
	most := (Elements - 1) / 2
	whole := fmt.Sprintf("[%d in [-1, 1) 1 in [-1, 1) %d blank %d %d]", most, most, most, 1<<30)
	if got := shape(k.SelfTest(like(most, 1<<30))); got != whole {
		t.Errorf("%s, want %s", got, whole)
	}
	n := Elements / 5
	cut := fmt.Sprintf("[%d in [-1, 1) 1 in [-1, 1) %d blank %d %d]", n, n, n, 1<<30)
	if got := shape(k.SelfTest(like(1<<29, 1<<30))); got != cut {
		t.Errorf("%s, want %s", got, cut)
	}
	if k.SelfTest(nil) != nil {
		t.Error("operands like those of no launch")
	}
	fill := Elementwise(&kernels.Kernel{Params: []kernels.Param{{Name: "Y", Mode: kernels.Out},
		{Name: "n", Mode: kernels.IntParam}}}, nil)
	for n, want := range map[int]int{Elements: Elements, Elements + 1: Elements / 2} {
		if ops := fill.SelfTest([]kernels.Arg{kernels.BufferArg(nil, 0, n), kernels.IntArg(n)}); ops[0].N != want ||
			ops[1].Number != float64(want) {
			t.Errorf("%d elements are tried with %d, want %d", n, ops[0].N, want)
		}
	}
	calls := 0
	Elementwise(k, func(ops []kernels.Operand) { calls++; SetNumbers(ops[3:], 7, 8) })
	if got, want := shape(k.SelfTest(like(2, 3))), "[2 in [-1, 1) 1 in [-1, 1) 2 blank 7 8]"; got != want || k.SelfTest(nil) != nil || calls != 1 {
		t.Errorf("%s, want %s, after %d calls", got, want, calls)
	}
}
