package fusion_test

import (
	"errors"
	"strings"
	"testing"

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

// TestRefuse: reasons of a fusion's own are in the report, with those of its matches.
func TestRefuse(t *testing.T) {
	own := errors.New("it is too odd")
	defer fusion.Register(fusion.Fusion{Name: "odd", Match: func(s fusion.Step) []fusion.Match {
		s.Refuse(own)
		return []fusion.Match{{Name: "nothing at all"}}
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
	if !errors.Is(why, own) || !errors.Is(why, fusion.ErrProposal) || !errors.As(why, &first) || first.Fusion != "odd" {
		t.Errorf("%v", why)
	}
	for _, line := range []string{"odd: refused: odd: it is too odd", "odd: refused: nothing at all: it covers no launch"} {
		if !strings.Contains(said.String(), line) {
			t.Errorf("%q is not said:\n%s", line, &said)
		}
	}
}
