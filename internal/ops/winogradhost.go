package ops

import (
	"math"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
)

// winogradMatrix is one of the matrices of Winograd's filtering, which is applied to both axes of a
// tile.
type winogradMatrix [][]float64

// winogradMatrices are those for some number of taps.
type winogradMatrices struct {
	taps    winogradMatrix // G
	sums    winogradMatrix // Gᵀ
	points  winogradMatrix // A
	outputs winogradMatrix // Aᵀ
	input   winogradMatrix // Bᵀ
}

func winogradOf(taps int) *winogradMatrices {
	w := &winogradMatrices{taps: winogradPowers(taps, true), points: winogradPowers(winogradValues+1-taps, false), input: winogradInput()}
	w.sums, w.outputs = w.taps.transposed(), w.points.transposed()
	return w
}

// winogradAt are the points that polynomials of taps and of outputs are evaluated at; infinity is
// the last.
var winogradAt = [winogradValues - 1]float64{0, 1, -1, 2, -0.5}

// winogradInput returns Bᵀ: row i has the coefficients of Π_{j≠i} (x − point j), the last those of
// all.
func winogradInput() winogradMatrix {
	b := make(winogradMatrix, winogradValues)
	for i := range b {
		row := make([]float64, winogradValues)
		row[0] = 1
		for j, p := range winogradAt {
			if j == i {
				continue
			}
			for k := winogradValues - 1; k >= 0; k-- { // times x − p
				row[k] *= -p
				if k > 0 {
					row[k] += row[k-1]
				}
			}
		}
		b[i] = row
	}
	return b
}

// winogradPowers returns A for n outputs, or with scaled G for n taps: the powers of each point, of
// which G has them divided by Π_{j≠i} (point i − point j).
func winogradPowers(n int, scaled bool) winogradMatrix {
	g := make(winogradMatrix, winogradValues)
	for i := range g {
		row := make([]float64, n)
		g[i] = row
		if i == len(winogradAt) {
			row[n-1] = 1
			continue
		}
		by := 1.0
		if scaled {
			for j, p := range winogradAt {
				if j != i {
					by *= winogradAt[i] - p
				}
			}
		}
		for k := range row {
			row[k] = math.Pow(winogradAt[i], float64(k)) / by
		}
	}
	return g
}

func (m winogradMatrix) transposed() winogradMatrix {
	t := make(winogradMatrix, len(m[0]))
	for i := range t {
		for _, row := range m {
			t[i] = append(t[i], row[i])
		}
	}
	return t
}

// size returns by how much the matrix, applied to both axes, makes the largest value larger at
// most.
func (m winogradMatrix) size() float64 {
	most := 0.0
	for _, row := range m {
		sum := 0.0
		for _, v := range row {
			sum += math.Abs(v)
		}
		most = max(most, sum)
	}
	return most * most
}

// winogradTile applies a matrix to both axes of tiles, for one goroutine at a time.
type winogradTile[T kernels.Float] struct {
	m       [][]T
	x, half [WinogradPlanes]T // x: what to transform, rows one after the other
	y       [WinogradPlanes]T
}

func newWinogradTile[T kernels.Float](m winogradMatrix) *winogradTile[T] {
	t := &winogradTile[T]{}
	for _, row := range m {
		var r []T
		for _, v := range row {
			r = append(r, T(v))
		}
		t.m = append(t.m, r)
	}
	return t
}

// run computes y = m·x·mᵀ.
func (t *winogradTile[T]) run() {
	rows, cols := len(t.m), len(t.m[0])
	for i, row := range t.m {
		for j := range cols {
			var s T
			for k, v := range row {
				s += v * t.x[k*cols+j]
			}
			t.half[i*cols+j] = s
		}
	}
	for i := range rows {
		for j, row := range t.m {
			var s T
			for k, v := range row {
				s += v * t.half[i*cols+k]
			}
			t.y[i*rows+j] = s
		}
	}
}

// read takes n×n values of a plane [h, w] from (y0, x0) on, zeros outside.
func (t *winogradTile[T]) read(plane []T, h, w, y0, x0 int) {
	n := len(t.m[0])
	for i := range n {
		for j := range n {
			t.x[i*n+j] = 0
			if y, x := y0+i, x0+j; y >= 0 && y < h && x >= 0 && x < w {
				t.x[i*n+j] = plane[y*w+x]
			}
		}
	}
}

// winogradCost is the work of transforming a tile, for Parallel.
const winogradCost = 2 * winogradValues * WinogradPlanes

func winogradWeightsHost[T kernels.Float](m *winogradMatrices) func(kernels.HostArgs[T]) {
	taps := len(m.sums) * len(m.sums)
	return func(c kernels.HostArgs[T]) {
		w, u, written, read, wWritten, wRead, reversed := c.Floats(0), c.Floats(1), c.Int(2), c.Int(3), c.Int(4), c.Int(5), c.Int(6) != 0
		wide := WinogradWhole(written)
		c.Parallel(read, wide*winogradCost, func(lo, hi int) {
			tile := newWinogradTile[T](m.taps)
			for r := lo; r < hi; r++ {
				for o := range wide {
					clear(tile.y[:])
					if o < written {
						from := w[o*wWritten+r*wRead:][:taps]
						for i, v := range from {
							if reversed {
								v = from[taps-1-i]
							}
							tile.x[i] = v
						}
						tile.run()
					}
					for p := range WinogradPlanes {
						u[(p*read+r)*wide+o] = tile.y[p]
					}
				}
			}
		})
	}
}

func winogradHost[T kernels.Float](m *winogradMatrices) func(kernels.HostArgs[T]) {
	return func(c kernels.HostArgs[T]) {
		x, u, w, bias, y := c.Floats(0), c.Floats(1), c.Floats(2), c.Floats(3), c.Floats(4)
		biased, wWritten, wRead, reversed := c.Int(15) != 0, c.Int(16), c.Int(17), c.Int(18) != 0
		taps := len(m.sums)
		n := &WinogradShape{0, c.Int(5), c.Int(6), c.Int(7), c.Int(8), c.Int(9), c.Int(10), c.Int(11), c.Int(12), taps}
		high, wide := n.tiles()
		outs, whole := n.outputs(), WinogradWhole(n.Written)
		images := len(y) / max(1, n.Written*n.OutH*n.OutW)
		c.Parallel(images*high*wide, n.Read*(winogradCost+WinogradPlanes*n.Written), func(lo, hi int) {
			in, out := newWinogradTile[T](m.input), newWinogradTile[T](m.outputs)
			v := make([]T, n.Read*WinogradPlanes)
			for t := lo; t < hi; t++ {
				image, y0, x0 := t/(high*wide), t/wide%high*outs, t%wide*outs
				for r := range n.Read {
					in.read(x[(image*n.Read+r)*n.H*n.W:], n.H, n.W, y0-n.PadY, x0-n.PadX)
					in.run()
					copy(v[r*WinogradPlanes:], in.y[:])
				}
				for o := range n.Written {
					for p := range WinogradPlanes {
						var s T
						for r := range n.Read {
							s += v[r*WinogradPlanes+p] * u[(p*n.Read+r)*whole+o]
						}
						out.x[p] = s
					}
					out.run()
					for i, v := range out.y[:outs*outs] {
						if v-v == 0 {
							continue
						}
						var s T // tap by tap, where it is not finite
						for r := range n.Read {
							in.read(x[(image*n.Read+r)*n.H*n.W:], n.H, n.W, y0-n.PadY, x0-n.PadX)
							for tap := range taps * taps {
								at := tap
								if reversed {
									at = taps*taps - 1 - tap
								}
								s += w[o*wWritten+r*wRead+at] * in.x[(i/outs+tap/taps)*winogradValues+i%outs+tap%taps]
							}
						}
						out.y[i] = s
					}
					var add T
					if biased {
						add = bias[o]
					}
					plane := y[(image*n.Written+o)*n.OutH*n.OutW:]
					for i := range min(outs, n.OutH-y0) {
						for j := range min(outs, n.OutW-x0) {
							plane[(y0+i)*n.OutW+x0+j] = out.y[i*outs+j] + add
						}
					}
				}
			}
		})
	}
}

func winogradGradientHost[T kernels.Float](m *winogradMatrices) func(kernels.HostArgs[T]) {
	return func(c kernels.HostArgs[T]) {
		x, g, d, images, blockRows, blockCols := c.Floats(0), c.Floats(1), c.Floats(2), c.Int(3), c.Int(12), c.Int(13)
		n := &WinogradShape{0, c.Int(4), c.Int(5), c.Int(6), c.Int(7), c.Int(8), c.Int(9), c.Int(10), c.Int(11), len(m.sums)}
		high, wide := n.tiles()
		down, across := intmath.CeilDiv(high, blockRows), intmath.CeilDiv(wide, blockCols)
		outs, whole := n.outputs(), WinogradWhole(n.Read)
		size := WinogradPlanes * n.Written * whole
		shares := len(d) / max(1, size)
		c.Parallel(shares, intmath.CeilDiv(images, max(1, shares))*high*wide*size, func(lo, hi int) {
			in, grad := newWinogradTile[T](m.input), newWinogradTile[T](m.points)
			v := make([]T, n.Read*WinogradPlanes)
			for z := lo; z < hi; z++ {
				share := d[z*size:][:size]
				clear(share)
				for b := z; b < images*down*across; b += shares {
					image, ty, tx := b/(down*across), b/across%down*blockRows, b%across*blockCols
					cols := min(blockCols, wide-tx)
					for t := range min(blockRows, high-ty) * cols {
						y0, x0 := (ty+t/cols)*outs, (tx+t%cols)*outs
						for r := range n.Read {
							in.read(x[(image*n.Read+r)*n.H*n.W:], n.H, n.W, y0-n.PadY, x0-n.PadX)
							in.run()
							copy(v[r*WinogradPlanes:], in.y[:])
						}
						for o := range n.Written {
							grad.read(g[(image*n.Written+o)*n.OutH*n.OutW:], n.OutH, n.OutW, y0, x0)
							grad.run()
							for p, by := range grad.y {
								row := share[(p*n.Written+o)*whole:]
								for r := range n.Read {
									row[r] += by * v[r*WinogradPlanes+p]
								}
							}
						}
					}
				}
			}
		})
	}
}

func winogradWeightsGradHost[T kernels.Float](m *winogradMatrices) func(kernels.HostArgs[T]) {
	taps := len(m.sums) * len(m.sums)
	return func(c kernels.HostArgs[T]) {
		u, w, written, read := c.Floats(0), c.Floats(1), c.Int(2), c.Int(3)
		whole := WinogradWhole(read)
		c.Parallel(written*read, winogradCost, func(lo, hi int) {
			tile := newWinogradTile[T](m.sums)
			for e := lo; e < hi; e++ {
				for p := range WinogradPlanes {
					tile.x[p] = u[(p*written+e/read)*whole+e%read]
				}
				tile.run()
				copy(w[e*taps:(e+1)*taps], tile.y[:taps])
			}
		})
	}
}
