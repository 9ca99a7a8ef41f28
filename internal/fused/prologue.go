package fused

import (
	"errors"
	"fmt"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/selftest"
	"hash/fnv"
	"strings"
)

// PrologueSpec says how a kernel reads an operand row by row, so that the maps and gathers that make
// the operand can be computed in the same launch: see [FusePrologue]. The kernel's files for devices
// that are no CPU read by macros like those of fusedmlp/prologue.cl.
type PrologueSpec struct {
	Operand int    // the parameter, of floats: rows that follow each other
	Name    string // of it in those macros
	Keeps   bool   // what is the same for a whole row is computed once: the macro's first argument is the place for it
	// Size returns how many rows a launch reads, and the elements of each.
	Size func(args []kernels.Arg) (rows, columns int)
	// Worth reports whether a launch on a device gains by it. One of many rows does not: while some
	// work-items wait for memory others work, and to compute the operand takes longer than to read
	// it.
	Worth func(args []kernels.Arg, l kernels.Target) bool
}

// FusePrologue returns the kernel that does what k does on a device that is no CPU, and computes
// operands where it reads them, with its arguments. makers are the launches that make the operands,
// in their order, by maps and gathers that they describe; args are the arguments of the launch of k.
// The new arguments are args, with none in place of what is not read, and the inputs of makers. The
// error says why there is no such kernel: each of makers has to be of use, and its results are stored
// nowhere.
func FusePrologue(k *kernels.Kernel, args []kernels.Arg, makers []Launch,
	none kernels.Arg) (*kernels.Kernel, []kernels.Arg, error) {
	s := &prologueBuilder{base: k, makers: makers, used: make([]bool, len(makers)), numbers: map[[2]int]int{},
		args: append([]kernels.Arg(nil), args...)}
	s.params = append(s.params, k.Params...)
	for _, m := range makers {
		if m.Kernel.Semantics == nil {
			return nil, nil, errors.New("a launch before it does not say what it computes")
		}
		s.ops = append(s.ops, m.Kernel.Semantics(m.Args))
	}
	for _, l := range Of(k).Prologues {
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
	case n > maxPrologueArgs:
		return nil, nil, fmt.Errorf("what it reads is made of %d arguments", n)
	case steps > maxPrologueSteps:
		return nil, nil, fmt.Errorf("what it reads takes %d steps", steps)
	case values > maxPrologueValues:
		return nil, nil, fmt.Errorf("what it reads is made of %d values of each row", values)
	}
	return s.kernel(), s.args, nil
}

// The most that operands are made of: arguments, the steps of all formulas, and the values that are
// kept of a row.
const (
	maxPrologueArgs   = 24
	maxPrologueSteps  = 80
	maxPrologueValues = 8
)

// prologueBuilder makes a kernel with prologues.
type prologueBuilder struct {
	base   *kernels.Kernel
	makers []Launch
	ops    [][]kernels.Op // of makers
	used   []bool
	params []kernels.Param
	args   []kernels.Arg
	// numbers are the parameters for makers' arguments, by maker and argument.
	numbers map[[2]int]int
	loads   []PrologueSpec  // of operands that are computed
	of      []*computedRows // of loads
	all     []*computedRows // of them, and of what they are made of
}

// origin is where memory begins.
type origin struct {
	buf kernels.Buffer
	off int
}

// param returns the parameter, of a mode, for argument i of a maker: for memory one that another
// has, too, if it is the same.
func (s *prologueBuilder) param(maker, i int, mode kernels.Mode) int {
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
func (s *prologueBuilder) add(a kernels.Arg, mode kernels.Mode) int {
	s.params = append(s.params, kernels.Param{Name: fmt.Sprintf("G%d", len(s.params)-len(s.base.Params)), Mode: mode})
	s.args = append(s.args, a)
	return len(s.params) - 1
}

// kernel makes the kernel.
func (s *prologueBuilder) kernel() *kernels.Kernel {
	base := s.base
	k := &kernels.Kernel{Name: base.Name, Defines: base.Defines, Params: s.params, Tol: s.tolerance(),
		Grid:     func(args []kernels.Arg, l kernels.Target) kernels.Grid { return base.Grid(args[:len(base.Params)], l) },
		Host:     kernels.HostKernel{F32: prologueHost[float32](s), F64: prologueHost[float64](s)}.Calling(base),
		SelfTest: s.selfTest}
	k.Text = s.text()
	hash := fnv.New64a()
	hash.Write([]byte(k.Text))
	k.File = fmt.Sprintf("%s.from_%016x.cl", strings.TrimSuffix(base.Source(kernels.Target{}), ".cl"), hash.Sum64())
	return k
}

// trial makes the operands of a launch like one, with fewer rows where the kernel's own trial has.
func (s *prologueBuilder) selfTest(like []kernels.Arg) []kernels.Operand {
	if like == nil || s.base.SelfTest == nil {
		return nil
	}
	own := s.whole(like, func(n int) kernels.Buffer { return size(n) })
	ops := s.base.SelfTest(own)
	if ops == nil {
		return nil
	}
	small := sized(s.base.Params, own, ops)
	rows := 0
	for _, l := range s.loads {
		rows, _ = l.Size(small)
		ops[l.Operand] = selftest.Output(0)
	}
	for i := len(s.base.Params); i < len(s.params); i++ {
		a := like[i]
		switch s.params[i].Mode {
		case kernels.IntParam:
			ops = append(ops, selftest.Number(float64(a.Int)))
		case kernels.FloatParam:
			ops = append(ops, selftest.Number(a.Float))
		case kernels.InInts:
			ops = append(ops, kernels.Operand{N: s.reach(i, rows, a.N), Lo: 0, Hi: gatheredRows})
		case kernels.InBytes:
			ops = append(ops, kernels.Operand{N: s.reach(i, rows, a.N), Lo: 0, Hi: 3})
		default:
			domain := s.domain(i)
			ops = append(ops, selftest.Uniform(s.reach(i, rows, a.N), domain[0], domain[1]))
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

// gatheredRows is the most rows that self tests gather from: their indices are drawn below it.
const gatheredRows = 4

// domain returns where an argument of floats is drawn.
func (s *prologueBuilder) domain(arg int) [2]float64 {
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
func (s *prologueBuilder) reach(arg, rows, n int) int {
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
					end += (min(g.gathers, gatheredRows)-1)*o.strides[0] + (g.axes[1].length(rows)-1)*o.strides[1]
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
func (s *prologueBuilder) whole(args []kernels.Arg, memory func(n int) kernels.Buffer) []kernels.Arg {
	own := append([]kernels.Arg(nil), args[:len(s.base.Params)]...)
	for _, l := range s.loads {
		rows, columns := l.Size(own)
		own[l.Operand] = kernels.BufferArg(memory(rows*columns), 0, rows*columns)
	}
	return own
}
