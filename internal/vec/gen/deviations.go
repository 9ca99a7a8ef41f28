package main

import "github.com/mmcloughlin/avo/operand"

// deviations writes the loop that adds up how much four rows differ from one, with the squares of that or without.
// What is added to is read and written once for four rows.
func (k *code) deviations(squared bool) {
	name, also := "deviations", ""
	if squared {
		name, also = "squaredDeviations", ", and their squares to those from squares on"
	}
	k.function(name, "adds to n elements from sums on the differences of four rows from that which from points to"+also+
		": see Loops.Deviations. The rows begin at x, stride bytes apart.",
		"func(n int, sums, squares, from, x *T, stride int)")
	names := []string{"sums", "from", "x", "squares"}
	if !squared {
		names = names[:3]
	}
	at, place := k.arguments(names...)
	rows, stride := []operand.Mem{at[2]}, k.pointer("stride")
	for i := range 3 {
		next := k.c.GP64()
		k.c.LEAQ(operand.Mem{Base: rows[i].Base, Index: stride, Scale: 1}, next)
		rows = append(rows, operand.Mem{Base: next, Index: place, Scale: 1})
	}
	k.elements(place, func(load loads, store stores) {
		sum, mean := load(at[0]), load(at[1])
		var square value
		if squared {
			square = load(at[3])
		}
		for _, row := range rows {
			d := k.sub(load(row), mean)
			sum = k.add(sum, d)
			if squared {
				square = k.fma(d, d, square)
			}
		}
		store(sum, at[0])
		if squared {
			store(square, at[3])
		}
	})
}
