package vec

// CornerSamples is how many samples Corners has room for.
const CornerSamples = 128

// Corners is, for some samples, the entries of a level of a grid of features at the corners of the
// cell that a sample lies in, and their weights: by corner, and then by sample.
type Corners[T Float] struct {
	Entry  [4][CornerSamples]int32
	Weight [4][CornerSamples]T
}

// CornerFeatures is how many numbers an entry has that GatherInterp and ScatterAdd know.
const CornerFeatures = 4

// cornerLoops are those over levels of a grid.
type cornerLoops[T Float] struct {
	steps        int // that find takes a multiple of
	hash         func(n int, to *int32, x *T, level *int32) uint32
	gatherInterp func(n int, to *T, step int, corners *int32, table *T)
	scatterAdd   func(n int, d *T, first, entries uint32, corners *int32, by *T, step int)
}

// HasCorners reports whether there are the loops of HashIndices, GatherInterp and ScatterAdd.
func (l *Loops[T]) HasCorners() bool { return l.corners.hash != nil }

// HashIndices sets the corners of n samples at positions x [n, 2], at most CornerSamples, of a
// level: its first entry, the cells across and down, and the mask of its hash, or 0 where each
// vertex has an entry of its own. It returns the largest entry.
func (l *Loops[T]) HashIndices(to *Corners[T], x []T, n int, level []int32) (largest uint32) {
	if n == 0 {
		return 0
	}
	_, _, _ = to.Entry[0][n-1], x[2*n-1], level[3] // assembly knows no bounds
	whole := n / l.corners.steps * l.corners.steps
	if whole > 0 {
		largest = l.corners.hash(whole, &to.Entry[0][0], &x[0], &level[0])
	}
	if whole < n {
		var rest [16]T // which has room for the steps of all loops, the last positions of which are 0
		copy(rest[:], x[2*whole:2*n])
		largest = max(largest, l.corners.hash(l.corners.steps, &to.Entry[0][whole], &rest[0], &level[0]))
	}
	return largest
}

// GatherInterp sets the features of each of n samples, step elements apart in to, to what they see
// of a table: the sum of their entries' features, times the weights. largest is what Find returned.
func (l *Loops[T]) GatherInterp(to []T, step int, c *Corners[T], n int, table []T, largest uint32) {
	if n == 0 {
		return
	}
	_, _, _ = to[(n-1)*step+CornerFeatures-1], c.Entry[0][n-1], table[CornerFeatures*int(largest)+CornerFeatures-1]
	l.corners.gatherInterp(n, &to[0], step, &c.Entry[0][0], &table[0])
}

// ScatterAdd adds the gradients g of n samples, step elements apart, times their weights, to those
// of their entries: d holds those from entry first on, and others stay as they are.
func (l *Loops[T]) ScatterAdd(d []T, first int, c *Corners[T], n int, g []T, step int) {
	if n == 0 || len(d) < CornerFeatures {
		return
	}
	_, _ = g[(n-1)*step+CornerFeatures-1], c.Entry[0][n-1]
	l.corners.scatterAdd(n, &d[0], uint32(first), uint32(len(d)/CornerFeatures), &c.Entry[0][0], &g[0], step)
}
