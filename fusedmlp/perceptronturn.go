package fusedmlp

import (
	"fmt"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/selftest"
)

// On a GPU the gradient of what a layer reads is computed as the layer itself is: work-items beside
// each other read weights beside each other. So a launch before the step transposes the weights, to
// V: of each layer through which a gradient goes [outputs, inputs], with the inputs rounded up to a
// multiple of four by zeros.

// turned returns where the weights of each layer start in V, −1 for those that are not in it, and
// the elements of V.
func (p *Perceptron) turned(down bool) (starts []int, size int) {
	for i, l := range p.Layers {
		if i == 0 && !down {
			starts = append(starts, -1)
			continue
		}
		starts = append(starts, size)
		size += l.Outputs * intmath.RoundUp(l.Inputs, 4)
	}
	return starts, size
}

// turnedAt returns element e of V, of parameters at(i).
func (s *fusedStep) turnedAt(at func(i int) float64, e int) float64 {
	starts, _ := s.turned(s.down)
	for i := len(starts) - 1; ; i-- {
		l := s.Layers[i]
		if up := intmath.RoundUp(l.Inputs, 4); starts[i] >= 0 && starts[i] <= e {
			j, k := (e-starts[i])/up, (e-starts[i])%up
			if k >= l.Inputs {
				return 0
			}
			return at(l.Weights + k*l.Outputs + j)
		}
	}
}

// Pack returns the kernel of the launch before a step, W (the parameters) and V, and the length of
// V: nil and 0 where the step reads no such thing.
func (p *Perceptron) Pack(t kernels.DType, inputGrad bool, l kernels.Target) (*kernels.Kernel, []int) {
	_, size := p.turned(inputGrad)
	if l.CPU || size == 0 {
		return nil, []int{0}
	}
	key := fmt.Sprint("turn ", inputGrad)
	for _, l := range p.Layers {
		key += fmt.Sprint("|", l.Inputs, l.Outputs, l.Weights)
	}
	return made(key, func() *kernels.Kernel { return newTurn(p.pass(t, mlpBlock, inputGrad)) }), []int{size}
}

func newTurn(s *fusedStep) *kernels.Kernel {
	_, size := s.turned(s.down)
	operands := func(o *kernels.Operands) { o.In(s.Size(), -1, 1).Out(size) }
	return &kernels.Kernel{
		Name: "k_perceptron_turn", File: "perceptron_turn.cl", Text: s.turnText(),
		Params: []kernels.Param{in("W"), out("V")},
		Grid: func([]kernels.Arg, kernels.Target) kernels.Grid {
			return kernels.Grid{Dims: 1, Global: [3]int{intmath.RoundUp(size, mlpItems)}, Local: [3]int{mlpItems}}
		},
		Host:  kernels.HostKernel{F32: turnHost[float32](s), F64: turnHost[float64](s)},
		Cases: func(bool) []kernels.Case { return []kernels.Case{{Name: "weights", Build: operands}} },
		SelfTest: func(like []kernels.Arg) []kernels.Operand {
			if like == nil {
				return nil
			}
			return []kernels.Operand{selftest.Uniform(s.Size(), -1, 1), selftest.Output(size)}
		},
	}
}

func turnHost[T kernels.Float](s *fusedStep) func(kernels.HostArgs[T]) {
	return func(c kernels.HostArgs[T]) {
		w, v := c.Floats(0), c.Floats(1)
		for e := range v {
			v[e] = T(s.turnedAt(func(i int) float64 { return float64(w[i]) }, e))
		}
	}
}

func (s *fusedStep) turnText() string {
	starts, size := s.turned(s.down)
	var w writer
	w.p(`
// @depends: common
// Weights of a perceptron, transposed, as internal/ops/perceptronturn.go generates it: V [outputs, inputs] of each layer, with zeros up to a
// multiple of four inputs. A work-item for each element.

kernel void k_perceptron_turn(IN(W), OUT(V)) {
    int e = get_global_id(0);
    if (e >= $size) return;
    global REAL *v = V + V_off + e;
`, map[string]any{"size": size})
	for i, l := range s.Layers {
		if starts[i] < 0 {
			continue
		}
		up := intmath.RoundUp(l.Inputs, 4)
		w.p(`
    if (e < $all) {
        *v = e % $Up < $K ? W[W_off + $W + e % $Up * $N + e / $Up] : 0;
        return;
    }
    e -= $all;
`, map[string]any{"all": l.Outputs * up, "Up": up, "K": l.Inputs, "N": l.Outputs, "W": l.Weights})
	}
	w.p("}", nil)
	return w.String()
}
