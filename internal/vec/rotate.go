package vec

// Rotate rotates rows x and y, which is at least as long, by an angle of which it has the cosine and
// the sine:
//
//	x, y = co·x − si·y, si·x + co·y
func (l *Loops[T]) Rotate(x, y []T, co, si T) {
	n := len(x)
	if n == 0 {
		return
	}
	y = y[:n] // assembly knows no bounds
	if l.rotate == nil {
		for i, p := range x {
			q := y[i]
			x[i], y[i] = co*p-si*q, si*p+co*q
		}
		return
	}
	by := [3]T{co, si, -si}
	l.rotate(n, &x[0], &y[0], &by[0])
}
