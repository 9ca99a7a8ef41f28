package recurrent

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/clgrad/clgrad/internal/conditioned"
	"github.com/clgrad/clgrad/kernels"
)

//go:embed recurrent.cl
var source string

// Cell is a kind of recurrent layer, with its gates in an order and its weights in a layout.
type Cell struct {
	name   string
	kind   int
	onnx   bool  // weights are [gates·hidden, hidden], else [hidden, gates·hidden]; rows of a batch have ends
	order  []int // where each gate of the formulas stands: r, z, n of a GRU, i, f, g, o of an LSTM
	kernel *kernels.Kernel
}

// The kinds of recurrent.cl.
const (
	plain = iota
	gru
	lstm
)

// The cells of package nn, with gates in PyTorch's order, and those of ONNX, with gates in its order and weights
// [gates·hidden, hidden].
var (
	GRU      = newCell("gru", gru, false, 0, 1, 2)
	LSTM     = newCell("lstm", lstm, false, 0, 1, 2, 3)
	ONNXRNN  = newCell("onnx_rnn", plain, true, 0)
	ONNXGRU  = newCell("onnx_gru", gru, true, 1, 0, 2)
	ONNXLSTM = newCell("onnx_lstm", lstm, true, 0, 2, 3, 1)
)

// Kernels returns the kernels of all cells, for tests.
func Kernels() []*kernels.Kernel {
	var list []*kernels.Kernel
	for _, c := range []*Cell{GRU, LSTM, ONNXRNN, ONNXGRU, ONNXLSTM} {
		list = append(list, c.kernel)
	}
	return list
}

func newCell(name string, kind int, onnx bool, order ...int) *Cell {
	c := &Cell{name: name, kind: kind, onnx: onnx, order: order}
	c.kernel = c.newKernel()
	return c
}

func (c *Cell) gates() int { return len(c.order) }

// kept is how many states a step leaves: with the cell of an LSTM two.
func (c *Cell) kept() int {
	if c.kind == lstm {
		return 2
	}
	return 1
}

func (c *Cell) newKernel() *kernels.Kernel {
	defines := []string{fmt.Sprintf("-DKIND=%d -DGATES=%d", c.kind, c.gates())}
	for i, at := range c.order {
		defines = append(defines, fmt.Sprintf("-DGATE_%d=%d", i, at))
	}
	if c.onnx {
		defines = append(defines, "-DTRANSPOSED -DLIMITED")
	}
	k := &kernels.Kernel{Name: "k_recurrent", Text: source, File: "recurrent.cl", Defines: strings.Join(defines, " "),
		Params: []kernels.Param{{Name: "X", Mode: kernels.In}, {Name: "W", Mode: kernels.In}, {Name: "B", Mode: kernels.In},
			{Name: "H", Mode: kernels.InOut}, {Name: "S", Mode: kernels.Out}, {Name: "time", Mode: kernels.IntParam},
			{Name: "batch", Mode: kernels.IntParam}, {Name: "hidden", Mode: kernels.IntParam}, {Name: "biased", Mode: kernels.IntParam},
			{Name: "back", Mode: kernels.IntParam}},
		Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
			return kernels.Groups(min(int(a[argBatch].Int), max(1, l.Units)), 1)
		},
		Host: kernels.HostKernel{F32: states[float32](c), F64: states[float64](c)},
		Cases: func(few bool) (list []kernels.Case) {
			sizes := [][3]int{{1, 1, 1}, {3, 2, 5}, {2, 5, 16}, {2, 4, 35}}
			if !few {
				sizes = append(sizes, [3]int{5, 1, 70}, [3]int{4, 9, 33}, [3]int{7, 3, 64}, [3]int{2, 6, 130})
			}
			for i, s := range sizes {
				list = append(list, c.testCase(s[0], s[1], s[2], i%2, i/2%2))
			}
			return list
		}}
	if c.onnx {
		k.Params = append(k.Params, kernels.Param{Name: "ENDS", Mode: kernels.InInts})
	}
	k.Tol = conditioned.Tolerance(k)
	return k
}

// Where the numbers of a launch are.
const (
	argTime = 5 + iota
	argBatch
	argHidden
	argBiased
	argBack
	argEnds // of an ONNX cell
)

func (c *Cell) testCase(time, batch, hidden, biased, back int) kernels.Case {
	n := c.gates() * hidden
	return kernels.Case{Name: fmt.Sprintf("%s time=%d batch=%d hidden=%d biased=%d back=%d", c.name, time, batch, hidden, biased, back),
		Build: func(o *kernels.Operands) {
			o.In(time*batch*n, -2, 2).In(hidden*n, -1, 1).In(n, -1, 1).In(c.kept()*(time+1)*batch*hidden, -1, 1).Out(batch * n)
			o.Int(time, batch, hidden, biased, back)
			if c.onnx {
				o.Ints(batch, func(i int) int { return time - i%(time+1) })
			}
		}}
}
