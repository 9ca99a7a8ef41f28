package linalg

import (
	"github.com/clgrad/clgrad/kernels"
)

// Kernels returns the kernels that the package launches, for tests and for a person who doubts a
// device.
func Kernels() []*kernels.Kernel {
	return []*kernels.Kernel{cholesky, lu, luSolve, solveTriangular, qr, qrQ, svd, eigh}
}

// groups launches a work-group for each of the count matrices: of one work-item on a CPU.
func groups(count int, l kernels.Target) kernels.Grid {
	lanes := 1
	if !l.CPU {
		lanes = min(64, l.MaxGroup)
	}
	return kernels.Grid{Dims: 1, Global: [3]int{count * lanes}, Local: [3]int{lanes}}
}

// perMatrix launches a work-group for each matrix of n rows and n columns of an argument, where n is
// an argument, too.
func perMatrix(matrices, n int) func([]kernels.Arg, kernels.Target) kernels.Grid {
	return func(a []kernels.Arg, l kernels.Target) kernels.Grid {
		return groups(a[matrices].N/max(1, int(a[n].Int*a[n].Int)), l)
	}
}

// sizes are those of matrices to test a kernel with; few leaves out the large ones.
func sizes(few bool) []int {
	if few {
		return []int{1, 3, 8}
	}
	return []int{1, 2, 3, 5, 8, 17, 33}
}
