package joined

import (
	"errors"
	"fmt"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/trial"
	"hash/fnv"
	"strings"
)

// Loads says how a kernel reads an operand row by row, so that maps and gathers which make it can
// be computed in the same launch: see [From]. The kernel's files for devices that are no CPU
// do so by macros like those of fusedmlp/prologue.cl.
type Loads struct {
	Operand int    // the parameter, of reals: rows that follow each other
	Name    string // of it in those macros
	Keeps   bool   // what is the same for a whole row is computed once: the macro's first argument is the place for it
	// Size returns how many rows a launch reads, and the elements of each.
	Size func(args []kernels.Arg) (rows, columns int)
	// Worth reports whether a launch on a device gains by it. One of many rows does not: while some
	// work-items wait for memory others work, and to compute the operand takes longer than to read
	// it.
	Worth func(args []kernels.Arg, l kernels.Target) bool
}

// From returns the kernel that does what k does on a device that is no CPU, of operands that it
// computes where it reads them, and its arguments: those of k, in which none stands for what is not
// read, and what the operands are made of. makers are the launches that make them, in their order,
// by maps and gathers that they describe; args are the arguments of the launch of k. The error says
// why there is none. Each of makers has to be of use, and leaves its results nowhere.
func From(k *kernels.Kernel, args []kernels.Arg, makers []Part,
	none kernels.Arg) (*kernels.Kernel, []kernels.Arg, error) {
	s := &fromSpec{base: k, makers: makers, used: make([]bool, len(makers)), numbers: map[[2]int]int{},
		args: append([]kernels.Arg(nil), args...)}
	s.params = append(s.params, k.Params...)
	for _, m := range makers {
		if m.Kernel.Describe == nil {
			return nil, nil, errors.New("a launch before it does not say what it computes")
		}
		s.ops = append(s.ops, m.Kernel.Describe(m.Args))
	}
	for _, l := range Of(k).Loads {
		rows, columns := l.Size(args)
		a := args[l.Operand]
		made, err := s.made(origin{a.Buf, a.Off}, rows, columns, len(makers))
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", l.Name, err)
		}
		if made == nil {
			continue
		}
		if l.Keeps {
			made.hoist()
		}
		s.loads, s.of = append(s.loads, l), append(s.of, made)
		s.args[l.Operand] = none
	}
	for i, used := range s.used {
		if !used {
			return nil, nil, fmt.Errorf("it does not read what %s makes", makers[i].Kernel.Name)
		}
	}
	steps, values := 0, 0
	for _, of := range s.all {
		values = max(values, of.values)
		for _, program := range of.programs() {
			steps += program.Steps()
		}
	}
	switch n := len(s.params) - len(k.Params); {
	case n > fromArgs:
		return nil, nil, fmt.Errorf("what it reads is made of %d arguments", n)
	case steps > fromSteps:
		return nil, nil, fmt.Errorf("what it reads takes %d steps", steps)
	case values > fromValues:
		return nil, nil, fmt.Errorf("what it reads is made of %d values of each row", values)
	}
	return s.kernel(), s.args, nil
}

// What operands may be made of at most: arguments, the steps of all formulas, and the values that
// are kept of a row.
const (
	fromArgs   = 24
	fromSteps  = 80
	fromValues = 8
)

// fromSpec is such a kernel while it is made.
type fromSpec struct {
	base   *kernels.Kernel
	makers []Part
	ops    [][]kernels.Operation // of makers
	used   []bool
	params []kernels.Param
	args   []kernels.Arg
	// numbers are the parameters for makers' arguments, by maker and argument.
	numbers map[[2]int]int
	loads   []Loads   // of operands that are computed
	of      []*rowsOf // of loads
	all     []*rowsOf // of them, and of what they are made of
}

// origin is where memory begins.
type origin struct {
	buf kernels.Buffer
	off int
}

// param returns the parameter, of a mode, for argument i of a maker: for memory one that another
// has, too, if it is the same.
func (s *fromSpec) param(maker, i int, mode kernels.Mode) int {
	a, key := s.makers[maker].Args[i], [2]int{maker, i}
	if a.Kind == kernels.ArgBuffer {
		for at := len(s.base.Params); at < len(s.params); at++ {
			if s.params[at].Mode == mode && s.args[at] == a {
				return at
			}
		}
	} else if at, known := s.numbers[key]; known {
		return at
	}
	s.numbers[key] = s.add(a, mode)
	return s.numbers[key]
}

// add adds an argument, and returns its number.
func (s *fromSpec) add(a kernels.Arg, mode kernels.Mode) int {
	s.params = append(s.params, kernels.Param{Name: fmt.Sprintf("G%d", len(s.params)-len(s.base.Params)), Mode: mode})
	s.args = append(s.args, a)
	return len(s.params) - 1
}

// kernel makes the kernel.
func (s *fromSpec) kernel() *kernels.Kernel {
	base := s.base
	k := &kernels.Kernel{Name: base.Name, Defines: base.Defines, Params: s.params, Tol: s.tolerance(),
		Grid:  func(args []kernels.Arg, l kernels.Target) kernels.Grid { return base.Grid(args[:len(base.Params)], l) },
		Twin:  kernels.Twin{F32: fromTwin[float32](s), F64: fromTwin[float64](s)}.Calling(base),
		Trial: s.trial}
	k.Text = s.text()
	hash := fnv.New64a()
	hash.Write([]byte(k.Text))
	k.File = fmt.Sprintf("%s.from_%016x.cl", strings.TrimSuffix(base.Source(kernels.Target{}), ".cl"), hash.Sum64())
	return k
}

// trial makes the operands of a launch like one, with fewer rows where the kernel's own trial has.
func (s *fromSpec) trial(like []kernels.Arg) []kernels.Operand {
	if like == nil || s.base.Trial == nil {
		return nil
	}
	own := s.whole(like, func(n int) kernels.Buffer { return size(n) })
	ops := s.base.Trial(own)
	if ops == nil {
		return nil
	}
	small := sized(s.base.Params, own, ops)
	rows := 0
	for _, l := range s.loads {
		rows, _ = l.Size(small)
		ops[l.Operand] = trial.Output(0)
	}
	for i := len(s.base.Params); i < len(s.params); i++ {
		a := like[i]
		switch s.params[i].Mode {
		case kernels.IntParam:
			ops = append(ops, trial.Number(float64(a.Int)))
		case kernels.FloatParam:
			ops = append(ops, trial.Number(a.Real))
		case kernels.InInts:
			ops = append(ops, kernels.Operand{N: s.reach(i, rows, a.N), Lo: 0, Hi: fromIndices})
		case kernels.InBytes:
			ops = append(ops, kernels.Operand{N: s.reach(i, rows, a.N), Lo: 0, Hi: 3})
		default:
			domain := s.domain(i)
			ops = append(ops, trial.Draw(s.reach(i, rows, a.N), domain[0], domain[1]))
		}
	}
	for _, of := range s.all { // there are fewer elements to be read by index
		for _, g := range of.groups {
			for _, o := range g.operands {
				if o.count > 0 {
					ops[o.count].Number = float64(ops[o.arg].N - o.off)
				}
			}
		}
	}
	return ops
}

// fromIndices is how many rows, at most, trials gather from: their indices are drawn below it.
const fromIndices = 4

// domain returns where an argument of reals is drawn.
func (s *fromSpec) domain(arg int) [2]float64 {
	for _, of := range s.all {
		for _, g := range of.groups {
			for _, o := range g.operands {
				if o.arg == arg && o.domain != [2]float64{} {
					return o.domain
				}
			}
		}
	}
	return [2]float64{-1, 1}
}

// size is memory of which only the length is known.
type size int

func (n size) DType() kernels.DType { return kernels.Float32 }
func (n size) Len() int             { return int(n) }

// reach returns how many elements of an argument rows of that number are made of, at most n.
func (s *fromSpec) reach(arg, rows, n int) int {
	const byIndex = 1 << 12 // more are like others
	most := 0
	for _, of := range s.all {
		for _, g := range of.groups {
			for k, o := range g.operands {
				if o.arg != arg {
					continue
				}
				end := o.off + 1
				switch {
				case o.count > 0:
					end += byIndex
				case g.gathers > 0 && k == 0:
					end += (min(g.gathers, fromIndices)-1)*o.strides[0] + (g.axes[1].length(rows)-1)*o.strides[1]
				default:
					for d, a := range g.axes {
						end += (a.length(rows) - 1) * o.strides[d]
					}
				}
				most = max(most, end)
			}
		}
	}
	return min(most, n)
}

// whole returns the arguments of the kernel k in a launch, with memory for the operands that are
// computed.
func (s *fromSpec) whole(args []kernels.Arg, memory func(n int) kernels.Buffer) []kernels.Arg {
	own := append([]kernels.Arg(nil), args[:len(s.base.Params)]...)
	for _, l := range s.loads {
		rows, columns := l.Size(own)
		own[l.Operand] = kernels.BufferArg(memory(rows*columns), 0, rows*columns)
	}
	return own
}
