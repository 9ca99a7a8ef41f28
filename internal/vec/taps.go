package vec

// Taps sets to to sums of multiples of what lies at some offsets of x: element i to the sum of by[t]
// times x[offsets[t]+i] over all taps t, one after the other, with one rounding each. by has as many
// numbers as there are offsets; to and x do not overlap.
func (l *Loops[T]) Taps(to, x []T, offsets []int, by []T) {
	n := len(to)
	if n == 0 {
		return
	}
	if len(offsets) == 0 {
		clear(to)
		return
	}
	for _, at := range offsets { // assembly knows no bounds
		_ = x[at:][:n]
	}
	if l.tapSums == nil {
		l.tapsByMaps(to, x, offsets, by)
		return
	}
	_ = by[len(offsets)-1]
	l.tapSums(n, &to[0], &x[0], len(offsets), &offsets[0], &by[0])
}

// tapsByMaps is Taps where there is no loop for it.
func (l *Loops[T]) tapsByMaps(to, x []T, offsets []int, by []T) {
	const run = 512 // neighbours whose sums stay next to the core while all taps are added
	same := l.Scratch(run)
	defer l.Return(same)
	clear(to)
	for first := 0; first < len(to); first += run {
		sums := to[first:min(len(to), first+run)]
		for t, at := range offsets {
			Fill(same.V[:len(sums)], by[t])
			l.Map(FMA, sums, same.V[:len(sums)], x[at+first:], sums, sums)
		}
	}
}
