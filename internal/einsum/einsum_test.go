package einsum

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestParse: labels of operands and results, and what an equation may not be.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		equation string
		shapes   [][]int
		out      string // with . for an axis of "..."
	}{
		{"ij,jk->ik", [][]int{{2, 3}, {3, 4}}, "ik"},
		{" i j , jk ", [][]int{{2, 3}, {3, 4}}, "ik"},
		{"bA,Ab", [][]int{{2, 3}, {3, 2}}, ""},
		{"zaB", [][]int{{2, 3, 4}}, "Baz"},
		{"a...b,...b", [][]int{{2, 5, 6, 3}, {6, 3}}, "..a"},
		{"...,...", [][]int{{}, {}}, ""},
		{"a...->...a", [][]int{{2, 3}}, ".a"},
		{"->", [][]int{{}}, ""},
		{",->", [][]int{{}, {}}, ""},
	} {
		e, err := Parse(c.equation, c.shapes)
		if err != nil {
			t.Errorf("%q: %v", c.equation, err)
			continue
		}
		var out strings.Builder
		for _, l := range e.Out {
			if l < 0 {
				l = '.'
			}
			out.WriteRune(rune(l))
		}
		if out.String() != c.out {
			t.Errorf("%q: the result is %q, want %q", c.equation, out.String(), c.out)
		}
	}
	for equation, say := range map[string]string{
		"ij":          "is of 1 operands, and there are 2",
		"i,j":         `"i" has 1 letters, operand 0 has 2 axes`,
		"ijk,jk":      `"ijk" has 3 letters`,
		"i1,jk":       `"i1" is made of letters`,
		"i.j,jk":      "is made of letters",
		"......,jk":   "is made of letters",
		"ij,jk->...1": "is made of letters",
		"ij,jk->il":   `axis 'l' of the result is in no operand`,
		"ij,jk->ii":   "twice in the result",
		"ij,kj->ik":   `axis 'j' is 3 long, and 4 in operand 1`,
		"ii,jk->k":    `axis 'i' of operand 0 is both 2 and 3 long`,
		"ij,jk->i->k": "is made of letters",
	} {
		if _, err := Parse(equation, [][]int{{2, 3}, {3, 4}}); err == nil || !strings.Contains(err.Error(), say) || !strings.Contains(err.Error(), equation) {
			t.Errorf("%q: err = %v, want %q", equation, err, say)
		}
	}
}

// work returns the multiplications that steps take.
func work(e *Expression, steps [][2]int) float64 {
	times := map[int]int{}
	for _, l := range slices.Concat(e.Operands...) {
		times[l]++
	}
	terms := make([][]int, len(e.Operands))
	for i, labels := range e.Operands { // what only one has is summed over before
		for _, l := range labels {
			if times[l] > 1 || slices.Contains(e.Out, l) {
				terms[i] = append(terms[i], l)
			}
		}
	}
	gone := make([]bool, len(terms)+len(steps))
	total := 0.0
	for _, s := range steps {
		gone[s[0]], gone[s[1]] = true, true
		n, kept := 1.0, []int{}
		for _, l := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(terms[s[0]], terms[s[1]])))) {
			n *= float64(e.size[l])
			needed := slices.Contains(e.Out, l)
			for i, other := range terms {
				needed = needed || !gone[i] && slices.Contains(other, l)
			}
			if needed {
				kept = append(kept, l)
			}
		}
		total += n
		terms = append(terms, kept)
	}
	return total
}

// TestOrder: a chain of matrices is multiplied from its thin end, every order of a few operands
// takes at least as many multiplications, and every operand is used once, however many there are.
func TestOrder(t *testing.T) {
	e, err := Parse("ab,bc,cd,d->a", [][]int{{50, 50}, {50, 50}, {50, 50}, {50}})
	if err != nil {
		t.Fatal(err)
	}
	if got := e.Order(); work(e, got) != 3*50*50 {
		t.Errorf("a chain that ends in a vector: %v, %v multiplications", got, work(e, got))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 1; n <= 11; n++ {
		for range 20 {
			var shapes, operands [][]int
			for range n {
				var shape, labels []int
				for l := range 6 {
					if rng.IntN(2) == 0 {
						shape, labels = append(shape, 2+l*l), append(labels, l+1)
					}
				}
				shapes, operands = append(shapes, shape), append(operands, labels)
			}
			e := &Expression{Operands: operands}
			for l := range 6 {
				if l%2 == 0 && slices.ContainsFunc(operands, func(labels []int) bool { return slices.Contains(labels, l+1) }) {
					e.Out = append(e.Out, l+1)
				}
			}
			if err := e.measure(shapes); err != nil {
				t.Fatal(err)
			}
			steps := e.Order()
			var used []int
			for _, s := range steps {
				used = append(used, s[0], s[1])
			}
			slices.Sort(used)
			if len(steps) != n-1 || n > 1 && (len(slices.Compact(used)) != 2*(n-1) || used[0] != 0) {
				t.Fatalf("%d operands: steps %v", n, steps)
			}
			if n > exhaustive || n < 2 {
				continue
			}
			for range 30 {
				live, other := []int{}, [][2]int{}
				for i := range n {
					live = append(live, i)
				}
				for len(live) > 1 {
					rng.Shuffle(len(live), func(i, j int) { live[i], live[j] = live[j], live[i] })
					other = append(other, [2]int{live[0], live[1]})
					live = append(live[2:], n+len(other)-1)
				}
				if work(e, other) < work(e, steps) {
					t.Fatalf("%v of %v take %v multiplications, %v only %v", steps, operands, work(e, steps), other, work(e, other))
				}
			}
		}
	}
}

// FuzzParse: whatever the equation is, it is read or refused.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"ij,jk->ik", "...ii,a...->...", "->", "a.b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, equation string) {
		e, err := Parse(equation, [][]int{{2, 2}, {2, 2, 1}})
		if err == nil && len(e.Order()) != 1 {
			t.Errorf("%q: steps %v", equation, e.Order())
		}
	})
}
