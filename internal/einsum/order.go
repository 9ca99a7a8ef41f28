package einsum

import (
	"math"
	"math/bits"
	"slices"
)

// exhaustive is the number of operands up to which every order is tried: 3ⁿ pairs of sets of them.
const exhaustive = 8

// Order returns the pairs of operands whose products are taken one after the other: each result
// comes after the operands, and those that it was made of are gone. It is the order of the fewest
// multiplications of up to eight operands, of those in which no result has more than MaxAxes axes,
// and otherwise that in which every result is as small as can be.
func (e *Expression) Order() [][2]int {
	n := len(e.Operands)
	if n < 2 {
		return nil
	}
	if n > exhaustive {
		return e.greedy()
	}
	// in[l] is the set of operands, as bits, that have label l.
	in := map[int]uint{}
	for i, labels := range e.Operands {
		for _, l := range labels {
			in[l] |= 1 << i
		}
	}
	var labels []int
	for l := range in {
		labels = append(labels, l)
	}
	slices.Sort(labels)
	open := func(set uint, l int) bool { // whether the product of a set still has l
		return in[l]&set != 0 && (in[l]&^set != 0 || slices.Contains(e.Out, l))
	}
	all := uint(1)<<n - 1
	cost, part := make([]float64, all+1), make([]uint, all+1)
	for set := uint(1); set <= all; set++ {
		if bits.OnesCount(set) < 2 {
			continue
		}
		cost[set] = math.Inf(1)
		axes := 0 // of the result
		for _, l := range labels {
			if open(set, l) {
				axes++
			}
		}
		for a := (set - 1) & set; a > 0; a = (a - 1) & set {
			b := set &^ a
			if a < b {
				continue // the same pair
			}
			work := 1.0
			for _, l := range labels {
				if open(a, l) || open(b, l) {
					work *= float64(e.size[l])
				}
			}
			if axes > MaxAxes {
				work = math.Inf(1)
			}
			if c := cost[a] + cost[b] + work; c < cost[set] || part[set] == 0 {
				cost[set], part[set] = c, a
			}
		}
	}
	var steps [][2]int
	var build func(set uint) int
	build = func(set uint) int {
		if bits.OnesCount(set) == 1 {
			return bits.TrailingZeros(set)
		}
		a, b := build(part[set]), build(set&^part[set])
		steps = append(steps, [2]int{min(a, b), max(a, b)})
		return n + len(steps) - 1
	}
	build(all)
	return steps
}

// greedy takes the pair next whose product is smallest beside what it takes the place of.
func (e *Expression) greedy() [][2]int {
	terms := slices.Clone(e.Operands)
	live := make([]int, len(terms))
	for i := range live {
		live[i] = i
	}
	size := func(labels []int) float64 {
		n := 1.0
		for _, l := range labels {
			n *= float64(e.size[l])
		}
		return n
	}
	var steps [][2]int
	for len(live) > 1 {
		best, at, result := math.Inf(1), [2]int{0, 1}, []int(nil)
		for i := range live {
			for j := i + 1; j < len(live); j++ {
				var kept []int
				for _, l := range slices.Concat(terms[live[i]], terms[live[j]]) {
					needed := slices.Contains(e.Out, l)
					for k, other := range live {
						needed = needed || k != i && k != j && slices.Contains(terms[other], l)
					}
					if needed && !slices.Contains(kept, l) {
						kept = append(kept, l)
					}
				}
				if grows := size(kept) - size(terms[live[i]]) - size(terms[live[j]]); grows < best || result == nil {
					best, at, result = grows, [2]int{i, j}, append([]int{}, kept...)
				}
			}
		}
		steps = append(steps, [2]int{live[at[0]], live[at[1]]})
		live = slices.Delete(live, at[1], at[1]+1)
		live = append(slices.Delete(live, at[0], at[0]+1), len(terms))
		terms = append(terms, result)
	}
	return steps
}
