package vec

import (
	"unsafe"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/x448/float16"
)

// WeightsOf returns a matrix over memory that [Weights.Memory] returned of one, or a copy of it. A zero of no
// elements is none.
func WeightsOf(format WeightFormat, k, n, group int, packed []byte, scale, zero []float32) *Weights {
	if len(zero) == 0 {
		zero = nil
	}
	return &Weights{K: k, N: n, Format: format, group: group, packed: packed, scale: scale, zero: zero}
}

// Memory returns the packed elements, their scales, and their zero points, nil if there are none. W shares it.
func (w *Weights) Memory() (packed []byte, scale, zero []float32) { return w.packed, w.scale, w.zero }

// Floats sets to [K, N] to W, or with transposed [N, K] to Wᵀ. set may be nil. each is that of [Weights.Multiply];
// pieces are columns, 64 at a time.
func (w *Weights) Floats(set *Set, to []float32, transposed bool, each func(n, min int, f func(lo, hi int))) {
	if w.K == 0 || w.N == 0 {
		return
	}
	t := weightTask{Weights: w, loop: set.weightLoop(w.Format)}
	panels := func(lo, hi int) {
		var tile [minGroup * tileColumns]float32
		for panel := lo; panel < hi; panel++ {
			first := panel * weightColumns
			for from := 0; from < w.K; from += minGroup {
				rows := min(minGroup, w.K-from)
				t.unpack(tile[:], panel, from, rows)
				if transposed {
					columns := min(weightColumns, w.N-first)
					Transpose(set, to[first*w.K+from:], w.K, tile[:], tileColumns, columns, rows)
					continue
				}
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

// Column sets to [K] to column j of W.
func (w *Weights) Column(to []float32, j int) {
	panel, at := j/weightColumns, j%weightColumns
	packed := w.packed[panel*w.panel():][:w.panel()]
	group := w.group
	if group == 0 {
		group = max(1, w.K)
	}
	switch w.Format {
	case WeightsFloat16:
		halvesColumn(to[:w.K], packed, at, float16.Float16.Float32)
		return
	case WeightsBFloat16:
		halvesColumn(to[:w.K], packed, at, bfloat16.BFloat16.Float32)
		return
	}
	for i := range to[:w.K] {
		v := int8(packed[i*w.Format.Bits()/8*weightColumns+at])
		if w.Format == Weights4 {
			v = v << (4 - i%2*4) >> 4
		}
		s := (panel*w.groups()+i/group)*weightColumns + at
		zero := float32(0)
		if w.zero != nil {
			zero = w.zero[s]
		}
		to[i] = (float32(v) - zero) * w.scale[s]
	}
}

// halvesColumn sets to to column at of a panel of floats of 16 bits.
func halvesColumn[H Half](to []float32, panel []byte, at int, float32Of func(H) float32) {
	for i := range to {
		to[i] = float32Of(HalvesOf[H](panel[2*(i*weightColumns+at):], 1)[0])
	}
}

// HalvesOf returns n floats of 16 bits that lie in memory.
func HalvesOf[H Half](memory []byte, n int) []H {
	_ = memory[:2*n]
	return unsafe.Slice((*H)(unsafe.Pointer(unsafe.SliceData(memory))), n)
}

// HalfBytes returns the memory of x.
func HalfBytes[H Half](x []H) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 2*len(x))
}
