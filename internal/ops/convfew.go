package ops

import (
	"fmt"
	"sync"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
)

// fewForm is what a kernel of few channels is built for: FEW, ROWS and DOWN of conv_few.cl.
type fewForm struct{ few, rows, down int }

var convFews struct {
	sync.Mutex
	of map[fewForm]*kernels.Kernel
}

// fewForm returns the form for a shape.
func (s *ConvShape) fewForm(transposed bool) fewForm {
	written := s.Out
	if transposed {
		written = s.In
	}
	f := fewForm{few: 1}
	for f.few < written && f.few < 4 {
		f.few *= 2
	}
	// More rows of one column read less, unless they are past the last.
	_, y, _ := s.axes(transposed, 0)
	least := 0
	for _, rows := range []int{8, 7, 4} {
		if n := intmath.RoundUp(y.count, rows); f.rows == 0 || n < least {
			f.rows, least = rows, n
		}
	}
	const most = 7
	if slides := y.step == y.stride || y.step == -y.stride; slides && y.taps <= most && (!transposed || s.Stride[1] == 1) { // one phase
		f.down = y.taps
	}
	return f
}

// ConvFew returns the kernel of ConvShape.ConvKernel for GPUs where few channels of a group are
// written.
func (s *ConvShape) ConvFew(transposed bool) *kernels.Kernel { return fewKernel(s.fewForm(transposed)) }

func fewKernel(f fewForm) *kernels.Kernel {
	convFews.Lock()
	defer convFews.Unlock()
	if convFews.of == nil {
		convFews.of = map[fewForm]*kernels.Kernel{}
	}
	if convFews.of[f] == nil {
		convFews.of[f] = newFewKernel(f)
	}
	return convFews.of[f]
}

func newFewKernel(f fewForm) *kernels.Kernel {
	k := convKernel(&kernels.Kernel{Name: "k_conv_few", File: "conv_few.cl",
		Fusions: fused.Fusions{Epilogue: storesConv(1, 1)},
		Defines: fmt.Sprintf("-DFEW=%d -DROWS=%d -DDOWN=%d", f.few, f.rows, f.down),
		Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
			const group, narrow = 256, 32 // FEW_GROUP of conv_few.cl, and the least columns of a group
			s, transposed := convShapeOf(a, convNumbers), a[convTransposed].Int != 0
			z, y, x := s.axes(transposed, 0) // which has the most positions
			read, written := s.In, s.Out
			if transposed {
				read, written = written, read
			}
			columns := s.Batch * z.count * intmath.CeilDiv(y.count, f.rows) * x.count
			blocks := s.Groups * intmath.CeilDiv(written, f.few)
			shares := 1
			for group/shares > narrow && 4*shares <= read && 2*columns*blocks*s.phases(transposed)*shares < 3*group*l.Units {
				shares *= 2
			}
			wide := group / shares
			return kernels.Grid{Dims: 3, Local: [3]int{wide, shares, 1}, Global: [3]int{intmath.RoundUp(columns, wide), blocks * shares, s.phases(transposed)}}
		},
		Variants: func(t kernels.DType, l kernels.Target) []*kernels.Kernel { return []*kernels.Kernel{ConvDirect} },
	})
	k.Cases = func(few bool) []kernels.Case {
		// Rows of 8: a map of aligned elements may follow.
		own := &ConvShape{Batch: 2, Groups: 1, In: 5, Out: f.few, Size: [3]int{1, 2*f.rows + 1, 7}, Kernel: [3]int{1, max(f.down, 1), 2},
			Stride: [3]int{1, 1, 1}, Dilation: [3]int{1, 1, 1}, Pad: [3]int{0, f.down / 2, 1}}
		own.setOut()
		return convOutputCases(append(convCases(few), own), func(s *ConvShape, transposed bool) bool {
			return f.down == 0 || f.down == s.fewForm(transposed).down
		})
	}
	return k
}
