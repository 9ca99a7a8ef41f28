package fusion_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/replay/fusion"
	"github.com/clgrad/clgrad/tensor"
)

func nothing(fusion.Step) []fusion.Match { return nil }

// TestRegister: fusions are passes, in the order of their names, until they are removed.
func TestRegister(t *testing.T) {
	before := len(replay.Passes())
	z := fusion.Register(fusion.Fusion{Name: "zz-2", Doc: "does z", Match: nothing})
	a := fusion.Register(fusion.Fusion{Name: "a1", Doc: "does a", Match: nothing})
	all := replay.Passes()
	if len(all) != before+2 || all[1] != [2]string{"a1", "does a"} || len(fusion.Registered()) < 2 {
		t.Errorf("%v", all)
	}
	z()
	a()
	a() // removing it again does nothing
	if len(replay.Passes()) != before {
		t.Errorf("%v", replay.Passes())
	}
}

// TestRegisterMisuse: what is no fusion panics, with the reason.
func TestRegisterMisuse(t *testing.T) {
	defer fusion.Register(fusion.Fusion{Name: "taken", Match: nothing})()
	for _, c := range []struct {
		f    fusion.Fusion
		says string
	}{
		{fusion.Fusion{Match: nothing}, `"" is no name`},
		{fusion.Fusion{Name: "none", Match: nothing}, `"none" is no name`},
		{fusion.Fusion{Name: "explain", Match: nothing}, `"explain" is no name`},
		{fusion.Fusion{Name: "a,b", Match: nothing}, `"a,b" is no name`},
		{fusion.Fusion{Name: "-a", Match: nothing}, `"-a" is no name`},
		{fusion.Fusion{Name: "taken", Match: nothing}, `a fusion "taken" already`},
		{fusion.Fusion{Name: "free"}, `"free" has no Match`},
		{fusion.Fusion{Name: "inline", Match: nothing}, `"inline" is a pass of package replay`},
	} {
		func() {
			defer func() {
				if r, _ := recover().(string); !strings.Contains(r, c.says) {
					t.Errorf("%+v: %q, want %q", c.f.Name, r, c.says)
				}
			}()
			fusion.Register(c.f)
		}()
	}
}

// TestNamesOfPasses: no fusion has the name of a pass.
func TestNamesOfPasses(t *testing.T) {
	for _, p := range replay.Passes() {
		if registers(p[0]) {
			t.Errorf("%s is registered", p[0])
		}
	}
	if !registers("join-2") {
		t.Error("join-2 is not registered")
	}
}

func registers(name string) (did bool) {
	defer func() { did = recover() == nil }()
	fusion.Register(fusion.Fusion{Name: name, Match: nothing})()
	return true
}

// TestPanics: a fusion that panics is named by Record's error, with the line. Nothing is recorded, and
// the step is done as it was, twice; the device goes on.
func TestPanics(t *testing.T) {
	own := errors.New("it is too odd")
	propose := func(s fusion.Step) []fusion.Match {
		var m fusion.Match
		for i, l := range s.Launches() {
			m.Covers, m.Launches = append(m.Covers, i), append(m.Launches,
				fusion.Launch{Kernel: l.Kernel, Args: l.Args, Does: []int{i}})
		}
		return []fusion.Match{m}
	}
	for name, c := range map[string]struct {
		f    fusion.Fusion
		want error
		says string
	}{
		"a word": {fusion.Fusion{Match: func(fusion.Step) []fusion.Match { panic("not that") }}, fusion.ErrPanic,
			"not that"},
		"an error": {fusion.Fusion{Match: func(fusion.Step) []fusion.Match { panic(own) }}, own, "it is too odd"},
		"an index": {fusion.Fusion{Match: func(s fusion.Step) []fusion.Match { _ = s.Launches()[len(s.Launches())]; return nil }}, fusion.ErrPanic, "index out of range"},
		"Step's own": {fusion.Fusion{Match: func(s fusion.Step) []fusion.Match { s.Name(-1); return nil }}, fusion.ErrPanic,
			"index out of range"},
		"Worth": {fusion.Fusion{Match: propose, Worth: func(kernels.Target, fusion.Cost, fusion.Cost) bool { panic("worth nothing") }},
			fusion.ErrPanic, "worth nothing"},
	} {
		for _, sel := range devtest.Selected() {
			t.Run(name+"/"+sel, func(t *testing.T) {
				c.f.Name = "panics"
				remove := fusion.Register(c.f)
				defer remove()
				d := devtest.Open(t, sel, tensor.Options{})
				x, sum := tensor.Full(d, 2, 3), tensor.Zeros(d, 3)
				step := func() ([]*tensor.Tensor, error) {
					sum.SetInPlace(x.Square().Add(sum))
					return []*tensor.Tensor{sum.Neg()}, nil
				}
				rec, err := replay.Record(d, step)
				if rec != nil || !errors.Is(err, fusion.ErrPanic) || !errors.Is(err, c.want) {
					t.Fatalf("%v, %v", rec, err)
				}
				for _, says := range []string{`"panics" at fusion_test.go:`, c.says} {
					if !strings.Contains(err.Error(), says) {
						t.Errorf("%q is not said: %v", says, err)
					}
				}
				if got, err := sum.Float64s(); err != nil || !slices.Equal(got, []float64{8, 8, 8}) {
					t.Errorf("%v, %v", got, err)
				}
				remove()
				if rec, err = replay.Record(d, step); err != nil {
					t.Fatal(err)
				}
				defer rec.Free()
				if got, err := rec.Outputs()[0].Float64s(); err != nil || !slices.Equal(got, []float64{-16, -16, -16}) {
					t.Errorf("%v, %v", got, err)
				}
			})
		}
	}
}

// TestRefuse: reasons of a fusion's own are in the report, with those of its matches.
func TestRefuse(t *testing.T) {
	own := errors.New("it is too odd")
	defer fusion.Register(fusion.Fusion{Name: "odd", Match: func(s fusion.Step) []fusion.Match {
		s.Refuse(nil)
		s.Refuse(own)
		return []fusion.Match{{Name: "nothing at all"},
			{Name: "too many", Covers: []int{0}, Launches: make([]fusion.Launch, 2)}}
	}})()
	d, err := tensor.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	x := tensor.Full(d, 2, 3)
	var said strings.Builder
	rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) { return []*tensor.Tensor{x.Neg()}, nil }, replay.Options{Explain: &said})
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Free()
	why := rec.Report().NotFused
	var first *fusion.Refusal
	if why == nil || strings.Count(why.Error(), "\n") != 2 { // a line each
		t.Errorf("%v", why)
	}
	if !errors.Is(why, own) || !errors.Is(why, fusion.ErrProposal) || !errors.As(why, &first) || first.Fusion != "odd" {
		t.Errorf("%v", why)
	}
	for _, line := range []string{"odd: refused: it is too odd", "odd: refused: nothing at all: it covers no launch",
		"odd: 0 k_neg: refused: too many: it has 2 launches in place of 1"} {
		if !strings.Contains(said.String(), line) {
			t.Errorf("%q is not said:\n%s", line, &said)
		}
	}
	if all := rec.Refusals(); len(all) != 3 || !slices.Equal(all[2].Launches, []int{0}) {
		t.Errorf("%+v", all)
	}
}
