package ops

import "github.com/clgrad/clgrad/kernels"

// listGroup and listMost are LIST_GROUP of scatter_small.cl, and how many indices it takes.
const (
	listGroup = 256
	listMost  = 8 * listGroup
)

// ScatterLists is ScatterRows for GPUs, of few indices and rows: see [Lists].
var ScatterLists = kernels.Typed(&kernels.Kernel{Name: "k_scatter_lists", File: "scatter_small.cl",
	Grid: func(a []kernels.Arg, _ kernels.Target) kernels.Grid {
		return kernels.Grid{Dims: 1, Global: [3]int{int(a[5].Int) * listGroup}, Local: [3]int{listGroup}}
	},
	Params: ScatterRows.Params,
	Host:   ScatterRows.Host, Semantics: scatterSemantics}, "scatter_small.cl", "k_scatter_lists",
	kernels.ElementHostKernel(scatterRowsHost[int32]), kernels.ElementHostKernel(scatterRowsHost[uint8]),
	kernels.HostKernel{}, kernels.ElementHostKernel(scatterRowsHost[int64]))

// Lists reports whether ScatterLists is for so many indices and rows: a work-group has room for the
// indices, and all together look at few.
func Lists(n, rows int, l kernels.Target) bool {
	return !l.CPU && l.MaxGroup >= listGroup && n <= listMost && rows <= 1<<20/max(1, n)
}
