package ops

import (
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels/operation"
)

// blocksSemantics: X, I, Y, J, rows, n, block, keep, flags.
func blocksSemantics(in args) operations {
	rows, n, block, keep, flags := int(in[4].Int), int(in[5].Int), int(in[6].Int), int(in[7].Int), in[8].Int
	width, last := min(keep, block), intmath.CeilDiv(n, block)-1
	s := sorted(in, rows, n, last*width+min(keep, n-last*block), width)
	s.Block, s.Keep, s.Descending = block, keep, flags&SortDescending != 0
	if flags&SortGiven != 0 {
		s.Index = view(in, 1, 0, n, 1)
	}
	return operations{s}
}

// mergeSemantics are those of a sort of each two runs, which are sorted: X, I, Y, J, rows, n, run, tile, flags.
func mergeSemantics(in args) operations {
	rows, n, run := int(in[4].Int), int(in[5].Int), int(in[6].Int)
	s := sorted(in, rows, n, n, 2*run)
	s.Block, s.Keep, s.Descending = 2*run, 2*run, in[8].Int&SortDescending != 0
	s.Index = view(in, 1, 0, n, 1)
	return operations{s}
}

// medianSemantics: X, I, Y, J, rows, n.
func medianSemantics(in args) operations {
	n := int(in[5].Int)
	s := sorted(in, int(in[4].Int), n, 1, 1)
	s.Block, s.Keep, s.Median, s.Index = n, 1, true, view(in, 1, 0, n, 1)
	return operations{s}
}

// selectMedianSemantics: X, Y, J, rows, n.
func selectMedianSemantics(in args) operations {
	n := int(in[4].Int)
	return operations{&operation.Sort{Rows: int(in[3].Int), Len: n, Block: n, Keep: 1, Median: true,
		X: view(in, 0, 0, n, 1), Y: view(in, 1, 0, 1, 1, 1), Order: view(in, 2, 0, 1, 1, 1)}}
}

// sorted returns the sort of rows of n elements X to Y and J, arguments 2 and 3, of rows of so many elements and blocks
// of width.
func sorted(in args, rows, n, out, width int) *operation.Sort {
	return &operation.Sort{Rows: rows, Len: n, X: view(in, 0, 0, n, 1), Y: view(in, 2, 0, out, width, 1),
		Order: view(in, 3, 0, out, width, 1)}
}
