package vec

// shortPool is how many outputs a row has at least that MaxPool computes.
const shortPool = 4

// HasMaxPool reports whether there is the loop of MaxPool for n outputs.
func (l *Loops[T]) HasMaxPool(n int) bool { return l.maxPool != nil && n >= shortPool }

// MaxPool sets y to the maxima of windows of two by two: output i is that of elements 2·i, 2·i + 1
// and those width elements behind them. Unless places is nil, its elements become their places,
// where that of the first element of x is first. Of equal elements the first is taken, and of those
// that are NaN the last.
func (l *Loops[T]) MaxPool(y []T, places []int32, x []T, width, first int) {
	n := len(y)
	_, _ = x[2*n-1], x[width+2*n-1] // assembly knows no bounds
	var to *int32
	if places != nil {
		_ = places[n-1]
		to = &places[0]
	}
	l.maxPool(n, &y[0], to, &x[0], width, int32(first))
}
