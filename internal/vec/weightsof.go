package vec

// WeightsOf returns a matrix over memory that [Weights.Memory] returned of one, or a copy of it. A zero of no
// elements is none.
func WeightsOf(bits, k, n, group int, packed []byte, scale, zero []float32) *Weights {
	if len(zero) == 0 {
		zero = nil
	}
	return &Weights{K: k, N: n, Bits: bits, group: group, packed: packed, scale: scale, zero: zero}
}

// Memory returns the packed integers, their scales, and their zero points, nil if there are none. W shares it.
func (w *Weights) Memory() (packed []byte, scale, zero []float32) { return w.packed, w.scale, w.zero }

// Floats sets to [K, N] to W. set may be nil. each is that of [Weights.Multiply]; pieces are columns, 64 at a
// time.
func (w *Weights) Floats(set *Set, to []float32, each func(n, min int, f func(lo, hi int))) {
	if w.K == 0 || w.N == 0 {
		return
	}
	t := weightTask{Weights: w, loop: set.weightLoop(w.Bits)}
	panels := func(lo, hi int) {
		var tile [minGroup * tileColumns]float32
		for panel := lo; panel < hi; panel++ {
			first := panel * weightColumns
			for from := 0; from < w.K; from += minGroup {
				rows := min(minGroup, w.K-from)
				t.unpack(tile[:], panel, from, rows)
				for i := range rows {
					copy(to[(from+i)*w.N+first:][:min(weightColumns, w.N-first)], tile[i*tileColumns:])
				}
			}
		}
	}
	if each == nil {
		panels(0, w.panels())
	} else {
		each(w.panels(), max(1, minPackBytes/(w.K*weightColumns)), panels)
	}
}
