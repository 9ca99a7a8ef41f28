package kernels

import (
	"github.com/clgrad/clgrad/bfloat16"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/x448/float16"
)

// gatherHalves sets d to a block of tensor t, of 16 bits. at is scratch.
func (m *mapSpec) gatherHalves(l *mapLoops, t int, p blockRange, at []int, a Arg, d []float32, set *vec.Set) {
	if m.types[t] == Float16 {
		gatherHalves(l, t, p, at, Slice[float16.Float16](a.Buf.(*HostBuffer), a.Off, a.N), d, set)
	} else {
		gatherHalves(l, t, p, at, Slice[bfloat16.BFloat16](a.Buf.(*HostBuffer), a.Off, a.N), d, set)
	}
}

// scatterHalves sets a block of tensor t, of 16 bits, to r, rounded. at is scratch.
func (m *mapSpec) scatterHalves(l *mapLoops, t int, p blockRange, at []int, r []float32, a Arg, set *vec.Set) {
	if m.types[t] == Float16 {
		scatterHalves(l, t, p, at, r, Slice[float16.Float16](a.Buf.(*HostBuffer), a.Off, a.N), set)
	} else {
		scatterHalves(l, t, p, at, r, Slice[bfloat16.BFloat16](a.Buf.(*HostBuffer), a.Off, a.N), set)
	}
}

// halvesRun is how many elements that do not lie side by side are moved at a time.
const halvesRun = 64

func gatherHalves[H vec.Half](l *mapLoops, t int, p blockRange, at []int, x []H, d []float32, set *vec.Set) {
	p, at = l.joined(t, p, at)
	l.starts(t, p.r, at)
	step := l.strides[t][l.rank-1]
	var run [halvesRun]H
	for r, start := range at {
		row, from := d[r*p.cols:(r+1)*p.cols], start+p.c*step
		switch {
		case step == 1:
			vec.FromHalves(set, row, x[from:])
			continue
		case step == 0 && len(row) > 0:
			vec.FromHalves(set, row[:1], x[from:])
			vec.Fill(row, row[0])
			continue
		}
		for len(row) > 0 {
			n := min(len(row), halvesRun)
			for i := range run[:n] {
				run[i] = x[from]
				from += step
			}
			vec.FromHalves(set, row[:n], run[:])
			row = row[n:]
		}
	}
}

func scatterHalves[H vec.Half](l *mapLoops, t int, p blockRange, at []int, r []float32, y []H, set *vec.Set) {
	p, at = l.joined(t, p, at)
	l.starts(t, p.r, at)
	step := l.strides[t][l.rank-1]
	var run [halvesRun]H
	for k, start := range at {
		row, to := r[k*p.cols:(k+1)*p.cols], start+p.c*step
		if step == 1 {
			vec.ToHalves(set, y[to:to+len(row)], row)
			continue
		}
		for len(row) > 0 {
			n := min(len(row), halvesRun)
			vec.ToHalves(set, run[:n], row[:n])
			for _, v := range run[:n] {
				y[to] = v
				to += step
			}
			row = row[n:]
		}
	}
}
