package replay_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/operation"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/replay/fusion"
	"github.com/clgrad/clgrad/tensor"
)

// magnitude is a kernel for |x|, by a function.
func magnitude(f func(x float64) float64) *kernels.Kernel {
	return &kernels.Kernel{Name: "absolute", File: "absolute.cl", Text: "// in Go alone",
		Params: []kernels.Param{{Name: "X", Mode: kernels.In}, {Name: "Y", Mode: kernels.Out}},
		Grid:   kernels.GridPerElement(0),
		Host: kernels.HostKernel{F32: func(c kernels.HostArgs[float32]) {
			for i, v := range c.Floats(0) {
				c.Floats(1)[i] = float32(f(float64(v)))
			}
		}},
		Cases: kernels.CasesBySize(func(o *kernels.Operands, n int) { o.In(n, -3, 3).Out(n) })}
}

// TestComparison: a fusion is done where it computes what it replaces, in all bits or within what it
// says, of NaN, too.
func TestComparison(t *testing.T) {
	d, err := tensor.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, c := range []struct {
		name   string
		f      func(x float64) float64
		within float64
		want   error
	}{
		{"the same", math.Abs, 0, nil},
		{"in other bits", func(x float64) float64 { return math.Abs(x) * (1 + 1e-6) }, 0, fusion.ErrWrong},
		{"within what it says", func(x float64) float64 { return math.Abs(x) * (1 + 1e-6) }, 1e-5, nil},
		{"by more", func(x float64) float64 { return math.Abs(x) * (1 + 1e-4) }, 1e-5, fusion.ErrWrong},
		{"numbers for NaN", func(x float64) float64 { return math.Abs(min(x, 9)) }, 1, nil},
		{"0 for NaN", func(x float64) float64 {
			if x != x {
				return 0
			}
			return math.Abs(x)
		}, 1, fusion.ErrWrong},
		{"NaN for numbers", func(float64) float64 { return math.NaN() }, 1, fusion.ErrWrong},
		{"a tolerance that is none", math.Abs, math.NaN(), fusion.ErrProposal},
		{"a tolerance below 0", math.Abs, -1, fusion.ErrProposal},
	} {
		remove := fusion.Register(fusion.Fusion{Name: "absolute", Match: func(s fusion.Step) []fusion.Match {
			l := s.Launches()
			if m, ok := l[1].Operations[0].(*operation.Map); !ok || m.Results[0].Function != fn.Abs {
				t.Fatalf("%s is no Abs", s.Name(1))
			}
			m := fusion.Match{Covers: []int{0, 1}, Within: c.within, Launches: []fusion.Launch{{Kernel: magnitude(c.f), Args: []kernels.Arg{l[0].Args[0], l[1].Args[1]}}}}
			return []fusion.Match{m}
		}})
		x := tensor.New(d, []float32{-1, 2, -3, 0})
		rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) { return []*tensor.Tensor{x.Neg().Abs()}, nil })
		remove()
		if err != nil {
			t.Fatal(err)
		}
		why := rec.Report().NotFused
		if !errors.Is(why, c.want) || (why == nil) != (rec.Report().FusedSteps == 1) {
			t.Errorf("%s: %v, want %v", c.name, why, c.want)
		}
		bound := fmt.Sprintf("of the largest, Match.Within is %g", c.within)
		said := fmt.Sprint(why)
		if errors.Is(why, fusion.ErrWrong) &&
			(!strings.Contains(said, "result 0, of 4 elements, has ") || !strings.Contains(said, bound)) {
			t.Errorf("%s: %v", c.name, why)
		}
		rec.Free()
	}
}

// TestComparedAgain: of the same launches, other results are compared anew, and with another tolerance.
func TestComparedAgain(t *testing.T) {
	d, err := tensor.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	both := magnitude(nil) // of |x|, a little off, and in place of −x nothing
	both.Params = append(both.Params, kernels.Param{Name: "Z", Mode: kernels.Out})
	both.Host.F32 = func(c kernels.HostArgs[float32]) {
		for i, v := range c.Floats(0) {
			c.Floats(1)[i] = float32(math.Abs(float64(v)) * (1 + 1e-6))
			c.Floats(2)[i] = 0
		}
	}
	both.Cases = kernels.CasesBySize(func(o *kernels.Operands, n int) { o.In(n, -3, 3).Out(n).Out(n) })
	for name, within := range map[string]float64{"absolute-1": 0, "absolute-2": 1e-5} {
		defer fusion.Register(fusion.Fusion{Name: name, Match: func(s fusion.Step) (found []fusion.Match) {
			for i := 0; i+1 < len(s.Launches()); i += 2 {
				l := s.Launches()[i : i+2]
				found = append(found, fusion.Match{Covers: []int{i, i + 1}, Within: within, Launches: []fusion.Launch{
					{Kernel: both, Args: []kernels.Arg{l[0].Args[0], l[1].Args[1], l[0].Args[1]}}}})
			}
			if name == "absolute-2" && len(s.Launches()) != 4 {
				t.Errorf("fused in other bits: %d launches", len(s.Launches()))
			}
			return found
		}})()
	}
	x := tensor.New(d, []float32{-1, 2, -3, 0})
	rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
		first := x.Neg().Abs()
		second := x.Neg()
		return []*tensor.Tensor{first, second.Abs(), second}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Free()
	if r := rec.Report(); r.FusedSteps != 1 {
		t.Errorf("%d are fused: %v", r.FusedSteps, r.NotFused)
	}
}

// TestFusionNotWorth: a fusion's own rule counts the launches and bytes of both sides.
func TestFusionNotWorth(t *testing.T) {
	d, err := tensor.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, pays := range []bool{true, false} {
		var before, after fusion.Cost
		remove := fusion.Register(fusion.Fusion{Name: "absolute", Match: func(s fusion.Step) []fusion.Match {
			l := s.Launches()
			return []fusion.Match{{Covers: []int{0, 1}, Launches: []fusion.Launch{{Kernel: magnitude(math.Abs), Args: []kernels.Arg{l[0].Args[0], l[1].Args[1]}}}}}
		}, Worth: func(_ kernels.Target, b, a fusion.Cost) bool { before, after = b, a; return pays }})
		x := tensor.New(d, []float32{-1, 2, -3, 0})
		rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) { return []*tensor.Tensor{x.Neg().Abs()}, nil })
		remove()
		if err != nil {
			t.Fatal(err)
		}
		if before != (fusion.Cost{Launches: 2, Bytes: 64}) || after != (fusion.Cost{Launches: 1, Bytes: 32}) {
			t.Errorf("it costs %+v, and would %+v", before, after)
		}
		if r := rec.Report(); pays != (r.FusedSteps == 1) || pays == errors.Is(r.NotFused, fusion.ErrWorth) {
			t.Errorf("it pays: %v: %d, %v", pays, r.FusedSteps, r.NotFused)
		}
		rec.Free()
	}
}
