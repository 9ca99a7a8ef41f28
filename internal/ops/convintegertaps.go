package ops

// tapRuns is how elements of an axis are copied for n positions, so that the elements that a tap meets at these are
// neighbours: runs of elements a stride apart, each of so many. Taps of neighbouring elements share a run.
type tapRuns struct {
	first  []int // the element that a run begins with, relative to that of the first position and tap
	length int
	taps   []tapPlace
}

// tapPlace is where what a tap meets begins: its run, and the element of that.
type tapPlace struct{ run, at int }

// newTapRuns returns those of some taps. A run is longer than most only if one tap meets as many.
func newTapRuns(n, taps, stride, dilation, most int) tapRuns {
	r := tapRuns{length: n}
	var lengths []int
	for j := range taps {
		from := j * dilation
		place := tapPlace{run: none}
		for i := len(r.first) - 1; i >= 0 && place.run == none; i-- {
			at := (from - r.first[i]) / stride
			if (from-r.first[i])%stride == 0 && at <= lengths[i] && at+n <= most {
				place = tapPlace{i, at}
				lengths[i] = at + n
			}
		}
		if place.run == none {
			place.run = len(r.first)
			r.first, lengths = append(r.first, from), append(lengths, n)
		}
		r.length = max(r.length, lengths[place.run])
		r.taps = append(r.taps, place)
	}
	return r
}

// byteTile is what a tile of rows·cols positions of a plane of Y reads: for each channel of X the runs of each axis, as
// rows of neighbours. The elements that a tap meets at all positions are neighbours then, with some between the rows
// that no position reads.
type byteTile struct {
	rows, cols int
	channels   int // of X, rounded up to a multiple of four
	z, y, x    tapRuns
	plane      int   // elements of a channel
	taps       []int // where what a tap meets begins, in the order of the weights
}

// tileBytes is about how many elements positions of a tile meet.
const tileBytes = 1 << 18

// newByteTile chooses the tiles of a shape, so small that each of so many workers has some.
func newByteTile(s *ConvShape, workers int) *byteTile {
	t := &byteTile{channels: (s.In + 3) / 4 * 4}
	most := min(max(tileBytes/(t.channels*volume(s.Kernel)), 32), 1024)
	t.cols = min(s.OutSize[2], most)
	t.x = newTapRuns(t.cols, s.Kernel[2], s.Stride[2], s.Dilation[2], t.cols*3/2)
	t.rows = min(s.OutSize[1], max(1, most/t.x.length))
	for t.rows > 1 && s.Batch*s.Groups*t.perImage(s) < 4*workers {
		t.rows = (t.rows + 1) / 2
	}
	t.y = newTapRuns(t.rows, s.Kernel[1], s.Stride[1], s.Dilation[1], 1<<31-1)
	t.z = newTapRuns(1, s.Kernel[0], s.Stride[0], s.Dilation[0], 1)
	run := t.y.length * t.x.length
	for _, z := range t.z.taps {
		for _, y := range t.y.taps {
			for _, x := range t.x.taps {
				at := (z.run*len(t.y.first)+y.run)*len(t.x.first) + x.run
				t.taps = append(t.taps, at*run+y.at*t.x.length+x.at)
			}
		}
	}
	t.plane = len(t.z.first) * len(t.y.first) * len(t.x.first) * run
	return t
}

// perImage returns how many tiles the positions of an image are.
func (t *byteTile) perImage(s *ConvShape) int {
	return s.OutSize[0] * ((s.OutSize[1] + t.rows - 1) / t.rows) * ((s.OutSize[2] + t.cols - 1) / t.cols)
}

// fill copies what the tile at a position reads of the channels of X, with zero where they have no element.
func (t *byteTile) fill(to, x []uint8, s *ConvShape, position [3]int, zero uint8) {
	var first [3]int
	for a := range first {
		first[a] = position[a]*s.Stride[a] - s.Pad[a]
	}
	for c := range s.In {
		channel := x[c*volume(s.Size):][:volume(s.Size)]
		for _, fz := range t.z.first {
			z := first[0] + fz
			for _, fy := range t.y.first {
				for _, fx := range t.x.first {
					for i := range t.y.length {
						var row []uint8
						if y := first[1] + fy + i*s.Stride[1]; z >= 0 && z < s.Size[0] && y >= 0 && y < s.Size[1] {
							row = channel[(z*s.Size[1]+y)*s.Size[2]:][:s.Size[2]]
						}
						copyRun(to[:t.x.length], row, first[2]+fx, s.Stride[2], zero)
						to = to[t.x.length:]
					}
				}
			}
		}
	}
	fillBytes(to, zero) // the channels that round up, and what is read behind the last
}

// copyRun writes elements at, at + stride … of a row, and zero for those that it does not have.
func copyRun(run, row []uint8, at, stride int, zero uint8) {
	from, end := there(len(run), len(row), at, stride)
	fillBytes(run[:from], zero)
	fillBytes(run[end:], zero)
	if stride == 1 {
		copy(run[from:end], row[min(len(row), max(0, at+from)):])
		return
	}
	for i := from; i < end; i++ {
		run[i] = row[at+i*stride]
	}
}

func fillBytes(to []uint8, v uint8) {
	for i := range to {
		to[i] = v
	}
}
