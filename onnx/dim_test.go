package onnx

import (
	"math"
	"testing"
)

func TestDim(t *testing.T) {
	n, m, s := NewDim, SymbolicDim("m"), SymbolicDim("s")
	for _, c := range []struct {
		dim  Dim
		want string
	}{
		{n(0), "0"},
		{n(-3), "-3"},
		{Dim{}, "?"},
		{s, "s"},
		{s.Mul(n(2)), "s*2"},
		{s.Add(s), "s*2"},
		{s.Sub(s), "0"},
		{s.Add(n(1)).Div(n(2)), "(s+1)/2"},
		{s.Sub(n(1)).Div(n(2)).Add(n(1)), "(s+1)/2"}, // of a convolution
		{s.Mul(n(2)).Div(n(2)), "s"},
		{s.Mul(n(3)).Div(n(2)), "(s*3)/2"},
		{s.Mul(n(4)).Add(n(7)).Div(n(2)), "s*2+3"}, // what is over is less than 1
		{s.Div(n(2)).Mul(n(8)), "(s/2)*8"},
		{s.Div(n(2)).Div(n(2)), "s/4"},
		{s.Add(n(1)).Div(n(2)).Add(n(1)).Div(n(2)), "(s+3)/4"},
		{s.Div(n(3)).Add(m).Div(n(2)), "(m*3+s)/6"},
		{m.Mul(s), "m*s"},
		{m.Mul(s).Div(s), "m"},
		{m.Mul(s).Div(m.Mul(s)), "1"},
		{m.Add(s).Mul(m.Sub(s)), "m*m-s*s"},
		{n(1).Sub(s), "-s+1"},
		{s.Sub(n(1)).Div(m), "(s-1)/m"},
		{s.Min(n(1)), "1"},
		{s.Min(n(5)), "min(s, 5)"},
		{n(5).Min(s), "min(s, 5)"},
		{s.Add(n(2)).Max(s), "s+2"},
		{s.Sub(n(1)).Max(n(0)), "s-1"},
		{s.Sub(n(2)).Max(n(0)), "max(s-2, 0)"},
		{s.Sub(n(2)).Max(n(0)).Add(n(1)), "max(s-2, 0)+1"},
		{s.Div(n(2)).Max(n(0)), "s/2"},
		{Dim{}.Mul(n(0)), "0"},
		{Dim{}.Add(s), "?"},
		{s.Div(n(0)), "?"},
		{s.Div(n(-2)), "?"},
		{n(-7).Div(n(2)), "-4"},
		{n(7).ceilDiv(n(2)), "4"},
		{dimOf(math.MaxInt64).Add(n(1)), "?"},
		{dimOf(math.MaxInt64).Mul(s).Mul(n(2)), "?"},
		{dimOf(math.MinInt64).Mul(n(-1)), "?"},
		{SymbolicDim("a*b").Sub(SymbolicDim("a").Mul(SymbolicDim("b"))), "-a*b+a*b"}, // a name is no product
	} {
		if got := c.dim.String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if s.Equal(m) || !s.Add(m).Equal(m.Add(s)) || (Dim{}).Equal(Dim{}) {
		t.Error("Equal")
	}
}

// TestDimEnds: what becomes larger with each step is not known some day, and soon.
func TestDimEnds(t *testing.T) {
	s := SymbolicDim("s")
	for name, step := range map[string]func(d Dim) Dim{
		"squares":   func(d Dim) Dim { return d.Mul(d) },
		"sums":      func(d Dim) Dim { return d.Mul(d.Add(NewDim(1))) },
		"minima":    func(d Dim) Dim { return d.Min(d.Mul(s).Sub(NewDim(5))).Add(d.Max(s.Sub(NewDim(9)))) },
		"quotients": func(d Dim) Dim { return d.Div(s.Add(d)) },
	} {
		d := s
		for range 200 {
			d = step(d)
		}
		if d.Known() {
			t.Errorf("%s are known: %v", name, d)
		}
	}
}

// TestDimWith: an expression is the number that its parts give.
func TestDimWith(t *testing.T) {
	s, m := SymbolicDim("s"), SymbolicDim("m")
	for size := 1; size < 40; size++ {
		sizes := map[string]Dim{"s": NewDim(size), "m": NewDim(3)}
		for _, c := range []struct {
			dim  Dim
			want int
		}{
			{s.Add(NewDim(2)).Div(NewDim(4)).Mul(s), (size + 2) / 4 * size},
			{s.Mul(NewDim(5)).Sub(NewDim(3)).Div(NewDim(2)), int(math.Floor(float64(5*size-3) / 2))},
			{NewDim(20).Sub(s).Div(NewDim(3)), int(math.Floor(float64(20-size) / 3))},
			{s.Sub(NewDim(7)).Max(NewDim(0)).Min(m), min(max(size-7, 0), 3)},
			{s.Mul(s).Div(m).ceilDiv(NewDim(2)), (size*size/3 + 1) / 2},
			{s.Div(NewDim(3)).Add(m).Sub(NewDim(5)).Div(NewDim(4)), int(math.Floor(float64(size/3+3-5) / 4))},
			{s.Mul(NewDim(6)).Add(NewDim(9)).Div(NewDim(4)), (6*size + 9) / 4},
		} {
			if got, ok := c.dim.with(sizes).Number(); !ok || got != c.want {
				t.Errorf("s = %d: %v is %d, want %d", size, c.dim, got, c.want)
			}
			if low, ok := c.dim.least(); ok && int64(c.want) < low {
				t.Errorf("s = %d: %v is %d, and at least %d", size, c.dim, c.want, low)
			}
		}
	}
}
