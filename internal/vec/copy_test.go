package vec

import (
	"math/rand/v2"
	"testing"
)

// TestCopy: rows of all lengths go where they belong, and nothing else is written, with and without
// the loop.
func TestCopy(t *testing.T) {
	testCopy[float32](t)
	testCopy[float64](t)
}

func testCopy[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 62))
	all := []*Loops[T]{new(Loops[T])} // which has none
	for _, set := range Sets() {
		all = append(all, On[T](set))
	}
	for i, l := range all {
		for n := range 45 {
			for _, count := range [][2]int{{1, 1}, {2, 3}, {3, 1}, {0, 2}, {2, 0}} {
				c := Copy{Planes: count[0], Rows: count[1], N: n, ToRow: n + n%3, FromRow: 3 + n}
				c.ToPlane, c.FromPlane = c.Rows*c.ToRow+n%2, c.Rows*c.FromRow/2*2+1
				if c.FromPlane < c.Rows*c.FromRow {
					c.FromPlane = c.Rows * c.FromRow
				}
				from, to := random[T](rng, c.Planes*c.FromPlane+1), random[T](rng, c.Planes*c.ToPlane+2)
				want := append([]T(nil), to...)
				for p := range c.Planes {
					for r := range c.Rows {
						copy(want[1+p*c.ToPlane+r*c.ToRow:][:n], from[p*c.FromPlane+r*c.FromRow:])
					}
				}
				l.Copy(to[1:], from, c)
				if at := differs(to, want); at >= 0 {
					t.Fatalf("loops %d, %T: %+v: element %d is %v, want %v", i, to[0], c, at, to[at], want[at])
				}
			}
		}
		for what, c := range map[string]Copy{"of the target": {1, 2, 20, 0, 31, 0, 20}, "of the source": {3, 1, 20, 0, 0, 11, 0}} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("loops %d, %T: beyond the end %s: no panic", i, T(0), what)
					}
				}()
				l.Copy(make([]T, 50), make([]T, 41), c)
			}()
		}
	}
}

// TestReverse: the elements of rows of all lengths and sizes lie in the opposite order, and nothing
// else is written.
func TestReverse(t *testing.T) {
	for _, set := range append(Sets(), nil) {
		testReverse(t, set, func(i int) uint8 { return uint8(i) })
		testReverse(t, set, func(i int) int32 { return int32(i) })
		testReverse(t, set, func(i int) float64 { return float64(i) })
	}
}

func testReverse[E comparable](t *testing.T, set *Set, element func(i int) E) {
	for n := range 70 {
		for skip := range 3 {
			from, to := make([]E, skip+n), make([]E, skip+n+1)
			for i := range from {
				from[i] = element(i + 1)
			}
			Reverse(set, to[skip:], from[skip:])
			for i, v := range to {
				var want E
				if i >= skip && i < skip+n {
					want = from[skip+n-1-(i-skip)]
				}
				if v != want {
					t.Fatalf("%v: %d elements from %d on: %d is %v, want %v", set, n, skip, i, v, want)
				}
			}
		}
	}
}

// TestMove: all elements of long slices move, and none beyond them; so do those that Fill sets.
func TestMove(t *testing.T) {
	for _, n := range []int{0, 1, 31, 33, 1<<16 - 1, 1<<17 + 5, 1<<22 + 3} {
		from, to := make([]int32, n), make([]int32, n+1)
		for i := range from {
			from[i] = int32(i + 1)
		}
		Move(to[:n], from)
		for i, v := range from {
			if to[i] != v {
				t.Fatalf("%d elements: %d is %d, want %d", n, i, to[i], v)
			}
		}
		Fill(from, 7)
		for i, v := range from {
			if v != 7 {
				t.Fatalf("%d elements are filled: %d is %d, want 7", n, i, v)
			}
		}
		if to[n] != 0 {
			t.Errorf("%d elements: the one behind them is written", n)
		}
	}
}

// TestStep: every element is that of the plain loop, at all lengths, also where the last is the last
// of the operand, and none beside is written.
func TestStep(t *testing.T) {
	for _, s := range Sets() {
		testCopyStep(t, On[float32](s))
		testCopyStep(t, On[float64](s))
	}
	for _, s := range append(Sets(), nil) {
		testStep(t, func(to, from []float64, step int) { StepElements(s, to, from, step) })
		testStep(t, func(to, from []int32, step int) { StepElements(s, to, from, step) })
		testStep(t, func(to, from []uint16, step int) { StepElements(s, to, from, step) })
		testStep(t, func(to, from []uint8, step int) { StepElements(s, to, from, step) })
	}
}

func testCopyStep[T Float](t *testing.T, l *Loops[T]) {
	from := make([]T, 200)
	for i := range from {
		from[i] = T(i)
	}
	got := make([]T, 120)
	l.CopyStep(got[1:], from, Copy{Planes: 2, Rows: 3, N: 17, ToPlane: 60, ToRow: 18, FromPlane: 100, FromRow: 30}, 2)
	for i, v := range got {
		p, r, k := i/60, i%60/18, i%60%18-1
		if want := T(p*100 + r*30 + 2*k); r < 3 && k >= 0 && v != want || (r == 3 || k < 0) && v != 0 {
			t.Fatalf("element %d of rows is %v", i, v)
		}
	}
	testStep(t, l.Step)
}

func testStep[T float32 | float64 | int32 | uint16 | uint8](t *testing.T, every func(to, from []T, step int)) {
	from := make([]T, 200)
	for i := range from {
		from[i] = T(i)
	}
	for step := 1; step < 5; step++ {
		for n := range 40 {
			for _, end := range []int{max(0, (n-1)*step+1), n*step + 7} {
				got := make([]T, n+1)
				every(got[:n], from[:end], step)
				for i, v := range got[:n] {
					if v != T(i*step) {
						t.Fatalf("%d elements %d apart are %v", n, step, got)
					}
				}
				if got[n] != 0 {
					t.Fatalf("%d elements %d apart, and another is written", n, step)
				}
			}
		}
	}
}
