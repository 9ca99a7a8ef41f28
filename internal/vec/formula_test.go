package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestFormulas: the loop of a formula has the bits of the loops of its steps, special values too,
// at all lengths and in place, and they are the same with each set.
func TestFormulas(t *testing.T) {
	type T = float32
	rng := rand.New(rand.NewPCG(1, 2))
	special := ends[T](0x1p-24, 0x1p-149, math.MaxFloat32)
	n := len(special)*len(special) + 5001
	x := make([][]T, 4)
	for k := range x {
		for i := range n {
			v := T(math.Ldexp(rng.Float64()*2-1, rng.IntN(18)-9))
			if i < len(special)*len(special) { // each with each
				v = special[[]int{i % len(special), i / len(special), i * 7 % len(special), i * 11 % len(special)}[k]]
			}
			x[k] = append(x[k], v)
		}
	}
	for _, f := range Formulas {
		var first []T
		for _, set := range Sets() {
			l := On[T](set)
			if !l.Has(f.Function) {
				t.Errorf("formula %d has no loop with %v", f.Function, set)
				continue
			}
			got, want := make([]T, n), inSteps(l, f, x)
			l.Map(f.Function, got, x[0], x[1], x[2], x[3])
			if first == nil {
				first = got
			}
			for i, v := range got {
				if !same(v, want[i]) || !same(v, first[i]) {
					t.Fatalf("formula %d of %v, %v, %v with %v: %v, its steps %v, %v with %v",
						f.Function, x[0][i], x[1][i], x[2][i], set, v, want[i], first[i], Sets()[0])
				}
			}
			checkLengths(t, l, f.Function, x, got)
		}
	}
}

// same reports whether a and b have the same bits, or are both NaN.
func same[T Float](a, b T) bool {
	return a != a && b != b || math.Float64bits(float64(a)) == math.Float64bits(float64(b))
}

// inSteps computes a formula by the loops of its steps.
func inSteps[T Float](l *Loops[T], f Formula, x [][]T) []T {
	n := len(x[0])
	values := make([][]T, len(f.Steps))
	for i, s := range f.Steps {
		args := [4][]T{x[0], x[0], x[0], x[0]}
		for k, a := range s.Args {
			switch a.Kind {
			case OfOperand:
				args[k] = x[a.Index]
			case OfStep:
				args[k] = values[a.Index]
			default:
				args[k] = make([]T, n)
				for j := range n {
					args[k][j] = T(a.Number)
				}
			}
		}
		values[i] = make([]T, n)
		l.Map(s.Function, values[i], args[0], args[1], args[2], args[3])
	}
	return values[len(values)-1]
}
