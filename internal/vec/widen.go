package vec

// AddWide adds the elements of x to those of to, which is at least as long, in double precision:
// the bits are those of plain loops.
func (l *Loops[T]) AddWide(to []float64, x []T) {
	if len(x) == 0 {
		return
	}
	_ = to[len(x)-1] // assembly knows no bounds
	to = to[:len(x)]
	if same, ok := any(x).([]float64); ok {
		// The operands that Add does not have may be any.
		any(l).(*Loops[float64]).Map(Add, to, to, same, to, to)
		return
	}
	whole := len(x) / 8 * 8
	if whole > 0 {
		l.addWide(whole, &to[0], &x[0])
	}
	for i, v := range x[whole:] {
		to[whole+i] += float64(v)
	}
}
